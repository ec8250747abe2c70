"""An interrupt outside of a command's work: while specgate is imported, and when all is said."""

from __future__ import annotations

import os
import signal
import sys

__all__ = ["end_command", "end_interrupted", "interrupts_end"]


def interrupts_end() -> None:
    """Let an interrupt end this process at once, without a word, unless it is handled or ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_interrupted() -> None:
    """End this process by the interrupt that it was sent: where a command exits, a shell goes on with the next."""
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def end_command(error: BaseException) -> None:
    """End this process where it is the command specgate, and what was raised while it was imported is an interrupt.

    A program that imports specgate sees it as any other error.
    """
    # Python 3.11 raises a RuntimeError where a class was being made.
    if any(isinstance(each, KeyboardInterrupt) for each in (error, error.__cause__)) and _is_command():
        end_interrupted()
        raise SystemExit(130) from None


def _is_command() -> bool:
    first = os.path.basename(sys.argv[0])  # noqa: PTH119  # no pathlib while a command starts
    if first == "-m":  # so it is while the package is imported whose __main__ is to run
        return "specgate" in sys.orig_argv or "-mspecgate" in sys.orig_argv
    return first in {"specgate", "specgate.exe", "specgate-script.py"}
