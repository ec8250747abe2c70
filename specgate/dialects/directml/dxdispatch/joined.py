"""What IDMLDevice1::CompileGraph asks of the edges of a graph, as findings on a model file.

The page of DML_GRAPH_DESC lets an edge join tensors of other types, sizes and numbers of dimensions, if both have
the same bytes. The build of feature level 6.2 was asked about every rule here: it answers E_INVALIDARG where one is
broken, and passes to what needs a real device where only types, sizes and numbers of dimensions differ.
"""

from __future__ import annotations

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

__all__ = ["RULES", "edge_findings"]

_PAGE: Final = {
    "page": "ns-directml-dml_graph_desc",
    "repository": "MicrosoftDocs/sdk-api",
    "path": "sdk-api-src/content/directml/ns-directml-dml_graph_desc.md",
    "commit": "0d481a2b0906c53942b5142a1f0a294e0d3c11fc",
}
#: By rule: its severity, what it asks for, and where that stands.
RULES: Final[dict[str, tuple[str, str, dict[str, str]]]] = {
    "edge-bytes": (
        "error",
        "tensors that an edge joins, or one input of the graph fills, have one TotalTensorSizeInBytes",
        _PAGE,
    ),
    "edge-missing": ("error", "every tensor of a node that is not optional is joined by an edge", _PAGE),
    "edge-owned": (
        "error",
        "an input that DirectML owns is filled by an input of the graph, which fills no other that it does not own",
        _PAGE,
    ),
    "edge-twice": ("error", "one edge alone fills an input of a node, or an output of the graph", {}),
    "graph-cycle": ("error", "no node of a graph reads what is computed from itself", _PAGE),
}


class _Slot(NamedTuple):
    """One tensor of a node. tensor: None for an optional one that is left out."""

    name: str
    tensor: TensorDesc | None
    optional: bool

    @property
    def bytes(self) -> int | None:
        """How many bytes its buffer has, None where a size is not known."""
        tensor = self.tensor
        if tensor is None or tensor.size_in_bytes is not None:
            return None if tensor is None else tensor.size_in_bytes
        bits = dialect(NAME).bits.get(tensor.type or "") if tensor.concrete else None
        sizes = [size for size in tensor.sizes or () if isinstance(size, int)]
        return None if bits is None else minimum_size(bits, sizes, tensor.strides)

    @property
    def owned(self) -> bool:
        return self.tensor is not None and bool((self.tensor.flags or 0) & 1)


def edge_findings(document: Mapping[str, Any], file: str) -> Iterator[Finding]:
    """Yield what the graphs of a loaded model file break; raise InputError for what cannot be read."""
    raw = document.get("dispatchables", {})
    if not any(isinstance(one, dict) and one.get("type", one.get("Type")) == GRAPH for one in raw.values()):
        return
    model = read_dx_model(dict(document), file=file)
    for name, one in model.dispatchables.items():
        if one.kind == GRAPH:
            desc = one.raw.get("desc") or one.raw.get("Desc") or {}
            made = {key: other.descriptor for key, other in model.dispatchables.items()}
            at = Location(file, None, place_of("dispatchables", name), GRAPH)
            for rule, where, message in _Graph(desc, made).broken():
                yield Finding(f"{NAME}/model/{rule}", "error", message, where, location=at)


