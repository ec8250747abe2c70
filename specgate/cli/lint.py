"""``specgate lint``: validate models, and fix them with --fix and --diff."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.cli.common import emit, expect_once, expect_severity, options, output_width, selection, targets_of
from specgate.errors import InputError
from specgate.files import refuse_replaced, refuse_shared, refuse_unwritable
from specgate.linting.baseline import apply_baseline, load_baseline, write_baseline
from specgate.linting.config import Config, load_config
from specgate.linting.coverage import keep_idle
from specgate.linting.files import discover, looks_like_model, quote_text, suffixes_of_models
from specgate.linting.fixing import fix_in_memory, write
from specgate.linting.ignores import apply_ignores
from specgate.linting.input_source import STDIN, standard_input
from specgate.linting.jobs import Cluster, Job, lint_job, load_specs
from specgate.linting.settings import LintSettings, read_pins
from specgate.report import FORMATS, plural, render
from specgate.report.clean import clean
from specgate.report.selection import regrade_findings
from specgate.targets import parse_targets, queries_of
from specgate.validate.device import device_of
from specgate.verdict import Report
from specgate.workers.pool import LostJob, PoolClosed, Processes

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterable, Sequence

    from specgate.report.selection import Selection
    from specgate.verdict import Basis, Finding
    from specgate.workers.pool import Workers


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
class FixPlan:
    """Applies fixes to files. only_shown: collect diffs, write no files.

    selected_findings: selects the findings to fix.
    """

    selected_findings: Callable[[Report], list[Finding]]
    only_shown: bool
    diffs: list[str] = field(default_factory=list)
    gone: int = 0
    files: int = 0

    def fix_file(self, job: Job, answer: Report | str) -> Report | str:
        """Fix the file of a job if possible; return the report after the fix.

        A text is the message of an unusable file.
        """
        if isinstance(answer, str) or not any(finding.fixable for finding in answer.findings):
            return answer
        new_fixed = fix_in_memory(job, answer, self.selected_findings)
        if new_fixed.problem is not None:
            sys.stderr.write(f"specgate: {clean(new_fixed.problem, 2000)}\n")
        if new_fixed.file is None:
            return answer
        if self.only_shown:
            self.diffs += new_fixed.file.diff()
        else:
            try:
                lost_attributes = write(new_fixed.file)
            except InputError as error:
                return str(error)
            for line in lost_attributes:
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


_MAX_LISTED = 5


def lint(arguments: argparse.Namespace) -> int:
    """Lint every file; 1 for findings, 2 for unusable files.

    After an unusable file, the others are still reported.
    """
    config = load_config(Path(), Path(arguments.config) if arguments.config else None)
    reports = [_report(text) for text in arguments.report]
    selected = selection(arguments, config)
    if arguments.max_per_rule < 0:
        raise InputError(f"expected --max-per-rule 0 or more, found {arguments.max_per_rule}")
    refuse_shared(_outputs(arguments, config))
    refuse_unwritable(_outputs(arguments, config))
    expect_once(arguments.path)
    input_paths = [path for path in arguments.path if path != "-"]
    paths = [path for path in input_paths if not arguments.only_models or _may_be_model(path, config)]
    skipped: list[str] = []
    files = discover(paths, exclude=config.is_excluded, skipped=skipped) if paths else []
    if skipped and arguments.verbose:
        _print_skipped(skipped)
    refuse_replaced(_outputs(arguments, config), [*files, *([config.source] if config.source else [])])
    jobs = [_job(file, arguments, config) for file in files]
    fix_plan = _changing(arguments, selected, config, has_stdin=input_paths != arguments.path)
    if input_paths != arguments.path:
        jobs.append(replace(_job(STDIN, arguments, config), path=None, source=standard_input()))
    report = _collect_report(jobs, arguments, config, fix_plan)
    _refuse_idle_pins(report, arguments)
    _apply_settings(report, config, arguments)
    failed = selected.apply(report)
    if fix_plan is not None and arguments.diff:
        failed = fix_plan.show(arguments.output, len(report.findings))
    else:
        _write(report, reports, config, arguments)
    _print_problems(report.unusable)
    return 2 if report.unusable else 1 if failed else 0


def _changing(arguments: argparse.Namespace, selected: Selection, config: Config, *, has_stdin: bool) -> FixPlan | None:
    """Return the fixer of files, None without --fix and --diff."""
    if not arguments.fix and not arguments.diff:
        return None
    refuse_others(arguments, has_stdin=has_stdin)

    def selected_findings(report: Report) -> list[Finding]:
        selection = replace(report, findings=list(report.findings), ignored=list(report.ignored))
        _apply_settings(selection, config, arguments)
        selected.apply(selection)
        return [finding for finding in selection.findings if finding.fixable]

    return FixPlan(selected_findings, only_shown=arguments.diff)


def _print_skipped(skipped: Sequence[str]) -> None:
    """Print the number of files in folders that are not models."""
    names = ", ".join(quote_text(file) for file in skipped[:_MAX_LISTED]) + (" …" if len(skipped) > _MAX_LISTED else "")
    subject = "1 file is not a model and is" if len(skipped) == 1 else f"{len(skipped)} files are not models and are"
    sys.stderr.write(f"specgate: note: {subject} skipped: {names}\n")


def _refuse_idle_pins(report: Report, arguments: argparse.Namespace) -> None:
    """Raise InputError for a pin without effect on any file."""
    for name in read_pins(arguments.pin):
        idle = [f for f in report.findings if f.id.endswith("/pin-unknown") and f.values.get("name") == name]
        if idle and len(idle) == len(report.files):
            raise InputError(f"--pin {name}: {idle[0].message}")


def _outputs(arguments: argparse.Namespace, config: Config) -> list[str]:
    """Return the output files."""
    files = [text.partition("=")[2] for text in arguments.report] + ([arguments.output] if arguments.output else [])
    baseline = _baseline(arguments, config) if arguments.update_baseline else None
    return [file for file in files if file != "-"] + ([baseline] if baseline else [])


def _baseline(arguments: argparse.Namespace, config: Config) -> str | None:
    return arguments.baseline or (str(config.root / config.baseline) if config.baseline else None)


def _may_be_model(path: str, config: Config) -> bool:
    """Return whether a named file counts as a model, as in a directory.

    Missing and special files count, so that they are reported.
    """
    if not Path(path).is_file():
        return True
    return path.lower().endswith(suffixes_of_models()) and not config.is_excluded(path) and looks_like_model(path)


def _report(text: str) -> tuple[str, str]:
    """Return format and file of ``--report FORMAT=FILE``; InputError.

    Errors are raised before linting.
    """
    format_name, _, file = text.partition("=")
    if format_name not in FORMATS or not file:
        raise InputError(f"expected --report FORMAT=FILE with one of {', '.join(FORMATS)}, found {text!r:.100}")
    return format_name, file


def _write(report: Report, reports: Sequence[tuple[str, str]], config: Config, arguments: argparse.Namespace) -> None:
    render_options = options(arguments, root=str(config.root), queries=_queries(arguments, config))
    format_name = arguments.format or config.format or "text"
    text = render(report, format_name, options=render_options)
    for other, file in reports:
        emit(render(report, other, options=replace(render_options, color=False, width=output_width(file))), file)
    emit(text, arguments.output)


def _queries(arguments: argparse.Namespace, config: Config) -> dict[str, list[str]]:
    """Return the targets of each query in options and configuration."""
    of_paths = (text for rule in config.paths for text in rule.targets or ())
    return queries_of([*(arguments.target or ()), *config.targets, *of_paths])


def _collect_report(
    jobs: Sequence[Job], arguments: argparse.Namespace, config: Config, fix_plan: FixPlan | None
) -> Report:
    """Return one report of all files, after fixes.

    Unusable files are named in it.
    """
    report, answered = Report(fixed=None if fix_plan is None else []), 0
    paths: dict[str, None] = {}  # collected separately, as adding to the report searches all of its entries
    try:
        with closing(_answers(jobs, arguments)) as answers:  # Ctrl-C must not wait for pending files
            for result in _progress(answers, len(jobs)):
                answer = result if fix_plan is None else fix_plan.fix_file(jobs[answered], result)
                answered += 1
                if isinstance(answer, str):
                    report.unusable.append(answer)
                else:
                    paths |= dict.fromkeys(answer.files)
                    answer.files = []
                    report.extend(answer)
    except PoolClosed as error:
        report.unusable.append(f"{error}: {len(jobs) - answered} of {len(jobs)} files were not checked")
    report.files = list(paths)
    keep_idle(report, _queries(arguments, config), is_explicit=bool(arguments.target) and not arguments.only_models)
    return report


def _print_problems(problems: Sequence[str]) -> None:
    for problem in problems:
        sys.stderr.write(f"specgate: {clean(problem, 2000)}\n")


def _job(file: str, arguments: argparse.Namespace, config: Config) -> Job:
    basis: Basis = arguments.basis or config.basis
    texts: list[str] = arguments.target or config.targets_for(file)
    if not texts:
        raise InputError("no target: pass --target (such as onnx:17) or set targets in specgate.toml", file=file)
    return Job(
        file,
        _full_names(tuple(texts), None if arguments.target else config.source),
        basis,
        device_of(arguments.device),
        LintSettings(not arguments.no_infer, read_pins(arguments.pin), tuple(config.custom_domains)),
        os.path.abspath(file) if arguments.dask is not None else None,  # noqa: PTH100  # links stay as they are
    )


@lru_cache
def _full_names(texts: tuple[str, ...], source: str | None) -> tuple[str, ...]:
    return tuple(map(str, targets_of(texts, source)))


def _answers(jobs: Sequence[Job], arguments: argparse.Namespace) -> Generator[Report | str]:
    """Lint the files in order, in this process, in several or on a cluster."""
    with ExitStack() as stack:
        workers = _workers(len(jobs), arguments)
        answers = map(lint_job, jobs) if workers is None else stack.enter_context(workers).answers(jobs)
        for job, answer in zip(jobs, answers, strict=True):
            yield f"{job.file}: {answer.reason}" if isinstance(answer, LostJob) else answer


def _workers(jobs: int, arguments: argparse.Namespace) -> Workers[Job, Report | str] | None:
    specs = tuple(os.path.abspath(folder) for folder in arguments.specs or ())  # noqa: PTH100
    if arguments.dask is not None:
        return Cluster(lint_job, arguments.dask, specs)
    count = os.cpu_count() or 1 if arguments.jobs == 0 else arguments.jobs
    if count < 1:
        raise InputError(f"expected --jobs 0 or more, found {count}")
    if count == 1 or jobs < 2:
        return None
    return Processes(lint_job, min(count, jobs), partial(load_specs, specs))


def _progress(answers: Iterable[Report | str], total: int) -> Iterable[Report | str]:
    """Return the answers, with a progress bar on a terminal for 4 or more."""
    if not sys.stderr.isatty() or total < 4:
        return answers
    from rich.console import Console
    from rich.progress import track

    return track(answers, "linting", total=total, console=Console(stderr=True), transient=True)


def _apply_settings(report: Report, config: Config, arguments: argparse.Namespace) -> None:
    """Set severities, then apply ignores, then the baseline."""
    if config.severities:
        for pattern in config.severities:
            expect_severity(pattern, config.source)
        report.findings = regrade_findings(report.findings, config.severities)
    if config.ignores:
        parse_targets(ignore.target for ignore in config.ignores if ignore.target)  # reports misspelled targets
        apply_ignores(report, config.ignores, today=datetime.now(UTC).date(), root=config.root)
    path = _baseline(arguments, config)
    if arguments.update_baseline and path is None:
        raise InputError("--update-baseline requires --baseline FILE or `baseline` in the configuration")
    if path is None:
        return
    if not arguments.update_baseline and not Path(path).exists():
        raise InputError("the baseline file does not exist; create it with --update-baseline", file=path)
    if arguments.update_baseline:
        before = load_baseline(Path(path)) if Path(path).exists() else None
        write_baseline(report, Path(path), config.root, before)
    apply_baseline(report, load_baseline(Path(path)), config.root)
