"""A process of a C host: its hello, the pipes to it, and a watch that kills it when it is overdue."""

from __future__ import annotations

import contextlib
import os
import signal
import struct
import subprocess
import tempfile
import threading
import time
from typing import TYPE_CHECKING, Final, Literal, cast

from specgate.errors import InputError
from specgate.processes import receive, send, start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from io import FileIO

    Pipes = tuple[FileIO, FileIO]

__all__ = ["End", "Ended", "HostProcess"]

End = Literal["crashed", "timeout"]

PROTOCOL: Final = 1
_HELLO: Final = struct.Struct("<4sIII")
#: Seconds for a process to go away once its input has ended; it has nothing to save.
_FAREWELL: Final = 1.0
#: Wine now and then loses a process that starts while its server is about to end; so it gets a second chance.
_STARTS: Final = 2
_LOST: Final = "ended before it came up"


class Ended(Exception):
    """The process died or was late and killed; it cannot be asked any more."""

    def __init__(self, word: End) -> None:
        super().__init__(word)
        self.word: End = word


class HostProcess:
    """A running host with its device created.

    magic: the first four bytes of its hello. group: give it a process group of its own and kill that, for a command
    that starts others. level: the feature level that the device confirms, as DML_FEATURE_LEVEL's number.
    Raises InputError when the process does not come up with a device within `start_timeout` seconds.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        magic: bytes,
        *,
        start_timeout: float = 60.0,
        group: bool = False,
    ) -> None:
        self.level = 0
        self._group = group
        with tempfile.TemporaryFile() as errors:
            problem = ""
            for _ in range(_STARTS):
                self._begin(command, environment, errors.fileno(), start_timeout)
                problem = self._greet(magic)
                if problem != _LOST:
                    break
                self.close()
            if problem:
                self.close()
                errors.seek(0)
                said = errors.read(4000).decode("utf-8", "replace").strip().splitlines()
                detail = f": {said[-1][:200]!r}" if said else ""
                raise InputError(f"the oracle's process {problem}{detail}", file=command[-1][:200])

    def _begin(self, command: Sequence[str], environment: Mapping[str, str], errors: int, patience: float) -> None:
        """Start the process and its watch."""
        self._overdue = self._closed = False
        self._deadline = time.monotonic() + patience
        self._wake = threading.Condition()
        self._process = self._start(command, environment, errors)
        self._questions, self._answers = cast("Pipes", (self._process.stdin, self._process.stdout))
        self._watcher = threading.Thread(target=self._watch, name="oracle-watch", daemon=True)
        self._watcher.start()

    def _start(self, command: Sequence[str], environment: Mapping[str, str], errors: int) -> subprocess.Popen[bytes]:
        try:
            return start(command, environment=environment, errors=errors, group=self._group)
        except OSError as error:
            raise InputError(f"cannot be started: {error.strerror}", file=command[0]) from None

    def _greet(self, magic: bytes) -> str:
        """Read the hello; return what is wrong with it, if anything."""
        try:
            data = self.read(_HELLO.size)
        except EOFError:
            return "did not come up in time" if self._overdue else _LOST
        self.arm(None)
        found, protocol, code, self.level = _HELLO.unpack(data)
        if found != magic or protocol != PROTOCOL:
            return f"greeted with {data!r} instead of its protocol"
        return f"created no device: 0x{code:08X}" if code else ""

    @property
    def end(self) -> End:
        """Why the process is gone, once it is."""
        return "timeout" if self._overdue else "crashed"

    def exchange(self, question: bytes, size: int, timeout: float) -> bytes:
        """Send a question and return `size` bytes of its answer; raise Ended where they do not come in time."""
        self.arm(timeout)
        try:
            self.send(question)
            return self.read(size)
        except (EOFError, OSError):
            raise Ended(self.end) from None
        finally:
            self.arm(None)

    def send(self, data: bytes) -> None:
        """Write to the process; raise OSError where it is gone."""
        send(self._questions, data)

    def receive(self, size: int = 65536) -> bytes:
        """Return what has arrived, at most `size` bytes, waiting for some; nothing where the process is gone."""
        return os.read(self._answers.fileno(), size)

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes; raise EOFError where the process is gone."""
        return receive(self.receive, size)

    def arm(self, seconds: float | None) -> None:
        """Start the clock for the next sign of life, or stop it."""
        with self._wake:
            self._deadline = float("inf") if seconds is None else time.monotonic() + seconds
            self._wake.notify()

    def kill(self) -> None:
        """Kill the process, and those that it started if it has a group of its own."""
        if self._group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()

    def _watch(self) -> None:
        """Kill the process when it is overdue; reads and writes then end by themselves, on every system."""
        with self._wake:
            while not self._closed:
                left = self._deadline - time.monotonic()
                if left <= 0:
                    self._overdue = True
                    self.kill()
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
            self.kill()
            self._process.wait()
        self._answers.close()
        if self._watcher is not threading.current_thread():
            self._watcher.join()
