"""Checks: the compiled fast path, then the explaining path with fixes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from specgate.loading import lazy
from specgate.runtimes import runtime_of
from specgate.slotted import replace
from specgate.spec.fields import Bounds, Cell
from specgate.spec.tables import dialect as load_dialect
from specgate.spec.tables import on_change
from specgate.validate.device import add_capability_notes
from specgate.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors import positional
    from specgate.descriptors.core import Descriptor
    from specgate.rules import compile as rules_compile
    from specgate.spec.forms import Resolved
    from specgate.targets import Target
    from specgate.validate import conditional_rows, judge, on_device, releases
    from specgate.validate.facts import Facts
    from specgate.verdict import Basis
else:
    positional = lazy("specgate.descriptors.positional")  # rare: few operators change the order
    rules_compile = lazy("specgate.rules.compile")  # a single check is evaluated, not compiled
    conditional_rows = lazy("specgate.validate.conditional_rows")  # few operators have cases
    judge = lazy("specgate.validate.judge")  # reasons are rarely needed
    on_device = lazy("specgate.validate.on_device")  # rare: most calls do not name a device
    releases = lazy("specgate.validate.releases")  # few targets name a release

#: Compiling costs as much as this many evaluations.
MIN_EVALUATIONS: Final = 24

_counts: dict[tuple[str, str, str, Basis, str | None], int] = {}
_fast: dict[tuple[str, str, str, Basis, str | None], Callable[[Mapping[str, Any]], bool]] = {}
_shared: dict[tuple[Any, ...], Callable[[Mapping[str, Any]], bool]] = {}
_accepted: dict[tuple[str, str, Basis, str, str], Verdict] = {}


@on_change
def clear_caches() -> None:
    """Clear compiled checks after the tables changed."""
    _counts.clear()
    _fast.clear()
    _shared.clear()
    _accepted.clear()


def check_at(
    descriptor: Descriptor,
    level: str,
    basis: Basis = "both",
    by: str | None = None,
    device: frozenset[str] | None = None,
) -> Verdict:
    """Return the verdict on `descriptor` for its dialect at `level`.

    by: the implementation (a build system, a checker) whose specific observations apply on top of those of all builds.
    device: its capabilities (see `device_of`); with an unknown device, type requirements become notes. Raises NoTable
    for an operator without a table, InputError for an unknown level.
    """
    checked_level = level if descriptor.version is None else descriptor.version
    if descriptor.layout is not None and descriptor.layout != checked_level:
        descriptor = _reorder_for(descriptor, checked_level)
    if not descriptor.plain and device is not None:  # a missing capability can reject what is otherwise undecided
        return _explain_verdict(descriptor, level, basis, by, device)
    is_accepted = accepts(descriptor, level, basis, by)
    if not is_accepted:
        return _lazy_verdict(is_accepted, descriptor, level, basis, by, device)
    key = (descriptor.dialect, descriptor.operator, basis, level, checked_level)
    verdict = _accepted.get(key)
    if verdict is None:
        verdict = Verdict(True, f"{descriptor.dialect}:{level}", descriptor.operator, basis)
        if not _follows_builds(descriptor, checked_level, basis):
            _accepted[key] = verdict
        elif accepts(descriptor, checked_level, "documented", by) is False:
            return _explain_verdict(descriptor, level, basis, by, device)
    return _with_device(verdict, descriptor, level, device, by)


def _follows_builds(descriptor: Descriptor, level: str, basis: Basis) -> bool:
    """Return whether the verdict may follow the builds against the page."""
    return basis == "both" and load_dialect(descriptor.dialect).operator(descriptor.operator).follows_builds(level)


def _with_device(
    verdict: Verdict, descriptor: Descriptor, level: str, device: frozenset[str] | None, by: str | None
) -> Verdict:
    """Return the verdict with device requirements added as notes or findings.

    Types that `device` does not support are findings; with an unknown device, requirements are notes.
    """
    if device is None:
        return add_capability_notes(verdict, descriptor, level)
    return on_device.with_device_findings(verdict, descriptor, level, device, by)


def _lazy_verdict(
    is_accepted: bool | None,
    descriptor: Descriptor,
    level: str,
    basis: Basis,
    by: str | None,
    device: frozenset[str] | None,
) -> Verdict:
    """Return a verdict that computes its findings when they are read."""
    target = f"{descriptor.dialect}:{level}"
    reasons = partial(_explain_verdict, descriptor, level, basis, by, device)
    may_note = is_accepted is None and _follows_builds(descriptor, descriptor.version or level, basis)
    return Verdict.unread(target, descriptor.operator, basis, reasons, is_accepted=is_accepted, may_note=may_note)


def _explain_verdict(
    descriptor: Descriptor, level: str, basis: Basis, by: str | None, device: frozenset[str] | None
) -> Verdict:
    quick_check = _fast.get((descriptor.dialect, descriptor.operator, descriptor.version or level, basis, by))
    verdict = judge.verdict_with_reasons(descriptor, level, basis, by, device, quick_check)
    return _with_device(verdict, descriptor, level, device, by)


def accepts(
    descriptor: Descriptor, level: str, basis: Basis = "both", by: str | None = None, facts: Facts | None = None
) -> bool | None:
    """Return the answer of `check_at` as True, False or None.

    It skips findings, which makes rejections many times faster. facts: cached facts about the descriptor, for example
    from a check against another implementation.
    """
    checked_level = level if descriptor.version is None else descriptor.version
    if descriptor.layout is not None and descriptor.layout != checked_level:
        descriptor = _reorder_for(descriptor, checked_level)
    if descriptor.plain and (checked_level == level or _accepts_version(descriptor, level)):
        check = _checker((descriptor.dialect, descriptor.operator, checked_level, basis, by))
        if check is not None:
            return check(descriptor.fields)
    return judge.answer(descriptor, level, basis, by, facts)


def _checker(key: tuple[str, str, str, Basis, str | None]) -> Callable[[Mapping[str, Any]], bool] | None:
    """Return the compiled check of a key, None before it is worth compiling.

    key: (dialect, operator, level, basis, by).
    """
    fast = _fast.get(key)
    if fast is None:
        number = _counts[key] = _counts.get(key, 0) + 1
        if number > MIN_EVALUATIONS and load_dialect(key[0]).operator(key[1]).is_written_for(key[2]):
            fast = _fast[key] = _compile(*key)
    return fast


def _accepts_version(descriptor: Descriptor, level: str) -> bool:
    """Return whether a target at `level` accepts the descriptor's version."""
    spec = load_dialect(descriptor.dialect).operator(descriptor.operator)
    position = spec.dialect.position
    return position.get(str(descriptor.version), len(position)) <= position.get(level, -1)


