from __future__ import annotations

from textwrap import dedent
from xml.etree import ElementTree as ET

from specgate.report import RenderOptions, render
from specgate.verdict import Finding, Location, NodeRef, Report


def junit(report: Report) -> str:
    return render(report, "junit", options=RenderOptions())


def test_the_whole_document(sample: Report) -> None:
    a17, b41 = "models/a.onnx onnx:17", "models/b.json directml:4.1"
    assert junit(sample) == dedent(f"""\
        <?xml version='1.0' encoding='us-ascii'?>
        <testsuites name="specgate" tests="6" failures="2" errors="0" skipped="1">
          <testsuite name="models/a.onnx directml:4.1" tests="1" failures="0" errors="0" skipped="0">
            <testcase name="no findings" classname="models/a.onnx directml:4.1" file="models/a.onnx" />
          </testsuite>
          <testsuite name="{a17}" tests="3" failures="1" errors="0" skipped="1">
            <testcase name="onnx/ir-version" classname="{a17}" file="models/a.onnx">
              <system-out>the IR version is 11</system-out>
            </testcase>
            <testcase name="graph/node[3] 'OneHot_3' onnx/OneHot/axis-range axis" classname="{a17}" file="models/a.onnx">
              <failure message="axis &lt; rank(indices) + 1, but axis is 4 and rank(indices) is 3" type="error">axis &lt; rank(indices) + 1, but axis is 4 and rank(indices) is 3
        fix: set axis to a value from -4 to 3</failure>
            </testcase>
            <testcase name="graph/node[5] undecided" classname="{a17}" file="models/a.onnx">
              <skipped message="same-sizes: pin 'N' of data" />
            </testcase>
            <system-out>operators without a table: foo (2), aten::x (1)</system-out>
          </testsuite>
          <testsuite name="{b41}" tests="1" failures="1" errors="0" skipped="0">
            <testcase name="dispatchables/round directml/ROUND/ranks OutputTensor" line="12" classname="{b41}" file="models/b.json">
              <failure message="OutputTensor takes ranks 4, but rank(OutputTensor) is 5" type="warning">OutputTensor takes ranks 4, but rank(OutputTensor) is 5
        accepted from 3.0
        refused by builds, not by the documentation</failure>
            </testcase>
          </testsuite>
          <testsuite name="models/b.json onnx:17" tests="1" failures="0" errors="0" skipped="0">
            <testcase name="no findings" classname="models/b.json onnx:17" file="models/b.json" />
          </testsuite>
        </testsuites>
        """)


def test_a_clean_file_without_targets_passes() -> None:
    (suite,) = ET.fromstring(junit(Report(files=["a.onnx"])))
    assert suite.attrib == {"name": "a.onnx", "tests": "1", "failures": "0", "errors": "0", "skipped": "0"}
    assert [(case.tag, case.attrib["name"], len(case)) for case in suite] == [("testcase", "no findings", 0)]


def test_an_empty_report_has_no_suite() -> None:
    assert len(ET.fromstring(junit(Report()))) == 0


def test_a_finding_of_no_file_and_no_target_has_a_suite_of_its_own() -> None:
    report = Report(targets=["onnx:17"], files=["a.onnx"], findings=[Finding("x/y", "error", "m")])
    names = [(suite.attrib["name"], suite.attrib["failures"]) for suite in ET.fromstring(junit(report))]
    assert names == [("specgate", "1"), ("a.onnx onnx:17", "0")]


def test_a_file_with_nothing_but_nodes_without_a_table_passes_and_names_them() -> None:
    report = Report(files=["a"], no_table=[NodeRef(Location("a", None, "n", "Foo"))])
    (suite,) = ET.fromstring(junit(report))
    assert [(part.tag, part.get("name"), part.text) for part in suite] == [
        ("testcase", "no findings", None),
        ("system-out", None, "operators without a table: Foo (1)"),
    ]


def test_what_xml_cannot_hold_is_shown_as_an_escape() -> None:
    place = Location("a\x00.onnx", None, "n\x1b\ufffe\ud800 <&>\"'")
    xml = junit(
        Report(findings=[Finding("x/y", "error", "]]> \x0b 日本 \U0001f600\n::error::x ##[a]", location=place)])
    )
    assert xml.isascii()
    assert "##" not in xml
    (suite,) = ET.fromstring(xml)
    (case,) = suite
    assert suite.attrib["name"] == r"a\x00.onnx"
    assert case.attrib["name"] == r"""n\x1b\ufffe\ud800 <&>"' x/y"""
    assert case[0].attrib["message"] == r"]]> \x0b 日本 😀\n::error::x #\x23[a]"
