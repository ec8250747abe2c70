"""Function bodies of the runtime's own operators and of ONNX's functions."""

from __future__ import annotations

import atexit
import os
import struct
import threading
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.file.structure import (
    OnnxAttribute,
    OnnxFunction,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxTensor,
    OnnxType,
    OnnxValueInfo,
)
from specgate.dialects.onnx.file.write import Nodes, node_field, write_graph, write_model
from specgate.dialects.onnx.infer.inference import is_onnx_installed
from specgate.dialects.onnx.lint.units import STANDARD_DOMAINS, function_key, label, subgraphs
from specgate.errors import InputError
from specgate.runtimes.onnxruntime.registrations import function_bodies, release_position, runtime_tables
from specgate.runtimes.onnxruntime.schemas import schema_of
from specgate.spec.tables import dialect
from specgate.spec.type_names import parse_type
from specgate.workers.child import Child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.onnx.lint.units import Key
    from specgate.runtimes.onnxruntime.graph import Node
    from specgate.spec.type_names import TypeName

    Types = Mapping[int, Mapping[str, OnnxType]]

#: Producer names in answers: a body built for the types of one call, or a body that the schema contains.
FROM_SCHEMA, FROM_MODEL = "built", "written"
#: The answer for an operator that is not a function.
NO_FUNCTION = "no function"


