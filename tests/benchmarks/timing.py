"""Time contenders in turn, so that changes of machine speed affect all of them."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Contender", "Group", "ended_time", "measure", "processes_time"]


@dataclass
class Contender:
    """A contender.

    call: runs once; None if its peer is not installed (missing: the reason). reports: the call returns the seconds
    itself, because only a part of its work counts.
    """

    name: str
    call: Callable[[], object] | None
    own: bool = False
    missing: str = ""
    reports: bool = False
    seconds: list[float] = field(default_factory=list)

    @property
    def typical(self) -> float | None:
        """Median seconds of one call, None if not measured."""
        return median(self.seconds) if self.seconds else None


@dataclass
class Group:
    """Contenders that do the same work, with the base of the ratios.

    work: number of `unit` (such as nodes) per call, for a rate. remarks: called after all measurements for lines of
    name and value that are not times. clock: the source of time, wall or processor. most_seconds: a contender that has
    run for this long gets no further rounds.
    """

    title: str
    contenders: list[Contender]
    least_seconds: float = 0.05
    work: int = 0
    unit: str = ""
    remarks: Callable[[], list[tuple[str, str]]] = list
    clock: Callable[[], float] = perf_counter
    most_seconds: float = inf


def measure(group: Group, repeat: int) -> None:
    """Run `repeat` rounds, in each every contender for at least `least_seconds`."""
    live = [c for c in group.contenders if c.call is not None]
    loops = {c.name: _loops(c, group.least_seconds, group.clock) for c in live}
    for _ in range(repeat):
        for contender in live:
            count = loops[contender.name]
            if sum(contender.seconds) * count <= group.most_seconds:
                contender.seconds.append(_time_calls(contender, count, group.clock))


def _loops(contender: Contender, least: float, clock: Callable[[], float]) -> int:
    """Return the number of calls that fill `least` seconds, after warming up."""
    if contender.reports:
        return 1
    count = 1
    while True:
        spent = _time_calls(contender, count, clock) * count
        if spent >= least or count >= 1_000_000:
            return count
        count = min(1_000_000, max(count * 2, int(count * least / max(spent, 1e-9))))


def _time_calls(contender: Contender, count: int, clock: Callable[[], float]) -> float:
    call = contender.call
    assert call is not None  # `measure` only calls installed contenders
    if contender.reports:
        return median(cast("float", call()) for _ in range(count))
    start = clock()
    for _ in range(count):
        call()
    return (clock() - start) / count


def ended_time() -> float:
    """Return the processor seconds of ended processes and their children."""
    try:
        import resource
    except ImportError:  # not on Windows, where this is 0
        return os.times().children_user + os.times().children_system
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processes_time() -> float:
    """Return the processor seconds of this process and its children.

    On Linux also of running children.
    """
    total = process_time() + ended_time()
    for children in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):  # the thread ended meanwhile
            total += sum(map(_used_seconds, children.read_text(encoding="ascii").split()))
    return total


def _used_seconds(number: str) -> float:
    """Return the seconds of a running process, 0 if it ended."""
    with suppress(OSError):
        return int(Path(f"/proc/{number}/schedstat").read_text(encoding="ascii").split()[0]) * 1e-9
    return 0.0
