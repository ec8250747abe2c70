"""Entry point of the script ``specgate`` and of ``python -m specgate``."""

import gc
import signal
import sys

from specgate.interrupts import end_interrupted, interrupts_end

#: Threshold of the garbage collector. Most objects that a command creates live until it ends, and Python's default of
#: 700 would trigger a collection every fraction of a millisecond.
_GC_THRESHOLD = 100_000


def run() -> int:
    """Run the command line and return its exit code.

    The process must exit afterwards.
    """
    interrupts_end()  # before and after the command installs its own handler
    gc.set_threshold(_GC_THRESHOLD, 5, 5)
    from specgate.cli import main  # importing creates many objects

    try:
        code = main()
    finally:
        gc.freeze()  # otherwise the interpreter searches for cycles in memory that the exit frees anyway
    if code == 128 + signal.SIGINT:
        end_interrupted()
    return code


if __name__ == "__main__":
    sys.exit(run())
