"""Types and shapes that a model omits, inferred by the onnx package."""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.util import find_spec
from itertools import accumulate, chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor, OnnxType
from specgate.dialects.onnx.file.write import Nodes, Parts, node_field, write_function, write_graph, write_model
from specgate.dialects.onnx.infer.child import GRAPH, INVENTED, NODE, TYPE, VALUE_INFO, fields, message
from specgate.dialects.onnx.infer.process import Budget, InferenceFailure, ask
from specgate.dialects.onnx.lint.units import STANDARD_DOMAINS, finding, function_key, label
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.onnx.file.structure import OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.units import Body, Key
    from specgate.verdict import Finding

    Types = dict[int, dict[str, OnnxType]]

MAX_NODES: Final = 500_000  # in addition to the file's own; the onnx package needs 2 us per node


def expands_too_far(model: OnnxModel, walked_bodies: Iterable[Body]) -> bool:
    """Return True if inlining functions adds more than MOST_NODES nodes.

    Also True for recursive functions, direct or indirect. `walked_bodies` are the bodies of `model`.
    """
    functions = {function_key(function) for function in model.functions}
    if not functions:
        return False
    nodes: Counter[Key | None] = Counter()
    calls: dict[Key | None, Counter[Key]] = {}
    for body in walked_bodies:
        owner = None if body.function is None else function_key(body.function)
        nodes[owner] += len(body.nodes)
        numbers_by_texts = {key: count for key, count in body.operators.items() if key in functions}
        calls.setdefault(owner, Counter()).update(numbers_by_texts)
    sizes: dict[Key | None, int] = {}  # nodes after inlining, capped at one above the limit
    path: list[Key | None] = [None]
    started_keys: set[Key | None] = set()
    while path:
        key = path[-1]
        if key not in started_keys:
            started_keys.add(key)
            missing_callees = [callee for callee in calls.get(key, ()) if callee not in sizes]
            if any(callee in started_keys for callee in missing_callees):
                return True
            path.extend(missing_callees)
            continue
        path.pop()
        brought = sum(times * sizes[callee] for callee, times in calls.get(key, Counter()).items())
        sizes[key] = min(brought + (nodes[key] if key else 0), MAX_NODES + 1)
    return sizes[None] > MAX_NODES


class Question(NamedTuple):
    """A serialized model and its graphs, outermost first, as in the answer."""

    data: bytes
    graphs: list[OnnxGraph]


