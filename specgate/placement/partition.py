"""The partitions of a placed body, and the values that are copied between providers.

Sources: onnxruntime core/providers/dml/DmlExecutionProvider/src/GraphPartitioner.cpp (BuildPartitions, commit
00ca16892) for which nodes belong together; core/optimizer/transformer_memcpy.cc (commit 032b5a32e) for the copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from specgate.placement.graph import Body, Node
    from specgate.placement.registrations import Registration

__all__ = ["Copy", "copies", "partitions"]


@dataclass(frozen=True, slots=True)
class Copy:
    """A value that is copied from one provider's memory to the other's. place: the body in which it happens."""

    value: str
    source: str
    to: str
    place: str

    def to_dict(self) -> dict[str, str]:
        """Return it as ``specgate place --format json`` prints it."""
        return {"value": self.value, "from": self.source, "to": self.to, "place": self.place}


class _Group:
    """Nodes that belong together; `closed` once a node outside reads of them, so that nothing may come behind it."""

    __slots__ = ("closed", "nodes", "root")

    def __init__(self, node: Node) -> None:
        self.nodes = [node]
        self.closed = False
        self.root: _Group | None = None

    def found(self) -> _Group:
        """Return the group that this one was merged into at last."""
        group = self
        while group.root is not None:
            group = group.root
        return group


def partitions(body: Body, inside: Callable[[Node], bool]) -> list[list[Node]]:
    """Return the partitions of the nodes for which `inside` holds, each in topological order.

    A node joins, and joins together, the partitions that it reads from and that nothing else has closed.
    """
    by_value: dict[str, _Group] = {}
    groups: list[_Group] = []
    for node in body.nodes:
        read = [by_value[name].found() for name in (*node.proto.inputs, *node.implicit) if name in by_value]
        if not inside(node):
            for group in read:
                group.closed = True
            continue
        open_ones = list(dict.fromkeys(group for group in read if not group.closed))
        if open_ones:
            first = open_ones[0]
            first.nodes.append(node)
            for other in open_ones[1:]:
                other.root = first
                first.nodes += other.nodes
                other.nodes = []
        else:
            first = _Group(node)
            groups.append(first)
        for name in node.proto.outputs:
            if name:
                by_value[name] = first
    return [sorted(group.nodes, key=lambda node: node.index) for group in groups if group.nodes]


def copies(
    body: Body, provider: str, placed: Mapping[Node, str | None], rows: Mapping[Node, Registration]
) -> Iterable[Copy]:
    """Yield what is copied in one body between `provider` and the CPU while the model runs.

    What comes into the body is copied before, unless nodes of both read it; initializers are copied once,
    before the first run.
    """
    here: tuple[set[str], set[str]] = (set(), set())  # what nodes of the provider read, and make, in its memory
    cpu: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for node in body.nodes:
        row = rows.get(node) if placed.get(node) == provider else None
        for side, names in ((0, node.proto.inputs), (1, node.proto.outputs)):
            in_cpu = () if row is None else row.cpu_outputs if side else row.cpu_inputs
            for index, name in enumerate(names):
                if not name:
                    continue
                if row is not None and index not in in_cpu:
                    here[side].add(name)
                else:
                    cpu[side][name] = None
    incoming = [name for name in cpu[0] if name not in body.makers and name not in body.sizes]
    for name in (*(name for name in incoming if name in here[0]), *(name for name in cpu[1] if name in here[0])):
        yield Copy(name, "CPU", provider, body.place)
    for name in cpu[0]:
        if name in here[1]:
            yield Copy(name, provider, "CPU", body.place)
