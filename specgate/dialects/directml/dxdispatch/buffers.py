"""DxDispatch buffers: bytes, tensors in them, and printed elements."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.descriptors.core import format_value
from specgate.descriptors.files import size_in_folder, unusable_location
from specgate.dialects.directml.vocabulary import minimum_size
from specgate.errors import InputError
from specgate.execution.types import gather, numpy_type, scatter
from specgate.rules.functions import extent, overlapping
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from specgate.descriptors.core import TensorDesc
    from specgate.dialects.directml.dxdispatch.model import DxResource

#: Buffers with more elements are not printed.
MAX_PRINTED: Final = 1_000_000


def format_buffer(buffer: Buffer, verbose: bool) -> str:
    """Return the initialized elements in DxDispatch's print format.

    The format is C++'s default with 6 significant digits; 8-bit integers are printed as numbers. verbose: one line per
    element with its index and bits.
    """
    if buffer.type is None:
        raise InputError("a buffer of mixed types cannot be printed")
    values = buffer.values(buffer.initialised)
    text = [_number(value) for value in values[:MAX_PRINTED]]
    if verbose:
        width, digits = len(str(values.size)), values.itemsize * 2
        bits = values[:MAX_PRINTED].view(f"u{values.itemsize}")
        text = [f"[{i:{width}}] {value} (0x{int(bits[i]):{digits}X})" for i, value in enumerate(text)]
    if values.size > MAX_PRINTED:
        text.append(f"… ({values.size} elements)")
    return ("\n" if verbose else ", ").join(text)


def _number(value: Any) -> str:
    if value.dtype.kind in "iu":
        return str(value)
    return "nan" if np.isnan(value) else f"{float(value):g}"


_IMAGES: Final = (".jpg", ".jpeg", ".png")


@dataclass(slots=True)
class Buffer:
    """A resource's bytes.

    data: the whole buffer, its size a multiple of 4. type: the short name of the element type, None for mixed types.
    initialised: the number of bytes with initial values, which are printed. declared: the number of bytes that the file
    requests.
    """

    data: NDArray[np.uint8]
    type: str | None
    initialised: int
    declared: int

    def values(self, size: int) -> NDArray[Any]:
        """Return a copy of the elements in `size` bytes; mixed types as bytes."""
        if self.type is None:
            return self.data[:size].copy()
        dtype = _dtype(self.type)
        return _view_elements(self.data[: size // dtype.itemsize * dtype.itemsize], dtype).copy()


def _dtype(name: str) -> np.dtype[Any]:
    return numpy_type(dialect("directml"), name)


def _view_elements(data: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """View little-endian bytes as elements in native byte order."""
    view: NDArray[Any] = data.view(dtype.newbyteorder("<"))
    return view.astype(dtype, copy=False)


@dataclass(slots=True)
class Plan:
    """A buffer before allocation.

    whole: its size in bytes. size: the bytes of its initial content, which `content` returns.
    """

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


def plan_buffer(resource: DxResource, folder: str, place: str, budget: int, *, read_outside: bool = False) -> Plan:
    """Return how a resource's buffer is made; raise InputError above `budget` bytes.

    folder: where a relative sourcePath begins, and where its file must be unless `read_outside` is set; then the
    current folder is searched as well, as in DxDispatch. FLOAT16 values are rounded toward zero, as in DxDispatch.
    """
    if resource.extra.get("initialValuesOffsetInBytes"):
        raise InputError("initialValuesOffsetInBytes is not supported, and DxDispatch itself ignores it", place=place)
    count, kind, make_content = _content(resource, folder, place, budget, read_outside=read_outside)
    dtype = np.dtype(np.uint8) if kind is None else _dtype(kind)
    size = count * dtype.itemsize
    declared_size = size if resource.size_in_bytes is None else resource.size_in_bytes
    if declared_size < size:
        raise InputError(f"sizeInBytes is {declared_size}, but the initial values need {size} bytes", place=place)
    padded_size = (declared_size + 3) // 4 * 4
    if padded_size > budget:
        raise InputError(f"needs {padded_size} bytes, but only {budget} bytes of the limit are left", place=place)
    return Plan(kind, size, declared_size, padded_size, make_content)


def _content(
    resource: DxResource, folder: str, place: str, budget: int, *, read_outside: bool
) -> tuple[int, str | None, Callable[[], NDArray[Any]]]:
    """Return the number of elements, their type, and a content function.

    Mixed types count in bytes. The content function returns all elements or a single one to repeat.
    """
    initial, kind = resource.initial, resource.data_type
    if resource.kind == "deferred":
        raise InputError(
            "deferred initial values come from an ONNX model, which specgate does not run here", place=place
        )
    if resource.kind == "file":
        path = _source_path(initial["sourcePath"], folder, place, read_outside=read_outside)
        return _file_content(path, kind, place, budget)
    if resource.kind == "list":
        parts = [_numbers([e["value"]], e["type"].removeprefix("DML_TENSOR_DATA_TYPE_")) for e in initial]
        joined = b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)
        return len(joined), None, lambda: np.frombuffer(joined, np.uint8)
    assert kind is not None  # required by the reader  # noqa: S101
    if resource.kind == "array":
        return len(initial), kind, lambda: _numbers(initial, kind)
    count = initial["valueCount"]
    if resource.kind == "constant":
        return count, kind, lambda: _numbers([initial["value"]], kind)
    return count, kind, lambda: _sequence(_numbers([initial["valueStart"], initial["valueDelta"]], kind), count)


def _numbers(values: Sequence[Any], kind: str) -> NDArray[Any]:
    if not kind.startswith("FLOAT"):
        return np.array(values, _dtype(kind))
    wide_values = np.array([float(value) for value in values], np.float64)
    with np.errstate(over="ignore"):
        return (
            _truncate_to_half(wide_values.astype(np.float32)) if kind == "FLOAT16" else wide_values.astype(_dtype(kind))
        )


def _truncate_to_half(values: NDArray[np.float32]) -> NDArray[np.float16]:
    """Round float32 toward zero to float16; 65536 and above become infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = values.astype(np.float16)
        too_far = (np.abs(rounded.astype(np.float32)) > np.abs(values)) & (np.abs(values) < 65536)
        result: NDArray[np.float16] = np.where(too_far, np.nextafter(rounded, np.float16(0)), rounded)
        return result


