"""The explaining path of a check: what fails at every level, as findings with levels and fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.positional import relaid
from specgate.spec.tables import dialect as load_dialect
from specgate.validate.explain import explain_at
from specgate.validate.message import finding, missing_operator, version_finding
from specgate.verdict import Finding, Verdict

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Side
    from specgate.spec.tables import OperatorSpec
    from specgate.validate.failures import Failure
    from specgate.verdict import Basis

__all__ = ["explained", "judge_levels"]


def judge_levels(
    descriptor: Descriptor, spec: OperatorSpec, side: Side, by: str | None = None
) -> dict[str, list[Failure]]:
    """Return, for every level at which the operator exists, what fails there; equal levels are judged once."""
    answers: dict[Any, list[Failure]] = {}
    result = {}
    for level in spec.levels:
        resolved = spec.resolve(level, side, by)
        assert resolved is not None  # spec.levels are those at which it exists  # noqa: S101
        if resolved.key not in answers:
            answers[resolved.key] = explain_at(relaid(descriptor, spec, level), resolved)
        result[level] = answers[resolved.key]
    return result


def explained(descriptor: Descriptor, level: str, basis: Basis, by: str | None) -> Verdict:
    """Return the verdict with every finding; see `check_at`."""
    spec = load_dialect(descriptor.dialect).operator(descriptor.operator)
    dialect = spec.dialect
    dialect.check_level(level)
    target = f"{dialect.name}:{level}"
    judged_at = level
    findings: list[Finding] = []
    if descriptor.version is not None:
        dialect.check_level(descriptor.version)
        if dialect.position[descriptor.version] > dialect.position[level]:
            findings.append(version_finding(descriptor, spec, level, target))
        judged_at = descriptor.version
    if judged_at not in spec.levels or level not in spec.levels:
        blamed = judged_at if judged_at not in spec.levels else level
        findings.append(missing_operator(descriptor, spec, blamed, target))
        return Verdict(accepted=False, target=target, operator=spec.name, basis=basis, findings=tuple(findings))
    undecided: list[Finding] = []
    sides: list[Side] = ["documented", "observed"] if basis == "both" else [basis]
    judged = {side: judge_levels(descriptor, spec, side, by) for side in sides}
    seen: set[tuple[tuple[str, str, str], bool]] = set()
    for side in sides:
        for failure in judged[side][judged_at]:
            if (failure.key, failure.unknown) in seen:
                continue
            seen.add((failure.key, failure.unknown))
            made = finding(failure, spec, judged_at, target, side, judged)
            (undecided if failure.unknown else findings).append(made)
    accepted = False if findings else None if undecided else True
    return Verdict(accepted, target, spec.name, basis, tuple(findings), tuple(undecided))
