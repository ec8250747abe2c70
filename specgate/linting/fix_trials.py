"""Trials of edits on the whole file in memory.

Only edits that cause no new finding are proposed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from specgate.dialects import capability, is_dialect, package_of
from specgate.dialects.protocols import ModelFixes
from specgate.errors import Error
from specgate.slotted import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from specgate.linting.modified_model import ModifiedModel
    from specgate.verdict import Edit, Finding, Report

_Edits = tuple["Edit", ...]


class FixTrial(NamedTuple):
    """A file with the accepted edits and its report.

    refused: why other edits were rejected; None if none were.
    """

    file: ModifiedModel
    report: Report
    accepted: frozenset[_Edits]
    refused: str | None


def try_edits(
    base: str | ModifiedModel, before: Report, edits: Sequence[_Edits], lint: Callable[[ModifiedModel], Report]
) -> FixTrial | str:
    """Return the file with as many edits as are compatible.

    Returns the reason as a string if no edit is possible. base: the path, or the already modified file. before: the
    report on the file on disk.
    """
    attempt = _Attempt(base, before, lint)
    attempt.add(list(dict.fromkeys(edits)))
    if attempt.best is None:
        return attempt.refused or "nothing is changed"
    file, report = attempt.best
    return FixTrial(file, report, frozenset(attempt.kept), attempt.refused)


class _Attempt:
    def __init__(self, base: str | ModifiedModel, before: Report, lint: Callable[[ModifiedModel], Report]) -> None:
        self.base, self.before, self.lint = base, before, lint
        self.kept: list[_Edits] = []
        self.best: tuple[ModifiedModel, Report] | None = None
        self.refused: str | None = None

    def add(self, groups: list[_Edits]) -> None:
        """Add the groups that are compatible with those already accepted.

        Tries all of them together first, then each half separately.
        """
        if not groups:
            return
        edits = [edit for group in (*self.kept, *groups) for edit in group]
        try:
            edited = (
                capability(package_of(self.base), ModelFixes, self.base).apply_edits(self.base, edits)
                if isinstance(self.base, str)
                else self.base.apply_edits(edits)
            )
            report = self.lint(edited)
        except Error as error:
            self.refused = str(error)
        else:
            new = sorted({finding.id for finding in missing(report, self.before) if finding.severity != "note"})
            if not new:
                self.kept += groups
                self.best = edited, report
                return
            self.refused = f"the change would add {', '.join(new)}"
        if len(groups) > 1:
            self.add(groups[: len(groups) // 2])
            self.add(groups[len(groups) // 2 :])


def with_tried_edits(path: str, report: Report, lint: Callable[[ModifiedModel], Report]) -> Report:
    """Return a report in which each edit is known to fix its finding.

    Edits that cause other findings are removed. An error at another node that disappears with these edits is a
    consequence of the same mistake and is removed from the report. No trial is needed if edits only remove unused parts
    and the report has no other finding.
    """
    groups = [finding.edits for finding in report.findings if finding.edits]
    wrong_fixes = [finding for finding in report.findings if finding.severity == "error" and finding.edits]
    echoes = [finding for finding in report.findings if wrong_fixes and _may_echo(finding)]
    if not echoes and not any(_changes(edit) for group in groups for edit in group):
        return report
    trial = try_edits(path, report, groups, lint)
    accepted_edits = frozenset[_Edits]() if isinstance(trial, str) else trial.accepted
    left = set() if isinstance(trial, str) else {_key(finding) for finding in trial.report.findings}
    report.findings = [
        replace(finding, edits=())
        if finding.edits and (finding.edits not in accepted_edits or _key(finding) in left)
        else finding
        for finding in report.findings
    ]
    if not isinstance(trial, str):
        causes = {finding.node for finding in report.findings if finding.edits and finding.severity == "error"}
        fixed_ids = {id(finding) for finding in echoes if _key(finding) not in left and finding.node not in causes}
        report.findings = [finding for finding in report.findings if id(finding) not in fixed_ids]
    return report


def _may_echo(finding: Finding) -> bool:
    """Return whether a finding may be the consequence of another one.

    True for an error from a table at a node, without edits.
    """
    place = finding.location
    return (
        finding.severity == "error"
        and not finding.edits
        and is_dialect(finding.id.partition("/")[0])
        and place is not None
        and place.operator is not None
    )


def _changes(edit: Edit) -> bool:
    return edit.number is not None or edit.text is not None or edit.added is not None


def missing(report: Report, other: Report) -> list[Finding]:
    """Return the findings of a report that the other report lacks."""
    keys = {_key(finding) for finding in other.findings}
    return [finding for finding in report.findings if _key(finding) not in keys]


def _key(finding: Finding) -> tuple[str, str | None, str | None, str]:
    """Return a key of a finding that survives changes of its file.

    It contains no message, because numbers in messages may change.
    """
    return (finding.id, finding.target, finding.node, finding.where)
