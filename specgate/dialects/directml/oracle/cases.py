"""Test cases for builds: descriptors with inputs, and arrays as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.descriptors.core import TensorDesc
from specgate.dialects.directml.dxdispatch.buffers import gather_tensor, needed_bytes
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.reader import read_tensor
from specgate.errors import InputError
from specgate.execution.types import as_array, gather, numpy_type, scatter
from specgate.oracles.cases import inputs_of
from specgate.rules.functions import extent
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor

#: The limit of the total size of a descriptor's tensors.
MAX_BYTES = 2**28
_OWNED_BY_DML = 1  # DML_TENSOR_FLAG_OWNED_BY_DML


class Bound(NamedTuple):
    """One tensor in binding order.

    position: the index in an array of tensors, else None. tensor: None for an omitted optional one. size: in bytes, 0
    if omitted.
    """

    field: str
    position: int | None
    tensor: TensorDesc | None
    size: int

    @property
    def place(self) -> str:
        return self.field if self.position is None else f"{self.field}[{self.position}]"

    @property
    def owned(self) -> bool:
        """Return whether DirectML owns it from initialization on."""
        return self.tensor is not None and bool((self.tensor.flags or 0) & _OWNED_BY_DML)


def bound_tensors(operator: str, fields: Mapping[str, Any], kind: str) -> list[Bound]:
    """Return an operator's tensors of a kind in DirectML's binding order.

    kind: ``input`` or ``output``. Raises InputError for a tensor without a valid size, and above MAX_BYTES.
    """
    bounds: list[Bound] = []
    for member in abi().structure(operator).members:
        value = fields.get(member.name)
        if member.base != kind:
            continue
        if member.count is None:
            bounds.append(_bind_tensor(member.name, None, value))
        else:
            bounds += [_bind_tensor(member.name, index, item) for index, item in enumerate(value or ())]
    total = sum(bound.size for bound in bounds)
    if total > MAX_BYTES:
        raise InputError(f"the {kind}s need {total} bytes, more than the limit of {MAX_BYTES}")
    return bounds


def _bind_tensor(field: str, index: int | None, value: Any) -> Bound:
    bound = Bound(field, index, None, 0)
    if value is None:
        return bound
    tensor = value if isinstance(value, TensorDesc) else read_tensor(value, bound.place)
    size = -(-needed_bytes(tensor, bound.place) // 4) * 4  # bindings have a multiple of 4 bytes
    if tensor.known_elements > MAX_BYTES or size > MAX_BYTES:
        raise InputError(f"needs more than {MAX_BYTES} bytes", place=bound.place)
    return bound._replace(tensor=tensor, size=size)


def input_bytes(inputs: Sequence[Bound], arrays: Mapping[str, Any], fill: int) -> bytes:
    """Return the concatenated bytes of all bound inputs.

    arrays: logical arrays by field name, a list for an array of tensors. fill: a byte for the gaps between elements.
    Raises InputError for missing and extra arrays, and for wrong types and shapes.
    """
    entries = dict(arrays)
    parts = []
    for bound in inputs:
        if bound.tensor is None:
            continue
        value = entries.get(bound.field)
        if bound.position is not None and value is not None:
            value = value[bound.position] if isinstance(value, list | tuple) and bound.position < len(value) else None
        if value is None:
            raise InputError("no array for this input", place=bound.place)
        parts.append(pack_array(value, bound.tensor, bound.size, fill, bound.place).tobytes())
    unknown = sorted(set(entries) - {bound_input.field for bound_input in inputs if bound_input.tensor is not None})
    if unknown:
        raise InputError(f"{unknown[0]!r:.60} is not an input of this descriptor")
    return b"".join(parts)


def pack_array(value: Any, tensor: TensorDesc, size: int, fill: int, place: str) -> NDArray[np.uint8]:
    """Return the bytes of a logical array; gaps have the byte `fill`.

    Raises InputError if elements that share memory differ.
    """
    sizes, dtype = _shape(tensor), _dtype(tensor)
    array = as_array(value, dtype, sizes, place)
    if unpack_array(array, tensor, place).tobytes() != array.tobytes():
        raise InputError("elements at the same memory location (by strides) differ", place=place)
    data = np.full(size, fill, np.uint8)
    count = extent(sizes, tensor.strides)
    if _bits(tensor) == 4:
        nibbles = np.full(count, fill & 15, np.uint8)
        scatter(array.view(np.uint8) & 15, nibbles, tensor.strides)
        low, high = nibbles[::2], nibbles[1::2]
        data[: low.size] = (data[: low.size] & 0xF0) | low
        data[: high.size] = (data[: high.size] & 0x0F) | (high << 4)
    else:
        scatter(array, data[: count * dtype.itemsize].view(dtype), tensor.strides)
    return data


def unpack_array(value: Any, tensor: TensorDesc, place: str) -> NDArray[Any]:
    """Return an array as read back from a buffer with shared elements."""
    elements = np.zeros(extent(_shape(tensor), tensor.strides), _dtype(tensor))
    scatter(as_array(value, _dtype(tensor), _shape(tensor), place), elements, tensor.strides)
    return gather(elements, _shape(tensor), tensor.strides)


def output_arrays(outputs: Sequence[Bound], first: bytes, second: bytes) -> dict[str, Any]:
    """Return the outputs by field name from two dispatches.

    The buffers had different contents before each dispatch. Elements that differ between the two were not written and
    are masked.
    """
    entries: dict[str, Any] = {}
    offset = 0
    for bound in outputs:
        if bound.tensor is None:
            continue
        part = slice(offset, offset + bound.size)
        offset += bound.size
        array = _mask_differences(*(_logical(data[part], bound) for data in (first, second)))
        if bound.position is None:
            entries[bound.field] = array
        else:
            entries.setdefault(bound.field, []).append(array)
    return entries


def _logical(data: bytes, bound: Bound) -> NDArray[Any]:
    assert bound.tensor is not None  # checked by the caller  # noqa: S101
    return gather_tensor(np.frombuffer(data, np.uint8), bound.tensor, bound.place, MAX_BYTES)


def _mask_differences(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    bits = f"u{first.dtype.itemsize}"
    is_different = first.view(bits) != second.view(bits)
    return np.ma.MaskedArray(first, mask=is_different) if is_different.any() else first


def _shape(tensor: TensorDesc) -> tuple[int, ...]:
    return tuple(size for size in tensor.sizes or () if isinstance(size, int))


def _dtype(tensor: TensorDesc) -> np.dtype[Any]:
    return numpy_type(dialect("directml"), str(tensor.type))


def _bits(tensor: TensorDesc) -> int:
    return dialect("directml").bits.get(tensor.type or "") or 8


def laid_out(descriptor: Descriptor, arrays: dict[str, Any]) -> dict[str, Any]:
    """Return the arrays as a build reads them: shared elements are equal."""
    entries = dict(arrays)
    for name, value in inputs_of(descriptor):
        if name in entries:
            is_tensor = isinstance(value, TensorDesc)
            pairs = [(entries[name], value)] if is_tensor else list(zip(entries[name], value, strict=True))
            read_values = [unpack_array(array, tensor, name) for array, tensor in pairs]
            entries[name] = read_values[0] if is_tensor else read_values
    return entries
