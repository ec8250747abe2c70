"""Change files so that findings go: ``specgate lint --fix`` and ``--diff``.

A file is judged again with its changes before they are written. Changes after which it would have a finding that it has
not now are left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from specgate.files import writing
from specgate.linting.fix_trials import missing, try_edits
from specgate.linting.jobs import named_report
from specgate.linting.model import lint_model
from specgate.targets import parse_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.linting.jobs import Job
    from specgate.linting.modified_model import Edited
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


def fixed(job: Job, report: Report, function: Callable[[Report], list[Finding]]) -> Fixed:
    """Change a file, in memory, as the findings on it say that are wanted; `function` names these of a report."""
    before, file, path, problem = report, None, job.path or job.file, None

    def lint(edited: Edited) -> Report:
        after = lint_model(edited, parse_targets(job.targets), job.basis, job.device, job.settings)
        return after if path == job.file else named_report(after, path, job.file)

    for _ in range(_ROUNDS):
        groups = [finding.edits for finding in function(report)]
        tried = try_edits(path if file is None else file, before, groups, lint) if groups else ""
        if isinstance(tried, str):
            problem = f"{job.file}: not changed: {tried}" if tried and file is None else None
            break
        file, report = tried.file, tried.report
    return Fixed(file, report, missing(before, report), problem)


def write(file: Edited) -> list[str]:
    """Put a changed file in the place of the one that it was made of, whole or not at all; raise InputError.

    Returns what the new file could not keep of the old one, such as its owner.
    """
    lost: list[str] = []
    with writing(file.name, replaces=file.state, lost=lost) as out:
        file.copy_to(out)
    return lost
