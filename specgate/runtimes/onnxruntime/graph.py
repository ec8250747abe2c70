"""Graphs of a model as the runtime reads, visits and places them."""

from __future__ import annotations

import heapq
from collections import ChainMap, defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from specgate.descriptors.core import TensorDesc
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.dialects.onnx.lint.types import constant_of_node
from specgate.dialects.onnx.lint.units import bodies, label, subgraphs
from specgate.runtimes.onnxruntime.schemas import opset_meant, schema_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxModel, OnnxNode
    from specgate.dialects.onnx.lint.graph import Source
    from specgate.linting.nodes import Graph
    from specgate.runtimes.onnxruntime.schemas import Schema
    from specgate.runtimes.release import Runtime

    Fixed = MutableMapping[str, bool]
    Scope = Mapping[str, TensorDesc]
    Sizes = MutableMapping[str, int]
    Types = MutableMapping[str, TensorDesc]
    Tensors = tuple[TensorDesc | None, ...]
    Kinds = tuple[str | None, ...]

_MISSING: Final = "onnx/model/opset-missing"


def with_imports(graph: Graph, runtime: Runtime) -> Graph:
    """Return a model with the imports that a release adds.

    The same model is returned if the release adds none.
    """
    source = graph.source
    imports = source.model.opset_imports
    if not imports or all(finding.id != _MISSING for finding in graph.findings):
        return graph
    used = {domain for body in bodies(source.model) if body.function is None for domain, _, _ in body.operators}
    added_imports = {name: version for name, version in runtime.opsets.items() if name in used and name not in imports}
    if not added_imports:
        return graph
    return onnx_units(replace(source.model, opset_imports={**imports, **added_imports}), source.settings)


def order_nodes(nodes: list[tuple[int, OnnxNode]]) -> list[tuple[int, OnnxNode]]:
    """Return nodes in topological order, unchanged if already sorted.

    Values that a subgraph reads from enclosing graphs count as read by its node. Nodes of a cycle come last.
    """
    if _in_order(nodes):
        return nodes
    numbers_by_name = {name: index for index, (_, node) in enumerate(nodes) for name in node.outputs if name}
    dependencies = [
        {numbers_by_name[name] for name in reads(node) if name in numbers_by_name} - {index}
        for index, (_, node) in enumerate(nodes)
    ]
    consumers: dict[int, list[int]] = {}
    for number, indices in enumerate(dependencies):
        for before in indices:
            consumers.setdefault(before, []).append(number)
    ready_nodes = [index for index, dependency_set in enumerate(dependencies) if not dependency_set]
    order: list[int] = []
    while ready_nodes:
        number = heapq.heappop(ready_nodes)
        order.append(number)
        for after in consumers.get(number, ()):
            dependencies[after].discard(number)
            if not dependencies[after]:
                heapq.heappush(ready_nodes, after)
    cycle = [index for index, dependency_set in enumerate(dependencies) if dependency_set]  # the linter reports cycles
    return [nodes[index] for index in (*order, *cycle)]


def _in_order(nodes: Sequence[tuple[int, OnnxNode]]) -> bool:
    later_values = {name for _, node in nodes for name in node.outputs if name}
    for _, node in nodes:
        if not later_values.isdisjoint(reads(node)):
            return False
        later_values.difference_update(node.outputs)
    return True


def reads(node: OnnxNode) -> Sequence[str]:
    """Return the values that a node or its subgraphs read.

    They include values of the enclosing graph.
    """
    if node.plain:
        return node.inputs
    texts = list(node.inputs)
    for _, graph in subgraphs(node):
        for inner in graph.nodes:
            texts += reads(inner)
        texts += (info.name for info in graph.outputs)
    return texts


