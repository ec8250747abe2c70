"""Ignores: the findings they silence, and messages about expired or stale ones."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.linting.config import Ignore
from specgate.linting.ignores import apply_ignores
from specgate.verdict import Finding, Location, Report

if TYPE_CHECKING:
    from pathlib import Path

TODAY = date(2027, 1, 31)


def finding(
    rule: str = "onnx/OneHot/axis-range",
    file: str | None = "models/a.onnx",
    node: str | None = "graph/decoder/OneHot[3]",
    target: str | None = "onnx:17",
) -> Finding:
    return Finding(rule, "error", "m", target=target, location=Location(file, node=node))


def ignore(
    rule: str = "onnx/OneHot/axis-range",
    path: str | None = None,
    node: str | None = None,
    target: str | None = None,
    until: date | None = None,
) -> Ignore:
    return Ignore(rule, "patch 12", path, node, target, until, source="specgate.toml", place="ignore[0]")


def report(*findings: Finding) -> Report:
    return Report(targets=["onnx:17"], files=["models/a.onnx", "models/b.onnx"], findings=list(findings))


@pytest.fixture(autouse=True)
def _at_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def apply_patch(tmp_path: Path, given_report: Report, *ignores: Ignore) -> tuple[list[str], list[str]]:
    apply_ignores(given_report, ignores, today=TODAY, root=tmp_path)
    return [result.id for result in given_report.findings], [result.id for result in given_report.ignored]


@pytest.mark.parametrize(
    "entry",
    [
        ignore(),
        ignore("onnx/*/axis-range"),
        ignore("*/One*/axis-?ange"),
        ignore(path="models/**"),
        ignore(path="*.onnx"),
        ignore(node="graph/decoder/OneHot[3]"),
        ignore(node="graph/*[3]"),
        ignore(node="decoder/*"),
        ignore(node="*OneHot??]"),
        ignore(target="onnx:17"),
        ignore(until=TODAY),
        ignore("onnx/*/*", "models/a.onnx", "decoder/OneHot[3]", "onnx:17", date(2030, 1, 1)),
    ],
)
def test_a_matching_ignore_silences(tmp_path: Path, entry: Ignore) -> None:
    item = finding()
    given_report = report(item)
    apply_ignores(given_report, [entry], today=TODAY, root=tmp_path)
    assert given_report.findings == []
    assert given_report.ignored == [item]


@pytest.mark.parametrize(
    "entry",
    [
        ignore("onnx/OneHot"),
        ignore("onnx/*"),
        ignore("*"),
        ignore("onnx/onehot/axis-range"),
        ignore("onnx/OneHot/axis-rang"),
        ignore("onnx/[O]neHot/axis-range"),
        ignore(path="other/**"),
        ignore(path="models/b.onnx"),
        ignore(node="graph/*[4]"),
        ignore(node="OneHot[3]"),
        ignore(node="decoder"),
        ignore(target="onnx:13"),
    ],
)
def test_an_ignore_without_a_match_does_nothing(tmp_path: Path, entry: Ignore) -> None:
    assert apply_patch(tmp_path, report(finding()), entry)[1] == []


def test_a_finding_without_a_location_is_matched_by_rule_only(tmp_path: Path) -> None:
    bare = Finding("onnx/OneHot/axis-range", "error", "m")
    narrow = [ignore(path="**"), ignore(node="*"), ignore(target="onnx:17")]
    assert apply_patch(tmp_path, report(bare), *narrow)[1] == []
    assert apply_patch(tmp_path, report(bare), ignore())[1] == [bare.id]


def test_the_order_is_kept_and_earlier_ignored_findings_stay(tmp_path: Path) -> None:
    given_report = report(finding("a/b"), finding(), finding("a/c"), finding(file="models/b.onnx"))
    given_report.ignored = [finding("a/z")]
    assert apply_patch(tmp_path, given_report, ignore()) == (
        ["a/b", "a/c"],
        ["a/z", "onnx/OneHot/axis-range", "onnx/OneHot/axis-range"],
    )


def test_an_absolute_file_is_matched_relative_to_the_root(tmp_path: Path) -> None:
    item = finding(file=str(tmp_path / "models" / "a.onnx"))
    assert apply_patch(tmp_path, report(item), ignore(path="/models/a.onnx")) == ([], [item.id])


def test_an_expired_ignore_is_reported_and_silences_nothing(tmp_path: Path) -> None:
    given_report = report(finding())
    apply_ignores(given_report, [ignore(until=date(2027, 1, 30))], today=TODAY, root=tmp_path)
    kept, expired = given_report.findings
    assert kept == finding()
    assert (expired.id, expired.severity) == ("specgate/ignore-expired", "warning")
    assert "2027-01-30" in expired.message
    assert "patch 12" in expired.message
    assert expired.values == {"rule": "onnx/OneHot/axis-range", "until": "2027-01-30", "reason": "patch 12"}
    assert expired.location == Location("specgate.toml", node="ignore[0]")
    assert given_report.ignored == []


def test_an_expired_ignore_is_reported_even_without_matches(tmp_path: Path) -> None:
    entry = ignore(path="other/**", until=date(2027, 1, 30))
    assert apply_patch(tmp_path, report(), entry) == (["specgate/ignore-expired"], [])


@pytest.mark.parametrize(
    ("entry", "stale"),
    [
        (ignore(), True),
        (ignore(path="models/**"), True),
        (ignore(path="models/b.onnx", node="x"), True),
        (ignore(target="onnx:17"), True),
        (ignore(path="other/**"), False),
        (ignore(target="onnx:13"), False),
        (ignore(path="models/**", target="onnx:13"), False),
        (ignore("directml/*/axis-range"), False),
        (ignore("*/OneHot/other"), True),
        (ignore("specgate/no-target"), True),
    ],
)
def test_a_stale_ignore_is_reported_if_its_files_were_linted(tmp_path: Path, entry: Ignore, stale: bool) -> None:
    given_report = report(finding("a/b"))
    apply_ignores(given_report, [entry], today=TODAY, root=tmp_path)
    assert [result.id for result in given_report.findings] == ["a/b"] + ["specgate/ignore-stale"] * stale
    if stale:
        last = given_report.findings[-1]
        assert last.severity == ("note" if entry.path is None else "warning")
        assert last.location == Location("specgate.toml", node="ignore[0]")
        assert "patch 12" in last.message


@pytest.mark.parametrize("target", ["onnxruntime:1.24.4", "onnxruntime-directml:1.24.4", "onnx:onnxruntime-1.16"])
@pytest.mark.parametrize(
    ("rule", "where"),
    [
        ("onnx/OneHot/axis-range", "all"),
        ("onnx/*/axis-range", "all"),
        ("onnxruntime/placement/*", "runtime"),
        ("directml/*/axis-range", "none"),
        ("openvino/*/axis-range", "none"),
    ],
)
def test_a_runtime_target_covers_runtime_and_dialect_rules(tmp_path: Path, target: str, rule: str, where: str) -> None:
    given_report = Report(targets=[target], files=["models/a.onnx"])
    stale = where == "all" or (where == "runtime" and not target.startswith("onnx:"))
    assert apply_patch(tmp_path, given_report, ignore(rule)) == (["specgate/ignore-stale"] * stale, [])


@pytest.mark.parametrize(
    ("rule", "hint"),
    [
        ("onnx/OneHot/axis-rang", "did you mean onnx/OneHot/axis-range?"),
        ("onnx/OneHott/axis-range", "did you mean OneHot?"),
        ("onx/OneHot/axis-range", "expected a rule id such as"),
        ("specgate/other", "expected a rule id such as"),
    ],
)
def test_an_ignore_of_a_missing_rule_is_reported(tmp_path: Path, rule: str, hint: str) -> None:
    given_report = report(finding("a/b"))
    apply_ignores(given_report, [ignore(rule, path="other/**")], today=TODAY, root=tmp_path)
    last = given_report.findings[-1]
    assert (last.id, last.severity) == ("specgate/ignore-stale", "warning")
    assert f"ignore '{rule}' matches no existing rule" in last.message
    assert hint in last.message


def test_two_ignores_of_the_same_finding_are_not_stale(tmp_path: Path) -> None:
    given_report = report(finding())
    assert apply_patch(tmp_path, given_report, ignore(), ignore("onnx/*/*")) == ([], [finding().id])


def test_a_pattern_of_many_stars_answers_in_time(tmp_path: Path) -> None:
    item = finding(node="a" * 20_000)
    assert apply_patch(tmp_path, report(item), ignore(node="*a" * 200 + "b"))[1] == []


@given(st.lists(st.sampled_from(["a/b", "a/c", "d/e/f"])), st.text("abcdef*?/[]-!^&", max_size=8), st.text("ab/[]'* "))
def test_every_finding_is_kept_or_ignored(
    tmp_path_factory: pytest.TempPathFactory, rules: list[str], rule: str, node: str
) -> None:
    findings = [finding(item) for item in rules]
    given_report = report(*findings)
    apply_ignores(given_report, [ignore(rule), ignore(node=node)], today=TODAY, root=tmp_path_factory.getbasetemp())
    kept = [result for result in given_report.findings if not result.id.startswith("specgate/")]
    assert sorted(result.id for result in [*kept, *given_report.ignored]) == sorted(rules)
