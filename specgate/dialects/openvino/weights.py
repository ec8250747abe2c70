"""Constants of an OpenVINO IR, and packing of elements below one byte."""

from __future__ import annotations

import stat
import struct
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.descriptors.core import format_value
from specgate.dialects.openvino.ir import whole_number
from specgate.errors import InputError
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from io import FileIO
    from typing import Self

    from numpy.typing import NDArray

    from specgate.dialects.openvino.ir import IrLayer

_CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}
_CODES |= {"boolean": "?", "f16": "e", "bf16": "H", "f32": "f", "f64": "d"}
_BITS = {"u1": 1, "u2": 2, "u4": 4, "i4": 4} | {kind: struct.calcsize(f"<{_CODES[kind]}") * 8 for kind in _CODES}


class Constants:
    """Reader of small Const values from the .bin file next to a model.

    The file is opened on first use. file: the model's path, or None for a model read from memory, which has no values.
    Use it in a `with` statement.
    """

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.size = 0
        self._stream: FileIO | None = None
        self._arrays: dict[tuple[str, int, bytes], tuple[Any, ...]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()
        self._stream, self.file = None, None

    def values(self, layer: IrLayer, limit: int = 4096) -> tuple[Any, ...] | None:
        """Return the values of a Const in row-major order, or None.

        Equal values are the same tuple. None if they need more than `limit` bytes, if the file is missing, not regular
        or too short, or if the element type is not decoded (strings, 8-bit and smaller floats, 3 and 6 bits).
        """
        offset, size = (whole_number(layer.data.get(key, "")) for key in ("offset", "size"))
        kind, shape = (layer.outputs[0].element_type, layer.outputs[0].shape) if layer.outputs else (None, None)
        if layer.type != "Const" or kind not in _BITS or offset is None or size is None:
            return None
        count = _count(shape, limit * 8)
        number = limit + 1 if count is None else (count * _BITS[kind] + 7) // 8
        if count is None or number > min(size, limit):
            return None
        blob = self._read(offset, size, number)
        if blob is None or len(blob) != number:
            return None
        key = kind, count, blob
        items = self._arrays.get(key)
        if items is None:
            items = self._arrays[key] = tuple(_decode(*key))
        return items

    def _read(self, offset: int, size: int, number: int) -> bytes | None:
        """Return the first bytes of a Const, None if it is outside the file."""
        try:
            if self._stream is None:
                self._stream = self._open_file()
            if self._stream is None or offset + size > self.size:
                return None
            self._stream.seek(offset)
            return self._stream.read(number)
        except (OSError, ValueError):
            return None

    def _open_file(self) -> FileIO | None:
        if self.file is None:
            return None
        file, self.file = Path(self.file).with_suffix(".bin"), None  # try once only
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):  # before opening, because opening a pipe blocks
            return None
        self.size = status.st_size
        return file.open("rb", buffering=0)


def _decode(kind: str, count: int, blob: bytes) -> list[int] | list[float] | list[bool]:
    if kind == "bf16":  # upper half of a float32
        halves = struct.unpack(f"<{count}H", blob)
        return list(struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(half << 16 for half in halves))))
    if kind in _CODES:
        return list(struct.unpack(f"<{count}{_CODES[kind]}", blob))
    bits = _BITS[kind]
    shifts = range(7, -1, -1) if kind == "u1" else range(0, 8, bits)  # only u1 starts at the high bit
    values = [byte >> shift & (1 << bits) - 1 for byte in blob for shift in shifts][:count]
    return [value - 16 if kind == "i4" and value > 7 else value for value in values]


def _count(shape: tuple[int, ...] | None, limit: int) -> int | None:
    """Return the element count of a static shape, None if above `limit`."""
    if shape is None or min(shape, default=0) < 0:
        return None
    count = 0 if 0 in shape else 1
    for size in shape:
        count *= size
        if count > limit:
            return None
    return count


