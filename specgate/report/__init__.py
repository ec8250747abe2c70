"""Report formats, one module each, imported on first use."""

from __future__ import annotations

from importlib import import_module
from itertools import groupby
from typing import TYPE_CHECKING, cast

from specgate.report.clean import clean
from specgate.report.selection import RenderOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from specgate.verdict import Finding, Location, NodeRef, Report

__all__ = [
    "FORMATS",
    "RenderOptions",
    "counts",
    "details",
    "nodes_in_order",
    "place_order",
    "plural",
    "render",
    "sentence",
    "sort_findings",
    "without_table",
]

FORMATS: dict[str, str] = {
    "text": "specgate.report.text:render",
    "json": "specgate.report.jsonreport:render",
    "sarif": "specgate.report.sarif:render",
    "junit": "specgate.report.junit:render",
    "github": "specgate.report.github:render",
    "html": "specgate.report.lint.html:render",
}
"""Each format's name and the ``module:function`` that takes a report and options and returns its text."""


def render(report: Report, format: str, *, options: RenderOptions) -> str:  # noqa: A002 (the option's own name)
    """Return the report in the named format as the final text.

    JSON, SARIF and JUnit are pure ASCII. Raises InputError for an unregistered format.
    """
    try:
        module, _, function = FORMATS[format].partition(":")
    except KeyError:
        from specgate.errors import InputError

        formats = ", ".join(FORMATS)
        raise InputError(f"expected one of {formats}, found {format[:40]!r}", place="format") from None
    renderer = cast("Callable[[Report, RenderOptions], str]", getattr(import_module(module), function))
    return renderer(report, options)


def counts(report: Report) -> dict[str, int]:
    """Return the counts of files, findings by severity and undecided nodes."""
    severities = [finding.severity for finding in report.findings]
    return {
        "findings": len(severities),
        "errors": severities.count("error"),
        "warnings": severities.count("warning"),
        "notes": severities.count("note"),
        "undecided": len(report.undecided),
        "no_table": len(report.no_table),
        "ignored": len(report.ignored),
        "hidden": report.hidden,
        "files": len(report.files),
    }


def plural(number: int, noun: str) -> str:
    """Return ``1 node`` or ``2 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def without_table(nodes: Iterable[NodeRef]) -> list[str]:
    """Return the operators without a table, with counts: ``Foo (3)``.

    Names are cleaned, the most frequent first.
    """
    names: dict[str, int] = {}
    for node in nodes:
        name = clean(node.location.operator or "unnamed operator")
        names[name] = names.get(name, 0) + 1
    return [f"{name} ({number})" for name, number in sorted(names.items(), key=lambda item: (-item[1], item[0]))]


def sort_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings sorted by file, node, field and id.

    Nodes are sorted by number, ``node[9]`` before ``node[10]``.
    """
    return sorted(
        findings, key=lambda f: (place_order(f.location), f.where, f.id, f.target or "", f.severity, f.message)
    )


def nodes_in_order(nodes: Iterable[NodeRef]) -> list[NodeRef]:
    """Return the nodes sorted by file, node and target."""
    return sorted(nodes, key=lambda n: (place_order(n.location), n.target or "", n.reason))


def place_order(location: Location | None) -> tuple[object, ...]:
    """Return the sort key of a location: file, node (by number) and line."""
    if location is None:
        return ("", (), 0, "")
    return (location.file or "", _natural_key(location.node or ""), location.line or 0, location.operator or "")


def _natural_key(text: str) -> tuple[tuple[int, int, str], ...]:
    runs = ("".join(run) for _, run in groupby(text, "0123456789".__contains__))
    # Numbers compare by length, then digits, as int() fails on very long ones.
    return tuple((0, len(n := run.lstrip("0")), n) if run[0] in "0123456789" else (1, 0, run) for run in runs)


def details(finding: Finding) -> list[str]:
    """Return the fix, first accepting level and basis, one phrase each."""
    lines = []
    if finding.fix:
        lines.append(f"fix: {finding.fix}")
    if finding.first_level and finding.first_level not in finding.message:  # most messages already have it
        lines.append(f"accepted from {finding.first_level}")
    if finding.basis == "observed":
        lines.append("documented as supported, but rejected by real builds")
    return lines


def sentence(finding: Finding) -> str:
    """Return a finding as one non-empty line, not cleaned.

    For formats with a single field per finding.
    """
    text = "; ".join([(finding.message or finding.id).removesuffix("."), *details(finding)])
    return f"{finding.target}: {text}" if finding.target else text