class _Graph:
    """The nodes' tensors and the edges of one graph."""

    def __init__(self, desc: Mapping[str, Any], made: Mapping[str, Descriptor | None]) -> None:
        self.names = [str(node.get("Operator") or f"node {i}") for i, node in enumerate(desc.get("Nodes", []))]
        found = [made.get(str(node.get("Operator"))) for node in desc.get("Nodes", [])]
        self.inputs = [_slots(one, "input") for one in found]
        self.outputs = [_slots(one, "output") for one in found]
        self.given, self.taken, self.between = (
            desc.get(f"{kind}Edges", []) for kind in ("Input", "Output", "Intermediate")
        )

    def broken(self) -> Iterator[tuple[str, str, str]]:
        """Yield each rule that is broken, where, and what is wrong."""
        yield from self._edges()
        yield from self._inputs_of_the_graph()
        yield from self._counts()
        if self._has_cycle():
            yield "graph-cycle", "IntermediateEdges", "the edges between nodes lead back to where they began"

    def _slot(self, edge: Mapping[str, Any], kind: str) -> tuple[str, _Slot] | None:
        """Return the tensor at one end of an edge with what it is called; None where it was not seen."""
        end, slots = ("To", self.inputs) if kind == "Input" else ("From", self.outputs)
        node, place = edge[f"{end}NodeIndex"], edge[f"{end}Node{kind}Index"]
        known = slots[node]
        if known is None or place >= len(known):
            return None
        return f"{known[place].name} of {self.names[node]}", known[place]

    def _edges(self) -> Iterator[tuple[str, str, str]]:
        for index, edge in enumerate(self.between):
            where = f"IntermediateEdges[{index}]"
            source, goal = self._slot(edge, "Output"), self._slot(edge, "Input")
            if goal is not None and goal[1].owned:
                yield (
                    "edge-owned",
                    where,
                    f"{goal[0]} is OWNED_BY_DML, so an input of the graph must fill it, not a node",
                )
            if source is not None and goal is not None:
                yield from _other_bytes(where, source, goal)

    def _inputs_of_the_graph(self) -> Iterator[tuple[str, str, str]]:
        first: dict[int, tuple[str, _Slot]] = {}
        for index, edge in enumerate(self.given):
            goal = self._slot(edge, "Input")
            if goal is None:
                continue
            before = first.setdefault(edge["GraphInputIndex"], goal)
            where = f"InputEdges[{index}]"
            yield from _other_bytes(where, before, goal)
            if before[1].owned != goal[1].owned:
                owned, other = (before[0], goal[0]) if before[1].owned else (goal[0], before[0])
                yield "edge-owned", where, f"one input of the graph fills {owned}, which is OWNED_BY_DML, and {other}"

    def _counts(self) -> Iterator[tuple[str, str, str]]:
        """Yield tensors that no edge joins, and what two edges fill."""
        read = [(edge["ToNodeIndex"], edge["ToNodeInputIndex"]) for edge in (*self.given, *self.between)]
        written = {(edge["FromNodeIndex"], edge["FromNodeOutputIndex"]) for edge in (*self.taken, *self.between)}
        for slots, joined in ((self.inputs, set(read)), (self.outputs, written)):
            for node, known in enumerate(slots):
                for place, slot in enumerate(known or ()):
                    if not slot.optional and (node, place) not in joined:
                        yield "edge-missing", f"Nodes[{node}]", f"no edge joins {slot.name} of {self.names[node]}"
        for node, place in sorted({one for one in read if read.count(one) > 1}):
            yield "edge-twice", f"Nodes[{node}]", f"several edges fill input {place} of {self.names[node]}"
        ends = [edge["GraphOutputIndex"] for edge in self.taken]
        for end in sorted({one for one in ends if ends.count(one) > 1}):
            yield "edge-twice", "OutputEdges", f"several edges fill output {end} of the graph"

    def _has_cycle(self) -> bool:
        waiting = {node: {e["FromNodeIndex"] for e in self.between if e["ToNodeIndex"] == node} for node in
                   range(len(self.names))}  # fmt: skip
        while ready := {node for node, sources in waiting.items() if not sources}:
            waiting = {node: sources - ready for node, sources in waiting.items() if node not in ready}
        return bool(waiting)


def _other_bytes(where: str, one: tuple[str, _Slot], other: tuple[str, _Slot]) -> Iterator[tuple[str, str, str]]:
    first, second = one[1].bytes, other[1].bytes
    if first is not None and second is not None and first != second:
        said = f"{one[0]} has {first} bytes and {other[0]} has {second}"
        yield "edge-bytes", where, f"TotalTensorSizeInBytes must be the same of both: {said}"


def _slots(descriptor: Descriptor | None, kind: str) -> Sequence[_Slot] | None:
    """Return an operator's tensors in the order that edges count them; None where the operator was not seen."""
    if descriptor is None:
        return None
    found = []
    for member in abi().structure(descriptor.operator).members:
        if member.base != kind:
            continue
        given = descriptor.fields.get(member.name)
        if member.count is None:
            found.append(_Slot(member.name, given if isinstance(given, TensorDesc) else None, member.optional))
        elif isinstance(given, (list, tuple)):
            found += [_Slot(f"{member.name}[{i}]", each, optional=False) for i, each in enumerate(given)]
    return found
