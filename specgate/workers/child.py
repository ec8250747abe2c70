"""A Python function in a process of its own, for libraries that may crash or hang: one answer for each question.

The process is started afresh after a crash or a late answer. Questions and answers are pickled, so both ends are ours.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import struct
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final, Self

from specgate.workers.piped import PipedProcess, WorkerLost
from specgate.workers.processes import receive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Child", "serve"]

_LENGTH: Final = struct.Struct("<Q")
#: The child finds specgate where its parent does, whatever folder it starts in.
_START: Final = "import sys; sys.path[:] = {path!r}; from specgate.workers.child import serve; serve()"


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
        self._process: PipedProcess | None = None
        self._fresh = True

    def ask(self, question: Any) -> Any:
        """Return the answer, or "crashed" or "timeout"; `ask_many` for more."""
        return self.ask_many([question])[0]

    def ask_many(self, questions: Sequence[Any]) -> list[Any]:
        """Return the answers in order, "crashed" or "timeout" to a question that kills the process or is late.

        An exception in the function is raised here, as RuntimeError with its traceback's text.
        """
        return [self._one(question) for question in questions]

    def _one(self, question: Any) -> Any:
        message = pickle.dumps(question)  # before anything starts: what cannot be pickled is the caller's error
        process = self._ready()
        try:
            with process.within(self.timeout + (self.start_timeout if self._fresh else 0.0)):
                process.send(_framed(message))
                reply = _read(process.read)
        except WorkerLost as lost:
            self.close()
            return lost.word
        except BaseException:  # interrupted: its answer must not be taken for the next question's
            self.close()
            raise
        self._fresh = False
        if process.end == "timeout":  # it was killed when it had just answered
            self.close()
        worked, answer = pickle.loads(reply)  # noqa: S301  # our own process wrote it
        if not worked:
            raise RuntimeError(answer)
        return answer

    def _ready(self) -> PipedProcess:
        if self._process is None:
            self._process = PipedProcess([sys.executable, "-c", _START.format(path=sys.path)])
            self._fresh = True
            with contextlib.suppress(OSError):  # a process that is gone is noticed by the question
                self._process.send(_framed(pickle.dumps(self._setup)))
        return self._process

    def close(self) -> None:
        """End the process; asking again starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def disown(self) -> None:
        """Forget the process, which another one started: this one is its fork."""
        process, self._process = self._process, None
        if process is not None:
            process.disown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _framed(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def _read(read: Callable[[int], bytes]) -> bytes:
    return receive(read, _LENGTH.unpack(receive(read, _LENGTH.size))[0])


def serve() -> None:
    """Be the child: answer questions from stdin until it ends; what libraries print to stdout goes to stderr."""
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, maker, argument = pickle.loads(_read(questions.read))  # noqa: S301  # our parent wrote it
    answer: Callable[[Any], Any] | None = None
    with contextlib.suppress(EOFError):
        while True:
            message = _read(questions.read)
            try:
                if answer is None:
                    answer = getattr(importlib.import_module(module), maker)(argument)
                reply = pickle.dumps((True, answer(pickle.loads(message))))  # noqa: S301  # our parent wrote it
            except Exception:  # noqa: BLE001  # sent to the parent, which raises it
                reply = pickle.dumps((False, traceback.format_exc()))
            answers.write(_framed(reply))
            answers.flush()
