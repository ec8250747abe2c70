"""A process that another takes the place of: after many questions, and whenever it may have been harmed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Generic, Self, TypeVar

from specgate.errors import InputError
from specgate.workers.piped import PipedProcess

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Renewing"]

Process = TypeVar("Process", bound=PipedProcess)


class Renewing(ABC, Generic[Process]):
    """What asks such processes, one at a time; a context that closes itself. Not for several threads at once."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._closed = False

    @abstractmethod
    def _start(self) -> Process:
        """Return a new process; raise InputError where none comes up."""

    @abstractmethod
    def _worn(self, process: Process) -> bool:
        """Whether a process has been asked enough."""

    def _hold_open(self) -> None:
        """Raise InputError where it was closed."""
        if self._closed:
            raise InputError("the oracle is closed")

    def _ready(self) -> Process:
        """Return the process to ask next; raise InputError where it was closed."""
        self._hold_open()
        if self._process is not None and self._worn(self._process):
            self._retire()
        if self._process is None:
            self._process = self._start()
        return self._process

    def _retire(self) -> None:
        """End the process; the next question starts another."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def close(self) -> None:
        """End the process; the oracle cannot be asked any more."""
        self._closed = True
        self._retire()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
