"""Every format stays valid for any node names in a file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specgate.report import RenderOptions, render
from specgate.report.clean import clean, columns
from specgate.verdict import Finding, Location, NodeRef, Report

if TYPE_CHECKING:
    from collections.abc import Callable

NASTY = [
    "\x1b[2J",
    "::error ::x",
    "##[error]x",
    "\n",
    "\r\n",
    "\u202e",
    "\ud800",
    "%0A",
    ",line=1",
    "](",
    "{0}",
    "&lt;",
    "\x00",
]

texts = st.one_of(
    st.text(st.characters(), max_size=30),
    st.lists(st.sampled_from(NASTY) | st.text(max_size=5), max_size=6).map("".join),
)
maybe = st.none() | texts
locations = st.builds(Location, maybe, st.none() | st.integers(1, 10**6), maybe, maybe)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
findings = st.builds(
    Finding,
    id=texts.map("x/".__add__),
    severity=st.sampled_from(["error", "warning", "note"]),
    message=texts,
    where=texts,
    values=st.dictionaries(texts, values, max_size=2),
    first_level=maybe,
    levels=st.lists(texts, max_size=2).map(tuple),
    fix=maybe,
    basis=st.sampled_from(["documented", "observed", "both"]),
    target=maybe,
    location=st.none() | locations,
)
nodes = st.lists(st.builds(NodeRef, locations, maybe, texts), max_size=3)
reports = st.builds(
    Report,
    targets=st.lists(texts, max_size=3),
    files=st.lists(texts, max_size=3),
    nodes=st.integers(0, 10**6),
    findings=st.lists(findings, max_size=5),
    undecided=nodes,
    no_table=nodes,
    ignored=st.lists(findings, max_size=2),
)
slow = settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def shows_only_printable_lines(text: str) -> bool:
    return text.replace("\n", "").isprintable() and "##" not in text


@pytest.mark.slow
@slow
@given(reports, st.integers(-5, 150), st.integers(0, 3))
def test_text_prints_within_the_width_and_forges_nothing(report: Report, width: int, limit: int) -> None:
    text = render(report, "text", options=RenderOptions(width=width, verbose=True, max_per_rule=limit))
    assert shows_only_printable_lines(text)
    for line in text.splitlines():
        assert columns(line) <= max(width, 30)
        assert not line.lstrip().startswith("::")


@pytest.mark.slow
@slow
@given(reports.filter(lambda r: len(r.findings) > 0), st.integers(30, 150))
def test_text_output_is_not_truncated(report: Report, width: int) -> None:
    shown = "".join(render(report, "text", options=RenderOptions(width=width)).split()).replace(r"\x3a", ":")
    for finding in report.findings:
        for text in (finding.id, finding.message, finding.fix, finding.location and finding.location.node):
            assert "".join(clean(text or "").split()).replace(r"\x3a", ":") in shown


def parse(line: str) -> tuple[str, dict[str, str], str]:
    """Read a workflow command as the runner does."""
    assert line.startswith("::")
    head, data = line[2:].split("::", 1)
    command, _, properties = head.partition(" ")
    pairs = (pair.split("=", 1) for pair in properties.split(","))
    return command, {name: unescape(value, ":,") for name, value in pairs}, unescape(data, "")


def unescape(text: str, extra: str) -> str:
    for char in "\r\n" + extra + "%":
        text = text.replace(f"%{ord(char):02X}", char)
    return text


@pytest.mark.slow
@slow
@given(reports)
def test_github_lines_are_our_annotations_only(report: Report) -> None:
    text = render(report, "github", options=RenderOptions())
    assert shows_only_printable_lines(text)
    commands = [parse(line) for line in text.splitlines()]
    order = {"error": 0, "warning": 1, "notice": 2}
    assert [command for command, _, _ in commands] == sorted((c for c, _, _ in commands), key=lambda c: order[c])
    own = commands[: len(report.findings)]
    assert sorted(properties["title"] for _, properties, _ in own) == sorted(clean(f.id) for f in report.findings)
    for _, properties, data in own:
        assert properties.keys() <= {"file", "line", "title"}
        assert data.count("\n") <= 3
    assert len(commands) - len(own) == bool(report.undecided or report.no_table)


@pytest.mark.slow
@slow
@given(reports)
def test_json_parses_back(report: Report) -> None:
    text = render(report, "json", options=RenderOptions())
    assert text.isascii()
    assert shows_only_printable_lines(text)
    document = json.loads(text, parse_constant=lambda word: 1 / 0)
    json.dumps(document, ensure_ascii=False).encode("utf-8")
    assert document["counts"]["findings"] == len(document["findings"]) == len(report.findings)
    kept = {f.message for f in report.findings if not re.search("[\ud800-\udfff]", f.message)}
    assert kept <= {f["message"] for f in document["findings"]}


@pytest.mark.slow
@slow
@given(reports)
def test_junit_parses_and_counts(report: Report) -> None:
    text = render(report, "junit", options=RenderOptions())
    assert text.isascii()
    assert shows_only_printable_lines(text)
    root = ET.fromstring(text)
    failed = sum(finding.severity != "note" for finding in report.findings)
    assert len(root.findall("*/*/failure")) == int(root.attrib["failures"]) == failed
    assert len(root.findall("*/*/skipped")) == len(report.undecided)
    assert sum(int(suite.attrib["skipped"]) for suite in root) == len(report.undecided)
    assert len(root.findall("*/testcase")) == int(root.attrib["tests"])


URI = re.compile(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+")


@pytest.mark.slow
@slow
@given(reports)
def test_sarif_is_well_formed(report: Report) -> None:
    text = render(report, "sarif", options=RenderOptions())
    assert text.isascii()
    assert shows_only_printable_lines(text)
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == len(report.findings) + len(report.ignored)
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert re.search(r"\]\(", result["message"]["text"]) is None
        assert re.search("[{}]", re.sub(r"\{\{|\}\}", "", result["message"]["text"])) is None
        for place in result["locations"]:
            physical = place.get("physicalLocation")
            if physical is not None:
                assert URI.fullmatch(physical["artifactLocation"]["uri"].removeprefix("file:"))
                assert physical["region"]["startLine"] >= 1


@pytest.mark.slow
@slow
@given(report=reports)
def test_sarif_is_valid(report: Report, sarif_errors: Callable[[Any], list[str]]) -> None:
    assert sarif_errors(json.loads(render(report, "sarif", options=RenderOptions()))) == []