def depth_first_order(nodes: Sequence[OnnxNode]) -> list[int]:
    """Return node indices in the reverse depth-first order of ONNX Runtime.

    Its optimizers walk from the last node without consumers, and list a node's inputs before the node, the last input
    first. Source: onnxruntime core/graph/graph_viewer.cc (commit 486da22c9) and Graph::ReverseDFSFrom of
    core/graph/graph.cc.
    """
    numbers_by_name = {name: index for index, node in enumerate(nodes) for name in node.outputs if name}
    dependencies = [
        sorted({numbers_by_name[name] for name in reads(node) if name in numbers_by_name} - {index})
        for index, node in enumerate(nodes)
    ]
    read_indices = {dependency for indices in dependencies for dependency in indices}
    waiting = [(index, False) for index in range(len(nodes)) if index not in read_indices]
    order: list[int] = []
    visited: set[int] = set()
    while waiting:
        number, is_expanded = waiting.pop()
        if is_expanded:
            order.append(number)
        elif number not in visited:
            visited.add(number)
            waiting.append((number, True))
            waiting += [(dependency, False) for dependency in dependencies[number] if dependency not in visited]
    return order + [i for i in range(len(nodes)) if i not in visited]  # nodes of a cycle, which the linter reports


_UNKNOWN = TensorDesc(None, None)


@dataclass(slots=True, eq=False)
class NodeProperties:
    """Properties of nodes with the same operator, attributes and types.

    operator: the name in the tables. opset: the version of its domain that the model imports, as the runtime reads it.
    inputs, outputs: known tensors by position, None for an omitted one. kinds: the types of inputs and outputs as
    registrations spell them, "" for an unknown one. descriptor: as the linter reads it, None without a table.
    has_own_type: whether an output's type follows from the operator alone. graphs: whether attributes contain graphs.
    """

    operator: str
    opset: int | None
    schema: Schema | None
    inputs: Tensors
    outputs: Tensors
    kinds: tuple[Kinds, Kinds]
    descriptor: Descriptor | None
    has_own_type: bool
    graphs: bool


@dataclass(slots=True, eq=False)
class Node:
    """A node of a body.

    path: its place in the file. implicit: values outside of its bodies that the bodies read; implicit_kinds: their
    types as registrations spell them.
    """

    index: int
    path: str
    proto: OnnxNode
    properties: NodeProperties
    bodies: Sequence[Body] = ()
    implicit: Sequence[str] = ()
    implicit_kinds: Kinds = ()

    @property
    def operator(self) -> str:
        """Its operator's name in the tables."""
        return self.properties.operator

    @property
    def opset(self) -> int | None:
        """The version of its domain that the model imports."""
        return self.properties.opset

    @property
    def schema(self) -> Schema | None:
        """Its operator's schema."""
        return self.properties.schema

    @property
    def inputs(self) -> Tensors:
        """Its input tensors by position."""
        return self.properties.inputs

    @property
    def outputs(self) -> Tensors:
        """Its output tensors by position."""
        return self.properties.outputs

    @property
    def kinds(self) -> tuple[Kinds, Kinds]:
        """The types of its inputs and outputs, as registrations spell them."""
        return self.properties.kinds

    @property
    def descriptor(self) -> Descriptor | None:
        """The node as the linter reads it."""
        return self.properties.descriptor


@dataclass(slots=True, eq=False)
class Body:
    """A graph or subgraph with its nodes in topological order.

    inputs: graph inputs that are not initializers. sizes: number of elements of each initializer, here and in enclosing
    graphs. constants: for each initializer whether it is constant; a graph input of the same name may override it.
    readers: consumers of each value, including implicit ones.
    """

    place: str
    nodes: list[Node] = field(default_factory=list)
    inputs: frozenset[str] = frozenset()
    outputs: frozenset[str] = frozenset()
    sizes: Sizes = field(default_factory=dict)
    constants: Fixed = field(default_factory=dict)
    makers: dict[str, Node] = field(default_factory=dict)
    readers: defaultdict[str, list[Node]] = field(default_factory=partial(defaultdict, list))
    constant_nodes: int = 0


def body_of(source: Source, release: str, imports: Mapping[str, int] | None = None) -> Body:
    """Return the main graph of a model.

    release: the runtime's, which defines its own operators. imports: opsets that override the model's imports.
    """
    return _Reader(source, release, source.model.opset_imports if imports is None else imports).body(
        source.model.graph, "graph", {}, {}, {}
    )


