"""Handling of interrupts before a command starts and after it ends."""

from __future__ import annotations

import os
import signal
import sys


def interrupts_end() -> None:
    """Let an interrupt end this process at once and without a message.

    Does nothing if the signal is already handled or ignored.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_interrupted() -> None:
    """End this process by the signal SIGINT itself.

    A shell that sees a normal exit would continue with its next command.
    """
    if os.name == "posix":
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)


def end_command(error: BaseException) -> None:
    """End the process if an import of the command was interrupted.

    Only applies to the command specgate; a program that imports specgate gets the exception.
    """
    # Python 3.11 raises a RuntimeError if the interrupt arrives while a class is created.
    if any(isinstance(cause, KeyboardInterrupt) for cause in (error, error.__cause__)) and _is_command():
        end_interrupted()
        raise SystemExit(130) from None


def _is_command() -> bool:
    first = os.path.basename(sys.argv[0])  # noqa: PTH119  # avoids importing pathlib at the start of a command
    if first == "-m":  # true while the package is imported to run its __main__
        return "specgate" in sys.orig_argv or "-mspecgate" in sys.orig_argv
    return first in {"specgate", "specgate.exe", "specgate-script.py"}
