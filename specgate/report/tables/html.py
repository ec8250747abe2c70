"""A dialect's tables as one HTML file: operators by level, and details with an anchor for every rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.report.markup import Markup, tag
from specgate.report.page import document, own_file
from specgate.report.tables.details import operator_details, tensor_rules
from specgate.report.tables.listing import counts
from specgate.report.tables.matrix import legend, matrix
from specgate.spec.view import operators_at

if TYPE_CHECKING:
    from specgate.spec.dialect_spec import Dialect
    from specgate.targets import Target

__all__ = ["render"]


def render(table: Dialect, target: Target | None) -> str:
    """Return the page of a dialect as a whole document; the column of `target` is marked if there is one."""
    level = target.level if target else None
    title = table.tables.title
    main = tag(
        "main",
        tag(
            "header",
            tag("h1", f"{title}: operators by {table.level_word}"),
            _about(table, target),
            _tiles(table, level),
        ),
        _filters(table, level),
        tag("section", tag("h2", "Support", id="support"), legend(), matrix(table, level)),
        tag("section", tag("h2", "Operators"), *(operator_details(table, name, level) for name in table.operators)),
        tensor_rules(table),
    )
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(f"{title}: operators by {table.level_word}", main, style=style, script=script)


def _about(table: Dialect, target: Target | None) -> Markup:
    said = f"{len(table.operators)} operators with a table, {len(table.levels)} levels"
    return tag("p", said + (f"; {target.described} is marked." if target else "."), class_="headline")


def _tiles(table: Dialect, level: str | None) -> Markup:
    """Return how many operators there are at `level`, or at the newest one."""
    at = level or table.levels[-1]
    names = {"yes": "as much as the newest", "limited": "limited", "no": "not there"}
    tiles = [
        tag("div", tag("dt", f"{names[kind]} at {at}"), tag("dd", str(number)), class_="tile")
        for kind, number in counts(operators_at(table, at)).items()
    ]
    return tag("dl", *tiles, class_="tiles")


def _filters(table: Dialect, level: str | None) -> Markup:
    """Return the form that the script shows; without one it stays hidden and everything is on the page."""
    chosen = level or table.levels[-1]
    levels = [tag("option", name, value=name, selected=name == chosen) for name in table.levels]
    boxes = [
        tag("label", tag("input", type="checkbox", name=name, value=name), said, class_="choice")
        for name, said in (("changed", "new or changed there"), ("limited", "limited there"))
    ]
    search = tag("input", type="search", name="operator", autocomplete="off", spellcheck="false", placeholder="any")
    return tag(
        "form",
        tag("label", "Operator ", search, class_="search"),
        tag("label", f"{table.level_word.capitalize()} ", tag("select", *levels, name="level"), class_="search"),
        *boxes,
        tag("p", tag("output", f"{len(table.operators)} operators", aria_live="polite")),
        id="filters",
        hidden=True,
    )