def question(model: OnnxModel, skipped_nodes: Collection[int] = (), node_limit: int | None = None) -> Question:
    """Serialize a model for inference.

    Includes the outermost nodes before `node_limit`, except those in `skipped_nodes`. Stated types of values that an
    ONNX operator or a function computes are omitted, because they are inferred and compared. Weights, and nodes that
    hold any, are represented by their types only.
    """
    writer = _Writer(model)
    nodes = model.graph.nodes
    if skipped_nodes or node_limit is not None:
        nodes = [node for i, node in enumerate(nodes[:node_limit]) if i not in skipped_nodes]
    graph = writer.graph(model.graph, nodes)
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
            node_fields = _split_fields(data, len(nodes))
            self.fields.update((id(node), (field, [])) for node, field in zip(nodes, node_fields, strict=False))
        self.functions: list[bytes] | None = None

    def about(
        self, nodes: Sequence[OnnxNode], types: Mapping[str, OnnxType], constants: Sequence[OnnxTensor]
    ) -> Question:
        """Serialize a question about the outputs of nodes and their subgraphs.

        `types` has the known types of values that the nodes read and, optionally, compute. `constants` are the known
        values among those that they read. Nodes that hold weights are left out.
        """
        serialized_nodes = [self.node(node) for node in nodes]
        graphs = [graph for _, subgraph in serialized_nodes for graph in subgraph]
        if graphs or any(function_key(node) in self.writer.keys for node in nodes):
            self.functions = self.functions or self.writer.functions()
        graph = write_graph(
            self.graph,
            [data for data, _ in serialized_nodes],
            initializers=constants,
            outputs=(),
            value_infos=types.items(),
            parts=self.parts,
        )
        return Question(write_model(self.model, graph, self.functions or ()), [self.model.graph, *graphs])

    def node(self, node: OnnxNode) -> tuple[bytes, list[OnnxGraph]]:
        """Return a node's field, b"" if it holds weights, and its subgraphs."""
        cached = self.fields.get(id(node))
        if cached is None:
            self.writer.graphs = []
            data = b"" if holds_weights(node) else node_field(self.writer.nodes.write(node, self.writer.write_nested))
            cached = self.fields[id(node)] = data, self.writer.graphs
        return cached


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
            write_function(function, [self.nodes.write(node, self.write_hidden) for node in function.nodes])
            for function in self.model.functions
        ]

    def write_nested(self, graph: OnnxGraph) -> bytes:
        return self.graph(graph, graph.nodes)

    def write_hidden(self, graph: OnnxGraph) -> bytes:
        """Serialize a graph in a function, which an answer does not include.

        Its types differ per call.
        """
        nodes = [node_field(self.nodes.write(node, self.write_hidden)) for node in graph.nodes]
        outputs = [(info.name, info.type) for info in graph.outputs]
        infos = [(info.name, info.type) for info in graph.value_infos]
        return write_graph(graph, nodes, initializers=self.data(graph), outputs=outputs, value_infos=infos)

    def data(self, graph: OnnxGraph) -> list[OnnxTensor]:
        """Return the initializers that are small and constant."""
        inputs = {info.name for info in graph.inputs} if self.overridable else set()
        return [tensor for tensor in graph.initializers if tensor.data is not None and tensor.name not in inputs]

    def graph(self, graph: OnnxGraph, chosen_nodes: list[OnnxNode]) -> bytes:
        """Serialize one graph with some of its nodes, including subgraphs."""
        self.graphs.append(graph)
        fields: list[bytes] = []
        nodes: list[OnnxNode] = []
        begin_index = 0
        for first, past, data in (
            *(graph.runs if chosen_nodes is graph.nodes else ()),
            (len(chosen_nodes), len(chosen_nodes), b""),
        ):
            serialized_nodes = [node for node in chosen_nodes[begin_index:first] if not holds_weights(node)]
            fields += (node_field(self.nodes.write(node, self.write_nested)) for node in serialized_nodes)
            fields.append(data)
            nodes += serialized_nodes
            nodes += chosen_nodes[first:past]
            begin_index = past
        inferred_names = {
            name
            for node in nodes
            if node.domain in STANDARD_DOMAINS or function_key(node) in self.keys
            for name in node.outputs
        }
        stated_types_by_name = {
            info.name: info.type for info in chain(graph.value_infos, graph.outputs) if info.name not in inferred_names
        }
        tensors = {**stated_types_by_name, **dict(_constants(graph))}
        outputs = [(info.name, tensors.pop(info.name, None)) for info in graph.outputs]
        return write_graph(graph, fields, initializers=self.data(graph), outputs=outputs, value_infos=tensors.items())


def _split_fields(data: bytes, count: int) -> list[bytes]:
    """Split bytes into `count` node fields; return [] if they do not match."""
    numbers = [(key, begin, end) for key, begin, _, end in fields(data, 0, len(data))]
    is_complete = (
        len(numbers) == count > 0 and numbers[-1][2] == len(data) and all(key == NODE for key, _, _ in numbers)
    )
    return [data[begin:end] for _, begin, end in numbers] if is_complete else []


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


MAX_CULPRITS: Final = 3
#: Size of the cache of types across models.
_MAX_CACHED: Final = 4096


@dataclass(slots=True)
class InferredTypes:
    """Result of inference: types by graph id and value name.

    `findings` explains missing types. `kinds` has, by graph id where known, a number per node; nodes with the same
    number are equivalent.
    """

    types: Types = field(default_factory=dict)
    kinds: Mapping[int, Sequence[int]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)


