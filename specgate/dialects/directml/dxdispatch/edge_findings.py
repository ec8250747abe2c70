"""The rules of IDMLDevice1::CompileGraph for edges, as findings.

The documentation of DML_GRAPH_DESC lets an edge connect tensors of different types, sizes and ranks if their sizes in
bytes are equal. The build of feature level 6.2 was tested for every rule here. It returns E_INVALIDARG for a broken
rule, and continues to device code if only types, sizes and ranks differ. The documentation requires an edge for every
required output; the build requires one per node.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.text import place_of
from specgate.dialects.directml.dxdispatch.graph import GRAPH
from specgate.dialects.directml.dxdispatch.read import read_dx_model
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.tensor import NAME
from specgate.dialects.directml.vocabulary import minimum_size
from specgate.spec.tables import dialect
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Severity

_PAGE: Final = {
    "page": "ns-directml-dml_graph_desc",
    "repository": "MicrosoftDocs/sdk-api",
    "path": "sdk-api-src/content/directml/ns-directml-dml_graph_desc.md",
    "commit": "0d481a2b0906c53942b5142a1f0a294e0d3c11fc",
}
#: By rule: its severity, its requirement, and the source.
RULES: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "edge-bytes": (
        "error",
        "tensors connected by an edge, or filled by the same graph input, have the same TotalTensorSizeInBytes",
        _PAGE,
    ),
    "edge-missing": (
        "error",
        "every required or described input of a node, and at least one of its outputs, is connected by an edge",
        _PAGE,
    ),
    "edge-owned": (
        "error",
        "an OWNED_BY_DML input is filled by a graph input, which fills no input without that flag",
        _PAGE,
    ),
    "edge-twice": ("error", "each input of a node and each output of the graph is filled by one edge", {}),
    "edge-unused": (
        "note",
        "every required output of a node is connected by an edge; builds require only one per node",
        _PAGE,
    ),
    "graph-cycle": ("error", "the nodes of a graph do not form a cycle", _PAGE),
}


class _Slot(NamedTuple):
    """One tensor of a node; `tensor` is None for an omitted optional one."""

    name: str
    tensor: TensorDesc | None
    optional: bool

    @property
    def bytes(self) -> int | None:
        """Return the buffer's size in bytes, None if a size is unknown."""
        tensor = self.tensor
        if tensor is None or tensor.size_in_bytes is not None:
            return None if tensor is None else tensor.size_in_bytes
        bits = dialect(NAME).bits.get(tensor.type or "") if tensor.concrete else None
        sizes = [size for size in tensor.sizes or () if isinstance(size, int)]
        return None if bits is None else minimum_size(bits, sizes, tensor.strides)

    @property
    def owned(self) -> bool:
        return self.tensor is not None and bool((self.tensor.flags or 0) & 1)


class Edge(NamedTuple):
    """One edge of a graph.

    where: its path in the file. source, goal: the index of the node and of its output or input, None for the graph
    itself. end: the index of the graph's input or output, if the edge has one.
    """

    where: str
    source: tuple[int, int] | None
    goal: tuple[int, int] | None
    end: int = 0


class GraphNode(NamedTuple):
    """One node of a graph.

    name: used in messages. descriptor: None for a constant and for an operator that was not recorded.
    """

    where: str
    name: str
    descriptor: Descriptor | None


def edge_findings(document: Mapping[str, Any], file: str) -> Iterator[Finding]:
    """Yield findings on the graphs of a loaded model file; raise InputError."""
    raw = document.get("dispatchables", {})
    if not any(
        isinstance(dispatchable, dict) and dispatchable.get("type", dispatchable.get("Type")) == GRAPH
        for dispatchable in raw.values()
    ):
        return
    model = read_dx_model(dict(document), file=file)
    for name, dispatchable in model.dispatchables.items():
        if dispatchable.kind == GRAPH:
            desc = dispatchable.raw.get("desc") or dispatchable.raw.get("Desc") or {}
            descriptors_by_name = {key: other.descriptor for key, other in model.dispatchables.items()}
            location = Location(file, None, place_of("dispatchables", name), GRAPH)
            yield from broken_edges(list(_nodes(desc, descriptors_by_name)), list(_edges(desc)), location)


