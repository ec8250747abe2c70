"""Explained verdicts: findings with fixes and the levels that accept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.positional import reordered_for
from specgate.loading import lazy
from specgate.slotted import replace
from specgate.spec.tables import dialect as load_dialect
from specgate.validate.facts import Facts
from specgate.validate.message import (
    builds_note,
    finding,
    missing_domain,
    missing_operator,
    unwritten_finding,
    version_finding,
)
from specgate.validate.quick_accept import has_no_failures
from specgate.verdict import Finding, Verdict, expect_basis

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.levels import LevelSet
    from specgate.spec.forms import Resolved, SingleBasis
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target
    from specgate.validate import accepting_levels, row
    from specgate.validate.accepting_levels import Reach
    from specgate.validate.failures import Failure
    from specgate.verdict import Basis
else:
    row = lazy("specgate.validate.row")  # only the explaining path needs it
    accepting_levels = lazy("specgate.validate.accepting_levels")  # few targets are that old


def _failures_at(
    descriptor: Descriptor, spec: OperatorSpec, level: str, basis: Basis, by: str | None = None, *, facts: Facts
) -> dict[SingleBasis, list[Failure]]:
    """Return the failures per side of `basis`, once where both sides agree.

    `level` must define the operator, and the descriptor must be as that level reads it.
    """
    return {
        side: row.explain_at(descriptor, resolved, facts) for side, resolved in spec.sides_at(level, basis, by).items()
    }


def answer(descriptor: Descriptor, level: str, basis: Basis, by: str | None, facts: Facts | None = None) -> bool | None:
    """Return only the verdict of `verdict_with_reasons`; see `accepts`."""
    expect_basis(basis)
    spec = load_dialect(descriptor.dialect).operator(descriptor.operator)
    checked_level, is_late, missing_level = _applicable_level(descriptor, spec, level)
    if is_late or missing_level or not spec.is_written_for(descriptor.version):
        return False
    facts, decided = facts or Facts(), True
    for resolved in spec.sides_at(checked_level, basis, by).values():
        is_accepted = accepts_at(descriptor, resolved, facts)
        if is_accepted is False:
            return False
        decided = decided and is_accepted is True
    return decided or None


def accepts_at(descriptor: Descriptor, resolved: Resolved, facts: Facts) -> bool | None:
    """Return whether one level accepts a descriptor, None where undecided.

    resolved: lives as long as the tables. facts: cached facts about the descriptor.
    """
    key = id(resolved)
    if key not in facts.answers:
        passing = descriptor.plain and has_no_failures(descriptor, resolved, facts)
        facts.answers[key] = passing or _accepts_with_reasons(descriptor, resolved, facts)
    return facts.answers[key]


def _accepts_with_reasons(descriptor: Descriptor, resolved: Resolved, facts: Facts) -> bool | None:
    failures = row.explain_at(descriptor, resolved, facts, bare=True)
    if any(not failure.unknown for failure in failures):
        return False
    return None if failures else True


def domainless(descriptor: Descriptor, target: Target, basis: Basis, device: frozenset[str] | None) -> Verdict:
    """Return the verdict for a target without the operator's domain."""
    spec = load_dialect(descriptor.dialect).operator(descriptor.operator)
    matching_finding = missing_domain(
        spec, target, accepting_levels.Reach(descriptor, spec, basis, device=device).accepting()
    )
    return Verdict(accepted=False, target=str(target), operator=spec.name, basis=basis, findings=(matching_finding,))


def _applicable_level(descriptor: Descriptor, spec: OperatorSpec, level: str) -> tuple[str, bool, str | None]:
    """Return the level to check at.

    Also returns whether it is later than `level`, and which of the two lacks the operator.
    """
    dialect = spec.dialect
    dialect.check_level(level)
    checked_level = level
    if descriptor.version is not None:
        dialect.check_level(descriptor.version)
        checked_level = descriptor.version
    is_late = dialect.position[checked_level] > dialect.position[level]
    texts = (checked_level, level) if is_late else (checked_level,)  # a removed operator is checked at its own version
    return checked_level, is_late, next((other_level for other_level in texts if other_level not in spec.levels), None)