class _SharedProcess:
    """The subprocess, shared by all threads and started on first use."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.child: Child | None = None

    def ask(self, question: tuple[bytes, int]) -> object:
        """Return the answer; a text says why it is missing."""
        with self.lock:
            if self.child is None:
                self.child = Child(__name__, "make_answerer")
                atexit.register(self.child.close)
            return self.child.ask(question)

    def reset_after_fork(self) -> None:
        """Reset the state after a fork.

        The thread that holds the lock does not exist in the forked process, and the child belongs to the parent.
        """
        self.lock = threading.Lock()
        child, self.child = self.child, None
        if child is not None:
            child.disown()


_shared = _SharedProcess()


def find_function_body(model: bytes, opset: int) -> object:
    """Return a serialized model with the function that one node calls.

    `model` has this node only. A text instead says why the answer is missing.
    """
    return _shared.ask((model, opset))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shared.reset_after_fork)


def make_answerer(_: object) -> Callable[[tuple[bytes, int]], bytes | str]:
    """Return the worker's function, which finds the body of a node's call.

    The answer is a serialized model whose only function is the one that the question's only node calls.
    """
    import onnx

    def function_of(model: Any, opset: int) -> tuple[str, Any]:
        node = model.graph.node[0]
        schema: Any = onnx.defs.get_schema(node.op_type, max_inclusive_version=opset, domain=node.domain)
        if schema.has_context_dependent_function:
            version = max(
                candidate for candidate in schema.context_dependent_function_opset_versions if candidate <= opset
            )
            types = {info.name: info.type for info in model.graph.input}
            known_items = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
            data = schema.get_context_dependent_function_with_opset_version(
                version, node.SerializeToString(), known_items
            )
        elif schema.has_function:
            version = max(candidate for candidate in schema.function_opset_versions if candidate <= opset)
            data = schema.get_function_with_opset_version(version)
        else:
            return "", None
        function = onnx.FunctionProto.FromString(data)
        function.name, function.domain = node.op_type, node.domain
        items = [attribute.name for attribute in node.attribute]
        defaults = (info.default_value for info in schema.attributes.values() if info.name not in items)
        function.attribute_proto.extend(value for value in defaults if value.name)
        return FROM_SCHEMA if schema.has_context_dependent_function else FROM_MODEL, function

    def answer(pair: tuple[bytes, int]) -> bytes | str:
        model = onnx.ModelProto.FromString(pair[0])
        try:
            kind, function = function_of(model, pair[1])
        except Exception as error:  # noqa: BLE001  # the onnx package may raise anything for an unusual model
            return f"{type(error).__name__}: {error}"
        if function is None:
            return NO_FUNCTION
        proto = onnx.ModelProto(ir_version=10, opset_import=function.opset_import, functions=[function])
        proto.producer_name = kind
        proto.graph.SetInParent()
        return bytes(proto.SerializeToString())

    return answer


#: Format of a packed number per type; a BFLOAT16 is the upper half of a FLOAT.
_PACKED: Final = {"FLOAT16": "<e", "FLOAT": "<f", "DOUBLE": "<d", "BFLOAT16": "<f"}


def own_function(node: Node, release: str) -> OnnxFunction | None:
    """Return the function that a node of the runtime's own operators calls.

    It is None for an operator that is not a function, or whose type is unknown. release: "1.24" or "1.24.4", "" for the
    newest.
    """
    tables = runtime_tables()
    position = release_position(release or None)
    result = tables.get("functions", {}).get(node.operator)
    kind = node.inputs[0].type if node.inputs and node.inputs[0] is not None else None
    if result is None or not result["first"] <= position <= result["last"] or kind not in _PACKED:
        return None
    items = {name for name, tensor in zip(result["inputs"], node.inputs, strict=False) if tensor is not None}
    nodes = [_constant(name, kind, _number(stated_value, node)) for name, stated_value in result["constants"].items()]
    for entry in result["nodes"]:
        value = entry.get("given")
        if (value is None or value in items) and entry.get("without") not in items:
            nodes.append(OnnxNode("", entry["operator"], "", "", list(entry["inputs"]), [entry["result"]]))
    return OnnxFunction(
        node.proto.op_type,
        node.proto.domain,
        inputs=list(result["inputs"]),
        outputs=list(result["outputs"]),
        nodes=nodes,
        opset_imports={"": result["opset"]},
    )


def _number(stated_value: float | str, node: Node) -> float:
    """Return a number, or the value of the attribute with this name.

    An attribute that the node omits has the schema's default.
    """
    if not isinstance(stated_value, str):
        return stated_value
    attribute = node.proto.attributes.get(stated_value)
    if attribute is not None and isinstance(attribute.value, float | int):
        return float(attribute.value)
    defaults: Mapping[str, Any] = {info.name: info.default for info in node.schema.attributes} if node.schema else {}
    return float(defaults.get(stated_value) or 0.0)


def _constant(name: str, kind: str, number: float) -> OnnxNode:
    data = struct.pack(_PACKED[kind], number)
    value = OnnxTensor(name, kind, (), data=data[2:] if kind == "BFLOAT16" else data)
    return OnnxNode("", "Constant", "", "", [], [name], {"value": OnnxAttribute("value", "TENSOR", value)})


class Functions:
    """Finds the bodies of calls."""

    def __init__(self, model: OnnxModel, opsets: Mapping[str, int], release: str = "") -> None:
        """Index the functions of `model`.

        opsets: the domains that the release of the runtime supports. release: "" for the newest.
        """
        functions_by_key = {function_key(function): function for function in model.functions}
        self._sizes = sizes(functions_by_key)
        # The linter reports recursive functions, and the runtime does not load them.
        self._own = {key: function for key, function in functions_by_key.items() if key in self._sizes}
        self._domains, self._release = opsets, release
        #: Whether the model's opset selects the body; otherwise the operator's version does.
        self._by_opset = not release or function_bodies(release) == "opset"
        self._bodies: dict[tuple[object, ...], OnnxFunction | None] = {}
        #: Whether a body was requested that only the onnx package knows.
        self.missing = False

    def of(self, node: Node, model: OnnxModel) -> OnnxFunction | None:
        """Return the function that a node calls, None if its body is unknown.

        It is also None for an operator that is not a function.
        """
        model_function = self._own.get(function_key(node.proto))
        if model_function is not None:
            return model_function
        domain = node.proto.domain
        if node.schema is None or domain not in self._domains:
            return None
        if domain not in STANDARD_DOMAINS:
            return own_function(node, self._release)
        attributes = tuple(map(id, node.proto.attributes.values()))
        shapes = tuple((tensor.type, _numbers(tensor)) if tensor else None for tensor in (*node.inputs, *node.outputs))
        key = (node.operator, node.opset, len(node.inputs), shapes, attributes)
        if key not in self._bodies:
            self._bodies[key] = self._build(node, model)
        return self._bodies[key]

    def _build(self, node: Node, model: OnnxModel) -> OnnxFunction | None:
        """Return the body of one call as a function of positional arguments.

        Equal calls share the result.
        """
        if not is_onnx_installed():
            self.missing = True
            return None
        proto = node.proto
        version = node.opset if self._by_opset or node.schema is None else node.schema.since
        operator = proto.domain, proto.op_type, version or 1
        if operator in _no_functions:
            return None
        ends = (("in", node.inputs), ("out", node.outputs))
        inputs, outputs = ([f"{end}{i}" if tensor else "" for i, tensor in enumerate(tensors)] for end, tensors in ends)
        nameless_proto = replace(proto, name="", inputs=inputs, outputs=outputs)
        graph = OnnxGraph(
            nodes=[nameless_proto], inputs=_infos(inputs, node.inputs), outputs=_infos(outputs, node.outputs)
        )
        data = write_model(model, _write_graph(graph), [])
        body = _body(data, version or 1)
        if isinstance(body, str):
            if body == NO_FUNCTION:
                _no_functions.add(operator)
            return None
        function, built = body
        is_used = not self._by_opset or built or _means_the_same(function, model.opset_imports)
        return function if is_used and function.nodes else None  # an empty body cannot be serialized

    def size(self, function: OnnxFunction) -> int:
        """Return the number of nodes in a function, with nested calls expanded."""
        return self._sizes.get(function_key(function), len(function.nodes))


@lru_cache(maxsize=512)
def _body(data: bytes, version: int) -> tuple[OnnxFunction, bool] | str:
    """Return a call's body from a serialized model.

    The flag says whether the body was built for the call's types. A text instead says why the body is missing, and is
    NONE for an operator that is not a function.
    """
    answer = find_function_body(data, version)
    if not isinstance(answer, bytes):
        return str(answer)
    try:
        answered = read_model_bytes(answer, "<function>")
        return answered.functions[0], answered.producer_name == FROM_SCHEMA
    except (InputError, IndexError) as error:
        return str(error)


#: ONNX operators that are not functions, by domain, name and version. For other operators, each call needs a question.
_no_functions: set[tuple[str, str, int]] = set()


def sizes(functions: Mapping[Key, OnnxFunction]) -> dict[Key, int]:
    """Return the number of nodes per function, with all calls expanded.

    Recursive functions and their callers are omitted.
    """
    calls = {key: Counter(_called_functions(function.nodes)) for key, function in functions.items()}
    callers: dict[Key, list[Key]] = {key: [] for key in functions}
    left = dict.fromkeys(functions, 0)
    for key, called_keys in calls.items():
        for name in called_keys.keys() & functions.keys():
            callers[name].append(key)
            left[key] += 1
    numbers_by_texts: dict[Key, int] = {}
    ready_keys = [key for key, count in left.items() if not count]
    for key in ready_keys:  # grows during iteration
        numbers_by_texts[key] = sum(count * numbers_by_texts.get(key, 1) for key, count in calls[key].items())
        for caller in callers[key]:
            left[caller] -= 1
            if not left[caller]:
                ready_keys.append(caller)
    return numbers_by_texts


def _called_functions(nodes: Iterable[OnnxNode]) -> Iterator[Key]:
    for node in nodes:
        yield function_key(node)
        for _, graph in subgraphs(node):
            yield from _called_functions(graph.nodes)


def _means_the_same(function: OnnxFunction, imports: Mapping[str, int]) -> bool:
    """Return whether a function's operators mean the same in the model.

    Otherwise the runtime does not inline it. A function built for the types of a call is always inlined:
    onnx/defs/schema.cc (OpSchema::BuildContextDependentFunction) makes the same check, but ignores the result.
    """
    for node in function.nodes:
        own_opset, outer = function.opset_imports.get(node.domain), imports.get(node.domain)
        if own_opset is not None and outer is not None and own_opset != outer:
            own_schema, schema = (schema_of(node.domain, node.op_type, version) for version in (own_opset, outer))
            if own_schema is None or schema is None or own_schema.since != schema.since:
                return False
    return True


def _write_graph(graph: OnnxGraph) -> bytes:
    """Return a serialized graph with its stated types and without weights."""
    return write_graph(
        graph,
        [node_field(Nodes().write(node, _write_graph)) for node in graph.nodes],
        initializers=[tensor for tensor in graph.initializers if tensor.data is not None],
        outputs=[(info.name, info.type) for info in graph.outputs],
        value_infos=[(info.name, info.type) for info in graph.value_infos],
    )


def _infos(names: list[str], tensors: tuple[TensorDesc | None, ...]) -> list[OnnxValueInfo]:
    return [
        OnnxValueInfo(name, stated_type(tensor))
        for name, tensor in zip(names, tensors, strict=True)
        if tensor is not None
    ]


def stated_type(tensor: TensorDesc) -> OnnxType | None:
    """Return the stated type of a value, None if unknown."""
    tree = None if tensor.type is None else parse_type(tensor.type)
    if tree is None or tree.parts:
        return None if tree is None else _container(tree)
    return OnnxType("tensor", tensor.type, _numbers(tensor))


def _numbers(tensor: TensorDesc) -> tuple[int | None, ...] | None:
    """Return the sizes without the symbolic names.

    Names that inference generates would make equal calls differ.
    """
    sizes = tensor.sizes
    return None if sizes is None else tuple(size if isinstance(size, int) else None for size in sizes)


#: Container types in schemas, and their fields in TypeProto.
_CONTAINERS: Final = {"seq": "sequence", "optional": "optional", "map": "map"}


def _container(tree: TypeName) -> OnnxType | None:
    """Return the container type of a schema's type, None if a file lacks it."""
    elements = dialect("onnx").type_elements
    if tree.element:
        word = elements.get(tree.element)
        return None if word is None else OnnxType("tensor", word)
    if tree.word == "sparse_tensor":
        word = elements.get(tree.parts[0].word)
        return None if word is None else OnnxType("sparse_tensor", word)
    *keys, inner = map(_container, tree.parts)
    if tree.word not in _CONTAINERS or inner is None or None in keys:
        return None
    return OnnxType(_CONTAINERS[tree.word], keys[0].elem_type if keys and keys[0] is not None else None, inner=inner)


