"""The units of an ONNX model: a column of kinds for each row of nodes, units where they are asked for."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects.onnx.lint.walk import label
from specgate.dialects.onnx.reader import operator_name
from specgate.linting.nodes import Unit, Units
from specgate.verdict import Location

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxNode

__all__ = ["NodeUnits", "Row", "location"]


class Row(NamedTuple):
    """Nodes of one body from a number on, with their kinds: None for a node that is no unit.

    file, place: where the body is. names: of its values in the whole file, where these are not their own.
    """

    file: str | None
    place: str
    nodes: Sequence[OnnxNode]
    first: int
    kinds: list[Unit | None]
    names: Mapping[str, str]


class _Ends:
    """What knows the names of the values of a node in the whole file."""

    __slots__ = ("known", "node")

    def __init__(self, node: OnnxNode, known: Mapping[str, str]) -> None:
        self.node, self.known = node, known

    def names(self) -> tuple[Sequence[str], Sequence[str]]:
        known = self.known
        return [known.get(name, name) for name in self.node.inputs], [
            known.get(name, name) for name in self.node.outputs
        ]


class NodeUnits(Units):
    """Rows of nodes, in the order of the model: behind a node with graphs come these, then what follows it."""

    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self.rows: Final = list(rows)

    def kinds(self) -> list[tuple[Unit, int]]:
        counted = Counter(map(id, chain.from_iterable(row.kinds for row in self.rows)))
        firsts = {id(kind): kind for row in self.rows for kind in row.kinds}
        return [(kind, counted[key]) for key, kind in firsts.items() if kind is not None]

    def made(self, kinds: Collection[int] | None = None) -> Iterator[Unit]:
        for row in self.rows:
            for at, kind in enumerate(row.kinds):
                if kind is None or (kinds is not None and id(kind) not in kinds):
                    continue
                index = row.first + at
                node = row.nodes[index]
                ends: Any = _Ends(node, row.names) if row.names else (node.inputs, node.outputs)
                where = partial(location, row.file, row.place, node, index)
                yield Unit(where, kind.operator, kind.descriptor, kind.reason, ends)

    def by_node(self) -> dict[int, Unit]:
        """Return by node (its identity) a unit of its kind, whose descriptor is its own, and its place is not."""
        return {
            id(node): kind
            for row in self.rows
            for node, kind in zip(row.nodes[row.first : row.first + len(row.kinds)], row.kinds, strict=True)
            if kind is not None
        }


def location(file: str | None, place: str, node: OnnxNode, index: int) -> Location:
    """Where a node is."""
    return Location(file, None, f"{place}/{label(node, index)}", operator_name(node.op_type, node.domain))
