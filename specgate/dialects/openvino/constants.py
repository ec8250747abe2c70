"""Values of small Const layers of an OpenVINO IR, read on demand."""

from __future__ import annotations

import stat
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specgate.dialects.openvino.ir import whole_number

if TYPE_CHECKING:
    from io import FileIO
    from typing import Self

    from specgate.dialects.openvino.ir import IrLayer

__all__ = ["Constants"]

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
        self._known: dict[tuple[str, int, bytes], tuple[Any, ...]] = {}

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
        items = self._known.get(key)
        if items is None:
            items = self._known[key] = tuple(_decode(*key))
        return items

    def _read(self, offset: int, size: int, number: int) -> bytes | None:
        """Return the first bytes of a Const, None if it is outside the file."""
        try:
            if self._stream is None:
                self._stream = self._opened()
            if self._stream is None or offset + size > self.size:
                return None
            self._stream.seek(offset)
            return self._stream.read(number)
        except (OSError, ValueError):
            return None

    def _opened(self) -> FileIO | None:
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


def _count(shape: tuple[int, ...] | None, most: int) -> int | None:
    """Return the element count of a static shape, None if above `most`."""
    if shape is None or min(shape, default=0) < 0:
        return None
    count = 0 if 0 in shape else 1
    for size in shape:
        count *= size
        if count > most:
            return None
    return count
