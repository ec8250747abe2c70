"""Replacement of a worker process."""

from __future__ import annotations

import sys

import pytest

from specgate.errors import InputError
from specgate.workers.piped import PipedProcess, ProcessOwner

ECHO = [sys.executable, "-c", "import os\nwhile data := os.read(0, 1): os.write(1, data)"]


class Echo(ProcessOwner[PipedProcess]):
    def __init__(self) -> None:
        super().__init__()
        self.started = self.asked = 0

    def _start(self) -> PipedProcess:
        self.started, self.asked = self.started + 1, 0
        return PipedProcess(ECHO)

    def _must_replace(self, process: PipedProcess) -> bool:
        return self.asked >= 2

    def ask(self, data: bytes) -> bytes:
        process = self._ready()
        self.asked += 1
        with process.within(30):
            process.send(data)
            return process.read(1)


def test_a_used_up_process_is_replaced_and_a_closed_oracle_is_not() -> None:
    with Echo() as echo:
        assert [echo.ask(b"a") for _ in range(5)] == [b"a"] * 5
        assert echo.started == 3
        echo._retire()
        echo._retire()
        assert (echo.ask(b"b"), echo.started) == (b"b", 4)
        process = echo._process
        assert process is not None
    assert process.process.poll() is not None
    with pytest.raises(InputError, match="the oracle is closed"):
        echo.ask(b"c")
