"""Minimum IR version of a model, by the format features it uses.

Source: the comments on the versions in onnx/onnx.proto of onnx 1.23.2. Documentation, metadata and devices do not
count, because they have no effect on the model and older readers skip them.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from specgate.dialects.onnx.file.structure import OnnxTensor, OnnxType
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxGraph, OnnxModel, OnnxNode

_IMPORTS: Final = 3
#: Since this version an initializer that is also an input is a default value; before, initializers are constant.
_INITIALIZERS: Final = 4
_QUANTIZATION: Final = 5
_SPARSE_VERSION: Final = 6
_TRAINING: Final = 7
_FUNCTIONS: Final = 8
_DEFAULTS: Final = 9  # defaults of function attributes
_OVERLOADS: Final = 10
_OPAQUE: Final = 14
#: Kinds of types and attributes; all others exist since IR version 3. Element types are in the tables.
_KINDS: Final = {
    "sparse_tensor": 8, "optional": 8, "opaque": _OPAQUE,
    "SPARSE_TENSOR": _SPARSE_VERSION, "SPARSE_TENSORS": _SPARSE_VERSION, "TYPE_PROTO": 8, "TYPE_PROTOS": 8,
}  # fmt: skip


def needed_ir_version(model: OnnxModel) -> int:
    """Return the lowest IR version that supports the model, operators aside."""
    numbers = [_IMPORTS, *_graph_versions(model.graph)]
    numbers += [_TRAINING] * bool(model.training) + [_FUNCTIONS] * bool(model.functions)
    for graph in chain.from_iterable(model.training):
        numbers += _graph_versions(graph)
    for function in model.functions:
        numbers += [_DEFAULTS] * bool(function.attribute_protos) + [_OVERLOADS] * bool(function.overload)
        numbers += chain(_node_versions(function.nodes), *(_type_versions(info.type) for info in function.value_infos))
        numbers += chain.from_iterable(map(_attribute_versions, function.attribute_protos))
    return max(numbers)


def _graph_versions(graph: OnnxGraph) -> Iterator[int]:
    if graph.initializers:
        yield _INITIALIZERS
    if graph.quantization:
        yield _QUANTIZATION
    if graph.sparse_initializers:
        yield _SPARSE_VERSION
    for tensor in (*graph.initializers, *graph.sparse_initializers):
        yield _element_version(tensor.elem_type)
    for info in (*graph.inputs, *graph.outputs, *graph.value_infos):
        yield from _type_versions(info.type)
    yield from _node_versions(graph.nodes)


def _node_versions(nodes: Iterable[OnnxNode]) -> Iterator[int]:
    for node in nodes:
        if node.overload:
            yield _OVERLOADS
        for attribute in node.attributes.values():
            if not attribute.plain:
                yield from _attribute_versions(attribute)


def _attribute_versions(attribute: OnnxAttribute) -> Iterator[int]:
    yield _KINDS.get(attribute.kind, _IMPORTS)
    for result in attribute.value if isinstance(attribute.value, list) else [attribute.value]:
        if isinstance(result, OnnxTensor):
            yield _element_version(result.elem_type)
        elif isinstance(result, OnnxType):
            yield from _type_versions(result)
        elif hasattr(result, "nodes"):
            yield from _graph_versions(result)


def _type_versions(kind: OnnxType | None) -> Iterator[int]:
    while kind is not None:
        yield _KINDS.get(kind.kind, _IMPORTS)
        yield _element_version(kind.elem_type)
        kind = kind.inner


def _element_version(kind: str | None) -> int:
    entry = dialect("onnx").types.get(kind or "")
    return _IMPORTS if entry is None else max(_IMPORTS, entry.get("ir_version", _IMPORTS))
