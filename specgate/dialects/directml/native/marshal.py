"""Descriptors as relocatable images of DirectML's structures."""

from __future__ import annotations

import math
import struct
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.descriptors.core import Descriptor, TensorDesc, format_value
from specgate.dialects.directml.native.abi import Member, Structure, abi
from specgate.dialects.directml.reader import read_tensor
from specgate.dialects.directml.vocabulary import ScaleBias, Size2D, minimum_size
from specgate.errors import InputError
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
        numbers = abi().enums[enum]
        short = value.removeprefix(f"DML_{enum}_")
        if short not in numbers:
            raise InputError(
                f"{format_value(value)} is not a DML_{enum}; expected one of {', '.join(numbers)}", place=place
            )
        return numbers[short]
    return integer("uint", value, place)


def number(member: Member, value: Any, place: str) -> float:
    """Return the value of a 32-bit member."""
    if member.base == "enum":
        return enum_number(member.of or "", value, place)
    if member.base == "float":
        return pack_float(value, place)
    return integer(member.base, value, place)


def integer(kind: str, value: Any, place: str) -> int:
    """Return a uint, int or bool; raise InputError out of range."""
    low, high = _NUMBERS[kind]
    if not isinstance(value, int) or (isinstance(value, bool) and kind != "bool") or not low <= value <= high:
        raise InputError(f"expected an integer from {low} to {high}, found {format_value(value)}", place=place)
    return int(value)


def pack_float(value: Any, place: str, code: str = "f") -> float:
    """Return a number that packs as `code`; overflow becomes infinity."""
    if isinstance(value, str) and value.lower() in {"nan", "inf", "-inf"}:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"expected a number, found {format_value(value)}", place=place)
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
        value = pack_float(value, place, code)
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return struct.pack(f"<{code}", value).ljust(8, b"\0")
    except struct.error:
        raise InputError(
            f"expected a number of the type {format_value(kind)}, found {format_value(value)}", place=place
        ) from None


#: The largest number of bytes and pointers that a host accepts per question.
MAX_IMAGE: Final = 2**24
MAX_POINTERS: Final = 2**20
#: The nesting limit of operators; DirectML has one level, for fused activations.
MAX_NESTING: Final = 8
BUFFER: Final = 1  # DML_TENSOR_TYPE_BUFFER
_TENSOR_HEAD: Final = 16
_OPERATOR_HEAD: Final = 16
_UINT64: Final = 2**64 - 1
_CODES: Final = {"uint": "I", "int": "i", "float": "f", "bool": "I", "enum": "I"}


class Image(NamedTuple):
    """A relocatable description.

    pointers: their offsets in `data`. root: the offset of the DML_OPERATOR_DESC.
    """

    data: bytes
    pointers: tuple[int, ...]
    root: int


def image(descriptor: Descriptor | Mapping[str, Any], *, exact: bool = False) -> Image:
    """Return the image of a DirectML descriptor.

    Accepts a Descriptor or a dict in DxDispatch's form, also of operators without a table. Omitted fields become null
    pointers. Omitted counts are the lengths of the arrays. A tensor without TotalTensorSizeInBytes gets its minimum
    size (modulo 2**64).
    exact: reject descriptors that the structures cannot represent exactly: an omitted count, an array longer than its
    count, and an omitted array with a count of 0.
    Raises InputError for values that do not fit the structures (an unknown size, fewer strides than sizes, a missing
    number), and NoTable for an operator that DirectML does not define.
    """
    writer = _Writer(exact=exact)
    root = writer.room(_OPERATOR_HEAD)
    writer.operator(descriptor, root, "", 0)
    if len(writer.data) > MAX_IMAGE or len(writer.pointers) > MAX_POINTERS:
        raise InputError(f"expected a descriptor of at most {MAX_IMAGE} bytes, found {len(writer.data)}")
    return Image(bytes(writer.data), tuple(writer.pointers), root)


