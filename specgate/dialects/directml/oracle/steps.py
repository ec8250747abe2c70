"""What installing is made of: folders that appear whole or not at all, and programs run to their end."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from specgate.errors import InputError
from specgate.workers.processes import start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["COMPILE", "appearing", "run_program"]

#: Options for every C source.
COMPILE: Final = ("-O2", "-std=c11", "-Wall", "-Wextra")
_PATIENCE: Final = 1800.0  # seconds; the largest download has 119 MB


@contextmanager
def appearing(folder: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes `folder` when all went well; an equal one made meanwhile stays."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from None
    with temporary as name:
        made = Path(name) / folder.name
        made.mkdir()
        yield made
        try:
            made.rename(folder)
        except OSError as error:
            if not folder.is_dir():
                raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from None


def run_program(command: list[str], what: str, environment: Mapping[str, str] | None = None) -> None:
    """Run a program to its end; raise InputError with the first line that it said about an error, or its first one."""
    try:
        with start(command, environment=environment, errors=subprocess.STDOUT) as process:
            try:
                said, _ = process.communicate(timeout=_PATIENCE)
            except BaseException:  # interrupted, for one: its answer is not awaited any more
                process.kill()
                raise
    except OSError as error:
        raise InputError(f"{what}: {error.strerror}", file=command[0]) from None
    except subprocess.TimeoutExpired:
        raise InputError(f"{what}: not done after {_PATIENCE:.0f} s", file=command[0]) from None
    if process.returncode:
        lines = said.decode("utf-8", "replace").strip().splitlines()
        wrong = [line for line in lines if "error" in line.lower()] or lines or [f"exit code {process.returncode}"]
        raise InputError(f"{what}: {wrong[0][:300]!r}", file=Path(command[0]).name)
