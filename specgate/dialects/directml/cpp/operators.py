"""One C++ function per operator: loading, support rows and rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from specgate.dialects.directml.cpp.fields import at, cell_lines, declared, presence_lines, value_of
from specgate.dialects.directml.cpp.levels import SIDES
from specgate.dialects.directml.cpp.lines import code_of, comment, quoted
from specgate.dialects.directml.cpp.rules import Rules
from specgate.dialects.directml.cpp.structures import structure_name
from specgate.dialects.directml.cpp.translate import Translator
from specgate.dialects.directml.cpp.values import Value, whole
from specgate.rules.walk import list_steps, walk
from specgate.spec.fields import Cell

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.dialects.directml.cpp.levels import Levels, Stretch
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["Functions"]


class Functions:
    """Writes the functions of a header with shared levels and words."""

    def __init__(self, levels: Levels, words: Words, *, text: bool = True) -> None:
        self.text = text
        self.levels = levels
        self.words = words
        self.limits: dict[str, Value] = {}
        for name in sorted(levels.dialect.limit_names):
            known = [levels.dialect.limits(level)[name] for level in levels.chosen]
            self.limits[name] = whole(f"limit_{name}(check.level)", min(known), max(known), tight=True)

    def limit_lines(self) -> Iterator[str]:
        """Yield a function per number that depends only on the level."""
        for name in self.limits:
            yield f"inline int64_t limit_{name}(uint32_t level) {{"
            known = {level: self.levels.dialect.limits(level)[name] for level in self.levels.chosen}
            first = next(iter(known.values()))
            for level, number in reversed(known.items()):
                before = self.levels.chosen[: self.levels.chosen.index(level)]
                if before and known[before[-1]] != number:
                    yield f"  if (level >= {self.levels.name(level)}) return {number};"
            yield f"  return {first};"
            yield "}"

    def tensor_function(self) -> Iterator[str]:
        """Yield the function with the rules of every tensor."""
        rules_at = self.levels.dialect.tensor_rules_at
        every = self.levels.everywhere(self.levels.chosen)
        forms: dict[Stretch, Sequence[RuleForm]] = {(level, side): rules_at(level, side, None) for level, side in every}
        fields = {"tensor": Value("tensor", "tensor", tight=True)}
        translate = Translator(fields, self.limits, {}, self.words)
        rules = Rules("tensor", forms, self.levels, translate, text=self.text, of_tensors=True)
        body = list(rules.lines())
        yield "// What every tensor obeys, whatever the operator."
        yield "inline bool judge_tensor(Check& check, const Tensor& tensor, const Place& place, bool output) {"
        yield from self._scope(body)
        yield from (f"  {line}" if line else "" for line in body)
        yield "  return false;"
        yield "}"

    def operator_function(self, spec: OperatorSpec) -> Iterator[str]:
        """Yield the function that validates one operator."""
        sides = self.levels.sides(spec)
        structure = structure_name(spec.name)
        body = list(self._body(spec, sides))
        text = code_of("\n".join(body))
        yield from comment(f"{spec.name}: {spec.table.summary}")
        yield f"inline void judge_{spec.name}(Check& check, const void* description) {{"
        yield f"  const auto* desc = static_cast<const abi::{structure}*>(description);"
        yield from self._scope(body)
        for name, info in spec.fields.items():
            if re.search(rf"(?<![\w>]){name}\b", text):
                yield f"  {declared(spec.name, info)}"
        yield from (f"  {line}" if line else "" for line in body)
        yield "}"

    def _body(self, spec: OperatorSpec, sides: Mapping[Stretch, Resolved]) -> Iterator[str]:
        for lines in walk(list_steps(_AllLevels(spec, sides)), _Body(self, spec, sides)):
            yield from lines

    def _scope(self, body: Sequence[str]) -> Iterator[str]:
        """Yield the variables that a body's level and side conditions read."""
        text = code_of("\n".join(body))
        if re.search(r"(?<!\.)\blevel\b", text):
            yield "  const uint32_t level = check.level;"
        for side in SIDES:
            if re.search(rf"(?<!\.)\b{side}\b", text):
                yield f"  const bool {side} = check.{side};"
        for by in self.levels.implementations:
            if f"by_{by}" in text:
                yield f"  const bool by_{by} = (check.implementation & implementation_{by}) != 0;"


