"""Partitions of a placed body, and copies between providers.

Sources: onnxruntime core/providers/dml/DmlExecutionProvider/src/GraphPartitioner.cpp (BuildPartitions, commit
00ca16892) for partitions; core/optimizer/transformer_memcpy.cc (commit 032b5a32e) for copies.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from specgate.runtimes.onnxruntime.graph import Body, Node
    from specgate.runtimes.onnxruntime.registrations import Registration


@dataclass(frozen=True, slots=True)
class Copy:
    """A value that is copied between the memory of two providers.

    place: the body of the copy.
    """

    value: str
    source: str
    to: str
    place: str

    def to_dict(self) -> dict[str, str]:
        """Return it as ``specgate place --format json`` prints it."""
        return {"value": self.value, "from": self.source, "to": self.to, "place": self.place}


class _Group:
    """A partition under construction.

    It is `closed` once a node outside reads from it, so that no later node may join.
    """

    __slots__ = ("closed", "nodes", "root")

    def __init__(self, node: Node) -> None:
        self.nodes = [node]
        self.closed = False
        self.root: _Group | None = None

    def find_root(self) -> _Group:
        """Return the group into which this one was finally merged."""
        group = self
        while group.root is not None:
            if group.root.root is not None:  # path compression, because chains can be long
                group.root = group.root.root
            group = group.root
        return group

    def join(self, other: _Group) -> None:
        """Merge another group into this one by copying the shorter list."""
        other.root = self
        if len(other.nodes) > len(self.nodes):
            self.nodes, other.nodes = other.nodes, self.nodes
        self.nodes += other.nodes
        other.nodes = []


def partitions(body: Body, candidates: Container[Node]) -> list[list[Node]]:
    """Return the partitions of the nodes in `candidates`.

    Each is in topological order. A node joins and merges the partitions that it reads from, unless another node has
    closed them.
    """
    by_value: dict[str, _Group] = {}
    groups: list[_Group] = []
    for node in body.nodes:
        names = (*node.proto.inputs, *node.implicit) if node.implicit else node.proto.inputs
        read_groups = [group.find_root() for name in names if (group := by_value.get(name)) is not None]
        if node not in candidates:
            for group in read_groups:
                group.closed = True
            continue
        first = None
        for group in read_groups:
            if group.closed or group is first or group.root is not None:
                continue
            if first is None:
                first = group
            else:
                first.join(group)
        if first is not None:
            first.nodes.append(node)
        else:
            first = _Group(node)
            groups.append(first)
        for name in node.proto.outputs:
            if name:
                by_value[name] = first
    return [sorted(group.nodes, key=attrgetter("index")) for group in groups if group.nodes]


def copies(body: Body, provider: str, registrations: Mapping[Node, Registration]) -> Iterable[Copy]:
    """Yield the values copied between `provider` and the CPU in one body.

    registrations: the nodes of `provider`. Values from enclosing bodies are copied there, unless nodes of both
    providers read them. Initializers are copied once, before the first run, and are omitted.
    """
    # values that nodes of the provider read and write in its memory
    provider_values: tuple[set[str], set[str]] = (set(), set())
    cpu_values: tuple[dict[str, None], dict[str, None]] = ({}, {})
    for node in body.nodes:
        row = registrations.get(node)
        for side, names in ((0, node.proto.inputs), (1, node.proto.outputs)):
            if row is None:
                cpu_values[side].update(dict.fromkeys(names))
                continue
            in_cpu = row.cpu_outputs if side else row.cpu_inputs
            if not in_cpu:
                provider_values[side].update(names)
                continue
            for index, name in enumerate(names):
                if index in in_cpu:
                    cpu_values[side][name] = None
                else:
                    provider_values[side].add(name)
    for values in (*provider_values, *cpu_values):
        values.discard("") if isinstance(values, set) else values.pop("", None)
    incoming = [name for name in cpu_values[0] if name not in body.makers and name not in body.sizes]
    for name in (
        *(name for name in incoming if name in provider_values[0]),
        *(name for name in cpu_values[1] if name in provider_values[0]),
    ):
        yield Copy(name, "CPU", provider, body.place)
    for name in cpu_values[0]:
        if name in provider_values[1]:
            yield Copy(name, provider, "CPU", body.place)
