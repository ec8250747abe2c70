"""Terminal width, and help of that width, without importing `shutil`."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Help", "columns", "progress"]


def columns(otherwise: int) -> int:
    """Return the terminal's columns, as `shutil.get_terminal_size` does."""
    with suppress(KeyError, ValueError):
        if (stated := int(os.environ["COLUMNS"])) > 0:
            return stated
    with suppress(AttributeError, ValueError, OSError):
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or otherwise  # type: ignore[union-attr]
    return otherwise


class Help(argparse.HelpFormatter):
    """A help formatter that reads the width without `shutil`.

    argparse creates one per option.
    """

    def __init__(self, prog: str, **more: Any) -> None:
        super().__init__(prog, width=columns(80) - 2, **more)


@contextmanager
def progress(first: str = "asking") -> Iterator[Callable[[int, int, str], object]]:
    """Yield a progress function: a bar on a terminal, silent elsewhere.

    Its arguments are the number done, the total, and the current item.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)
