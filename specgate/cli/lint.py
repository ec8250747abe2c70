"""``specgate lint``: judge whole models, many files, with configuration, ignores and a baseline."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specgate.cli.common import emit, options, width, write_text
from specgate.errors import Error, InputError
from specgate.linting.config import Config, load_config
from specgate.linting.files import SUFFIXES, discover, looks_like_model
from specgate.linting.settings import LintSettings, read_pins
from specgate.targets import parse_target, parse_targets
from specgate.validate.device import device_of
from specgate.verdict import Report

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["lint"]

Job = tuple[str, tuple[str, ...], str, frozenset[str] | None, LintSettings]


def lint(arguments: argparse.Namespace) -> int:
    """Lint every file; 1 when something is found, 2 when a file is unusable (the others are still reported)."""
    config = load_config(Path(), Path(arguments.config) if arguments.config else None)
    reports = [_report(text) for text in arguments.report]
    paths = [path for path in arguments.path if not arguments.only_models or _may_be_model(path, config)]
    files = discover(paths, exclude=config.excluded) if paths or not arguments.only_models else []
    jobs = [_job(file, arguments, config) for file in files]
    report = Report()
    for file, answer in _progress(zip(files, _answers(jobs, arguments.jobs), strict=True), len(jobs)):
        if isinstance(answer, str):
            report.unusable.append(answer)
        else:
            report.extend(answer)
        del file
    _settle(report, config, arguments)
    _write(report, reports, config, arguments)
    _complain(report.unusable)
    return 2 if report.unusable else 0 if report.clean else 1


def _may_be_model(path: str, config: Config) -> bool:
    """Treat a named file as if it had been found in a directory; what is missing or special is complained about."""
    if not Path(path).is_file():
        return True
    return path.lower().endswith(SUFFIXES) and not config.excluded(path) and looks_like_model(path)


def _report(text: str) -> tuple[str, str]:
    """Return the format and the file of ``--report FORMAT=FILE``, before anything is linted in vain."""
    from specgate.report import FORMATS

    chosen, _, file = text.partition("=")
    if chosen not in FORMATS or not file:
        raise InputError(f"expected --report FORMAT=FILE with one of {', '.join(FORMATS)}, found {text!r:.100}")
    return chosen, file


def _write(report: Report, reports: Sequence[tuple[str, str]], config: Config, arguments: argparse.Namespace) -> None:
    from specgate.report import render

    shown = options(arguments, root=str(config.root))
    chosen = arguments.format or config.format or "text"
    text = render(report, chosen, options=shown)
    for other, file in reports:
        write_text(file, render(report, other, options=replace(shown, color=False, width=width(file))))
    emit(text, arguments.output)


def _complain(problems: Sequence[str]) -> None:
    from specgate.report.clean import clean

    for problem in problems:
        sys.stderr.write(f"specgate: {clean(problem, 2000)}\n")


def _job(file: str, arguments: argparse.Namespace, config: Config) -> Job:
    texts = arguments.target or config.targets_for(file)
    if not texts:
        raise InputError("no target: give --target (for instance onnx:17) or set targets in specgate.toml", file=file)
    targets = parse_targets(texts)
    return (
        file,
        tuple((t.alias and f"{t.dialect}:{t.alias}") or str(t) for t in targets),
        arguments.basis or config.basis,
        device_of(arguments.device),
        LintSettings(not arguments.no_infer, read_pins(arguments.pin), tuple(config.custom_domains)),
    )


def lint_job(job: Job) -> Report | str:
    """Lint one file in this or another process; a string says why the file is unusable."""
    from specgate.linting.model import lint_model

    file, targets, basis, device, settings = job
    try:
        return lint_model(file, parse_targets(targets), basis, device, settings)  # type: ignore[arg-type]
    except Error as error:
        text = str(error)
        return text if file in text else f"{file}: {text}"
    except (RecursionError, MemoryError) as error:
        return f"{file}: too deeply nested or too large ({type(error).__name__})"


def _answers(jobs: Sequence[Job], processes: int) -> Iterator[Report | str]:
    """Lint the files in order, in this process or in several."""
    count = os.cpu_count() or 1 if processes == 0 else processes
    if count < 1:
        raise InputError(f"expected --jobs 0 or more, found {processes}")
    if count == 1 or len(jobs) < 2:
        yield from map(lint_job, jobs)
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(min(count, len(jobs))) as pool:
        yield from pool.map(lint_job, jobs, chunksize=max(1, len(jobs) // (count * 8)))


def _progress(answers: Iterable[tuple[str, Report | str]], total: int) -> Iterator[tuple[str, Report | str]]:
    """Show a progress bar on a terminal, where there is something to wait for."""
    if not sys.stderr.isatty() or total < 4:
        yield from answers
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(answers, "linting", total=total, console=Console(stderr=True), transient=True)


def _settle(report: Report, config: Config, arguments: argparse.Namespace) -> None:
    """Apply ignores and the baseline, in this order."""
    if config.ignores:
        from datetime import UTC, datetime

        from specgate.linting.ignores import apply_ignores

        ignores = [replace(i, target=str(parse_target(i.target))) if i.target else i for i in config.ignores]
        apply_ignores(report, ignores, today=datetime.now(UTC).date(), root=config.root)
    path = arguments.baseline or (str(config.root / config.baseline) if config.baseline else None)
    if arguments.update_baseline and path is None:
        raise InputError("--update-baseline needs --baseline FILE or `baseline` in the configuration")
    if path is None:
        return
    from specgate.linting.baseline import apply_baseline, load_baseline, write_baseline

    if not arguments.update_baseline and not Path(path).exists():
        raise InputError("the baseline file does not exist; --update-baseline writes it", file=path)
    if arguments.update_baseline:
        before = load_baseline(Path(path)) if Path(path).exists() else None
        write_baseline(report, Path(path), config.root, before)
    apply_baseline(report, load_baseline(Path(path)), config.root)
