"""The report as SARIF 2.1.0 (OASIS, errata 01).

For code scanning and editors. All targets of a report are in one run, and each result names its target. Code scanning
identifies alerts by tool and category. With a run per target, alerts of a target that was removed would stay
open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.report import counts, sentence, without_table
from specgate.report.clean import clean, well_formed
from specgate.report.identity import absolute_uri, identify_findings, relative_uri
from specgate.report.jsonreport import dumps, safe_values
from specgate.report.ports import context_at, inputs_line
from specgate.report.rule_links import SITE, describe_rule, rule_address

if TYPE_CHECKING:
    from specgate.report.selection import RenderOptions
    from specgate.verdict import Finding, Location, Report

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_ROOT = "%SRCROOT%"
_MESSAGE_LIMIT = 4000
_KINDS = {"error": "error", "warning": "warning", "note": "recommendation"}


def render(report: Report, options: RenderOptions) -> str:
    """Return the report as indented ASCII JSON in the SARIF format."""
    return dumps(document(report, options))


def document(report: Report, options: RenderOptions, version: str | None = None) -> dict[str, Any]:
    """Return the SARIF log as plain data: one run, findings first.

    Ignored findings come last as suppressed results. version: of specgate, for the tool's driver; None for the
    installed one.
    """
    pairs, ignored_pairs = identify_findings(report, options)
    levels: dict[str, str] = {}
    for finding, _ in [*pairs, *ignored_pairs]:
        severity_pair = (levels.get(finding.id, "note"), finding.severity)
        levels[finding.id] = next(level for level in _KINDS if level in severity_pair)
    index = {rule: number for number, rule in enumerate(sorted(levels))}
    driver = {
        "name": "specgate",
        "version": version if version is not None else _version(),
        "informationUri": SITE,
        "rules": [_rule(rule, levels[rule]) for rule in index],
    }
    results = [_result(report, finding, index, options) | _suppression(print_, None) for finding, print_ in pairs]
    results += [
        _result(report, finding, index, options) | _suppression(print_, finding.ignored or "ignored")
        for finding, print_ in ignored_pairs
    ]
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report)],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            "targets": [well_formed(target) for target in report.targets],
            "nodes": report.nodes,
            "counts": counts(report),
            "operatorsWithoutTable": [well_formed(name) for name in without_table(report.no_table)],
        },
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _version() -> str:
    import specgate

    return str(getattr(specgate, "__version__", "0"))


def _invocation(report: Report) -> dict[str, Any]:
    """Return the invocation; unreadable files make it unsuccessful.

    Each file has a notification.
    """
    notes = [{"level": "error", "message": _message(clean(line, _MESSAGE_LIMIT))} for line in report.unusable]
    return {"executionSuccessful": not notes, **({"toolExecutionNotifications": notes} if notes else {})}


def _rule(rule: str, level: str) -> dict[str, Any]:
    description = describe_rule(rule)
    cleaned = clean(rule)
    lines = [clean(line, _MESSAGE_LIMIT) for line in description.lines]
    help_lines = [clean(description.says, _MESSAGE_LIMIT), *lines]
    entry: dict[str, Any] = {
        "id": cleaned,
        "shortDescription": _message(clean(description.says, 1000)),
        "fullDescription": _message(clean(description.says, 1000)),
        "help": _message("\n".join(help_lines)),
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": list(dict.fromkeys(clean(part) for part in rule.split("/")[:2])),
            "problem.severity": _KINDS[level],
        },
    }
    address = rule_address(rule) or description.url
    if address is not None:
        entry["helpUri"] = address
    return entry


def _result(report: Report, finding: Finding, index: dict[str, int], options: RenderOptions) -> dict[str, Any]:
    context = context_at(report, finding.location)
    location = _location(finding.location, options)
    properties = {
        "target": well_formed(finding.target or ""),
        "where": well_formed(finding.where),
        "values": safe_values(finding.values),
        "levels": [well_formed(level) for level in finding.levels],
        "basis": finding.basis,
    }
    if finding.rule:
        properties["rule"] = clean(finding.rule, _MESSAGE_LIMIT)
    if context is not None and context.inputs:
        properties["inputs"] = clean(inputs_line(context.inputs), _MESSAGE_LIMIT)
    return {
        "ruleId": clean(finding.id),
        "ruleIndex": index[finding.id],
        "level": finding.severity,
        "message": _message(clean(sentence(finding), _MESSAGE_LIMIT)),
        "locations": [location] if location else [],
        "properties": properties,
    }


def _suppression(fingerprint: str, ignore_reason: str | None) -> dict[str, Any]:
    # The standard requires suppressions on all results of a run or on none; an empty list means "not suppressed".
    suppression = {
        "kind": "external",
        "status": "accepted",
        "justification": clean(ignore_reason or "", _MESSAGE_LIMIT),
    }
    return {"partialFingerprints": {"specgate/v1": fingerprint}, "suppressions": [suppression] if ignore_reason else []}


def _message(text: str) -> dict[str, str]:
    # In SARIF's plain text, single braces are placeholders, and "[text](target)" is a link.
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _location(location: Location | None, options: RenderOptions) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if location is None:
        return result
    if location.file:
        relative_path = options.path_inside(location.file)
        artifact = (
            {"uri": absolute_uri(location.file)}
            if relative_path is None
            else {"uri": relative_uri(relative_path), "uriBaseId": _ROOT}
        )
        # Viewers require a line; a binary file has none, so line 1 is used.
        region = {"startLine": max(location.line or 1, 1)}
        result["physicalLocation"] = {"artifactLocation": artifact, "region": region}
    if location.node:
        result["logicalLocations"] = [{"fullyQualifiedName": clean(location.node, _MESSAGE_LIMIT)}]
    return result
