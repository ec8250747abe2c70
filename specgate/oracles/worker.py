"""One process of the C host: questions down a pipe, answers up another, a time limit per question."""

from __future__ import annotations

import contextlib
import os
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, cast

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import FileIO

    from specgate.oracles.marshal import Image

    Pipes = tuple[FileIO, FileIO]

__all__ = ["Outcome", "Worker"]

PROTOCOL: Final = 1
_HELLO: Final = struct.Struct("<4sIII")
_QUESTION: Final = struct.Struct("<IIII")
_ANSWER: Final = struct.Struct("<II")
#: Seconds for a process to go away once its input has ended; it has nothing to save.
_FAREWELL: Final = 1.0


@dataclass(slots=True)
class Outcome:
    """HRESULTs of the first questions of a batch; `end` says why there are fewer than questions, if there are."""

    codes: list[int] = field(default_factory=list)
    end: Literal["", "crashed", "timeout"] = ""


class Worker:
    """A running host with its device created.

    level: the feature level that the device confirms, as DML_FEATURE_LEVEL's number. asked: questions so far.
    Raises InputError when the process does not come up with a device within `start_timeout` seconds.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, start_timeout: float = 60.0) -> None:
        self.asked = 0
        self.level = 0
        self._rest = b""  # of an answer that has arrived in part
        self._overdue = False
        self._deadline = time.monotonic() + start_timeout
        self._wake = threading.Condition()
        self._closed = False
        with tempfile.TemporaryFile() as errors:
            self._process = self._start(command, environment, errors.fileno())
            self._questions, self._answers = cast("Pipes", (self._process.stdin, self._process.stdout))
            self._watcher = threading.Thread(target=self._watch, name="oracle-watch", daemon=True)
            self._watcher.start()
            problem = self._greet()
            if problem:
                self.close()
                errors.seek(0)
                said = errors.read(4000).decode("utf-8", "replace").strip().splitlines()
                detail = f": {said[-1][:200]!r}" if said else ""
                raise InputError(f"the oracle's process {problem}{detail}", file=command[-1][:200])

    @staticmethod
    def _start(command: Sequence[str], environment: Mapping[str, str], errors: int) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=dict(environment),
                bufsize=0,
            )
        except OSError as error:
            raise InputError(f"cannot be started: {error.strerror}", file=command[0]) from None

    def _greet(self) -> str:
        """Read the hello; return what is wrong with it, if anything."""
        data = b""
        while len(data) < _HELLO.size:
            more = self._receive()
            if not more:
                return "did not come up in time" if self._overdue else "ended before it came up"
            data += more
        self._arm(None)
        magic, protocol, code, self.level = _HELLO.unpack(data[: _HELLO.size])
        if magic != b"SGDM" or protocol != PROTOCOL:
            return f"greeted with {data[:16]!r} instead of its protocol"
        return f"created no device: 0x{code:08X}" if code else ""

    def ask(self, images: Sequence[Image], timeout: float) -> Outcome:
        """Return the HRESULTs of creating these operators, in order, as far as the process lives.

        timeout: seconds for each. A process that is late is killed.
        """
        outcome = Outcome()
        first = self.asked
        self.asked += len(images)  # before anything is sent: after an interrupt no number is used twice
        self._arm(timeout)
        try:
            self._send(b"".join(_question(first + i, image) for i, image in enumerate(images)))
            while len(outcome.codes) < len(images):
                self._collect(outcome, first, len(images))
                self._arm(timeout)
        except (EOFError, OSError):
            outcome.end = "timeout" if self._overdue else "crashed"
        self._arm(None)
        return outcome

    def _collect(self, outcome: Outcome, first: int, wanted: int) -> None:
        """Take the answers that are there, waiting for one; EOFError where the process is gone or talks nonsense."""
        data = self._receive()
        if not data:
            raise EOFError
        self._rest += data
        whole = len(self._rest) // _ANSWER.size * _ANSWER.size
        data, self._rest = self._rest[:whole], self._rest[whole:]
        for number, code in _ANSWER.iter_unpack(data):
            if number != first + len(outcome.codes) or len(outcome.codes) == wanted:
                self._process.kill()  # a dying process wrote text into the pipe
                raise EOFError
            outcome.codes.append(code)

    def _send(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[self._questions.write(view) :]

    def _receive(self) -> bytes:
        return os.read(self._answers.fileno(), 65536)

    def _arm(self, seconds: float | None) -> None:
        """Start the clock for the next sign of life, or stop it."""
        with self._wake:
            self._deadline = float("inf") if seconds is None else time.monotonic() + seconds
            self._wake.notify()

    def _watch(self) -> None:
        """Kill the process when it is overdue; reads and writes then end by themselves, on every system."""
        with self._wake:
            while not self._closed:
                left = self._deadline - time.monotonic()
                if left <= 0:
                    self._overdue = True
                    self._process.kill()
                    return
                self._wake.wait(min(left, 3600.0))

    def close(self) -> None:
        """End the process; harmless when it is gone already."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        with contextlib.suppress(OSError):
            self._questions.close()
        try:
            self._process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._answers.close()
        if self._watcher is not threading.current_thread():
            self._watcher.join()


def _question(number: int, image: Image) -> bytes:
    pointers = image.pointers
    head = _QUESTION.pack(number, len(image.data), len(pointers), image.root)
    return head + struct.pack(f"<{len(pointers)}I", *pointers) + image.data
