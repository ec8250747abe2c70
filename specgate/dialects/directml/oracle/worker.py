"""The subprocess of a C host, with a handshake and restarts."""

from __future__ import annotations

import struct
import tempfile
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from specgate.errors import InputError
from specgate.workers.piped import PipedProcess, WorkerLost

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.dialects.directml.native.marshal import Image

PROTOCOL: Final = 1
_HELLO: Final = struct.Struct("<4sIII")
_STARTUP_EXIT: Final = "exited during startup"


class HostProcess(PipedProcess):
    """A running host with its device created.

    magic: the first four bytes of its hello. level: the feature level that the device reports, as a DML_FEATURE_LEVEL
    number. Raises InputError if no device is created within `start_timeout` seconds.
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
                problem = self._read_hello(magic, start_timeout)
                if problem == _STARTUP_EXIT:  # Wine may lose a process that starts while its server is exiting
                    self.close()
                    self.restart()
                    problem = self._read_hello(magic, start_timeout)
            except OSError as error:
                raise InputError(f"cannot be started: {error.strerror}", file=command[0]) from None
            if problem:
                self.close()
                errors.seek(0)
                texts = errors.read(4000).decode("utf-8", "replace").strip().splitlines()
                detail = f": {texts[-1][:200]!r}" if texts else ""
                raise InputError(f"the oracle's process {problem}{detail}", file=command[-1][:200])

    def _read_hello(self, magic: bytes, patience: float) -> str:
        """Read the hello; return a message if it is wrong."""
        try:
            data = self.exchange(b"", _HELLO.size, patience)
        except WorkerLost as lost:
            return "did not start in time" if lost.word == "timeout" else _STARTUP_EXIT
        result, protocol, code, self.level = _HELLO.unpack(data)
        if result != magic or protocol != PROTOCOL:
            return f"greeted with {data!r} instead of its protocol"
        return f"created no device: 0x{code:08X}" if code else ""

    def exchange(self, question: bytes, size: int, timeout: float) -> bytes:
        """Send a question and return `size` bytes of the answer.

        Raises WorkerLost if the process dies or the timeout expires.
        """
        with self.within(timeout):
            self.send(question)
            return self.read(size)


_QUESTION: Final = struct.Struct("<IIII")
_ANSWER: Final = struct.Struct("<II")
_TIME_FLAG: Final = 0x80000000


@dataclass(slots=True)
class Outcome:
    """The HRESULTs of a batch in order, up to a failure.

    end: the reason if there are fewer HRESULTs than questions.
    """

    codes: list[int] = field(default_factory=list)
    end: Literal["", "crashed", "timeout"] = ""


class Worker(HostProcess):
    """A running host that only creates operators.

    question_count: the number of questions so far.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], *, start_timeout: float = 60.0) -> None:
        self.question_count = 0
        self._rest = b""  # a partially received answer
        super().__init__(command, environment, b"SGDM", start_timeout=start_timeout)

    def ask(self, images: Sequence[Image], timeout: float) -> Outcome:
        """Return the HRESULTs of creating these operators, up to a failure.

        timeout: seconds per operator. After a timeout the process is killed.
        """
        outcome = Outcome()
        first = self.question_count
        self.question_count += len(images)  # before sending, so that no number is used twice after an interrupt
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
        """Return the seconds to create and release this operator.

        Raises WorkerLost without an answer.
        """
        self.question_count += 1
        data = self.exchange(_question(_TIME_FLAG | self.question_count, image), _ANSWER.size, timeout)
        return float(_ANSWER.unpack(data)[1]) * 1e-9

    def _collect(self, outcome: Outcome, first: int, expected_number: int) -> None:
        """Read the available answers, at least one.

        Raises EOFError if the process is gone or its output is invalid.
        """
        data = self.receive()
        if not data:
            raise EOFError
        self._rest += data
        whole_bytes = len(self._rest) // _ANSWER.size * _ANSWER.size
        data, self._rest = self._rest[:whole_bytes], self._rest[whole_bytes:]
        for number, code in _ANSWER.iter_unpack(data):
            if number != first + len(outcome.codes) or len(outcome.codes) == expected_number:
                self.kill()  # a dying process wrote text to the pipe
                raise EOFError
            outcome.codes.append(code)


def _question(number: int, image: Image) -> bytes:
    pointers = image.pointers
    head = _QUESTION.pack(number, len(image.data), len(pointers), image.root)
    return head + struct.pack(f"<{len(pointers)}I", *pointers) + image.data
