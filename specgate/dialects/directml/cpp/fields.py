"""C++ for an operator's fields: loading, presence, and support rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.cpp.calls import UINT32
from specgate.dialects.directml.cpp.levels import grouped
from specgate.dialects.directml.cpp.lines import wrapped
from specgate.dialects.directml.cpp.values import Untranslatable, Value, real, truth, whole
from specgate.dialects.directml.native.abi import abi

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.dialects.directml.cpp.levels import Levels, Stretch
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.spec.fields import Bounds, Cell, FieldInfo
    from specgate.spec.forms import Resolved

__all__ = ["at", "cell_lines", "declared", "presence_lines", "value_of"]

INT32: Final = 2**31
_ALL_BITS: Final = "any_word"


def value_of(info: FieldInfo) -> Value:
    """Return a field's value as rules see it."""
    name = info.name
    match info.type:
        case "uint":
            return whole(name, 0, UINT32, tight=True)
        case "int":
            return whole(name, -INT32, INT32 - 1, tight=True)
        case "scalar":
            return whole(name, -(2**63), 2**64 - 1, tight=True)
        case "float":
            return real(name, tight=True)
        case "bool":
            return truth(name, tight=True)
        case "uint[]":
            return Value(name, "wholes", 0, UINT32, tight=True)
        case "int[]":
            return Value(name, "wholes", -INT32, INT32 - 1, tight=True)
        case "float[]":
            return Value(name, "reals", tight=True)
        case "scale-bias" | "size-2d":
            return Value(name, "pair", enum=info.type, tight=True)
        case "tensor" | "tensor[]" | "operator" | "operator[]":
            return Value(name, info.type.replace("[]", "s"), tight=True)
    if info.type.startswith("enum:"):
        return Value(name, "word", enum=info.type.removeprefix("enum:"), tight=True)
    raise Untranslatable(f"fields of the type {info.type}")


def declared(operator: str, info: FieldInfo) -> str:
    """Return the statement that loads a field."""
    member = next(m for m in abi().structure(operator).members if m.name == info.name)
    at = f"&desc->{info.name}"
    counted = f"{at}, &desc->{member.count}"
    kind, text = {
        "tensor": ("Tensor", f"tensor({at})"),
        "tensor[]": ("Tensors", f"tensors({counted})"),
        "operator": ("Operator", f"fused({at})"),
        "operator[]": ("Operators", f"operators({counted})"),
        "uint[]": ("Numbers<uint32_t>", f"numbers({counted})"),
        "int[]": ("Numbers<int32_t>", f"numbers({counted})"),
        "float[]": ("Numbers<float>", f"numbers({counted})"),
        "uint": ("int64_t", f"load({at})"),
        "int": ("int64_t", f"load({at})"),
        "float": ("double", f"double(load({at}))"),
        "bool": ("bool", f"load({at}) != 0"),
        "scalar": ("Wide", f"scalar({at}, load(&desc->{info.type_from}))"),
        "scale-bias": ("ScaleAndBias", f"scale_bias({at})"),
        "size-2d": ("abi::Size2D", f"load({at})"),
    }.get(info.type, ("uint32_t", f"load({at})"))
    return f"const {kind} {info.name} = {text};"


def at(name: str, number: int) -> str:
    """Return the C++ name of a field: its name and its position."""
    return f'{{"{name}", {number}}}'


def presence_lines(info: FieldInfo, number: int) -> Iterator[str]:
    """Yield statements that reject a missing or unreadable field."""
    name = info.name
    kind = value_of(info).kind
    if kind in {"tensor", "tensors", "operators", "wholes", "reals"} or (kind == "operator" and not info.optional):
        needed = "optional" if info.optional else "required"
        yield f"if (check.{needed}({name}, {at(name, number)})) return;"
    elif kind == "truth":
        yield f"if (check.truth(load(&desc->{name}), {at(name, number)})) return;"


def cell_lines(
    name: str, number: int, sides: Mapping[Stretch, Resolved], levels: Levels, words: Words
) -> Iterator[str]:
    """Yield statements that reject values outside the support rows."""
    info = next(iter(sides.values())).fields[name]
    cells = grouped({stretch: _asked(resolved.cells.get(name), info) for stretch, resolved in sides.items()})
    for cell, where in cells.items():
        text = None if cell is None else _cell(info, at(name, number), cell, words)
        if text is None:
            continue
        condition = levels.condition(where, sides)
        yield from wrapped([text] if condition is None else [condition, text], "return")


def _asked(cell: Cell | None, info: FieldInfo) -> tuple[object, ...] | None:
    """Return the constraints of a cell on a field, None without any."""
    types, ranks = (None, None) if cell is None else (cell.types, cell.ranks)
    values = cell.values if cell is not None and cell.values is not None else info.words
    operators = None if cell is None else cell.operators
    if cell is not None and cell.range is not None:
        raise Untranslatable(f"the range of {info.name}")
    parts = (types, ranks, values, operators)
    return None if parts == (None, None, None, None) else parts


def _cell(info: FieldInfo, place: str, items: tuple[object, ...], words: Words) -> str | None:
    types, ranks, values, operators = items
    if info.fuses:
        if operators is None:
            raise Untranslatable(f"{info.name} takes any operator")
        numbers = ", ".join(words.constant("OPERATOR_TYPE", word) for word in operators)  # type: ignore[attr-defined]
        return f"check.fuses({info.name}, {{{numbers}}}, {place})"
    if info.type.removesuffix("[]") == "tensor":
        mask = words.mask("TENSOR_DATA_TYPE", types) if types is not None else _ALL_BITS  # type: ignore[arg-type]
        return f"check.row({info.name}, {mask}, {_ranks(ranks)}, {place})"  # type: ignore[arg-type]
    if info.type.startswith("enum:") and values is not None:
        mask = words.mask(info.type.removeprefix("enum:"), values)  # type: ignore[arg-type]
        return f"check.word({info.name}, {mask}, {place})"
    if values is not None:
        raise Untranslatable(f"the values of {info.name}")
    return None


def _ranks(bounds: Bounds | None) -> str:
    """Return the supported ranks as a bit mask."""
    if bounds is None:
        return "any_rank"
    if bounds.only is not None:
        return f"ranks_of<{', '.join(map(str, bounds.only))}>"
    return f"ranks({bounds.low}, {bounds.high})"
