"""Automatic fixes: ``specgate lint --fix`` and ``--diff``.

A changed file is linted before it is written. Changes that cause new findings are discarded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from specgate.files import writing
from specgate.linting.fix_trials import missing, try_edits
from specgate.linting.jobs import rename_report
from specgate.linting.model import lint_model
from specgate.targets import parse_targets

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.linting.jobs import Job
    from specgate.linting.modified_model import ModifiedModel
    from specgate.verdict import Finding, Report

#: How often the report on a changed file is searched for further fixes.
_ROUNDS: Final = 5


@dataclass(slots=True)
class FileFixes:
    """The possible fixes of a file.

    report: on the changed file. gone: the findings that the changes fix. problem: why nothing is changed although fixes
    exist; None otherwise.
    """

    file: ModifiedModel | None
    report: Report
    gone: list[Finding] = field(default_factory=list)
    problem: str | None = None


def fix_in_memory(job: Job, report: Report, function: Callable[[Report], list[Finding]]) -> FileFixes:
    """Return a file with fixes applied in memory.

    function: returns the findings of a report that are to be fixed.
    """
    before, file, path, problem = report, None, job.path or job.file, None

    def lint(edited: ModifiedModel) -> Report:
        after = lint_model(edited, parse_targets(job.targets), job.basis, job.device, job.settings)
        return after if path == job.file else rename_report(after, path, job.file)

    for _ in range(_ROUNDS):
        groups = [finding.edits for finding in function(report)]
        trial = try_edits(path if file is None else file, before, groups, lint) if groups else ""
        if isinstance(trial, str):
            problem = f"{job.file}: not changed: {trial}" if trial and file is None else None
            break
        file, report = trial.file, trial.report
    return FileFixes(file, report, missing(before, report), problem)


def write(file: ModifiedModel) -> list[str]:
    """Replace a file by its changed version, atomically.

    Returns the properties that the new file could not keep, such as its owner. Raises InputError.
    """
    lost_attributes: list[str] = []
    with writing(file.name, replaces=file.state, lost_attributes=lost_attributes) as target_file:
        file.copy_to(target_file)
    return lost_attributes
