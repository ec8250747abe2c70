"""The command line in a process of its own: the script ``specgate``, and ``python -m specgate``."""

import gc
import sys

__all__ = ["run"]

#: How many new objects there may be before cycles are looked for among them: what a command imports and reads stays,
#: and Python's own 700 means a search every fraction of a millisecond.
_MANY = 100_000


def run() -> int:
    """Run the command of the command line and return its exit code; the process must end then."""
    gc.set_threshold(_MANY, 5, 5)
    from specgate.cli import main  # which makes many

    try:
        return main()
    finally:
        gc.freeze()  # or the interpreter looks for cycles in all that the process gives back anyway


if __name__ == "__main__":
    sys.exit(run())
