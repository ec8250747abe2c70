"""The explaining path: every cell and rule of an operator at one level, with all that fails and all that stays open."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import UNSTATED, Descriptor, ScaleBias, Size2D, TensorDesc, shown
from specgate.rules.evaluate import UNKNOWN, Broken
from specgate.rules.explain import explain
from specgate.validate.facts import Facts, applies

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from specgate.rules.evaluate import Context
    from specgate.rules.parse import Rule
    from specgate.spec.forms import Cell, FieldInfo, Resolved, RuleForm

__all__ = ["Failure", "cell_failures", "explain_at", "structure_failures"]

#: Integers from here on are told by their length: they cannot all be printed, nor written as JSON.
PRINTABLE: Final = 10**40


@dataclass(frozen=True, slots=True)
class Failure:
    """One cell or rule that does not hold (or, with `unknown`, cannot be decided) at one level.

    rule: the id's last part (``axis-range``, ``IndicesTensor.type``). aspect: type, rank, value, … or rule.
    """

    rule: str
    where: str
    message: str
    values: Mapping[str, Any] = field(default_factory=dict)
    fix: str | None = None
    unknown: bool = False
    aspect: str = "rule"
    scope: str = "operator"
    structural: bool = False
    allowed: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes two failures at different levels the same finding."""
        return (self.scope, self.rule, self.where)


def explain_at(descriptor: Descriptor, resolved: Resolved, facts: Facts | None = None) -> list[Failure]:
    """Return every failure of `descriptor` at the level of `resolved`: causes without their echoes.

    facts: what is known of the descriptor already.
    """
    facts = facts or Facts()
    if resolved.cases:
        from specgate.validate.cases import explain_cases  # which comes back here with the case that holds

        return explain_cases(descriptor, resolved, facts)
    context = facts.context(descriptor, resolved)
    found = list(structure_failures(descriptor, resolved))
    odd = [(oddity.where.partition("[")[0], oddity.code) for oddity in descriptor.oddities]
    # Rules that read these would only say again what is wrong with them.
    lost = frozenset([*(f.where for f in found), *(name for name, _ in odd)])
    broken: list[tuple[RuleForm, str, Broken]] = []
    tensor_failures: list[Failure] = []
    hidden = {(name, "types") for name, code in odd if code == "unknown-word"}  # the oddity says it
    for name, place, inner in facts.tensors(context) if resolved.tensor_rules else ():
        info = resolved.fields[name]
        forms = (form for form in resolved.tensor_rules if form.applies_to(info))
        for failure, form in _rules(forms, inner, place, broken, frozenset(), facts):
            tensor_failures.append(failure)
            if not failure.unknown:
                hidden.update((name, aspect) for aspect in form.hides)
    for name in resolved.fields:
        failures = cell_failures(name, resolved, context.fields[name])
        found += [f for f in failures if (name, f.aspect + "s") not in hidden]
    found += tensor_failures
    found += [failure for failure, _ in _rules(resolved.rules, context, "", broken, lost, facts)]
    if broken and not any(not f.unknown for f in found):
        # Nothing else explains why these rules have no value, so they are the cause themselves.
        found += [_broken(form, where, error) for form, where, error in broken]
    return found


def _broken(form: RuleForm, where: str, error: Broken) -> Failure:
    message = f"{form.require.text}, but it has no value here: {error}"
    return Failure(form.name, where, message, fix=form.fix, scope=form.scope, structural=form.structural)


