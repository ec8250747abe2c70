"""A process of a C host: it says hello with the level of its device, and may be lost at its start."""

from __future__ import annotations

import struct
import tempfile
from typing import TYPE_CHECKING, Final

from specgate.errors import InputError
from specgate.workers.piped import PipedProcess, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["HostProcess"]

PROTOCOL: Final = 1
_HELLO: Final = struct.Struct("<4sIII")
_LOST: Final = "ended before it came up"


class HostProcess(PipedProcess):
    """A running host with its device created.

    magic: the first four bytes of its hello. level: the feature level that the device confirms, as DML_FEATURE_LEVEL's
    number. Raises InputError when the process does not come up with a device within `start_timeout` seconds.
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
        with tempfile.TemporaryFile() as errors:
            try:
                super().__init__(command, environment=environment, errors=errors.fileno(), group=group)
                problem = self._greet(magic, start_timeout)
                if problem == _LOST:  # Wine now and then loses a process that starts while its server is about to end
                    self.close()
                    self.restart()
                    problem = self._greet(magic, start_timeout)
            except OSError as error:
                raise InputError(f"cannot be started: {error.strerror}", file=command[0]) from None
            if problem:
                self.close()
                errors.seek(0)
                said = errors.read(4000).decode("utf-8", "replace").strip().splitlines()
                detail = f": {said[-1][:200]!r}" if said else ""
                raise InputError(f"the oracle's process {problem}{detail}", file=command[-1][:200])

    def _greet(self, magic: bytes, patience: float) -> str:
        """Read the hello; return what is wrong with it, if anything."""
        try:
            data = self.exchange(b"", _HELLO.size, patience)
        except WorkerLost as lost:
            return "did not come up in time" if lost.word == "timeout" else _LOST
        found, protocol, code, self.level = _HELLO.unpack(data)
        if found != magic or protocol != PROTOCOL:
            return f"greeted with {data!r} instead of its protocol"
        return f"created no device: 0x{code:08X}" if code else ""

    def exchange(self, question: bytes, size: int, timeout: float) -> bytes:
        """Send a question and return `size` bytes of its answer; raise WorkerLost where they do not come in time."""
        with self.within(timeout):
            self.send(question)
            return self.read(size)
