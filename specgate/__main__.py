"""The command line in a process of its own: the script ``specgate``, and ``python -m specgate``."""

import gc
import signal
import sys

from specgate.interrupted import end_interrupted, interrupts_end

__all__ = ["run"]

#: How many new objects there may be before cycles are looked for among them: what a command imports and reads stays,
#: and Python's own 700 means a search every fraction of a millisecond.
_MANY = 100_000


def run() -> int:
    """Run the command of the command line and return its exit code; the process must end then."""
    interrupts_end()  # until the command takes them over, and when it is done
    gc.set_threshold(_MANY, 5, 5)
    from specgate.cli import main  # which makes many

    try:
        code = main()
    finally:
        gc.freeze()  # or the interpreter looks for cycles in all that the process gives back anyway
    if code == 128 + signal.SIGINT:
        end_interrupted()
    return code


if __name__ == "__main__":
    sys.exit(run())
