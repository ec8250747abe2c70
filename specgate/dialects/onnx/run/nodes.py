"""Descriptors and execution of nodes with actual values.

Equivalent nodes share a descriptor and its cached execution plan, because models repeat layers and loops repeat bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.core import BodyDesc, TensorDesc
from specgate.descriptors.positional import build
from specgate.descriptors.text import plain_name
from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor
from specgate.dialects.onnx.lint.units import function_key, label, subgraphs
from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES, attribute_value, operator_name
from specgate.dialects.onnx.run.flow import FLOW, Flow, Scope
from specgate.dialects.onnx.run.weights import constant_value, is_constant
from specgate.errors import InputError, NoKernel
from specgate.execution.comparison import arrays_by_name, at_node, at_place
from specgate.execution.containers import type_of
from specgate.execution.undefined import is_undefined, mask_undefined_outputs
from specgate.spec.tables import on_change

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxFunction, OnnxNode
    from specgate.dialects.onnx.run.flow import Run
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec

    Body = Callable[[Scope, OnnxGraph, Sequence[Any], str], list[Any]]

#: Cache size for descriptors, and the attribute length above which a descriptor is not cached.
_MAX_CACHED, _MAX_CACHED_LENGTH = 1024, 64
_descriptors: Final[dict[Hashable, Descriptor]] = {}
on_change(_descriptors.clear)


def table_of(tables: Dialect, node: OnnxNode, version: str) -> tuple[OperatorSpec, str]:
    """Return the table and version that execute a node.

    The table is the operator's, or its stand-in's.
    """
    name = operator_name(node.op_type, node.domain)
    other = tables.tables.about.get("stand_ins", {}).get(name)
    if other is None or (name in tables.tables.operators and version in tables.operator(name).levels):
        return tables.operator(name), version
    spec = tables.operator(other)
    return spec, spec.dialect.levels[-1]


def describe_node(
    scope: Scope,
    node: OnnxNode,
    items: Sequence[Any],
    attributes: Mapping[str, OnnxAttribute],
    place: str,
    body: Body,
) -> Descriptor:
    """Return the descriptor of a node with these inputs; NoKernel if none.

    body: computes a subgraph from the values of its inputs, at a path in the model.
    """
    result = _Call(*table_of(scope.run.tables, node, str(scope.imports[node.domain])), node, items, attributes)
    key = _key(result)
    descriptor = None if key is None else _descriptors.get(key)
    if descriptor is None:
        descriptor = _build_descriptor(result, scope, place, body)
        if key is not None:
            if len(_descriptors) >= _MAX_CACHED:
                _descriptors.clear()
            _descriptors[key] = descriptor
    return descriptor


class _Call(NamedTuple):
    """A node with its table, version, input values and resolved attributes."""

    spec: OperatorSpec
    version: str
    node: OnnxNode
    values: Sequence[Any]
    attributes: Mapping[str, OnnxAttribute]


def _key(result: _Call) -> Hashable | None:
    """Return a cache key for a descriptor, or None.

    None if the descriptor depends on more than types, shapes, numbers and strings.
    """
    kinds: list[Hashable] = []
    for value in result.values:
        if value.__class__ is not np.ndarray and value is not None:
            return None
        kinds.append(None if value is None else (value.dtype, value.shape))
    key_parts: list[Hashable] = []
    for name, attribute in result.attributes.items():
        value = _hashable(attribute.value)
        if value is None:
            return None
        key_parts.append((name, attribute.kind, value))
    return result.spec, result.version, tuple(kinds), tuple(map(bool, result.node.outputs)), tuple(key_parts)


def _hashable(value: Any) -> Hashable | None:
    """Return a hashable attribute value; zeros of different sign differ."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, int | bytes):
        return value
    if isinstance(value, list) and len(value) <= _MAX_CACHED_LENGTH:
        hashables = tuple(map(_hashable, value))
        return None if None in hashables else hashables
    return None


