"""DML_SCALAR_UNION in DxDispatch's JSON: an object with one member.

Source: microsoft/DirectML at a9614e82, DxDispatch/src/model/JsonParsers.cpp (ParseDmlScalarUnion).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import integer_limits, shown
from specgate.descriptors.words import refuse_unknown, word_of
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read_union"]

_LETTERS: Final = {"FLOAT": "Float", "UINT": "UInt", "INT": "Int"}
#: The union has no FLOAT16 member, so the bits are in that of UINT16.
_BITS_OF_HALF: Final = "UInt16"


def read_union(raw: Mapping[str, Any], kind: Any, place: str) -> Any:
    """Return the member that `kind` reads: ``{"Float32": 1.5}`` for FLOAT32.

    kind: a type's word. FLOAT16 is given by its bits (``{"UInt16": 15360}`` is 1.0). Raises InputError for another
    member, an integer out of range, and a type without a member. Floating-point numbers are not checked.
    """
    result = word_of(kind, dialect("directml").type_numbers, "DML_TENSOR_DATA_TYPE_")
    word = result if isinstance(result, str) else ""
    bits = dialect("directml").bits.get(word) or 0
    if bits < 8:
        why = "" if kind is None else f"; {shown(kind)} has no member of DML_SCALAR_UNION"
        raise InputError(f"expected a number, found {shown(raw)}{why}", place=place)
    letters = word.rstrip("0123456789")
    half = letters == "FLOAT" and bits == 16
    member = _BITS_OF_HALF if half else f"{_LETTERS[letters]}{bits}"
    refuse_unknown(raw, [member], place, f"the member of DML_SCALAR_UNION for {word}")
    value = raw.get(member)
    if value is None:
        raise InputError(f"expected the field {member}", place=place)
    where = f"{place}.{member}"
    if half:
        return struct.unpack("<e", struct.pack("<H", _integer(value, "UINT", 16, where)))[0]
    return value if letters == "FLOAT" else _integer(value, letters, bits, where)


def _integer(value: Any, letters: str, bits: int, place: str) -> int:
    low, high = integer_limits(bits, signed=letters != "UINT")
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise InputError(f"expected an integer from {low} to {high}, found {shown(value)}", place=place)
    return value
