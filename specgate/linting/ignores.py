"""Configured ignores and their patterns; reports expired and stale ones."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from specgate.dialects import dialect_names, is_dialect
from specgate.errors import InputError, NoTable
from specgate.linting.files import path_matches, quote_text, relative_name
from specgate.near_names import fold_name
from specgate.report.selection import glob_matches, matches
from specgate.spec.rulebook import NODE_RULES, OWN_RULES, model_rules, other_groups, rule_names, rule_of
from specgate.spec.tables import dialect
from specgate.targets import at_level, expand_query, parse_target
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from pathlib import Path

    from specgate.linting.config import Ignore
    from specgate.verdict import Report

_SPECGATE = "specgate"
_MODEL = "model"
_SEGMENTS = 3


def expect_rule(pattern: str) -> None:
    """Raise InputError unless the pattern is a prefix of a rule id.

    Segments may have wildcards (see `selection.matches`).
    """
    parts = pattern.split("/")
    if len(parts) > _SEGMENTS or not all(parts):
        raise _unknown(pattern, "expected an id such as directml/GEMM/same-type, or a prefix of one")
    groups = _matching_names(parts[0], _groups())
    if not groups:
        raise _unknown(pattern, _suggest_group(pattern, parts))
    texts = [(group, "") for group in groups]
    for segment_index, part in enumerate(parts[1:], start=1):
        if segment_index == len(parts) - 1 and any(_matching_names(part, _next_segments(*place)) for place in texts):
            return  # segment by segment, so that only the tables of matching operators are loaded
        segments = {name for place in texts for name in _next_segments(*place)}
        names = _matching_names(part, segments)
        if not names:
            close = get_close_matches(part, sorted(segments), 1) or _fold_names(part, segments)
            raise _unknown(pattern, f"did you mean {'/'.join([*parts[:segment_index], close[0]])}?" if close else "")
        texts = [(group, name) for group, _ in texts for name in names if name in _next_segments(group, "")]


def _groups() -> tuple[str, ...]:
    return (*dialect_names(), *dict.fromkeys(group.partition("/")[0] for group in other_groups()), _SPECGATE)


def _next_segments(group: str, operator: str) -> set[str]:
    """Return the segments that may follow a group or an operator.

    operator: may also be ``model`` or ``tensor``.
    """
    if group == _SPECGATE:
        return set(OWN_RULES) if not operator else set()
    if not is_dialect(group):
        groups = other_groups()
        return set(groups[f"{group}/{operator}"]) if operator else {o.partition("/")[2] for o in groups}
    table = dialect(group)
    if not operator:
        return {*table.operators, _MODEL, "tensor"}
    if operator == _MODEL:
        return set(model_rules(group))
    return {*rule_names(table, operator), *NODE_RULES}


def _matching_names(pattern: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if glob_matches(name, pattern)]


def _fold_names(part: str, names: Iterable[str]) -> list[str]:
    return [name for name in sorted(names) if fold_name(name) == fold_name(part)]


def _suggest_group(pattern: str, parts: list[str]) -> str:
    """Return a suggestion for an unknown first segment.

    It may be an operator without its dialect, or a misspelled dialect.
    """
    groups = [group for group in dialect_names() if _matching_names(parts[0], dialect(group).operators)]
    similar = get_close_matches(parts[0], _groups(), 1)
    text = f"{groups[0]}/{pattern}" if groups else "/".join([similar[0], *parts[1:]]) if similar else None
    return f"did you mean {text}?" if text else f"ids begin with one of {', '.join(_groups())}"


def _unknown(pattern: str, hint: str) -> InputError:
    return InputError(f"no rule id matches {pattern!r:.100}" + (f"; {hint}" if hint else ""))


def apply_ignores(report: Report, ignores: Sequence[Ignore], *, today: date, root: Path) -> None:
    """Move findings that `ignores` silence to ``report.ignored``.

    Adds findings about the ignores. ``specgate/ignore-expired``: its last day is before `today`, so it has no effect.
    ``specgate/ignore-stale``: it matched nothing although a file that it covers was linted for its target and for the
    dialect of its rule.
    """
    cached_name = cache(lambda file: relative_name(file, root))
    active_ignores = [ignore for ignore in ignores if not _is_expired(ignore, today)]
    used_ignores: set[int] = set()
    remaining_findings: list[Finding] = []
    for finding in report.findings:
        name = cached_name(finding.location.file) if finding.location and finding.location.file else None
        # All matching ignores count as used, not only the first one.
        matching_ignores = [ignore for ignore in active_ignores if _matches(ignore, finding, name)]
        used_ignores.update(map(id, matching_ignores))
        if matching_ignores:
            report.ignored.append(replace(finding, ignored=matching_ignores[0].reason))
        else:
            remaining_findings.append(finding)
    names = [cached_name(file) for file in report.files]
    for ignore in ignores:
        if _is_expired(ignore, today):
            remaining_findings.append(_expired_finding(ignore))
        elif id(ignore) not in used_ignores:
            unknown = _no_such_rule(ignore.rule)
            if unknown is not None or _is_covered(ignore, names, report.targets):
                remaining_findings.append(_stale_finding(ignore, unknown))
    report.findings = remaining_findings


def _is_expired(ignore: Ignore, today: date) -> bool:
    return ignore.until is not None and today > ignore.until


def _matches(ignore: Ignore, finding: Finding, name: str | None) -> bool:
    if ignore.target is not None and (finding.target is None or at_level(finding.target) not in _levels(ignore.target)):
        return False
    if ignore.rule.count("/") != finding.id.count("/") or not matches(ignore.rule, finding.id):
        return False
    node = finding.node
    if ignore.node is not None and (node is None or not _matches_node(ignore.node, node)):
        return False
    return ignore.path is None or (name is not None and path_matches(ignore.path, name))


@lru_cache
def _levels(text: str) -> frozenset[str]:
    """Return the levels of an ignore's target; several for a query."""
    return frozenset(map(at_level, expand_query(text)))