def _build_descriptor(result: _Call, scope: Scope, place: str, body: Body) -> Descriptor:
    spec, version, node, items, attributes = result
    tensors = [None if value is None else _tensor(value, spec.name, scope.run.tables) for value in items]
    # The kernel needs the number of outputs. For an old BatchNormalization it decides whether the node trains.
    undeclared = [TensorDesc(None, None) if name else None for name in node.outputs]
    plain_attributes = {
        name: _attribute(scope, attribute, f"{place}/{name}", body) for name, attribute in attributes.items()
    }
    kinds = {
        name: ATTRIBUTE_TYPES[attribute.kind]
        for name, attribute in attributes.items()
        if attribute.kind in ATTRIBUTE_TYPES
    }
    return build(spec, tensors, undeclared, plain_attributes, version=version, convert=attribute_value, kinds=kinds)


def _attribute(scope: Scope, attribute: OnnxAttribute, place: str, body: Body) -> Any:
    """Return an attribute's value, even if skipped by the reader.

    A body becomes a function that computes it.
    """
    if isinstance(attribute.value, OnnxGraph):
        inputs, outputs = (
            (TensorDesc(None, None),) * len(infos) for infos in (attribute.value.inputs, attribute.value.outputs)
        )
        return BodyDesc(inputs, outputs, lambda values: body(scope, attribute.value, values, place))
    if attribute.value is None and attribute.spans and attribute.kind in {"FLOATS", "INTS", "STRINGS", "STRING"}:
        return scope.run.weights.read_elements(attribute)
    if not isinstance(attribute.value, OnnxTensor):
        return attribute.value
    array = scope.run.constant(attribute.value, keep_cached=scope.depth > 0)
    return TensorDesc(type_of(array, scope.run.tables), array.shape, value=tuple(array.ravel().tolist()))


def _tensor(value: Any, operator: str, tables: Any) -> TensorDesc:
    word = type_of(value, tables)
    if not isinstance(value, np.ndarray):
        return TensorDesc(word, None)
    if word not in tables.types:
        raise NoKernel(f"{operator} is not implemented for element types without a numpy type")
    return TensorDesc(word, value.shape)


def label_of(node: OnnxNode, index: int) -> str:
    """Return a node's label for messages: its name, or index and operator."""
    return f"node {node.name[:60]!r}" if node.name else f"node[{index}] {plain_name(node.op_type)}"


def check_early(run: Run, nodes: Sequence[OnnxNode], imports: Mapping[str, int], visited: set[int]) -> None:
    """Raise errors that are known without values, including in bodies.

    These are missing opset imports, tables and kernels. visited: ids of the functions that were already checked.
    """
    for index, node in enumerate(nodes):
        with at_node(label_of(node, index), run.path):
            function = _called_function(run, node)
            if node.domain not in imports and function is None:
                raise InputError(f"the model imports no opset of the domain {node.domain or 'ai.onnx'!r:.60}")
            if node.duplicates:
                raise InputError(f"the attribute {node.duplicates[0]!r:.60} occurs twice")
            if function is not None:
                if id(function) not in visited:
                    visited.add(id(function))
                    check_early(run, function.nodes, function.opset_imports, visited)
                continue
            if is_constant(node):
                continue
            _require_kernel(run, node, imports)
            for _, graph in subgraphs(node):
                check_early(run, graph.nodes, imports, visited)


def _require_kernel(run: Run, node: OnnxNode, imports: Mapping[str, int]) -> None:
    spec, version = table_of(run.tables, node, str(imports.get(node.domain)))
    if (node.domain, node.op_type) in FLOW:
        return
    has_kernel = spec.has_kernel(version) if version in spec.dialect.levels else spec.table.recipe is not None
    if not has_kernel:
        raise NoKernel(f"{run.tables.name} {spec.name} is not implemented")
    texts = [] if spec.table.recipe is None else spec.table.recipe.get("arguments", {}).values()
    for name, attribute in node.attributes.items():
        if attribute.kind in {"GRAPH", "GRAPHS"} and name not in texts:
            raise NoKernel(f"the attribute {name!r:.60} has a subgraph, which {spec.name} does not support")


