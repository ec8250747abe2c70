"""One function of C++ for each operator: what it loads, what the rows take, and the rules with their sentences."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from specgate.dialects.directml.cpp.fields import cell_lines, declared, presence_lines, value_of
from specgate.dialects.directml.cpp.levels import SIDES
from specgate.dialects.directml.cpp.lines import code_of, comment, wrapped
from specgate.dialects.directml.cpp.structures import structure_name
from specgate.dialects.directml.cpp.translate import Translator
from specgate.dialects.directml.cpp.values import Value, joined, negated, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.directml.cpp.levels import Levels, Stretch
    from specgate.dialects.directml.cpp.structures import Words
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["Functions"]


class Functions:
    """Writes the functions of a header, which share its levels and its words."""

    def __init__(self, levels: Levels, words: Words) -> None:
        self.levels = levels
        self.words = words
        self.limits: dict[str, Value] = {}
        for name in sorted(levels.dialect.limit_names):
            known = [levels.dialect.limits(level)[name] for level in levels.chosen]
            self.limits[name] = whole(f"limit_{name}(check.level)", min(known), max(known), tight=True)

    def limit_lines(self) -> Iterator[str]:
        """Yield a function for each number that depends on the level alone."""
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
        """Yield the function of what every tensor obeys."""
        dialect, forms = self.levels.dialect, {}
        for level in self.levels.chosen:
            for side in SIDES:
                forms[level, side] = dialect.tensor_rules_at(level, side, None)
        translate = Translator({"tensor": Value("tensor", "tensor", tight=True)}, self.limits, {}, self.words)
        yield "// What every tensor obeys, whatever the operator."
        yield "inline bool judge_tensor(Check& check, const Tensor& tensor, const char* where, bool output) {"
        body: list[str] = []
        for form, where in _forms(forms).items():
            body += self._rule(form, where, forms, translate, leave="return true", place="where")
        yield from _scope(body)
        yield from (f"  {line}" if line else "" for line in body)
        yield "  return false;"
        yield "}"

    def operator_function(self, spec: OperatorSpec) -> Iterator[str]:
        """Yield the function that judges one operator."""
        sides = self.levels.sides(spec)
        structure = structure_name(spec.name)
        body = list(self._body(spec, sides))
        text = "\n".join(body)
        yield from comment(f"{spec.name}: {spec.table.summary}")
        yield f"inline void judge_{spec.name}(Check& check, const void* description) {{"
        yield f"  const auto* desc = static_cast<const abi::{structure}*>(description);"
        yield from _scope(body)
        for name, info in spec.fields.items():
            if re.search(rf"(?<![\w>\"/]){name}\b(?!\")", code_of(text)):
                yield f"  {declared(spec.name, info)}"
        yield from (f"  {line}" if line else "" for line in body)
        yield "}"

    def _body(self, spec: OperatorSpec, sides: Mapping[Stretch, Resolved]) -> Iterator[str]:
        fields = {name: value_of(info) for name, info in spec.fields.items()}
        for info in spec.fields.values():
            yield from presence_lines(info)
        for name in spec.fields:
            yield from self._cells(name, sides)
        for info in spec.fields.values():
            if info.type.removesuffix("[]") == "tensor":
                output = "true" if info.kind == "output" else "false"
                yield f'if (check.obeys({info.name}, "{info.name}", {output})) return;'
        translate = Translator(fields, self.limits, spec.scope.defines, self.words)
        if spec.whens:
            yield from self._cases(spec, sides, translate)
        forms = {stretch: resolved.rules for stretch, resolved in sides.items()}
        for form, where in _forms(forms).items():
            yield from self._rule(form, where, sides, translate, spec=spec)

    def _cells(self, name: str, sides: Mapping[Stretch, Resolved]) -> Iterator[str]:
        yield from cell_lines(name, sides, self.levels, self.words)

    def _cases(self, spec: OperatorSpec, sides: Mapping[Stretch, Resolved], translate: Translator) -> Iterator[str]:
        """Yield the rows of an operator that has several at a level: the first whose condition holds counts."""
        whens = dict.fromkeys(when.text for when in spec.whens)
        for number, text in enumerate(whens):
            held: dict[Stretch, Resolved] = {}
            trees = {}
            for stretch, resolved in sides.items():
                for case in resolved.cases:
                    if case.when.text == text:
                        held[stretch], trees[text] = case.resolved, case.when.tree
            if not held:
                continue
            condition = self.levels.condition(held, sides)
            test = translate(trees[text]).operand
            yield f"{'} else ' if number else ''}if ({test}{f' && ({condition})' if condition else ''}) {{"
            for name in spec.fields:
                lines = cell_lines(name, held, self.levels, self.words)
                yield from (f"  {line}" for line in lines)
        yield "} else {"
        yield f'  if (check.fails("{spec.name}/support-case", "")) return;'
        yield "}"

    def _rule(
        self,
        form: RuleForm,
        where: Sequence[Stretch],
        every: Iterable[Stretch],
        translate: Translator,
        *,
        spec: OperatorSpec | None = None,
        leave: str = "return",
        place: str = '""',
    ) -> Iterator[str]:
        known = translate.fields
        if any(path.partition(".")[0] not in known for path in form.needs):
            return
        yield ""
        yield from comment(f"{form.name}: {form.because or form.require.text}")
        parts = [] if (condition := self.levels.condition(where, every)) is None else [condition]
        if form.on is not None:
            parts.append("output" if form.on == "output" else "!output")
        parts += [given for path in sorted(form.needs) if (given := _given(path, translate)) is not None]
        held = translate(form.require.tree)
        if form.when is not None:
            when = translate(form.when.tree)
            test = f"{negated(when).code} || {joined(held, '||')}"
        else:
            test = held.code
        parts.append(f"check.breaks({test})")
        scope = "tensor" if spec is None else spec.name
        parts.append(f'check.fails("{scope}/{form.name}", {place})')
        yield from wrapped(parts, leave)


def _given(path: str, translate: Translator) -> str | None:
    """Return what says that what a rule reads is given, None where it always is."""
    text = translate.present(ast.parse(path, mode="eval").body)
    return None if text == "true" else text


def _forms(forms: Mapping[Stretch, Iterable[RuleForm]]) -> dict[RuleForm, list[Stretch]]:
    """Return every rule with the levels and sides where it holds, in the order of the tables."""
    found: dict[RuleForm, list[Stretch]] = {}
    for stretch, held in forms.items():
        for form in held:
            found.setdefault(form, []).append(stretch)
    return found


def _scope(body: Sequence[str]) -> Iterator[str]:
    """Yield what the conditions on levels and sides of a body read."""
    text = code_of("\n".join(body))
    if re.search(r"(?<!\.)\blevel\b", text):
        yield "  const uint32_t level = check.level;"
    for side in ("documented", "observed"):
        if re.search(rf"(?<!\.)\b{side}\b", text):
            yield f"  const bool {side} = check.{side};"
