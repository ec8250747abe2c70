"""The values of a small Const of an OpenVINO IR, read from the file of weights on demand."""

from __future__ import annotations

import stat
import struct
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.dialects.openvino.net import whole_number

if TYPE_CHECKING:
    from specgate.dialects.openvino.net import IrLayer, IrModel

__all__ = ["constant_values"]

_CODES = {"i8": "b", "u8": "B", "i16": "h", "u16": "H", "i32": "i", "u32": "I", "i64": "q", "u64": "Q"}
_CODES |= {"boolean": "?", "f16": "e", "bf16": "H", "f32": "f", "f64": "d"}
_BITS = {"u1": 1, "u2": 2, "u4": 4, "i4": 4} | {kind: struct.calcsize(f"<{_CODES[kind]}") * 8 for kind in _CODES}


def constant_values(model: IrModel, layer: IrLayer, limit: int = 4096) -> list[int] | list[float] | list[bool] | None:
    """Return the values of a Const in row-major order, from the .bin file beside the .xml file.

    None if they take more than `limit` bytes, if the file is missing, not regular or too short, or if the element
    type is not decoded (strings, 8-bit and smaller floats, 3 and 6 bits).
    """
    offset, size = (whole_number(layer.data.get(key, "")) for key in ("offset", "size"))
    kind, shape = (layer.outputs[0].element_type, layer.outputs[0].shape) if layer.outputs else (None, None)
    if layer.type != "Const" or model.file is None or kind not in _BITS or offset is None or size is None:
        return None
    count = _count(shape, limit * 8)
    wanted = limit + 1 if count is None else (count * _BITS[kind] + 7) // 8
    if count is None or wanted > min(size, limit):
        return None
    try:
        file = Path(model.file).with_suffix(".bin")
        status = file.stat()
        if not stat.S_ISREG(status.st_mode) or offset + size > status.st_size:
            return None
        with file.open("rb") as stream:
            stream.seek(offset)
            blob = stream.read(wanted)
    except (OSError, ValueError):
        return None
    return _decode(kind, count, blob) if len(blob) == wanted else None


def _decode(kind: str, count: int, blob: bytes) -> list[int] | list[float] | list[bool]:
    if kind == "bf16":  # the upper half of a float32
        halves = struct.unpack(f"<{count}H", blob)
        return list(struct.unpack(f"<{count}f", struct.pack(f"<{count}I", *(half << 16 for half in halves))))
    if kind in _CODES:
        return list(struct.unpack(f"<{count}{_CODES[kind]}", blob))
    bits = _BITS[kind]
    shifts = range(7, -1, -1) if kind == "u1" else range(0, 8, bits)  # only single bits start at the high end
    values = [byte >> shift & (1 << bits) - 1 for byte in blob for shift in shifts][:count]
    return [value - 16 if kind == "i4" and value > 7 else value for value in values]


def _count(shape: tuple[int, ...] | None, most: int) -> int | None:
    """Elements of a static shape; None if unknown or more than `most`."""
    if shape is None or min(shape, default=0) < 0:
        return None
    count = 0 if 0 in shape else 1
    for size in shape:
        count *= size
        if count > most:
            return None
    return count
