"""The parts of the HTML page below the matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.conform.render.descriptor import pretty
from specgate.conform.render.matrix import data, shade
from specgate.conform.render.rules import rules_met, said_of
from specgate.conform.render.shared import (
    by_kind,
    count,
    percent,
    repeat_command,
    size,
    uncomputed,
    value_lines,
    values_by_kind,
)
from specgate.conform.result import KINDS
from specgate.report.markup import Markup, breakable, lines, tag
from specgate.report.page import scrolled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.conform.render.rules import Rule
    from specgate.conform.result import Difference, Result

__all__ = ["differences", "rules", "run", "skipped", "values"]

_NUMBERS: Final = ("accepting", "rejecting", "oracle", "cases", "equal", "equal %", "not computed")


def differences(result: Result) -> Markup:
    """Return the disagreements by kind, each one folded."""
    parts: list[Markup] = []
    number = 0
    for kind, found in by_kind(result).items():
        items = [_difference(d, f"d{number + at}") for at, d in enumerate(found)]
        number += len(found)
        title = tag("h3", tag("span", kind, class_=f"kind {_slug(kind)}"), f" {size(found)}")
        about = tag("p", f"{KINDS[kind].capitalize()}.", class_="about")
        parts.append(tag("div", title, about, *items, class_="group", data_kind=kind))
    return _section("Disagreements", *(parts or [tag("p", "None.")]))


def _section(title: str, *children: Markup) -> Markup:
    return tag("section", tag("h2", title), *children)


def _slug(kind: str) -> str:
    return kind.replace(" ", "-")


def _difference(d: Difference, name: str = "") -> Markup:
    ids = [tag("code", breakable(finding), class_="id") for finding in d.findings]
    mine = tag("span", "rejected by ", *_joined(ids)) if ids else tag("span", "accepted")
    said = [" ", tag("q", d.detail)] if d.detail else []
    theirs = tag("span", f"{d.implementation}: {d.theirs}", *said)
    summary = tag(
        "summary",
        tag("span", tag("b", breakable(d.operator)), f" at {d.level}", class_="what"),
        tag("span", count(d.count, "case"), class_="count"),
        tag("span", tag("span", "ours", class_="side"), mine, class_="line"),
        tag(
            "span",
            tag("span", "theirs", class_="side"),
            theirs,
            class_="line",
        ),
    )
    body = [tag("p", "Smallest descriptor:"), tag("pre", lines(pretty(d.descriptor)), tabindex="0")]
    if d.command:
        body += [tag("p", "Our verdict again:"), tag("pre", d.command, class_="command", tabindex="0")]
    attributes = data(d.operator, data_kind=d.kind)
    if name:
        attributes["id"] = name
    return tag("details", summary, *body, class_=f"difference {_slug(d.kind)}", **attributes)


def _joined(items: Sequence[Markup]) -> list[Markup]:
    return [part for item in items for part in (Markup(", "), item)][1:]


def _row(cells: Sequence[str], **attributes: str) -> Markup:
    """Return a table's row that begins with its header."""
    return tag("tr", tag("th", cells[0], scope="row"), *(tag("td", cell) for cell in cells[1:]), **attributes)


def _table(caption: str, head: Sequence[str], rows: Sequence[Markup], *, class_: str) -> Markup:
    columns = tag(
        "tr", *(tag("th", name, scope="col", class_="number" if name in _NUMBERS else False) for name in head)
    )
    table = tag(
        "table", tag("caption", tag("span", caption)), tag("thead", columns), tag("tbody", *rows), class_=class_
    )
    return scrolled(table, caption)


def rules(result: Result) -> Markup:
    """Return how often each rule was met: what lacks a case in the open, all of them folded."""
    if not result.rules:
        return Markup()
    met = rules_met(result.rules)
    lacking = [rule for rule in met if rule.open]
    said = (
        f"{said_of(met)}. Accepting: both sides take it; rejecting: only this finding rejects it; oracle: an "
        "implementation refuses one of those too."
    )
    head = ("rule or cell", "accepting", "rejecting", "oracle", "lacks")
    every = [_rule(rule) for rule in met]
    folded = tag(
        "details", tag("summary", f"All {len(met):,}"), _table("Cases of every rule", head, every, class_="rules")
    )
    parts = [tag("p", said)]
    if lacking:
        summary = tag("summary", count(len(lacking), "rule or cell lacks a case", "rules and cells lack a case"))
        table = _table("Rules that lack a case", head, [_rule(rule) for rule in lacking], class_="rules")
        parts.append(tag("details", summary, table, open=len(lacking) <= 20))
    return _section("Rules", *parts, folded)


def _rule(rule: Rule) -> Markup:
    numbers = [
        tag("td", f"{number:,}", class_="number" if number else "number lacking")
        for number in (rule.accepting, rule.rejecting, rule.oracle)
    ]
    lack = tag("td", "; ".join(map(str, rule.lacks)), class_="words")
    return tag("tr", tag("th", breakable(rule.finding), scope="row"), *numbers, lack, **data(rule.operator))


def values(result: Result) -> Markup:
    """Return the values that were compared, what differs, and why others were not computed."""
    if not result.values:
        return Markup()
    rows = []
    for operator, level, name, cases, equal, missing in value_lines(result):
        number = tag("td", tag("span", percent(equal, cases), class_=f"part {shade(equal, cases)}"), class_="number")
        cells = [tag("td", level), tag("td", name), *(tag("td", f"{n:,}", class_="number") for n in (cases, equal))]
        last = tag("td", f"{missing:,}", class_="number")
        rows.append(tag("tr", tag("th", breakable(operator), scope="row"), *cells, number, last, **data(operator)))
    head = ("operator", "level", "implementation", "cases", "equal", "equal %", "not computed")
    parts = [_table("Values within the tables' tolerances", head, rows, class_="values")]
    reasons = [
        tag("li", f"{number:,} not computed by {name}: {reason} ({', '.join(operators)})")
        for name, reason, number, operators in uncomputed(result)
    ]
    for kind, differing in values_by_kind(result):
        title = tag("h3", tag("span", f"values differ, {kind}", class_=f"kind {kind}"), f" {size(differing)}")
        parts.append(tag("div", title, *map(_difference, differing), class_="group"))
    if reasons:
        parts.append(tag("ul", *reasons))
    return _section("Values", *parts)


def skipped(result: Result) -> Markup:
    """Return what was left out and why."""
    if not result.skipped:
        return Markup()
    return _section("Skipped", tag("ul", *(tag("li", line) for line in result.skipped)))


def run(result: Result) -> Markup:
    """Return versions, seed and the command that repeats the campaign."""
    rows = [_row((name, version)) for name, version in result.versions.items()]
    table = _table("Implementations", ("name", "version"), rows, class_="versions") if rows else Markup()
    facts = f"Seed {result.seed}; {count(result.cases, 'descriptor')}; {result.seconds:.1f} s. Again:"
    command = tag("pre", repeat_command(result, "html"), class_="command", tabindex="0")
    return _section("This run", table, tag("p", facts), command)
