"""The nodes of a serialised graph as lint sees them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specgate.dialects.directml import reader
from specgate.dialects.directml.serialized.graph import read_graph
from specgate.dialects.directml.tensor import NAME
from specgate.errors import InputError, NoTable
from specgate.linting.files import read_whole
from specgate.linting.nodes import Graph, Unit
from specgate.verdict import Location

if TYPE_CHECKING:
    from specgate.dialects.directml.serialized.graph import Node

__all__ = ["MAX_BYTES", "graph_of_data", "graph_of_file"]

#: Of a file: its constants may be in it, and offsets reach no further than 2 GiB.
MAX_BYTES = 2**31 - 1


def graph_of_file(path: str) -> Graph:
    """Return the nodes of a file; raise InputError."""
    return graph_of_data(read_whole(Path(path), MAX_BYTES, name=path), path)


def graph_of_data(content: bytes, file: str) -> Graph:
    """Return the nodes of a serialised graph that was read already. file: what it is called in messages."""
    units = []
    for index, node in enumerate(read_graph(content, file)):
        if node.fields is not None:
            units.append(_unit(node, f"nodes[{index}]{f' {node.name!r:.80}' if node.name else ''}", file))
    if not units:
        raise InputError("expected at least one operator, found constants alone", file=file)
    return Graph(NAME, units)


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
