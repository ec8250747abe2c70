"""Subprocesses that answer questions in a time limit and are replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from abc import ABC, abstractmethod
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar, cast

from specgate.errors import InputError
from specgate.workers.processes import Closing, receive, send, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from io import FileIO

End = Literal["crashed", "timeout"]

#: Seconds to wait for the end of a process after its input is closed; it has nothing to save.
_EXIT_TIMEOUT: Final = 2.0


class WorkerLost(Exception):
    """The process died or exceeded its time limit and was killed."""

    def __init__(self, word: End) -> None:
        super().__init__(word)
        self.word: End = word


class PipedProcess:
    """A running process and its pipes.

    errors: the destination of its standard error. group: create a process group and kill the whole group, for a command
    that starts other processes. Raises OSError if the process cannot be started.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        errors: int = subprocess.DEVNULL,
        group: bool = False,
    ) -> None:
        self._start = partial(start, command, environment=environment, errors=errors, group=group)
        self._group = group
        self.restart()

    def restart(self) -> None:
        """Start the process again after it was closed."""
        self.process = self._start()
        self._pipes = cast("tuple[FileIO, FileIO]", (self.process.stdin, self.process.stdout))
        self._late = False

    @property
    def end(self) -> End:
        """Why the process is gone."""
        return "timeout" if self._late else "crashed"

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Kill the process if the block exceeds the time limit.

        Raises WorkerLost if the process is gone.
        """
        clock = threading.Timer(seconds, self._end_late)  # this ends blocked reads and writes on every system
        clock.daemon = True
        clock.start()
        try:
            yield
        except (EOFError, OSError):
            raise WorkerLost(self.end) from None
        finally:
            clock.cancel()
            clock.join()  # a timer that fires late must not kill the process during the next question

    def _end_late(self) -> None:
        self._late = True
        self.kill()

    def send(self, data: bytes) -> None:
        """Write to the process; raise OSError if it is gone."""
        send(self._pipes[0], data)

    def receive(self, size: int = 65536) -> bytes:
        """Return at least one and at most `size` bytes of output.

        Empty if the process is gone.
        """
        return os.read(self._pipes[1].fileno(), size)

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes; raise EOFError if the process is gone."""
        return receive(self.receive, size)

    def kill(self) -> None:
        """Kill the process, and its group if it has one."""
        if self._group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def close(self) -> None:
        """End the process; does nothing if it is gone already."""
        with suppress(OSError):
            self._pipes[0].close()
        try:
            self.process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        self._pipes[1].close()

    def disown(self) -> None:
        """Forget the process after a fork, because the parent owns it."""
        self.process.returncode = 0  # not our child, so it cannot be waited for
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()


Process = TypeVar("Process", bound=PipedProcess)


class ProcessOwner(ABC, Closing, Generic[Process]):
    """Owner of such processes, one at a time.

    A context manager that closes itself. Not thread-safe.
    """

    def __init__(self) -> None:
        self._process: Process | None = None
        self._closed = False

    @abstractmethod
    def _start(self) -> Process:
        """Return a new process; raise InputError if it does not start."""

    @abstractmethod
    def _must_replace(self, process: Process) -> bool:
        """Return whether a process has answered enough questions."""

    def _require_open(self) -> None:
        """Raise InputError after `close`."""
        if self._closed:
            raise InputError("the oracle is closed")

    def _ready(self) -> Process:
        """Return the process for the next question.

        Raises InputError after `close`.
        """
        self._require_open()
        if self._process is not None and self._must_replace(self._process):
            self._retire()
        if self._process is None:
            self._process = self._start()
        return self._process

    def _retire(self) -> None:
        """End the process; the next question starts another one."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def close(self) -> None:
        """End the process; no further questions are possible."""
        self._closed = True
        self._retire()
