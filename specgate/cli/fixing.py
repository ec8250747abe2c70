"""``specgate lint --fix`` and ``--diff``: change files or show changes."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from specgate.cli.common import emit
from specgate.errors import InputError
from specgate.linting.fixing import fixed, write
from specgate.report import plural
from specgate.report.clean import clean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from specgate.linting.jobs import Job
    from specgate.verdict import Finding, Report

__all__ = ["Changing", "refuse_others"]


def refuse_others(arguments: argparse.Namespace, *, has_stdin: bool) -> None:
    """Raise InputError for conflicting options.

    has_stdin: whether standard input is linted.
    """
    option = "--fix" if arguments.fix else "--diff"
    if has_stdin:
        raise InputError(f"{option} changes files and cannot be used with standard input")
    if arguments.update_baseline:
        raise InputError(f"{option} and --update-baseline cannot be combined: fix the files first")
    if arguments.diff and arguments.report:
        raise InputError("--diff prints the changes instead of a report and cannot be combined with --report")


@dataclass(slots=True)
class Changing:
    """Applies fixes to files. only_shown: collect diffs, write no files.

    selected_findings: selects the findings to fix.
    """

    selected_findings: Callable[[Report], list[Finding]]
    only_shown: bool
    diffs: list[str] = field(default_factory=list)
    gone: int = 0
    files: int = 0

    def applied(self, job: Job, answer: Report | str) -> Report | str:
        """Fix the file of a job if possible; return the report after the fix.

        A text is the message of an unusable file.
        """
        if isinstance(answer, str) or not any(finding.fixable for finding in answer.findings):
            return answer
        new_fixed = fixed(job, answer, self.selected_findings)
        if new_fixed.problem is not None:
            sys.stderr.write(f"specgate: {clean(new_fixed.problem, 2000)}\n")
        if new_fixed.file is None:
            return answer
        if self.only_shown:
            self.diffs += new_fixed.file.diff()
        else:
            try:
                lost = write(new_fixed.file)
            except InputError as error:
                return str(error)
            for line in lost:
                sys.stderr.write(f"specgate: note: {clean(f'{job.file}: {line}', 2000)}\n")
        self.gone += len(new_fixed.gone)
        self.files += 1
        new_fixed.report.fixed = new_fixed.gone
        return new_fixed.report

    def show(self, output: str | None, left: int) -> bool:
        """Print the diffs; return whether there are any.

        left: the number of findings, for the message if no file changes.
        """
        emit("".join(f"{clean(line, None)}\n" for line in self.diffs), output)
        if self.files:
            sys.stderr.write(f"specgate: would fix {plural(self.gone, 'finding')} in {plural(self.files, 'file')}\n")
        elif left:
            sys.stderr.write(f"specgate: would fix none of {plural(left, 'finding')}\n")
        return bool(self.files)
