"""Linting one file as a job that may run in another process or on another machine."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from threading import Lock
from typing import TYPE_CHECKING

from specgate.errors import Error
from specgate.targets import parse_targets

if TYPE_CHECKING:
    from specgate.linting.given import Given
    from specgate.linting.settings import LintSettings
    from specgate.verdict import Basis, Location, Report

__all__ = ["Job", "lint_job", "load_specs", "named_report"]


@dataclass(frozen=True, slots=True)
class Job:
    """One file to lint. file: as the user gave it. path: where it is read, absolute if it is read elsewhere.

    settings: what is pinned, known and inferred. given: what it is if it is no file.
    """

    file: str
    targets: tuple[str, ...]
    basis: Basis = "both"
    device: frozenset[str] | None = None
    settings: LintSettings | None = None
    path: str | None = None
    given: Given | None = None


def lint_job(job: Job) -> Report | str:
    """Lint one file; a string says why it is unusable. Never raises, so that one file does not hide the others."""
    from specgate.linting.model import lint_model

    path = job.path or job.file
    try:
        report = lint_model(job.given or path, parse_targets(job.targets), job.basis, job.device, job.settings)
    except Error as error:
        text = str(error).replace(path, job.file)
        return text if job.file in text else f"{job.file}: {text}"
    except (RecursionError, MemoryError) as error:
        return f"{job.file}: too deeply nested or too large ({type(error).__name__})"
    except Exception as error:
        if os.environ.get("SPECGATE_DEBUG"):
            raise
        return f"{job.file}: internal error, please report it (SPECGATE_DEBUG=1 shows where): {error!r:.300}"
    return report if path == job.file else named_report(report, path, job.file)


def load_specs(folders: tuple[str, ...]) -> None:
    """Load the operators of further spec folders in this process, unless they are what it has."""
    from pathlib import Path

    from specgate.spec.tables import use_specs

    global _loaded  # noqa: PLW0603  # a process has one set of tables
    with _lock:  # a Dask worker may have several threads
        if folders != _loaded:
            use_specs(*(Path(folder) for folder in folders))
            _loaded = folders


_lock = Lock()
_loaded: tuple[str, ...] = ()


def named_report(report: Report, path: str, file: str) -> Report:
    """Return the same report with the file named as the user did."""

    def place(location: Location) -> Location:
        return replace(location, file=file) if location.file == path else location

    return replace(
        report,
        files=[file if name == path else name for name in report.files],
        findings=[replace(f, location=place(f.location)) if f.location else f for f in report.findings],
        undecided=[replace(node, location=place(node.location)) for node in report.undecided],
        no_table=[replace(node, location=place(node.location)) for node in report.no_table],
        judged={file if name == path else name: targets for name, targets in report.judged.items()},
        context={(file if name == path else name, node): held for (name, node), held in report.context.items()},
    )
