"""Run inputs through a reader, with limits of time per input and of memory."""

from __future__ import annotations

import random
import resource
import time
import traceback
from collections import Counter
from typing import TYPE_CHECKING

from tests.fuzz.readers import READERS

if TYPE_CHECKING:
    from pathlib import Path

MOST_SECONDS = 5.0  # of processor time for one input
MOST_GROWTH = 512 * 1024  # KiB of resident memory for all of them


def fuzz(reader: str, numbers: range, folder: Path, keep: int = 10) -> tuple[Counter[str], list[str]]:
    """Return the count of each outcome, and the failures with number and input.

    numbers: each determines its input alone. folder: an empty one, for files.
    """
    draw, holds = READERS[reader]
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    holds(draw(random.Random(f"{reader} warm")), folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in numbers:
        data = draw(random.Random(f"{reader} {number}"))
        start = time.process_time()
        try:
            outcomes[holds(data, folder)] += 1
            problem = ""
        except Exception as error:
            problem = f"{error!r:.300} {traceback.extract_tb(error.__traceback__)[-1]}"
        spent = time.process_time() - start
        if spent > MOST_SECONDS:
            problem = f"{problem} took {spent:.1f} s"
        if problem:
            outcomes["failed"] += 1
            if len(failures) < keep:
                failures.append(f"{reader} {number}: {problem}\n  {data[:200]!r}")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if grown > MOST_GROWTH:
        failures.append(f"{reader}: the memory grew by {grown >> 10} MiB")
    return outcomes, failures
