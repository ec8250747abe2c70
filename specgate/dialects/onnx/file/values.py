"""Decoder of ONNX tensor elements, from raw_data or the typed fields.

Layouts and small floats: onnx/onnx.proto and docs/docsgen/source/technical/float8.md, float4.md in onnx 1.23.2. Tests
compare the results with onnx.numpy_helper and ml_dtypes.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

__all__ = ["CODES", "SMALL_FLOATS", "SUB_BYTE", "decode", "padding"]

# struct codes of the types in raw_data; types that are not listed are stored as bytes, packed or not.
CODES = {
    "FLOAT": "f",
    "INT8": "b",
    "UINT16": "H",
    "INT16": "h",
    "INT32": "i",
    "INT64": "q",
    "BOOL": "?",
    "FLOAT16": "e",
    "DOUBLE": "d",
    "UINT32": "I",
    "UINT64": "Q",
    "COMPLEX64": "f",
    "COMPLEX128": "d",
    "BFLOAT16": "H",
}
#: Bits per element of packed types; the first element is in the lowest bits.
SUB_BYTE = {"UINT4": 4, "INT4": 4, "FLOAT4E2M1": 4, "UINT2": 2, "INT2": 2, "FLOAT6E2M3": 6, "FLOAT6E3M2": 6}
#: Exponent bits, mantissa bits, exponent bias, and which codes are not finite numbers.
SMALL_FLOATS = {
    "FLOAT8E4M3FN": (4, 3, 7, "nan at the end"),
    "FLOAT8E4M3FNUZ": (4, 3, 8, "nan for -0"),
    "FLOAT8E5M2": (5, 2, 15, "ieee"),
    "FLOAT8E5M2FNUZ": (5, 2, 16, "nan for -0"),
    "FLOAT4E2M1": (2, 1, 1, "all finite"),
    "FLOAT6E2M3": (2, 3, 1, "all finite"),
    "FLOAT6E3M2": (3, 2, 3, "all finite"),
}
_BYTES = {"UINT8", "FLOAT8E8M0", *SMALL_FLOATS, *SUB_BYTE}


def decode(elem_type: str, data: bytes | list[Any]) -> list[Any] | None:
    """Return elements as int, float, bool or complex, or None.

    Packed types give as many elements as the bytes hold, padding included. None if the type is unknown, or if the data
    is not a whole number of elements.
    """
    if elem_type in _BYTES:
        return _of_bytes(elem_type, data)
    code = CODES.get(elem_type)
    if code is None:
        return None
    width = struct.calcsize(code)
    if isinstance(data, bytes):
        raw = data
    elif code in "fd":
        raw = struct.pack(f"<{len(data)}{code}", *data)
    else:  # integers and bit patterns; int32_data may hold extra high bits
        raw = b"".join((item & (1 << 8 * width) - 1).to_bytes(width, "little") for item in data)
    if len(raw) % width:
        return None
    values = list(struct.unpack(f"<{len(raw) // width}{code}", raw))
    if elem_type == "BFLOAT16":
        return list(struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}I", *(v << 16 for v in values))))
    if elem_type in {"COMPLEX64", "COMPLEX128"}:
        pairs = zip(values[::2], values[1::2], strict=False)
        return None if len(values) % 2 else [complex(*pair) for pair in pairs]
    return values


def padding(elem_type: str, data: bytes | list[Any]) -> int:
    """Return the maximum number of padding elements in the last byte."""
    bits = SUB_BYTE.get(elem_type, 8)
    return 0 if bits == 6 and not isinstance(data, bytes) else (8 - (bits & -bits)) // bits


def _of_bytes(elem_type: str, data: bytes | list[Any]) -> list[Any]:
    codes = list(data) if isinstance(data, bytes) else [item & 255 for item in data]
    bits = SUB_BYTE.get(elem_type, 8)
    if bits == 6 and not isinstance(data, bytes):  # the only packed type that int32_data stores unpacked
        codes = [item & 63 for item in codes]
    elif bits < 8:
        stream = int.from_bytes(bytes(codes), "little")
        count = len(codes) * 8 // bits
        codes = [stream >> shift & (1 << bits) - 1 for shift in range(0, count * bits, bits)]
    if elem_type in {"INT4", "INT2"}:
        sign = 1 << bits - 1
        return [(code ^ sign) - sign for code in codes]
    if elem_type in {"UINT8", "UINT4", "UINT2"}:
        return codes
    table = _floats(elem_type)
    return [table[code] for code in codes]


@cache
def _floats(elem_type: str) -> list[float]:
    """Return the value of each code of a small float type."""
    if elem_type == "FLOAT8E8M0":  # only an exponent
        return [2.0 ** (code - 127) for code in range(255)] + [float("nan")]
    exponent_bits, mantissa_bits, bias, special = SMALL_FLOATS[elem_type]
    positive = [_number(code, mantissa_bits, bias) for code in range(1 << exponent_bits + mantissa_bits)]
    if special == "ieee":
        first = len(positive) - (1 << mantissa_bits)
        positive[first:] = [float("inf"), *[float("nan")] * ((1 << mantissa_bits) - 1)]
    elif special == "nan at the end":
        positive[-1] = float("nan")
    negative = [-value for value in positive]
    if special == "nan for -0":
        negative[0] = float("nan")
    return positive + negative


def _number(code: int, mantissa_bits: int, bias: int) -> float:
    exponent, mantissa = divmod(code, 1 << mantissa_bits)
    if exponent == 0:
        return float(2.0 ** (1 - bias) * mantissa / (1 << mantissa_bits))
    return float(2.0 ** (exponent - bias) * (1 + mantissa / (1 << mantissa_bits)))
