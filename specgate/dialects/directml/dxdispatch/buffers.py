"""Buffers as DxDispatch has them: bytes with an initial content, and tensors laid out in them by sizes and strides."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.dialects.directml.vocabulary import minimum_size
from specgate.errors import InputError
from specgate.execution.types import gather, numpy_type, scatter
from specgate.rules.primitives import extent, overlapping
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.directml.dxdispatch.model import DxResource

__all__ = ["Buffer", "Plan", "gather_tensor", "needed_bytes", "plan_buffer", "scatter_tensor"]

_IMAGES: Final = (".jpg", ".jpeg", ".png")


@dataclass(slots=True)
class Buffer:
    """A resource's bytes. data: the whole buffer, its size a multiple of 4.

    type: the short name of its elements' type, None for mixed ones. initialised: how many bytes had initial values;
    they are what is printed. declared: how many bytes the file asks for.
    """

    data: NDArray[np.uint8]
    type: str | None
    initialised: int
    declared: int

    def values(self, size: int) -> NDArray[Any]:
        """Return a copy of the elements in the first `size` bytes; bytes where they are of mixed types."""
        if self.type is None:
            return self.data[:size].copy()
        dtype = _dtype(self.type)
        return _typed(self.data[: size // dtype.itemsize * dtype.itemsize], dtype).copy()


def _dtype(name: str) -> np.dtype[Any]:
    return numpy_type(dialect("directml"), name)


def _typed(data: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """View bytes as little-endian elements, in the machine's own order."""
    view: NDArray[Any] = data.view(dtype.newbyteorder("<"))
    return view.astype(dtype, copy=False)


@dataclass(slots=True)
class Plan:
    """A buffer that is not made yet. whole: its bytes. size: of its initial content, which `content` makes."""

    type: str | None
    size: int
    declared: int
    whole: int
    content: Callable[[], NDArray[Any]]

    def make(self) -> Buffer:
        """Return the buffer with its initial content."""
        dtype = np.dtype(np.uint8) if self.type is None else _dtype(self.type)
        data = np.zeros(self.whole, np.uint8)
        data[: self.size].view(dtype.newbyteorder("<"))[...] = self.content()
        return Buffer(data, self.type, self.size, self.declared)


def plan_buffer(resource: DxResource, folders: Sequence[str], place: str, budget: int) -> Plan:
    """Return how a resource's buffer is made; raise InputError above `budget` bytes.

    folders: where a relative sourcePath is looked for, in order. FLOAT16 values are rounded toward zero, as in
    DxDispatch.
    """
    if resource.extra.get("initialValuesOffsetInBytes"):
        raise InputError("an initialValuesOffsetInBytes is not supported; DxDispatch itself ignores it", place=place)
    count, kind, make = _content(resource, folders, place, budget)
    dtype = np.dtype(np.uint8) if kind is None else _dtype(kind)
    size = count * dtype.itemsize
    declared = size if resource.size_in_bytes is None else resource.size_in_bytes
    if declared < size:
        raise InputError(f"sizeInBytes is {declared}, but the initial values take {size} bytes", place=place)
    whole = (declared + 3) // 4 * 4
    if whole > budget:
        raise InputError(f"needs {whole} bytes, more than the {budget} that are left of the limit", place=place)
    return Plan(kind, size, declared, whole, make)


def _content(
    resource: DxResource, folders: Sequence[str], place: str, budget: int
) -> tuple[int, str | None, Callable[[], NDArray[Any]]]:
    """Return how many elements (of mixed types: bytes) there are, their type, and what makes all of them, or one."""
    initial, kind = resource.initial, resource.data_type
    if resource.kind == "deferred":
        raise InputError("deferred initial values come from running an ONNX model, which is not done here", place=place)
    if resource.kind == "file":
        return _file_content(initial["sourcePath"], kind, folders, place, budget)
    if resource.kind == "list":
        parts = [_numbers([e["value"]], e["type"].removeprefix("DML_TENSOR_DATA_TYPE_")) for e in initial]
        joined = b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)
        return len(joined), None, lambda: np.frombuffer(joined, np.uint8)
    assert kind is not None  # the reader asks for it  # noqa: S101
    if resource.kind == "array":
        return len(initial), kind, lambda: _numbers(initial, kind)
    count = initial["valueCount"]
    if resource.kind == "constant":
        return count, kind, lambda: _numbers([initial["value"]], kind)
    return count, kind, lambda: _sequence(_numbers([initial["valueStart"], initial["valueDelta"]], kind), count)