class _AllLevels:
    """An operator at all levels and sides at once, for the walk.

    The generated C++ distinguishes its rows and rules.
    """

    strangers: tuple[str, ...] = ()
    rules: tuple[RuleForm, ...] = ()

    def __init__(self, spec: OperatorSpec, sides: Mapping[Stretch, Resolved]) -> None:
        self.fields: Mapping[str, FieldInfo] = spec.fields
        self.cells = dict.fromkeys(spec.fields, Cell())
        self.tensor_rules = tuple(dict.fromkeys(form for each in sides.values() for form in each.tensor_rules))


class _Body:
    """Writes one operator's function step by step."""

    def __init__(self, functions: Functions, spec: OperatorSpec, sides: Mapping[Stretch, Resolved]) -> None:
        self.functions = functions
        self.spec = spec
        self.sides = sides
        fields = {name: value_of(info) for name, info in spec.fields.items()}
        self.translate = Translator(fields, functions.limits, spec.scope.defines, functions.words)
        self.numbers = {name: number for number, name in enumerate(spec.fields)}
        self.cases_written = not spec.whens

    def presence(self, info: FieldInfo) -> Iterator[str]:
        return presence_lines(info, self.numbers[info.name])

    def absence(self, name: str) -> Iterator[str]:
        raise NotImplementedError  # a structure has the members of all levels

    def cell(self, info: FieldInfo, _cell: Cell | None) -> Iterator[str]:
        return cell_lines(info.name, self.numbers[info.name], self.sides, self.functions.levels, self.functions.words)

    def tensors(self, info: FieldInfo, _forms: tuple[RuleForm, ...]) -> Iterator[str]:
        yield from self._cases_once()
        output = "true" if info.kind == "output" else "false"
        yield f"if (check.obeys({info.name}, {at(info.name, self.numbers[info.name])}, {output})) return;"

    def rules(self, _forms: tuple[RuleForm, ...]) -> Iterator[str]:
        yield from self._cases_once()
        forms = {stretch: resolved.rules for stretch, resolved in self.sides.items()}
        levels, text = self.functions.levels, self.functions.text
        yield from Rules(self.spec.name, forms, levels, self.translate, text=text).lines()

    def _cases_once(self) -> Iterator[str]:
        """Yield the conditional rows after all cells."""
        if not self.cases_written:
            self.cases_written = True
            yield from self._cases()

    def _cases(self) -> Iterator[str]:
        """Yield conditional rows; the first one whose condition holds applies."""
        spec, sides, levels = self.spec, self.sides, self.functions.levels
        before = ""
        held_rows: list[tuple[str, str | None]] = []
        for when in {rule.text: rule for rule in spec.whens}.values():
            resolved_by_stretch = {
                stretch: case.resolved
                for stretch, resolved in sides.items()
                for case in resolved.cases
                if case.when.text == when.text
            }
            if not resolved_by_stretch:
                continue
            condition = levels.condition(resolved_by_stretch, sides)
            held_rows.append((when.text if self.functions.text else "", condition))
            test = self.translate(when.tree).operand
            yield f"{before}if ({test}{f' && ({condition})' if condition else ''}) {{"
            for number, name in enumerate(spec.fields):
                lines = cell_lines(name, number, resolved_by_stretch, levels, self.functions.words)
                yield from (f"  {line}" for line in lines)
            before = "} else "
        read = {name for when in spec.whens for name in when.fields}
        number, name = next((number, name) for number, name in enumerate(spec.fields) if name in read)
        rows = ", ".join(f"{{{quoted(text)}, {condition or 'true'}}}" for text, condition in held_rows)
        yield "} else {"
        yield f"  if (check.no_case({at(name, number)}, {{{rows}}})) return;"
        yield "}"