#: Path of the calling node, its name there, and the called function.
Call = tuple[str, str, OnnxFunction]


@dataclass(slots=True)
class InlinedModel:
    """A model with calls replaced by their bodies.

    origin: by id of a new node, the path of the call and the called operator. used: paths of calls. Nodes may share a
    name, but the nodes of their bodies must not. graphs: by id of a new graph, the original graph.
    """

    model: OnnxModel
    origin: dict[int, tuple[str, str]] = field(default_factory=dict)
    used: dict[str, int] = field(default_factory=dict)
    graphs: dict[int, OnnxGraph] = field(default_factory=dict)

    def types(self, types_by_name: Types) -> dict[int, Mapping[str, OnnxType]]:
        """Return the value types known in the original model, by graph id."""
        return {
            **types_by_name,
            **{new: types_by_name[id(old)] for new, old in self.graphs.items() if id(old) in types_by_name},
        }


def inline_calls(model: OnnxModel, calls: Mapping[int, Call]) -> InlinedModel:
    """Return a model with `calls` (by node id) replaced by their bodies."""
    new_inlined = InlinedModel(replace(model, opset_imports=dict(model.opset_imports)))
    for _, _, function in calls.values():
        for domain, version in function.opset_imports.items():
            new_inlined.model.opset_imports.setdefault(domain, version)
    new_inlined.model.graph = _graph(model.graph, calls, new_inlined)
    return new_inlined