def _numbers(values: Sequence[Any], kind: str) -> NDArray[Any]:
    if not kind.startswith("FLOAT"):
        return np.array(values, _dtype(kind))
    wide = np.array([float(value) for value in values], np.float64)
    with np.errstate(over="ignore"):
        return _half(wide.astype(np.float32)) if kind == "FLOAT16" else wide.astype(_dtype(kind))


def _half(values: NDArray[np.float32]) -> NDArray[np.float16]:
    """Round float32 toward zero to float16; what is 65536 or more becomes infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        near = values.astype(np.float16)
        too_far = (np.abs(near.astype(np.float32)) > np.abs(values)) & (np.abs(values) < 65536)
        result: NDArray[np.float16] = np.where(too_far, np.nextafter(near, np.float16(0)), near)
        return result


def _sequence(start_and_delta: NDArray[Any], count: int) -> NDArray[Any]:
    """Add the delta again and again in the elements' own type, so that roundings add up and integers wrap."""
    start, delta = start_and_delta[:1], start_and_delta[1:]
    result = np.repeat(delta, count)
    result[:1] = start
    with np.errstate(all="ignore"):
        if result.dtype != np.float16:
            return np.add.accumulate(result, dtype=result.dtype, out=result)
        for at in range(1, count):  # ends at the latest when all 65536 values of the type have been passed
            start, before = _half(start.astype(np.float32) + delta.astype(np.float32)), start
            result[at] = start[0]
            if start[0] == before[0] or np.isnan(start[0]):
                result[at:] = start
                break
    return result


def _file_content(
    source: str, kind: str | None, folders: Sequence[str], place: str, budget: int
) -> tuple[int, str | None, Callable[[], NDArray[Any]]]:
    if source.lower().endswith(_IMAGES):
        raise InputError(f"images are not read; expected .npy or raw bytes, found {source!r:.80}", place=place)
    try:
        path = next((str(p) for p in (Path(folder, source) for folder in folders) if p.exists()), source)
        state = Path(path).stat()
        if not stat.S_ISREG(state.st_mode):
            raise InputError("expected a regular file", file=path, place=place)
        if state.st_size > budget:
            raise InputError(f"expected at most {budget} bytes, found {state.st_size}", file=path, place=place)
        if path.lower().endswith(".npy"):
            return _npy_content(path, kind, place)
        data = np.fromfile(path, np.uint8)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot be read: {reason}", file=source[:200], place=place) from None
    if kind is None:
        raise InputError("raw bytes need an initialValuesDataType", file=path, place=place)
    dtype = _dtype(kind)
    if data.size == 0 or data.size % dtype.itemsize:
        raise InputError(f"holds {data.size} bytes, expected one or more elements of {kind}", file=path, place=place)
    return data.size // dtype.itemsize, kind, lambda: _typed(data, dtype)


def _npy_content(path: str, kind: str | None, place: str) -> tuple[int, str | None, Callable[[], NDArray[Any]]]:
    try:
        array = np.lib.format.open_memmap(path, mode="r")  # the header says how much there is before it is read
    except Exception as error:  # noqa: BLE001  # a wrong header raises whatever ast and tokenize raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot be read as an .npy file: {message:.120}", file=path, place=place) from None
    if array.ndim > 1 and np.isfortran(array):
        raise InputError("expected an array in C order, found Fortran order", file=path, place=place)
    dtype = np.dtype(np.uint8) if array.dtype == np.bool_ else array.dtype.newbyteorder("=")
    known = dialect("directml").bits
    text = next((n for n, bits in known.items() if bits and bits >= 8 and _dtype(n) == dtype), None)
    if text is None or (kind is not None and kind != text):
        raise InputError(f"holds {array.dtype}, expected {kind or 'a DirectML type'}", file=path, place=place)
    if array.size == 0:
        raise InputError("expected at least one value", file=path, place=place)
    return array.size, text, lambda: np.array(array.reshape(-1), dtype)


