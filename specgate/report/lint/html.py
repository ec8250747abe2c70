"""The report as one HTML file that needs no network: readable without a script, filtered with a few lines of it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final

from specgate.report import counts, plural, without_table
from specgate.report.about import about
from specgate.report.address import rule_address
from specgate.report.lint.entries import KINDS, Entry, entries_of
from specgate.report.lint.node import node_article
from specgate.report.markup import Markup, breakable, tag
from specgate.report.page import document, own_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.report.options import RenderOptions
    from specgate.verdict import Report

__all__ = ["render"]

_MOST: Final = 2000  # findings on the page; a browser gets slow beyond it


def render(report: Report, options: RenderOptions) -> str:  # noqa: ARG001 (every format takes both)
    """Return the page as a whole document; of more than 2000 findings the gravest of each file and of all are on it."""
    shown, left_out = entries_of(report, _MOST)
    number = counts(report)["findings"]
    title = f"specgate: {plural(number, 'finding')} in {plural(len(report.files), 'file')}"
    main = tag(
        "main",
        tag("header", tag("h1", title), _about(report), _tiles(report), _unusable(report)),
        _filters(report, shown) if shown else Markup(),
        tag("p", f"{left_out} more are not on this page; --format json has all of them.") if left_out else Markup(),
        *_files(report, shown),
        _rules(shown),
        _tables(report),
    )
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(title, main, style=style, script=script)


def _about(report: Report) -> Markup:
    targets = ", ".join(report.targets) or "none"
    judged = plural(report.nodes, "node")
    each = " (a node counts once for each target)" if len(report.targets) > 1 else ""
    return tag("p", f"Targets: {targets}. {judged} judged{each}.", class_="headline")


def _tiles(report: Report) -> Markup:
    number = counts(report)
    tiles = [
        ("errors", number["errors"], "bad" if number["errors"] else "good"),
        ("warnings", number["warnings"], ""),
        ("notes", number["notes"], ""),
        ("undecided", number["undecided"], ""),
        ("without a table", number["no_table"], ""),
        ("ignored", number["ignored"], ""),
    ]
    made = [
        tag("div", tag("dt", name), tag("dd", f"{count:,}"), class_=f"tile {state}".strip())
        for name, count, state in tiles
    ]
    return tag("dl", *made, class_="tiles")


def _unusable(report: Report) -> Markup:
    if not report.unusable:
        return Markup()
    listed = tag("ul", *(tag("li", line) for line in report.unusable))
    return tag("div", tag("p", "These files could not be read:"), listed, class_="unusable", role="alert")


def _filters(report: Report, shown: Sequence[Entry]) -> Markup:
    """Return the form that the script shows; without one it stays hidden and everything is on the page."""
    kinds = [entry.kind for entry in shown]
    boxes = [
        tag(
            "label",
            tag("input", type="checkbox", name="kind", value=kind, checked=kind != "ignored"),
            f"{kind} ",
            tag("span", f"{kinds.count(kind):,}", class_="count"),
            class_="choice",
        )
        for kind in KINDS
        if kind in kinds
    ]
    targets = list(dict.fromkeys([*report.targets, *(entry.target for entry in shown if entry.target)]))
    operators = sorted({entry.place.operator for entry in shown if entry.place.operator})
    search = tag("input", type="search", name="text", autocomplete="off", spellcheck="false", placeholder="any")
    return tag(
        "form",
        tag("label", "Text ", search, class_="search"),
        tag("fieldset", tag("legend", "Severity"), *boxes),
        _choice("Target ", "target", targets),
        _choice("Operator ", "operator", operators),
        tag("p", tag("output", f"entries: {len(shown)}", aria_live="polite")),
        id="filters",
        hidden=True,
    )


def _choice(label: str, name: str, values: Sequence[str]) -> Markup:
    options = [tag("option", "any", value=""), *(tag("option", value, value=value) for value in values)]
    return tag("label", label, tag("select", *options, name=name), class_="search")


def _files(report: Report, shown: Sequence[Entry]) -> list[Markup]:
    anchors = {key: f"node-{at}" for at, key in enumerate(dict.fromkeys(entry.key for entry in shown))}
    sections = []
    for file, in_file in groupby(shown, lambda entry: entry.place.file or ""):
        nodes = [
            node_article(report, list(entries), anchors) for _, entries in groupby(in_file, lambda entry: entry.key)
        ]
        sections.append(tag("section", tag("h2", breakable(file or "No file")), *nodes, class_="file"))
    return sections or [tag("p", "Nothing was found.", class_="nothing")]


def _rules(shown: Sequence[Entry]) -> Markup:
    """Explain the rules that were met, each with an anchor that its findings lead to."""
    rules = sorted({entry.rule for entry in shown if entry.rule})
    if not rules:
        return Markup()
    return tag("section", tag("h2", "Rules"), *map(_rule, rules))


def _rule(rule: str) -> Markup:
    known = about(rule)
    parts = [
        tag("h3", breakable(rule)),
        tag("p", known.says),
        *(tag("p", line, class_="about") for line in known.lines),
    ]
    if (address := rule_address(rule)) is not None:
        parts.append(tag("p", tag("a", "the page of the rule", href=address, rel="noreferrer")))
    if known.url is not None:
        parts.append(tag("p", tag("a", "the source that was read", href=known.url, rel="noreferrer")))
    return tag("div", *parts, class_="rule", id=f"rule/{rule}")


def _tables(report: Report) -> Markup:
    if not report.no_table:
        return Markup()
    said = "These operators have no table: their nodes were neither accepted nor rejected."
    listed = tag("ul", *(tag("li", name) for name in without_table(report.no_table)), class_="operators")
    return tag("section", tag("h2", "Without a table"), tag("p", said), listed)
