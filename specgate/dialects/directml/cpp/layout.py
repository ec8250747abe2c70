"""The structures of operators as C++ data: members, enums and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.cpp.lines import quote_literal
from specgate.dialects.directml.cpp.structures import structure_name
from specgate.dialects.directml.native.abi import abi

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.directml.cpp.levels import Levels
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.dialects.directml.native.abi import Member
    from specgate.spec.operator_spec import OperatorSpec

#: The shapes of a single member and of an array.
_SHAPES: Final = {
    "input": ("input", "inputs"), "output": ("output", "outputs"), "uint": ("number", "numbers"),
    "int": ("integer", "integers"), "float": ("real", "reals"), "bool": ("truth", ""), "enum": ("word", ""),
    "scalar": ("scalar", ""), "scale-bias": ("scale_bias", ""), "size-2d": ("size", ""),
    "operator": ("fused", "all_fused"),
}  # fmt: skip
#: The enums that every tensor uses.
_OF_TENSORS: Final = ("TENSOR_TYPE", "TENSOR_DATA_TYPE")


def fusible(specs: Sequence[OperatorSpec], levels: Levels) -> list[str]:
    """Return the operators that can be fused, in table order."""
    entries: dict[str, None] = {}
    for spec in specs:
        holding = [info.name for info in spec.fields.values() if info.fuses]
        for resolved in levels.sides(spec).values() if holding else ():
            for name in holding:
                cell = resolved.cells.get(name)
                entries.update(dict.fromkeys(cell.operators or () if cell is not None else ()))
    return list(entries)


def layout_lines(
    specs: Sequence[OperatorSpec], checked: Mapping[str, str], words: Words, levels: Levels
) -> Iterator[str]:
    """Yield the function that returns a structure's table by operator number.

    checked: the tables of operators that the header checks, as initializers of the last members of `Layout`. Others
    only occur fused.
    """
    yield "inline const Layout* layout_of(uint32_t type) {"
    yield "  switch (type) {"
    for spec in specs:
        yield f"    case {words.constant('OPERATOR_TYPE', spec.name)}: {{"
        yield from (f"      {line}" for line in _layout(spec, checked.get(spec.name, ""), levels))
        yield "    }"
    yield "    default: return nullptr;"
    yield "  }"
    yield "}"


def enum_lines(specs: Sequence[OperatorSpec], levels: Levels) -> Iterator[str]:
    """Yield the words of every enum that a structure uses."""
    members = [member for spec in specs for member in abi().structure(spec.name).members]
    enums = dict.fromkeys([*_OF_TENSORS, *(m.of for m in members if m.base == "enum" and m.of is not None)])
    for enum in enums:
        yield from _enum(enum, abi().enums[enum].items())
    yield from _enum("TENSOR_FLAGS", levels.dialect.tables.flags.items())


def _enum(name: str, words: Iterable[tuple[str, int]]) -> Iterator[str]:
    listed = [f"{{{number}, {quote_literal(word)}}}" for word, number in words]
    yield f"inline constexpr Word words_of_{name}[] = {{"
    yield from (f"    {', '.join(listed[at : at + 4])}," for at in range(0, len(listed), 4))
    yield "};"
    yield f"inline constexpr Enum enum_{name} = {{words_of_{name}, {len(listed)}}};"


def _layout(spec: OperatorSpec, checked: str, levels: Levels) -> Iterator[str]:
    structure = structure_name(spec.name)
    laid = abi().structure(spec.name)
    yield f"using S = abi::{structure};"
    yield "static constexpr Member members[] = {"
    for member in laid.members:
        optional = "true" if spec.fields[member.name].optional else "false"
        of = f"Shape::{_shape(member)}, {optional}, offsetof(S, {member.name}), {_write_type_offset(member)}"
        yield f'    {{"{member.name}", {of}}},'
    yield "};"
    first = levels.number(spec.levels.first or levels.chosen[0])
    exists = levels.bits(level for level in levels.chosen if level in spec.levels)
    yield f'static constexpr Layout layout = {{"{spec.name}", {first:#06x}, {exists:#x},'
    yield f"    {{members, {len(laid.members)}}}{checked}}};"
    yield "return &layout;"


def _shape(member: Member) -> str:
    alone, several = _SHAPES[member.base]
    return alone if member.count is None else several


def _write_type_offset(member: Member) -> str:
    """Return the offset of a member's type or count, and its enum, as C++."""
    if member.base == "enum":
        return f"0, &enum_{member.of}"
    other = member.of if member.base == "scalar" else member.count
    return "0, nullptr" if other is None else f"offsetof(S, {other}), nullptr"