def _reorder_for(descriptor: Descriptor, level: str) -> Descriptor:
    """Return the descriptor with inputs and outputs in the order of `level`."""
    return positional.reordered_for(descriptor, load_dialect(descriptor.dialect).operator(descriptor.operator), level)


def check_for(
    descriptor: Descriptor, target: Target, basis: Basis = "both", device: frozenset[str] | None = None
) -> Verdict:
    """Return the verdict for a target.

    It is that of `check_at` at the version of the operator's domain that the target implements. For a release of a
    runtime, the behavior of this release applies.
    """
    if target.runtime is None and "." not in descriptor.operator:  # the default domain, by far the most common
        verdict = check_at(descriptor, target.level, basis, target.by, device)
        if target.family is None:
            verdict = refusals_noted(verdict, descriptor, target.level)
        if target.alias is None:
            return verdict
        verdict = with_target_spelling(verdict, str(target))
        if target.environment is None:
            return verdict
        return releases.with_release_findings(verdict, descriptor, target)
    table = load_dialect(descriptor.dialect)
    version = table.domain_level(descriptor.operator.rpartition(".")[0], target.level)
    if version is None:
        return judge.domainless(descriptor, target, basis, device)
    if target.runtime is None:
        return with_target_spelling(check_at(descriptor, version, basis, target.by, device), str(target))
    page = with_target_spelling(check_at(descriptor, version, basis, target.by), str(target))
    runtime = runtime_of(target)
    return page if runtime is None else runtime.verdict(descriptor, version, page, target, device)


def refusals_noted(verdict: Verdict, descriptor: Descriptor, level: str) -> Verdict:
    """Return an accepting verdict with notes on implementations that reject.

    They are the implementations that targets can select, such as a single runtime.
    """
    if verdict.accepted is not True or verdict.basis == "documented":
        return verdict
    refusing_names = load_dialect(descriptor.dialect).operator(descriptor.operator).restricting_implementations
    if not refusing_names:
        return verdict
    notes = [
        f"{title}: {finding.message}"
        for name, title in refusing_names.items()
        if accepts(descriptor, level, "observed", name) is False
        for finding in check_at(descriptor, level, "observed", name).findings
    ]
    return replace(verdict, notes=(*verdict.notes, *notes)) if notes else verdict


