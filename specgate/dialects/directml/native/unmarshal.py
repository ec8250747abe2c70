"""Read back images of DirectML's structures.

The images come from `marshal`, or from a host that copies them out of a running program.
"""

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

#: A larger count of elements is treated as invalid memory.
MAX_ELEMENTS: Final = 2**16

#: The numbers by which a host knows the kinds of pointers, single and array.
_TENSORS: Final = (1, 2)
_OPERATORS: Final = (3, 4)
_PAIR: Final = 5
_NUMBERS: Final = 6
_CODES: Final = {"uint": "I", "int": "i", "float": "f", "bool": "I", "enum": "I"}


def pointer_layout() -> bytes:
    """Return the pointer layout of every operator as 32-bit numbers.

    Hosts need it to copy descriptions out of memory. It has the number of operators; per operator its number, the
    structure's size and the number of pointers; per pointer its kind, its offset, and the offset of its count.
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
    """Return an image's descriptor as a dict in DxDispatch's form.

    It has all members of the structures. Unknown enum numbers stay numbers; of an unknown operator only the number is
    returned. Raises InputError for an invalid image.
    """
    return Reading(ImageMemory(image)).operator(image.root, "", 0)


class Reading:
    """Reads structures from a memory.

    A place in messages is the path of a field, "" for the operator itself.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def numbers(self, code: str, at: int, count: int = 1) -> list[Any]:
        """Return `count` consecutive numbers."""
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
        """Return a member of the structure at `base`, None if omitted."""
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
        """Return the length of an array, None if it is not an array."""
        counter = next((m for m in structure.members if m.name == member.count), None)
        if counter is None:
            return None
        count = int(self.numbers("I", base + counter.offset)[0])
        if count > MAX_ELEMENTS:
            raise InputError(f"expected at most {MAX_ELEMENTS} elements, found {count} in {counter.name}")
        return count

    def pointed(self, member: Member, to: int, count: int | None, place: str, depth: int) -> Any:
        """Return the value that a pointer member points to."""
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
        """Return a tensor's description.

        Returns None for an empty description, which some programs use for an omitted tensor.
        """
        start = self.memory.target(at + 8)
        if start is None:
            return None
        kind, flags, rank = self.numbers("I", start, 3)
        if rank > MAX_DIMENSIONS:
            raise InputError(f"expected at most {MAX_DIMENSIONS} dimensions, found {rank} in DimensionCount")
        sizes, strides = self.memory.target(start + 16), self.memory.target(start + 24)
        total, alignment = struct.unpack("<QI", self.memory.read(start + 32, 12))
        tensor: dict[str, Any] = {}
        if (of := self.numbers("I", at)[0]) != BUFFER:  # a common mistake that DirectML rejects
            tensor["Type"] = word("TENSOR_TYPE", of)
        tensor["DataType"] = word("TENSOR_DATA_TYPE", kind)
        tensor["Sizes"] = [] if sizes is None else self.numbers("I", sizes, rank)
        if strides is not None:
            tensor["Strides"] = self.numbers("I", strides, rank)
        tensor["TotalTensorSizeInBytes"] = total
        more = {"GuaranteedBaseOffsetAlignment": alignment, "Flags": flags}
        return tensor | {name: number for name, number in more.items() if number}


def plain(member: Member, number: Any) -> Any:
    """Return a member's number in descriptor form: word, bool or number."""
    if member.base == "enum":
        return word(member.of or "", number)
    if member.base == "bool" and number in {0, 1}:
        return bool(number)
    return real(number)


def real(number: float) -> float | str:
    """Return a number, or its name if JSON cannot represent it."""
    return number if isinstance(number, int) or math.isfinite(number) else str(number)


@cache
def _names() -> dict[int, str]:
    return {abi().structure(name).number: name for name in abi().operators}


@cache
def _words(enum: str) -> dict[int, str]:
    return {number: word for word, number in abi().enums[enum].items()}


def word(enum: str, number: int) -> str | int:
    """Return the word of an enum's number, or the number if unknown."""
    return _words(enum).get(number, number)
