"""Processes that are replaced after many questions or possible damage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from specgate.errors import InputError
from specgate.workers.piped import PipedProcess
from specgate.workers.processes import Closing

__all__ = ["Renewing"]

Process = TypeVar("Process", bound=PipedProcess)


class Renewing(ABC, Closing, Generic[Process]):
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
    def _worn(self, process: Process) -> bool:
        """Return whether a process has answered enough questions."""

    def _hold_open(self) -> None:
        """Raise InputError after `close`."""
        if self._closed:
            raise InputError("the oracle is closed")

    def _ready(self) -> Process:
        """Return the process for the next question.

        Raises InputError after `close`.
        """
        self._hold_open()
        if self._process is not None and self._worn(self._process):
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
