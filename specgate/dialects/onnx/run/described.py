"""Descriptors of the nodes of a model with the values that they are given.

Nodes that are alike share theirs, and with it all that an execution settles: models repeat their layers, and loops
their bodies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.descriptors.core import BodyDesc, TensorDesc
from specgate.descriptors.positional import build
from specgate.dialects.onnx.file.structure import OnnxGraph, OnnxTensor
from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES, attribute_value, operator_name
from specgate.errors import NoKernel
from specgate.execution.containers import type_of
from specgate.spec.tables import on_change

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from specgate.descriptors.core import Descriptor
    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode
    from specgate.dialects.onnx.run.scope import Scope
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.operator_spec import OperatorSpec

    Body = Callable[[Scope, OnnxGraph, Sequence[Any], str], list[Any]]

__all__ = ["described", "table_of"]

#: Descriptors that are remembered, and elements of an attribute from which on one is not.
_REMEMBERED, _LONGEST = 1024, 64
_known: Final[dict[Hashable, Descriptor]] = {}
on_change(_known.clear)


def table_of(tables: Dialect, node: OnnxNode, version: str) -> tuple[OperatorSpec, str]:
    """Return the table that a node is executed by and the version in it: of its operator, or of what replaces it."""
    name = operator_name(node.op_type, node.domain)
    other = tables.tables.about.get("stand_ins", {}).get(name)
    if other is None or (name in tables.tables.operators and version in tables.operator(name).levels):
        return tables.operator(name), version
    spec = tables.operator(other)
    return spec, spec.dialect.levels[-1]


def described(
    scope: Scope,
    node: OnnxNode,
    given: Sequence[Any],
    attributes: Mapping[str, OnnxAttribute],
    place: str,
    body: Body,
) -> Descriptor:
    """Return the descriptor of a node that is given these values; raise NoKernel for what is none.

    body: what computes a subgraph of a scope from the values of its inputs, at a place in the model.
    """
    asked = _Asked(*table_of(scope.run.tables, node, str(scope.imports[node.domain])), node, given, attributes)
    key = _key(asked)
    found = None if key is None else _known.get(key)
    if found is None:
        found = _made(asked, scope, place, body)
        if key is not None:
            if len(_known) >= _REMEMBERED:
                _known.clear()
            _known[key] = found
    return found


class _Asked(NamedTuple):
    """A node with its table, the version in it, the values of its inputs and its attributes as they count there."""

    spec: OperatorSpec
    version: str
    node: OnnxNode
    given: Sequence[Any]
    attributes: Mapping[str, OnnxAttribute]


def _key(asked: _Asked) -> Hashable | None:
    """Return all that a descriptor follows from, None where that is more than types, shapes, numbers and texts."""
    kinds: list[Hashable] = []
    for value in asked.given:
        if value.__class__ is not np.ndarray and value is not None:
            return None
        kinds.append(None if value is None else (value.dtype, value.shape))
    stated: list[Hashable] = []
    for name, held in asked.attributes.items():
        value = _hashable(held.value)
        if value is None:
            return None
        stated.append((name, held.kind, value))
    return asked.spec, asked.version, tuple(kinds), tuple(map(bool, asked.node.outputs)), tuple(stated)


def _hashable(value: Any) -> Hashable | None:
    """Return what is equal for equal values of an attribute only: zeros of both signs differ."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, int | bytes):
        return value
    if isinstance(value, list) and len(value) <= _LONGEST:
        found = tuple(map(_hashable, value))
        return None if None in found else found
    return None


def _made(asked: _Asked, scope: Scope, place: str, body: Body) -> Descriptor:
    spec, version, node, given, attributes = asked
    tensors = [None if value is None else _tensor(value, spec.name, scope.run.tables) for value in given]
    # how many there are is for the kernel to know, and with it whether an older BatchNormalization trains
    stated = [TensorDesc(None, None) if name else None for name in node.outputs]
    plain = {name: _attribute(scope, held, f"{place}/{name}", body) for name, held in attributes.items()}
    kinds = {name: ATTRIBUTE_TYPES[held.kind] for name, held in attributes.items() if held.kind in ATTRIBUTE_TYPES}
    return build(spec, tensors, stated, plain, version=version, convert=attribute_value, kinds=kinds)


def _attribute(scope: Scope, held: OnnxAttribute, place: str, body: Body) -> Any:
    """Return what an attribute holds, also what the structural reader skips; a body as what computes it."""
    if isinstance(held.value, OnnxGraph):
        inputs, outputs = ((TensorDesc(None, None),) * len(infos) for infos in (held.value.inputs, held.value.outputs))
        return BodyDesc(inputs, outputs, lambda values: body(scope, held.value, values, place))
    if held.value is None and held.spans and held.kind in {"FLOATS", "INTS", "STRINGS", "STRING"}:
        return scope.run.weights.listed(held)
    if not isinstance(held.value, OnnxTensor):
        return held.value
    array = scope.run.constant(held.value, keep=scope.depth > 0)
    return TensorDesc(type_of(array, scope.run.tables), array.shape, value=tuple(array.ravel().tolist()))


def _tensor(value: Any, operator: str, tables: Any) -> TensorDesc:
    word = type_of(value, tables)
    if not isinstance(value, np.ndarray):
        return TensorDesc(word, None)
    if word not in tables.types:
        raise NoKernel(f"{operator} has no kernel for elements that numpy has no type for")
    return TensorDesc(word, value.shape)