def is_onnx_installed() -> bool:
    """Return True if the onnx package is installed, without importing it."""
    if getattr(sys, "frozen", False):
        return False
    if "onnx" in sys.modules:
        return getattr(sys.modules["onnx"], "__spec__", None) is not None
    return _is_onnx_on_path()


@cache
def _is_onnx_on_path() -> bool:
    return find_spec("onnx") is not None


def start_inference(
    model: OnnxModel, walked_bodies: Sequence[Body], *, values: bool = True
) -> Callable[[], InferredTypes]:
    """Start inference in a thread; return a function that awaits the result.

    It covers every graph of `model` except its functions. A node that makes the onnx package fail is left out and
    reported in a finding; the rest is still inferred. `model`, whose bodies are `walked_bodies`, must not change until
    the result is there. `values` enables propagation of values computed from sizes; without it, sizes have only the
    names from the file.
    """
    if expands_too_far(model, walked_bodies):
        reason = f"with functions inlined, the model has more than {MAX_NODES} nodes"
        return lambda: InferredTypes(findings=[_missing_types(model, InferenceFailure(reason), None)])
    stated_types = StatedTypes.of(model, walked_bodies) if values else None
    requested_question = question(model) if stated_types is None else stated_types.question
    budget = Budget(len(requested_question.data))
    answer: list[bytes | Exception] = []

    def first() -> None:
        try:
            answer.append(
                ask(
                    requested_question.data,
                    budget,
                    nested=len(requested_question.graphs) > 1,
                    values=values,
                    keep_names=values,
                )
            )
        except Exception as error:  # noqa: BLE001  # raised again by `wait`
            answer.append(error)

    def wait() -> Types:
        thread.join()
        if isinstance(answer[0], Exception):
            raise answer[0]
        return _types(answer[0], requested_question.graphs)

    thread = threading.Thread(target=first, daemon=True)
    thread.start()
    if stated_types is not None:
        return lambda: _confirm_types(model, stated_types, wait)
    return lambda: _infer_model(model, wait, budget, values=values)


def _confirm_types(model: OnnxModel, stated_types: StatedTypes, answer: Callable[[], Types]) -> InferredTypes:
    """Return the stated types if inference confirms them, else infer all."""
    key = id(model.graph)
    with suppress(InferenceFailure):
        if stated_types.matches_types(answer().get(key, {})):
            return InferredTypes({key: stated_types.types}, {key: stated_types.kinds})
    data, graphs = question(model)
    budget = Budget(len(data))
    nested = len(graphs) > 1
    return _infer_model(model, lambda: _types(ask(data, budget, nested=nested), graphs), budget, values=True)


def infer_question(question: Question, *, values: bool = False) -> Types:
    """Return the types in every graph of a question.

    `values` enables propagation of values computed from sizes. Sizes have only the names from the file, so that
    equivalent nodes stay equivalent. `start_inference` has already checked that the functions expand to a bounded size.
    Raises Failed if there is no answer.
    """
    data, graphs = question
    answer = ask(data, Budget(len(data)), nested=len(graphs) > 1, values=values, keep_names=False)
    return _types(answer, graphs)


def _infer_model(model: OnnxModel, answer: Callable[[], Types], budget: Budget, *, values: bool) -> InferredTypes:
    inferred = InferredTypes()
    excluded_nodes: set[int] = set()
    while True:
        try:
            inferred.types = answer()
        except InferenceFailure as error:
            culprit = None
            if not error.slow and len(excluded_nodes) < MAX_CULPRITS:
                culprit = _find_failing_node(model, excluded_nodes, budget, values=values)
            inferred.findings.append(_missing_types(model, error, culprit))
            if culprit is None:
                return inferred
            excluded_nodes.add(culprit)
            answer = partial(_answer, model, excluded_nodes, None, budget, values=values)
        else:
            return inferred


def _missing_types(model: OnnxModel, error: InferenceFailure, culprit: int | None) -> Finding:
    if culprit is None:
        message = f"missing types and shapes stay unknown: {error}"
        return finding("not-inferred", "note", message, (model.file, "graph", None))
    node = model.graph.nodes[culprit]
    message = f"the output types of this node stay unknown: {error}"
    place = (model.file, f"graph/{label(node, culprit)}", node.op_type)
    return finding("not-inferred", "note", message, place)


