"""Images of DirectML's structures read back: what `marshal` writes, and what a host copies out of a running program."""

from __future__ import annotations

import math
import struct
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import BUFFER, MAX_NESTING
from specgate.dialects.directml.native.memory import ImageMemory
from specgate.dialects.directml.native.numbers import SCALARS
from specgate.dialects.directml.tensor import MAX_DIMENSIONS
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.dialects.directml.native.abi import Member, Structure
    from specgate.dialects.directml.native.marshal import Image
    from specgate.dialects.directml.native.memory import Memory

__all__ = ["MAX_ELEMENTS", "Reading", "described", "plain", "pointer_layout", "real", "word"]

#: Of an array that a structure counts: more is taken for memory that holds something else.
MAX_ELEMENTS: Final = 2**16

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
    return Reading(ImageMemory(image)).operator(image.root, "", 0)


class Reading:
    """Structures read from a memory. Places are for messages: the way to a field, "" for the operator itself."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def numbers(self, code: str, at: int, count: int = 1) -> list[Any]:
        """Return so many numbers that lie one after the other."""
        layout = struct.Struct(f"<{count}{code}")
        return list(layout.unpack(self.memory.read(at, layout.size)))

    def operator(self, at: int, place: str, depth: int) -> dict[str, Any]:
        """Return the DML_OPERATOR_DESC at `at`; raise InputError."""
        if depth > MAX_NESTING:
            raise InputError(f"expected at most {MAX_NESTING} operators inside one another", place=place)
        number, base = self.numbers("I", at)[0], self.memory.target(at + 8)
        name = _names().get(number)
        if name is None or base is None:
            return {"type": number if name is None else f"DML_OPERATOR_{name}", "desc": {}}
        structure = abi().structure(name)
        fields: dict[str, Any] = {}
        for member in structure.members:
            where = f"{place}.{member.name}" if place else member.name
            try:
                value = self.member(member, structure, fields, base, where, depth)
            except InputError as error:
                raise error if error.place else InputError(error.message, place=where) from None
            if value is not None:
                fields[member.name] = value
        return {"type": f"DML_OPERATOR_{name}", "desc": fields}

    def member(
        self, member: Member, structure: Structure, fields: Mapping[str, Any], base: int, place: str, depth: int
    ) -> Any:
        """Return the value of a member of the structure at `base`, None where it is left out."""
        at = base + member.offset
        if member.pointer:
            to = self.memory.target(at)
            if to is None:
                return None
            return self.pointed(member, to, self.count(member, structure, base), place, depth)
        if member.base == "size-2d":
            return dict(zip(("Width", "Height"), self.numbers("I", at, 2), strict=True))
        if member.base == "scalar":
            return real(self.numbers(SCALARS.get(str(fields.get(member.of or "")), "Q"), at)[0])
        return plain(member, self.numbers(_CODES[member.base], at)[0])

    def count(self, member: Member, structure: Structure, base: int) -> int | None:
        """Return how many elements an array has, None for what is no array."""
        counter = next((m for m in structure.members if m.name == member.count), None)
        if counter is None:
            return None
        count = int(self.numbers("I", base + counter.offset)[0])
        if count > MAX_ELEMENTS:
            raise InputError(f"expected at most {MAX_ELEMENTS} elements, found {count} in {counter.name}")
        return count

    def pointed(self, member: Member, to: int, count: int | None, place: str, depth: int) -> Any:
        """Return what a pointer member points to."""
        if member.tensor:
            return self.tensor(to) if count is None else [self.tensor(to + 16 * i) for i in range(count)]
        if member.base == "operator" and count is None:
            return self.operator(to, place, depth + 1)
        if member.base == "operator":
            return [self.operator(to + 16 * i, f"{place}[{i}]", depth + 1) for i in range(count or 0)]
        if count is None:
            return dict(zip(("Scale", "Bias"), map(real, self.numbers("f", to, 2)), strict=True))
        return [plain(member, number) for number in self.numbers(_CODES[member.base], to, count)]

    def tensor(self, at: int) -> dict[str, Any] | None:
        """Return a tensor's description, None where a program points to an empty one for a tensor that is left out."""
        start = self.memory.target(at + 8)
        if start is None:
            return None
        kind, flags, rank = self.numbers("I", start, 3)
        if rank > MAX_DIMENSIONS:
            raise InputError(f"expected at most {MAX_DIMENSIONS} dimensions, found {rank} in DimensionCount")
        sizes, strides = self.memory.target(start + 16), self.memory.target(start + 24)
        total, alignment = struct.unpack("<QI", self.memory.read(start + 32, 12))
        tensor: dict[str, Any] = {}
        if (of := self.numbers("I", at)[0]) != BUFFER:  # what programs forget, and DirectML refuses
            tensor["Type"] = word("TENSOR_TYPE", of)
        tensor["DataType"] = word("TENSOR_DATA_TYPE", kind)
        tensor["Sizes"] = [] if sizes is None else self.numbers("I", sizes, rank)
        if strides is not None:
            tensor["Strides"] = self.numbers("I", strides, rank)
        tensor["TotalTensorSizeInBytes"] = total
        more = {"GuaranteedBaseOffsetAlignment": alignment, "Flags": flags}
        return tensor | {name: number for name, number in more.items() if number}


def plain(member: Member, number: Any) -> Any:
    """Return a number of a member as descriptors have it: a word, true or false, or itself."""
    if member.base == "enum":
        return word(member.of or "", number)
    if member.base == "bool" and number in {0, 1}:
        return bool(number)
    return real(number)


def real(number: float) -> float | str:
    """Return a number, one that JSON cannot hold as the word for it."""
    return number if isinstance(number, int) or math.isfinite(number) else str(number)


@cache
def _names() -> dict[int, str]:
    return {abi().structure(name).number: name for name in abi().operators}


@cache
def _words(enum: str) -> dict[int, str]:
    return {number: word for word, number in abi().enums[enum].items()}


def word(enum: str, number: int) -> str | int:
    """Return the word of an enum's number, the number where there is none."""
    return _words(enum).get(number, number)
