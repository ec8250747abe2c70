"""Warnings about files and targets for which nothing was checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.slotted import replace
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.linting.nodes import Graph
    from specgate.targets import Target
    from specgate.verdict import Report

_IDLE: Final = "specgate/target-idle"


def unchecked_findings(graph: Graph, targets: Sequence[Target], report: Report) -> Iterator[Finding]:
    """Yield warnings about what was not checked in one file.

    report: the report on the file after all `targets` were checked.

    For the file: ``no-target`` for each of its dialects without a target, and ``nothing-judged`` if none of its nodes
    was checked. For a target: ``target-idle`` if the file has no node of its dialect, unless this is true of all
    targets. In a run over several files, `keep_idle` then keeps only the targets that are idle in all files.
    """
    location = Location(report.files[0] if report.files else None)
    names = graph.dialects()
    text = ", ".join(str(target) for target in targets)
    for name in names:
        if all(target.dialect != name for target in targets):
            message = f"{name} file, but none of the targets ({text}) is for {name}; it was not checked"
            yield Finding("specgate/no-target", "warning", message, location=location)
    if not report.targets:
        return
    if not report.nodes:
        yield Finding("specgate/nothing-judged", "warning", _nothing_checked_text(graph), location=location)
    for target in targets:
        if target.dialect not in names:
            message = f"the target checked nothing: the file has no {target.dialect} node"
            yield Finding(
                _IDLE,
                "warning",
                message,
                fix="remove the target for this file",
                target=str(target),
                location=location,
            )


def _nothing_checked_text(graph: Graph) -> str:
    if not graph.units:
        return "nothing was checked: the file has no node"
    reasons = list(dict.fromkeys(unit.reason for unit in graph.units if unit.reason))
    remainder = f" (and {len(reasons) - 1} other reasons)" if len(reasons) > 2 else ""
    return f"nothing was checked: {'; '.join(reasons[:2]) if len(reasons) < 3 else reasons[0]}{remainder}"


def keep_idle(report: Report, queries: Mapping[str, Sequence[str]], *, is_explicit: bool) -> None:
    """Keep one ``target-idle`` finding per target that is idle in all files.

    The targets of a query share one finding, with the query as its target.

    is_explicit: whether the targets were named for this run. Targets from a configuration may be intended for files
    outside of this run (pre-commit passes only changed files), so these findings are notes.
    """
    busy = {target for targets in report.judged.values() for target in targets}
    queries_by_target = {target: query for query, targets in queries.items() for target in targets}
    idle_targets: dict[str | None, None] = {}
    findings = []
    for finding in report.findings:
        if finding.id == _IDLE:
            query = queries_by_target.get(finding.target or "")
            if finding.target in busy or (query or finding.target) in idle_targets:
                continue
            idle_targets[query or finding.target] = None
            if not is_explicit:
                finding = replace(finding, severity="note")  # noqa: PLW2901
            if len(report.judged) > 1:
                dialect = str(finding.target).partition(":")[0]
                message = f"the target checked nothing: none of the files has a {dialect} node"
                finding = replace(finding, message=message, fix="remove the target", location=None)  # noqa: PLW2901
            if query is not None:
                finding = replace(finding, target=query, values={"targets": list(queries[query])})  # noqa: PLW2901
        findings.append(finding)
    report.findings = findings