def _called_function(run: Run, node: OnnxNode) -> OnnxFunction | None:
    return run.functions.get(function_key(node)) if run.functions else None


def execute_nodes(scope: Scope) -> None:
    """Execute the nodes of a scope in order.

    Raises InputError, NoKernel or NoTable, which name the node.
    """
    run = scope.run
    scope.drop(-1, list(scope.values))
    for index, node in enumerate(scope.nodes):
        with at_node(label_of(node, index), run.path):
            results = _results(scope, node, f"{scope.place}/{label(node, index)}")
            for name, value in zip(node.outputs, results, strict=False):
                if name:
                    scope.set_value(name, value)
            scope.drop(index, (*node.inputs, *node.outputs, *_free(node)))
        if run.step is not None and scope.depth == 0:
            run.step(index + 1)


def _free(node: OnnxNode) -> Sequence[str]:
    """Return the names that a node's bodies may read from the outer scope."""
    texts: list[str] = []
    waiting = [graph for _, graph in subgraphs(node)]
    while waiting:
        graph = waiting.pop()
        for inner in graph.nodes:
            texts += inner.inputs
            waiting += (graph for _, graph in subgraphs(inner))
        texts += (info.name for info in graph.outputs)
    return texts


def _results(scope: Scope, node: OnnxNode, place: str) -> Sequence[Any]:
    attributes = _attributes(scope, node)
    if is_constant(node):
        return [constant_value(scope, attributes, len(node.outputs))]
    function = _called_function(scope.run, node)
    flow = function is None and (node.domain, node.op_type) in FLOW
    items = [(_input_value if flow else Scope.read)(scope, name) if name else None for name in node.inputs]
    if function is not None:
        return _call(scope, node, function, items, attributes, place)
    if flow:
        return _with_bodies(scope, node, items, attributes, place)
    return _compute_node(scope, node, items, attributes, place)


def _input_value(scope: Scope, name: str) -> Any:
    value = scope.read(name)
    if is_undefined(value):
        raise _undefined_error(name)
    return value


def _undefined_error(name: str) -> InputError:
    return InputError(f"reads {name!r:.60}, which has undefined elements")


def _attributes(scope: Scope, node: OnnxNode) -> Mapping[str, OnnxAttribute]:
    """Return a node's attributes with function references resolved.

    References to attributes that the call does not set are omitted.
    """
    if all(attribute.ref_attr_name is None for attribute in node.attributes.values()):
        return node.attributes
    attributes_by_name: dict[str, OnnxAttribute] = {}
    for name, attribute in node.attributes.items():
        if attribute.ref_attr_name is None:
            attributes_by_name[name] = attribute
        elif scope.attributes is None:
            raise InputError(f"the attribute {name!r:.60} references a function attribute outside a function")
        elif (known_attribute := scope.attributes.get(attribute.ref_attr_name)) is not None:
            attributes_by_name[name] = known_attribute
    return attributes_by_name


def _call(
    scope: Scope,
    node: OnnxNode,
    function: OnnxFunction,
    items: Sequence[Any],
    attributes: Mapping[str, OnnxAttribute],
    place: str,
) -> list[Any]:
    """Execute the body of a local function."""
    key = function_key(function)
    if key in scope.calls:
        raise InputError(f"the function {function.name!r:.60} calls itself")
    if len(items) > len(function.inputs) or len(node.outputs) > len(function.outputs):
        counts = f"{len(function.inputs)} inputs and {len(function.outputs)} outputs"
        raise InputError(f"the function {function.name!r:.60} has {counts}, the node {len(items)}, {len(node.outputs)}")
    attributes_by_name = {attribute.name: attribute for attribute in function.attribute_protos} | dict(attributes)
    inner = Scope(
        scope.run, function.nodes, function.opset_imports, place, attributes=attributes_by_name,
        kept_names=function.outputs, calls=(*scope.calls, key), depth=scope.depth + 1,
    )  # fmt: skip
    try:
        for name, value in zip(function.inputs, items, strict=False):
            if value is not None:
                inner.set_value(name, value)
        execute_nodes(inner)
        return [inner.read(name) if text else None for name, text in zip(function.outputs, node.outputs)]  # noqa: B905
    finally:
        inner.close()


