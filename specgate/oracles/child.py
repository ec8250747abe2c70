"""A Python function in a process of its own, for libraries that may crash or hang: one answer for each question.

The process is started afresh after a crash or a late answer. Questions and answers are pickled, so both ends are ours.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import struct
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal, Self, cast

from specgate.processes import receive, send, start

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Child", "Failure", "serve"]

Failure = Literal["crashed", "timeout"]

_LENGTH: Final = struct.Struct("<Q")
_FAREWELL: Final = 2.0
#: The child finds specgate where its parent does, whatever folder it starts in.
_START: Final = "import sys; sys.path[:] = {path!r}; from specgate.oracles.child import serve; serve()"


class Child:
    """Asks ``module.maker(argument)`` in another process; the maker returns a function of one question.

    module: a dotted name; maker: a function's name in it. timeout: seconds for each question; the first one of a
    process has `start_timeout` more, for its imports. Not for several threads at once.
    """

    def __init__(
        self, module: str, maker: str, argument: Any = None, *, timeout: float = 10.0, start_timeout: float = 60.0
    ) -> None:
        self._setup = (module, maker, argument)
        self.timeout = timeout
        self.start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._fresh = True

    def ask(self, question: Any) -> Any:
        """Return the answer, or a `Failure` word where the process died or was late; `ask_many` for more."""
        return self.ask_many([question])[0]

    def ask_many(self, questions: Sequence[Any]) -> list[Any]:
        """Return the answers in order; a question that kills the process or is late has a `Failure` for its answer.

        An exception in the function is raised here, as RuntimeError with its traceback's text.
        """
        return [self._one(question) for question in questions]

    def _one(self, question: Any) -> Any:
        message = pickle.dumps(question)  # before anything starts: what cannot be pickled is the caller's error
        process = self._ready()
        late = threading.Event()
        clock = threading.Timer(self.timeout + (self.start_timeout if self._fresh else 0.0), _kill, (process, late))
        clock.daemon = True
        clock.start()
        try:
            _write(cast("BinaryIO", process.stdin), message)
            reply = _read(cast("BinaryIO", process.stdout))
            self._fresh = False
        except (EOFError, OSError):
            self.close()
            return "timeout" if late.is_set() else "crashed"
        except BaseException:  # interrupted: its answer must not be taken for the next question's
            self.close()
            raise
        finally:
            clock.cancel()
            clock.join()  # a clock that fires now must not kill the process under the next question
        if late.is_set():
            self.close()
        worked, answer = pickle.loads(reply)  # noqa: S301  # our own process wrote it
        if not worked:
            raise RuntimeError(answer)
        return answer

    def _ready(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = start([sys.executable, "-c", _START.format(path=sys.path)])
            self._fresh = True
            with contextlib.suppress(OSError):  # a process that is gone is noticed by the question
                _write(cast("BinaryIO", self._process.stdin), pickle.dumps(self._setup))
        return self._process

    def close(self) -> None:
        """End the process; asking again starts another."""
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                cast("BinaryIO", stream).close()
        try:
            process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def disown(self) -> None:
        """Forget the process, which another one started: this one is its fork."""
        process, self._process = self._process, None
        if process is not None:
            process.returncode = 0  # not ours to wait for

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _kill(process: subprocess.Popen[bytes], late: threading.Event) -> None:
    late.set()
    process.kill()


def _write(stream: BinaryIO, data: bytes) -> None:
    send(stream, _LENGTH.pack(len(data)) + data)


def _read(stream: BinaryIO) -> bytes:
    return receive(stream.read, _LENGTH.unpack(receive(stream.read, _LENGTH.size))[0])


def serve() -> None:
    """Be the child: answer questions from stdin until it ends; what libraries print to stdout goes to stderr."""
    import traceback

    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, maker, argument = pickle.loads(_read(questions))  # noqa: S301  # our parent wrote it
    answer: Callable[[Any], Any] | None = None
    with contextlib.suppress(EOFError):
        while True:
            message = _read(questions)
            try:
                if answer is None:
                    answer = getattr(importlib.import_module(module), maker)(argument)
                reply = pickle.dumps((True, answer(pickle.loads(message))))  # noqa: S301  # our parent wrote it
            except Exception:  # noqa: BLE001  # sent to the parent, which raises it
                reply = pickle.dumps((False, traceback.format_exc()))
            _write(answers, reply)
