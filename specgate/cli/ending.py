"""How a command ends before it is done: interrupted, or with a standard output that takes nothing more."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["OutputError", "Stopped", "own_streams", "stoppable", "write_no_more"]

_SIGNALS: Final = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal is gone"}
#: Signs that our own texts have, for outputs whose encoding lacks them, as cp1252 does on Windows.
_SIGNS: Final = {"→": "->", "…": "...", "◐": "(+)", "●": "(*)", "·": "-", "Δ": "d"}
_PLAINLY: Final = "specgate-plainly"


class Stopped(BaseException):
    """A signal asks this process to end: what is under way is given up, what was begun is taken away."""

    def __init__(self, number: int, word: str) -> None:
        super().__init__(word)
        self.code = 128 + number


@contextmanager
def stoppable() -> Iterator[None]:
    """Let the signals that end a process raise Stopped, the first time: a second one ends it at once.

    Signals that the calling program handles or ignores, and threads that are not the main one, are left alone.
    """
    before: dict[int, Any] = {}

    def stop(number: int, _frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, signal.SIG_DFL)
        raise Stopped(number, _SIGNALS[signal.Signals(number).name])

    with suppress(ValueError):  # not in the main thread
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class OutputError(Exception):
    """Standard output cannot be written to. pipe: because its reader has closed it."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"standard output cannot be written: {error.strerror or error}")
        self.pipe = isinstance(error, BrokenPipeError)


class _Output(io.TextIOWrapper):
    """Standard output, with errors of its own; what it cannot encode is escaped."""

    def write(self, text: str) -> int:
        try:
            return super().write(text)
        except OSError as error:
            raise OutputError(error) from None

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            raise OutputError(error) from None


class _Closed(io.TextIOBase):
    """A standard stream that the caller closed, with what writing to it raises, if anything."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        if self.error is not None:
            raise self.error
        return len(text)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Spell what the encoding of standard output lacks: our own signs in ASCII, other characters as escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_SIGNS.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking), error.end


codecs.register_error(_PLAINLY, _plainly)


@contextmanager
def own_streams() -> Iterator[None]:
    """Let standard output raise OutputError, and give a process that was started without one something in its place."""
    output, errors = sys.stdout, sys.stderr
    if isinstance(output, io.TextIOWrapper):
        output.flush()
        sys.stdout = _Output(
            output.buffer, output.encoding, _PLAINLY, newline=None, line_buffering=output.line_buffering
        )
    elif output is None:
        sys.stdout = _Closed(OutputError(OSError("it is closed")))
    sys.stderr = _Closed() if errors is None else errors
    try:
        yield
    finally:
        if isinstance(sys.stdout, _Output):
            with suppress(OutputError):
                sys.stdout.flush()
            sys.stdout.detach()
        sys.stdout, sys.stderr = output, errors


def write_no_more() -> None:
    """Let what standard output still holds go nowhere, or the interpreter complains in the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
