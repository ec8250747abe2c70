"""C++ for fused operators: which are readable, and their members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects.directml.native.abi import abi

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.dialects.directml.cpp.levels import Levels
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.dialects.directml.native.abi import Structure
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["fused_lines", "fusible"]


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


def fused_lines(specs: Sequence[OperatorSpec], words: Words, levels: Levels) -> Iterator[str]:
    """Yield the validation of fused operators and access to their members."""
    operators = fusible(specs, levels)
    yield "// What is wrong with an operator that another one holds: it has no tensors, and needs all else."
    yield "inline bool judge_fused(Check& check, const Operator& fused, const Place& place) {"
    yield '  if (fused.desc == nullptr) return check.flaw("has no description", "", place);'
    yield "  switch (fused.type) {"
    for name in operators:
        spec = levels.dialect.operator(name)
        laid = abi().structure(name)
        yield f"    case {words.constant('OPERATOR_TYPE', name)}: {{"
        yield f"      const auto* desc = static_cast<const abi::{laid.name}*>(fused.desc);"
        yield from (f"      if ({test}) return true;" for test in _flaws(spec, laid))
        yield "      return false;"
        yield "    }"
    yield "    default: return false;"
    yield "  }"
    yield "}"
    read = dict.fromkeys(member for spec in specs for info in spec.fields.values() for member in info.members)
    for member in read:
        yield from _reader(member, operators, words)


def _flaws(spec: OperatorSpec, laid: Structure) -> Iterator[str]:
    """Yield conditions that record a flaw; true if it decides the verdict."""
    for member in laid.members:
        info = spec.fields[member.name]
        at, place = f"load(&desc->{member.name})", f'place.with("{member.name}")'
        if member.tensor:
            text = f"states {member.name}, but a fused operator has no separate tensors"
            yield f'{at} != nullptr && check.flaw("{text}", "leave out", {place})'
        elif member.pointer and not info.optional:
            text = f"does not state {member.name}, which {spec.name} requires"
            yield f'{at} == nullptr && check.flaw("{text}", "state", {place})'
        if member.count is not None:
            text = f"has too many elements in {member.name}"
            yield f'load(&desc->{member.count}) > most_elements && check.flaw("{text}", "", {place})'
        if member.base == "bool":
            text = f"states {member.name}, which is neither 0 nor 1"
            yield f'uint32_t({at}) > 1 && check.flaw("{text}", "", {place})'


def _reader(member: str, operators: Sequence[str], words: Words) -> Iterator[str]:
    """Yield the function that reads a member of any fused operator."""
    having = []
    for name in operators:
        laid = abi().structure(name)
        matching_member = next((m for m in laid.members if m.name == member), None)
        if matching_member is not None:
            having.append((name, laid, matching_member))
    array = any(member.count is not None for _, _, member in having)
    kind = "Numbers<uint32_t>" if array else "ScaleAndBias"
    yield ""
    yield f"// {member} of an operator that another one holds, none where that one has no such member."
    yield f"inline {kind} fused_{member}(const Operator& held) {{"
    yield f"  if (held.desc == nullptr) return {kind}();"
    yield "  switch (held.type) {"
    for name, laid, matching_member in having:
        at = f"static_cast<const abi::{laid.name}*>(held.desc)->"
        text = f"numbers(&{at}{member}, &{at}{matching_member.count})" if array else f"scale_bias(&{at}{member})"
        yield f"    case {words.constant('OPERATOR_TYPE', name)}: return {text};"
    yield f"    default: return {kind}();"
    yield "  }"
    yield "}"