def _with_bodies(
    scope: Scope, node: OnnxNode, items: Sequence[Any], attributes: Mapping[str, OnnxAttribute], place: str
) -> Sequence[Any]:
    spec = scope.run.tables.operator(operator_name(node.op_type, node.domain))
    version = scope.imports[node.domain]
    if str(version) not in spec.levels:
        raise InputError(f"{spec.name} does not exist at {spec.dialect.label(str(version))}")
    plain_attributes = {
        name: attribute.value for name, attribute in attributes.items() if attribute.kind not in {"GRAPH", "GRAPHS"}
    }
    graphs = {name: attribute.value for name, attribute in attributes.items() if attribute.kind == "GRAPH"}
    for name, info in spec.fields_at(str(version)).items():
        if info.type == "graph" and graphs.get(name) is None:
            raise InputError(f"{name} is required, but missing from the node")

    def body(name: str, values: Sequence[Any]) -> list[Any]:
        with at_place(name):
            return _body(scope, graphs[name], values, f"{place}/{name}")

    outputs = {name: graph.outputs for name, graph in graphs.items()}
    results = FLOW[node.domain, node.op_type](Flow(scope.run, outputs, body, items, plain_attributes, version))
    if len(results) < len(node.outputs):
        raise InputError(f"has {len(node.outputs)} outputs, its subgraphs produce {len(results)}")
    return results


def _body(scope: Scope, graph: OnnxGraph, values: Sequence[Any], place: str) -> list[Any]:
    """Execute a subgraph with the values of its inputs."""
    if len(values) != len(graph.inputs):
        raise InputError(f"expected a body of {len(values)} inputs, found {len(graph.inputs)}")
    inner = Scope(
        scope.run, graph.nodes, scope.imports, place, outer=scope, attributes=scope.attributes, calls=scope.calls,
        kept_names=(info.name for info in graph.outputs), depth=scope.depth + 1,
    )  # fmt: skip
    try:
        inner.tensors = {tensor.name: tensor for tensor in (*graph.initializers, *graph.sparse_initializers)}
        for info, value in zip(graph.inputs, values, strict=True):
            inner.set_value(info.name, value)
        execute_nodes(inner)
        return [_input_value(inner, info.name) for info in graph.outputs]
    finally:
        inner.close()


def _compute_node(
    scope: Scope, node: OnnxNode, items: Sequence[Any], attributes: Mapping[str, OnnxAttribute], place: str
) -> list[Any]:
    """Compute a node by its kernel; omitted outputs may be missing."""
    run = scope.run
    descriptor = describe_node(scope, node, items, attributes, place, _body)
    if descriptor.oddities:
        raise InputError(descriptor.oddities[0].message)
    spec, version = run.tables.operator(descriptor.operator), str(descriptor.version)
    layout, is_variadic = spec.layout(version), spec.several_at(version)
    if len(node.outputs) > len(layout.outputs) and not is_variadic:
        raise InputError(f"has {len(node.outputs)} outputsbut {spec.name} has at most {len(layout.outputs)}")
    arrays = arrays_by_name(layout.inputs, items)
    if unknown := [name for name, value in zip(node.inputs, items, strict=True) if is_undefined(value)]:
        outputs = mask_undefined_outputs(
            spec, version, arrays, lambda filled_inputs: run.evaluate(descriptor, filled_inputs, place),
            lambda marks: run.execute(descriptor, marks),
        )  # fmt: skip
        if outputs is None:
            raise _undefined_error(unknown[0])
        results = outputs
    else:
        results = run.evaluate(descriptor, arrays, place)
    if is_variadic:
        return [part for info in layout.outputs for part in results[info.name]]
    for info, name in zip(layout.outputs, node.outputs, strict=False):
        if name and info.name not in results:
            raise NoKernel(f"the kernel of {spec.name} does not compute {info.name}")
    return [results.get(info.name) for info in layout.outputs[: len(node.outputs)]]
