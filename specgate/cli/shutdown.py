"""Early ends of a command: signals, and unwritable standard output."""

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

_SIGNALS: Final = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal is gone"}
#: ASCII forms of the signs in our texts, for output encodings that lack them, such as cp1252 on Windows.
_SIGNS: Final = {"→": "->", "…": "...", "◐": "(+)", "●": "(*)", "·": "-", "Δ": "d"}
_ASCII_HANDLER: Final = "specgate-plainly"


class ShutdownSignal(BaseException):
    """A signal ended the command; unfinished work is dropped and cleaned up."""

    def __init__(self, number: int, word: str) -> None:
        super().__init__(word)
        self.code = 128 + number


@contextmanager
def raise_on_signals() -> Iterator[None]:
    """Raise Stopped on the first signal to end; a second one kills.

    Signals that the calling program handles or ignores are not changed. Does nothing outside the main thread.
    """
    before: dict[int, Any] = {}

    def stop(number: int, _frame: FrameType | None) -> None:
        for signum in before:
            signal.signal(signum, signal.SIG_DFL)
        raise ShutdownSignal(number, _SIGNALS[signal.Signals(number).name])

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
    """Standard output is not writable; pipe: because its reader closed it."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"cannot write to standard output: {error.strerror or error}")
        self.pipe = isinstance(error, BrokenPipeError)


class _Output(io.TextIOWrapper):
    """Standard output that raises OutputError and escapes unencodable text."""

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
    """A closed standard stream; writing raises `error`, if any."""

    def __init__(self, error: Exception | None = None) -> None:
        super().__init__()
        self.error = error

    def write(self, text: str) -> int:
        if self.error is not None:
            raise self.error
        return len(text)


def _escape_to_ascii(error: UnicodeError) -> tuple[str, int]:
    """Return unencodable text as ASCII: our signs spelled, others escaped."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_SIGNS.get(c) or c.encode("ascii", "backslashreplace").decode() for c in characters), error.end


codecs.register_error(_ASCII_HANDLER, _escape_to_ascii)


@contextmanager
def own_streams() -> Iterator[None]:
    """Replace standard output with one that raises OutputError.

    Closed standard streams get a replacement.
    """
    output, errors = sys.stdout, sys.stderr
    if isinstance(output, io.TextIOWrapper):
        output.flush()
        sys.stdout = _Output(
            output.buffer, output.encoding, _ASCII_HANDLER, newline=None, line_buffering=output.line_buffering
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


def discard_output() -> None:
    """Discard buffered standard output, so the interpreter exits silently."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
