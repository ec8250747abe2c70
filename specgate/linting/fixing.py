"""Change files so that findings go: ``specgate lint --fix`` and ``--diff``.

A file is judged again with its changes before they are written. Where it would then have a finding that it has not now,
it stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from specgate.dialects import package_of
from specgate.errors import Error
from specgate.files import writing
from specgate.linting.jobs import named_report
from specgate.linting.model import lint_model
from specgate.targets import parse_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.linting.edited import Edited
    from specgate.linting.jobs import Job
    from specgate.verdict import Finding, Report

__all__ = ["Fixed", "fixed", "write"]

#: How often what comes of a change is looked at for further ones.
_ROUNDS: Final = 5


@dataclass(slots=True)
class Fixed:
    """What can be done with a file. report: on the file as it will be. gone: the findings that it has no more.

    problem: why nothing is done although something could be, None if all is well.
    """

    file: Edited | None
    report: Report
    gone: list[Finding] = field(default_factory=list)
    problem: str | None = None


def fixed(job: Job, report: Report, wanted: Callable[[Report], list[Finding]]) -> Fixed:
    """Change a file, in memory, as the findings on it say that are wanted; `wanted` names these of a report."""
    before, file, path = report, None, job.path or job.file
    try:
        for _ in range(_ROUNDS):
            edits = [edit for found in wanted(report) for edit in found.edits]
            if not edits:
                break
            made = package_of(path).edited(path, edits) if file is None else file.edited(edits)
            after = lint_model(made, parse_targets(job.targets), job.basis, job.device, job.settings)
            after = after if path == job.file else named_report(after, path, job.file)
            new = sorted({found.id for found in _missing(after, before) if found.severity != "note"})
            if new:
                return Fixed(None, before, problem=f"{job.file}: not changed: it would have {', '.join(new)} then")
            file, report = made, after
    except Error as error:
        return Fixed(None, before, problem=f"{job.file}: not changed: {error}")
    return Fixed(file, report, _missing(before, report))


def write(file: Edited) -> list[str]:
    """Put a changed file in the place of the one that it was made of, whole or not at all; raise InputError.

    Returns what the new file could not keep of the old one, such as its owner.
    """
    lost: list[str] = []
    with writing(file.name, replaces=file.state, lost=lost) as out:
        file.copy_to(out)
    return lost


def _missing(report: Report, other: Report) -> list[Finding]:
    """Return the findings of a report that the other one has not."""
    known = {_key(found) for found in other.findings}
    return [found for found in report.findings if _key(found) not in known]


def _key(found: Finding) -> tuple[str, str | None, str | None, str]:
    """Return what a finding is known by when its file has changed; messages may have other numbers then."""
    node = found.location.node if found.location is not None else None
    return (found.id, found.target, node, found.where)
