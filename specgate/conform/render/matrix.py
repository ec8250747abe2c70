"""The matrix of agreement: operators down, levels across, one row per implementation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.conform.render.shared import Sum, agreements, answers, by_kind, count, natural, sort_tallies
from specgate.report.markup import Markup, breakable, tag
from specgate.report.page import scrolled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.conform.result import Result, Tally

__all__ = ["data", "matrix", "shade"]

#: Classes of colour: the least agreement, in hundredths of a percent, that has it.
_SHADES: Final = ((10_000, "full"), (9_990, "high"), (9_900, "good"), (9_500, "fair"), (8_000, "low"), (0, "poor"))


def shade(part: int, whole: int) -> str:
    """Return the class of colour of an agreement; ``none`` where nothing was compared."""
    if whole <= 0:
        return "none"
    return next((name for least, name in _SHADES if part * 10_000 // whole >= least), "poor")


def data(operator: str, **more: str) -> dict[str, str]:
    """Return the attributes that the filter reads."""
    return {"data_operator": operator, **more}


def matrix(result: Result) -> Markup:
    """Return the matrix and its legend, or that there is nothing to show."""
    if not result.tallies:
        return tag("p", "No implementation was asked.")
    tallies = sort_tallies(result)
    levels = sorted({t.level for t in tallies}, key=natural)
    totals = agreements(result)
    several = len(totals) > 1
    links = _links(result)
    rows: dict[str, dict[str, dict[str, Tally]]] = {}
    for tally in tallies:
        rows.setdefault(tally.operator, {}).setdefault(tally.implementation, {})[tally.level] = tally
    corner = [tag("th", "operator", class_="name", scope="col")] + (
        [tag("th", "implementation", scope="col")] if several else []
    )
    head = tag("tr", *corner, *(tag("th", level, scope="col") for level in levels), tag("th", "all", scope="col"))
    caption = "Agreement in % of verdicts, by operator and level" + ("" if several else f": {next(iter(totals))}")
    bodies = [_body(operator, found, levels, links, several=several) for operator, found in rows.items()]
    foot = _foot(tallies, levels, several=several)
    table = tag("table", tag("caption", tag("span", caption)), tag("thead", head), *bodies, foot, class_="matrix")
    return Markup(scrolled(table, "Agreement by operator and level") + _legend())


def _body(
    operator: str,
    found: Mapping[str, Mapping[str, Tally]],
    levels: Sequence[str],
    links: Mapping[tuple[str, str, str], str],
    *,
    several: bool,
) -> Markup:
    rows = []
    for at, (name, by_level) in enumerate(found.items()):
        first = (
            tag("th", breakable(operator), class_="name", scope="rowgroup", rowspan=str(len(found)))
            if at == 0
            else Markup()
        )
        if not several:
            first = tag("th", breakable(operator), class_="name", scope="row")
        second = tag("th", name, scope="row") if several else Markup()
        cells = [
            _cell([by_level[level]] if level in by_level else [], links.get((operator, level, name), ""))
            for level in levels
        ]
        rows.append(tag("tr", first, second, *cells, _cell(by_level.values())))
    return tag("tbody", *rows, **data(operator))


def _foot(tallies: Iterable[Tally], levels: Sequence[str], *, several: bool) -> Markup:
    groups: dict[str, dict[str, list[Tally]]] = {}
    for tally in tallies:
        groups.setdefault(tally.implementation, {}).setdefault(tally.level, []).append(tally)
    rows = []
    for name, by_level in groups.items():
        heads = [tag("th", "all operators", class_="name", scope="row")] + (
            [tag("th", name, scope="row")] if several else []
        )
        cells = [_cell(by_level.get(level, [])) for level in levels]
        rows.append(tag("tr", *heads, *cells, _cell([t for group in by_level.values() for t in group])))
    return tag("tfoot", *rows)


def _cell(tallies: Iterable[Tally], link: str = "") -> Markup:
    """Return observed agreement, and the documented one below it where it is another."""
    group = list(tallies)
    total = Sum.of(group)
    words = [other for tally in group if (other := answers(tally.words))] if len(group) == 1 else []
    if not total.cases:
        return tag("td", tag("span", "no verdict", class_="unseen"), class_="none", title=", ".join(words) or False)
    _, documented, observed = total.percents
    parts = [tag("span", observed, class_=f"part {shade(total.observed, total.cases)}")]
    if total.documented != total.observed:
        page = tag("span", "documented ", class_="unseen")
        parts.append(tag("span", page, documented, class_=f"part second {shade(total.documented, total.cases)}"))
    about = ", ".join([count(total.cases, "verdict"), f"{total.percents[0]} % accepted", *words])
    if link:
        parts = [tag("a", *parts, href=f"#{link}")]
    return tag("td", *parts, title=about)


def _links(result: Result) -> dict[tuple[str, str, str], str]:
    """Return where the differences of a cell begin; a difference may name several levels."""
    found: dict[tuple[str, str, str], str] = {}
    ordered = [
        difference for group in by_kind(result).values() for difference in group
    ]  # as `differences` numbers them
    for number, difference in enumerate(ordered):
        for level in difference.level.split(", "):
            found.setdefault((difference.operator, level, difference.implementation), f"d{number}")
    return found


def _legend() -> Markup:
    least = [f"{hundredths // 100}.{hundredths % 100:02}" for hundredths, _ in _SHADES]
    labels = ["100", *(f"from {number}" for number in least[1:-1]), f"below {least[-2]}"]
    keys = [
        tag("li", tag("span", label, class_=f"part {name}")) for label, (_, name) in zip(labels, _SHADES, strict=True)
    ]
    said = (
        "A cell shows agreement with what is known of builds (observed). Where agreement by the vendor's page "
        "(documented) is another, it stands below. Percentages are rounded down. A linked cell leads to its "
        "disagreements."
    )
    return tag("div", tag("p", said), tag("ul", *keys, class_="keys"), class_="legend")