def _find_failing_node(model: OnnxModel, excluded_nodes: set[int], budget: Budget, *, values: bool) -> int | None:
    """Return the outermost node that makes the package fail, or None."""

    def fails(node_limit: int) -> bool:
        try:
            _answer(model, excluded_nodes, node_limit, budget, values=values)
        except InferenceFailure as error:
            if error.slow:
                raise
            return True
        return False

    low, high = 0, len(model.graph.nodes)
    try:
        if fails(0):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if fails(middle) else (middle, high)
    except InferenceFailure:
        return None
    return high - 1 if high else None


def _answer(
    model: OnnxModel, excluded_nodes: set[int], node_limit: int | None, budget: Budget, *, values: bool
) -> Types:
    data, graphs = question(model, excluded_nodes, node_limit)
    return _types(ask(data, budget, nested=len(graphs) > 1, values=values, keep_names=values), graphs)


def _types(answer: bytes, graphs: list[OnnxGraph]) -> Types:
    line, _, data = answer.partition(b"\n")
    try:
        result, sizes = json.loads(line)
        ends = list(accumulate(sizes, initial=0))
        kinds = _kinds([data[begin:end] for begin, end in pairwise(ends)])
    except (InputError, ValueError, TypeError) as error:
        raise InferenceFailure(f"the answer of the onnx package is unreadable ({error})", slow=True) from None
    if len(result) != len(graphs):
        raise InferenceFailure("the onnx package returned the answer for another model", slow=True)
    types: Types = {}
    for graph, (names, places) in zip(graphs, result, strict=True):
        pairs = ((name, kinds[place]) for name, place in zip(names, places, strict=True))
        types[id(graph)] = {name: kind for name, kind in pairs if kind is not None}
    return types


def _kinds(serialized: list[bytes]) -> list[OnnxType | None]:
    """Parse serialized types, using the cache across models."""
    types_by_bytes: dict[bytes, OnnxType | None] = {
        kind: type_ for kind in serialized if (type_ := _read.get(kind)) is not None
    }
    new = [kind for kind in serialized if kind not in types_by_bytes]
    if new:
        infos = b"".join([message(VALUE_INFO, message(TYPE, kind)) for kind in new])
        types = [info.type for info in read_model_bytes(message(GRAPH, infos), "<inference>").graph.value_infos]
        types_by_bytes.update(zip(new, types, strict=True))
        if len(_read) + len(new) > _MAX_CACHED:
            _read.clear()
        _read.update((kind, type_) for kind, type_ in zip(new[:_MAX_CACHED], types, strict=False) if type_ is not None)
    return [types_by_bytes[kind] for kind in serialized]


_read: Final[dict[bytes, OnnxType]] = {}


_INITIALIZER_IR_VERSION: Final = 4  # then an initializer need not be an input
_UNKNOWN: Final = OnnxType()


class StatedTypes:
    """Types that a model with a single graph states itself.

    `question` covers one node of each kind. `types` has, by name, all values except inputs and constants. `kinds` has
    the kind number of each node.
    """

    def __init__(
        self, question: Question, types: dict[str, OnnxType], kinds: Sequence[int], texts: Sequence[str]
    ) -> None:
        self.question = question
        self.types = types
        self.kinds = kinds
        self._names = texts

    @classmethod
    def of(cls, model: OnnxModel, walked_bodies: Sequence[Body]) -> StatedTypes | None:
        """Return the types that `model` states, or None if any must be inferred."""
        if len(walked_bodies) != 1 or model.functions or (model.ir_version or 0) < _INITIALIZER_IR_VERSION:
            return None
        types = _complete(model.graph)
        if types is None:
            return None
        kinds = _NodeGroups(model.graph, types)
        if not kinds.group_nodes():
            return None
        question, texts = kinds.question(model)
        return cls(question, types, kinds.numbers, texts)

    def matches_types(self, types_by_name: Mapping[str, OnnxType]) -> bool:
        """Return True if the inferred types equal the stated ones."""
        return all(types_by_name.get(name) == self.types[name] for name in self._names)


