"""The complete header: fixed parts from files, and generated parts."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.dialects.directml.cpp.fusing import fused_lines, fusible
from specgate.dialects.directml.cpp.layout import enum_lines, layout_lines
from specgate.dialects.directml.cpp.levels import Levels
from specgate.dialects.directml.cpp.lines import folded
from specgate.dialects.directml.cpp.operators import Functions
from specgate.dialects.directml.cpp.sentences import limit_names, sentence_lines
from specgate.dialects.directml.cpp.structures import Words, structure, structure_name
from specgate.spec.tables import dialect
from specgate.validate.device import capabilities, required_capabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["write_header"]

_SUPPORT: Final = Path(__file__).parent / "support"
#: The predefined macro of each system, by the name of the implementation that exists on one system only.
_SYSTEMS: Final = {"linux": "__linux__", "windows": "_WIN32"}
_INCLUDES: Final = (
    "algorithm", "charconv", "cmath", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring", "forward_list",
    "initializer_list", "limits", "new", "string", "string_view", "type_traits", "utility", "vector",
)  # fmt: skip
#: The files that evaluate rules again for messages, in a separate namespace.
_LANGUAGE: Final = (
    "whole", "language", "spelling", "evaluate", "operations", "evaluator", "explain", "words", "facts", "places",
    "proposals", "repair", "advice",
)  # fmt: skip


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
    return _apart("\n".join(part for line in lines for part in folded(line)) + "\n")


def _apart(text: str) -> str:
    """Return a header in a separate namespace.

    Libraries of one process may include different headers. The linker would merge equal names with different
    definitions.
    """
    opened, closed = "namespace specgate {\n", "}  // namespace specgate\n"
    name = f"tables_{sha256(text.encode()).hexdigest()[:8]}"
    before, _, rest = text.partition(opened)
    inner, _, after = rest.rpartition(closed)
    return f"{before}{opened}inline namespace {name} {{\n{inner}}}  // namespace {name}\n{closed}{after}"


def _fixed(*names: str) -> Iterator[str]:
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

        Parts that use enum words are generated before the definitions of the words are written.
        """
        judged = [*self.functions.tensor_function(), ""]
        for spec in self.specs:
            judged += [*self.functions.operator_function(spec), ""]
        fused = list(fused_lines(self.specs, self.words, self.levels))
        for kind in self.levels.dialect.types:
            self.words.constant("TENSOR_DATA_TYPE", kind)
        dispatch = list(self._dispatch())
        entries = dict.fromkeys([*(spec.name for spec in self.specs), *fusible(self.specs, self.levels)])
        laid = [self.levels.dialect.operator(name) for name in entries]
        described = list(layout_lines(laid, self.words, self.levels, text=self.text))
        texts = list(sentence_lines(self.words, self.levels))
        yield from ("#pragma once", "")
        yield from (f"#include <{name}>" for name in _INCLUDES)
        yield ""
        base, abi_end, rest = (_SUPPORT / "base.h").read_text(encoding="utf-8").partition("}  // namespace abi")
        yield from base.splitlines()
        for name in dict.fromkeys(structure_name(name) for name in entries):
            yield from structure(name)
        yield abi_end
        yield from rest.splitlines()
        yield from ("", *self.words.constants(), "", *self._types(), *self._names(), "")
        yield from (
            f"constexpr uint32_t {self.levels.name(n)} = {self.levels.number(n):#06x};" for n in self.levels.chosen
        )
        yield from self._implementations()
        yield f"constexpr bool has_text = {'true' if self.text else 'false'};"
        yield from _fixed("arena", "rules", "layout")
        yield from ("", *enum_lines(laid, self.levels), *_fixed("numbers", "json", "fixes"))
        yield from ("", *described, "", *texts, "", *self.functions.limit_lines(), "")
        yield from _fixed("notes", "check")
        if self.text:
            yield from ("namespace language {", *limit_names(self.functions.limits), *_fixed(*_LANGUAGE))
            yield "}  // namespace language"
        yield from ("", *fused, "", *judged, *dispatch)
        first, _, rest = (_SUPPORT / "api.h").read_text(encoding="utf-8").partition("// Telling stands here.\n")
        yield from (
            *first.splitlines(),
            *_fixed(*(("remedy", "text") if self.text else ("silent",))),
            *rest.splitlines(),
        )

    def _implementations(self) -> Iterator[str]:
        """Yield the implementations with separate rules and their systems."""
        for number, name in enumerate(self.levels.implementations):
            yield f"constexpr uint32_t implementation_{name} = {1 << number};"
        here = {name: _SYSTEMS[name] for name in self.levels.implementations if name in _SYSTEMS}
        for name, macro in here.items():
            yield from (f"#if defined({macro})", f"constexpr uint32_t this_system = implementation_{name};", "#else")
        yield "constexpr uint32_t this_system = 0;"
        yield from ("#endif" for _ in here)

    def _names(self) -> Iterator[str]:
        """Yield the names of the data types by their numbers."""
        names = {self.words.number("TENSOR_DATA_TYPE", kind): f'"{kind}"' for kind in self.levels.dialect.types}
        names[0] = '"UNKNOWN"'
        listed = ", ".join(names.get(number, "nullptr") for number in range(max(names) + 1))
        yield f"constexpr const char* names_of_types[] = {{{listed}}};"

    def _types(self) -> Iterator[str]:
        """Yield the bits per element of each data type, by its number."""
        bits = self.levels.dialect.bits
        numbers = {self.words.number("TENSOR_DATA_TYPE", kind): bits[kind] for kind in self.levels.dialect.types}
        listed = ", ".join(str(numbers.get(number, 0)) for number in range(max(numbers) + 1))
        yield f"constexpr uint8_t bits_of_types[] = {{{listed}}};"

    def _dispatch(self) -> Iterator[str]:
        """Yield the function lookup by operator, and the missing capabilities."""
        yield "// changes: the levels that take something else than the one before, as bits of their places in"
        yield "// every_level. alike: those at which all sides and implementations say the same."
        yield "struct Entry {"
        yield "  void (*judge)(Check&, const void*);"
        yield "  const char* name;"
        yield "  uint32_t changes, alike;"
        yield "};"
        yield "// The function of an operator, none where the level does not have it; a level of 0 has all."
        yield "inline Entry entry_of(uint32_t type, uint32_t level) {"
        yield "  (void)level;"
        yield "  switch (type) {"
        for spec in self.specs:
            constant = self.words.constant("OPERATOR_TYPE", spec.name)
            texts = self.levels.everywhere(level for level in self.levels.chosen if level in spec.levels)
            condition = self.levels.condition(texts, self.levels.everywhere(self.levels.chosen))
            text = f"judge_{spec.name}"
            if condition is not None:
                text = f"level == 0 || ({condition}) ? {text} : nullptr"
            bits = "".join(f", {number:#x}" for number in self.levels.stretches(spec))
            yield f'    case {constant}: return {{{text}, "{spec.name}"{bits}}};'
        yield '    default: return {nullptr, "", 0, 0};'
        yield "  }"
        yield "}"
        listed = ", ".join(self.levels.name(level) for level in self.levels.chosen)
        yield f"constexpr uint32_t every_level[] = {{{listed}}};"
        yield "inline bool known_level(uint32_t level) {"
        yield f"  return {' || '.join(f'level == {self.levels.name(level)}' for level in self.levels.chosen)};"
        yield "}"
        yield from self._devices()

    def _devices(self) -> Iterator[str]:
        names = capabilities(self.levels.dialect.name)
        for number, name in enumerate(names):
            yield f"constexpr uint32_t capability_{name} = {1 << number};"
        yield "// The types that a device with these capabilities does not take, as bits."
        yield "inline uint32_t lacking_types(uint32_t level, uint32_t capabilities) {"
        yield "  uint32_t found = 0;"
        texts_by_key: dict[tuple[str, tuple[str, ...]], list[str]] = {}
        for level in self.levels.chosen:
            for kind, needs in required_capabilities(self.levels.dialect.name, level).items():
                texts_by_key.setdefault((kind, needs), []).append(level)
        for (kind, needs), levels in texts_by_key.items():
            texts = self.levels.everywhere(levels)
            condition = self.levels.condition(texts, self.levels.everywhere(self.levels.chosen))
            have = " | ".join(f"capability_{name}" for name in needs)
            word = self.words.mask("TENSOR_DATA_TYPE", [kind]) + ".bits"
            guard = "" if condition is None else f"{condition} && "
            yield f"  if ({guard}(capabilities & ({have})) == 0) found |= {word};"
        yield "  (void)level;"
        yield "  return found;"
        yield "}"
