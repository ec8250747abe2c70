"""A node on the page: where its inputs come from, where its outputs go, and what was found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.report.lint.entries import GRAVE
from specgate.report.lint.overview import counted
from specgate.report.markup import Markup, breakable, tag, text
from specgate.report.ports import context_at, shape_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.report.lint.entries import Entry
    from specgate.verdict import NodeContext, Port, Report

__all__ = ["node_article"]

Anchors = "Mapping[tuple[str, str], str]"


def node_article(report: Report, entries: Sequence[Entry], anchors: Mapping[tuple[str, str], str]) -> Markup:
    """Return a node with its entries; `anchors` leads to the nodes that are on the page too."""
    place = entries[0].place
    line = f"line {place.line}" if place.line is not None else ""
    facts = ", ".join(fact for fact in (place.operator or "", line) if fact)
    title = tag("h3", breakable(place.node or "The whole file"), " ", tag("span", facts, class_="count"))
    context = context_at(report, place)
    drawn = _neighbours(context, place.file or "", place.operator or "", anchors) if context is not None else Markup()
    grave = [entry for entry in entries if entry.kind in GRAVE]
    lesser = [entry for entry in entries if entry.kind not in GRAVE]
    listed = [tag("ul", *map(_finding, grave or lesser), class_="findings")]
    if grave and lesser:
        folded = tag("ul", *map(_finding, lesser), class_="findings")
        listed.append(tag("details", tag("summary", counted(entry.kind for entry in lesser)), folded, class_="lesser"))
    return tag(
        "article",
        title,
        drawn,
        *listed,
        class_="node",
        id=anchors[entries[0].key],
        data_operator=place.operator or "",
    )


def _neighbours(context: NodeContext, file: str, operator: str, anchors: Mapping[tuple[str, str], str]) -> Markup:
    if not context.inputs and not context.outputs:
        return Markup()
    sides = [
        tag("div", tag("h4", title), tag("ul", *(_port(port, side, file, anchors) for port in ports)), class_=side)
        for title, side, ports in (("Inputs from", "from", context.inputs), ("Outputs to", "to", context.outputs))
    ]
    here = tag("div", tag("b", breakable(operator or "this node")), class_="here")
    return tag("div", sides[0], here, sides[1], class_="neighbours")


def _port(port: Port, side: str, file: str, anchors: Mapping[tuple[str, str], str]) -> Markup:
    name = tag("span", breakable(port.field or port.name or "a tensor"), class_="field")
    shape = tag("code", shape_words(port))
    nodes = [_peer(node, operator, anchors.get((file, node))) for node, operator in port.nodes]
    if port.more:
        nodes.append(tag("span", f"and {port.more} more", class_="count"))
    if not nodes:
        nodes = [tag("span", *_no_node(port, side), class_="count")]
    return tag("li", name, " ", shape, tag("div", *_with_commas(nodes), class_="peers"))


def _no_node(port: Port, side: str) -> list[str]:
    """What is known of a tensor that no node writes, or that none reads."""
    if port.name is None:
        return ["no node known"]
    said = "an input or a constant" if side == "from" else "read by no node"
    return [said, *([Markup(" ("), breakable(port.name), ")"] if port.name != port.field else [])]


def _peer(node: str, operator: str, anchor: str | None) -> Markup:
    name = breakable(node)
    shown = tag("a", name, href=f"#{anchor}") if anchor is not None else tag("span", name)
    return tag("span", shown, f" ({operator})", class_="peer")


def _with_commas(parts: Sequence[Markup]) -> list[Markup]:
    return [part for at, each in enumerate(parts) for part in ((text(", "), each) if at else (each,))]


def _finding(entry: Entry) -> Markup:
    rule = tag("a", breakable(entry.rule), href=f"#rule/{entry.rule}") if entry.rule else Markup()
    head = tag(
        "p",
        tag("span", entry.kind, class_=f"mark {entry.kind}"),
        " ",
        tag("span", entry.target, class_="target"),
        " ",
        rule,
        " ",
        tag("span", entry.where, class_="field"),
        *([" ", tag("span", "fixable with --fix", class_="count")] if entry.fixable else []),
    )
    body = [tag("p", entry.message), *(tag("p", line, class_="about") for line in entry.details)]
    return tag("li", head, *body, class_="finding", data_kind=entry.kind, data_target=entry.target)
