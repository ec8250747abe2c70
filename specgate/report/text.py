"""The report as text for terminals, grouped by file and node."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from specgate.report import counts, details, nodes_in_order, plural, sort_findings, without_table
from specgate.report.clean import clean, columns, wrap
from specgate.report.merging import merge_findings, merge_target_names
from specgate.report.ports import context_at, inputs_line
from specgate.report.rule_links import rule_address
from specgate.report.selection import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.report.selection import RenderOptions
    from specgate.verdict import Finding, Location, Report

_LINE_LIMIT = 4000
_NARROWEST = 30
_EXAMPLES = 3
_STYLES = {"error": "1;31", "warning": "33", "note": "36", "file": "1"}

_Shape = tuple[str, str, str, str]


def render(report: Report, options: RenderOptions) -> str:
    """Return findings and counts as text with a final newline.

    ANSI codes are used only with options.color.
    """
    writer = _Writer(options)
    if options.statistics:
        writer.statistics(report)
    else:
        writer.findings(report)
    if options.verbose and report.undecided:
        writer.write_undecided(report)
    if options.rules:
        writer.addresses(report)
    writer.summary(report)
    return "".join(line + "\n" for line in writer.lines)


class _Writer:
    def __init__(self, options: RenderOptions) -> None:
        self.lines: list[str] = []
        self.color = options.color
        self.width = max(options.width, _NARROWEST)
        self.rules = options.rules
        self.queries = options.queries
        self.max_per_rule = max(options.max_per_rule, 0)
        self.target_column = 0

    def put(
        self, text: str, *, first: str = "", hanging_indent: str = "", style: str = "", limit: int | None = _LINE_LIMIT
    ) -> None:
        """Add the text, cleaned, wrapped and styled."""
        lines = wrap(clean(text, limit), self.width, first=first, hanging_indent=hanging_indent)
        self.lines += [self.paint(line, style) for line in lines] if style else lines

    def paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and text else text

    def findings(self, report: Report) -> None:
        ordered = merge_findings(sort_findings(report.findings), self.queries)
        self.target_column = max((columns(clean(f.target or "")) for f in ordered), default=0)
        ordered_findings = _collapse_equal(ordered, self.max_per_rule)
        for file, in_file in groupby(
            ordered_findings, lambda pair: pair[0].location.file if pair[0].location else None
        ):
            if file:
                self.put(file, style="file")
            for place, in_node in groupby(in_file, lambda pair: pair[0].location):
                self.node(place, report)
                for finding, similar in in_node:
                    self.finding(finding)
                    if similar:
                        self.put(_format_remainder(similar), first="    ", hanging_indent="      ")
            self.lines.append("")

    def node(self, place: Location | None, report: Report) -> None:
        """Add a node's path, its operator and its input tensors."""
        if place is None:
            return
        facts = [clean(place.operator or ""), f"line {place.line}" if place.line is not None else ""]
        facts_text = ", ".join(fact for fact in facts if fact)
        text = " ".join(part for part in (clean(place.node or ""), f"({facts_text})" if facts_text else "") if part)
        context = context_at(report, place)
        tensors = clean(inputs_line(context.inputs), _LINE_LIMIT) if context is not None else ""
        if text or tensors:
            self.put("   ".join(filter(None, [text, tensors])), first="  ", hanging_indent="      ")

    def finding(self, finding: Finding) -> None:
        line_index = len(self.lines)
        target = clean(finding.target or "")
        pad = " " * (self.target_column - columns(target))
        first = f"    {finding.severity:<7}  {target}{pad}{'  ' if self.target_column else ''}"
        rule = f"{finding.id} {finding.where}".rstrip(" ") + (" [*]" if finding.fixable else "")
        if self.width >= 2 * _NARROWEST and columns(first) <= self.width // 2:
            body = " " * 13
        else:  # too narrow for columns
            first, body = f"    {finding.severity} ", " " * 6
            rule = f"{target} {rule}".lstrip(" ")
        self.put(rule, first=first, hanging_indent=body)
        line = self.lines[line_index]
        line = self.link_rule(line, finding.id)
        self.lines[line_index] = (
            line[:4] + self.paint(finding.severity, finding.severity) + line[4 + len(finding.severity) :]
        )
        if finding.message:
            self.put(finding.message, first=body, hanging_indent=body)
        formula = [f"rule: {finding.rule}"] if self.rules and finding.rule else []
        for detail in [*details(finding), *formula]:
            self.put(detail, first=body, hanging_indent=body + "  ")

    def statistics(self, report: Report) -> None:
        rows = statistics(report.findings)
        if not rows:
            return
        widths = [
            max(len(title), *(len(str(row[column])) for row in rows))
            for column, title in ((2, "findings"), (3, "files"))
        ]
        self.put(f"{'findings':>{widths[0]}}  {'files':>{widths[1]}}  severity  rule", style="file")
        for rule, severity, number, files in rows:
            first = f"{number:>{widths[0]}}  {files:>{widths[1]}}  {severity:<8}  "
            self.put(rule, first=first, hanging_indent=" " * len(first))
        self.lines.append("")

    def write_undecided(self, report: Report) -> None:
        self.lines.append("undecided:")
        for ref in nodes_in_order(report.undecided):
            place = ref.location
            facts = ", ".join(clean(fact) for fact in (place.operator, ref.target) if fact)
            name = ": ".join(part for part in (place.file, clean(place.node or "")) if part)
            self.put(f"{name} ({facts})" if facts else name, first="  ", hanging_indent="    ")
            if ref.reason:
                self.put(ref.reason, first="    ", hanging_indent="      ")
        self.lines.append("")

    def addresses(self, report: Report) -> None:
        """Add the URL of each rule, unbroken, so that terminals link it."""
        texts = [address for rule in sorted({f.id for f in report.findings}) if (address := rule_address(rule))]
        if texts:
            self.lines += ["rules:", *(f"  {address}" for address in texts), ""]

    def link_rule(self, line: str, rule: str) -> str:
        """Return a line with its rule id as a link (OSC 8) on a terminal."""
        cleaned = clean(rule)
        address = rule_address(rule) if self.color and cleaned in line else None
        return line if address is None else line.replace(cleaned, f"\x1b]8;;{address}\x1b\\{cleaned}\x1b]8;;\x1b\\", 1)

    def summary(self, report: Report) -> None:
        n = counts(report)
        if report.targets:
            unit_text = "nodes and findings count" if self.queries else "a node counts"
            per_target_text = f" ({unit_text} once per target)" if len(report.targets) > 1 else ""
            target_names = merge_target_names(report.targets, self.queries)
            self.put(f"targets: {', '.join(target_names)}{per_target_text}", hanging_indent="  ")
        if report.files:
            self.put(f"files: {n['files']}")
        kinds = [plural(n["errors"], "error"), plural(n["warnings"], "warning")]
        if n["notes"]:
            kinds.append(plural(n["notes"], "note"))
        self.put(
            f"{plural(n['findings'], 'finding')} in {plural(report.nodes, 'node')} ({', '.join(kinds)}); "
            f"{n['undecided']} undecided; {plural(n['no_table'], 'node')} without a table; {n['ignored']} ignored",
            hanging_indent="  ",
            style="error" if n["errors"] else "warning" if n["warnings"] else "",
        )
        fixable = sum(finding.fixable for finding in report.findings)
        if fixable:
            self.put(f"[*] {plural(fixable, 'finding')} fixable with --fix (--diff shows how)", hanging_indent="  ")
        if report.fixed is not None:
            files = len({finding.location.file for finding in report.fixed if finding.location is not None})
            self.put(f"{plural(len(report.fixed), 'finding')} fixed in {plural(files, 'file')}", hanging_indent="  ")
        if report.hidden:
            self.put(f"{plural(report.hidden, 'finding')} hidden (--severity, --select, --ignore)", hanging_indent="  ")
        if report.no_table:
            self.put(
                "operators without a table: " + ", ".join(without_table(report.no_table)),
                hanging_indent="  ",
                limit=None,
            )


