"""Options that select and format a report's findings."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal

from specgate.slotted import field, replace, slotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.verdict import Finding, Report, Severity


@slotted(frozen=True)
class RenderOptions:
    """The caller's output options; formats ignore options they do not use.

    color: ANSI colors in text. width: terminal columns for text, at least 30.
    verbose: text also lists the undecided nodes. rules: text also prints the expressions of broken rules, and the URL
    of each rule.
    max_per_rule: text shows three examples and a count if a file has more equal findings than this (same id, severity,
    target and shape of message). statistics: text only counts the findings of each rule; JSON has the counts in
    addition to the findings.
    queries: the targets of each query by its text; text and page merge findings that are equal for them. root: the base
    directory of fingerprints, and of paths in SARIF and GitHub annotations unless a file is below checkout. checkout:
    the directory of the CI server's clone.
    """

    color: bool = False
    width: int = 80
    verbose: bool = False
    rules: bool = False
    max_per_rule: int = 20
    statistics: bool = False
    queries: Mapping[str, Sequence[str]] = field(default_factory=dict)
    root: str | os.PathLike[str] = "."
    checkout: str | os.PathLike[str] | None = None

    def path_inside(self, file: str) -> str | None:
        """Return the path of `file` below checkout or root, else None.

        The path has forward slashes.
        """
        text = path_below(file, self.checkout) if self.checkout is not None else None
        return path_below(file, self.root) if text is None else text


def path_below(file: str, root: str | os.PathLike[str]) -> str | None:
    """Return the path of `file` below root, else None.

    The path has forward slashes.
    """
    try:
        path = os.path.relpath(file, root)
    except ValueError:  # another drive on Windows, or an invalid path
        return None
    is_outside = path == os.pardir or path.startswith(os.pardir + os.sep)
    return None if is_outside else path.replace(os.sep, "/")


FailOn = Literal["error", "warning", "note", "never"]

#: The most severe first.
SEVERITIES: Final = ("error", "warning", "note")
FAIL_ON: Final = (*SEVERITIES, "never")


@slotted(frozen=True)
class Selection:
    """The user's selection of findings.

    severity: the lowest severity to show. fail_on: the lowest severity that makes the exit code 1, also if it is not
    shown. select: only findings of these rules count, all if empty; ignore: findings of these do not count. A rule is
    selected by its id or its first segments, with ``*`` and ``?`` (see `matches`).
    """

    severity: str = "note"
    fail_on: str = "warning"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def selects(self, rule: str) -> bool:
        """Return whether findings of the rule count."""
        is_selected = not self.select or any(matches(pattern, rule) for pattern in self.select)
        return is_selected and not any(matches(pattern, rule) for pattern in self.ignore)

    def apply(self, report: Report) -> bool:
        """Remove and count hidden findings; return whether the run fails."""
        is_selected = lru_cache(maxsize=None)(self.selects)
        findings = [finding for finding in report.findings if is_selected(finding.id)]
        selected = [finding for finding in findings if self._is_at_least(finding, self.severity)]
        report.hidden += len(report.findings) - len(selected)
        report.findings = selected
        report.ignored = [finding for finding in report.ignored if is_selected(finding.id)]
        return any(self._is_at_least(finding, self.fail_on) for finding in findings)

    @staticmethod
    def _is_at_least(finding: Finding, least: str) -> bool:
        return least in SEVERITIES and SEVERITIES.index(finding.severity) <= SEVERITIES.index(least)


def matches(pattern: str, rule: str) -> bool:
    """Return whether a rule's id begins with the pattern's segments.

    Segments may have ``*`` and ``?``. ``directml/GEMM`` matches every rule of GEMM, ``onnx/*/changed`` one rule of
    every operator.
    """
    expected, texts = pattern.split("/"), rule.split("/")
    return len(expected) <= len(texts) and all(map(glob_matches, texts, expected))


def glob_matches(text: str, pattern: str) -> bool:
    """Return whether a text matches a pattern with ``*`` and ``?``.

    Brackets are indices in ids and node paths, so they are not character sets.
    """
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def regrade_findings(findings: Iterable[Finding], severities: Mapping[str, Severity]) -> list[Finding]:
    """Return findings with the severities of the last matching patterns."""

    @cache
    def severity_of(rule: str) -> Severity | None:
        return next(
            (severity for pattern, severity in reversed(list(severities.items())) if matches(pattern, rule)), None
        )

    return [replace(finding, severity=severity_of(finding.id) or finding.severity) for finding in findings]


def statistics(findings: Iterable[Finding]) -> list[tuple[str, str, int, int]]:
    """Return per rule: id, highest severity, finding count, file count.

    The most frequent rule comes first.
    """
    numbers: dict[str, int] = {}
    files: dict[str, set[str | None]] = {}
    gravest: dict[str, int] = {}
    for finding in findings:
        rule = finding.id
        numbers[rule] = numbers.get(rule, 0) + 1
        files.setdefault(rule, set()).add(finding.location.file if finding.location is not None else None)
        severity_index = SEVERITIES.index(finding.severity)
        gravest[rule] = min(severity_index, gravest.get(rule, severity_index))
    ordered = sorted(numbers, key=lambda rule: (-numbers[rule], rule))
    return [(rule, SEVERITIES[gravest[rule]], numbers[rule], len(files[rule] - {None})) for rule in ordered]
