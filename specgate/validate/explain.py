"""Failures at one level, by its row or by the row of the matching case."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.rules.evaluate import UNKNOWN
from specgate.rules.explain import decisive, explain
from specgate.rules.words import words
from specgate.slotted import replace
from specgate.validate.cases import NO_CASE
from specgate.validate.facts import Facts
from specgate.validate.failures import Failure, plain
from specgate.validate.row import row_failures

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.rules.evaluate import Context
    from specgate.rules.explain import Leaf
    from specgate.spec.forms import Case, Resolved

__all__ = ["explain_at"]


def explain_at(
    descriptor: Descriptor, resolved: Resolved, facts: Facts | None = None, *, bare: bool = False
) -> list[Failure]:
    """Return every failure of `descriptor` at the level of `resolved`.

    Rules that only repeat another failure are left out. facts: cached facts about the descriptor. bare: as in
    `row_failures`.
    """
    return (_by_case if resolved.cases else row_failures)(descriptor, resolved, facts or Facts(), bare=bare)


def _by_case(descriptor: Descriptor, resolved: Resolved, facts: Facts, *, bare: bool) -> list[Failure]:
    """Return every failure by the row of the matching case."""
    context = facts.context(descriptor, resolved)
    answers = [(case, facts.holds(case.when, context)) for case in resolved.cases]
    failures = [row_failures(descriptor, case.resolved, facts, bare=bare) for case, answer in answers if answer is True]
    if failures:
        return min(failures, key=_badness)
    shared = row_failures(descriptor, replace(resolved, cases=()), facts)
    read = {name for when in resolved.spec.whens for name in when.fields}
    if any(f.where.partition("[")[0] in read for f in shared if not f.unknown):
        return shared  # a field that selects the case is invalid itself
    open_cases = [case for case, answer in answers if answer is UNKNOWN]
    if not open_cases:
        return [*shared, _no_case(resolved, context)]
    texts = {failure.key for failure in shared if not failure.unknown}
    certain = [f for f in _in_all(descriptor, open_cases, facts) if f.key not in texts]
    return [*shared, *certain, _no_case(resolved, context, unknown=True)]


def _badness(failures: list[Failure]) -> int:
    """Return 0 for an accepting case, 1 for an undecided one, 2 otherwise.

    Conditions should be exclusive. Where two hold, an accepting case wins, as on the fast path.
    """
    return 0 if not failures else 1 if all(f.unknown for f in failures) else 2


def _in_all(descriptor: Descriptor, cases: list[Case], facts: Facts) -> list[Failure]:
    """Return the failures common to all `cases`."""
    first, *others = [
        {f.key: f for f in row_failures(descriptor, case.resolved, facts) if not f.unknown} for case in cases
    ]
    return [f for key, f in first.items() if all(key in failures_by_texts for failures_by_texts in others)]


def _no_case(resolved: Resolved, context: Context, *, unknown: bool = False) -> Failure:
    whens = resolved.spec.whens
    values: dict[str, Any] = {}
    leaves: list[Leaf] = []
    for case in resolved.cases:
        if not any(context.absent(path) for path in case.when.needs):
            leaves += decisive(case.when, context)
            values.update(explain(case.when, context))
    read = {name for when in whens for name in when.fields}
    where = next((name for name in resolved.spec.fields if name in read), "")
    state = (
        "Unknown values leave undecided which row of the support table applies"
        if unknown
        else "No row of the support table applies"
    )
    facts = words(leaves, context)
    return Failure(
        NO_CASE,
        where,
        f"{state}: {facts}" if facts else state,
        {text: plain(v) for text, v in values.items()},
        unknown=unknown,
        formula=" or ".join(case.when.text for case in resolved.cases),
    )