def _collapse_equal(ordered: list[Finding], limit: int) -> list[tuple[Finding, list[Finding]]]:
    """Return the findings to show, each with its omitted equals in the file."""
    kinds: dict[tuple[str | None, _Shape], list[int]] = {}
    for index, finding in enumerate(ordered):
        file = finding.location.file if finding.location is not None else None
        kinds.setdefault((file, _shape(finding)), []).append(index)
    hidden_findings: dict[int, list[Finding]] = {}
    hidden: set[int] = set()
    for similar in kinds.values():
        if len(similar) > max(limit, _EXAMPLES):
            hidden_findings[similar[_EXAMPLES - 1]] = [ordered[position] for position in similar[_EXAMPLES:]]
            hidden.update(similar[_EXAMPLES:])
    return [(finding, hidden_findings.get(pos, [])) for pos, finding in enumerate(ordered) if pos not in hidden]


def _shape(finding: Finding) -> _Shape:
    """Return the key of equal findings; numbers and quoted names are removed."""
    unquoted = "''".join(finding.message.split("'")[::2])
    message = "".join(_without_numbers(unquoted))
    return (finding.id, finding.severity, finding.target or "", message)


def _without_numbers(text: str) -> Iterator[str]:
    for number, run in groupby(text, str.isdigit):
        yield "0" if number else "".join(run)


def _format_remainder(left: list[Finding]) -> str:
    nodes = {(f.location.file, f.location.node) for f in left if f.location is not None}
    place_text = f", in {plural(len(nodes), 'node')}" if nodes else ""
    return f"... and {len(left)} more like this{place_text}"