def structure_failures(descriptor: Descriptor, resolved: Resolved) -> Iterator[Failure]:
    """Yield what is missing, too much, or of the wrong kind."""
    dialect = resolved.spec.dialect
    for oddity in descriptor.oddities:
        field_name = oddity.where.partition("[")[0]
        name = f"{field_name}.{oddity.code}" if field_name in resolved.fields else oddity.code
        where = oddity.where if oddity.where.isprintable() and len(oddity.where) <= 60 else shown(oddity.where)
        said = oddity.message
        if oddity.code == "unknown-attribute":  # the level says which there are
            words = [info.vendor_name for info in resolved.fields.values() if info.kind == "attribute"]
            said += f" (it has: {', '.join(words) or 'none'})"
        yield Failure(name, where, said, {where: _found(oddity.value)}, aspect="structure", structural=True)
    wrong = {oddity.where for oddity in descriptor.oddities}
    for name, info in resolved.fields.items():
        omissible = info.optional or info.default is not None or (dialect.unstated_outputs and info.kind == "output")
        given = descriptor.fields.get(name)
        message = None
        if given is None and not omissible and name not in wrong:
            message = f"{info.vendor_name} is required, but the descriptor does not give it"
        elif info.least is not None and isinstance(given, list | tuple) and len(given) < info.least:
            message = f"{name} holds {len(given)}, and at least {info.least} are required"
        if message is not None:
            yield Failure(f"{name}.required", name, message, aspect="structure", structural=True)
    for name, info in resolved.spec.fields.items():
        if name not in resolved.fields and descriptor.fields.get(name) is not None:
            message = f"{info.vendor_name} is not a field of {resolved.spec.name} at {resolved.level}"
            yield Failure(
                f"{name}.exists",
                name,
                message,
                {name: _plain(descriptor.fields[name])},
                aspect="structure",
                structural=True,
            )


def cell_failures(name: str, resolved: Resolved, value: Any) -> Iterator[Failure]:
    """Yield what the row refuses, or leaves open, in the value of the field `name`."""
    info, cell = resolved.fields[name], resolved.cells.get(name)
    if info.fuses:
        yield from _fused(name, cell, value, resolved)
    elif cell is not None or info.words:
        yield from _cell(name, info, cell, value)


def _cell(name: str, info: FieldInfo, cell: Cell | None, value: Any) -> Iterator[Failure]:
    if value is None:
        return
    for where, item in _items(name, value):
        if isinstance(item, TensorDesc):
            if cell is not None and item is not UNSTATED:
                yield from _tensor_cell(name, where, cell, item)
        elif isinstance(item, Size2D | ScaleBias):
            for member, number in item._asdict().items():
                yield from _value_cell(name, f"{where}.{member}", info, cell, number)
        else:
            yield from _value_cell(name, where, info, cell, item)