def packed_size(count: int, bits: int) -> int:
    """Return the bytes of `count` packed elements.

    bits: bits per element, a divisor or a multiple of 8.
    """
    return -(-count * bits // 8)


def unpack_bits(blob: bytes, count: int, dtype: np.dtype[Any], bits: int) -> NDArray[Any]:
    """Unpack `count` elements of 1, 2 or 4 bits, one per byte of `dtype`."""
    shifts = _shifts(bits)
    codes = np.frombuffer(blob, np.uint8)[: packed_size(count, bits), np.newaxis] >> shifts
    return (codes.reshape(-1)[:count] & np.uint8(2**bits - 1)).view(dtype)


def pack_bits(array: NDArray[Any], bits: int) -> bytes:
    """Pack elements of 1, 2 or 4 bits, stored one per byte.

    Unused bits are 0.
    """
    values_per_byte = 8 // bits
    codes = np.zeros(-(-array.size // values_per_byte) * values_per_byte, np.uint8)
    codes[: array.size] = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & np.uint8(2**bits - 1)
    joined: NDArray[Any] = np.bitwise_or.reduce(codes.reshape(-1, values_per_byte) << _shifts(bits), axis=1)
    return joined.astype(np.uint8).tobytes()


def _shifts(bits: int) -> NDArray[np.uint8]:
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return shifts[::-1] if bits == 1 else shifts


class Weights:
    """Reader of constants of the model at `path`."""

    def __init__(self, path: str) -> None:
        self.path = Path(path).with_suffix(".bin")

    def array(self, layer: IrLayer, left: int) -> NDArray[Any]:
        """Return the array of a Const of at most `left` bytes.

        Raises InputError, or NoKernel for a type that numpy does not support.
        """
        tables, port = dialect("openvino"), layer.outputs[0] if layer.outputs else None
        kind, shape = (port.element_type, port.shape) if port else (None, None)
        offset, size = (whole_number(layer.data.get(key, "")) for key in ("offset", "size"))
        if kind not in tables.types or shape is None or min(shape, default=0) < 0 or offset is None or size is None:
            raise InputError("expected a Const with element_type, shape, offset and size")
        if kind == "string":
            return self._strings(self._read(offset, size, left), shape)
        dtype, count = numpy_type(tables, kind), prod(shape)
        bits = min(tables.bits[kind] or 8, dtype.itemsize * 8)  # booleans are stored as bytes
        needed_bytes = packed_size(count, bits)
        if needed_bytes > size:
            raise InputError(f"{kind} of {list(shape)} needs {needed_bytes} bytes, but the Const has {size}")
        flat = self._elements(self._read(offset, needed_bytes, left), count, dtype, bits, left)
        try:
            return flat.reshape(shape)
        except ValueError:  # numpy limits the rank
            raise InputError(f"a Const of {len(shape)} dimensions cannot be stored as an array") from None

    def _elements(self, blob: bytes, count: int, dtype: np.dtype[Any], bits: int, left: int) -> NDArray[Any]:
        if bits < 8:
            if 2 * count > left:  # packed and unpacked bytes
                raise InputError(f"a Const needs {2 * count} bytes, but only {left} of the limit are left")
            return unpack_bits(blob, count, dtype, bits)
        flat = np.frombuffer(blob, np.uint8 if dtype == np.bool_ else dtype.newbyteorder("<"))
        return flat.astype(dtype, copy=False)

    def _read(self, offset: int, needed_bytes: int, left: int) -> bytes:
        if needed_bytes > left:
            raise InputError(f"a Const needs {needed_bytes} bytes, but only {left} of the limit are left")
        name = format_value(self.path.name)
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"expected the weights in a regular file {name}")
            if offset + needed_bytes > status.st_size:
                raise InputError(f"ends at byte {offset + needed_bytes} of {name}, which has {status.st_size} bytes")
            with self.path.open("rb") as file:
                file.seek(offset)
                return file.read(needed_bytes)
        except OSError as error:
            raise InputError(f"its bytes are in {name}, which cannot be read: {error.strerror}") from None

    def _strings(self, blob: bytes, shape: tuple[int, ...]) -> NDArray[Any]:
        """Decode strings.

        The bytes are the count, the begin of each string and the end of the last one as u32, then the characters.
        """
        count = prod(shape)
        if len(blob) < 4 * (count + 2) or int.from_bytes(blob[:4], "little") != count:
            raise InputError(f"expected {count} strings in the bytes of the Const")
        ends = np.frombuffer(blob, "<u4", count + 1, 4)
        texts = np.empty(count, object)
        try:
            for index in range(count):
                texts[index] = blob[4 * (count + 2) :][ends[index] : ends[index + 1]].decode()
        except UnicodeDecodeError:
            raise InputError("expected UTF-8 in a Const of strings") from None
        return texts.reshape(shape)
