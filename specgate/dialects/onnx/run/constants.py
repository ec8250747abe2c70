"""Constant nodes of a model, which hold a value in one of several attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.dialects.onnx.file.structure import OnnxTensor
from specgate.errors import InputError, NoKernel
from specgate.execution.types import numpy_type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.dialects.onnx.file.structure import OnnxAttribute, OnnxNode
    from specgate.dialects.onnx.run.scope import Scope

__all__ = ["constant_value", "is_constant"]

_CONSTANTS: Final = {
    "value_float": "FLOAT", "value_floats": "FLOAT", "value_int": "INT64", "value_ints": "INT64",
    "value_string": "STRING", "value_strings": "STRING",
}  # fmt: skip


def is_constant(node: OnnxNode) -> bool:
    """Return whether a node holds a value instead of computing one."""
    return node.op_type == "Constant" and not node.domain


def constant_value(scope: Scope, attributes: Mapping[str, OnnxAttribute], outputs: int) -> Any:
    """Return the value that a Constant with these attributes holds; raise InputError or NoKernel."""
    count = len(attributes)
    if count != 1 or outputs != 1:
        raise InputError(f"expected a Constant of one attribute and one output, found {count} attributes")
    ((name, held),) = attributes.items()
    if name in {"value", "sparse_value"} and isinstance(held.value, OnnxTensor):
        return scope.run.constant(held.value, keep=scope.depth > 0)
    kind = _CONSTANTS.get(name)
    if kind is None or held.value is None or held.kind != name.removeprefix("value_").upper():
        raise NoKernel(f"a Constant with the attribute {name!r:.60} of kind {held.kind} is not executed")
    values = held.value
    if kind == "STRING":
        values = [_text(item) for item in values] if isinstance(values, list) else _text(values)
    return np.array(values, numpy_type(scope.run.tables, kind))


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise InputError("expected UTF-8 in a string") from None
