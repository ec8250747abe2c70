"""Rules in C++, of an operator or of every tensor: their data and tests."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from specgate.dialects.directml.cpp.lines import comment, quote_literal, wrap_condition
from specgate.dialects.directml.cpp.sentences import capitalize_message
from specgate.dialects.directml.cpp.values import Untranslatable, format_operand, negate_condition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.directml.cpp.levels import Levels, Stretch
    from specgate.dialects.directml.cpp.nodes import Names, Nodes
    from specgate.dialects.directml.cpp.translate import Translator
    from specgate.spec.forms import RuleForm

#: The bits of a word, for sets of rules and of fields.
_BITS = 64


class Rules:
    """Writes the rules of one function.

    scope: the part of their ids between dialect and name. forms: the rules per level and side. text: whether to write
    messages. of_tensors: whether they are the rules of every tensor.
    """

    def __init__(
        self,
        scope: str,
        forms: Mapping[Stretch, Sequence[RuleForm]],
        levels: Levels,
        translate: Translator,
        *,
        text: bool,
        of_tensors: bool = False,
    ) -> None:
        self.of_tensors = of_tensors
        self.scope = scope
        self.levels = levels
        self.translate = translate
        self.every = list(forms)
        self.text = text
        self.where: dict[RuleForm, list[Stretch]] = {}
        for stretch, known_forms in forms.items():
            for form in known_forms:
                self.where.setdefault(form, []).append(stretch)
        self.forms = [form for form in in_order(forms.values()) if self._readable(form)]
        self.names = list(dict.fromkeys(form.name for form in self.forms))
        self.fields = list(translate.fields)
        if max(len(self.names), len(self.fields)) > _BITS:
            raise Untranslatable(f"{scope} has more than {_BITS} rules or fields")

    def tests(self) -> Iterator[str]:
        """Yield statements that reject a violation of a rule."""
        for form in self.forms:
            yield from comment(f"{form.name}: {form.because or form.require.text}")
            mask = self.levels.mask(self.where[form], self.every)
            parts = [] if mask == self.levels.mask(self.every, self.every) else [f"(now & {mask:#x}) != 0"]
            if form.on is not None:
                parts.append("output" if form.on == "output" else "!output")
            parts += [text for path in sorted(form.needs) if (text := self._presence(path)) is not None]
            result = self.translate(form.require.tree)
            if form.when is not None:
                parts.append(format_operand(self.translate(form.when.tree), "&&"))
            yield from wrap_condition([*parts, negate_condition(result).code], "return false")

    def rows(self, nodes: Nodes, names: Names) -> Iterator[str]:
        """Yield all rules as initializers of `Rule`, in table order."""
        for form in self.forms:
            sentence = (
                capitalize_message(form.because or form.require.text, form, self.translate.fields) if self.text else ""
            )
            fix = quote_literal(form.fix) if form.fix and self.text else "nullptr"
            bits = (self.levels.mask(self.where[form], self.every), *self._bits(form))
            values = [
                *(f"{number:#x}" for number in bits),
                str(self.names.index(form.name)),
                f"Side::{form.on or 'all'}",
                *("true" if flag else "false" for flag in ("ranks" in form.hides, form.crashes)),
                nodes.test(form.require, names),
                nodes.test(form.when, names),
            ]
            yield f'{{"{self.scope}/{form.name}", {quote_literal(sentence)},'
            yield f"    {fix}, {', '.join(values)}}},"

    def _readable(self, form: RuleForm) -> bool:
        return all(path.partition(".")[0] in self.translate.fields for path in form.needs)

    def _bits(self, form: RuleForm) -> tuple[int, int]:
        """Return the rules that this one may repeat, and its fields, as bits."""
        after = sum(1 << self.names.index(name) for name in set(form.after) if name in self.names)
        return after, 0 if self.of_tensors else sum(1 << self.fields.index(name) for name in form.fields)

    def _presence(self, path: str) -> str | None:
        """Return the presence condition of a rule's fields, None for always."""
        text = self.translate.present(ast.parse(path, mode="eval").body)
        return None if text == "true" else text


def in_order(sequences: Iterable[Sequence[RuleForm]]) -> list[RuleForm]:
    """Return all forms in one order that is consistent with each sequence."""
    before: dict[RuleForm, set[RuleForm]] = {}
    for sequence in sequences:
        for number, form in enumerate(sequence):
            before.setdefault(form, set()).update(sequence[max(0, number - 1) : number])
    forms: list[RuleForm] = []
    left = dict(before)
    while left:
        ready = next((form for form, earlier in left.items() if not earlier & left.keys()), None)
        if ready is None:
            raise Untranslatable("rules have different orders at different levels")
        forms.append(ready)
        del left[ready]
    return forms
