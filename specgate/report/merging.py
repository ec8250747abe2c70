"""Findings that are the same for several targets of a query, shown once: for people, who asked for them in one word."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from specgate.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.verdict import Finding

__all__ = ["asked_targets", "grouped", "merged", "named_targets"]

_LISTED = 3


def merged(findings: Iterable[Finding], queries: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Return findings in which the targets of a query, by its text, are one: all of them, or so many of them."""
    if not queries:
        return list(findings)
    return [
        _one(known_findings, query, queries[query]) if query else known_findings[0]
        for query, known_findings in grouped(findings, queries)
    ]


def grouped(
    findings: Iterable[Finding], queries: Mapping[str, Sequence[str]]
) -> list[tuple[str | None, list[Finding]]]:
    """Return findings that say the same for several targets of a query together, in the order of the first of each.

    With the query, None where there is one finding. What they say is the same if it is but for the names of levels.
    """
    of = {target: query for query, targets in queries.items() for target in targets}
    alike: dict[object, list[Finding]] = {}
    for finding in findings:
        query = of.get(finding.target or "")
        alike.setdefault(
            id(finding) if query is None else _key(finding, query, finding.message, finding.fix), []
        ).append(finding)
    by_level: dict[object, list[Finding]] = {}
    for known_findings in alike.values():
        query = of.get(known_findings[0].target or "")
        texts = {(_spread(f.message, f), _spread(f.fix or "", f)) for f in known_findings if query is not None}
        key = _key(known_findings[0], query, *texts.pop()) if len(texts) == 1 else id(known_findings[0])
        by_level.setdefault(key, []).extend(known_findings)
    return [(of[findings[0].target or ""] if len(findings) > 1 else None, findings) for findings in by_level.values()]


def _key(finding: Finding, query: str | None, message: str, fix: str | None) -> object:
    return (
        query,
        finding.id,
        finding.severity,
        finding.where,
        message,
        fix,
        finding.fixable,
        finding.levels,
        finding.location,
    )


def _spread(text: str, finding: Finding) -> str:
    """Return a text without the names of the finding's target, which are others for each target."""
    release = (finding.target or "").partition(":")[2]
    names = {release, release.rpartition("-")[2], parse_target(finding.target or "").level}
    for name in names - {""}:
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", "{}", text)
    return text


def _one(alike: list[Finding], query: str, targets: Sequence[str]) -> Finding:
    places = {target: at for at, target in enumerate(targets)}
    ordered = sorted(alike, key=lambda finding: places[finding.target or ""])
    names = [finding.target or "" for finding in ordered]
    gap = places[names[-1]] - places[names[0]] >= len(names)
    first = ordered[0]
    text = ""
    if any(finding.message != first.message for finding in ordered):
        text = f" (likewise {_listed(names[1:]) if gap or len(names) < 3 else f'up to {names[-1]}'})"
    elif len(names) < len(targets):
        text = f" ({_listed(names) if gap or len(names) < 3 else f'{names[0]} to {names[-1]}'})"
    return replace(first, target=query, message=first.message + text)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"at {', '.join(names[:_LISTED])}{more}"


def named_targets(targets: Iterable[str], queries: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the targets of a report, those of a query in its place."""
    return [f"{name} ({len(queries[name])})" if name in queries else name for name in asked_targets(targets, queries)]


def asked_targets(targets: Iterable[str], queries: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the targets of a report as they were asked for: by their query, if one has them."""
    of = {target: query for query, all_of in queries.items() for target in all_of}
    return list(dict.fromkeys(of.get(target, target) for target in targets))