class _Reader:
    def __init__(self, source: Source, release: str, imports: Mapping[str, int]) -> None:
        self.source = source
        self.release = release
        self.imports = imports
        self.model: OnnxModel = source.model
        self.overridable = (self.model.ir_version or 4) >= 4
        self.properties: dict[
            tuple[object, ...], NodeProperties
        ] = {}  # keyed by ids of objects that live as long as the source
        self.derived: dict[TensorDesc, TensorDesc] = {}  # equal types are one object, so that consumers compare equal

    def body(self, graph: OnnxGraph, place: str, sizes: Sizes, outer: Fixed, tensors_by_name: Types) -> Body:
        """Read one graph.

        sizes, outer: initializers of enclosing graphs, and whether they are constant. tensors_by_name: values of
        enclosing graphs whose types follow from their operators alone.
        """
        scope = self.source.scopes.get(id(graph), {})
        names = {info.name for info in graph.inputs}
        counts_by_name = {
            tensor.name: _count(tensor.dims) for tensor in (*graph.initializers, *graph.sparse_initializers)
        }
        known_names: set[str] = set()
        constant_nodes, nodes = 0, []
        for index, node in enumerate(graph.nodes):
            constant = constant_of_node(node) if node.op_type == "Constant" else None
            if constant is not None or (node.op_type == "Constant" and not node.domain and not node.inputs):
                constant_sizes = (constant or scope.get(node.outputs[0], _UNKNOWN)).sizes
                dims = (-1,) if constant_sizes is None else constant_sizes
                counts_by_name[node.outputs[0]] = _count(tuple(size if isinstance(size, int) else -1 for size in dims))
                known_names.add(node.outputs[0])
                constant_nodes += 1
            else:
                nodes.append((index, node))
        fixed = dict.fromkeys(counts_by_name, True) | {
            name: name in known_names for name in counts_by_name if self.overridable and name in names
        }
        body = Body(
            place,
            inputs=frozenset(names - counts_by_name.keys()),
            outputs=frozenset(info.name for info in graph.outputs),
            sizes=ChainMap(counts_by_name, sizes) if sizes else counts_by_name,  # avoids a copy per body
            constants=ChainMap(fixed, outer) if outer else fixed,
            constant_nodes=constant_nodes,
        )
        self._fill(body, order_nodes(nodes), scope, ChainMap({}, tensors_by_name) if tensors_by_name else {})
        return body

    def _fill(self, body: Body, nodes: Sequence[tuple[int, OnnxNode]], scope: Scope, tensors_by_name: Types) -> None:
        readers, makers = body.readers, body.makers
        place, units, known_type = body.place, self.source.units, scope.get
        for row_index, (index, proto) in enumerate(nodes):
            names = proto.inputs
            outputs = proto.outputs
            if tensors_by_name:
                ends = [id(tensors_by_name.get(name) or known_type(name, _UNKNOWN)) if name else 0 for name in names]
                ends += [id(tensors_by_name.get(name) or known_type(name, _UNKNOWN)) if name else 0 for name in outputs]
            else:
                ends = [id(known_type(name, _UNKNOWN)) if name else 0 for name in names]
                ends += [id(known_type(name, _UNKNOWN)) if name else 0 for name in outputs]
            unit = units.get(id(proto))
            descriptor = None if unit is None else unit.descriptor
            # Nodes that share a descriptor have the same operator and attributes.
            proto_key = (
                () if descriptor is not None else (proto.op_type, proto.domain, *map(id, proto.attributes.values()))
            )
            key = (id(descriptor), len(names), *ends, *proto_key)
            equal_node = self.properties.get(key)
            if equal_node is None:
                known_ends = _tensors(names, tensors_by_name, scope), _tensors(outputs, tensors_by_name, scope)
                equal_node = self.properties[key] = self._shared_properties(proto, known_ends, descriptor)
            if equal_node.has_own_type:
                message = zip(outputs, equal_node.outputs, strict=True)
                tensors_by_name.update((name, tensor) for name, tensor in message if tensor is not None)
            node = Node(row_index, f"{place}/{proto.name or label(proto, index)}", proto, equal_node)
            body.nodes.append(node)
            for name in outputs:
                if name:
                    makers[name] = node
            for name in names if len(names) < 2 else dict.fromkeys(names):
                if name:
                    readers[name].append(node)
            if equal_node.graphs:
                self._read_subgraphs(node, body, tensors_by_name, scope)

    def _shared_properties(
        self, proto: OnnxNode, ends: tuple[Tensors, Tensors], descriptor: Descriptor | None
    ) -> NodeProperties:
        """Return the shared properties of equal nodes, from the first of them."""
        inputs, outputs = ends
        imported = self.imports.get(proto.domain)
        opset = opset_meant(proto.domain, proto.op_type, imported, self.release)
        if opset != imported and descriptor is not None:
            descriptor = replace(descriptor, version=str(opset))
        schema = schema_of(proto.domain, proto.op_type, opset, self.release)
        result = any(tensor is not None and tensor.type is None for tensor in outputs)
        if result:
            outputs = tuple(
                [
                    tensor if tensor is None else self.derived.setdefault(tensor, tensor)
                    for tensor in derive_outputs(schema, inputs, outputs)
                ]
            )
        operator = f"{proto.domain}.{proto.op_type}" if proto.domain else proto.op_type
        kinds = _kinds(inputs), _kinds(outputs)
        return NodeProperties(operator, opset, schema, inputs, outputs, kinds, descriptor, result, not proto.plain)

    def _read_subgraphs(self, node: Node, body: Body, types_inside: Types, scope: Scope) -> None:
        bodies = []
        implicit: dict[str, None] = {}
        for name, graph in subgraphs(node.proto):
            inner = self.body(graph, f"{node.path}/{name}", body.sizes, body.constants, types_inside)
            bodies.append(inner)
            own_names = inner.makers.keys() | inner.inputs | {tensor.name for tensor in graph.initializers}
            implicit.update(
                (read_name, None) for read_name in (*inner.readers, *inner.outputs) if read_name not in own_names
            )
        node.bodies, node.implicit = bodies, tuple(implicit)
        node.implicit_kinds = _kinds(_tensors(node.implicit, types_inside, scope))
        for outer_name in implicit:
            reader_nodes = body.readers[outer_name]
            if not reader_nodes or reader_nodes[-1] is not node:
                reader_nodes.append(node)