def needed_bytes(tensor: TensorDesc, place: str) -> int:
    """Return how many bytes a tensor takes: TotalTensorSizeInBytes, else what its sizes and strides reach."""
    sizes = _sizes(tensor, place)
    if tensor.strides is not None and len(tensor.strides) != len(sizes):
        raise InputError(f"has {len(tensor.strides)} strides for {len(sizes)} sizes", place=place)
    least = minimum_size(_bits(tensor, place), sizes, tensor.strides)
    declared = least if tensor.size_in_bytes is None else tensor.size_in_bytes
    if declared < least:
        raise InputError(f"needs {least} bytes, but {declared} are declared", place=place)
    return declared


def _sizes(tensor: TensorDesc, place: str) -> tuple[int, ...]:
    sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
    if tensor.sizes is None or len(sizes) != len(tensor.sizes):
        raise InputError("every size must be known to lay the tensor out in a buffer", place=place)
    return sizes


def _bits(tensor: TensorDesc, place: str) -> int:
    bits = dialect("directml").bits.get(tensor.type or "")
    if bits is None:
        raise InputError(f"{tensor.type} is no type that holds values", place=place)
    return bits


def gather_tensor(data: NDArray[np.uint8], tensor: TensorDesc, place: str, max_bytes: int) -> NDArray[Any]:
    """Return a tensor's logical array, read from the bytes of a buffer that begin with it.

    The bytes must be as many as `needed_bytes` at least. Strides of 0 make it larger than its buffer: InputError above
    `max_bytes`.
    """
    sizes = _sizes(tensor, place)
    dtype = _dtype(str(tensor.type))
    if prod(sizes) * dtype.itemsize > max_bytes:
        raise InputError(f"has {prod(sizes)} elements, more than the limit of {max_bytes} bytes", place=place)
    elements = _elements(data, tensor, sizes, place)
    return gather(elements, sizes, tensor.strides).copy()


def scatter_tensor(array: NDArray[Any], data: NDArray[np.uint8], tensor: TensorDesc, place: str) -> int:
    """Write a logical array where a tensor lies in a buffer's bytes; return how many elements are undefined (masked).

    Undefined elements, and bytes between and after the elements, keep what they held.
    """
    sizes = _sizes(tensor, place)
    if overlapping(sizes, tensor.strides):
        raise InputError(f"the strides {list(tensor.strides or ())} let elements of an output overlap", place=place)
    elements = _elements(data, tensor, sizes, place).copy()  # with the gaps, which are written back as they were
    undefined = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    plain = np.ma.getdata(array)
    if undefined is not None:
        plain = np.where(undefined, gather(elements, sizes, tensor.strides), plain)
    scatter(plain, elements, tensor.strides)
    if _bits(tensor, place) == 4:
        _pack(elements, data)
    else:
        data[: elements.nbytes].view(elements.dtype.newbyteorder("<"))[...] = elements
    return 0 if undefined is None else int(np.count_nonzero(undefined))


def _elements(data: NDArray[np.uint8], tensor: TensorDesc, sizes: tuple[int, ...], place: str) -> NDArray[Any]:
    """The elements from a tensor's first to its last, those in the gaps included; of 4-bit types a copy."""
    count, bits, dtype = extent(sizes, tensor.strides), _bits(tensor, place), _dtype(str(tensor.type))
    if bits != 4:
        return _typed(data[: count * dtype.itemsize], dtype)
    packed = data[: (count + 1) // 2]
    nibbles = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)[:count]
    if dtype.kind == "u":
        return nibbles
    return (nibbles.astype(np.int8) ^ 8) - np.int8(8)


def _pack(elements: NDArray[Any], data: NDArray[np.uint8]) -> None:
    """Write 4-bit elements, the first in the low half of its byte; the last high half keeps its bits if left over."""
    nibbles = elements.view(np.uint8) & 15
    low, high = nibbles[::2], nibbles[1::2]
    data[: low.size] = (data[: low.size] & 0xF0) | low
    data[: high.size] = (data[: high.size] & 0x0F) | (high << 4)
