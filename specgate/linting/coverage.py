"""What was not judged at all: files without a target of their dialect or without a known node, and idle targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.slotted import replace
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from specgate.linting.nodes import Graph
    from specgate.targets import Target
    from specgate.verdict import Report

__all__ = ["keep_idle", "unjudged"]

_IDLE: Final = "specgate/target-idle"


def unjudged(graph: Graph, targets: Sequence[Target], report: Report) -> Iterator[Finding]:
    """Yield warnings of what `report`, of one file and already judged for all `targets`, says nothing about.

    Of a file: each of its dialects that no target is of (``no-target``), and that none of its nodes was judged
    (``nothing-judged``). Of a target: that the file has nothing of its dialect (``target-idle``), unless no other
    target has either. Of a run over several files `keep_idle` keeps only targets that are idle in all of them.
    """
    at = Location(report.files[0] if report.files else None)
    names = graph.dialects()
    text = ", ".join(str(target) for target in targets)
    for name in names:
        if all(target.dialect != name for target in targets):
            message = f"is in the dialect {name}, but no target of it was given ({text}); nothing in it was judged"
            yield Finding("specgate/no-target", "warning", message, location=at)
    if not report.targets:
        return
    if not report.nodes:
        yield Finding("specgate/nothing-judged", "warning", _nothing(graph), location=at)
    for target in targets:
        if target.dialect not in names:
            message = f"judged nothing: the file has no node of {target.dialect}"
            yield Finding(_IDLE, "warning", message, fix="leave it out here", target=str(target), location=at)


def _nothing(graph: Graph) -> str:
    if not graph.units:
        return "nothing was judged: the file has no node"
    reasons = list(dict.fromkeys(unit.reason for unit in graph.units if unit.reason))
    more = f" (and {len(reasons) - 1} other reasons)" if len(reasons) > 2 else ""
    return f"nothing was judged: {'; '.join(reasons[:2]) if len(reasons) < 3 else reasons[0]}{more}"


def keep_idle(report: Report, queries: Mapping[str, Sequence[str]], *, named: bool) -> None:
    """Keep, of the idle targets of each file, those that judged nothing in any file of the run, each once.

    The targets of a query are idle together, and one finding says so, with the query as its target.
    named: whether they were named for this run. Those of a configuration may be meant for files that this run was not
    given, as pre-commit gives only changed ones: they are notes.
    """
    busy = {target for targets in report.judged.values() for target in targets}
    of = {target: query for query, targets in queries.items() for target in targets}
    kept: dict[str | None, None] = {}
    findings = []
    for finding in report.findings:
        if finding.id == _IDLE:
            query = of.get(finding.target or "")
            if finding.target in busy or (query or finding.target) in kept:
                continue
            kept[query or finding.target] = None
            if not named:
                finding = replace(finding, severity="note")  # noqa: PLW2901
            if len(report.judged) > 1:
                dialect = str(finding.target).partition(":")[0]
                message = f"judged nothing: none of the files has a node of {dialect}"
                finding = replace(finding, message=message, fix="leave it out", location=None)  # noqa: PLW2901
            if query is not None:
                finding = replace(finding, target=query, values={"targets": list(queries[query])})  # noqa: PLW2901
        findings.append(finding)
    report.findings = findings
