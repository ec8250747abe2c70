"""The report as SARIF 2.1.0 (OASIS, errata 01), for code scanning and editors."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from specgate.report import counts, in_order, sentence, without_table
from specgate.report.clean import clean, well_formed
from specgate.report.jsonreport import dumps, safe_values

if TYPE_CHECKING:
    from specgate.report.options import RenderOptions
    from specgate.verdict import Finding, Location, Report

__all__ = ["document", "render"]

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_README = "https://github.com/specgate/specgate#readme"
_ROOT = "%SRCROOT%"
_MESSAGE_LIMIT = 4000


def render(report: Report, options: RenderOptions) -> str:
    """Return the report as indented ASCII JSON in the SARIF format."""
    return dumps(document(report, options))


def document(report: Report, options: RenderOptions, version: str | None = None) -> dict[str, Any]:
    """Return the SARIF log as plain dicts: one run, findings first, ignored ones after them as suppressed results.

    version: of specgate, for the tool's driver; looked up when it is None.
    """
    placed = [(finding, False) for finding in in_order(report.findings)]
    placed += [(finding, True) for finding in in_order(report.ignored)]
    ids = sorted({finding.id for finding, _ in placed})
    index = {rule: number for number, rule in enumerate(ids)}
    driver = {
        "name": "specgate",
        "version": version if version is not None else _version(),
        "informationUri": _README,
        "rules": [_rule(rule) for rule in ids],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.id], options, ignored=ignored) for finding, ignored in placed],
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


def _rule(rule: str) -> dict[str, Any]:
    shown = clean(rule)
    text = _message(f"specgate check {shown}")
    how = _message(f"`specgate rule {shown}` prints the rule, its levels and its source.")
    return {"id": shown, "shortDescription": text, "fullDescription": text, "help": how}


def _result(finding: Finding, rule_index: int, options: RenderOptions, *, ignored: bool) -> dict[str, Any]:
    uri = _uri(finding.location.file, options) if finding.location is not None and finding.location.file else None
    location = _location(finding.location, uri)
    return {
        "ruleId": clean(finding.id),
        "ruleIndex": rule_index,
        "level": finding.severity,
        "message": _message(clean(sentence(finding), _MESSAGE_LIMIT)),
        "locations": [location] if location else [],
        "partialFingerprints": {"specgate/v1": _fingerprint(finding, uri)},
        # The standard wants this on all results of a run or on none; an empty list says "not suppressed".
        "suppressions": [{"kind": "external"}] if ignored else [],
        "properties": {
            "target": well_formed(finding.target or ""),
            "where": well_formed(finding.where),
            "values": safe_values(finding.values),
            "levels": [well_formed(level) for level in finding.levels],
            "basis": finding.basis,
        },
    }


def _message(text: str) -> dict[str, str]:
    # In SARIF's plain text, braces are placeholders unless doubled, and "[text](target)" is a link.
    return {"text": text.replace("{", "{{").replace("}", "}}").replace("](", "] (")}


def _location(location: Location | None, uri: str | None) -> dict[str, Any]:
    result: dict[str, Any] = {}
    if location is None:
        return result
    if uri is not None:
        artifact = {"uri": uri} if uri.startswith("file:") else {"uri": uri, "uriBaseId": _ROOT}
        # Viewers want a line; a binary file has none, and its first stands for the whole.
        region = {"startLine": max(location.line or 1, 1)}
        result["physicalLocation"] = {"artifactLocation": artifact, "region": region}
    if location.node:
        result["logicalLocations"] = [{"fullyQualifiedName": clean(location.node, _MESSAGE_LIMIT)}]
    return result


def _uri(file: str, options: RenderOptions) -> str:
    """Return the file's URI relative to root, or an absolute one for a file outside of it."""
    inside = options.inside(file)
    if inside is not None:
        return _quote(inside)
    path = os.path.abspath(file).replace(os.sep, "/")  # noqa: PTH100 (purely lexical, links stay as they are)
    return "file://" + (_quote(path) if path.startswith("/") else "/" + _quote(path))


def _quote(path: str) -> str:
    try:
        return quote(os.fsencode(path))
    except UnicodeEncodeError:  # a lone surrogate that stands for no byte: no file has such a name
        return quote(well_formed(path))


def _fingerprint(finding: Finding, uri: str | None) -> str:
    node = finding.location.node if finding.location is not None else None
    parts = (uri or "", node or "", finding.where, finding.id, finding.target or "")
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
