"""Operators whose support rows depend on the descriptor: which case it is, and what its row says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from specgate.rules.compile import compile_resolved
from specgate.rules.evaluate import UNKNOWN
from specgate.rules.explain import decisive, explain
from specgate.rules.parse import parse
from specgate.rules.words import words
from specgate.spec.forms import RuleForm
from specgate.validate.explain import explain_at
from specgate.validate.failures import Failure, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.rules.evaluate import Context
    from specgate.rules.explain import Leaf
    from specgate.rules.parse import Rule
    from specgate.spec.forms import Case, Resolved
    from specgate.validate.facts import Facts

__all__ = ["NO_CASE", "compile_cases", "explain_cases"]

#: The rule of a descriptor for which none of the cases holds.
NO_CASE: Final = "support-case"


def compile_cases(resolved: Resolved) -> Callable[[Mapping[str, Any]], bool]:
    """Return `f(fields) -> bool`: True when some case's condition, cells and rules hold (see `compile_resolved`)."""
    checks = tuple(
        compile_resolved(replace(case.resolved, rules=(*_front(case, resolved), *case.resolved.rules)))
        for case in resolved.cases
        if _readable(case.when, resolved)
    )

    def check(fields: Mapping[str, Any]) -> bool:
        for one in checks:  # noqa: SIM110  # a generator costs more than the loop
            if one(fields):
                return True
        return False

    return check


def _front(case: Case, resolved: Resolved) -> Iterator[RuleForm]:
    """Yield the condition as rules; what it reads must be there, or the rule would merely not apply."""
    for path in sorted(case.when.needs):
        yield RuleForm(NO_CASE, parse(f"present({path})", resolved.spec.scope))
    yield RuleForm(NO_CASE, case.when)


def _readable(when: Rule, resolved: Resolved) -> bool:
    return all(path.partition(".")[0] in resolved.fields for path in when.needs)


def explain_cases(descriptor: Descriptor, resolved: Resolved, facts: Facts) -> list[Failure]:
    """Return every failure at the level of `resolved`, by the row of the case that holds."""
    context = facts.context(descriptor, resolved)
    answers = [(case, facts.holds(case.when, context)) for case in resolved.cases]
    held = [explain_at(descriptor, case.resolved, facts) for case, answer in answers if answer is True]
    if held:
        return min(held, key=_badness)
    shared = explain_at(descriptor, replace(resolved, cases=()), facts)
    read = {name for when in resolved.spec.whens for name in when.fields}
    if any(f.where.partition("[")[0] in read for f in shared if not f.unknown):
        return shared  # a field that decides which case it is is wrong itself
    open_cases = [case for case, answer in answers if answer is UNKNOWN]
    if not open_cases:
        return [*shared, _no_case(resolved, context)]
    told = {failure.key for failure in shared if not failure.unknown}
    certain = [f for f in _in_all(descriptor, open_cases, facts) if f.key not in told]
    return [*shared, *certain, _no_case(resolved, context, unknown=True)]


def _badness(failures: list[Failure]) -> int:
    """Conditions should exclude each other; where two hold, the one that accepts counts, as on the fast path."""
    return 0 if not failures else 1 if all(f.unknown for f in failures) else 2


def _in_all(descriptor: Descriptor, cases: list[Case], facts: Facts) -> list[Failure]:
    """Return what fails whichever of `cases` it is."""
    first, *others = [
        {f.key: f for f in explain_at(descriptor, case.resolved, facts) if not f.unknown} for case in cases
    ]
    return [f for key, f in first.items() if all(key in found for found in others)]


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
        "Which row of the support table applies is not decided" if unknown else "No row of the support table applies"
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
