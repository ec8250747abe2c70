"""The report as JSON, in the schema ``specgate-report/1``.

The schema is ``report.schema.json`` in this folder, which ``specgate spec schema report`` prints. The same version may
add fields, but does not remove them or change their meaning.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from specgate.loading import lazy
from specgate.report import counts, nodes_in_order
from specgate.report.clean import clean, well_formed
from specgate.report.selection import RenderOptions, statistics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.report import identity, merging
    from specgate.spec import version
    from specgate.verdict import Finding, Location, NodeContext, NodeRef, Port, Report, Verdict
else:
    identity = lazy("specgate.report.identity")
    merging = lazy("specgate.report.merging")
    version = lazy("specgate.spec.version")

SCHEMA = "specgate-report/1"

_MAX_DEPTH = 8
_MAX_ITEMS = 10_000
_MAX_BITS = 14_000  # Python converts integers of at most 4300 digits


def render(report: Report, options: RenderOptions) -> str:
    """Return the report as indented ASCII JSON."""
    return dumps(document(report, options))


def document(report: Report, options: RenderOptions | None = None) -> dict[str, Any]:
    """Return the report as plain dicts, lists, strings and numbers."""
    # Every command with JSON output imports this module; only reports need hashes.
    options = options or RenderOptions()
    pairs, ignored = identity.identify_findings(report, options)
    statistics_data = {"statistics": _statistics(report)} if options.statistics else {}
    fixed = {} if report.fixed is None else {"fixed": [finding_json(finding) for finding in report.fixed]}
    grouped_data = {"grouped": _group_findings(pairs, options.queries)} if options.queries else {}
    return {
        "schema": SCHEMA,
        "tables": version.versions_of_targets(report.targets),
        "targets": [well_formed(target) for target in report.targets],
        "files": [well_formed(file) for file in report.files],
        "unusable": [well_formed(line) for line in report.unusable],
        "nodes": report.nodes,
        "counts": counts(report),
        **statistics_data,
        "findings": [finding_json(finding, fingerprint) for finding, fingerprint in pairs],
        **grouped_data,
        "undecided": [node_json(node) for node in nodes_in_order(report.undecided)],
        "no_table": [node_json(node) for node in nodes_in_order(report.no_table)],
        **fixed,
        "ignored": [{**finding_json(finding, mark), "ignored": _text(finding.ignored)} for finding, mark in ignored],
        "context": [
            _context(file, node, context) for (file, node), context in sorted(report.context.items(), key=_key_of)
        ],
    }


def _statistics(report: Report) -> list[dict[str, Any]]:
    return [
        {"id": well_formed(rule), "severity": severity, "findings": number, "files": files}
        for rule, severity, number, files in statistics(report.findings)
    ]


def _group_findings(pairs: Sequence[tuple[Finding, str]], queries: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """Return groups of findings that are equal for targets of one query.

    They are listed by fingerprint.
    """
    marks = {id(finding): mark for finding, mark in pairs}
    return [
        {
            "query": well_formed(query),
            "id": well_formed(findings[0].id),
            "targets": [well_formed(finding.target or "") for finding in findings],
            "fingerprints": [marks[id(finding)] for finding in findings],
        }
        for query, findings in merging.group_findings([finding for finding, _ in pairs], queries)
        if query is not None
    ]


def dumps(value: Any) -> str:
    """Return plain data as indented ASCII JSON without ``##``.

    CI servers execute ``##`` commands in logs.
    """
    text = json.dumps(value, indent=2, ensure_ascii=True, allow_nan=False)
    # "##" occurs in JSON only inside strings, where an escape is equivalent.
    return text.replace("##", "#\\u0023") + "\n"


def verdict_json(verdict: Verdict) -> dict[str, Any]:
    """Return one verdict with the members that `specgate check` prints.

    `check` prints the findings of all descriptors together.
    """
    return {
        "operator": well_formed(verdict.operator),
        "target": well_formed(verdict.target),
        "verdict": verdict.word,
        "accepted": verdict.accepted,
        "basis": verdict.basis,
        "notes": [well_formed(note) for note in verdict.notes],
        "findings": [finding_json(finding) for finding in verdict.findings],
        "undecided": [finding_json(finding) for finding in verdict.undecided],
    }


def finding_json(finding: Finding, mark: str | None = None) -> dict[str, Any]:
    """Return one finding.

    mark: its fingerprint, by default that in a report with only this finding.
    """
    if mark is None:
        mark = identity.fingerprint(finding)
    return {
        "fingerprint": mark,
        "id": well_formed(finding.id),
        "severity": finding.severity,
        "message": well_formed(finding.message),
        "where": well_formed(finding.where),
        "rule": _text(finding.rule),
        "values": safe_values(finding.values),
        "first_level": _text(finding.first_level),
        "levels": [well_formed(level) for level in finding.levels],
        "fix": _text(finding.fix),
        "basis": finding.basis,
        "target": _text(finding.target),
        "location": location_json(finding.location),
        **({"fixable": True} if finding.fixable else {}),
    }


def node_json(node: NodeRef) -> dict[str, Any]:
    """Return one undecided node."""
    return {
        "location": location_json(node.location),
        "target": _text(node.target),
        "reason": well_formed(node.reason),
    }


def location_json(location: Location | None) -> dict[str, Any] | None:
    """Return a location."""
    if location is None:
        return None
    return {
        "file": _text(location.file),
        "line": location.line,
        "node": _text(location.node),
        "operator": _text(location.operator),
    }


def _key_of(item: tuple[tuple[str | None, str], NodeContext]) -> tuple[str, str]:
    return (item[0][0] or "", item[0][1])


def _context(file: str | None, node: str, context: NodeContext) -> dict[str, Any]:
    return {
        "file": _text(file),
        "node": well_formed(node),
        "inputs": [_port(port) for port in context.inputs],
        "outputs": [_port(port) for port in context.outputs],
    }


def _port(port: Port) -> dict[str, Any]:
    sizes = None if port.sizes is None else [well_formed(s) if isinstance(s, str) else s for s in port.sizes]
    return {
        "field": well_formed(port.field),
        "name": _text(port.name),
        "type": _text(port.type),
        "sizes": sizes,
        "nodes": [{"node": well_formed(node), "operator": well_formed(operator)} for node, operator in port.nodes],
        "more": port.more,
    }


def _text(text: str | None) -> str | None:
    return None if text is None else well_formed(text)


def safe_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a finding's values as JSON data of bounded size and depth.

    Cycles are cut.
    """
    budget = [_MAX_ITEMS]
    return {well_formed(str(key)): _to_json(value, budget, _MAX_DEPTH) for key, value in values.items()}


