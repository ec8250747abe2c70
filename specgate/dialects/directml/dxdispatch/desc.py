"""DxDispatch's changes to a descriptor: defaults and omitted tensors.

Source: microsoft/DirectML at a9614e82, DxDispatch/src/model/JsonParsers.cpp (ParseDmlBufferTensorDesc,
ParseDmlScalarUnion) and JsonParsersGenerated.cpp (fused operators). A single descriptor is validated unchanged.
"""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from specgate.spec.fields import FieldInfo

__all__ = ["as_dispatched", "bind_points"]


def as_dispatched(descriptor: Descriptor) -> Descriptor:
    """Return the description that DxDispatch passes to DirectML.

    It drops empty Strides, computes a TotalTensorSizeInBytes of 0, omits the tensors of fused operators, and rounds
    FLOAT16 scalars toward zero. Returns the same object if nothing changes.
    """
    fields = _normal_fields(descriptor)
    return descriptor if fields == descriptor.fields else replace(descriptor, fields=fields)


def bind_points(descriptor: Descriptor, kind: str) -> dict[str, list[TensorDesc]]:
    """Return a descriptor's tensors by field; arrays keep their order.

    kind: input or output.
    """
    tensors_by_name: dict[str, list[TensorDesc]] = {}
    for info in dialect("directml").operator(descriptor.operator).fields.values():
        value = descriptor.fields.get(info.name)
        if info.kind == kind and value is not None:
            tensors_by_name[info.name] = [value] if isinstance(value, TensorDesc) else list(value)
    return tensors_by_name


def _normal_fields(descriptor: Descriptor) -> dict[str, Any]:
    infos = dialect("directml").operator(descriptor.operator).fields
    return {name: _value(value, infos[name], descriptor) for name, value in descriptor.fields.items()}


def _value(value: Any, info: FieldInfo, of: Descriptor) -> Any:
    if isinstance(value, list | tuple) and not isinstance(value, TensorDesc):
        return [_value(item, info, of) for item in value] if info.type in {"tensor[]", "operator[]"} else value
    if isinstance(value, TensorDesc):
        return value._replace(strides=value.strides or None, size_in_bytes=value.size_in_bytes or None)
    if isinstance(value, Descriptor):
        infos = dialect("directml").operator(value.operator).fields
        return replace(
            value, fields={n: part for n, part in _normal_fields(value).items() if infos[n].kind == "attribute"}
        )
    if info.type_from is not None and of.fields.get(info.type_from) == "FLOAT16":
        return _half(value)
    return value


def _half(value: float) -> float:
    """Round to float32, then toward zero to float16; 65536 becomes infinite."""
    if not math.isfinite(value):
        return value
    try:
        (single,) = struct.unpack("<f", struct.pack("<f", value))
        (near,) = struct.unpack("<e", struct.pack("<e", single))
    except OverflowError:
        near = 65504.0 if abs(value) < 65536 else math.inf
        return math.copysign(near, value)
    if abs(near) > abs(single):
        (bits,) = struct.unpack("<H", struct.pack("<e", near))
        (near,) = struct.unpack("<e", struct.pack("<H", bits - 1))
    return float(near)
