"""One process of the C host for verdicts: questions down a pipe, answers up another, a time limit per question."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from specgate.dialects.directml.oracle.process import HostProcess
from specgate.workers.piped import WorkerLost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.dialects.directml.native.marshal import Image

__all__ = ["Outcome", "Worker"]

_QUESTION: Final = struct.Struct("<IIII")
_ANSWER: Final = struct.Struct("<II")
_TIMED: Final = 0x80000000


@dataclass(slots=True)
class Outcome:
    """HRESULTs of the first questions of a batch; `end` says why there are fewer than questions, if there are."""

    codes: list[int] = field(default_factory=list)
    end: Literal["", "crashed", "timeout"] = ""


class Worker(HostProcess):
    """A running host that creates operators and nothing more. asked: questions so far."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, start_timeout: float = 60.0) -> None:
        self.asked = 0
        self._rest = b""  # of an answer that has arrived in part
        super().__init__(command, environment, b"SGDM", start_timeout=start_timeout)

    def ask(self, images: Sequence[Image], timeout: float) -> Outcome:
        """Return the HRESULTs of creating these operators, in order, as far as the process lives.

        timeout: seconds for each. A process that is late is killed.
        """
        outcome = Outcome()
        first = self.asked
        self.asked += len(images)  # before anything is sent: after an interrupt no number is used twice
        try:
            with self.within(timeout):
                self.send(b"".join(_question(first + i, image) for i, image in enumerate(images)))
            while len(outcome.codes) < len(images):
                with self.within(timeout):
                    self._collect(outcome, first, len(images))
        except WorkerLost as lost:
            outcome.end = lost.word
        return outcome

    def seconds(self, image: Image, timeout: float) -> float:
        """Return how long creating and releasing this operator takes; raise WorkerLost without an answer."""
        self.asked += 1
        data = self.exchange(_question(_TIMED | self.asked, image), _ANSWER.size, timeout)
        return float(_ANSWER.unpack(data)[1]) * 1e-9

    def _collect(self, outcome: Outcome, first: int, wanted: int) -> None:
        """Take the answers that are there, waiting for one; EOFError where the process is gone or talks nonsense."""
        data = self.receive()
        if not data:
            raise EOFError
        self._rest += data
        whole = len(self._rest) // _ANSWER.size * _ANSWER.size
        data, self._rest = self._rest[:whole], self._rest[whole:]
        for number, code in _ANSWER.iter_unpack(data):
            if number != first + len(outcome.codes) or len(outcome.codes) == wanted:
                self.kill()  # a dying process wrote text into the pipe
                raise EOFError
            outcome.codes.append(code)


def _question(number: int, image: Image) -> bytes:
    pointers = image.pointers
    head = _QUESTION.pack(number, len(image.data), len(pointers), image.root)
    return head + struct.pack(f"<{len(pointers)}I", *pointers) + image.data
