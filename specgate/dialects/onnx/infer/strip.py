"""Questions for shape inference, and the size of expanded functions.

A few functions that each call the next one twice make a small file with 2^40 nodes. Inference would never finish, so
the size is computed first.
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

MOST_NODES: Final = 500_000  # in addition to the file's own; the onnx package needs 2 us per node


def expands_too_far(model: OnnxModel, walked: Iterable[Body]) -> bool:
    """Return True if inlining functions adds more than MOST_NODES nodes.

    Also True for recursive functions, direct or indirect. `walked` are the bodies of `model`.
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
    sizes: dict[Key | None, int] = {}  # nodes after inlining, capped at one above the limit
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
    """A serialized model and its graphs, outermost first, as in the answer."""

    data: bytes
    graphs: list[OnnxGraph]


def question(model: OnnxModel, without: Collection[int] = (), upto: int | None = None) -> Question:
    """Serialize a model for inference.

    Includes the outermost nodes before `upto`, except those in `without`. Stated types of values that an ONNX operator
    or a function computes are omitted, because they are inferred and compared. Weights, and nodes that hold any, are
    represented by their types only.
    """
    writer = _Writer(model)
    chosen = model.graph.nodes
    if without or upto is not None:
        chosen = [node for i, node in enumerate(chosen[:upto]) if i not in without]
    graph = writer.graph(model.graph, chosen)
    return Question(write_model(model, graph, writer.functions()), writer.graphs)


def tensor_type(tensor: OnnxTensor) -> OnnxType:
    """Return the type of a constant."""
    return OnnxType("tensor", tensor.elem_type, tensor.dims)


class Questions:
    """Writer of questions about some outermost nodes of a model.

    Shared parts are serialized once, and the model, types and constants must outlive this object. `copied` reuses nodes
    as bytes from the file, which pays off if most of them are needed.
    """

    def __init__(self, model: OnnxModel, *, copied: bool = True) -> None:
        # Before IR version 4 each constant had to be an input as well. The types of inputs are passed with the other
        # types.
        self.model = replace(model, ir_version=max(model.ir_version or 0, 4))
        self.graph = replace(model.graph, inputs=[])
        self.writer, self.parts = _Writer(model), Parts()
        self.fields: dict[int, tuple[bytes, list[OnnxGraph]]] = {}
        for first, past, data in model.graph.runs if copied else ():  # bytes from the file
            nodes = model.graph.nodes[first:past]
            written = _split(data, len(nodes))
            self.fields.update((id(node), (field, [])) for node, field in zip(nodes, written, strict=False))
        self.functions: list[bytes] | None = None

    def about(
        self, chosen: Sequence[OnnxNode], types: Mapping[str, OnnxType], constants: Sequence[OnnxTensor]
    ) -> Question:
        """Serialize a question about the outputs of nodes and their subgraphs.

        `types` has the known types of values that the nodes read and, optionally, compute. `constants` are the known
        values among those that they read. Nodes that hold weights are left out.
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
        """Return a node's field, b"" if it holds weights, and its subgraphs."""
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
        self.overridable = (model.ir_version or 4) >= 4  # then an initializer that is also an input is only a default

    def functions(self) -> list[bytes]:
        """Return the serialized functions of the model."""
        return [
            write_function(function, [self.nodes.write(node, self.unasked) for node in function.nodes])
            for function in self.model.functions
        ]

    def nested(self, graph: OnnxGraph) -> bytes:
        return self.graph(graph, graph.nodes)

    def unasked(self, graph: OnnxGraph) -> bytes:
        """Serialize a graph in a function, which an answer does not include.

        Its types differ per call.
        """
        nodes = [node_field(self.nodes.write(node, self.unasked)) for node in graph.nodes]
        outputs = [(info.name, info.type) for info in graph.outputs]
        infos = [(info.name, info.type) for info in graph.value_infos]
        return write_graph(graph, nodes, initializers=self.data(graph), outputs=outputs, value_infos=infos)

    def data(self, graph: OnnxGraph) -> list[OnnxTensor]:
        """Return the initializers that are small and constant."""
        inputs = {info.name for info in graph.inputs} if self.overridable else set()
        return [tensor for tensor in graph.initializers if tensor.data is not None and tensor.name not in inputs]

    def graph(self, graph: OnnxGraph, chosen: list[OnnxNode]) -> bytes:
        """Serialize one graph with some of its nodes, including subgraphs."""
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
    """Split bytes into `count` node fields; return [] if they do not match."""
    numbers = [(key, begin, end) for key, begin, _, end in fields(data, 0, len(data))]
    whole = len(numbers) == count > 0 and numbers[-1][2] == len(data) and all(key == NODE for key, _, _ in numbers)
    return [data[begin:end] for _, begin, end in numbers] if whole else []


def holds_weights(node: OnnxNode) -> bool:
    """Return True if an attribute's value was not read or is sparse.

    Inference needs the data of such an attribute.
    """
    for attribute in node.attributes.values():
        if attribute.ref_attr_name is None and (attribute.value is None or "SPARSE" in attribute.kind):
            return True
        items = attribute.value if isinstance(attribute.value, list) else [attribute.value]
        if "TENSOR" in attribute.kind and any(isinstance(item, OnnxTensor) and item.data is None for item in items):
            return True
    return False


def _constants(graph: OnnxGraph) -> Iterator[tuple[str, OnnxType]]:
    """Yield names and types of constants whose data is left out."""
    for tensor in chain(graph.initializers, graph.sparse_initializers):
        if tensor.data is None:
            yield tensor.name, tensor_type(tensor)
    for node in graph.nodes:
        if node.op_type == "Constant" and not node.domain and len(node.outputs) == 1 and holds_weights(node):
            for attribute in node.attributes.values():
                if isinstance(attribute.value, OnnxTensor):
                    yield node.outputs[0], tensor_type(attribute.value)