def _count(dims: tuple[int, ...]) -> int:
    """Return the number of elements; an unknown size counts as large."""
    count = 1
    for size in dims:
        count = min(count * size, 1 << 62) if size >= 0 else 1 << 62
    return count


def _tensors(names: Sequence[str], tensors_by_name: Types, scope: Scope) -> Tensors:
    return tuple([(tensors_by_name.get(name) or scope.get(name, _UNKNOWN)) if name else None for name in names])


def _kinds(tensors: tuple[TensorDesc | None, ...]) -> tuple[str | None, ...]:
    return tuple([None if tensor is None else word(tensor.type) for tensor in tensors])


def derive_outputs(
    schema: Schema | None, inputs: tuple[TensorDesc | None, ...], outputs: tuple[TensorDesc | None, ...]
) -> tuple[TensorDesc | None, ...]:
    """Return outputs with missing types derived from the type variables."""
    if schema is None or not schema.outputs:
        return outputs
    types = [None if tensor is None else tensor.type for tensor in inputs]
    tensors = []
    for index, tensor in enumerate(outputs):
        param = schema.outputs[min(index, len(schema.outputs) - 1)]
        if tensor is None or tensor.type is not None or param.mixed:
            tensors.append(tensor)
            continue
        bound = (
            types[argument_index]
            for is_output, argument_index in schema.bound[param.limited]
            if not is_output and argument_index < len(types)
        )
        kind = param.only or next((kind_name for kind_name in bound if kind_name is not None), None)
        tensors.append(tensor._replace(type=kind) if kind is not None else tensor)
    return tuple(tensors)
