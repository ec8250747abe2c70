"""The report as GitHub workflow commands, which become annotations.

Syntax and escapes are those of the runner: ``%``, CR and LF in data, and ``:`` and ``,`` in properties too. GitHub
keeps ten annotations of each level per step and silently drops the rest. Therefore the first finding of every file
comes first, and a last annotation has the number of omitted findings and names the files without an annotation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.report import counts, details, plural, sort_findings, without_table
from specgate.report.clean import clean
from specgate.report.merging import merge_findings

if TYPE_CHECKING:
    from specgate.report.selection import RenderOptions
    from specgate.verdict import Finding, Report

_MAX_ANNOTATIONS = 10
_COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
_LINE_LIMIT = 4000


def render(report: Report, options: RenderOptions) -> str:
    """Return one command per line, errors first; empty without findings."""
    ordered = _spread_findings(sort_findings(merge_findings(report.findings, options.queries)))
    # Unreadable files come first, as the report has no other entry for them.
    lines = [f"::error title=unusable::{_data([line])}" for line in report.unusable[:_MAX_ANNOTATIONS]]
    omitted_lines: list[str] = []
    annotated: list[Finding] = []
    if len(report.unusable) > _MAX_ANNOTATIONS:
        omitted_lines.append(plural(len(report.unusable) - _MAX_ANNOTATIONS, "more unusable file"))
    for severity, command in _COMMANDS.items():
        findings = [finding for finding in ordered if finding.severity == severity]
        # The closing summary is a notice too and must not exceed GitHub's limit.
        numbers_by_name = {"error": min(len(report.unusable), _MAX_ANNOTATIONS), "warning": 0, "note": 1}
        available_count = _MAX_ANNOTATIONS - numbers_by_name[severity]
        annotated.extend(findings[:available_count])
        lines.extend(_annotation(command, finding, options) for finding in findings[:available_count])
        if len(findings) > available_count:
            omitted_lines.append(plural(len(findings) - available_count, f"more {severity}"))
    if summary := _summary(report, omitted_lines):
        lines.append(f"::notice title=specgate::{_data([summary, *_unannotated_lines(report, annotated)])}")
    return "".join(line + "\n" for line in lines)


def _spread_findings(findings: list[Finding]) -> list[Finding]:
    """Return the findings, the first of each file and severity leading."""
    counts_by_place: dict[tuple[str, str | None], int] = {}
    turns = []
    for finding in findings:
        key = (finding.severity, _file(finding))
        counts_by_place[key] = turn = counts_by_place.get(key, -1) + 1
        turns.append(turn)
    return [findings[index] for index in sorted(range(len(findings)), key=turns.__getitem__)]


def _file(finding: Finding) -> str | None:
    return finding.location.file if finding.location is not None else None


def _unannotated_lines(report: Report, annotated: list[Finding]) -> list[str]:
    """Return a line per file with findings or errors but no annotation."""
    lines = report.unusable[_MAX_ANNOTATIONS:]
    annotated_files = {_file(finding) for finding in annotated}
    counts_by_file: dict[str, dict[str, int]] = {}
    for finding in sort_findings(report.findings):
        file = _file(finding)
        if file is not None and file not in annotated_files:
            numbers = counts_by_file.setdefault(file, dict.fromkeys(_COMMANDS, 0))
            numbers[finding.severity] += 1
    for file, numbers in counts_by_file.items():
        lines.append(f"{file}: {', '.join(plural(n, severity) for severity, n in numbers.items() if n)}")
    return lines


def _annotation(command: str, finding: Finding, options: RenderOptions) -> str:
    place = finding.location
    properties = []
    if place is not None and place.file:
        # A shortened path would be invalid.
        properties.append(f"file={_property(options.path_inside(place.file) or place.file, None)}")
        if place.line is not None and place.line > 0:
            properties.append(f"line={place.line}")
    properties.append(f"title={_property(finding.id)}")
    parts = [place.node if place is not None else None, finding.target]
    first = ": ".join([clean(part) for part in parts if part] + [finding.message or finding.id])
    return f"::{command} {','.join(properties)}::{_data([first, *details(finding)])}"


def _summary(report: Report, omitted_lines: list[str]) -> str:
    parts = []
    if omitted_lines:
        parts.append(f"{', '.join(omitted_lines)} not shown here")
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
