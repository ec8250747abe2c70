"""The clock of all processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.benchmarks import timing


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_ended_threads_and_processes_count_as_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    assert timing._used_seconds("0") == 0  # there is no such process
    monkeypatch.setattr(Path, "glob", lambda *_: iter([Path("/proc/self/task/0/children")]))
    assert timing.processes_time() > 0
