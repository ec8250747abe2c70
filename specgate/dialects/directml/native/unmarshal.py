"""Read back DirectML's structures from an image or this process."""

from __future__ import annotations

import ctypes
import math
import os
import struct
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import BUFFER, MAX_IMAGE, MAX_NESTING, SCALARS
from specgate.dialects.directml.tensor import MAX_DIMENSIONS
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.dialects.directml.native.abi import Member, Structure
    from specgate.dialects.directml.native.marshal import Image

#: Texts are read in parts of this many bytes. A part never crosses the end of a page, as the next page may be unmapped.
_PART: Final = 64


class Memory(Protocol):
    """Bytes at addresses or offsets, from which structures are read."""

    def read(self, address: int, size: int) -> bytes:
        """Return `size` bytes; raise InputError if they are not readable."""

    def target(self, address: int) -> int | None:
        """Return the target of the pointer at `address`, None if null; InputError."""


class ImageMemory:
    """An image; only its listed pointers are non-null, as 0 is an offset."""

    def __init__(self, image: Image) -> None:
        self._data = image.data
        self._pointers = frozenset(image.pointers)

    def read(self, address: int, size: int) -> bytes:
        data = self._data[address : address + size]
        if address < 0 or len(data) != size:
            raise InputError("expected the image of an operator's description, found a truncated one")
        return data

    def target(self, address: int) -> int | None:
        (to,) = struct.unpack("<Q", self.read(address, 8))
        return int(to) if address in self._pointers else None


class ProcessMemory:
    """The memory of this process; unmapped addresses raise InputError.

    The system copies the bytes, as for debuggers. The total that one object reads is limited, so pointer cycles end.
    """

    def __init__(self) -> None:
        self._left = MAX_IMAGE
        self._copy = _memory_copier()

    def read(self, address: int, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise InputError(f"expected structures of at most {MAX_IMAGE} bytes, found more")
        data = self._copy(address, size) if 0 < address <= 2**63 - 1 - size else None
        if data is None or len(data) != size:
            raise InputError(f"the address {address:#x} cannot be read: it is unmapped or no longer valid")
        return data

    def target(self, address: int) -> int | None:
        return int(struct.unpack("<Q", self.read(address, 8))[0]) or None

    def text(self, address: int, limit: int) -> str:
        """Return a zero-terminated text of at most `limit` bytes."""
        data = bytearray()
        while b"\0" not in data and len(data) < limit:
            data += self.read(address + len(data), _PART - (address + len(data)) % _PART)
        return bytes(data[:limit]).partition(b"\0")[0].decode("utf-8", "replace")


@cache
def _memory_copier() -> Callable[[int, int], bytes | None]:
    """Return a function that copies bytes, or returns None if unreadable."""
    if struct.calcsize("P") != 8 or sys.byteorder != "little":
        raise InputError("DirectML's structures are read in 64-bit little-endian processes only")
    if sys.platform == "win32":
        return _windows_copier()
    if os.path.exists("/proc/self/mem"):  # noqa: PTH110
        return _copy_on_linux
    return ctypes.string_at


def _copy_on_linux(address: int, size: int) -> bytes | None:
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123  # pathlib cannot open it unbuffered
            return os.pread(memory.fileno(), size, address)
    except OSError:
        return None


def _windows_copier() -> Callable[[int, int], bytes | None]:
    kernel: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]  # Windows only
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.ReadProcessMemory.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
    ]  # fmt: skip

    def copy(address: int, size: int) -> bytes | None:
        buffer = ctypes.create_string_buffer(size)
        return buffer.raw if kernel.ReadProcessMemory(kernel.GetCurrentProcess(), address, buffer, size, None) else None

    return copy


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
        words += [structure.number, structure.size, len(pointers), *(word for pair in pointers for word in pair)]
    return struct.pack(f"<{len(words)}I", *words)


def _kind(member: Member) -> int:
    array = member.count is not None
    if member.tensor:
        return _TENSORS[array]
    if member.base == "operator":
        return _OPERATORS[array]
    return _NUMBERS if array else _PAIR


def describe_image(image: Image) -> dict[str, Any]:
    """Return an image's descriptor as a dict in DxDispatch's form.

    It has all members of the structures. Unknown enum numbers stay numbers; of an unknown operator only the number is
    returned. Raises InputError for an invalid image.
    """
    return StructureReader(ImageMemory(image)).operator(image.root, "", 0)