def _matches_node(pattern: str, node: str) -> bool:
    """Match the whole node path, or the part after its first segment.

    ``decoder/*`` matches ``graph/decoder/OneHot_3``.
    """
    return glob_matches(node, pattern) or glob_matches(node.partition("/")[2], pattern)


def _is_covered(ignore: Ignore, names: Sequence[str], targets: Sequence[str]) -> bool:
    groups = {"specgate"}.union(*map(_rule_groups, targets))
    if not any(glob_matches(group, ignore.rule.partition("/")[0]) for group in groups):
        return False  # a rule of a dialect without a target in this run
    if ignore.target is not None and _levels(ignore.target).isdisjoint(map(at_level, targets)):
        return False
    return ignore.path is None or any(path_matches(ignore.path, name) for name in names)


@lru_cache
def _rule_groups(text: str) -> frozenset[str]:
    """Return the prefixes of the rule ids of a target.

    These are its dialect and the rule groups of a runtime.
    """
    try:
        target = parse_target(text)
    except InputError:
        return frozenset({text.partition(":")[0]})
    if target.runtime is None:
        return frozenset({target.dialect})
    return frozenset({target.dialect, *(group.partition("/")[0] for group in other_groups())})


def _expired_finding(ignore: Ignore) -> Finding:
    date = ignore.until.isoformat() if ignore.until else ""
    return Finding(
        id="specgate/ignore-expired",
        severity="warning",
        message=f"ignore {quote_text(ignore.rule)} expired on {date} (reason: {quote_text(ignore.reason)})",
        values={"rule": ignore.rule, "until": date, "reason": ignore.reason},
        fix="remove the ignore, or extend it",
        location=Location(file=ignore.source, node=ignore.place),
    )


def _no_such_rule(pattern: str) -> str | None:
    """Return a message that no rule has this id, with a suggestion.

    None for an existing rule and for a pattern.
    """
    if any(sign in pattern for sign in "*?"):
        return None
    try:
        rule_of(pattern)
    except (InputError, NoTable) as error:
        return str(error)
    return None


def _stale_finding(ignore: Ignore, unknown: str | None) -> Finding:
    if unknown is not None:
        return Finding(
            id="specgate/ignore-stale",
            severity="warning",
            message=f"ignore {quote_text(ignore.rule)} matches no existing rule (reason: "
            f"{quote_text(ignore.reason)}): {unknown}",
            values={"rule": ignore.rule, "reason": ignore.reason},
            fix="correct the rule's id or remove the ignore",
            location=Location(file=ignore.source, node=ignore.place),
        )
    return Finding(
        id="specgate/ignore-stale",
        # An ignore without a path may be intended for a file outside of this run, because pre-commit passes only
        # changed files.
        severity="note" if ignore.path is None else "warning",
        message=f"ignore {quote_text(ignore.rule)} matched no finding (reason: {quote_text(ignore.reason)})",
        values={"rule": ignore.rule, "reason": ignore.reason},
        fix="remove the ignore",
        location=Location(file=ignore.source, node=ignore.place),
    )