def verdict_with_reasons(
    descriptor: Descriptor,
    level: str,
    basis: Basis,
    by: str | None,
    device: frozenset[str] | None = None,
    quick_check: Callable[[Mapping[str, Any]], bool] | None = None,
) -> Verdict:
    """Return the verdict with every finding; see `check_at`.

    Findings about `device` are added by the caller. quick_check: the compiled check of the level, if available.
    """
    spec = load_dialect(descriptor.dialect).operator(descriptor.operator)
    dialect = spec.dialect
    checked_level, is_late, missing_level = _applicable_level(descriptor, spec, level)
    target = f"{dialect.name}:{level}"
    facts = Facts()
    facts.quick_check = quick_check
    failures = {} if missing_level else _failures_at(descriptor, spec, checked_level, basis, by, facts=facts)
    certain_rules = frozenset(
        f.rule for matching_failures in failures.values() for f in matching_failures if not f.unknown
    )
    reach = accepting_levels.Reach(descriptor, spec, basis, by, device, facts, certain_rules)
    result = reach.accepting() if certain_rules or is_late or missing_level else dialect.level_set([])
    findings: list[Finding] = []
    if not spec.is_written_for(descriptor.version):
        findings.append(unwritten_finding(descriptor, spec, target))
    elif is_late:
        findings.append(version_finding(descriptor, spec, level, target, result))
    if missing_level is not None:
        later_level = _later_level(spec, missing_level)
        rest = (
            []
            if later_level is None
            else _other_failures(descriptor, spec, later_level, basis, by, reach, result, target)
        )
        findings += [
            missing_operator(descriptor, spec, missing_level, target, result, later_level if rest else None),
            *rest,
        ]
    undecided: list[Finding] = []
    for new_finding in _findings(failures, reach, result, checked_level, target):
        (undecided if new_finding.severity == "note" else findings).append(new_finding)
    is_accepted = False if findings else None if undecided else True
    if basis == "both" and not missing_level and spec.follows_builds(checked_level):
        findings += _excused_notes(descriptor, reach, failures, checked_level, target)
    return Verdict(is_accepted, target, spec.name, basis, tuple(findings), tuple(undecided))


def _excused_notes(
    descriptor: Descriptor, reach: Reach, failures: dict[SingleBasis, list[Failure]], level: str, target: str
) -> list[Finding]:
    """Return notes on documented rejections that builds do not share.

    The default verdict follows the builds there.
    """
    page = reach.spec.resolve(level, "documented")
    if page is None:
        return []
    keys = {failure.key for matching_failures in failures.values() for failure in matching_failures}
    by_page = [failure for failure in row.explain_at(descriptor, page, reach.facts) if failure.key not in keys]
    return [builds_note(failure, reach.spec, page.row, target) for failure in by_page if not failure.unknown]


def _later_level(spec: OperatorSpec, missing_level: str) -> str | None:
    """Return the first level after `missing_level` that defines the operator.

    None where its version was withdrawn.
    """
    if spec.last_row(missing_level) is not None:  # the rules are those of a withdrawn version
        return None
    position = spec.dialect.position
    return next((level for level in spec.levels if position[level] > position[missing_level]), None)


def _other_failures(
    descriptor: Descriptor,
    spec: OperatorSpec,
    level: str,
    basis: Basis,
    by: str | None,
    reach: Reach,
    result: LevelSet,
    target: str,
) -> list[Finding]:
    """Return the failures besides the missing operator, at a level with it."""
    reordered = reordered_for(replace(descriptor, version=None), spec, level)
    failures = _failures_at(reordered, spec, level, basis, by, facts=Facts())
    return [
        new_finding
        for new_finding in _findings(failures, reach, result, level, target)
        if new_finding.severity != "note"
    ]


def _findings(
    failures: dict[SingleBasis, list[Failure]], reach: Reach, result: LevelSet, level: str, target: str
) -> list[Finding]:
    """Return the findings of both sides, merging those that both report."""
    keys = {side: {failure.key for failure in matching_failures} for side, matching_failures in failures.items()}
    seen_keys: set[tuple[tuple[str, str, str], bool]] = set()
    findings: list[Finding] = []
    for side, matching_failures in failures.items():
        other = keys.get("observed" if side == "documented" else "documented")
        for failure in matching_failures:
            if (failure.key, failure.unknown) not in seen_keys:
                seen_keys.add((failure.key, failure.unknown))
                only_here = other is not None and failure.key not in other
                is_unsupported_anywhere = not result and not failure.unknown and _is_unsupported(failure, reach, side)
                findings.append(
                    finding(
                        failure,
                        reach.spec,
                        level,
                        target,
                        side,
                        result,
                        is_unsupported_anywhere=is_unsupported_anywhere,
                        only_here=only_here,
                    )
                )
    return findings


def _is_unsupported(failure: Failure, reach: Reach, side: SingleBasis) -> bool:
    """Return whether no level supports the type, rank or value."""
    is_enumerated = bool(failure.allowed) and failure.aspect in {"type", "rank", "value"}
    return is_enumerated and (failure.where, failure.aspect) in reach.unsupported_aspects(
        failure.rule.rpartition(".")[0], side
    )