def with_target_spelling(verdict: Verdict, target: str) -> Verdict:
    """Return a verdict that spells its target as the user did."""

    def spell_target() -> Verdict:
        return replace(
            verdict,
            target=target,
            findings=tuple(replace(finding, target=target) for finding in verdict.findings),
            undecided=tuple(replace(finding, target=target) for finding in verdict.undecided),
        )

    if not verdict.accepted:
        may_note = getattr(verdict, "may_note", True)  # a verdict made together with its findings already has them
        return Verdict.unread(
            target, verdict.operator, verdict.basis, spell_target, is_accepted=verdict.accepted, may_note=may_note
        )
    return spell_target()


def _compile(
    dialect: str, operator: str, level: str, basis: Basis, by: str | None
) -> Callable[[Mapping[str, Any]], bool]:
    """Return the compiled check for `basis`.

    Levels at which the operator is the same share one function.
    """
    sides = _requested_sides(dialect, operator, level, basis, by)
    if sides is None:
        return _reject_all
    key = (dialect, operator, *(side.content for side in sides))
    function = _shared.get(key)
    if function is None:
        checks = [compile_check(side) for side in _join_sides(*sides)]
        function = checks[0] if len(checks) == 1 else lambda fields: all(check(fields) for check in checks)
        _shared[key] = function
    return function


def required_rows(dialect: str, operator: str, level: str, basis: Basis, by: str | None) -> tuple[Resolved, ...]:
    """Return the requirements of `basis` at `level`, which must all hold.

    Empty where the operator does not exist at this level.
    """
    sides = _requested_sides(dialect, operator, level, basis, by)
    return () if sides is None else _join_sides(*sides)


def _requested_sides(
    dialect: str, operator: str, level: str, basis: Basis, by: str | None
) -> tuple[Resolved, Resolved] | None:
    sides = list(load_dialect(dialect).operator(operator).sides_at(level, basis, by).values())
    return (sides[0], sides[-1]) if sides else None


def _join_sides(first: Resolved, last: Resolved) -> tuple[Resolved, ...]:
    """Return one side, or the intersection of both.

    The intersection has the stricter of each cell and the rules of both sides. Sides that read different values of an
    omitted field are both returned.
    """
    if first.key == last.key:
        return (first,)
    defaults = {name: info.default for name, info in first.fields.items() if info.optional}
    if any(name in last.fields and last.fields[name].default != default for name, default in defaults.items()):
        return first, last
    return (_stricter(first, last),)


def compile_check(resolved: Resolved) -> Callable[[Mapping[str, Any]], bool]:
    """Return `f(fields) -> bool` for a level, with or without cases."""
    if resolved.cases:
        return conditional_rows.compile_cases(resolved)
    return rules_compile.compile_resolved(resolved)


def _stricter(page: Resolved, builds: Resolved) -> Resolved:
    """Return the intersection of page and builds, per case.

    Each cell is the intersection of both cells; the rules of both sides apply.
    """
    cells = {
        name: _intersect_cells(page.cells.get(name, Cell()), builds.cells.get(name, Cell()))
        for name in dict.fromkeys([*page.cells, *builds.cells])
    }
    return replace(
        page,
        cells=cells,
        rules=tuple(dict.fromkeys([*page.rules, *builds.rules])),
        tensor_rules=tuple(dict.fromkeys([*page.tensor_rules, *builds.tensor_rules])),
        cases=tuple(
            replace(case, resolved=_stricter(case.resolved, other.resolved))
            for case, other in zip(page.cases, builds.cases, strict=True)
        ),
    )


def _intersect_cells(first: Cell, other: Cell) -> Cell:
    return Cell(
        types=_common_items(first.types, other.types),
        ranks=_intersect_bounds(first.ranks, other.ranks),
        values=_common_items(first.values, other.values),
        range=_intersect_bounds(first.range, other.range),
        operators=_common_items(first.operators, other.operators),
    )


def _common_items(first: tuple[Any, ...] | None, other: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    if first is None or other is None:
        return other if first is None else first
    return tuple(item for item in first if item in other)


def _intersect_bounds(first: Bounds | None, other: Bounds | None) -> Bounds | None:
    if first is None or other is None or first == other:
        return other if first is None else first
    low = max(first.low, other.low)
    high = min((bound for bound in (first.high, other.high) if bound is not None), default=None)
    allowed_values = next((bounds.only for bounds in (first, other) if bounds.only is not None), None)
    only_values = None if allowed_values is None else tuple(n for n in allowed_values if n in first and n in other)
    return Bounds(low, high, only_values)


def _reject_all(_fields: Mapping[str, Any]) -> bool:
    return False
