"""What the onnx package is asked: a model without weights, and without what is to be found out."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor, OnnxType
from specgate.dialects.onnx.file.write import NODE_KEY, Nodes, node_field, write_function, write_graph, write_model
from specgate.dialects.onnx.lint.walk import STANDARD_DOMAINS, function_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxNode

__all__ = ["NOTHING", "Given", "Question", "question", "tensor_type"]


class Given(NamedTuple):
    """What is known of values by name. stated: types, which go together with what is inferred.

    told: types and constants that replace the nodes that compute them, as nothing else is to be known.
    """

    stated: Mapping[str, OnnxType]
    told: Mapping[str, OnnxType | OnnxTensor]

    def tells(self, node: OnnxNode) -> bool:
        """Whether it has all that a node computes."""
        return all(name in self.told for name in node.outputs if name)

    def types(self) -> dict[str, OnnxType]:
        """Return the type of each value."""
        told = {name: tensor_type(one) if isinstance(one, OnnxTensor) else one for name, one in self.told.items()}
        return {**self.stated, **told}

    def constants(self) -> list[OnnxTensor]:
        """Return the constants."""
        return [one for one in self.told.values() if isinstance(one, OnnxTensor)]


#: Nothing but the model itself says something of its values.
NOTHING: Final = Given({}, {})


class Question(NamedTuple):
    """A serialized model and its graphs, outermost first, in the order in which an answer has them."""

    data: bytes
    graphs: list[OnnxGraph]


def question(
    model: OnnxModel, without: Collection[int] = (), upto: int | None = None, given: Given = NOTHING
) -> Question:
    """Write a model for inference: of its outermost nodes those before `upto`, but not those `without`.

    Types that the file states for what an operator of ONNX or a function computes are left out: they are to be found,
    and compared. Weights, and nodes that hold any, are only said to have their types. given: by name what is known of
    the outermost graph's values: types, and constants in the place of what computes them.
    """
    writer = _Writer(model, given)
    chosen = model.graph.nodes
    if without or upto is not None:
        chosen = [node for i, node in enumerate(chosen[:upto]) if i not in without]
    graph = writer.graph(model.graph, chosen)
    functions = [
        write_function(function, [writer.nodes.write(node, writer.unasked) for node in function.nodes])
        for function in model.functions
    ]
    return Question(write_model(model, graph, functions), writer.graphs)


def tensor_type(tensor: OnnxTensor) -> OnnxType:
    """The type of a constant."""
    return OnnxType("tensor", tensor.elem_type, tensor.dims)


class _Writer:
    def __init__(self, model: OnnxModel, given: Given) -> None:
        self.given, self.main = given, model.graph
        self.functions = {function_key(function) for function in model.functions}
        self.graphs: list[OnnxGraph] = []
        self.nodes = Nodes()
        self.overridable = (model.ir_version or 4) >= 4  # an initializer is then but the default of its input

    def nested(self, graph: OnnxGraph) -> bytes:
        return self.graph(graph, graph.nodes)

    def unasked(self, graph: OnnxGraph) -> bytes:
        """Write a graph in a function, which an answer leaves out: it has other types for each call."""
        nodes = [node_field(self.nodes.write(node, self.unasked)) for node in graph.nodes]
        outputs = [(info.name, info.type) for info in graph.outputs]
        infos = [(info.name, info.type) for info in graph.value_infos]
        return write_graph(graph, nodes, initializers=self.data(graph), outputs=outputs, value_infos=infos)

    def data(self, graph: OnnxGraph) -> list[OnnxTensor]:
        """Return the initializers that are small, and constant."""
        inputs = {info.name for info in graph.inputs} if self.overridable else set()
        return [tensor for tensor in graph.initializers if tensor.data is not None and tensor.name not in inputs]

    def told(self, nodes: list[OnnxNode]) -> frozenset[int]:
        """Return which nodes compute nothing that is not given."""
        if not self.given.told:
            return frozenset()
        return frozenset(index for index, node in enumerate(nodes) if self.given.tells(node))

    def graph(self, graph: OnnxGraph, chosen: list[OnnxNode]) -> bytes:
        """Write one graph with some of its nodes, and the graphs in them."""
        self.graphs.append(graph)
        fields: list[bytes] = []
        nodes: list[OnnxNode] = []
        at = 0
        told = self.told(chosen) if graph is self.main else frozenset()
        for first, past, data in (*(graph.runs if chosen is graph.nodes else ()), (len(chosen), len(chosen), b"")):
            kept = (
                data if told.isdisjoint(range(first, past)) else _without(data, {i - first for i in told}, past - first)
            )
            if kept is None:  # what it has is written below, with what stands before the next
                continue
            written = [
                node for i, node in enumerate(chosen[at:first], at) if i not in told and not _holds_weights(node)
            ]
            fields += (node_field(self.nodes.write(node, self.nested)) for node in written)
            fields.append(kept)
            nodes += written
            nodes += (
                [node for i, node in enumerate(chosen[first:past], first) if i not in told]
                if told
                else chosen[first:past]
            )
            at = past
        sought = {
            name
            for node in nodes
            if node.domain in STANDARD_DOMAINS or function_key(node) in self.functions
            for name in node.outputs
        }
        stated = {info.name: info.type for info in chain(graph.value_infos, graph.outputs) if info.name not in sought}
        known = {**stated, **dict(_constants(graph))}
        if graph is self.main:
            known |= self.given.types()
        outputs = [(info.name, known.pop(info.name, None)) for info in graph.outputs]
        small = [*self.data(graph), *(self.given.constants() if graph is self.main else ())]
        return write_graph(graph, fields, initializers=small, outputs=outputs, value_infos=known.items())


def _without(data: bytes, places: Collection[int], count: int) -> bytes | None:
    """Return the fields of nodes but for those at some places; None where there are others than `count` of nodes."""
    parts: list[bytes] = []
    at = found = 0
    size = len(data)
    while at < size:
        begin = at
        length = shift = 0
        more = data[at] == NODE_KEY
        while more and at + 1 < size:
            at += 1
            length |= (data[at] & 127) << shift
            shift += 7
            if data[at] < 128:
                break
        else:
            return None
        at += 1 + length
        if found not in places:
            parts.append(data[begin:at])
        found += 1
    return b"".join(parts) if found == count and at == size else None


def _holds_weights(node: OnnxNode) -> bool:
    """Whether an attribute's value is not at hand, or would say something wrong without its data."""
    for attribute in node.attributes.values():
        if attribute.ref_attr_name is None and (attribute.value is None or "SPARSE" in attribute.kind):
            return True
        held = attribute.value if isinstance(attribute.value, list) else [attribute.value]
        if "TENSOR" in attribute.kind and any(isinstance(item, OnnxTensor) and item.data is None for item in held):
            return True
    return False


def _constants(graph: OnnxGraph) -> Iterator[tuple[str, OnnxType]]:
    """The types of constants whose data is left out."""
    for tensor in chain(graph.initializers, graph.sparse_initializers):
        if tensor.data is None:
            yield tensor.name, tensor_type(tensor)
    for node in graph.nodes:
        if node.op_type == "Constant" and not node.domain and len(node.outputs) == 1 and _holds_weights(node):
            for attribute in node.attributes.values():
                if isinstance(attribute.value, OnnxTensor):
                    yield node.outputs[0], tensor_type(attribute.value)
