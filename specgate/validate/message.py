"""Findings from failures: permanent ids, accepting levels and fixes."""

from __future__ import annotations

from string import ascii_letters
from typing import TYPE_CHECKING

from specgate.levels import LevelSet
from specgate.spec.tables import dialect as load_dialect
from specgate.validate.replacement import advice
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.descriptors.core import Descriptor
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import SingleBasis
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.targets import Target
    from specgate.validate.failures import Failure


def rule_id(dialect: str, operator: str, rule: str, scope: str = "operator") -> str:
    """Return a rule's permanent id.

    Examples are ``directml/ONE_HOT/axis-range`` and ``directml/tensor/total-size``.
    """
    return f"{dialect}/{'tensor' if scope == 'tensor' else operator}/{rule}"


def finding(
    failure: Failure,
    spec: OperatorSpec,
    level: str,
    target: str,
    side: SingleBasis,
    result: LevelSet,
    *,
    is_unsupported_anywhere: bool = False,
    only_here: bool = False,
) -> Finding:
    """Return the finding for one failure at `level`.

    result: the levels that accept the whole descriptor. is_unsupported_anywhere: no level supports the rejected value.
    only_here: only `side` rejects it.
    """
    dialect = spec.dialect
    message = failure.message
    if failure.allowed:
        verb = "so support is undecided" if failure.unknown else f"which is not supported at {dialect.label(level)}"
        message += f", {verb} (supported: {list_words(failure.allowed)})"
    message += _reach(failure, result, dialect, is_unsupported_anywhere=is_unsupported_anywhere)
    if only_here and not failure.unknown:
        message += side_note(level, side, dialect)
    if failure.aspect == "rule":
        message += "."
    return Finding(
        id=rule_id(dialect.name, spec.name, failure.rule, failure.scope),
        severity="note" if failure.unknown else "error",
        message=message,
        where=failure.where,
        values=failure.values,
        first_level=None if failure.unknown else result.first,
        levels=() if failure.unknown else tuple(result),
        fix=_fix(failure, spec, level, result),
        basis=side,
        target=target,
        rule=failure.formula,
    )


def builds_note(failure: Failure, spec: OperatorSpec, row: str, target: str) -> Finding:
    """Return a note on a rejection by the documentation at a `row`.

    The verdict follows the builds there.
    """
    message = failure.message
    if failure.allowed:
        message += f", and the documentation lists {list_words(failure.allowed)}"
    page = _page(spec, row)
    message += (
        f" (required by the documentation{f' of {page}' if page else ''}; all builds accept it, and so does this "
        "verdict)"
    )
    return Finding(
        id=rule_id(spec.dialect.name, spec.name, failure.rule, failure.scope),
        severity="note",
        message=f"{message}." if failure.aspect == "rule" else message,
        where=failure.where,
        values=failure.values,
        basis="documented",
        target=target,
        rule=failure.formula,
    )


def _page(spec: OperatorSpec, row: str) -> str | None:
    """Return the name of the vendor's page of a `row`.

    The name ends with the number of the page's level.
    """
    pages = [str(source["page"]) for source in spec.table.sources if "page" in source]
    number = row.lstrip(ascii_letters)
    return next((page for page in pages if page.rpartition("-")[2] == number), pages[0] if pages else None)


def side_note(level: str, side: SingleBasis, dialect: Dialect) -> str:
    """Return a note on a violation of one side of the tables only.

    It names the builds of neighboring levels where the level has no builds.
    """
    if side == "documented":
        return " (documented rule that builds at this level do not enforce)"
    others = dialect.neighbours(level)
    builds = f"; no build of {level} is known, but those of {' and '.join(others)} enforce it"
    return f" (undocumented rule that builds enforce{'' if others == (level,) else builds})"


def _reach(failure: Failure, result: LevelSet, dialect: Dialect, *, is_unsupported_anywhere: bool) -> str:
    """Return which levels accept the whole descriptor.

    Alternatively, says that no level supports the type, rank or value.
    """
    if failure.unknown:
        return ""
    if result:
        return f"; accepted by {result}"
    return f"; no {dialect.level_word} supports it" if is_unsupported_anywhere else ""


def list_words(words: tuple[str, ...]) -> str:
    """Return supported words as a list; a long one ends with a count."""
    listed_words = words if len(words) <= 12 else (*words[:11], f"{len(words) - 11} more")
    return ", ".join(listed_words)


def _fix(failure: Failure, spec: OperatorSpec, level: str, result: LevelSet) -> str | None:
    """Return a fix from the rule, a cast, or an accepting level."""
    if failure.unknown:
        return None
    from specgate.validate.fixes import own_fix  # other modules only need the ids

    table_fix = own_fix(failure, spec, level)
    proposals = [table_fix] if table_fix else []
    later_text = later_fix(level, result, spec.dialect)
    if later_text:
        proposals.append(later_text)
    return " or ".join(proposals) or None