def _sequence(start_and_delta: NDArray[Any], count: int) -> NDArray[Any]:
    """Return the sequence, accumulated in the element type.

    Rounding errors accumulate and integers wrap, as in DxDispatch.
    """
    start, delta = start_and_delta[:1], start_and_delta[1:]
    result = np.repeat(delta, count)
    result[:1] = start
    with np.errstate(all="ignore"):
        if result.dtype != np.float16:
            return np.add.accumulate(result, dtype=result.dtype, out=result)
        for index in range(1, count):  # repeats after at most 65536 values
            start, before = _truncate_to_half(start.astype(np.float32) + delta.astype(np.float32)), start
            result[index] = start[0]
            if start[0] == before[0] or np.isnan(start[0]):
                result[index:] = start
                break
    return result


def _source_path(source: str, folder: str, place: str, *, read_outside: bool) -> str:
    """Return the path of a sourcePath; raise InputError if it is outside the folder and that is not allowed."""
    if source.lower().endswith(_IMAGES):
        raise InputError(f"images are not read; expected .npy or raw bytes, found {source!r:.80}", place=place)
    path = Path(folder, source)
    if read_outside:
        return str(path) if "\0" not in source and path.exists() else source
    problem = unusable_location(source)
    if problem is None and isinstance(size := size_in_folder(folder, source), str):
        problem = f"{format_value(source)}, which {size}"
    if problem is not None:
        message = f"cannot be read: sourcePath is {problem}; --read-outside allows files outside of the model's folder"
        raise InputError(message, place=place)
    return str(path)


def _file_content(
    path: str, kind: str | None, place: str, budget: int
) -> tuple[int, str | None, Callable[[], NDArray[Any]]]:
    try:
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
        raise InputError(f"cannot be read: {reason}", file=path[:200], place=place) from None
    if kind is None:
        raise InputError("raw bytes need an initialValuesDataType", file=path, place=place)
    dtype = _dtype(kind)
    if data.size == 0 or data.size % dtype.itemsize:
        raise InputError(f"holds {data.size} bytes, expected one or more elements of {kind}", file=path, place=place)
    return data.size // dtype.itemsize, kind, lambda: _view_elements(data, dtype)


def _npy_content(path: str, kind: str | None, place: str) -> tuple[int, str | None, Callable[[], NDArray[Any]]]:
    try:
        array = np.lib.format.open_memmap(path, mode="r")  # the header has the size before any data is read
    except Exception as error:  # noqa: BLE001  # a wrong header raises whatever ast and tokenize raise
        message = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"cannot be read as an .npy file: {message:.120}", file=path, place=place) from None
    if array.ndim > 1 and np.isfortran(array):
        raise InputError("expected an array in C order, found Fortran order", file=path, place=place)
    dtype = np.dtype(np.uint8) if array.dtype == np.bool_ else array.dtype.newbyteorder("=")
    bits_by_type = dialect("directml").bits
    text = next((n for n, bits in bits_by_type.items() if bits and bits >= 8 and _dtype(n) == dtype), None)
    if text is None or (kind is not None and kind != text):
        raise InputError(f"holds {array.dtype}, expected {kind or 'a DirectML type'}", file=path, place=place)
    if array.size == 0:
        raise InputError("expected at least one value", file=path, place=place)
    return array.size, text, lambda: np.array(array.reshape(-1), dtype)


