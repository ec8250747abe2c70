"""Linting exported models, cold and warm, and many small files.

Processor time of all processes counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import specgate
from tests.benchmarks.made_models import chain
from tests.benchmarks.real_models import REAL_MODELS
from tests.benchmarks.timing import Contender, Group, ended_time, processes_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["real_groups"]

TARGET: Final = "onnx:17"
_FILES: Final = 200
_COLD_RUNS: Final = 3


def real_groups() -> Iterator[Group]:
    """Yield groups: per model the command and calls in one process, then many files."""
    try:
        import onnx
    except ImportError:
        yield Group("lint", [Contender("onnx", None, missing="not installed (onnx), which checks the same models")])
        return
    cold, warm = _Ratios(), _Ratios()
    with TemporaryDirectory(prefix="specgate-bench-") as folder:
        for title, save in REAL_MODELS.items():
            path = Path(folder, "model.onnx")
            try:
                save(path)
            except ImportError as error:
                yield Group(title, [Contender("the model", None, missing=f"not installed ({error.name})")])
                continue
            size = len(onnx.load(path).graph.node)
            yield _cold(title, str(path), size, cold)
            yield _warm(title, str(path), size, warm)
        files = [Path(folder, f"{number}.onnx") for number in range(_FILES)]
        for number, file in enumerate(files):
            onnx.save(chain(5 + number % 20), file)
        yield _many(list(map(str, files)))


class _Ratios:
    """Ratios of several groups, summarized by their median and the worst."""

    def __init__(self) -> None:
        self.found: list[float] = []

    def said(self, own: Contender, other: Contender) -> list[tuple[str, str]]:
        """Add the ratio of a group, and print it with the summary so far."""
        assert own.typical is not None and other.typical is not None  # noqa: PT018  # both sides ran
        self.found.append(own.typical / other.typical)
        so_far = f"median {median(self.found):.2f}x, worst {max(self.found):.2f}x of {len(self.found)}"
        return [("linting against checking", f"{self.found[-1]:.2f}x"), ("so far", so_far)]


def _cold(title: str, path: str, size: int, ratios: _Ratios) -> Group:
    lint = [sys.executable, "-m", "specgate", "lint", path, "--target", TARGET]
    check = [sys.executable, "-c", f"import onnx.checker; onnx.checker.check_model({path!r}, full_check=True)"]
    own = Contender("specgate lint, a command", _command(lint), own=True, reports=True)
    other = Contender("onnx.checker.check_model, a command", _command(check), reports=True)
    return Group(f"cold: {title}", [own, other], 0, size, "nodes", lambda: ratios.said(own, other))


def _warm(title: str, path: str, size: int, ratios: _Ratios) -> Group:
    import onnx

    own = Contender("specgate.lint", lambda: specgate.lint(path, targets=[TARGET]), own=True)
    other = Contender("onnx.checker.check_model", lambda: onnx.checker.check_model(path, full_check=True))
    return Group(f"warm: {title}", [own, other], 0.1, size, "nodes", lambda: ratios.said(own, other), processes_time)


def _many(files: Sequence[str]) -> Group:
    lint = [sys.executable, "-m", "specgate", "lint", *files, "--target", TARGET]
    code = "import sys, onnx.checker\nfor path in sys.argv[1:]: onnx.checker.check_model(path, full_check=True)"
    own = [
        Contender(f"specgate lint --jobs {jobs}", _command([*lint, "--jobs", str(jobs)]), own=jobs == 1, reports=True)
        for jobs in (1, 2)
    ]
    other = Contender(
        "onnx.checker.check_model, one process", _command([sys.executable, "-c", code, *files]), reports=True
    )
    return Group(f"{len(files)} small models", [*own, other], 0, len(files), "files")


def _command(command: Sequence[str]) -> Callable[[], float]:
    """Return a function that measures the processor seconds of a command.

    Includes subprocesses; the minimum of a few runs.
    """
    # Both sides may store bytecode, as installed packages do.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def once() -> float:
        before = ended_time()
        done = subprocess.run(command, check=False, capture_output=True, env=environment)
        if done.returncode not in {0, 1}:
            raise specgate.Error(f"{command[:4]} ends with {done.returncode}: {done.stderr.decode()[-200:]}")
        return ended_time() - before

    return lambda: min(once() for _ in range(_COLD_RUNS))
