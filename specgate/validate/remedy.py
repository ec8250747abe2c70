"""Fix search: the first change that repairs a rule, and its words."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import NumberedWord
from specgate.rules.words import spell_value
from specgate.slotted import replace, slotted
from specgate.validate.facts import ChangedFacts
from specgate.validate.fixes import describe_loss
from specgate.validate.repair import change_part, repairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor, TensorDesc
    from specgate.rules.evaluate import Context
    from specgate.spec.fields import FieldInfo
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.validate.facts import Facts
    from specgate.validate.failures import Failure, Failures
    from specgate.validate.repair import Place, Repair, Step

MAX_CHOICES: Final = 6
#: With one value, and with several or a range of them.
_PATTERNS: Final[Mapping[str, str]] = {
    "set": "set {owner} to {values}",
    "member": "set {owner}.{at} to {values}",
    "element": "set {owner}[{at}] to {values}",
    "length": "give {owner} {values} {noun}",
    "absent": "leave {owner} out",
    "given": "give {owner}",
    "strides": "leave the strides of {owner} out",
    "size": "set dimension {label} of {owner} to {values}",
    "sizes": "set the sizes of {owner} to {values}",
    "rank": "give {owner} rank {values}",
    "type": "cast {owner} to {values}",
    "elements": "give {owner} {values} {noun}",
    "value": "give {owner} the value {values}",
    "entry": "set element {at} of {owner} to {values}",
}
#: Parts that one sentence can name for several tensors.
_JOINABLE_PARTS: Final = frozenset({"rank", "type", "size", "sizes", "elements"})
_NOUNS: Final = {"length": "value", "elements": "element"}


def advice(
    repair: Repair,
    fields: Mapping[str, FieldInfo],
    names: Mapping[str, str],
    describe_loss: Callable[[Step], str] | None = None,
) -> str | None:
    """Return a repair as one phrase, None where it would not help a reader.

    fields: by the names in the repair. names: display names where they differ. describe_loss: describes the loss of a
    cast.
    """
    phrases: list[str] = []
    groups: dict[tuple[Any, ...], list[Step]] = {}
    for step in repair:
        kind = step.place.kind
        key = (kind, step.place.label, step.values, step.span) if kind in _JOINABLE_PARTS else step
        groups.setdefault((*key,), []).append(step)
    for steps in groups.values():
        places = [step.place for step in steps]
        losses = list(dict.fromkeys(filter(None, map(describe_loss, steps)))) if describe_loss is not None else []
        phrase = _phrase(steps[0], _join_parts([_owner(place, names) for place in places]), fields)
        phrases.append(phrase + (f" ({'; '.join(losses)})" if losses else ""))
    return " and ".join(phrases) if len(phrases) <= 3 else None


def _owner(place: Place, names: Mapping[str, str]) -> str:
    return names.get(place.field, place.field) + ("" if place.item is None else f"[{place.item}]")


def _phrase(step: Step, owner: str, fields: Mapping[str, FieldInfo]) -> str:
    place = step.place
    info = fields.get(place.field)
    pattern = _PATTERNS[place.kind]
    if place.kind == "type" and info is not None and info.kind == "output":
        pattern = "give {owner} the type {values}"
    values = _choices(step)
    noun = _NOUNS.get(place.kind, "")
    if noun and values != "1":
        noun += "s"
    return pattern.format(owner=owner, at=place.at, label=place.label or place.at, values=values, noun=noun)


def _choices(step: Step) -> str:
    if step.span:
        low, high = step.values
        if low is None:
            return f"{spell_value(high)} or less"
        return (
            f"{spell_value(low)} or more" if high is None else f"a value from {spell_value(low)} to {spell_value(high)}"
        )
    choices = [_value(value) for value in step.values[:MAX_CHOICES]]
    if len(step.values) > MAX_CHOICES:
        choices[-1] = f"another of {len(step.values)} values"
    return _join_parts(choices, "or")


def _value(value: Any) -> str:
    return spell_value(tuple(value) if isinstance(value, tuple | list) else value)


def _join_parts(parts: Iterable[str], word: str = "and") -> str:
    *first, last = dict.fromkeys(parts)
    return f"{', '.join(first)} {word} {last}" if first else last


#: Candidates checked against all other rules before the first is proposed unchecked.
_MAX_CHECKED: Final = 3
_CHOICES: Final = 6
_TENSOR: Final = "tensor"


@slotted(frozen=True)
class Remedy:
    """Search for a change after which a rule holds.

    context: the values of the rule. where: the tensor of a tensor rule, "" for others. facts: cached facts
    about the descriptor. failures: lists the failures of a descriptor at the level.
    """

    form: RuleForm
    context: Context
    where: str
    descriptor: Descriptor
    resolved: Resolved
    facts: Facts
    failures: Failures

    def fix(self) -> str | None:
        """Return the fix in words, None without one."""
        steps = self.repair()
        return (
            None
            if steps is None
            else advice(self._with_words(steps), self._infos(), self._names(), self._describe_loss)
        )

    def _describe_loss(self, step: Step) -> str:
        """Return the loss of casting an input."""
        info = self._infos().get(step.place.field)
        if step.place.kind != "type" or info is None or info.kind == "output":
            return ""
        result = self.context.fields.get(step.place.field)
        tensor = result if step.place.item is None or result is None else result[step.place.item]
        if tensor is None or tensor.type is None:
            return ""
        return describe_loss(str(tensor.type), str(step.values[0]), self.resolved.spec.dialect)

    def _with_words(self, repair: Repair) -> Repair:
        """Return a repair with enum words instead of numbers.

        Ranges of numbers are kept.
        """
        infos, dialect = self._infos(), self.resolved.spec.dialect
        return tuple(
            step._replace(
                values=tuple(_word(dialect.words_of_numbers(infos[step.place.field], v)) for v in step.values)
            )
            if step.place.kind in {"set", "element"} and not step.span
            else step
            for step in repair
        )

    def repair(self) -> Repair | None:
        """Return a repair without new failures, else the first, else None.

        For a tensor rule, which may fail for many tensors, the first repair is returned unchecked.
        """
        if self.where:
            return next(self.repairs(), None)
        before = {f.key for f in self.failures(self.descriptor, self.resolved, self.facts) if not f.unknown}
        first = None
        for repair in islice(self.repairs(), _MAX_CHECKED):
            *rest, last = repair
            clean = [
                i for i in range(min(len(last.values_to_test), _CHOICES)) if not self._breaks_rule(repair, i, before)
            ]
            if len(clean) == len(last.values_to_test):
                return repair
            if clean:
                return (*rest, last._replace(values=tuple(last.values_to_test[index] for index in clean), span=False))
            first = first or repair
        return first

    def _breaks_rule(self, repair: Repair, choice: int, before: set[tuple[str, str, str]]) -> bool:
        descriptor = self.apply_repair(repair, choice)
        check = self.facts.quick_check
        if check is not None and descriptor.plain and not self.resolved.spec.conditions and check(descriptor.fields):
            return False
        entries = self.descriptor.fields
        fields = frozenset(name for name, value in descriptor.fields.items() if value is not entries.get(name))
        hidden, facts = self._hidden_rules(), ChangedFacts(self.facts, self.context, fields)
        new = [f for f in self._certain(descriptor, facts, bare=True) if f.rule not in hidden and f.key not in before]
        names = {rule for scope, rule, _ in before if scope == "operator"}
        if any(_has_place(f) or f.rule not in names for f in new):
            return True
        if all(self._is_unaffected(f.rule, fields) for f in new):
            return False
        return any(f.key not in before and f.rule not in hidden for f in self._certain(descriptor, facts, bare=False))

    def _certain(self, descriptor: Descriptor, facts: Facts, *, bare: bool) -> list[Failure]:
        return [f for f in self.failures(descriptor, self.resolved, facts, bare=bare) if not f.unknown]

    def _is_unaffected(self, rule: str, fields: frozenset[str]) -> bool:
        """Return whether a rule reads no modified field and so fails as before."""
        forms = [form for form in self.resolved.rules if form.name == rule]
        return len(forms) == 1 and fields.isdisjoint(forms[0].fields)

    def _hidden_rules(self) -> set[str]:
        """Return rules that were not evaluated because this one fails.

        Their failures are not caused by the change.
        """
        names = {self.form.name}
        for form in self.resolved.rules:  # each rule follows those in its `after`
            if names.intersection(form.after):
                names.add(form.name)
        return names

    def repairs(self) -> Iterator[Repair]:
        """Yield repairs of the rule that can be expressed in words."""
        infos, names = self._infos(), self._names()
        leaves = self.facts.decisive(self.form.require, self.context)
        steps = repairs(self.form, self.context, leaves, infos, self.resolved.spec.dialect)
        yield from (repair for repair in steps if advice(repair, infos, names))

    def apply_repair(self, repair: Repair, choice: int = 0) -> Descriptor:
        """Return the repaired descriptor, with value `choice` of the last part."""
        fields: Mapping[str, Any] = self.context.fields
        for step in repair:
            value = step.values_to_test[choice if step is repair[-1] else 0]
            fields = change_part(step.place, value, fields)
        entries = {name: value for name, value in fields.items() if value is not self.context.fields.get(name)}
        if self.where:
            entries = self._replace_tensor(entries[_TENSOR])
        return replace(self.descriptor, fields={**self.descriptor.fields, **entries}, plain=False)

    def _replace_tensor(self, tensor: TensorDesc) -> dict[str, Any]:
        name, _, item = self.where.partition("[")
        if not item:
            return {name: tensor}
        result = self.descriptor.fields[name]
        return {name: type(result)(tensor if f"{index}]" == item else other for index, other in enumerate(result))}

    def _infos(self) -> Mapping[str, FieldInfo]:
        fields = self.resolved.fields
        return {_TENSOR: fields[self.where.partition("[")[0]]} if self.where else fields

    def _names(self) -> dict[str, str]:
        if self.where:
            return {_TENSOR: self.where}
        return {name: info.vendor_name for name, info in self.resolved.fields.items()}


def _has_place(failure: Failure) -> bool:
    """Return whether a bare failure has a place.

    Failures of rules on the whole descriptor do not.
    """
    return failure.aspect != "rule" or failure.scope == "tensor" or failure.where != ""


def _word(value: Any) -> Any:
    return value.word if isinstance(value, NumberedWord) else value