def blocking(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings that prevent acceptance, without notes.

    A missing operator hides all others.
    """
    blocking_findings = tuple(matching_finding for matching_finding in findings if matching_finding.severity != "note")
    return (
        blocking_findings[:1] if blocking_findings and blocking_findings[0].id.endswith("/level") else blocking_findings
    )


def field_elsewhere(spec: OperatorSpec, name: str, level: str) -> str:
    """Return at which levels the operator has a field.

    The nearest later levels are named, or the nearest earlier ones if there are none later.
    """
    dialect = spec.dialect
    position = dialect.position[level]
    levels_with_field = [other_level for other_level in spec.levels if spec.field_at(name, other_level) is not None]
    later_levels = [other_level for other_level in levels_with_field if dialect.position[other_level] > position]
    info = spec.field_at(name, (later_levels or levels_with_field)[0 if later_levels else -1]) or spec.fields[name]
    if later_levels:
        after = [
            other_level
            for other_level in spec.levels
            if dialect.position[other_level] > dialect.position[later_levels[0]] and other_level not in later_levels
        ]
        last = next(
            (
                other_level
                for other_level in reversed(later_levels)
                if after and dialect.position[other_level] < dialect.position[after[0]]
            ),
            "",
        )
        span = f"from {dialect.label(later_levels[0])} {f'to {last}' if last else 'on'}"
    else:
        span = f"up to {dialect.label(levels_with_field[-1])}"
    an = "an" if info.kind[0] in "aio" else "a"
    return f"{info.vendor_name} is {an} {info.kind} of {spec.name} {span}, not at {dialect.label(level)}"


def later_fix(level: str, texts: Iterable[str], dialect: Dialect) -> str | None:
    """Return a fix that names the first later level that accepts."""
    later_level = next(
        (other_level for other_level in texts if dialect.position[other_level] > dialect.position[level]), None
    )
    return None if later_level is None else f"use {dialect.label(later_level)}"


def missing_operator(
    descriptor: Descriptor,
    spec: OperatorSpec,
    level: str,
    target: str,
    result: LevelSet,
    later_level: str | None = None,
) -> Finding:
    """Return the finding for an operator that the level does not define.

    result: the levels that accept the descriptor. later_level: the first level with the operator, where something else
    fails at that level.
    """
    dialect = spec.dialect
    removed = spec.table.removed
    is_removed = removed is not None and dialect.position[level] >= dialect.position[removed]
    withdrawn_row = spec.last_row(level) if not is_removed else None
    replacement_text = advice(spec, level) if is_removed else None
    state = f"was removed at {removed}" if is_removed else f"exists from {spec.levels.first} on"
    if withdrawn_row is not None:
        state = f"its version {withdrawn_row} was withdrawn, and it {state}"
    return Finding(
        id=rule_id(dialect.name, spec.name, "level"),
        severity="error",
        message=f"{spec.name} does not exist at {dialect.label(level)}; {state if withdrawn_row else f'it {state}'}",
        where="",
        values={"level": level, "operator": descriptor.operator},
        first_level=result.first,
        levels=tuple(result),
        fix=replacement_text
        or later_fix(level, result, dialect)
        or (f"fix the other findings and use {dialect.label(later_level)}" if later_level is not None else None),
        target=target,
    )


def missing_domain(spec: OperatorSpec, target: Target, result: LevelSet) -> Finding:
    """Return the finding for an operator domain that the target lacks.

    result: the versions of the domain that accept the descriptor.
    """
    dialect = load_dialect(spec.dialect.name)
    domain_levels = {level: dialect.domain_level(spec.dialect.domain, level) for level in dialect.levels}
    levels = LevelSet.of(
        dialect.levels, [level for level, version in domain_levels.items() if version and version in result]
    )
    first = next(level for level, version in domain_levels.items() if version)
    return Finding(
        id=rule_id(dialect.name, spec.name, "level"),
        severity="error",
        message=f"{spec.name} does not exist at {dialect.label(target.level)}: {spec.dialect.domain} exists from "
        f"{dialect.label(first)} on",
        where="",
        values={"level": target.level, "operator": spec.name},
        first_level=levels.first,
        levels=tuple(levels),
        fix=later_fix(target.level, levels, dialect),
        target=str(target),
    )


def version_finding(descriptor: Descriptor, spec: OperatorSpec, level: str, target: str, result: LevelSet) -> Finding:
    """Return the finding for a descriptor of a later level than the target's.

    result: the levels that accept the descriptor as written for each of them. Unchanged, it needs at least its own
    level.
    """
    dialect = spec.dialect
    version = str(descriptor.version)
    levels = dialect.level_set(f"{version}..") & spec.levels if version in result else dialect.level_set([])
    return Finding(
        id=rule_id(dialect.name, spec.name, "version"),
        severity="error",
        message=f"written for {dialect.label(version)}, but the target supports levels up to {level}",
        where="version",
        values={"version": descriptor.version, "level": level},
        first_level=levels.first,
        levels=tuple(levels),
        fix=f"use a target of {dialect.label(version)} or later" if levels else None,
        target=target,
    )


def unwritten_finding(descriptor: Descriptor, spec: OperatorSpec, target: str) -> Finding:
    """Return the finding for an unfinished level without the operator."""
    dialect = spec.dialect
    level = str(descriptor.version)
    row = spec.last_row(level)
    return Finding(
        id=rule_id(dialect.name, spec.name, "version"),
        severity="error",
        message=f"written for {dialect.label(level)}, which is unfinished: no build has {spec.name} in it",
        where="version",
        values={"version": level},
        fix=None if row is None else f"write the version {dialect.label(row)}",
        target=target,
    )
