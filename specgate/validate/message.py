"""Turn failures into findings: permanent ids, the levels that accept, and a fix where one exists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.levels import LevelSet
from specgate.spec.tables import dialect as load_dialect
from specgate.validate.fixes import own_fix
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Side
    from specgate.spec.tables import Dialect, OperatorSpec
    from specgate.targets import Target
    from specgate.validate.failures import Failure

__all__ = ["finding", "missing_domain", "missing_operator", "rule_id", "version_finding"]

Judged = "Mapping[Side, Mapping[str, list[Failure]]]"


def rule_id(dialect: str, operator: str, rule: str, scope: str = "operator") -> str:
    """Return a rule's permanent id, e.g. ``directml/ONE_HOT/axis-range`` or ``directml/tensor/total-size``."""
    return f"{dialect}/{'tensor' if scope == 'tensor' else operator}/{rule}"


def finding(
    failure: Failure,
    spec: OperatorSpec,
    level: str,
    target: str,
    side: Side,
    judged: Mapping[Side, Mapping[str, list[Failure]]],
) -> Finding:
    """Return the finding for one failure at `level`; `judged` holds the failures at every level, per side."""
    dialect = spec.dialect
    own = judged[side]
    levels = LevelSet.of(dialect.levels, [at for at in own if not any(_repeats(f, failure) for f in own[at])])
    whole = LevelSet.of(
        dialect.levels, [at for at in own if not any(f for s in judged.values() for f in s[at] if not f.unknown)]
    )
    message = failure.message
    if failure.allowed:
        verb = "is not decided" if failure.unknown else f"is not taken at {dialect.spoken(level)}"
        message += f", which {verb} ({_list(failure.allowed)})"
    message += _reach(failure, levels, dialect)
    other: Side = "observed" if side == "documented" else "documented"
    if other in judged and all(f.key != failure.key for f in judged[other][level]) and not failure.unknown:
        kind = (
            "undocumented, but builds at this level accept it"
            if side == "documented"
            else "documented, but builds refuse it"
        )
        message += f" ({kind}{_asked(level, side, dialect)})"
    if failure.aspect == "rule":
        message += "."
    return Finding(
        id=rule_id(dialect.name, spec.name, failure.rule, failure.scope),
        severity="note" if failure.unknown else "error",
        message=message,
        where=failure.where,
        values=failure.values,
        first_level=None if failure.unknown else levels.first,
        levels=() if failure.unknown else tuple(levels),
        fix=_fix(failure, spec, level, whole),
        basis=side,
        target=target,
        rule=failure.formula,
    )


def _asked(level: str, side: Side, dialect: Dialect) -> str:
    """Say which builds speak for a level that has none."""
    others = dialect.neighbours(level)
    if side == "documented" or others == (level,):
        return ""
    return f": {level} has none to ask, those of {' and '.join(others)} do"


def _repeats(other: Failure, failure: Failure) -> bool:
    """Whether a failure at another level is the same one, or that the field does not even exist there."""
    same = other.key == failure.key or (other.where == failure.where and other.rule.endswith(".exists"))
    return same and not other.unknown


def _reach(failure: Failure, levels: LevelSet, dialect: Dialect) -> str:
    """Say which levels take a type, rank or value; a rule that no level relaxes needs no such words."""
    unlisted = failure.aspect == "rule" or (failure.aspect == "value" and not failure.allowed)
    if failure.unknown or (unlisted and not levels):
        return ""
    if not levels:
        return f"; no {dialect.level_word} takes it"
    return f"; accepted by {levels}"


def _list(words: tuple[str, ...]) -> str:
    shown = words if len(words) <= 12 else (*words[:11], f"{len(words) - 11} more")
    return ", ".join(shown)


def _fix(failure: Failure, spec: OperatorSpec, level: str, whole: LevelSet) -> str | None:
    """Propose a change: the rule's own words, a type to cast to, or a level that takes the whole descriptor."""
    if failure.unknown:
        return None
    dialect = spec.dialect
    own = own_fix(failure, spec, level)
    proposals = [own] if own else []
    later = [at for at in whole if dialect.position[at] > dialect.position[level]]
    if later:
        proposals.append(f"use {dialect.spoken(later[0])}")
    return " or ".join(proposals) or None


def missing_operator(descriptor: Descriptor, spec: OperatorSpec, level: str, target: str) -> Finding:
    """Return the finding for an operator that the level does not have."""
    dialect = spec.dialect
    levels = spec.levels
    removed = spec.raw.get("removed")
    gone = removed is not None and dialect.position[level] >= dialect.position[removed]
    withdrawn = spec.row_held(level) if not gone else None
    first = levels.first
    state = f"was removed at {removed}" if gone else f"exists from {first} on"
    if withdrawn is not None:
        state = f"its version {withdrawn} was withdrawn, and it {state}"
    return Finding(
        id=rule_id(dialect.name, spec.name, "level"),
        severity="error",
        message=f"{spec.name} does not exist at {dialect.spoken(level)}; {state if withdrawn else f'it {state}'}",
        where="",
        values={"level": level, "operator": descriptor.operator},
        first_level=first,
        levels=tuple(levels),
        fix=None if gone or first is None else f"use {dialect.spoken(first)}",
        target=target,
    )


def missing_domain(spec: OperatorSpec, target: Target) -> Finding:
    """Return the finding for an operator of a domain that the target does not have."""
    dialect = load_dialect(spec.dialect.name)
    having = [level for level in dialect.levels if dialect.domain_level(spec.dialect.domain, level) is not None]
    levels = LevelSet.of(dialect.levels, having)
    return Finding(
        id=rule_id(dialect.name, spec.name, "level"),
        severity="error",
        message=f"{spec.name} does not exist at {dialect.spoken(target.level)}: {spec.dialect.domain} comes with "
        f"{dialect.spoken(having[0])}",
        where="",
        values={"level": target.level, "operator": spec.name},
        first_level=levels.first,
        levels=tuple(levels),
        fix=f"use {dialect.spoken(having[0])}",
        target=str(target),
    )


def version_finding(descriptor: Descriptor, spec: OperatorSpec, level: str, target: str) -> Finding:
    """Return the finding for a descriptor written for a later level than the target has."""
    dialect = spec.dialect
    levels = dialect.level_set(f"{descriptor.version}..")
    return Finding(
        id=rule_id(dialect.name, spec.name, "version"),
        severity="error",
        message=f"written for {dialect.spoken(str(descriptor.version))}, but the target takes those up to {level}",
        where="version",
        values={"version": descriptor.version, "level": level},
        first_level=descriptor.version,
        levels=tuple(levels),
        fix=f"use {dialect.spoken(str(descriptor.version))}",
        target=target,
    )
