"""C++ for an operator's fields: loading, presence, and support rows."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from specgate.dialects.directml.cpp.calls import UINT32
from specgate.dialects.directml.cpp.levels import group_levels
from specgate.dialects.directml.cpp.lines import quote_literal
from specgate.dialects.directml.cpp.values import Untranslatable, Value, make_integer, real, truth
from specgate.dialects.directml.native.abi import abi
from specgate.validate.fixes import format_choices
from specgate.validate.message import list_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.dialects.directml.cpp.levels import Levels, Stretch
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.spec.fields import Bounds, Cell, FieldInfo
    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

INT32: Final = 2**31
_ANY: Final = 2**32 - 1
_WORD: Final = 64


def value_of(info: FieldInfo) -> Value:
    """Return a field's value as rules see it."""
    name = info.name
    match info.type:
        case "uint":
            return make_integer(name, 0, UINT32, tight=True)
        case "int":
            return make_integer(name, -INT32, INT32 - 1, tight=True)
        case "scalar":
            return make_integer(name, -(2**63), 2**64 - 1, tight=True)
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


def declare_field(operator: str, info: FieldInfo) -> str:
    """Return the statement that loads a field."""
    member = next(m for m in abi().structure(operator).members if m.name == info.name)
    at = f"&desc->{info.name}"
    counted = f"{at}, &desc->{member.count}"
    kind, text = {
        "tensor": ("Tensor", f"tensor({at})"),
        "tensor[]": ("Array<abi::TensorDesc>", f"array({counted})"),
        "operator": ("Operator", f"fused({at})"),
        "operator[]": ("Array<abi::OperatorDesc>", f"array({counted})"),
        "uint[]": ("Array<uint32_t>", f"array({counted})"),
        "int[]": ("Array<int32_t>", f"array({counted})"),
        "float[]": ("Array<float>", f"array({counted})"),
        "uint": ("int64_t", f"load({at})"),
        "int": ("int64_t", f"load({at})"),
        "float": ("double", f"double(load({at}))"),
        "bool": ("bool", f"load({at}) != 0"),
        "scalar": ("int64_t", f"scalar(check, {at}, load(&desc->{info.type_from}))"),
        "scale-bias": ("ScaleAndBias", f"scale_bias({at})"),
        "size-2d": ("abi::Size2D", f"load({at})"),
    }.get(info.type, ("uint32_t", f"load({at})"))
    return f"const {kind} {info.name} = {text};"


def presence_lines(info: FieldInfo) -> Iterator[str]:
    """Yield statements that reject a missing or unreadable field."""
    kind = value_of(info).kind
    if kind in {"tensor", "tensors", "operators", "wholes", "reals"} or (kind == "operator" and not info.optional):
        needed = "true" if info.optional else "false"
        yield f"if (!check.readable({info.name}, {needed})) return false;"
    elif kind == "truth":
        yield f"if (uint32_t(load(&desc->{info.name})) > 1) return false;"


class Cells:
    """The support rows of a header's operators, as initializers of `Cell`."""

    def __init__(self, levels: Levels, words: Words, *, text: bool) -> None:
        self.levels = levels
        self.words = words
        self.text = text
        self._choices: dict[tuple[str, str | None, tuple[str, ...]], int] = {}

    def lines(self) -> Iterator[str]:
        """Yield the arrays of the words that rows support."""
        starts: dict[tuple[int, ...], int] = {}
        rows = []
        for enum, ranks, words in self._choices:
            numbers = tuple(self.words.number(enum, word) for word in words)
            start = starts.setdefault(numbers, sum(map(len, starts)))
            verb, many = ("to", "those values") if ranks is None else ("the type", "those types")
            texts = ("", "", ranks or "")
            if words:
                texts = (list_words(words), format_choices(verb, words, many), ranks or "")
            literals = ", ".join(quote_literal(text if self.text else "") for text in texts)
            rows.append(f"    {{supported + {start}, {len(words)}, {literals}}},")
        numbers_of_all = [str(number) for numbers in starts for number in numbers]
        yield f"inline constexpr uint16_t supported[] = {{{', '.join(numbers_of_all) or '0'}}};"
        yield from ("inline constexpr Choices choices[] = {", *(rows or ["    {}"]), "};")

    def of(
        self,
        spec: OperatorSpec,
        sides: Mapping[Stretch, Resolved],
        start: int = 0,
        every: Mapping[Stretch, Resolved] | None = None,
    ) -> OperatorCells:
        """Return the cells of one operator, or of one of its conditional rows.

        start: the number of preceding cells of the operator. every: all levels and sides of the operator.
        """
        rows = []
        for number, info in enumerate(spec.fields.values()):
            cells = group_levels(
                {stretch: _limits(resolved.cells.get(info.name), info) for stretch, resolved in sides.items()}
            )
            for cell, where in cells.items():
                initializer = None if cell is None else self._cell(info, cell)
                if initializer is not None:
                    mask = self.levels.mask(where, every or sides)
                    rows.append((info, f"{{{mask:#x}, {number}, {initializer}}},"))
        return OperatorCells(spec.name, rows, start)

    def _cell(self, info: FieldInfo, items: tuple[object, ...]) -> str | None:
        """Return ranks, bits of words and their list."""
        types, ranks, values, operators = items
        if info.fuses:
            if operators is None:
                raise Untranslatable(f"{info.name} accepts any operator")
            return self._write_cell(0, _ANY, "OPERATOR_TYPE", operators)
        if info.type.removesuffix("[]") == "tensor":
            return self._write_cell(_ranks(ranks), None, "TENSOR_DATA_TYPE", types, shown_ranks=str(ranks))  # type: ignore[arg-type]
        if info.type.startswith("enum:") and values is not None:
            return self._write_cell(0, None, info.type.removeprefix("enum:"), values)
        if values is not None:
            raise Untranslatable(f"the values of {info.name}")
        return None

    def _write_cell(self, ranks: int, bits: int | None, enum: str, words: Any, shown_ranks: str | None = None) -> str:
        if bits is None:
            bits = self.words.bits(enum, words) if words is not None else _ANY
        choices = self._choices.setdefault((enum, shown_ranks, tuple(words or ())), len(self._choices))
        return f"{ranks:#x}, {bits:#x}, choices + {choices}"


class OperatorCells(NamedTuple):
    """Cells with their fields; start: the position of the first one."""

    operator: str
    cells: list[tuple[FieldInfo, str]]
    start: int

    def rows(self) -> Iterator[str]:
        """Yield the initializers."""
        yield from (row for _, row in self.cells)

    def tests(self) -> Iterator[str]:
        """Yield statements that reject values outside the support rows."""
        number = self.start
        for name, cells in groupby(info.name for info, _ in self.cells):
            count = len(list(cells))
            yield f"if (!check.supports({name}, cells_{self.operator} + {number}, {count})) return false;"
            number += count


def _limits(cell: Cell | None, info: FieldInfo) -> tuple[object, ...] | None:
    """Return the constraints of a cell on a field, None without any."""
    types, ranks = (None, None) if cell is None else (cell.types, cell.ranks)
    values = cell.values if cell is not None and cell.values is not None else info.words
    operators = None if cell is None else cell.operators
    if cell is not None and cell.range is not None:
        raise Untranslatable(f"the range of {info.name}")
    parts = (types, ranks, values, operators)
    return None if parts == (None, None, None, None) else parts


def _ranks(bounds: Bounds | None) -> int:
    """Return the supported ranks as bits."""
    if bounds is None:
        return (1 << _WORD) - 1
    return sum(1 << rank if rank in bounds else 0 for rank in range(_WORD))
