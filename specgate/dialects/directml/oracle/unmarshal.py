"""Images of DirectML's structures read back: what `marshal` writes, and what a host copies out of a running program."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.directml.oracle.abi import abi
from specgate.dialects.directml.oracle.marshal import MAX_NESTING
from specgate.dialects.directml.oracle.numbers import SCALARS
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.dialects.directml.oracle.abi import Member, Structure
    from specgate.dialects.directml.oracle.marshal import Image

__all__ = ["described", "pointer_layout"]

#: What a member points to, as a host numbers it: the kind of one, and of an array.
_TENSORS: Final = (1, 2)
_OPERATORS: Final = (3, 4)
_PAIR: Final = 5
_NUMBERS: Final = 6
_CODES: Final = {"uint": "I", "int": "i", "float": "f", "bool": "I", "enum": "I"}


def pointer_layout() -> bytes:
    """Return what a host has to know to copy descriptions out of memory, for every operator, as 32-bit numbers.

    The number of operators; for each its own number, its structure's size, how many pointers are in that; for each of
    those its kind, its offset and the offset of the member that counts it.
    """
    structures = [abi().structure(name) for name in abi().operators]
    words = [len(structures)]
    for structure in structures:
        offsets = {member.name: member.offset for member in structure.members}
        pointers = [(_kind(m), m.offset, offsets.get(m.count or "", 0)) for m in structure.members if m.pointer]
        words += [structure.number, structure.size, len(pointers), *(word for each in pointers for word in each)]
    return struct.pack(f"<{len(words)}I", *words)


def _kind(member: Member) -> int:
    array = member.count is not None
    if member.tensor:
        return _TENSORS[array]
    if member.base == "operator":
        return _OPERATORS[array]
    return _NUMBERS if array else _PAIR


def described(image: Image) -> dict[str, Any]:
    """Return an image's descriptor as a dict in DxDispatch's words, with all that is in the structures.

    Numbers that no word is known for stay numbers; of an operator that is not known its number is all there is. Raises
    InputError for an image that is no description.
    """
    try:
        return _Reading(image).operator(image.root, 0)
    except struct.error:
        raise InputError("expected the image of an operator's description, found one that ends too soon") from None


class _Reading:
    def __init__(self, image: Image) -> None:
        self.data = image.data
        self.pointers = frozenset(image.pointers)

    def numbers(self, code: str, at: int, count: int = 1) -> list[Any]:
        return list(struct.unpack_from(f"<{count}{code}", self.data, at))

    def target(self, at: int) -> int | None:
        return int(self.numbers("Q", at)[0]) if at in self.pointers else None

    def operator(self, at: int, depth: int) -> dict[str, Any]:
        if depth > MAX_NESTING:
            raise InputError(f"expected at most {MAX_NESTING} operators inside one another")
        number, base = self.numbers("I", at)[0], self.target(at + 8)
        name = _names().get(number)
        if name is None or base is None:
            return {"type": number if name is None else f"DML_OPERATOR_{name}", "desc": {}}
        structure = abi().structure(name)
        fields: dict[str, Any] = {}
        for member in structure.members:
            value = self.member(member, structure, fields, base, depth)
            if value is not None:
                fields[member.name] = value
        return {"type": f"DML_OPERATOR_{name}", "desc": fields}

    def member(self, member: Member, structure: Structure, fields: Mapping[str, Any], base: int, depth: int) -> Any:
        at = base + member.offset
        if member.pointer:
            to = self.target(at)
            if to is None:
                return None
            counter = next((m for m in structure.members if m.name == member.count), None)
            count = None if counter is None else self.numbers("I", base + counter.offset)[0]
            return self.pointed(member, to, count, depth)
        if member.base == "size-2d":
            return dict(zip(("Width", "Height"), self.numbers("I", at, 2), strict=True))
        if member.base == "scalar":
            return self.numbers(SCALARS.get(str(fields.get(member.of or "")), "Q"), at)[0]
        return _value(member, self.numbers(_CODES[member.base], at)[0])

    def pointed(self, member: Member, to: int, count: int | None, depth: int) -> Any:
        if member.tensor:
            return self.tensor(to) if count is None else [self.tensor(to + 16 * i) for i in range(count)]
        if member.base == "operator":
            several = [self.operator(to + 16 * i, depth + 1) for i in range(1 if count is None else count)]
            return several[0] if count is None else several
        if count is None:
            return dict(zip(("Scale", "Bias"), self.numbers("f", to, 2), strict=True))
        return [_value(member, number) for number in self.numbers(_CODES[member.base], to, count)]

    def tensor(self, at: int) -> dict[str, Any] | None:
        """Return a tensor's description, None where a program points to an empty one for a tensor that is left out."""
        start = self.target(at + 8)
        if start is None:
            return None
        kind, flags, rank = self.numbers("I", start, 3)
        sizes, strides = self.target(start + 16), self.target(start + 24)
        total, alignment = struct.unpack_from("<QI", self.data, start + 32)
        tensor: dict[str, Any] = {
            "DataType": _word("TENSOR_DATA_TYPE", kind),
            "Sizes": [] if sizes is None else self.numbers("I", sizes, rank),
        }
        if strides is not None:
            tensor["Strides"] = self.numbers("I", strides, rank)
        tensor["TotalTensorSizeInBytes"] = total
        more = {"GuaranteedBaseOffsetAlignment": alignment, "Flags": flags}
        return tensor | {name: number for name, number in more.items() if number}


def _value(member: Member, number: Any) -> Any:
    if member.base == "enum":
        return _word(member.of or "", number)
    if member.base == "bool" and number in {0, 1}:
        return bool(number)
    return number


@cache
def _names() -> dict[int, str]:
    return {abi().structure(name).number: name for name in abi().operators}


@cache
def _words(enum: str) -> dict[int, str]:
    return {number: word for word, number in abi().enums[enum].items()}


def _word(enum: str, number: int) -> str | int:
    """Return the word of an enum's number, the number where there is none."""
    return _words(enum).get(number, number)
