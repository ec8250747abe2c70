"""The baseline file: known findings that are not reported again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.errors import InputError
from specgate.files import write_bytes
from specgate.linting.config import describe_value
from specgate.linting.files import quote_text, read_content, relative_name
from specgate.targets import at_level
from specgate.verdict import Finding, Location

if TYPE_CHECKING:
    from pathlib import Path

    from specgate.verdict import Report

SCHEMA = "specgate-baseline/1"
_SIZE_LIMIT = 16 << 20  # bytes: some hundred thousand findings
_COUNT_LIMIT = 1_000_000_000
_TEXTS = ("node", "field", "rule", "target")
_KEYS = (*_TEXTS, "count")
# Findings about the configuration and the baseline itself must be fixed, so they never enter a baseline.
_OWN_RULES = ("specgate/ignore-expired", "specgate/ignore-stale", "specgate/baseline-stale")


class Entry(NamedTuple):
    """The structural key of a known finding; it contains no line number.

    A part that the finding lacks is "". target: the level, so that a release and the level that it implements are
    equal.
    """

    file: str
    node: str
    field: str
    rule: str
    target: str


@dataclass(slots=True)
class Baseline:
    """Known findings with their counts; `source` is the baseline file."""

    counts: dict[Entry, int] = field(default_factory=dict)
    source: str | None = None


def load_baseline(path: Path) -> Baseline:
    """Read a baseline file.

    Raises InputError if it is unreadable or malformed or has another schema.
    """
    source = str(path)
    data = read_content(path, _SIZE_LIMIT, name=source)
    try:
        document = json.loads(data, object_pairs_hook=_without_duplicates)
    except RecursionError as error:
        raise InputError("expected a baseline, found values nested too deeply", file=source) from error
    except ValueError as error:
        raise InputError(f"expected JSON, found an error: {quote_text(str(error))}", file=source) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        schema = document.get("schema") if isinstance(document, dict) else document
        raise InputError(f"expected {SCHEMA}, found {describe_value(schema)}", file=source, place="schema")
    files = document.get("findings")
    if not isinstance(files, dict):
        raise InputError(f"expected an object, found {describe_value(files)}", file=source, place="findings")
    counts: dict[Entry, int] = {}
    stated_entries: set[Entry] = set()
    for file, entries in files.items():
        place = f"findings[{quote_text(file)}]"
        if not isinstance(entries, list):
            raise InputError(f"expected an array, found {describe_value(entries)}", file=source, place=place)
        for index, item in enumerate(entries):
            entry, count = _entry(file, item, source, f"{place}[{index}]")
            if entry in stated_entries:
                raise InputError(
                    "expected each finding once, found a duplicate", file=source, place=f"{place}[{index}]"
                )
            stated_entries.add(entry)
            leveled = entry._replace(target=at_level(entry.target))
            counts[leveled] = counts.get(leveled, 0) + count
    return Baseline(counts, source)


def apply_baseline(report: Report, baseline: Baseline, root: Path) -> None:
    """Move known findings, up to their counts, to ``report.ignored``.

    Adds a note ``specgate/baseline-stale`` for each entry that occurs less often than recorded, if its file was linted
    for its target. Call this after applying the ignores, because the findings that they silence count as well.
    """
    occurring = Counter(_key(finding, root) for finding in (*report.findings, *report.ignored))
    left = Counter(baseline.counts)
    remaining_findings: list[Finding] = []
    for finding in report.findings:
        key = _key(finding, root)
        is_baselined = left[key] > 0
        left[key] -= is_baselined
        if is_baselined:
            report.ignored.append(replace(finding, ignored=f"known in the baseline {baseline.source or ''}".rstrip()))
        else:
            remaining_findings.append(finding)
    covered_pairs = _covered_pairs(report, root)
    for entry, count in baseline.counts.items():
        if (entry.file, entry.target) in covered_pairs and occurring[entry] < count:
            remaining_findings.append(_stale_finding(entry, count, occurring[entry], baseline.source))
    report.findings = remaining_findings


def write_baseline(report: Report, path: Path, root: Path, before: Baseline | None = None) -> None:
    """Write the active findings of `report` as a baseline file, atomically.

    Raises InputError on failure. The bytes do not depend on the order of findings. Call this instead of
    `apply_baseline`.

    before: the previous baseline. Its entries for files and targets that the report does not cover are kept, unless the
    file no longer exists.
    """
    counts = Counter(_key(finding, root) for finding in report.findings if finding.id not in _OWN_RULES)
    if before is not None:
        covered_pairs = _covered_pairs(report, root)
        for entry, count in before.counts.items():
            if (entry.file, entry.target) not in covered_pairs and _file_exists(root, entry.file):
                counts[entry] = count
    files: dict[str, list[dict[str, Any]]] = {}
    for entry in sorted(counts):
        files.setdefault(entry.file, []).append(dict(zip(_KEYS, (*entry[1:], counts[entry]), strict=True)))
    data = (json.dumps({"schema": SCHEMA, "findings": files}, indent=1) + "\n").encode()
    if len(data) > _SIZE_LIMIT:
        raise InputError(f"expected a baseline of at most {_SIZE_LIMIT} bytes, found more findings", file=str(path))
    write_bytes(path, data)


def _covered_pairs(report: Report, root: Path) -> set[tuple[str, str]]:
    """Return the (file, target) pairs that the report covers.

    The target "" stands for findings without a target.
    """
    names = [(relative_name(file, root), report.targets_of(file)) for file in report.files]
    return {(name, target) for name, targets in names for target in ("", *map(at_level, targets))}


def _file_exists(root: Path, file: str) -> bool:
    try:
        return (root / file).exists()
    except (OSError, ValueError):  # not a possible file name
        return False


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a key occurs twice in an object")
    return table


def _entry(file: str, item: object, source: str, place: str) -> tuple[Entry, int]:
    if not isinstance(item, dict) or item.keys() != set(_KEYS):
        description = f"the keys {quote_text(', '.join(item))}" if isinstance(item, dict) else describe_value(item)
        raise InputError(f"expected an object of {', '.join(_KEYS)}, found {description}", file=source, place=place)
    for key in _TEXTS:
        if not isinstance(item[key], str):
            text = describe_value(item[key])
            raise InputError(f"expected a string, found {text}", file=source, place=f"{place}.{key}")
    count = item["count"]
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= _COUNT_LIMIT:
        raise InputError(
            f"expected a count from 1 on, found {describe_value(count)}", file=source, place=f"{place}.count"
        )
    return Entry(file, *(item[key] for key in _TEXTS)), count


def _key(finding: Finding, root: Path) -> Entry:
    location = finding.location or Location()
    file = relative_name(location.file, root) if location.file else ""
    return Entry(file, location.node or "", finding.where, finding.id, at_level(finding.target or ""))


def _stale_finding(entry: Entry, count: int, occurring: int, source: str | None) -> Finding:
    place = " of ".join(quote_text(part) for part in (entry.field, entry.node, entry.file) if part)
    return Finding(
        id="specgate/baseline-stale",
        severity="note",
        message=f"the baseline expects {quote_text(entry.rule)} at {place}: count {count}, found {occurring}",
        values={"rule": entry.rule, "count": count, "occurring": occurring},
        fix="write the baseline again",
        location=Location(file=source),
    )
