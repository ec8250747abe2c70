"""Whether a level finds nothing to say of a descriptor: what it would say is not looked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from specgate.descriptors.core import Descriptor
    from specgate.rules.evaluate import Context
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.validate.facts import Facts

__all__ = ["passes"]


def passes(made: Descriptor, resolved: Resolved, facts: Facts, doubts: Collection[str] = ()) -> bool:
    """Return whether `explain_at` would find nothing that fails or is undecided.

    made: the descriptor as the level of `resolved` reads it. doubts: names of rules that probably fail: asked first.
    """
    if made.oddities and not _all_excused(made, resolved):
        return False
    context = facts.context(made, resolved)
    if resolved.cases:
        cases = (case for case in resolved.cases if facts.holds(case.when, context) is True)
        return any(passes(made, case.resolved, facts, doubts) for case in cases)
    if doubts and not _hold((form for form in resolved.rules if form.name in doubts), context, facts):
        return False
    return (
        _well_formed(made, resolved)
        and _cells_take(resolved, context)
        and _tensors_hold(resolved, context, facts)
        and _hold(resolved.rules, context, facts)
    )


def _all_excused(made: Descriptor, resolved: Resolved) -> bool:
    from specgate.validate.row import is_excused  # few descriptors are odd

    return all(is_excused(oddity, resolved) for oddity in made.oddities)


def _well_formed(made: Descriptor, resolved: Resolved) -> bool:
    """Whether nothing is missing, and nothing is there that the level does not have."""
    given, may_omit = made.fields, resolved.spec.dialect.may_omit
    for name, info in resolved.fields.items():
        value = given.get(name)
        if value is None:
            if not may_omit(info):
                return False
        elif info.min_count is not None and isinstance(value, list | tuple) and len(value) < info.min_count:
            return False
    return all(given.get(name) is None for name in resolved.strangers)


def _cells_take(resolved: Resolved, context: Context) -> bool:
    fields = context.fields
    for name, check in resolved.cell_checks:
        if check(fields[name]) is not True:
            return False
    for name, info in resolved.fields.items():
        if info.fuses and (value := fields[name]) is not None:
            cell = resolved.cells.get(name)
            if not _fits(value, resolved, None if cell is None else cell.operators):
                return False
    return True


def _fits(value: Any, resolved: Resolved, allowed: tuple[str, ...] | None) -> bool:
    from specgate.rules.fused import Fusible  # few operators hold any

    fits = Fusible(resolved.spec.dialect, resolved.level, allowed).fits
    return all(map(fits, value)) if isinstance(value, list | tuple) else fits(value)


def _tensors_hold(resolved: Resolved, context: Context, facts: Facts) -> bool:
    if not resolved.tensor_rules:
        return True
    fields, rules = resolved.fields, resolved.rules_of_tensors
    return all(facts.hold(rules[fields[name].kind], inner) for name, _, inner in facts.tensors(context))


def _hold(forms: Iterable[RuleForm], context: Context, facts: Facts) -> bool:
    return all(facts.judge(form, context) is True for form in forms)