def _nodes(desc: Mapping[str, Any], descriptors_by_name: Mapping[str, Descriptor | None]) -> Iterator[GraphNode]:
    for index, node in enumerate(desc.get("Nodes", [])):
        name = node.get("Operator")
        descriptor = descriptors_by_name.get(name) if isinstance(name, str) else None
        yield GraphNode(f"Nodes[{index}]", str(name or f"node {index}"), descriptor)


def _edges(desc: Mapping[str, Any]) -> Iterator[Edge]:
    for index, edge in enumerate(desc.get("InputEdges", [])):
        yield Edge(f"InputEdges[{index}]", None, _edge_target(edge), edge["GraphInputIndex"])
    for index, edge in enumerate(desc.get("IntermediateEdges", [])):
        yield Edge(f"IntermediateEdges[{index}]", _source(edge), _edge_target(edge))
    for index, edge in enumerate(desc.get("OutputEdges", [])):
        yield Edge(f"OutputEdges[{index}]", _source(edge), None, edge["GraphOutputIndex"])


def _source(edge: Mapping[str, Any]) -> tuple[int, int]:
    return edge["FromNodeIndex"], edge["FromNodeOutputIndex"]


def _edge_target(edge: Mapping[str, Any]) -> tuple[int, int]:
    return edge["ToNodeIndex"], edge["ToNodeInputIndex"]


def broken_edges(nodes: Sequence[GraphNode], edges: Sequence[Edge], location: Location) -> Iterator[Finding]:
    """Yield findings on the edges of a graph. location: the graph's location."""
    for rule, place, message in _Graph(nodes, edges).iterate_broken_rules():
        yield Finding(f"{NAME}/model/{rule}", _severity(rule), message, place, location=location)


def _severity(rule: str) -> Severity:
    return "note" if RULES[rule][0] == "note" else "error"


