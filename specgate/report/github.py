"""The report as GitHub workflow commands: a job's log that prints these lines gets annotations.

Syntax and escapes are those of the runner: ``%``, CR and LF in data, and ``:`` and ``,`` in properties too. GitHub
keeps ten annotations of each level per step and drops the rest without a word: a last line says what was left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.report import counts, details, in_order, plural, without_table
from specgate.report.clean import clean

if TYPE_CHECKING:
    from specgate.report.options import RenderOptions
    from specgate.verdict import Finding, Report

__all__ = ["render"]

_PER_LEVEL = 10
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_LINE_LIMIT = 4000


def render(report: Report, options: RenderOptions) -> str:
    """Return one command per line, errors first; empty if there is nothing to say."""
    ordered = in_order(report.findings)
    # A file that could not be read comes first: the report says nothing else of it.
    lines = [f"::error title=unusable::{_data([line])}" for line in report.unusable[:_PER_LEVEL]]
    left_out: list[str] = []
    if len(report.unusable) > _PER_LEVEL:
        left_out.append(plural(len(report.unusable) - _PER_LEVEL, "more unusable file"))
    for severity, command in _COMMANDS.items():
        found = [finding for finding in ordered if finding.severity == severity]
        # The closing summary is a notice itself and must not be the one that GitHub drops.
        taken = {"error": min(len(report.unusable), _PER_LEVEL), "warning": 0, "note": 1}
        room = _PER_LEVEL - taken[severity]
        lines.extend(_annotation(command, finding, options) for finding in found[:room])
        if len(found) > room:
            left_out.append(plural(len(found) - room, f"more {severity}"))
    if summary := _summary(report, left_out):
        lines.append(f"::notice title=specgate::{_data([summary])}")
    return "".join(line + "\n" for line in lines)


def _annotation(command: str, finding: Finding, options: RenderOptions) -> str:
    place = finding.location
    properties = []
    if place is not None and place.file:
        # A shortened path would point nowhere.
        properties.append(f"file={_property(options.inside(place.file) or place.file, None)}")
        if place.line is not None and place.line > 0:
            properties.append(f"line={place.line}")
    properties.append(f"title={_property(finding.id)}")
    about = [place.node if place is not None else None, finding.target]
    first = ": ".join([clean(part) for part in about if part] + [finding.message or finding.id])
    return f"::{command} {','.join(properties)}::{_data([first, *details(finding)])}"


def _summary(report: Report, left_out: list[str]) -> str:
    parts = []
    if left_out:
        parts.append(f"{', '.join(left_out)} not shown here")
    numbers = counts(report)
    if numbers["undecided"]:
        parts.append(f"{numbers['undecided']} undecided")
    if numbers["no_table"]:
        operators = ", ".join(without_table(report.no_table))
        parts.append(f"{plural(numbers['no_table'], 'node')} without a table: {operators}")
    return "; ".join(parts)


def _data(lines: list[str]) -> str:
    return _escape("\n".join(clean(line, _LINE_LIMIT) for line in lines))


def _property(text: str, limit: int | None = 200) -> str:
    return _escape(clean(text, limit)).replace(":", "%3A").replace(",", "%2C")


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
