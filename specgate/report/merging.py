"""Findings that are the same for several targets of a query, shown once: for people, who asked for them in one word."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.verdict import Finding

__all__ = ["asked_targets", "merged", "named_targets"]

_LISTED = 3


def merged(findings: Iterable[Finding], queries: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Return findings in which the targets of a query, by its text, are one: all of them, or so many of them."""
    if not queries:
        return list(findings)
    of = {target: query for query, targets in queries.items() for target in targets}
    alike: dict[object, list[Finding]] = {}
    for found in findings:
        query = of.get(found.target or "")
        key = _key(found, query) if query is not None else id(found)
        alike.setdefault(key, []).append(found)
    return [_one(held, of, queries) for held in alike.values()]


def _key(found: Finding, query: str | None) -> object:
    return (query, found.id, found.severity, found.where, found.message, found.fix, found.levels, found.location)


def _one(alike: list[Finding], of: Mapping[str, str], queries: Mapping[str, Sequence[str]]) -> Finding:
    first = alike[0]
    if len(alike) == 1:
        return first
    query = of[first.target or ""]
    names = sorted((found.target or "" for found in alike), key=list(queries[query]).index)
    if len(names) == len(queries[query]):
        return replace(first, target=query)
    said = ", ".join(names[:_LISTED]) + (f" and {len(names) - _LISTED} more" if len(names) > _LISTED else "")
    return replace(first, target=query, message=f"{first.message} (at {said})")


def named_targets(targets: Iterable[str], queries: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the targets of a report, those of a query in its place."""
    return [f"{name} ({len(queries[name])})" if name in queries else name for name in asked_targets(targets, queries)]


def asked_targets(targets: Iterable[str], queries: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the targets of a report as they were asked for: by their query, if one has them."""
    of = {target: query for query, all_of in queries.items() for target in all_of}
    return list(dict.fromkeys(of.get(target, target) for target in targets))
