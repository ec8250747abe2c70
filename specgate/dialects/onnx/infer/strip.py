"""How large a model becomes when each call of a function is replaced by the function's nodes.

A few functions that each call the next one twice make a small file of 2^40 nodes: whatever follows the calls never
comes to an end, so this is counted first.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor, OnnxType
from specgate.dialects.onnx.file.write import Nodes, Parts, node_field, write_function, write_graph, write_model
from specgate.dialects.onnx.infer.child import NODE, fields
from specgate.dialects.onnx.lint.units import STANDARD_DOMAINS, function_key

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.units import Body, Key

__all__ = ["MOST_NODES", "Question", "Questions", "expands_too_far", "holds_weights", "question", "tensor_type"]

MOST_NODES: Final = 500_000  # beyond those of the file itself; the onnx package takes 2 us for each


def expands_too_far(model: OnnxModel, walked: Iterable[Body]) -> bool:
    """Return whether the calls in `model`, whose bodies are `walked`, bring more than MOST_NODES nodes.

    So does a function that calls itself, directly or through others.
    """
    functions = {function_key(function) for function in model.functions}
    if not functions:
        return False
    nodes: Counter[Key | None] = Counter()
    calls: dict[Key | None, Counter[Key]] = {}
    for body in walked:
        owner = None if body.function is None else function_key(body.function)
        nodes[owner] += len(body.nodes)
        numbers_by_texts = {key: count for key, count in body.operators.items() if key in functions}
        calls.setdefault(owner, Counter()).update(numbers_by_texts)
    sizes: dict[Key | None, int] = {}  # nodes with those of the calls, at most one beyond the limit
    path: list[Key | None] = [None]
    begun: set[Key | None] = set()
    while path:
        key = path[-1]
        if key not in begun:
            begun.add(key)
            missing = [callee for callee in calls.get(key, ()) if callee not in sizes]
            if any(callee in begun for callee in missing):
                return True
            path.extend(missing)
            continue
        path.pop()
        brought = sum(times * sizes[callee] for callee, times in calls.get(key, Counter()).items())
        sizes[key] = min(brought + (nodes[key] if key else 0), MOST_NODES + 1)
    return sizes[None] > MOST_NODES


class Question(NamedTuple):
    """A serialized model and its graphs, outermost first, in the order in which an answer has them."""

    data: bytes
    graphs: list[OnnxGraph]


def question(model: OnnxModel, without: Collection[int] = (), upto: int | None = None) -> Question:
    """Write a model for inference: of its outermost nodes those before `upto`, but not those `without`.

    Types that the file states for what an operator of ONNX or a function computes are left out: they are to be found,
    and compared. Weights, and nodes that hold any, are only said to have their types.
    """
    writer = _Writer(model)
    chosen = model.graph.nodes
    if without or upto is not None:
        chosen = [node for i, node in enumerate(chosen[:upto]) if i not in without]
    graph = writer.graph(model.graph, chosen)
    return Question(write_model(model, graph, writer.functions()), writer.graphs)


def tensor_type(tensor: OnnxTensor) -> OnnxType:
    """The type of a constant."""
    return OnnxType("tensor", tensor.elem_type, tensor.dims)


class Questions:
    """Writes questions about some of the outermost nodes of a model, and what they have in common once.

    The model must live as long, with the types and constants that are given. copied: whether what the file has of nodes
    is looked for, which pays where most of them are asked about.
    """

    def __init__(self, model: OnnxModel, *, copied: bool = True) -> None:
        # Before version 4 each constant had to be an input, too; and what is known of inputs stands among the types.
        self.model = replace(model, ir_version=max(model.ir_version or 0, 4))
        self.graph = replace(model.graph, inputs=[])
        self.writer, self.parts = _Writer(model), Parts()
        self.fields: dict[int, tuple[bytes, list[OnnxGraph]]] = {}
        for first, past, data in model.graph.runs if copied else ():  # as the file has them
            nodes = model.graph.nodes[first:past]
            written = _split(data, len(nodes))
            self.fields.update((id(node), (field, [])) for node, field in zip(nodes, written, strict=False))
        self.functions: list[bytes] | None = None

    def about(
        self, chosen: Sequence[OnnxNode], types: Mapping[str, OnnxType], constants: Sequence[OnnxTensor]
    ) -> Question:
        """Write a question whose answer has but what some nodes and the graphs in them compute.

        types: what is known of the values that they read and, if it is to count, of those that they compute. constants:
        those of the values that they read that are known. Nodes that hold weights are left out.
        """
        written = [self.node(node) for node in chosen]
        graphs = [graph for _, inside in written for graph in inside]
        if graphs or any(function_key(node) in self.writer.keys for node in chosen):
            self.functions = self.functions or self.writer.functions()
        graph = write_graph(
            self.graph,
            [data for data, _ in written],
            initializers=constants,
            outputs=(),
            value_infos=types.items(),
            parts=self.parts,
        )
        return Question(write_model(self.model, graph, self.functions or ()), [self.model.graph, *graphs])

    def node(self, node: OnnxNode) -> tuple[bytes, list[OnnxGraph]]:
        """Return the field of a node, b"" where it holds weights, and the graphs in it."""
        known = self.fields.get(id(node))
        if known is None:
            self.writer.graphs = []
            data = b"" if holds_weights(node) else node_field(self.writer.nodes.write(node, self.writer.nested))
            known = self.fields[id(node)] = data, self.writer.graphs
        return known


class _Writer:
    def __init__(self, model: OnnxModel) -> None:
        self.model = model
        self.keys = {function_key(function) for function in model.functions}
        self.graphs: list[OnnxGraph] = []
        self.nodes = Nodes()
        self.overridable = (model.ir_version or 4) >= 4  # an initializer is then but the default of its input

    def functions(self) -> list[bytes]:
        """Write the functions of the model."""
        return [
            write_function(function, [self.nodes.write(node, self.unasked) for node in function.nodes])
            for function in self.model.functions
        ]

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

    def graph(self, graph: OnnxGraph, chosen: list[OnnxNode]) -> bytes:
        """Write one graph with some of its nodes, and the graphs in them."""
        self.graphs.append(graph)
        fields: list[bytes] = []
        nodes: list[OnnxNode] = []
        at = 0
        for first, past, data in (*(graph.runs if chosen is graph.nodes else ()), (len(chosen), len(chosen), b"")):
            written = [node for node in chosen[at:first] if not holds_weights(node)]
            fields += (node_field(self.nodes.write(node, self.nested)) for node in written)
            fields.append(data)
            nodes += written
            nodes += chosen[first:past]
            at = past
        sought = {
            name
            for node in nodes
            if node.domain in STANDARD_DOMAINS or function_key(node) in self.keys
            for name in node.outputs
        }
        stated = {info.name: info.type for info in chain(graph.value_infos, graph.outputs) if info.name not in sought}
        known = {**stated, **dict(_constants(graph))}
        outputs = [(info.name, known.pop(info.name, None)) for info in graph.outputs]
        return write_graph(graph, fields, initializers=self.data(graph), outputs=outputs, value_infos=known.items())


def _split(data: bytes, count: int) -> list[bytes]:
    """Return the fields of nodes one by one; none where there are others than `count` of nodes."""
    numbers = [(key, begin, end) for key, begin, _, end in fields(data, 0, len(data))]
    whole = len(numbers) == count > 0 and numbers[-1][2] == len(data) and all(key == NODE for key, _, _ in numbers)
    return [data[begin:end] for _, begin, end in numbers] if whole else []


def holds_weights(node: OnnxNode) -> bool:
    """Whether an attribute's value is not at hand, or would say something wrong without its data."""
    for attribute in node.attributes.values():
        if attribute.ref_attr_name is None and (attribute.value is None or "SPARSE" in attribute.kind):
            return True
        items = attribute.value if isinstance(attribute.value, list) else [attribute.value]
        if "TENSOR" in attribute.kind and any(isinstance(item, OnnxTensor) and item.data is None for item in items):
            return True
    return False


def _constants(graph: OnnxGraph) -> Iterator[tuple[str, OnnxType]]:
    """The types of constants whose data is left out."""
    for tensor in chain(graph.initializers, graph.sparse_initializers):
        if tensor.data is None:
            yield tensor.name, tensor_type(tensor)
    for node in graph.nodes:
        if node.op_type == "Constant" and not node.domain and len(node.outputs) == 1 and holds_weights(node):
            for attribute in node.attributes.values():
                if isinstance(attribute.value, OnnxTensor):
                    yield node.outputs[0], tensor_type(attribute.value)