class _Writer:
    """Builds an image.

    A place in messages is the path of a field, "" for the operator itself.
    """

    def __init__(self, *, exact: bool) -> None:
        self.exact = exact
        self.data = bytearray()
        self.pointers: list[int] = []

    def room(self, size: int) -> int:
        """Append zeros and return their offset, a multiple of 8."""
        start = len(self.data)
        self.data += bytes((size + 7) & ~7)
        return start

    def put(self, code: str, offset: int, *values: float) -> None:
        struct.pack_into(f"<{code}", self.data, offset, *values)

    def point(self, offset: int, target: int) -> None:
        self.put("Q", offset, target)
        self.pointers.append(offset)

    def operator(self, value: Any, offset: int, place: str, depth: int) -> None:
        """Write a DML_OPERATOR_DESC at `offset`, and the structure it points to."""
        if depth > MAX_NESTING:
            raise InputError(f"expected operators nested at most {MAX_NESTING} deep", place=place)
        if len(self.data) > MAX_IMAGE:
            raise InputError(f"expected a descriptor of at most {MAX_IMAGE} bytes", place=place)
        name, fields = operator_parts(value, place)
        structure = abi().structure(name)
        for field in fields:
            if field not in _member_names(structure.name):
                raise InputError(f"{format_value(field)} is not a field of {structure.name}", place=place or None)
        base = self.room(structure.size)
        self.put("I", offset, structure.number)
        self.point(offset + 8, base)
        for member in structure.members:
            self.member(member, structure, fields, base, f"{place}.{member.name}" if place else member.name, depth)

    def member(
        self, member: Member, structure: Structure, fields: Mapping[str, Any], base: int, place: str, depth: int
    ) -> None:
        """Write one member of the structure that begins at `base`."""
        value, offset = fields.get(member.name), base + member.offset
        if member.counts:
            self.put("I", offset, _count(member, fields, place, exact=self.exact))
        elif member.pointer:
            if value is not None:  # omitted fields stay null pointers
                self.write_pointer(member, value, offset, place, depth)
        elif value is None:
            raise InputError(f"expected a value for {member.name} of {structure.name}", place=place)
        elif member.base == "size-2d":
            self.put("II", offset, *(integer("uint", _part(value, k, place), place) for k in ("Width", "Height")))
        elif member.base == "scalar":
            self.data[offset : offset + 8] = scalar(value, fields.get(member.of or ""), place)
        else:
            self.put(_CODES[member.base], offset, number(member, value, place))

    def write_pointer(self, member: Member, value: Any, offset: int, place: str, depth: int) -> None:
        """Write the target of a pointer member, and the pointer at `offset`."""
        if member.count is not None:
            self.array(member, _check_list(value, place), offset, place, depth)
        elif member.tensor:
            self.point(offset, self.tensor(value, place))
        elif member.base == "operator":
            target = self.room(_OPERATOR_HEAD)
            self.point(offset, target)
            self.operator(value, target, place, depth + 1)
        else:
            target = self.room(8)
            self.point(offset, target)
            self.put("ff", target, *(pack_float(_part(value, k, place), place) for k in ("Scale", "Bias")))

    def array(self, member: Member, items: Sequence[Any], offset: int, place: str, depth: int) -> None:
        if member.tensor:
            tensors = [_tensor(item, f"{place}[{i}]") for i, item in enumerate(items)]
            heads = self.room(_TENSOR_HEAD * len(items))
            for index, tensor in enumerate(tensors):
                self.put("I", heads + 16 * index, BUFFER)
                self.point(heads + 16 * index + 8, self.buffer(tensor, f"{place}[{index}]"))
        elif member.base == "operator":
            heads = self.room(_OPERATOR_HEAD * len(items))
            for index, item in enumerate(items):
                self.operator(item, heads + 16 * index, f"{place}[{index}]", depth + 1)
        else:
            heads = self.room(4 * len(items))
            numbers = [number(member, item, f"{place}[{i}]") for i, item in enumerate(items)]
            self.put(f"{len(items)}{_CODES[member.base]}", heads, *numbers)
        self.point(offset, heads)

    def tensor(self, value: Any, place: str) -> int:
        """Write a DML_TENSOR_DESC and its buffer description; return its offset."""
        tensor = _tensor(value, place)
        head = self.room(_TENSOR_HEAD)
        self.put("I", head, BUFFER)
        self.point(head + 8, self.buffer(tensor, place))
        return head

    def buffer(self, tensor: TensorDesc, place: str) -> int:
        """Write a DML_BUFFER_TENSOR_DESC with its arrays; return its offset."""
        kind, sizes, strides = tensor.type, tensor.sizes, tensor.strides
        if kind is None or sizes is None:
            raise InputError("expected a tensor whose type and sizes are known", place=place)
        rank = len(sizes)
        total = tensor.size_in_bytes
        if total is None:
            total = _least_bytes(kind, sizes, strides, place)
        layout = _buffer_layout(rank, None if strides is None else len(strides))
        start = self.room(layout.size)
        first = start + 48
        second = 0 if strides is None else first + 4 * rank
        try:
            layout.pack_into(
                self.data, start, enum_number("TENSOR_DATA_TYPE", kind, place), tensor.flags or 0, rank, first, second,
                total, tensor.alignment or 0, *sizes, *(strides or ()),
            )  # fmt: skip
        except struct.error:
            raise InputError(
                f"expected numbers that fit their fields, found {format_value(tensor)}", place=place
            ) from None
        self.pointers.append(start + 16)
        if strides is not None:
            if len(strides) != rank:
                raise InputError(f"expected {rank} strides, one per size, found {len(strides)}", place=place)
            self.pointers.append(start + 24)
        return start


