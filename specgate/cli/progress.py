"""A bar for what takes long, on a terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["progress"]


@contextmanager
def progress(first: str = "asking") -> Iterator[Callable[[int, int, str], object]]:
    """Give a progress function, of how many of how many and of what: a bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)
        yield lambda done, total, what: bar.update(task, completed=done, total=total, description=what)
