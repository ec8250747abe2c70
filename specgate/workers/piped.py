"""A process that is asked through its input and answers on its output, with a time limit for each answer."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, cast

from specgate.workers.processes import receive, send, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from io import FileIO

__all__ = ["End", "PipedProcess", "WorkerLost"]

End = Literal["crashed", "timeout"]

#: Seconds for a process to go away once its input has ended; it has nothing to save.
_FAREWELL: Final = 2.0


class WorkerLost(Exception):
    """The process died or was late and killed; it cannot be asked any more."""

    def __init__(self, word: End) -> None:
        super().__init__(word)
        self.word: End = word


class PipedProcess:
    """A running process and the pipes to it. Raises OSError where it cannot be started.

    errors: what its standard error is. group: give it a process group of its own and kill that, for a command that
    starts others.
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
        """Start the process, in the place of one that was closed."""
        self.process = self._start()
        self._pipes = cast("tuple[FileIO, FileIO]", (self.process.stdin, self.process.stdout))
        self._late = False

    @property
    def end(self) -> End:
        """Why the process is gone, once it is."""
        return "timeout" if self._late else "crashed"

    @contextmanager
    def within(self, seconds: float) -> Iterator[None]:
        """Kill the process if what is done here takes longer; raise WorkerLost where it is gone."""
        clock = threading.Timer(seconds, self._end_late)  # reads and writes then end by themselves, on every system
        clock.daemon = True
        clock.start()
        try:
            yield
        except (EOFError, OSError):
            raise WorkerLost(self.end) from None
        finally:
            clock.cancel()
            clock.join()  # a clock that fires now must not kill the process under the next question

    def _end_late(self) -> None:
        self._late = True
        self.kill()

    def send(self, data: bytes) -> None:
        """Write to the process; raise OSError where it is gone."""
        send(self._pipes[0], data)

    def receive(self, size: int = 65536) -> bytes:
        """Return what has arrived, at most `size` bytes, waiting for some; nothing where the process is gone."""
        return os.read(self._pipes[1].fileno(), size)

    def read(self, size: int) -> bytes:
        """Return exactly `size` bytes; raise EOFError where the process is gone."""
        return receive(self.receive, size)

    def kill(self) -> None:
        """Kill the process, and those that it started if it has a group of its own."""
        if self._group:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()

    def close(self) -> None:
        """End the process; harmless when it is gone already."""
        with suppress(OSError):
            self._pipes[0].close()
        try:
            self.process.wait(_FAREWELL)
        except subprocess.TimeoutExpired:
            self.kill()
            self.process.wait()
        self._pipes[1].close()

    def disown(self) -> None:
        """Let go of the process, which another one started: this one is its fork."""
        self.process.returncode = 0  # not ours to wait for
        for pipe in self._pipes:
            with suppress(OSError):
                pipe.close()