class StructureReader:
    """Reads structures from a memory.

    A place in messages is the path of a field, "" for the operator itself.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def numbers(self, code: str, address: int, count: int = 1) -> list[Any]:
        """Return `count` consecutive numbers."""
        layout = struct.Struct(f"<{count}{code}")
        return list(layout.unpack(self.memory.read(address, layout.size)))

    def operator(self, address: int, place: str, depth: int) -> dict[str, Any]:
        """Return the DML_OPERATOR_DESC at `address`; raise InputError."""
        if depth > MAX_NESTING:
            raise InputError(f"expected operators nested at most {MAX_NESTING} deep", place=place)
        number, base = self.numbers("I", address)[0], self.memory.target(address + 8)
        name = _names().get(number)
        if name is None or base is None:
            return {"type": number if name is None else f"DML_OPERATOR_{name}", "desc": {}}
        structure = abi().structure(name)
        fields: dict[str, Any] = {}
        for member in structure.members:
            member_place = f"{place}.{member.name}" if place else member.name
            try:
                value = self.member(member, structure, fields, base, member_place, depth)
            except InputError as error:
                raise error if error.place else InputError(error.message, place=member_place) from None
            if value is not None:
                fields[member.name] = value
        return {"type": f"DML_OPERATOR_{name}", "desc": fields}

    def member(
        self, member: Member, structure: Structure, fields: Mapping[str, Any], base: int, place: str, depth: int
    ) -> Any:
        """Return a member of the structure at `base`, None if omitted."""
        address = base + member.offset
        if member.pointer:
            to = self.memory.target(address)
            if to is None:
                return None
            return self.read_pointer(member, to, self.count(member, structure, base), place, depth)
        if member.base == "size-2d":
            return dict(zip(("Width", "Height"), self.numbers("I", address, 2), strict=True))
        if member.base == "scalar":
            return json_float(self.numbers(SCALARS.get(str(fields.get(member.of or "")), "Q"), address)[0])
        return member_value(member, self.numbers(_CODES[member.base], address)[0])

    def count(self, member: Member, structure: Structure, base: int) -> int | None:
        """Return the length of an array, None if it is not an array."""
        counter = next((m for m in structure.members if m.name == member.count), None)
        if counter is None:
            return None
        count = int(self.numbers("I", base + counter.offset)[0])
        if count > MAX_ELEMENTS:
            raise InputError(f"expected at most {MAX_ELEMENTS} elements, found {count} in {counter.name}")
        return count

    def read_pointer(self, member: Member, to: int, count: int | None, place: str, depth: int) -> Any:
        """Return the value that a pointer member points to."""
        if member.tensor:
            return self.tensor(to) if count is None else [self.tensor(to + 16 * i) for i in range(count)]
        if member.base == "operator" and count is None:
            return self.operator(to, place, depth + 1)
        if member.base == "operator":
            return [self.operator(to + 16 * i, f"{place}[{i}]", depth + 1) for i in range(count or 0)]
        if count is None:
            return dict(zip(("Scale", "Bias"), map(json_float, self.numbers("f", to, 2)), strict=True))
        return [member_value(member, number) for number in self.numbers(_CODES[member.base], to, count)]

    def tensor(self, address: int) -> dict[str, Any] | None:
        """Return a tensor's description.

        Returns None for an empty description, which some programs use for an omitted tensor.
        """
        start = self.memory.target(address + 8)
        if start is None:
            return None
        kind, flags, rank = self.numbers("I", start, 3)
        if rank > MAX_DIMENSIONS:
            raise InputError(f"expected at most {MAX_DIMENSIONS} dimensions, found {rank} in DimensionCount")
        sizes, strides = self.memory.target(start + 16), self.memory.target(start + 24)
        total, alignment = struct.unpack("<QI", self.memory.read(start + 32, 12))
        tensor: dict[str, Any] = {}
        if (buffer_type := self.numbers("I", address)[0]) != BUFFER:  # a common mistake that DirectML rejects
            tensor["Type"] = word("TENSOR_TYPE", buffer_type)
        tensor["DataType"] = word("TENSOR_DATA_TYPE", kind)
        tensor["Sizes"] = [] if sizes is None else self.numbers("I", sizes, rank)
        if strides is not None:
            tensor["Strides"] = self.numbers("I", strides, rank)
        tensor["TotalTensorSizeInBytes"] = total
        extra_fields = {"GuaranteedBaseOffsetAlignment": alignment, "Flags": flags}
        return tensor | {name: number for name, number in extra_fields.items() if number}


def member_value(member: Member, number: Any) -> Any:
    """Return a member's number in descriptor form: word, bool or number."""
    if member.base == "enum":
        return word(member.of or "", number)
    if member.base == "bool" and number in {0, 1}:
        return bool(number)
    return json_float(number)


def json_float(number: float) -> float | str:
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
