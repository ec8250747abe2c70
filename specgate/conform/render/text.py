"""A campaign for a terminal of 100 columns.

Only commands are longer, so that they can be copied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.conform.render.shared import (
    Sum,
    agreements,
    answers,
    count,
    count_uncomputed,
    describe_coverage,
    describe_our_verdict,
    differences_by_kind,
    headline,
    one_line,
    percent,
    repeat_command,
    rules_met,
    size,
    sort_tallies,
    value_lines,
    values_by_kind,
)
from specgate.conform.result import KINDS
from specgate.report.clean import clean, columns, wrap

if TYPE_CHECKING:
    from specgate.conform.result import Difference, Result

_WIDTH: Final = 100
_NAMES: Final = (12, 8, 14)  # minimum width of operator, level and implementation
_WORDS: Final = 16  # if fewer columns remain, words after the numbers go on the next line
_LINE_LIMIT: Final = 4000
_DESCRIPTOR_LIMIT: Final = 300


def render(result: Result) -> str:
    """Return the result as printable text that ends with a newline."""
    page = _Page()
    page.put(f"{result.dialect}: {headline(result)}", hanging_indent="  ")
    page.agreement(result)
    page.differences(result)
    page.rules(result)
    page.values(result)
    page.footer(result)
    return "".join(line + "\n" for line in page.lines)


class _Page:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def put(self, text: str, *, first: str = "", hanging_indent: str = "", limit: int | None = _LINE_LIMIT) -> None:
        self.lines += wrap(clean(text, limit), _WIDTH, first=first, hanging_indent=hanging_indent)

    def heading(self, text: str) -> None:
        self.lines.append("")
        self.put(text)

    def table(self, head: list[str], rows: list[list[str]]) -> None:
        """Format three names, then right-aligned numbers, then words.

        Names that are too wide are shortened in the middle.
        """
        cleaned = [[clean(cell) for cell in row] for row in rows]
        limits = _limits([head, *cleaned])
        table = [head, *([*map(_shorten, row, limits), *row[3:]] for row in cleaned)]
        widths = [max(columns(row[column]) for row in table) for column in range(len(head))]
        for row in table:
            cells = [_pad(cell, widths[column], right=column >= 3) for column, cell in enumerate(row[:-1])]
            first = "".join(cell + "  " for cell in cells)
            words, hanging_indent = row[-1], " " * columns(first)
            if words and _WIDTH - len(hanging_indent) < min(columns(words), _WORDS):
                self.lines.append(first.rstrip())
                first = hanging_indent = " " * 8
            self.lines += wrap(words, _WIDTH, first=first, hanging_indent=hanging_indent) if words else [first.rstrip()]

    def agreement(self, result: Result) -> None:
        if not result.tallies:
            return
        self.heading("verdicts: accepted, and agreement with ours, documented and observed, in % rounded down")
        head = ["operator", "level", "implementation", "cases", "accepted", "documented", "observed", ""]
        rows = [
            [t.operator, t.level, t.implementation, f"{t.cases:,}", *Sum.of([t]).percents, answers(t.words)]
            for t in sort_tallies(result)
        ]
        totals = [
            ["all", "all", name, f"{total.cases:,}", *total.percents, ""] for name, total in agreements(result).items()
        ]
        self.table(head, rows + (totals if len(totals) < len(rows) else []))

    def differences(self, result: Result) -> None:
        for kind, differences in differences_by_kind(result).items():
            name = kind.upper() if kind == "unexplained" else kind
            self.heading(f"{name}: {size(differences)} ({KINDS[kind]})")
            for difference in differences:
                self.difference(difference)

    def difference(self, d: Difference) -> None:
        self.put(f"{d.operator} at {d.level}: {count(d.count, 'case')}", first="  ", hanging_indent="      ")
        self.put(describe_our_verdict(d.findings), first="    specgate    ", hanging_indent=" " * 16)
        text = f"{d.implementation}: {d.theirs}" + (f" ({d.detail})" if d.detail else "")
        self.put(text, first="    oracle      ", hanging_indent=" " * 16)
        self.put(_truncate_descriptor(one_line(d.descriptor)), first="    descriptor  ", hanging_indent=" " * 16)
        if d.command:
            self.lines.append(f"    $ {clean(d.command, None)}")

    def rules(self, result: Result) -> None:
        if not result.rules:
            return
        covered_rules = rules_met(result.rules)
        self.heading(describe_coverage(covered_rules))
        for rule in covered_rules:
            if rule.open:
                open_text = "; ".join(map(str, rule.open))
                name = rule.finding if f"/{rule.operator}/" in rule.finding else f"{rule.finding} of {rule.operator}"
                self.put(f"{name}: {open_text}", first="  ", hanging_indent="      ")

    def values(self, result: Result) -> None:
        if not result.values:
            return
        self.heading("values within the tables' tolerances")
        head = ["operator", "level", "implementation", "cases", "equal", "%", "not computed", ""]
        rows = [
            [operator, level, name, f"{cases:,}", f"{equal:,}", percent(equal, cases), f"{missing_count:,}", ""]
            for operator, level, name, cases, equal, missing_count in value_lines(result)
        ]
        self.table(head, rows)
        for name, reason, number, operators in count_uncomputed(result):
            self.put(
                f"{number:,} not computed by {name}: {reason} ({', '.join(operators)})",
                first="  ",
                hanging_indent="      ",
            )
        for kind, kind_differences in values_by_kind(result):
            name = "VALUES DIFFER, UNEXPLAINED" if kind == "unexplained" else f"values differ, {kind}"
            self.heading(f"{name}: {size(kind_differences)}")
            for difference in kind_differences:
                self.difference(difference)

    def footer(self, result: Result) -> None:
        if result.skipped:
            self.heading("skipped:")
            for line in result.skipped:
                self.put(line, first="  ", hanging_indent="      ")
        self.lines.append("")
        versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
        self.put(f"implementations: {versions or 'none'}", hanging_indent="  ", limit=None)
        time_note = ", ended by the time limit" if result.capped else ""
        self.put(f"seed {result.seed}; {result.seconds:.1f} s{time_note}; again:", hanging_indent="  ")
        self.lines.append(f"  $ {clean(repeat_command(result, 'text'), None)}")


def _truncate_descriptor(text: str) -> str:
    if len(text) <= _DESCRIPTOR_LIMIT:
        return text
    return f"{text[:_DESCRIPTOR_LIMIT]} ... ({count(len(text) - _DESCRIPTOR_LIMIT, 'more character')})"


def _limits(table: list[list[str]]) -> list[int]:
    """Return the maximum widths of the three name columns.

    The operator gets its width first.
    """
    needed_widths = [max(map(columns, column)) for column in zip(*table, strict=True)]
    limits = [min(needed_width, least) for needed_width, least in zip(needed_widths, _NAMES, strict=False)]
    numbers = [needed_width + 2 for needed_width in needed_widths[3:-1]]
    spare = _WIDTH - sum(limits) - 2 * len(limits) - sum(numbers)
    for column_index in (0, 2, 1):
        extra = max(0, min(needed_widths[column_index] - limits[column_index], spare))
        limits[column_index] += extra
        spare -= extra
    return limits


def _shorten(text: str, width: int) -> str:
    """Shorten the text in the middle to `width` characters."""
    if columns(text) <= width:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while columns(head) + columns(tail) + 3 > width:
        head, tail = (head[:-1], tail) if len(head) >= len(tail) else (head, tail[1:])
    return f"{head}...{tail}"


def _pad(text: str, width: int, *, right: bool) -> str:
    gap = " " * (width - columns(text))
    return gap + text if right else text + gap
