"""Failed cells and rules, and the values that they report."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from specgate.descriptors.core import Descriptor, NumberedWord, format_value, is_record
from specgate.rules.evaluate import UNKNOWN, Undefined
from specgate.rules.explain import explain
from specgate.rules.words import spell_value, words
from specgate.slotted import field, slotted
from specgate.validate.facts import applies

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from specgate.rules.evaluate import Context
    from specgate.rules.language import Rule
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.validate.facts import Facts
    from specgate.validate.remedy import Remedy

#: Larger integers are described by their length: they can be too long to print or to write as JSON.
PRINTABLE: Final = 10**40


@slotted(frozen=True)
class Failure:
    """A cell or rule that fails, or with `unknown` is undecided, at one level.

    rule: the last part of the id (``axis-range``, ``IndicesTensor.type``). aspect: type, rank, value, … or rule.
    formula: the expression of a rule. remedy: searches for a fix.
    """

    rule: str
    where: str
    text: str
    values: Mapping[str, Any] = field(default_factory=dict)
    fix: str | None = None
    unknown: bool = False
    aspect: str = "rule"
    scope: str = "operator"
    structural: bool = False
    allowed: tuple[str, ...] = ()
    formula: str | None = None
    remedy: Remedy | None = field(default=None, compare=False, repr=False)
    write: Callable[[], str] | None = field(default=None, compare=False, repr=False)

    @property
    def message(self) -> str:
        """The message: `text`, or the result of `write` when it is first read."""
        return self.text if self.write is None else self.write()

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity under which failures at different levels are one finding."""
        return (self.scope, self.rule, self.where)


class Failures(Protocol):
    """Type of functions that list failures by a row; see `row_failures`."""

    def __call__(
        self, descriptor: Descriptor, resolved: Resolved, facts: Facts, *, bare: bool = False
    ) -> list[Failure]: ...


def bound_value(value: Any) -> Any:
    """Return a value for a message, replaced by a description if it is long."""
    if value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < PRINTABLE):
        return value
    return value if isinstance(value, str) and len(value) <= 200 else format_value(value, 200)


def plain_value(value: Any) -> Any:
    if value is UNKNOWN:
        return None
    if isinstance(value, str):
        return str(value) if len(value) <= 200 else format_value(value)
    if isinstance(value, int) and abs(value) >= PRINTABLE:
        return format_value(value)
    if isinstance(value, NumberedWord):
        return int(value)
    if is_record(value):
        return {name: plain_value(part) for name, part in value._asdict().items()}
    if isinstance(value, Descriptor):
        return format_value(value, 200)
    return [plain_value(v) for v in value] if isinstance(value, tuple | list | range) else value


class CheckedDescriptor(NamedTuple):
    """The descriptor, the level, cached facts and the checker for changes.

    bare: failures only tell whether they are certain, without places and reasons.
    """

    descriptor: Descriptor
    resolved: Resolved
    facts: Facts
    failures: Failures
    bare: bool = False


def rule_failures(
    forms: Iterable[RuleForm],
    context: Context,
    place: str,
    broken_rules: list[tuple[RuleForm, str, Undefined]],
    missing_names: frozenset[str],
    judged_fields: CheckedDescriptor,
) -> Iterator[tuple[Failure, RuleForm]]:
    """Yield the failures of forms in order.

    Rules that repeat an earlier failure are skipped; those without a value go to `broken_rules`.
    """
    facts = judged_fields.facts
    failed: set[str] = set()
    for form in forms:
        if (failed and failed.intersection(form.after)) or (missing_names and missing_names & form.fields):
            continue
        answer = facts.judge(form, context)
        if answer is True:
            continue
        if isinstance(answer, Undefined):
            failed.add(form.name)
            broken_rules.append((form, place, answer))
            continue
        if answer is False:
            failed.add(form.name)
        elif form.variable is not None:
            continue  # the failure of the type's cell already reports it
        if judged_fields.bare:
            yield Failure(form.name, place, "", unknown=answer is UNKNOWN, scope=form.scope), form
            continue
        yield (
            facts.failure_of(form, context, place, partial(_explain, form, context, place, judged_fields, answer)),
            form,
        )


def _explain(form: RuleForm, context: Context, place: str, judged_fields: CheckedDescriptor, answer: Any) -> Failure:
    remedy = None if answer is UNKNOWN else _remedy(form, context, place, judged_fields)
    return _failure(form, context, place, judged_fields, remedy)


def _remedy(form: RuleForm, context: Context, place: str, judged_fields: CheckedDescriptor) -> Remedy:
    from specgate.validate.remedy import Remedy  # most rules hold

    return Remedy(
        form,
        context,
        place,
        judged_fields.descriptor,
        judged_fields.resolved,
        judged_fields.facts,
        judged_fields.failures,
    )


def _failure(
    form: RuleForm, context: Context, place: str, judged_fields: CheckedDescriptor, remedy: Remedy | None
) -> Failure:
    result, rule = _sentence(form, place), form.require
    if form.when is not None and applies(form, context) is UNKNOWN:
        result, rule = f"{result} (undecided: unknown values leave open whether this rule applies)", form.when
    values = explain(rule, context)
    if place:
        values = {_name_tensor(text, place): value for text, value in values.items()}

    def write() -> str:
        fields = judged_fields.resolved.fields
        names = {"tensor": place} if place else {name: info.vendor_name for name, info in fields.items()}
        facts = words(judged_fields.facts.decisive(rule, context), context, names)
        facts = facts or " and ".join(f"{text} is {spell_value(value)}" for text, value in values.items())
        text = result + (f": {facts}" if facts else "")
        return capital(text, context.fields) if form.because else text

    return Failure(
        rule=form.name,
        where=place or _reported_field(form.require, values),
        text=result,
        values={text: plain_value(value) for text, value in values.items()},
        fix=form.fix,
        unknown=remedy is None,
        scope=form.scope,
        structural=form.structural,
        formula=_formula(form, place),
        remedy=remedy,
        write=write,
    )


def _sentence(form: RuleForm, place: str = "") -> str:
    """Return the sentence of a rule, or its expression without one."""
    return form.because or _name_tensor(form.require.text, place)


def _formula(form: RuleForm, place: str) -> str:
    text = form.require.text if form.when is None else f"{form.require.text} where {form.when.text}"
    return _name_tensor(text, place) if place else text


def capital(text: str, names: Container[str]) -> str:
    """Return a capitalized sentence, unless it begins with one of `names`."""
    first = re.split(r"[^A-Za-z]", text, maxsplit=1)[0]
    first_word = text.split(" ", 1)[0]
    if not first.islower() or "_" in first_word or first_word.rstrip(",:;").removesuffix("'s") in names:
        return text
    return text[0].upper() + text[1:]


def _name_tensor(text: str, place: str) -> str:
    """Return the text of a tensor rule with the field's name."""
    return text.replace("(tensor)", f"({place})").replace("tensor.", f"{place}.")


def _reported_field(rule: Rule, values: Mapping[str, Any]) -> str:
    """Return the field to report."""
    field_names = [name for name in rule.fields if name in values]
    field_names = (
        field_names or [name for name in rule.fields if any(name in text for text in values)] or list(rule.fields)
    )
    return min(field_names, key=lambda name: (rule.text.find(name), name), default="")


def broken_failure(form: RuleForm, place: str, error: Undefined) -> Failure:
    message = f"{_sentence(form, place)}: undecided, because {error}"
    message = capital(message, form.fields) if form.because else message
    formula = _formula(form, place)
    return Failure(
        form.name, place, message, fix=form.fix, scope=form.scope, structural=form.structural, formula=formula
    )