def needed_bytes(tensor: TensorDesc, place: str) -> int:
    """Return a tensor's size in bytes.

    TotalTensorSizeInBytes if present, else the extent of its sizes and strides.
    """
    sizes = _sizes(tensor, place)
    if tensor.strides is not None and len(tensor.strides) != len(sizes):
        raise InputError(f"has {len(tensor.strides)} strides for {len(sizes)} sizes", place=place)
    least = minimum_size(_bits(tensor, place), sizes, tensor.strides)
    declared_size = least if tensor.size_in_bytes is None else tensor.size_in_bytes
    if declared_size < least:
        raise InputError(f"needs {least} bytes, but {declared_size} are declared", place=place)
    return declared_size


def _sizes(tensor: TensorDesc, place: str) -> tuple[int, ...]:
    sizes = tuple(size for size in tensor.sizes or () if isinstance(size, int))
    if tensor.sizes is None or len(sizes) != len(tensor.sizes):
        raise InputError("every size must be known to lay the tensor out in a buffer", place=place)
    return sizes


def _bits(tensor: TensorDesc, place: str) -> int:
    bits = dialect("directml").bits.get(tensor.type or "")
    if bits is None:
        raise InputError(f"{tensor.type} is not a type with values", place=place)
    return bits


def gather_tensor(data: NDArray[np.uint8], tensor: TensorDesc, place: str, max_bytes: int) -> NDArray[Any]:
    """Return a tensor's logical array from the bytes of a buffer.

    The tensor starts at the first byte; `data` has at least `needed_bytes` bytes. Strides of 0 make the array larger
    than its buffer; raises InputError above `max_bytes`.
    """
    sizes = _sizes(tensor, place)
    dtype = _dtype(str(tensor.type))
    if prod(sizes) * dtype.itemsize > max_bytes:
        raise InputError(f"has {prod(sizes)} elements, more than the limit of {max_bytes} bytes", place=place)
    elements = _elements(data, tensor, sizes, place)
    return gather(elements, sizes, tensor.strides).copy()


def scatter_tensor(array: NDArray[Any], data: NDArray[np.uint8], tensor: TensorDesc, place: str) -> int:
    """Write a logical array to a buffer; return the count of masked elements.

    Masked elements, and bytes between and after the elements, keep their values.
    """
    sizes = _sizes(tensor, place)
    if overlapping(sizes, tensor.strides):
        raise InputError(f"the strides {list(tensor.strides or ())} let elements of an output overlap", place=place)
    elements = _elements(data, tensor, sizes, place).copy()  # includes the gaps, which are written back unchanged
    undefined_mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    plain_array = np.ma.getdata(array)
    if undefined_mask is not None:
        plain_array = np.where(undefined_mask, gather(elements, sizes, tensor.strides), plain_array)
    scatter(plain_array, elements, tensor.strides)
    if _bits(tensor, place) == 4:
        _pack(elements, data)
    else:
        data[: elements.nbytes].view(elements.dtype.newbyteorder("<"))[...] = elements
    return 0 if undefined_mask is None else int(np.count_nonzero(undefined_mask))


def _elements(data: NDArray[np.uint8], tensor: TensorDesc, sizes: tuple[int, ...], place: str) -> NDArray[Any]:
    """Return the elements from first to last with gaps; 4-bit ones copied."""
    count, bits, dtype = extent(sizes, tensor.strides), _bits(tensor, place), _dtype(str(tensor.type))
    if bits != 4:
        return _view_elements(data[: count * dtype.itemsize], dtype)
    packed = data[: (count + 1) // 2]
    nibbles = np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)[:count]
    if dtype.kind == "u":
        return nibbles
    return (nibbles.astype(np.int8) ^ 8) - np.int8(8)


def _pack(elements: NDArray[Any], data: NDArray[np.uint8]) -> None:
    """Write 4-bit elements, low half first; an unused high half is kept."""
    nibbles = elements.view(np.uint8) & 15
    low, high = nibbles[::2], nibbles[1::2]
    data[: low.size] = (data[: low.size] & 0xF0) | low
    data[: high.size] = (data[: high.size] & 0x0F) | (high << 4)