def _graph(graph: OnnxGraph, calls: Mapping[int, Call], new_inlined: InlinedModel) -> OnnxGraph:
    """Return a graph with calls replaced, or the same graph without calls."""
    nodes: list[OnnxNode] = []
    is_changed = False
    for node in graph.nodes:
        call = calls.get(id(node))
        if call is not None:
            is_changed = True
            nodes += _expand_call(node, *call, new_inlined)
            continue
        new_graphs = {
            id(graph): new for _, graph in subgraphs(node) if (new := _graph(graph, calls, new_inlined)) is not graph
        }
        if new_graphs:
            is_changed = True
            nodes.append(replace(node, attributes=with_new_graphs(node, new_graphs)))
        else:
            nodes.append(node)
    if not is_changed:
        return graph
    new = replace(graph, nodes=nodes, runs=[])
    new_inlined.graphs[id(new)] = graph
    return new


def with_new_graphs(node: OnnxNode, new: Mapping[int, OnnxGraph]) -> dict[str, OnnxAttribute]:
    """Return the attributes of a node with some graphs (by id) replaced."""
    return _with_graphs(node, lambda graph: new.get(id(graph), graph))


def _with_graphs(node: OnnxNode, change: Callable[[OnnxGraph], OnnxGraph]) -> dict[str, OnnxAttribute]:
    def change_graph(value: object) -> object:
        return change(value) if isinstance(value, OnnxGraph) else value

    return {
        name: replace(
            attribute,
            value=[change_graph(graph) for graph in attribute.value]
            if isinstance(attribute.value, list)
            else change_graph(attribute.value),
        )
        for name, attribute in node.attributes.items()
    }


