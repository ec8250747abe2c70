"""A Python function in a subprocess, for libraries that crash or hang.

The process is restarted after a crash or timeout. Questions and answers are pickled, since both ends are trusted.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import struct
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final

from specgate.workers.piped import PipedProcess, WorkerLost
from specgate.workers.processes import Closing, receive

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LENGTH: Final = struct.Struct("<Q")
#: The child imports the same specgate as its parent, whatever its working directory.
_START: Final = (
    "import sys; sys.path[:] = {path!r}; from specgate.workers.child import serve_questions; serve_questions()"
)


class Child(Closing):
    """Calls the result of ``module.maker(argument)`` in a subprocess.

    module: a dotted name. maker: the name of a function that returns a function of one question. timeout: seconds per
    question; the first question of a process has `start_timeout` more, for imports. Not thread-safe.
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
        """Return the answer, or "crashed" or "timeout".

        Use `ask_many` for several questions.
        """
        return self.ask_many([question])[0]

    def ask_many(self, questions: Sequence[Any]) -> list[Any]:
        """Return the answers in order.

        The answer is "crashed" or "timeout" for a question that kills the process or exceeds the limit. An exception in
        the function is raised here as RuntimeError with the text of its traceback.
        """
        return [self._ask_question(question) for question in questions]

    def _ask_question(self, question: Any) -> Any:
        message = pickle.dumps(question)  # pickle first: what cannot be pickled is an error of the caller
        process = self._ready()
        try:
            with process.within(self.timeout + (self.start_timeout if self._fresh else 0.0)):
                process.send(_frame_message(message))
                reply = _read_message(process.read)
        except WorkerLost as lost:
            self.close()
            return lost.word
        except BaseException:  # interrupted: a pending answer must not reach the next question
            self.close()
            raise
        self._fresh = False
        if process.end == "timeout":  # it was killed just after its answer
            self.close()
        worked, answer = pickle.loads(reply)  # noqa: S301  # written by our own process
        if not worked:
            raise RuntimeError(answer)
        return answer

    def _ready(self) -> PipedProcess:
        if self._process is None:
            self._process = PipedProcess([sys.executable, "-c", _START.format(path=sys.path)])
            self._fresh = True
            with contextlib.suppress(OSError):  # sending the question detects a process that is gone
                self._process.send(_frame_message(pickle.dumps(self._setup)))
        return self._process

    def close(self) -> None:
        """End the process; the next question starts another one."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def disown(self) -> None:
        """Forget the process after a fork, because the parent owns it."""
        process, self._process = self._process, None
        if process is not None:
            process.disown()


def _frame_message(data: bytes) -> bytes:
    return _LENGTH.pack(len(data)) + data


def _read_message(read_bytes: Callable[[int], bytes]) -> bytes:
    return receive(read_bytes, _LENGTH.unpack(receive(read_bytes, _LENGTH.size))[0])


def serve_questions() -> None:
    """Run the child: answer questions from stdin until it ends.

    What libraries print to stdout is redirected to stderr.
    """
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    module, maker, argument = pickle.loads(_read_message(questions.read))  # noqa: S301  # written by our parent
    answer: Callable[[Any], Any] | None = None
    with contextlib.suppress(EOFError):
        while True:
            message = _read_message(questions.read)
            try:
                if answer is None:
                    answer = getattr(importlib.import_module(module), maker)(argument)
                reply = pickle.dumps((True, answer(pickle.loads(message))))  # noqa: S301  # written by our parent
            except Exception:  # noqa: BLE001  # sent to the parent, which raises it
                reply = pickle.dumps((False, traceback.format_exc()))
            answers.write(_frame_message(reply))
            answers.flush()