@lru_cache(maxsize=256)
def _buffer_layout(rank: int, strides: int | None) -> struct.Struct:
    """Return the layout of a buffer description and its arrays.

    The order is DataType, Flags, DimensionCount, Sizes*, Strides*, TotalTensorSizeInBytes, alignment; sizes; strides.
    """
    return struct.Struct(f"<IIIxxxxQQQIxxxx{rank}I{strides or 0}I")


@cache
def _member_names(operator: str) -> frozenset[str]:
    return frozenset(member.name for member in abi().structure(operator).members)


def operator_parts(value: Any, place: str = "") -> tuple[str, Mapping[str, Any]]:
    """Return the operator's name and fields, from a Descriptor or a dict.

    Operators without a table are supported.
    """
    if isinstance(value, Descriptor):
        if value.dialect != "directml":
            raise InputError(f"expected a directml descriptor, found one of {value.dialect}", place=place or None)
        return value.operator, value.fields
    if not isinstance(value, dict):
        raise InputError(f"expected an operator description, found {format_value(value)}", place=place or None)
    name = value.get("type", value.get("Type"))
    fields = value.get("desc", value.get("Desc"))
    if fields is None:
        fields = {k: v for k, v in value.items() if k not in {"type", "Type", "dmlCompileType", "executionFlags"}}
    if not isinstance(name, str) or not isinstance(fields, dict):
        text = f"expected an operator's type and fields, found {format_value(value)}"
        raise InputError(text, place=place or None)
    return name, fields


def _tensor(value: Any, place: str) -> TensorDesc:
    return value if isinstance(value, TensorDesc) else read_tensor(value, place)


@cache
def _bits(kind: str) -> int:
    return dialect("directml").bits.get(kind) or 0


def _least_bytes(kind: str, sizes: tuple[Any, ...], strides: tuple[int, ...] | None, place: str) -> int:
    try:
        return minimum_size(_bits(kind), sizes, strides) & _UINT64
    except ValueError as error:
        raise InputError(str(error), place=place) from None
    except TypeError:
        raise InputError(f"expected sizes that are all known, found {format_value(sizes)}", place=place) from None


def _check_list(value: Any, place: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple) or isinstance(value, TensorDesc):
        raise InputError(f"expected a list, found {format_value(value)}", place=place)
    return value


def _part(value: Any, name: str, place: str) -> Any:
    part = getattr(value, name, None) if isinstance(value, Size2D | ScaleBias) else None
    if isinstance(value, dict):
        part = value.get(name)
    if part is None:
        raise InputError(f"expected an object with {name}, found {format_value(value)}", place=place)
    return part


def _count(member: Member, fields: Mapping[str, Any], place: str, *, exact: bool) -> int:
    """Return a count, by default the length of its arrays.

    Arrays may be longer than their count, but not shorter. exact: require the count and equal lengths, and reject an
    omitted array with a count of 0.
    """
    parent = place.removesuffix(member.name)
    stated_lengths = {n: _check_list(fields[n], f"{parent}{n}") for n in member.counts if fields.get(n) is not None}
    lengths = {name: len(items) for name, items in stated_lengths.items()}
    result = fields.get(member.name)
    if exact and (result is None or any(length != result for length in lengths.values())):
        raise InputError(
            f"expected the length of {', '.join(member.counts)}, found {format_value(result)}", place=place
        )
    if exact and result == 0 and len(lengths) < len(member.counts):
        raise InputError("an empty array cannot be distinguished from a missing one", place=place)
    if result is None:
        if len(set(lengths.values())) > 1:
            raise InputError(f"expected lists of the same length, found {format_value(lengths)}", place=place)
        return next(iter(lengths.values()), 0)
    count = integer("uint", result, place)
    for name, length in lengths.items():
        if length < count:
            raise InputError(f"{member.name} is {count}, but {name} has {length} elements", place=place)
    return count
