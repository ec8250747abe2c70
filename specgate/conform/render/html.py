"""A campaign as one HTML file without network: readable without JavaScript, filtered with a few lines of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.conform.render.matrix import matrix
from specgate.conform.render.sections import differences, rules, run, skipped, values
from specgate.conform.render.shared import Sum, by_kind, count, headline, percent
from specgate.report.markup import Markup, tag
from specgate.report.page import document, own_file

if TYPE_CHECKING:
    from specgate.conform.result import Result

__all__ = ["render"]


def render(result: Result) -> str:
    """Return the page as a whole document."""
    main = tag(
        "main",
        _top(result),
        _filters(result),
        tag("section", tag("h2", "Agreement", id="agreement"), matrix(result)),
        differences(result),
        rules(result),
        values(result),
        skipped(result),
        run(result),
    )
    title = f"{result.dialect}: tables and implementations"
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(title, main, style=style, script=script)


def _top(result: Result) -> Markup:
    total = Sum.of(result.tallies)
    cases, equal = sum(v.cases for v in result.values), sum(v.equal for v in result.values)
    nothing = not total.cases and not cases
    state = "none" if nothing else "bad" if result.unexplained else "good"
    tiles = [
        _tile("unexplained", "-" if nothing else f"{result.unexplained:,}", state),
        _tile("observed", _with_sign(total.percents[2]), ""),
        _tile("documented", _with_sign(total.percents[1]), ""),
    ]
    if result.values:
        tiles.append(_tile("values equal", _with_sign(percent(equal, cases)), ""))
    stopped = tag("p", "The time limit ended the campaign before all cases.", class_="stopped")
    return tag(
        "header",
        tag("h1", tag("span", result.dialect, class_="dialect"), ": tables and implementations"),
        tag("p", headline(result) + ".", class_="headline"),
        stopped if result.capped else Markup(),
        tag("dl", *tiles, class_="tiles"),
    )


def _with_sign(number: str) -> str:
    return number if number == "-" else f"{number} %"


def _tile(name: str, number: str, state: str) -> Markup:
    return tag("div", tag("dt", name), tag("dd", number), class_=f"tile {state}".strip())


def _filters(result: Result) -> Markup:
    """Return the form that the script shows; without one it stays hidden and everything is on the page."""
    kinds = [
        tag(
            "label",
            tag("input", type="checkbox", name="kind", value=kind, checked=True),
            f"{kind} ",
            tag("span", f"{sum(d.count for d in found):,}", class_="count"),
            class_="choice",
        )
        for kind, found in by_kind(result).items()
    ]
    chosen = tag("fieldset", tag("legend", "Kind of disagreement"), *kinds) if kinds else Markup()
    search = tag("input", type="search", name="operator", autocomplete="off", spellcheck="false", placeholder="any")
    return tag(
        "form",
        tag("label", "Operator ", search, class_="search"),
        chosen,
        tag("p", tag("output", count(len({t.operator for t in result.tallies}), "operator"), aria_live="polite")),
        id="filters",
        hidden=True,
    )