class _Graph:
    """The nodes' tensors and the edges of one graph."""

    def __init__(self, nodes: Sequence[GraphNode], edges: Sequence[Edge]) -> None:
        self.nodes = nodes
        self.inputs = [_slots(node.descriptor, "input") for node in nodes]
        self.outputs = [_slots(node.descriptor, "output") for node in nodes]
        self.input_edges = [edge for edge in edges if edge.source is None]
        self.output_edges = [edge for edge in edges if edge.goal is None]
        self.between = [edge for edge in edges if edge.source is not None and edge.goal is not None]

    def iterate_broken_rules(self) -> Iterator[tuple[str, str, str]]:
        """Yield each broken rule, its place and its message."""
        yield from self._edges()
        yield from self._inputs_of_the_graph()
        yield from self._counts()
        if self._has_cycle():
            yield "graph-cycle", "IntermediateEdges", "the edges between nodes form a cycle"

    def _slot(self, end: tuple[int, int] | None, slots: Sequence[Sequence[_Slot] | None]) -> tuple[str, _Slot] | None:
        """Return the tensor at an edge's end and its name, None if unknown."""
        slot = None if end is None else slots[end[0]]
        if end is None or slot is None or end[1] >= len(slot):
            return None
        return f"{slot[end[1]].name} of {self.nodes[end[0]].name}", slot[end[1]]

    def _edges(self) -> Iterator[tuple[str, str, str]]:
        for edge in self.between:
            source, goal = self._slot(edge.source, self.outputs), self._slot(edge.goal, self.inputs)
            if goal is not None and goal[1].owned:
                yield (
                    "edge-owned",
                    edge.where,
                    f"{goal[0]} is OWNED_BY_DML, so an input of the graph must fill it, not a node",
                )
            if source is not None and goal is not None:
                yield from _other_bytes(edge.where, source, goal)

    def _inputs_of_the_graph(self) -> Iterator[tuple[str, str, str]]:
        first: dict[int, tuple[str, _Slot]] = {}
        for edge in self.input_edges:
            goal = self._slot(edge.goal, self.inputs)
            if goal is None:
                continue
            before = first.setdefault(edge.end, goal)
            yield from _other_bytes(edge.where, before, goal)
            if before[1].owned != goal[1].owned:
                owned_tensor, other = (before[0], goal[0]) if before[1].owned else (goal[0], before[0])
                text = f"one graph input fills both {owned_tensor}, which is OWNED_BY_DML, and {other}, which is not"
                yield "edge-owned", edge.where, text

    def _counts(self) -> Iterator[tuple[str, str, str]]:
        """Yield unconnected tensors, and inputs and outputs with several edges."""
        read_counts = Counter(edge.goal for edge in (*self.input_edges, *self.between) if edge.goal is not None)
        written_ports = {edge.source for edge in (*self.output_edges, *self.between)}
        for index, slots in enumerate(self.inputs):
            for place, slot in enumerate(slots or ()):
                if (slot.tensor is not None or not slot.optional) and (index, place) not in read_counts:
                    yield self._of_node("edge-missing", index, f"{slot.name} is not connected")
        for index, slots in enumerate(self.outputs):
            left = [slot for place, slot in enumerate(slots or ()) if (index, place) not in written_ports]
            if left and len(left) == len(slots or ()):
                names = " or ".join(slot.name for slot in left)
                yield self._of_node("edge-missing", index, f"no edge starts at {names}")
            else:
                for slot in left:
                    if not slot.optional:
                        yield self._of_node("edge-unused", index, f"{slot.name} is not connected")
        for (index, place), count in sorted(read_counts.items()):
            if count > 1:
                yield self._of_node("edge-twice", index, f"several edges fill input {place}")
        ends = Counter(edge.end for edge in self.output_edges)
        for end in sorted(end for end, count in ends.items() if count > 1):
            yield "edge-twice", "OutputEdges", f"several edges fill output {end} of the graph"

    def _of_node(self, rule: str, index: int, text: str) -> tuple[str, str, str]:
        return rule, self.nodes[index].where, f"{text} of {self.nodes[index].name}"

    def _has_cycle(self) -> bool:
        """Return whether the graph has a cycle.

        Nodes without unprocessed producers are removed until none is left.
        """
        steps = [(edge.source[0], edge.goal[0]) for edge in self.between if edge.source and edge.goal]
        readers: dict[int, list[int]] = {}
        for source, goal in steps:
            readers.setdefault(source, []).append(goal)
        waits = Counter(goal for _, goal in steps)
        ready_nodes = [node for node in range(len(self.nodes)) if not waits[node]]
        for node in ready_nodes:  # grows during the loop
            for reader in readers.get(node, ()):
                waits[reader] -= 1
                if not waits[reader]:
                    ready_nodes.append(reader)
        return len(ready_nodes) < len(self.nodes)


def _other_bytes(place: str, end: tuple[str, _Slot], other: tuple[str, _Slot]) -> Iterator[tuple[str, str, str]]:
    first, second = end[1].bytes, other[1].bytes
    if first is not None and second is not None and first != second:
        text = f"{end[0]} has {first} bytes and {other[0]} has {second}"
        yield "edge-bytes", place, f"both must have the same TotalTensorSizeInBytes: {text}"


def _slots(descriptor: Descriptor | None, kind: str) -> Sequence[_Slot] | None:
    """Return an operator's tensors in edge order, None if not recorded."""
    if descriptor is None:
        return None
    slots = []
    for member in abi().structure(descriptor.operator).members:
        if member.base != kind:
            continue
        result = descriptor.fields.get(member.name)
        if member.count is None:
            slots.append(_Slot(member.name, result if isinstance(result, TensorDesc) else None, member.optional))
        elif isinstance(result, (list, tuple)):
            slots += [_Slot(f"{member.name}[{i}]", item, optional=False) for i, item in enumerate(result)]
    return slots
