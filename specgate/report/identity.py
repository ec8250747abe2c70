"""Identity of findings: URIs of files, and stable fingerprints.

Fingerprints do not change when other nodes are added or removed.
"""

from __future__ import annotations

import os
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import quote

from specgate.descriptors.core import format_value
from specgate.report import place_order, sort_findings
from specgate.report.clean import well_formed
from specgate.report.selection import RenderOptions, path_below

if TYPE_CHECKING:
    from collections.abc import Sequence

    from specgate.verdict import Finding, Report

_VALUES_LENGTH = 1000  # characters of values that order findings with equal keys

Identified = list[tuple["Finding", str]]


def identify_findings(report: Report, options: RenderOptions) -> tuple[Identified, Identified]:
    """Return the findings and the ignored ones, each with its fingerprint.

    A fingerprint has 32 hexadecimal digits. It is a hash of the file's path from the root, the node's path, the field,
    the rule and the target, but not of lines, messages or severities. Findings with equal keys are numbered in the
    order of their values, ignored ones first.
    """
    key_counts: Counter[str] = Counter()
    ignored_pairs = _mark_findings(report.ignored, options, key_counts)
    return _mark_findings(report.findings, options, key_counts), ignored_pairs


def fingerprint(finding: Finding) -> str:
    """Return a finding's fingerprint in a report with only this finding."""
    return _mark_findings([finding], RenderOptions(), Counter())[0][1]


def _mark_findings(findings: Sequence[Finding], options: RenderOptions, key_counts: Counter[str]) -> Identified:
    """Return the sorted findings with their fingerprints."""
    marks: dict[int, list[str]] = {}
    for finding in sorted(findings, key=_structure):
        key = _key(finding, options)
        # The first one has no number, so that a second one does not change it.
        number = f"\0{key_counts[key]}" if key_counts[key] else ""
        key_counts[key] += 1
        mark = sha256((key + number).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        marks.setdefault(id(finding), []).append(mark)
    return [(finding, marks[id(finding)].pop(0)) for finding in sort_findings(findings)]


def _structure(finding: Finding) -> tuple[object, ...]:
    """Return a sort key without texts, so that rewording a message does not renumber findings."""
    values = format_value(dict(finding.values), _VALUES_LENGTH)
    return (place_order(finding.location), finding.where, finding.id, finding.target or "", finding.rule or "", values)


def _key(finding: Finding, options: RenderOptions) -> str:
    place = finding.location
    uri = ""
    if place is not None and place.file:
        relative_path = path_below(place.file, options.root)
        uri = relative_uri(relative_path) if relative_path is not None else absolute_uri(place.file)
    node = place.node if place is not None else None
    return "\0".join((uri, node or "", finding.where, finding.id, finding.target or ""))


def relative_uri(path: str) -> str:
    """Return a path with forward slashes as a relative URI."""
    try:
        return quote(os.fsencode(path))
    except UnicodeEncodeError:  # a lone surrogate that encodes no byte: not a file name
        return quote(well_formed(path))


def absolute_uri(file: str) -> str:
    """Return the ``file:`` URI of a path."""
    path = os.path.abspath(file).replace(os.sep, "/")  # noqa: PTH100 (purely lexical, links stay as they are)
    return "file://" + relative_uri(path if path.startswith("/") else "/" + path)
