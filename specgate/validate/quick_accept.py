"""Quick acceptance test without messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.rules.walk import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from specgate.descriptors.core import Descriptor
    from specgate.rules.evaluate import Context
    from specgate.spec.fields import Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.validate.facts import Facts


def has_no_failures(descriptor: Descriptor, resolved: Resolved, facts: Facts, doubts: Collection[str] = ()) -> bool:
    """Return whether `explain_at` would report nothing.

    descriptor: as the level of `resolved` reads it. doubts: rules that probably fail, evaluated first.
    """
    if descriptor.oddities and not _are_oddities_excused(descriptor, resolved):
        return False
    context = facts.context(descriptor, resolved)
    if resolved.cases:
        cases = (case for case in resolved.cases if facts.holds(case.when, context) is True)
        return any(has_no_failures(descriptor, case.resolved, facts, doubts) for case in cases)
    if doubts and not _require((form for form in resolved.rules if form.name in doubts), context, facts):
        return False
    return all(walk(resolved.steps, _QuickAccept(descriptor, resolved, facts, context)))


def _are_oddities_excused(descriptor: Descriptor, resolved: Resolved) -> bool:
    from specgate.validate.row import is_excused  # few descriptors have oddities

    return all(is_excused(oddity, resolved) for oddity in descriptor.oddities)


class _QuickAccept:
    """Engine that tests whether a descriptor passes each step of a level."""

    def __init__(self, descriptor: Descriptor, resolved: Resolved, facts: Facts, context: Context) -> None:
        self.fields = descriptor.fields
        self.resolved = resolved
        self.facts = facts
        self.context = context

    def presence(self, info: FieldInfo) -> bool:
        value = self.fields.get(info.name)
        if value is None:
            return self.resolved.spec.dialect.may_omit(info)
        return info.min_count is None or not isinstance(value, list | tuple) or len(value) >= info.min_count

    def absence(self, name: str) -> bool:
        return self.fields.get(name) is None

    def cell(self, info: FieldInfo, cell: Cell | None) -> bool:
        value = self.context.fields[info.name]
        if not info.fuses:
            return self.resolved.cell_checks[info.name](value) is True
        if value is None:
            return True
        from specgate.rules.fused import Fusible  # few operators fuse others

        is_fusible = Fusible(self.resolved.spec.dialect, self.resolved.level, cell.operators if cell else None).fits
        return all(map(is_fusible, value)) if isinstance(value, list | tuple) else is_fusible(value)

    def tensors(self, info: FieldInfo, _forms: tuple[RuleForm, ...]) -> bool:
        rules, facts = self.resolved.rules_of_tensors[info.kind], self.facts
        return all(facts.satisfies(rules, inner) for name, _, inner in facts.tensors(self.context) if name == info.name)

    def rules(self, forms: tuple[RuleForm, ...]) -> bool:
        return _require(forms, self.context, self.facts)


def _require(forms: Iterable[RuleForm], context: Context, facts: Facts) -> bool:
    return all(facts.judge(form, context) is True for form in forms)
