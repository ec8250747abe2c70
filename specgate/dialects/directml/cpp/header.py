"""The complete header: fixed parts from files, and generated parts."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.cpp.layout import enum_lines, fusible, layout_lines
from specgate.dialects.directml.cpp.levels import Levels
from specgate.dialects.directml.cpp.lines import quote_literal
from specgate.dialects.directml.cpp.operators import Functions, case_field
from specgate.dialects.directml.cpp.sentences import sentence_lines
from specgate.dialects.directml.cpp.structures import Words, structure, structure_name
from specgate.spec.tables import dialect
from specgate.validate.device import capabilities, required_capabilities
from specgate.validate.fixes import MAX_DISTANCE, cast_distance, describe_loss

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.spec.operator_spec import OperatorSpec

_SUPPORT: Final = Path(__file__).parent / "support"
#: The predefined macro of each system, by the name of the implementation that exists on one system only.
_SYSTEMS: Final = {"linux": "__linux__", "windows": "_WIN32"}
_INCLUDES: Final = (
    "algorithm", "array", "cmath", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "forward_list",
    "initializer_list", "iterator", "limits", "memory", "optional", "string", "string_view", "tuple", "type_traits",
    "utility", "vector",
)  # fmt: skip
#: The files that explain a rejection.
_EXPLAINING: Final = ("numbers", "values", "json", "evaluator", "explain", "repair", "validator", "api")


def write_header(
    operators: Sequence[str] | None = None, levels: Sequence[str] | None = None, *, text: bool = True
) -> str:
    """Return the C++ header of the tables.

    operators, levels: the ones to include, None for all. text: whether findings have messages.

    Raises NoTable for an unknown operator and InputError for an unknown level.
    """
    table = dialect("directml")
    for level in levels or ():
        table.check_level(level)
    chosen = Levels(table, levels or table.levels)
    specs = [table.operator(name) for name in operators or sorted(table.operators)]
    lines = _Writer(chosen, specs, text=text).lines()
    return _wrap_namespace("\n".join(lines) + "\n")


def _wrap_namespace(text: str) -> str:
    """Return a header in a separate namespace.

    Libraries of one process may include different headers. The linker would merge equal names with different
    definitions.
    """
    opened, closed = "namespace specgate {\n", "}  // namespace specgate\n"
    name = f"tables_{sha256(text.encode()).hexdigest()[:8]}"
    before, _, rest = text.partition(opened)
    inner, _, after = rest.rpartition(closed)
    return f"{before}{opened}inline namespace {name} {{\n{inner}}}  // namespace {name}\n{closed}{after}"


def _fixed_lines(*names: str) -> Iterator[str]:
    """Yield the lines of files that are identical in every header."""
    for name in names:
        yield from ("", *(_SUPPORT / f"{name}.h").read_text(encoding="utf-8").splitlines())


class _Writer:
    def __init__(self, levels: Levels, specs: Sequence[OperatorSpec], *, text: bool) -> None:
        self.levels = levels
        self.specs = [spec for spec in specs if any(level in spec.levels for level in levels.chosen)]
        self.words = Words()
        self.text = text
        self.functions = Functions(levels, self.words, text=text)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the header.

        Parts that use enum words and nodes are generated before their definitions are written.
        """
        functions = self.functions
        table, function = functions.tensor_parts()
        checked = {}
        for spec in self.specs:
            rows, body = functions.operator_parts(spec)
            table += rows
            function += ["", *body]
            checked[spec.name] = self._write_tables(spec, rows)
        for kind in self.levels.dialect.types:
            self.words.constant("TENSOR_DATA_TYPE", kind)
        entries = dict.fromkeys([*(spec.name for spec in self.specs), *fusible(self.specs, self.levels)])
        laid = [self.levels.dialect.operator(name) for name in entries]
        layouts = list(layout_lines(laid, checked, self.words, self.levels))
        yield from ("#pragma once", "")
        yield from (f"#include <{name}>" for name in _INCLUDES)
        yield ""
        base, abi_end, rest = (_SUPPORT / "abi.h").read_text(encoding="utf-8").partition("}  // namespace abi")
        yield from base.splitlines()
        for name in dict.fromkeys(structure_name(name) for name in entries):
            yield from structure(name)
        yield abi_end
        yield from rest.splitlines()
        yield from ("", *self.words.constants(), "", *self._types(), "", *self._levels())
        yield f"constexpr bool has_text = {'true' if self.text else 'false'};"
        yield from _fixed_lines("rule_functions", "tables")
        yield from ("", *enum_lines(laid, self.levels), "", *self._devices(), "", *sentence_lines(self.levels))
        yield from ("", *functions.limit_lines(), "", *self._casts())
        yield from ("", *functions.cells.lines(), *functions.nodes.lines(), "", *table)
        yield from _fixed_lines("accept")
        yield from ("", *function, "", *layouts)
        yield from _fixed_lines(*_EXPLAINING)

    def _write_tables(self, spec: OperatorSpec, rows: Sequence[str]) -> str:
        """Return the operator's tables as the last members of its `Layout`."""
        text = "\n".join(rows)
        names = [f"{kind}_{spec.name}" for kind in ("cells", "cases", "rules")]
        parts = [f"of({name})" if f" {name}[]" in text else "{}" for name in names]
        return f", {', '.join(parts)}, {case_field(spec)}, accepts_{spec.name}"

    def _levels(self) -> Iterator[str]:
        """Yield the levels, and the implementations with separate rules."""
        chosen = self.levels.chosen
        yield from (f"constexpr uint32_t level_{n.replace('.', '_')} = {self.levels.number(n):#06x};" for n in chosen)
        listed = ", ".join(f"level_{level.replace('.', '_')}" for level in chosen)
        yield f"inline constexpr uint32_t every_level[] = {{{listed}}};"
        yield f"constexpr uint32_t count_of_levels = {len(chosen)};"
        yield from self._implementations()

    def _implementations(self) -> Iterator[str]:
        """Yield the implementations with separate rules and their systems."""
        for number, name in enumerate(self.levels.implementations):
            yield f"constexpr uint32_t implementation_{name} = {1 << number};"
        systems = {name: _SYSTEMS[name] for name in self.levels.implementations if name in _SYSTEMS}
        for name, macro in systems.items():
            yield from (f"#if defined({macro})", f"constexpr uint32_t this_system = implementation_{name};", "#else")
        yield "constexpr uint32_t this_system = 0;"
        yield from ("#endif" for _ in systems)

    def _casts(self) -> Iterator[str]:
        """Yield the distance and the loss of each cast, by the numbers of both types."""
        types = {self.words.number("TENSOR_DATA_TYPE", kind): kind for kind in self.levels.dialect.types}
        count = max(types) + 1
        yield f"inline constexpr Cast casts[{count}][{count}] = {{"
        for number in range(count):
            row = (self._cast(types.get(number), types.get(other)) for other in range(count))
            yield f"    {{{', '.join(row)}}},"
        yield "};"

    def _cast(self, kind: str | None, other: str | None) -> str:
        if kind is None or other is None:
            return '{0xffff, ""}'
        lossy, family, narrow, width = cast_distance(kind, other, self.levels.dialect)
        distance = 0xFFFF if family == MAX_DISTANCE else lossy << 12 | family << 9 | narrow << 8 | width
        loss = describe_loss(kind, other, self.levels.dialect) if self.text else ""
        return f"{{{distance:#x}, {quote_literal(loss)}}}"

    def _types(self) -> Iterator[str]:
        """Yield the bits per element of each data type, by its number."""
        bits = self.levels.dialect.bits
        numbers = {self.words.number("TENSOR_DATA_TYPE", kind): bits[kind] for kind in self.levels.dialect.types}
        listed = ", ".join(str(numbers.get(number, 0)) for number in range(max(numbers) + 1))
        yield f"constexpr uint8_t bits_of_types[] = {{{listed}}};"

    def _devices(self) -> Iterator[str]:
        """Yield capabilities, and the types that require one of them."""
        names = capabilities(self.levels.dialect.name)
        for number, name in enumerate(names):
            yield f"constexpr uint32_t capability_{name} = {1 << number};"
        levels_by_need: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for level in self.levels.chosen:
            for need in required_capabilities(self.levels.dialect.name, level).items():
                levels_by_need.setdefault(need, []).append(level)
        rows = [
            f"{{{self.words.number('TENSOR_DATA_TYPE', kind)}, {self.levels.bits(levels):#x}, "
            f"{' | '.join(f'capability_{name}' for name in needs)}, {quote_literal(' or '.join(needs))}}}"
            for (kind, needs), levels in levels_by_need.items()
        ]
        yield f"inline constexpr Need needs[] = {{{', '.join(rows) or '{}'}}};"
