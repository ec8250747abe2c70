"""A placement as an HTML file: partitions in color, and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.report import plural
from specgate.report.markup import Markup, breakable, bullets, document, own_file, scrollable_region, tag
from specgate.report.placement.text import Group, failing_groups, groups, run_failure_text, summary

if TYPE_CHECKING:
    from specgate.runtimes.onnxruntime.placement import PlacedNode, Placement

_MAX_NODES: Final = 5000  # nodes on the page; browsers are slow with more
_COLOURS: Final = 6


def render(placement: Placement) -> str:
    """Return the complete page."""
    title = f"specgate: {placement.file or 'a model'} on {placement.target}"
    main = tag(
        "main",
        tag("header", tag("h1", title), tag("p", summary(placement), class_="headline"), _lines(placement)),
        _groups("Not created", failing_groups(placement)),
        _groups(f"Not on {placement.providers[0]}", groups(placement)),
        _copies(placement),
        _nodes(placement),
    )
    return document(title, main, style=own_file(__package__, "style.css"), script="")


def _lines(placement: Placement) -> Markup:
    fixes = [f"fix: {fix}" for fix in placement.fixes]
    return bullets((*placement.refusals, *fixes, *placement.notes), class_="lines")


def _groups(title: str, matching_groups: list[Group]) -> Markup:
    if not matching_groups:
        return Markup()
    rows = [
        tag(
            "tr",
            tag("td", group.provider, class_="word"),
            tag("td", breakable(group.node_names())),
            tag("td", group.why),
        )
        for group in matching_groups
    ]
    table = tag("table", tag("tbody", *rows))
    return tag("section", tag("h2", title), scrollable_region(table, title))


def _copies(placement: Placement) -> Markup:
    if not placement.copies:
        return Markup()
    items = [
        tag("li", tag("code", copy.value), f": {copy.source} → {copy.to}, in {copy.place}")
        for copy in placement.copies[:_MAX_NODES]
    ]
    return tag("section", tag("h2", f"Copies: {plural(len(placement.copies), 'value')}"), tag("ul", *items))


def _nodes(placement: Placement) -> Markup:
    head = tag("tr", *(tag("th", name) for name in ("node", "operator", "provider", "kernel", "becomes")))
    rows: list[Markup] = []
    before: PlacedNode | None = None
    for node in placement.nodes[:_MAX_NODES]:
        if before is not None and before.provider != node.provider:
            words = f"{before.provider or 'none'} → {node.provider or 'none'}"
            rows.append(tag("tr", tag("td", words, colspan="5"), class_="border"))
        rows.append(_row(node))
        before = node
    table = tag("table", tag("thead", head), tag("tbody", *rows), class_="nodes")
    left = len(placement.nodes) - _MAX_NODES
    remainder = tag("p", f"{left} more are omitted here; --format json contains all of them.") if left > 0 else Markup()
    return tag("section", tag("h2", "Nodes"), scrollable_region(table, "Nodes"), remainder)


def _row(node: PlacedNode) -> Markup:
    if node.partition is not None:
        style = f"part-{node.partition % _COLOURS}"
        provider = f"{node.provider} · partition {node.partition}"
    else:
        style, provider = ("none" if node.provider is None else "cpu"), node.provider or "no kernel"
    operators_text = "" if node.lowered is None else ", ".join(operator.operator for operator in node.lowered)
    text = node.creation + (f": {node.created_by}" if node.created_by else "")
    text += f"; fails {run_failure_text(node)}" if node.run_fails else ""
    name = node.operator if node.version is None else f"{node.operator}-{node.version}"
    operators_text += f" (created {node.times} times)" if node.duplicates else ""
    cells = (breakable(node.node), name, tag("span", provider, title=node.why), text, breakable(operators_text))
    return tag("tr", *(tag("td", cell) for cell in cells), class_=style)