def _complete(graph: OnnxGraph) -> dict[str, OnnxType] | None:
    """Return the types that a graph states, or None if any is incomplete."""
    types: dict[str, OnnxType] = {}
    sound: set[int] = set()
    for info in chain(graph.value_infos, graph.outputs):
        kind = info.type
        if kind is None:
            return None
        if id(kind) not in sound:
            if (
                kind.kind != "tensor"
                or not kind.elem_type
                or kind.shape is None
                or not all(map(_is_known_size, kind.shape))
            ):
                return None
            sound.add(id(kind))
        types[info.name] = kind
    return types


def _is_known_size(size: int | str | None) -> bool:
    return size is not None and not (isinstance(size, str) and size.startswith(INVENTED))


class _NodeGroups:
    """Groups of equivalent nodes in a graph, each with its first node.

    `known` has, by name, an object whose identity distinguishes kinds: a type, or the holder of the elements.
    """

    def __init__(self, graph: OnnxGraph, types: Mapping[str, OnnxType]) -> None:
        self.graph = graph
        self.types = types
        self.firsts: list[OnnxNode] = []
        self.constants: dict[str, OnnxNode] = {}
        self.values: dict[str, object] = {"": None}
        self.numbers: list[int] = []

    def group_nodes(self) -> bool:
        """Group all nodes; return True if the stated types are sufficient."""
        tensors, types, numbers, firsts = self.values, self.types, self.numbers, self.firsts
        if not self.begin():
            return False
        kinds: dict[tuple[object, ...], int] = {}
        for node in self.graph.nodes:
            try:
                ends = *map(id, map(tensors.__getitem__, node.inputs)), *map(id, map(types.__getitem__, node.outputs))
            except KeyError:  # defined later or never, or without a stated type
                return False
            key = node.op_type, node.domain, node.overload, id(node.attributes), len(node.inputs), ends
            number = kinds.setdefault(key, len(firsts))
            numbers.append(number)
            if number == len(firsts) and not self.first(node):
                return False
            for name in node.outputs:
                if name in tensors:
                    return False
                tensors[name] = types[name]
            if node.op_type == "Constant" and not node.domain:
                tensors.update(dict.fromkeys(node.outputs, node.attributes))
                self.constants.update(dict.fromkeys(node.outputs, node))
        return True

    def begin(self) -> bool:
        """Register inputs and initializers."""
        for info in self.graph.inputs:
            self.values[info.name] = info.type or _UNKNOWN
        for tensor in chain(self.graph.initializers, self.graph.sparse_initializers):
            self.values.setdefault(tensor.name, tensor)
        return self.values.keys().isdisjoint(self.types)

    def first(self, node: OnnxNode) -> bool:
        """Add the first node of a kind; return False if it holds weights."""
        self.firsts.append(node)
        return not holds_weights(node)

    def question(self, model: OnnxModel) -> tuple[Question, list[str]]:
        """Return a question about the first nodes, and their output names."""
        firsts = [node for node in self.firsts if node.domain in STANDARD_DOMAINS]  # others have no inference
        input_names = dict.fromkeys(name for node in firsts for name in node.inputs if name)
        before = [self.constants[name] for name in input_names if name in self.constants]
        nodes = list({id(node): node for node in (*before, *firsts)}.values())
        output_names = dict.fromkeys(name for node in nodes for name in node.outputs if name)
        entries = {name: self.values[name] for name in input_names if name not in output_names}
        types = {name: kind for name, kind in entries.items() if isinstance(kind, OnnxType) and kind is not _UNKNOWN}
        tensors = {name: tensor for name, tensor in entries.items() if isinstance(tensor, OnnxTensor)}
        types |= {name: tensor_type(tensor) for name, tensor in tensors.items() if tensor.data is None}
        constants = [tensor for tensor in tensors.values() if tensor.data is not None]
        return Questions(model, copied=False).about(nodes, types, constants), list(output_names)
