"""The report as one HTML file that needs no network: readable without a script, filtered with a few lines of it."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.report import counts, plural, without_table
from specgate.report.lint.entries import GRAVE, KINDS, Entry, entries_of
from specgate.report.lint.node import node_article
from specgate.report.lint.overview import counted, file_list, rule_list
from specgate.report.markup import Markup, breakable, tag
from specgate.report.merging import asked_targets, merged, named_targets
from specgate.report.page import document, own_file
from specgate.slotted import replace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.report.options import RenderOptions
    from specgate.verdict import Report

__all__ = ["render"]

_MOST: Final = 2000  # findings on the page; a browser gets slow beyond it


def render(report: Report, options: RenderOptions) -> str:
    """Return the page as a whole document; of more than 2000 findings the gravest of each file and of all are on it."""
    shown, left_out = entries_of(report, _MOST, options.queries)
    anchors = _anchors(shown)
    number = counts(_as_listed(report, options))
    title = f"specgate: {plural(number['findings'], 'finding')} in {plural(len(report.files), 'file')}"
    head = (tag("h1", title), _about(report, options), _tiles(number), _unusable(report), _leads(report, shown))
    main = tag(
        "main",
        tag("header", *head),
        _filters(report, shown, options) if shown else Markup(),
        tag("p", f"{left_out} more are not on this page; --format json has all of them.") if left_out else Markup(),
        file_list(report, anchors.files),
        *_files(report, shown, anchors),
        rule_list(shown, anchors.nodes),
        _tables(report),
    )
    style, script = own_file(__package__, "style.css"), own_file(__package__, "filter.js")
    return document(title, main, style=style, script=script)


class Anchors(NamedTuple):
    """What links lead to: nodes by file and path, and files."""

    nodes: dict[tuple[str, str], str]
    files: dict[str, str]


def _anchors(shown: Sequence[Entry]) -> Anchors:
    nodes = {key: f"node-{at}" for at, key in enumerate(dict.fromkeys(entry.key for entry in shown))}
    files = {file: f"file-{at}" for at, file in enumerate(dict.fromkeys(file for file, _ in nodes))}
    return Anchors(nodes, files)


def _about(report: Report, options: RenderOptions) -> Markup:
    targets = ", ".join(named_targets(report.targets, options.queries)) or "none"
    judged = f"{plural(report.nodes, 'node')} of {plural(len(report.files), 'file')}"
    each = " (a node counts once for each target)" if len(report.targets) > 1 else ""
    return tag("p", f"Targets: {targets}. {judged} linted{each}.", class_="headline")


def _leads(report: Report, shown: Sequence[Entry]) -> Markup:
    """Return links to the parts of a long page."""
    parts = [("files", "Files", len(report.files) > 1), ("rules", "Rules", any(entry.rule for entry in shown))]
    parts.append(("no-table", "Without a table", bool(report.no_table)))
    links = [tag("li", tag("a", name, href=f"#{place}")) for place, name, there in parts if there]
    return tag("nav", tag("ul", *links), aria_label="Parts of this page", class_="leads") if links else Markup()


def _as_listed(report: Report, options: RenderOptions) -> Report:
    """Return the report with the findings that queries merge counted once, as the page lists and filters them."""
    return replace(report, findings=merged(report.findings, options.queries))


def _tiles(number: Mapping[str, int]) -> Markup:
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


def _filters(report: Report, shown: Sequence[Entry], options: RenderOptions) -> Markup:
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
    asked = asked_targets(report.targets, options.queries)
    targets = list(dict.fromkeys([*asked, *(entry.target for entry in shown if entry.target)]))
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


def _files(report: Report, shown: Sequence[Entry], anchors: Anchors) -> list[Markup]:
    sections = []
    for file, in_file in groupby(shown, lambda entry: entry.place.file or ""):
        nodes = [list(entries) for _, entries in groupby(in_file, lambda entry: entry.key)]
        grave = [entries for entries in nodes if any(entry.kind in GRAVE for entry in entries)]
        lesser = [entries for entries in nodes if entries not in grave]
        parts = [node_article(report, entries, anchors.nodes) for entries in grave]
        if lesser:
            kinds = [entry.kind for entries in lesser for entry in entries]
            title = f"{counted(kinds)} at {plural(len(lesser), 'further node' if grave else 'node')}"
            held = [node_article(report, entries, anchors.nodes) for entries in lesser]
            parts.append(tag("details", tag("summary", title), *held, class_="lesser"))
        head = tag("h2", breakable(file or "No file"))
        sections.append(tag("section", head, *parts, class_="file", id=anchors.files[file]))
    return sections or [tag("p", "Nothing was found.", class_="nothing")]


def _tables(report: Report) -> Markup:
    if not report.no_table:
        return Markup()
    said = "These operators have no table: their nodes were neither accepted nor rejected."
    listed = tag("ul", *(tag("li", name) for name in without_table(report.no_table)), class_="operators")
    return tag("section", tag("h2", "Without a table"), tag("p", said), listed, id="no-table")
