from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.report import RenderOptions, render, sarif
from specgate.report.rule_links import describe_rule
from specgate.verdict import Finding, Location, Report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def run(report: Report, options: RenderOptions | None = None) -> dict[str, Any]:
    log = json.loads(render(report, "sarif", options=options or RenderOptions()))
    assert log["version"] == "2.1.0"
    (only,) = log["runs"]
    assert isinstance(only, dict)
    return only


def result(finding: Finding, options: RenderOptions | None = None) -> dict[str, Any]:
    (only,) = run(Report(findings=[finding]), options)["results"]
    assert isinstance(only, dict)
    return only


def uri(file: str, options: RenderOptions | None = None) -> dict[str, Any]:
    place = result(Finding("x/y", "error", "m", location=Location(file)), options)["locations"][0]
    artifact = place["physicalLocation"]["artifactLocation"]
    assert isinstance(artifact, dict)
    return artifact


def test_the_sample_is_valid_sarif(sample: Report, sarif_errors: Callable[[Any], list[str]]) -> None:
    assert sarif_errors(json.loads(render(sample, "sarif", options=RenderOptions()))) == []
    assert sarif_errors(json.loads(render(Report(), "sarif", options=RenderOptions()))) == []


def test_the_sarif_schema_detects_errors(sample: Report, sarif_errors: Callable[[Any], list[str]]) -> None:
    log = json.loads(render(sample, "sarif", options=RenderOptions()))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert len(sarif_errors(log)) == 1


def test_a_whole_result(sample: Report) -> None:
    assert run(sample)["results"][2] == {
        "ruleId": "directml/ROUND/ranks",
        "ruleIndex": 0,
        "level": "warning",
        "message": {
            "text": "directml:4.1: OutputTensor takes ranks 4, but rank(OutputTensor) is 5; accepted from 3.0; "
            "documented as supported, but rejected by real builds"
        },
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "models/b.json", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 12},
                },
                "logicalLocations": [{"fullyQualifiedName": "dispatchables/round"}],
            }
        ],
        "partialFingerprints": {"specgate/v1": "c753f77a4ff5af54582ef9ed00fa503e"},
        "suppressions": [],
        "properties": {
            "target": "directml:4.1",
            "where": "OutputTensor",
            "values": {"rank(OutputTensor)": 5},
            "levels": ["3.0", "3.1"],
            "basis": "observed",
        },
    }


def test_the_run(sample: Report) -> None:
    log = run(sample)
    assert [rule["id"] for rule in log["tool"]["driver"]["rules"]] == [
        "directml/ROUND/ranks",
        "onnx/Cast/to",
        "onnx/OneHot/axis-range",
        "onnx/ir-version",
    ]
    rules = log["tool"]["driver"]["rules"]
    assert all(rules[outcome["ruleIndex"]]["id"] == outcome["ruleId"] for outcome in log["results"])
    assert [outcome["level"] for outcome in log["results"]] == ["note", "error", "warning", "error"]
    assert log["properties"]["nodes"] == 41
    assert log["properties"]["counts"]["no_table"] == 3
    assert log["properties"]["operatorsWithoutTable"] == ["foo (2)", "aten::x (1)"]


def test_only_ignored_findings_are_suppressed(sample: Report) -> None:
    states = [(outcome["ruleId"], outcome["suppressions"]) for outcome in run(sample)["results"]]
    assert states == [
        ("onnx/ir-version", []),
        ("onnx/OneHot/axis-range", []),
        ("directml/ROUND/ranks", []),
        (
            "onnx/Cast/to",
            [
                {
                    "kind": "external",
                    "status": "accepted",
                    "justification": "the exporter is fixed in its next release",
                }
            ],
        ),
    ]


def test_the_version_is_passed_or_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(text: str | None) -> str:
        driver = sarif.document(Report(), RenderOptions(), text)["runs"][0]["tool"]["driver"]
        assert driver["name"] == "specgate"
        return str(driver["version"])

    assert version("1.2.3") == "1.2.3"
    monkeypatch.setattr(specgate, "__version__", "4.5", raising=False)
    assert version(None) == "4.5"
    monkeypatch.delattr(specgate, "__version__")
    assert version(None) == "0"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("", "x/y"),
        ("Function in {ARGMAX, ARGMIN}, but {0}", "Function in {{ARGMAX, ARGMIN}}, but {{0}}"),
        ("sizes[Axis] is [1, 2]", "sizes[Axis] is [1, 2]"),
        ("[click](http://example.org)", "[click] (http://example.org)"),
        ("a\x1b\nb", r"a\x1b\nb"),
    ],
)
def test_message_text(message: str, text: str) -> None:
    assert result(Finding("x/y", "error", message))["message"] == {"text": text}


def test_a_finding_without_a_path_has_no_location() -> None:
    assert result(Finding("x/y", "error", "m"))["locations"] == []
    assert result(Finding("x/y", "error", "m", location=Location()))["locations"] == []


def test_a_node_without_a_file_has_a_logical_location_only() -> None:
    entries = result(Finding("x/y", "error", "m", location=Location(None, None, "n")))
    assert entries["locations"] == [{"logicalLocations": [{"fullyQualifiedName": "n"}]}]


def test_a_binary_file_has_its_first_line() -> None:
    entries = result(Finding("x/y", "error", "m", location=Location("a.onnx", None, "n")))
    assert entries["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("m/a b#1?%.onnx", "m/a%20b%231%3F%25.onnx"),
        ("./m/../日.onnx", "%E6%97%A5.onnx"),
        ("c:a", "c%3Aa"),
        ("byte\udcff", "byte%FF"),
        ("lone\ud800", "lone%5Cud800"),
    ],
)
def test_relative_uris_are_percent_encoded(file: str, expected: str) -> None:
    assert uri(file) == {"uri": expected, "uriBaseId": "%SRCROOT%"}


def test_uris_are_relative_to_the_root(tmp_path: Path) -> None:
    options = RenderOptions(root=tmp_path / "repo")
    inside = str(tmp_path / "repo" / "m" / "a.onnx")
    assert uri(inside, options) == {"uri": "m/a.onnx", "uriBaseId": "%SRCROOT%"}
    outside = str(tmp_path / "other" / "a b.onnx")
    assert uri(outside, options) == {"uri": (tmp_path / "other" / "a b.onnx").as_uri()}


def test_fingerprints_depend_on_node_field_rule_and_target_only() -> None:
    finding = Finding("x/y", "error", "m", where="A", target="onnx:17", location=Location("a", 1, "n"))
    others = [
        replace(finding, id="x/z"),
        replace(finding, where="B"),
        replace(finding, target="onnx:18"),
        finding.at(Location("b", 1, "n")),
        finding.at(Location("a", 1, "o")),
    ]
    prints = [result(each)["partialFingerprints"]["specgate/v1"] for each in [finding, *others]]
    assert len(set(prints)) == 6
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in prints)
    same = replace(finding, message="reworded", fix="f", severity="warning", location=Location("a", 9, "n"))
    assert result(same)["partialFingerprints"]["specgate/v1"] == prints[0]


def test_a_rule_is_described_by_its_sentence(sample: Report) -> None:
    rules = {rule["id"]: rule for rule in run(sample)["tool"]["driver"]["rules"]}
    says = describe_rule("onnx/OneHot/axis-range").says
    assert says != "onnx/OneHot/axis-range"
    assert rules["onnx/OneHot/axis-range"]["shortDescription"] == {"text": says}
    assert run(sample)["properties"]["counts"]["files"] == 2
