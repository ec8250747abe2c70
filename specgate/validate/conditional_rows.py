"""Compiled checks for operators with conditional support rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.rules.compile import compile_resolved
from specgate.rules.parse import parse
from specgate.slotted import replace
from specgate.spec.forms import RuleForm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from specgate.rules.language import Rule
    from specgate.spec.forms import Case, Resolved

#: The rule that fails where no case's condition holds.
NO_CASE: Final = "support-case"


def compile_cases(resolved: Resolved) -> Callable[[Mapping[str, Any]], bool]:
    """Return `f(fields) -> bool`: True when a case accepts the fields.

    A case accepts when its condition, cells and rules hold; see `compile_resolved`.
    """
    checks = tuple(map(compile_resolved, list_rows(resolved)))
    if len(checks) == 1:
        return checks[0]

    def check(fields: Mapping[str, Any]) -> bool:
        for check_row in checks:  # noqa: SIM110  # a generator costs more than the loop
            if check_row(fields):
                return True
        return False

    return check


def list_rows(resolved: Resolved) -> list[Resolved]:
    """Return one level per support row, with the row's condition as rules."""
    return [
        replace(case.resolved, rules=(*_case_rules(case, resolved), *case.resolved.rules))
        for case in resolved.cases
        if _reads_known_fields(case.when, resolved)
    ] or ([] if resolved.cases else [resolved])


def _case_rules(case: Case, resolved: Resolved) -> Iterator[RuleForm]:
    """Yield the condition as rules that require the fields they read.

    Without the presence checks a condition on an absent field would not apply, and so would not fail.
    """
    for path in sorted(case.when.needs):
        yield RuleForm(NO_CASE, parse(f"present({path})", resolved.spec.scope))
    yield RuleForm(NO_CASE, case.when)


def _reads_known_fields(condition: Rule, resolved: Resolved) -> bool:
    return all(path.partition(".")[0] in resolved.fields for path in condition.needs)
