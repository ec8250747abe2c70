"""Rules in C++, of an operator or of every tensor, with messages."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from specgate.dialects.directml.cpp.levels import SIDES
from specgate.dialects.directml.cpp.lines import comment, quoted, wrapped
from specgate.dialects.directml.cpp.places import place_of
from specgate.dialects.directml.cpp.sentences import capitalized, written
from specgate.dialects.directml.cpp.values import Untranslatable, joined, negated

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from specgate.dialects.directml.cpp.levels import Levels, Stretch
    from specgate.dialects.directml.cpp.translate import Translator
    from specgate.spec.forms import RuleForm

__all__ = ["Rules", "in_order"]

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

    def lines(self) -> Iterator[str]:
        """Yield all rules in table order."""
        seen: dict[str, int] = {}
        for form in self.forms:
            number = seen[form.name] = seen.get(form.name, 0) + 1
            yield ""
            yield from self._rule(form, f"rule_{form.name.replace('-', '_')}{'' if number == 1 else f'_{number}'}")

    def _readable(self, form: RuleForm) -> bool:
        return all(path.partition(".")[0] in self.translate.fields for path in form.needs)

    def _rule(self, form: RuleForm, name: str) -> Iterator[str]:
        sentence = form.because or form.require.text
        yield from comment(f"{form.name}: {sentence}")
        yield f"static constexpr Rule {name} = {{"
        message = capitalized(sentence, form, self.translate.fields) if self.text else ""
        yield f'    "{self.scope}/{form.name}", {quoted(message)},'
        condition = self.levels.condition(self.where[form], self.every)
        parts = [] if condition is None else [condition]
        if form.on is not None:
            parts.append("output" if form.on == "output" else "!output")
        parts += [text for path in sorted(form.needs) if (text := self._given(path)) is not None]
        result = self.translate(form.require.tree)
        test = result.code
        if form.when is not None:
            test = f"{negated(self.translate(form.when.tree)).code} || {joined(result, '||')}"
        bits = ", ".join((*self._bits(form), *self._levels(form, test), *self._truths(form)))
        known = [bits, *(written(form) if self.text else ())]
        yield from (f"    {part}," for part in known[:-1])
        yield f"    {known[-1]}}};"
        place = "place" if self.of_tensors else place_of(form.require, self.translate)
        parts += [f"check.asks({name})", f"check.breaks({test})", f"check.fails({name}, {place})"]
        yield from wrapped(parts, "return true" if self.of_tensors else "return")

    def _bits(self, form: RuleForm) -> Iterator[str]:
        """Yield the bits of the rule, of rules it may repeat, and of its fields."""
        after = sum(1 << self.names.index(name) for name in set(form.after) if name in self.names)
        reads = 0 if self.of_tensors else sum(1 << self.fields.index(name) for name in form.fields)
        yield from (f"{bits:#x}" for bits in (1 << self.names.index(form.name), after, reads))

    def _truths(self, form: RuleForm) -> Iterator[str]:
        yield from ("true" if known else "false" for known in ("ranks" in form.hides, form.crashes))

    def _levels(self, form: RuleForm, test: str) -> Iterator[str]:
        """Yield the levels that reject the broken rule, as bits.

        The first mask has the documented levels, the second one the observed levels. Both are 0 if the rule depends on
        the level.
        """
        numbers_by_name: dict[str, int] = dict.fromkeys(SIDES, 0)
        if "check.level" not in test:  # the rule is the same at all levels
            texts, every = set(self.where[form]), set(self.every)
            for number, level in enumerate(self.levels.chosen):
                own = [(level, by) for by in self.levels.implementations]
                for side in SIDES:
                    items = [(level, side), *(own if side == "observed" else ())]
                    numbers_by_name[side] |= all(each in texts or each not in every for each in items) << number
        yield from (f"{bits:#x}" for bits in numbers_by_name.values())

    def _given(self, path: str) -> str | None:
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
