"""Numbers of descriptors as members of structures.

Values that do not fit raise InputError with the field.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import shown
from specgate.dialects.directml.native.abi import abi
from specgate.errors import InputError

if TYPE_CHECKING:
    from specgate.dialects.directml.native.abi import Member

__all__ = ["SCALARS", "enum_number", "integer", "number", "real", "scalar"]

_NUMBERS: Final = {"uint": (0, 2**32 - 1), "int": (-(2**31), 2**31 - 1), "bool": (0, 1)}
SCALARS: Final = {
    "FLOAT32": "f", "FLOAT16": "e", "FLOAT64": "d", "UINT32": "I", "UINT16": "H", "UINT8": "B", "UINT64": "Q",
    "INT32": "i", "INT16": "h", "INT8": "b", "INT64": "q", "UINT4": "B", "INT4": "b",
}  # fmt: skip


def enum_number(enum: str, value: Any, place: str) -> int:
    """Return an enum value's number from its short or long name.

    Numbers are accepted even if the enum does not define them.
    """
    if isinstance(value, str):
        known = abi().enums[enum]
        short = value.removeprefix(f"DML_{enum}_")
        if short not in known:
            raise InputError(f"{shown(value)} is not a DML_{enum}; expected one of {', '.join(known)}", place=place)
        return known[short]
    return integer("uint", value, place)


def number(member: Member, value: Any, place: str) -> float:
    """Return the value of a 32-bit member."""
    if member.base == "enum":
        return enum_number(member.of or "", value, place)
    if member.base == "float":
        return real(value, place)
    return integer(member.base, value, place)


def integer(kind: str, value: Any, place: str) -> int:
    """Return a uint, int or bool; raise InputError out of range."""
    low, high = _NUMBERS[kind]
    if not isinstance(value, int) or (isinstance(value, bool) and kind != "bool") or not low <= value <= high:
        raise InputError(f"expected an integer from {low} to {high}, found {shown(value)}", place=place)
    return int(value)


def real(value: Any, place: str, code: str = "f") -> float:
    """Return a number that packs as `code`; overflow becomes infinity."""
    if isinstance(value, str) and value.lower() in {"nan", "inf", "-inf"}:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"expected a number, found {shown(value)}", place=place)
    try:
        number = float(value)
        struct.pack(f"<{code}", number)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return number


def scalar(value: Any, kind: Any, place: str) -> bytes:
    """Return the 8 bytes of a DML_SCALAR_UNION.

    Accepts a number, or a dict with one member of the union.
    """
    if isinstance(kind, int):
        kind = next((word for word, number in abi().enums["TENSOR_DATA_TYPE"].items() if number == kind), "")
    word = kind.removeprefix("DML_TENSOR_DATA_TYPE_") if isinstance(kind, str) else ""
    code = SCALARS.get(word, "Q")
    if isinstance(value, dict) and len(value) == 1:
        (value,) = value.values()
    if code in "fed":
        value = real(value, place, code)
    try:
        return struct.pack(f"<{code}", value).ljust(8, b"\0")
    except struct.error:
        raise InputError(f"expected a number of the type {shown(kind)}, found {shown(value)}", place=place) from None
