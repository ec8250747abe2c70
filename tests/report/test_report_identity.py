"""Fingerprints: their inputs, and the same value in every format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.linting.baseline import apply_baseline, load_baseline, write_baseline
from specgate.report import RenderOptions, render
from specgate.report.identity import identify_findings
from specgate.verdict import Finding, Location, Report

pytest.importorskip("onnx", reason="NO REPORT OF A MODEL IS TESTED: pip install onnx (it is in the test extra)")
from tests.linting.test_model import helper, model, one_hot  # where there is onnx

if TYPE_CHECKING:
    from pathlib import Path

FINDING = Finding("x/y", "error", "m", where="A", target="onnx:17", location=Location("a", 1, "n"))


def prints(report: Report, **options: Any) -> list[str]:
    return [fingerprint for _, fingerprint in identify_findings(report, RenderOptions(**options))[0]]


def test_json_and_sarif_have_equal_fingerprints(sample: Report) -> None:
    document = json.loads(render(sample, "json", options=RenderOptions()))
    (run,) = json.loads(render(sample, "sarif", options=RenderOptions()))["runs"]
    in_json = [finding["fingerprint"] for finding in [*document["findings"], *document["ignored"]]]
    assert in_json == [result["partialFingerprints"]["specgate/v1"] for result in run["results"]]


def test_nodes_added_elsewhere_change_nothing() -> None:
    bad = one_hot(output="y", axis=9)
    more = [
        helper.make_node("Identity", ["ids"], ["z"]),
        one_hot(output="first", axis=8),
        bad,
        helper.make_node("Identity", ["y"], ["last"]),
    ]
    (alone,) = prints(specgate.lint(model([bad]), ["onnx:17"]))
    among = prints(specgate.lint(model(more), ["onnx:17"]))
    assert len(set(among)) == 2
    assert alone in among


def test_a_repeated_finding_has_a_separate_fingerprint() -> None:
    (text,) = prints(Report(findings=[FINDING]))
    three = prints(Report(findings=[FINDING, replace(FINDING, message="again"), FINDING]))
    assert len(set(three)) == 3
    assert text in three


def test_rewording_changes_no_fingerprint_and_no_baseline(tmp_path: Path) -> None:
    """A text may change in every release; a known finding stays known."""
    place = Location(str(tmp_path / "a.onnx"), None, "n")
    first = replace(FINDING, message="aa", fix="use X", rule="A > 0", values={"A": 1}, location=place)
    second = replace(first, message="bb", values={"A": 2})
    texts = [("zz", "rename X"), ("bb", None)]
    reworded = [
        replace(finding, message=new, fix=fix) for finding, (new, fix) in zip((first, second), texts, strict=True)
    ]

    def marks(findings: list[Finding]) -> dict[int, str]:
        pairs, _ = identify_findings(Report(findings=findings), RenderOptions(root=tmp_path))
        return {finding.values["A"]: mark for finding, mark in pairs}

    assert marks([first, second]) == marks(reworded)
    write_baseline(Report(findings=[first, second]), tmp_path / "known.json", tmp_path)
    report = Report(findings=reworded)
    apply_baseline(report, load_baseline(tmp_path / "known.json"), tmp_path)
    assert (len(report.findings), len(report.ignored)) == (0, 2)


def test_an_ignored_finding_keeps_its_fingerprint_with_a_new_duplicate() -> None:
    facts = Report(ignored=[FINDING])
    (_, before), (_, after) = (
        identify_findings(report, RenderOptions()) for report in (facts, Report(findings=[FINDING], ignored=[FINDING]))
    )
    assert before == after


def test_fingerprints_do_not_depend_on_the_repository_path(tmp_path: Path) -> None:
    def at(folder: str) -> list[str]:
        place = Location(str(tmp_path / folder / "m/a.onnx"), None, "n")
        return prints(Report(findings=[FINDING.at(place)]), root=tmp_path / folder)

    assert at("here") == at("there")


def test_a_checkout_moves_paths_and_no_fingerprints(tmp_path: Path) -> None:
    place = Location(str(tmp_path / "repo/ml/a.onnx"), None, "n")
    report = Report(findings=[FINDING.at(place)])
    options: dict[str, Any] = {"root": tmp_path / "repo/ml", "checkout": tmp_path / "repo"}
    assert prints(report, root=tmp_path / "repo/ml") == prints(report, **options)
    (run,) = json.loads(render(report, "sarif", options=RenderOptions(**options)))["runs"]
    artifact = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "ml/a.onnx", "uriBaseId": "%SRCROOT%"}
    assert render(report, "github", options=RenderOptions(**options)).startswith("::error file=ml/a.onnx,")
    elsewhere = RenderOptions(root=tmp_path / "repo/ml", checkout=tmp_path / "other")
    assert elsewhere.path_inside(str(tmp_path / "repo/ml/a.onnx")) == "a.onnx"
