from __future__ import annotations

from textwrap import dedent
from xml.etree import ElementTree as ET

from specgate.report import RenderOptions, render
from specgate.verdict import Finding, Location, NodeRef, Report


def junit(report: Report) -> str:
    return render(report, "junit", options=RenderOptions())


def test_the_whole_document(sample: Report) -> None:
    a17, b41 = "models/a.onnx onnx:17", "models/b.json directml:4.1"
    sample.unusable.append("models/c.onnx: cannot be read")
    assert junit(sample) == dedent(f"""\
        <?xml version='1.0' encoding='us-ascii'?>
        <testsuites name="specgate" tests="7" failures="2" errors="1">
          <testsuite name="models/a.onnx directml:4.1" tests="1" failures="0" errors="0" skipped="0" file="models/a.onnx">
            <testcase name="no findings" classname="models/a.onnx directml:4.1" />
          </testsuite>
          <testsuite name="{a17}" tests="3" failures="1" errors="0" skipped="1" file="models/a.onnx">
            <testcase name="onnx/ir-version" classname="{a17}">
              <system-out>the IR version is 11</system-out>
            </testcase>
            <testcase name="graph/node[3] 'OneHot_3' onnx/OneHot/axis-range axis" classname="{a17}">
              <failure message="axis &lt; rank(indices) + 1, but axis is 4 and rank(indices) is 3" type="error">axis &lt; rank(indices) + 1, but axis is 4 and rank(indices) is 3
        fix: set axis to a value from -4 to 3
        inputs: ids (indices) INT64 [batch,3,?], depth INT64 [], v (values) unknown</failure>
            </testcase>
            <testcase name="graph/node[5] undecided" classname="{a17}">
              <skipped message="same-sizes: pin 'N' of data" />
            </testcase>
            <system-out>operators without a table: foo (2), aten::x (1)</system-out>
          </testsuite>
          <testsuite name="{b41}" tests="1" failures="1" errors="0" skipped="0" file="models/b.json">
            <testcase name="dispatchables/round directml/ROUND/ranks OutputTensor" classname="{b41}">
              <failure message="OutputTensor takes ranks 4, but rank(OutputTensor) is 5" type="warning">OutputTensor takes ranks 4, but rank(OutputTensor) is 5
        accepted from 3.0
        documented as supported, but rejected by real builds
        at models/b.json:12</failure>
            </testcase>
          </testsuite>
          <testsuite name="models/b.json onnx:17" tests="1" failures="0" errors="0" skipped="0" file="models/b.json">
            <testcase name="no findings" classname="models/b.json onnx:17" />
          </testsuite>
          <testsuite name="unusable files" tests="1" failures="0" errors="1" skipped="0">
            <testcase name="models/c.onnx: cannot be read" classname="unusable files">
              <error message="models/c.onnx: cannot be read" type="unusable">models/c.onnx: cannot be read</error>
            </testcase>
          </testsuite>
        </testsuites>
        """)


#: junit-10.xsd of Jenkins' xUnit plugin allows: attributes (required ones first), children.
COUNTS = ["name", "tests", "failures", "errors"]
ALLOWED: dict[str, tuple[list[str], list[str], list[str]]] = {
    "testsuites": ([], [*COUNTS, "time"], ["testsuite"]),
    "testsuite": (
        COUNTS,
        [*COUNTS, "skipped", "time", "timestamp", "hostname", "id", "package", "file", "log", "url", "group"],
        ["testsuite", "properties", "testcase", "system-out", "system-err"],
    ),
    "testcase": (["name"], ["name", "classname", "time", "group"], ["skipped", "error", "failure", "system-out"]),
    "failure": ([], ["type", "message"], []),
    "error": ([], ["type", "message"], []),
    "skipped": ([], ["type", "message"], []),
    "system-out": ([], [], []),
}


def against_the_schema(element: ET.Element) -> None:
    required, allowed, children = ALLOWED[element.tag]
    assert set(required) <= element.attrib.keys() <= set(allowed)
    for child in element:
        assert child.tag in children
        against_the_schema(child)


def test_the_structure_matches_the_jenkins_schema(sample: Report) -> None:
    sample.unusable.append("models/c.onnx: cannot be read")
    against_the_schema(ET.fromstring(junit(sample)))
    against_the_schema(ET.fromstring(junit(Report())))


def test_cases_are_distinguished_by_class_and_name() -> None:
    finding = Finding("x/y", "error", "m", location=Location("a.onnx", None, "n"))
    root = ET.fromstring(
        junit(Report(targets=["onnx:17"], findings=[finding, finding, finding.at(Location("b.onnx", None, "n"))]))
    )
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert names == [("a.onnx", "n x/y"), ("a.onnx", "n x/y #2"), ("b.onnx", "n x/y")]


def test_a_file_passes_only_for_checked_targets() -> None:
    report = Report(targets=["onnx:17", "openvino:opset13"], files=["a.onnx"], judged={"a.onnx": ("onnx:17",)})
    assert [suite.get("name") for suite in ET.fromstring(junit(report))] == ["a.onnx onnx:17"]


def test_a_clean_file_without_targets_passes() -> None:
    (suite,) = ET.fromstring(junit(Report(files=["a.onnx"])))
    assert suite.attrib == {
        "name": "a.onnx",
        "tests": "1",
        "failures": "0",
        "errors": "0",
        "skipped": "0",
        "file": "a.onnx",
    }
    assert [(case.tag, case.attrib["name"], len(case)) for case in suite] == [("testcase", "no findings", 0)]


def test_an_empty_report_has_no_suite() -> None:
    assert len(ET.fromstring(junit(Report()))) == 0


def test_a_finding_without_file_and_target_has_a_separate_suite() -> None:
    report = Report(targets=["onnx:17"], files=["a.onnx"], findings=[Finding("x/y", "error", "m")])
    names = [(suite.attrib["name"], suite.attrib["failures"]) for suite in ET.fromstring(junit(report))]
    assert names == [("specgate", "1"), ("a.onnx onnx:17", "0")]


def test_a_file_of_unknown_operators_passes_and_names_them() -> None:
    report = Report(files=["a"], no_table=[NodeRef(Location("a", None, "n", "Foo"))])
    (suite,) = ET.fromstring(junit(report))
    assert [(part.tag, part.get("name"), part.text) for part in suite] == [
        ("testcase", "no findings", None),
        ("system-out", None, "operators without a table: Foo (1)"),
    ]


def test_characters_that_xml_forbids_are_escaped() -> None:
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
