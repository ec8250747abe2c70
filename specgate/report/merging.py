"""Merge findings that are equal for several targets of one query.

Only formats for people merge them.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from specgate.targets import parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.verdict import Finding

_MAX_LISTED = 3


def merge_findings(findings: Iterable[Finding], queries: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Return findings merged over the targets of each query.

    A merged finding names the query, and how many of its targets if not all.
    """
    if not queries:
        return list(findings)
    return [
        _merge_group(known_findings, query, queries[query]) if query else known_findings[0]
        for query, known_findings in group_findings(findings, queries)
    ]


def group_findings(
    findings: Iterable[Finding], queries: Mapping[str, Sequence[str]]
) -> list[tuple[str | None, list[Finding]]]:
    """Return findings grouped by equal content over a query's targets.

    Each group has its query, None for a single finding. Names of levels in messages do not count. The order is that of
    the first finding of each group.
    """
    queries_by_target = {target: query for query, targets in queries.items() for target in targets}
    findings_by_key: dict[object, list[Finding]] = {}
    for finding in findings:
        query = queries_by_target.get(finding.target or "")
        findings_by_key.setdefault(
            id(finding) if query is None else _key(finding, query, finding.message, finding.fix), []
        ).append(finding)
    by_level: dict[object, list[Finding]] = {}
    for known_findings in findings_by_key.values():
        query = queries_by_target.get(known_findings[0].target or "")
        texts = {
            (_strip_target(f.message, f), _strip_target(f.fix or "", f)) for f in known_findings if query is not None
        }
        key = _key(known_findings[0], query, *texts.pop()) if len(texts) == 1 else id(known_findings[0])
        by_level.setdefault(key, []).extend(known_findings)
    return [
        (queries_by_target[findings[0].target or ""] if len(findings) > 1 else None, findings)
        for findings in by_level.values()
    ]


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


def _strip_target(text: str, finding: Finding) -> str:
    """Return a text without the names of the finding's target."""
    release = (finding.target or "").partition(":")[2]
    names = {release, release.rpartition("-")[2], parse_target(finding.target or "").level}
    for name in names - {""}:
        text = re.sub(rf"(?<![\w.]){re.escape(name)}(?!\w|\.\w)", "{}", text)
    return text


def _merge_group(similar: list[Finding], query: str, targets: Sequence[str]) -> Finding:
    places = {target: index for index, target in enumerate(targets)}
    ordered = sorted(similar, key=lambda finding: places[finding.target or ""])
    names = [finding.target or "" for finding in ordered]
    gap = places[names[-1]] - places[names[0]] >= len(names)
    first = ordered[0]
    text = ""
    if any(finding.message != first.message for finding in ordered):
        text = f" (likewise {_list_targets(names[1:]) if gap or len(names) < 3 else f'up to {names[-1]}'})"
    elif len(names) < len(targets):
        text = f" ({_list_targets(names) if gap or len(names) < 3 else f'{names[0]} to {names[-1]}'})"
    return replace(first, target=query, message=first.message + text)


def _list_targets(names: Sequence[str]) -> str:
    remainder = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"at {', '.join(names[:_MAX_LISTED])}{remainder}"


def merge_target_names(targets: Iterable[str], queries: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a report's targets, merged by query, with target counts."""
    return [
        f"{name} ({len(queries[name])})" if name in queries else name for name in requested_targets(targets, queries)
    ]


def requested_targets(targets: Iterable[str], queries: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a report's targets as requested: queries where they match."""
    queries_by_target = {target: query for query, all_of in queries.items() for target in all_of}
    return list(dict.fromkeys(queries_by_target.get(target, target) for target in targets))
