"""DirectML's structures and enum numbers in C++, from the ABI table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.cpp.values import Untranslatable
from specgate.dialects.directml.native.abi import abi

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.dialects.directml.native.abi import Member, Structure

_TYPES: Final = {
    "uint": "uint32_t", "int": "int32_t", "float": "float", "bool": "int32_t", "enum": "uint32_t",
    "size-2d": "Size2D", "scalar": "ScalarUnion",
}  # fmt: skip
_POINTED: Final = {
    "input": "TensorDesc", "output": "TensorDesc", "operator": "OperatorDesc", "scale-bias": "ScaleAndBias",
}  # fmt: skip


#: Element types occur often, so they have short names: f32 for FLOAT32.
_TYPES_ENUM: Final = "TENSOR_DATA_TYPE"
_NO_TYPE: Final = "UNKNOWN"
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class Words:
    """The enum words of a header, each a constant with its number."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def number(self, enum: str, word: str) -> int:
        """Return the number of an enum's word."""
        if enum == "OPERATOR_TYPE":
            return abi().structure(word).number
        numbers = abi().enums.get(enum, {})
        if word not in numbers:
            raise Untranslatable(f"{word} is not a word of {enum}")
        return numbers[word]

    def constant(self, enum: str, word: str) -> str:
        """Return the constant's name of an enum's word."""
        name = (
            f"{word[0].lower()}{word.lstrip(_LETTERS)}"
            if enum == _TYPES_ENUM and word != _NO_TYPE
            else f"{enum}_{word}"
        )
        self._used[name] = self.number(enum, word)
        return name

    def bits(self, enum: str, words: Iterable[str]) -> int:
        """Return a set of words as bits of their numbers."""
        numbers = {self.number(enum, word) for word in words}
        if max(numbers, default=0) > 31:
            raise Untranslatable(f"the words of {enum} do not fit 32 bits")
        return sum(1 << number for number in numbers)

    def constants(self) -> Iterator[str]:
        """Yield the definitions of all constants in use."""
        for name, number in sorted(self._used.items(), key=lambda item: (item[0].rpartition("_")[0], item[1])):
            yield f"constexpr uint32_t {name} = {number};"


def structure_name(operator: str) -> str:
    """Return the name of an operator's structure in the namespace `abi`."""
    return abi().structure(operator).name


def structure(operator: str) -> Iterator[str]:
    """Yield the definition of an operator's structure."""
    laid: Structure = abi().structure(operator)
    yield f"struct {laid.name} {{"
    for member in laid.members:
        yield f"  {_member(member)};"
    yield "};"


def _member(member: Member) -> str:
    if member.count is not None:
        base = _POINTED.get(member.base) or _TYPES[member.base]
        return f"const {base}* {member.name}"
    if member.base in _POINTED:
        return f"const {_POINTED[member.base]}* {member.name}"
    return f"{_TYPES[member.base]} {member.name}"
