"""How a report is to be shown."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, Literal

from specgate.slotted import field, replace, slotted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from specgate.verdict import Finding, Report, Severity

__all__ = ["FAIL_ON", "SEVERITIES", "RenderOptions", "Selection", "below", "matches", "regraded", "statistics"]


@slotted(frozen=True)
class RenderOptions:
    """What the caller decides about the output; a format ignores what does not concern it.

    color: ANSI colours in text. width: terminal columns for text, at least 30 are used.
    verbose: text also lists the undecided nodes. rules: text also prints the expressions of rules that do not hold,
    and where each rule is described.
    max_per_rule: text shows three examples and a count of a file's equal findings (same id, severity, target and shape
    of message) once there are more than this. statistics: text counts the findings of each rule and lists none of them;
    JSON has the counts beside the findings.
    queries: the targets that were asked for in one word, by this; text and page show once what is the same for them.
    root: directory that fingerprints start from, and the paths in SARIF and GitHub annotations unless a file is below
    checkout, the directory into which a CI server has put the repository.
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

    def inside(self, file: str) -> str | None:
        """Return the path of `file` below checkout or root with forward slashes, None if it is below neither."""
        text = below(file, self.checkout) if self.checkout is not None else None
        return below(file, self.root) if text is None else text


def below(file: str, root: str | os.PathLike[str]) -> str | None:
    """Return the path of `file` below root with forward slashes, None if it is not below root."""
    try:
        path = os.path.relpath(file, root)
    except ValueError:  # another drive on Windows, or a path that no file can have
        return None
    outside = path == os.pardir or path.startswith(os.pardir + os.sep)
    return None if outside else path.replace(os.sep, "/")


FailOn = Literal["error", "warning", "note", "never"]

#: From the gravest on.
SEVERITIES: Final = ("error", "warning", "note")
FAIL_ON: Final = (*SEVERITIES, "never")


@slotted(frozen=True)
class Selection:
    """What the user wants to see of a report.

    severity: the least severity that is shown. fail_on: from which severity on a finding makes the exit code 1, shown
    or not. select: only findings of these rules count, all where it is empty; ignore: findings of these do not count.
    A rule is named by its id or by the segments that it begins with, with ``*`` and ``?`` (see `matches`).
    """

    severity: str = "note"
    fail_on: str = "warning"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def takes(self, rule: str) -> bool:
        """Whether findings of the rule count at all."""
        chosen = not self.select or any(matches(pattern, rule) for pattern in self.select)
        return chosen and not any(matches(pattern, rule) for pattern in self.ignore)

    def apply(self, report: Report) -> bool:
        """Take out of the report what is not to be shown, count it there, and return whether the run fails."""
        takes = lru_cache(maxsize=None)(self.takes)
        findings = [finding for finding in report.findings if takes(finding.id)]
        shown = [finding for finding in findings if self._grave(finding, self.severity)]
        report.hidden += len(report.findings) - len(shown)
        report.findings = shown
        report.ignored = [finding for finding in report.ignored if takes(finding.id)]
        return any(self._grave(finding, self.fail_on) for finding in findings)

    @staticmethod
    def _grave(finding: Finding, least: str) -> bool:
        return least in SEVERITIES and SEVERITIES.index(finding.severity) <= SEVERITIES.index(least)


def matches(pattern: str, rule: str) -> bool:
    """Whether a rule's id begins with the segments of the pattern, each of which may have ``*`` and ``?``.

    ``directml/GEMM`` matches every rule of GEMM, ``onnx/*/changed`` one rule of every operator.
    """
    expected_texts, texts = pattern.split("/"), rule.split("/")
    # Brackets are part of ids of fields and must not be read as sets of characters.
    return len(expected_texts) <= len(texts) and all(
        fnmatchcase(part, like.replace("[", "[[]")) for part, like in zip(texts, expected_texts, strict=False)
    )


def regraded(findings: Iterable[Finding], severities: Mapping[str, Severity]) -> list[Finding]:
    """Return findings with the severities that patterns of rule ids give them; of several the last one counts."""

    @cache
    def given(rule: str) -> Severity | None:
        return next((severity for like, severity in reversed(list(severities.items())) if matches(like, rule)), None)

    return [replace(finding, severity=given(finding.id) or finding.severity) for finding in findings]


def statistics(findings: Iterable[Finding]) -> list[tuple[str, str, int, int]]:
    """Return for each rule its id, its gravest severity, how many findings and in how many files; most first."""
    numbers: dict[str, int] = {}
    files: dict[str, set[str | None]] = {}
    gravest: dict[str, int] = {}
    for finding in findings:
        rule = finding.id
        numbers[rule] = numbers.get(rule, 0) + 1
        files.setdefault(rule, set()).add(finding.location.file if finding.location is not None else None)
        grave = SEVERITIES.index(finding.severity)
        gravest[rule] = min(grave, gravest.get(rule, grave))
    ordered = sorted(numbers, key=lambda rule: (-numbers[rule], rule))
    return [(rule, SEVERITIES[gravest[rule]], numbers[rule], len(files[rule] - {None})) for rule in ordered]