def _to_json(value: Any, budget: list[int], depth: int) -> Any:
    budget[0] -= 1
    if budget[0] < 0 or depth < 0:
        return "..."
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, int):
        return int(value) if value.bit_length() <= _MAX_BITS else hex(value)
    if isinstance(value, float):
        plain_value = float(value)
        return plain_value if plain_value - plain_value == 0 else str(plain_value)
    if isinstance(value, dict):
        items = list(value.items())[: max(budget[0], 0)]
        return {well_formed(_key(key)): _to_json(item, budget, depth - 1) for key, item in items}
    if isinstance(value, (set, frozenset)):
        return _to_json(sorted(value, key=_foreign_repr), budget, depth)
    if isinstance(value, (list, tuple, range)):
        return [_to_json(item, budget, depth - 1) for item in value[: max(budget[0], 0)]]
    return _numpy(value, budget, depth)


def _numpy(value: Any, budget: list[int], depth: int) -> Any:
    """Return numpy arrays and scalars as plain data without importing numpy.

    Other values become text.
    """
    size = getattr(value, "size", None)
    if isinstance(size, int) and size <= _MAX_ITEMS and hasattr(value, "tolist"):
        plain_value = value.tolist()
        if not hasattr(plain_value, "tolist"):
            return _to_json(plain_value, budget, depth)
    return _foreign_repr(value)


def _key(key: Any) -> str:
    return key if isinstance(key, str) else _foreign_repr(key)


def _foreign_repr(value: Any) -> str:
    try:
        return clean(repr(value), 2000)
    except Exception:  # noqa: BLE001 (a third-party __repr__ may raise anything; the report must still be written)
        return f"<{type(value).__name__}>"