def _expand_call(
    call: OnnxNode, place: str, name: str, function: OnnxFunction, new_inlined: InlinedModel
) -> Iterator[OnnxNode]:
    """Yield the nodes of a call's body.

    Names that are local to the function get the name of the call as a prefix.
    """
    path = f"{place}/{name}"
    formal = zip(function.inputs, [*call.inputs, *[""] * len(function.inputs)], strict=False)
    names = dict(formal) | {inner: text for inner, text in zip(function.outputs, call.outputs, strict=False) if text}
    attributes_by_name = {**{attribute.name: attribute for attribute in function.attribute_protos}, **call.attributes}
    new_inlined.used[path] = number = new_inlined.used.get(path, 0) + 1
    prefix = path if number == 1 else f"{path}#{number}"

    def prefix_name(inner_name: str) -> str:
        return names.get(inner_name, f"{prefix}/{inner_name}") if inner_name else ""

    for index, node in enumerate(function.nodes):
        new = _copy_node(node, prefix_name, attributes_by_name)
        new.name = f"{name}/{label(node, index)}"
        new_inlined.origin[id(new)] = (path, f"{call.domain}.{call.op_type}" if call.domain else call.op_type)
        yield new


def _copy_node(
    node: OnnxNode, rename: Callable[[str], str], attributes_by_name: Mapping[str, OnnxAttribute]
) -> OnnxNode:
    """Return a node of a function with the names and attributes of a call."""
    attributes = {}
    for name, attribute in node.attributes.items():
        if attribute.ref_attr_name is None:
            attributes[name] = attribute
        elif attribute.ref_attr_name in attributes_by_name:
            attributes[name] = replace(attributes_by_name[attribute.ref_attr_name], name=name)
    new = replace(
        node,
        inputs=[rename(name) for name in node.inputs],
        outputs=[rename(name) for name in node.outputs],
        attributes=attributes,
    )
    if not new.plain:
        new.attributes = _with_graphs(new, lambda graph: _rename_graph(graph, rename, attributes_by_name))
    return new


def _rename_graph(
    graph: OnnxGraph, rename: Callable[[str], str], attributes_by_name: Mapping[str, OnnxAttribute]
) -> OnnxGraph:
    def infos(value_infos: list[OnnxValueInfo]) -> list[OnnxValueInfo]:
        return [OnnxValueInfo(rename(info.name), info.type) for info in value_infos]

    return replace(
        graph,
        nodes=[_copy_node(node, rename, attributes_by_name) for node in graph.nodes],
        inputs=infos(graph.inputs),
        outputs=infos(graph.outputs),
        value_infos=infos(graph.value_infos),
        initializers=[replace(tensor, name=rename(tensor.name)) for tensor in graph.initializers],
        sparse_initializers=[replace(tensor, name=rename(tensor.name)) for tensor in graph.sparse_initializers],
        runs=[],
    )
