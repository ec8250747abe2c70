"""The nodes of a serialized graph as lint units."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specgate.dialects.directml import reader
from specgate.dialects.directml.dxdispatch.edge_findings import Edge, GraphNode, broken_edges
from specgate.dialects.directml.dxdispatch.graph import GRAPH
from specgate.dialects.directml.serialized.graph import read_ends, read_graph
from specgate.dialects.directml.tensor import NAME
from specgate.errors import InputError, NoTable
from specgate.linting.files import read_whole
from specgate.linting.nodes import Graph, Unit
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.directml.serialized.graph import Node

__all__ = ["MAX_BYTES", "graph_of_data", "graph_of_file"]

#: The file size limit. Files may contain constants, and offsets reach at most 2 GiB.
MAX_BYTES = 2**31 - 1


def graph_of_file(path: str) -> Graph:
    """Return the nodes of a file; raise InputError."""
    return graph_of_data(read_whole(Path(path), MAX_BYTES, name=path), path)


def graph_of_data(content: bytes, file: str) -> Graph:
    """Return the nodes of serialized data. file: its name in messages."""
    nodes = read_graph(content, file)
    places = [f"nodes[{index}]{f' {node.name!r:.80}' if node.name else ''}" for index, node in enumerate(nodes)]
    units = {at: _unit(node, places[at], file) for at, node in enumerate(nodes) if node.fields is not None}
    if not units:
        raise InputError("expected at least one operator, found only constants", file=file)
    new_nodes = [
        GraphNode(place, node.name or f"node {at}", units[at].descriptor if at in units else None)
        for at, (node, place) in enumerate(zip(nodes, places, strict=True))
    ]
    edges = list(_edges(nodes, places, *read_ends(content, file)))
    return Graph(
        NAME, [*units.values()], findings=list(broken_edges(new_nodes, edges, Location(file, None, "graph", GRAPH)))
    )


def _edges(
    nodes: Sequence[Node], places: Sequence[str], inputs: Sequence[str], outputs: Sequence[str]
) -> Iterator[Edge]:
    """Yield the edges by name, as a runtime connects them.

    A name without an earlier producer has no edge. External constants count as graph inputs, which the runtime creates.
    """
    ends: dict[str, int] = {}  # by name: the index of the graph's input or external constant
    for name in (*inputs, *(name for node in nodes if node.fields is None for name in node.writes)):
        if name:
            ends.setdefault(name, len(ends))
    last = {name: at for at, name in enumerate(outputs)}
    written: dict[str, tuple[int, int]] = {}
    for index, node in enumerate(nodes):
        for place, name in enumerate(node.reads):
            if name in ends:
                yield Edge(places[index], None, (index, place), ends[name])
            elif name in written:
                yield Edge(places[index], written[name], (index, place))
        for place, name in enumerate(node.writes):
            if name and node.fields is not None:
                written[name] = (index, place)
                if name in last:
                    yield Edge(places[index], (index, place), None, last[name])


def _unit(node: Node, place: str, file: str) -> Unit:
    operator = node.operator.removeprefix("DML_OPERATOR_")
    at = Location(file, None, place, operator)
    try:
        descriptor = reader.read(node.fields or {})
    except NoTable as error:
        return Unit(at, operator, reason=str(error), ends=(node.reads, node.writes))
    except InputError as error:
        where = ": ".join(part for part in (place, error.place) if part)
        raise InputError(error.message, file=file, place=where) from None
    return Unit(at, operator, descriptor, ends=(node.reads, node.writes))