def _items(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a field's value, or the elements of an array, each with its place."""
    if isinstance(value, list | tuple) and not isinstance(value, TensorDesc | Size2D | ScaleBias):
        yield from ((f"{name}[{index}]", item) for index, item in enumerate(value))
    else:
        yield name, value


def _fused(name: str, cell: Cell | None, value: Any, resolved: Resolved) -> Iterator[Failure]:
    """What is wrong with operators that a field holds; nothing is with one that is left out."""
    if value is None:
        return
    from specgate.rules.fused import Fusible

    allowed = cell.operators if cell is not None else None
    fusible = Fusible(resolved.spec.dialect, resolved.level, allowed)
    for where, item in _items(name, value):
        for flaw in fusible.flaws(item):
            place = f"{where}.{flaw.field}" if flaw.field else where
            yield Failure(
                f"{name}.operator",
                place,
                f"{where} {flaw.message}",
                {where: shown(item, 200)},
                fix=f"{flaw.change} {place}" if flaw.change else None,
                aspect="value",
                structural=flaw.structural,
                allowed=(allowed or ()) if flaw.listed else (),
            )


def _tensor_cell(name: str, where: str, cell: Cell, tensor: TensorDesc) -> Iterator[Failure]:
    if cell.types is not None and tensor.type not in cell.types:
        unknown = tensor.type is None
        message = f"{where} has an unknown type" if unknown else f"{where} is {tensor.type}"
        values = {f"type({where})": tensor.type}
        allowed = tuple(cell.types)
        yield Failure(f"{name}.type", where, message, values, unknown=unknown, aspect="type", allowed=allowed)
    if cell.ranks is not None and (tensor.sizes is None or len(tensor.sizes) not in cell.ranks):
        unknown = tensor.sizes is None
        rank = None if tensor.sizes is None else len(tensor.sizes)
        message = f"{where} has an unknown rank" if unknown else f"{where} has rank {rank}"
        ranks = {f"rank({where})": rank}
        yield Failure(f"{name}.rank", where, message, ranks, unknown=unknown, aspect="rank", allowed=(str(cell.ranks),))


def _value_cell(name: str, where: str, info: FieldInfo, cell: Cell | None, value: Any) -> Iterator[Failure]:
    values = cell.values if cell is not None and cell.values is not None else info.words
    if value is UNKNOWN:
        yield from _unknown_value(name, where, cell, values)
        return
    if values is not None and value not in values:
        allowed = tuple(str(v) for v in values)
        yield Failure(
            f"{name}.value", where, f"{where} is {value!r:.80}", {where: value}, aspect="value", allowed=allowed
        )
    if cell is not None and cell.range is not None and value not in cell.range:
        allowed = (str(cell.range),)
        yield Failure(
            f"{name}.value", where, f"{where} is {value!r:.80}", {where: value}, aspect="value", allowed=allowed
        )


def _unknown_value(name: str, where: str, cell: Cell | None, values: tuple[Any, ...] | None) -> Iterator[Failure]:
    bounds = () if cell is None or cell.range is None else (str(cell.range),)
    allowed = (*(str(value) for value in values or ()), *bounds)
    if allowed:
        message = f"{where} has an unknown value"
        yield Failure(f"{name}.value", where, message, {where: None}, unknown=True, aspect="value", allowed=allowed)


def _rules(
    forms: Iterable[RuleForm],
    context: Context,
    where: str,
    broken: list[tuple[RuleForm, str, Broken]],
    lost: frozenset[str],
    facts: Facts,
) -> Iterator[tuple[Failure, RuleForm]]:
    """Evaluate the forms in order; skip the echoes of what failed, and set aside those without a value."""
    failed: set[str] = set()
    for form in forms:
        if failed.intersection(form.after) or lost & form.fields:
            continue
        answer = facts.judge(form, context)
        if answer is True:
            continue
        if isinstance(answer, Broken):
            failed.add(form.name)
            broken.append((form, where, answer))
            continue
        if answer is False:
            failed.add(form.name)
        elif form.variable is not None:
            continue  # the cell of the type that is not known says so already
        key = (id(form), id(context), where)
        if key not in facts.told:
            facts.told[key] = _failure(form, context, where, unknown=answer is UNKNOWN)
        yield facts.told[key], form


def _failure(form: RuleForm, context: Context, where: str, *, unknown: bool) -> Failure:
    message, values = explain(form.require, context)
    if form.variable is not None:
        message = message.replace(form.require.text, str(form.because), 1)
    if form.when is not None and applies(form, context) is UNKNOWN:
        condition, open_values = explain(form.when, context)
        message, values = f"{form.require.text} where {condition}", open_values
    if where:
        message = _spoken(message, where)
        values = {_spoken(text, where): value for text, value in values.items()}
    return Failure(
        rule=form.name,
        where=where or _place(form.require, values),
        message=message,
        values={text: _plain(value) for text, value in values.items()},
        fix=form.fix,
        unknown=unknown,
        scope=form.scope,
        structural=form.structural,
    )


def _spoken(text: str, where: str) -> str:
    """Name the field that a tensor rule was judged on."""
    return text.replace("(tensor)", f"({where})").replace("tensor.", f"{where}.")


def _place(rule: Rule, values: Mapping[str, Any]) -> str:
    """The field to point at: an attribute that is compared itself, else the first field that the explanation names."""
    named = [name for name in rule.fields if name in values]
    named = named or [name for name in rule.fields if any(name in text for text in values)] or list(rule.fields)
    return min(named, key=lambda name: (rule.text.find(name), name), default="")


def _found(value: Any) -> Any:
    """What a descriptor holds where something else belongs: as it is where that is short, else told."""
    if value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < PRINTABLE):
        return value
    return value if isinstance(value, str) and len(value) <= 200 else shown(value, 200)


def _plain(value: Any) -> Any:
    if value is UNKNOWN:
        return None
    if isinstance(value, str):
        return str(value) if len(value) <= 200 else shown(value)
    if isinstance(value, int) and abs(value) >= PRINTABLE:
        return shown(value)
    if isinstance(value, Size2D | ScaleBias):
        return {name: _plain(part) for name, part in value._asdict().items()}
    if isinstance(value, Descriptor):
        return shown(value, 200)
    return [_plain(v) for v in value] if isinstance(value, tuple | list | range) else value
