"""The HTML matrix of agreement.

One row per operator and implementation, one column per level.
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
    differences_by_kind,
    format_descriptor,
    headline,
    natural_key,
    percent,
    repeat_command,
    rules_met,
    size,
    sort_tallies,
    value_lines,
    values_by_kind,
)
from specgate.conform.result import KINDS
from specgate.report import markup
from specgate.report.markup import Markup, breakable, document, lines, own_file, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.conform.render.shared import Rule
    from specgate.conform.result import Difference, Result, Tally

#: The minimum agreement of each colour class in hundredths of a percent.
_COLORS: Final = (
    (10_000, "full"),
    (9_990, "high"),
    (9_900, "good"),
    (9_500, "fair"),
    (8_000, "low"),
    (0, "poor"),
)


def shade_class(part: int, total: int) -> str:
    """Return the colour class of an agreement.

    ``none`` if nothing was compared.
    """
    if total <= 0:
        return "none"
    return next((name for least, name in _COLORS if part * 10_000 // total >= least), "poor")


def data(operator: str, **attributes: str) -> dict[str, str]:
    """Return the attributes that the filter reads."""
    return {"data_operator": operator, **attributes}


def matrix(result: Result) -> Markup:
    """Return the matrix and its legend, or a note that it is empty."""
    if not result.tallies:
        return tag("p", "No implementation was tested.")
    tallies = sort_tallies(result)
    levels = sorted({t.level for t in tallies}, key=natural_key)
    totals = agreements(result)
    has_levels = len(totals) > 1
    links = _links(result)
    rows: dict[str, dict[str, dict[str, Tally]]] = {}
    for tally in tallies:
        rows.setdefault(tally.operator, {}).setdefault(tally.implementation, {})[tally.level] = tally
    corner = [tag("th", "operator", class_="name", scope="col")] + (
        [tag("th", "implementation", scope="col")] if has_levels else []
    )
    head = tag("tr", *corner, *(tag("th", level, scope="col") for level in levels), tag("th", "all", scope="col"))
    caption = "Agreement in % of verdicts, by operator and level" + ("" if has_levels else f": {next(iter(totals))}")
    bodies = [_body(operator, entries, levels, links, has_levels=has_levels) for operator, entries in rows.items()]
    foot = _table_footer(tallies, levels, has_levels=has_levels)
    label = "Agreement by operator and level"
    return Markup(markup.table(caption, head, *bodies, foot, label=label, class_="matrix") + _legend())


def _body(
    operator: str,
    entries: Mapping[str, Mapping[str, Tally]],
    levels: Sequence[str],
    links: Mapping[tuple[str, str, str], str],
    *,
    has_levels: bool,
) -> Markup:
    rows = []
    for index, (name, by_level) in enumerate(entries.items()):
        first = (
            tag("th", breakable(operator), class_="name", scope="rowgroup", rowspan=str(len(entries)))
            if index == 0
            else Markup()
        )
        if not has_levels:
            first = tag("th", breakable(operator), class_="name", scope="row")
        second = tag("th", name, scope="row") if has_levels else Markup()
        cells = [
            _cell([by_level[level]] if level in by_level else [], links.get((operator, level, name), ""))
            for level in levels
        ]
        rows.append(tag("tr", first, second, *cells, _cell(by_level.values())))
    return tag("tbody", *rows, **data(operator))


def _table_footer(tallies: Iterable[Tally], levels: Sequence[str], *, has_levels: bool) -> Markup:
    groups: dict[str, dict[str, list[Tally]]] = {}
    for tally in tallies:
        groups.setdefault(tally.implementation, {}).setdefault(tally.level, []).append(tally)
    rows = []
    for name, by_level in groups.items():
        heads = [tag("th", "all operators", class_="name", scope="row")] + (
            [tag("th", name, scope="row")] if has_levels else []
        )
        cells = [_cell(by_level.get(level, [])) for level in levels]
        rows.append(tag("tr", *heads, *cells, _cell([t for group in by_level.values() for t in group])))
    return tag("tfoot", *rows)


def _cell(tallies: Iterable[Tally], link: str = "") -> Markup:
    """Return observed agreement, and documented agreement if it differs."""
    group = list(tallies)
    total = Sum.of(group)
    words = [other for tally in group if (other := answers(tally.words))] if len(group) == 1 else []
    if not total.cases:
        return tag("td", tag("span", "no verdict", class_="unseen"), class_="none", title=", ".join(words) or False)
    _, documented, observed = total.percents
    parts = [tag("span", observed, class_=f"part {shade_class(total.observed, total.cases)}")]
    if total.documented != total.observed:
        page = tag("span", "documented ", class_="unseen")
        parts.append(tag("span", page, documented, class_=f"part second {shade_class(total.documented, total.cases)}"))
    tooltip = ", ".join([count(total.cases, "verdict"), f"{total.percents[0]} % accepted", *words])
    if link:
        parts = [tag("a", *parts, href=f"#{link}")]
    return tag("td", *parts, title=tooltip)


def _links(result: Result) -> dict[tuple[str, str, str], str]:
    """Return the first difference of each cell.

    A difference may name several levels.
    """
    texts_by_texts: dict[tuple[str, str, str], str] = {}
    ordered = [
        difference for group in differences_by_kind(result).values() for difference in group
    ]  # the numbering of `differences`
    for number, difference in enumerate(ordered):
        for level in difference.level.split(", "):
            texts_by_texts.setdefault((difference.operator, level, difference.implementation), f"d{number}")
    return texts_by_texts


def _legend() -> Markup:
    least = [f"{hundredths // 100}.{hundredths % 100:02}" for hundredths, _ in _COLORS]
    labels = ["100", *(f"from {number}" for number in least[1:-1]), f"below {least[-2]}"]
    keys = [
        tag("li", tag("span", label, class_=f"part {name}")) for label, (_, name) in zip(labels, _COLORS, strict=True)
    ]
    text = (
        "Each cell shows the agreement with the observed tables. If the agreement with the documented tables "
        "differs, it is shown below. Percentages are rounded down. Linked cells lead to their disagreements."
    )
    return tag("div", tag("p", text), tag("ul", *keys, class_="keys"), class_="legend")


_NUMBERS: Final = ("accepting", "rejecting", "oracle", "cases", "equal", "equal %", "not computed")


def differences(result: Result) -> Markup:
    """Return the disagreements by kind, each collapsed."""
    parts: list[Markup] = []
    number = 0
    for kind, matching_differences in differences_by_kind(result).items():
        items = [_difference(d, f"d{number + index}") for index, d in enumerate(matching_differences)]
        number += len(matching_differences)
        title = tag("h3", tag("span", kind, class_=f"kind {_slug(kind)}"), f" {size(matching_differences)}")
        description = tag("p", f"{KINDS[kind].capitalize()}.", class_="about")
        parts.append(tag("div", title, description, *items, class_="group", data_kind=kind))
    return _section("Disagreements", *(parts or [tag("p", "None.")]))


def _section(title: str, *children: Markup) -> Markup:
    return tag("section", tag("h2", title), *children)


def _slug(kind: str) -> str:
    return kind.replace(" ", "-")


def _difference(d: Difference, name: str = "") -> Markup:
    ids = [tag("code", breakable(finding), class_="id") for finding in d.findings]
    our_verdict = tag("span", "rejected by ", *_join_markup(ids)) if ids else tag("span", "accepted")
    texts = [" ", tag("q", d.detail)] if d.detail else []
    their_verdict = tag("span", f"{d.implementation}: {d.theirs}", *texts)
    summary = tag(
        "summary",
        tag("span", tag("b", breakable(d.operator)), f" at {d.level}", class_="what"),
        tag("span", count(d.count, "case"), class_="count"),
        tag("span", tag("span", "ours", class_="side"), our_verdict, class_="line"),
        tag(
            "span",
            tag("span", "theirs", class_="side"),
            their_verdict,
            class_="line",
        ),
    )
    body = [tag("p", "Smallest descriptor:"), tag("pre", lines(format_descriptor(d.descriptor)), tabindex="0")]
    if d.command:
        body += [tag("p", "Our verdict again:"), tag("pre", d.command, class_="command", tabindex="0")]
    attributes = data(d.operator, data_kind=d.kind)
    if name:
        attributes["id"] = name
    return tag("details", summary, *body, class_=f"difference {_slug(d.kind)}", **attributes)


def _join_markup(items: Sequence[Markup]) -> list[Markup]:
    return [part for item in items for part in (Markup(", "), item)][1:]


def _row(cells: Sequence[str], **attributes: str) -> Markup:
    """Return a table row that starts with its header."""
    return tag("tr", tag("th", cells[0], scope="row"), *(tag("td", cell) for cell in cells[1:]), **attributes)


def _table(caption: str, head: Sequence[str], rows: Sequence[Markup], *, class_: str) -> Markup:
    columns = tag(
        "tr", *(tag("th", name, scope="col", class_="number" if name in _NUMBERS else False) for name in head)
    )
    return markup.table(caption, columns, tag("tbody", *rows), class_=class_)


def rules(result: Result) -> Markup:
    """Return the coverage of each rule.

    Rules without a case are visible; the full list is collapsed.
    """
    if not result.rules:
        return Markup()
    covered = rules_met(result.rules)
    open_rules = [rule for rule in covered if rule.open]
    text = (
        f"{describe_coverage(covered)}. Accepting: both sides accept it; rejecting: only this finding rejects it; "
        "oracle: an implementation also rejects one of those."
    )
    head = ("rule or cell", "accepting", "rejecting", "oracle", "lacks")
    items = [_rule(rule) for rule in covered]
    folded = tag(
        "details",
        tag("summary", f"All {len(covered):,}"),
        _table("Cases of every rule", head, items, class_="rules"),
    )
    parts = [tag("p", text)]
    if open_rules:
        summary = tag("summary", count(len(open_rules), "rule or cell lacks a case", "rules and cells lack a case"))
        table = _table("Rules that lack a case", head, [_rule(rule) for rule in open_rules], class_="rules")
        parts.append(tag("details", summary, table, open=len(open_rules) <= 20))
    return _section("Rules", *parts, folded)


def _rule(rule: Rule) -> Markup:
    numbers = [
        tag("td", f"{number:,}", class_="number" if number else "number lacking")
        for number in (rule.accepting, rule.rejecting, rule.oracle)
    ]
    lack_cell = tag("td", "; ".join(map(str, rule.lacks)), class_="words")
    return tag("tr", tag("th", breakable(rule.finding), scope="row"), *numbers, lack_cell, **data(rule.operator))


def values(result: Result) -> Markup:
    """Return the compared values, differences, and reasons for missing ones."""
    if not result.values:
        return Markup()
    rows = []
    for operator, level, name, cases, equal, missing_count in value_lines(result):
        number = tag(
            "td", tag("span", percent(equal, cases), class_=f"part {shade_class(equal, cases)}"), class_="number"
        )
        cells = [tag("td", level), tag("td", name), *(tag("td", f"{n:,}", class_="number") for n in (cases, equal))]
        last = tag("td", f"{missing_count:,}", class_="number")
        rows.append(tag("tr", tag("th", breakable(operator), scope="row"), *cells, number, last, **data(operator)))
    head = ("operator", "level", "implementation", "cases", "equal", "equal %", "not computed")
    parts = [_table("Values within the tables' tolerances", head, rows, class_="values")]
    reasons = [
        f"{number:,} not computed by {name}: {reason} ({', '.join(operators)})"
        for name, reason, number, operators in count_uncomputed(result)
    ]
    for kind, kind_differences in values_by_kind(result):
        title = tag("h3", tag("span", f"values differ, {kind}", class_=f"kind {kind}"), f" {size(kind_differences)}")
        parts.append(tag("div", title, *map(_difference, kind_differences), class_="group"))
    if reasons:
        parts.append(markup.bullets(reasons))
    return _section("Values", *parts)


def render_skipped(result: Result) -> Markup:
    """Return the skipped parts, with reasons."""
    if not result.skipped:
        return Markup()
    return _section("Skipped", markup.bullets(result.skipped))


def render_run(result: Result) -> Markup:
    """Return versions, seed and the command that repeats the campaign."""
    rows = [_row((name, version)) for name, version in result.versions.items()]
    table = _table("Implementations", ("name", "version"), rows, class_="versions") if rows else Markup()
    facts = f"Seed {result.seed}; {count(result.cases, 'descriptor')}; {result.seconds:.1f} s. Again:"
    command = tag("pre", repeat_command(result, "html"), class_="command", tabindex="0")
    return _section("This run", table, tag("p", facts), command)


def render(result: Result) -> str:
    """Return the page as a complete document."""
    main = tag(
        "main",
        _top(result),
        _filters(result),
        tag("section", tag("h2", "Agreement", id="agreement"), matrix(result)),
        differences(result),
        rules(result),
        values(result),
        render_skipped(result),
        render_run(result),
    )
    title = f"{result.dialect}: tables and implementations"
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(title, main, style=style, script=script)


def _top(result: Result) -> Markup:
    total = Sum.of(result.tallies)
    cases, equal = sum(v.cases for v in result.values), sum(v.equal for v in result.values)
    is_empty = not total.cases and not cases
    state = "none" if is_empty else "bad" if result.unexplained else "good"
    tiles = [
        ("unexplained", "-" if is_empty else f"{result.unexplained:,}", state),
        ("observed", _with_sign(total.percents[2]), ""),
        ("documented", _with_sign(total.percents[1]), ""),
    ]
    if result.values:
        tiles.append(("values equal", _with_sign(percent(equal, cases)), ""))
    stopped = tag("p", "The time limit ended the campaign before all cases.", class_="stopped")
    return tag(
        "header",
        tag("h1", tag("span", result.dialect, class_="dialect"), ": tables and implementations"),
        tag("p", headline(result) + ".", class_="headline"),
        stopped if result.capped else Markup(),
        markup.tiles(tiles),
    )


def _with_sign(number: str) -> str:
    return number if number == "-" else f"{number} %"


def _filters(result: Result) -> Markup:
    kinds = [
        markup.checkbox("kind", kind, f"{sum(d.count for d in kind_differences):,}", checked=True)
        for kind, kind_differences in differences_by_kind(result).items()
    ]
    kind_filter = tag("fieldset", tag("legend", "Kind of disagreement"), *kinds) if kinds else Markup()
    number = count(len({t.operator for t in result.tallies}), "operator")
    return markup.filters(markup.search("Operator ", "operator"), kind_filter, shown_text=number)
