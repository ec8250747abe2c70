"""Subprocesses end with their parent, even if it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specgate.workers import processes
from tests.paths import ROOT

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system signals the pipe on Linux")
PATIENCE = 60  # seconds on a busy machine


def alive(pid: int) -> bool:
    """Return whether a process runs; zombies do not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


def are_gone(pids: list[int]) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not any(map(alive, pids)):
            return True
        time.sleep(0.02)
    return False


def kill(*command: str) -> list[int]:
    """Start Python code that prints process ids and waits; kill it, return the ids."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            numbers = [int(word) for word in process.stdout.readline().split()]
            assert len(numbers) > 1
            assert all(map(alive, numbers))
        finally:
            process.kill()
    return numbers


#: Busy without reading, in a process and in its child.
BUSY = "import subprocess, sys; p = subprocess.Popen(['sleep', '300']); print(p.pid, flush=True)\nwhile True: pass"


@linux_only
@pytest.mark.parametrize("group", [False, True])
def test_a_killed_process_ends_its_busy_children(group: bool) -> None:
    code = (
        "import sys, threading, time\n"
        "from specgate.workers.processes import start\n"
        "def begin():\n"  # in a thread that ends: its child must survive
        f"    global p; p = start([sys.executable, '-c', {BUSY!r}], group={group})\n"
        "t = threading.Thread(target=begin); t.start(); t.join()\n"
        "line = b''\n"
        "while not line.endswith(b'\\n'): line += p.stdout.read(1)\n"
        "time.sleep(0.2); assert p.poll() is None\n"
        "print(p.pid, int(line), flush=True)\n"
        "time.sleep(300)\n"
    )
    child, inner = kill("-c", code)
    try:
        assert are_gone([child, inner] if group else [child])
    finally:
        if alive(inner):
            os.kill(inner, signal.SIGKILL)


@linux_only
def test_a_fork_does_not_keep_children_alive() -> None:
    code = (
        "import os, time\n"
        "from specgate.workers.processes import start\n"
        "p = start(['sleep', '300'])\n"
        "fork = os.fork()\n"
        "if fork: print(p.pid, fork, flush=True)\n"
        "time.sleep(300)\n"
    )
    child, fork = kill("-c", code)
    try:
        assert are_gone([child])
        assert alive(fork)
    finally:
        os.kill(fork, signal.SIGKILL)


def test_an_unreferenced_process_leaves_no_descriptor() -> None:
    before = len(processes._lifelines)
    process = processes.start([sys.executable, "-c", "pass"])
    process.communicate(timeout=PATIENCE)
    del process
    assert len(processes._lifelines) == before


def test_a_failed_start_leaves_no_descriptor() -> None:
    before = len(processes._lifelines)
    with pytest.raises(OSError, match="No such file"):
        processes.start(["/no/such/program"])
    assert len(processes._lifelines) == before


@linux_only
@pytest.mark.parametrize("tied", [True, False])
def test_workers_of_multiprocessing_end_with_their_parent(tmp_path: Path, tied: bool) -> None:
    """tied: by the system, as on Linux; elsewhere by a thread of the worker."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context, resource_tracker\n"
        "from specgate.workers import processes\n"
        "def pid(_): time.sleep(0.3); return os.getpid()\n"
        "def begin():\n"
        f"    processes._CAN_TIE = {tied}\n"
        "    processes.initialize_worker()\n"
        "if __name__ == '__main__':\n"
        "    pool = ProcessPoolExecutor(2, get_context('spawn'), begin)\n"
        "    found = set(pool.map(pid, range(4)))\n"
        "    print(*found, resource_tracker._resource_tracker._pid, flush=True)\n"
        "    time.sleep(300)\n",
        encoding="utf-8",
    )
    assert are_gone(kill(str(script)))


@linux_only
def test_without_lifelines_a_process_ends_with_its_input() -> None:
    code = (
        "import sys, time\n"
        "from specgate.workers import processes\n"
        "processes._CAN_TIE = False\n"
        "children = [processes.start([sys.executable, '-c', 'import sys; sys.stdin.read()']) for _ in range(2)]\n"
        "print(*[child.pid for child in children], flush=True)\n"
        "time.sleep(300)\n"
    )
    assert are_gone(kill("-c", code))


def test_without_lifelines_no_descriptor_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_CAN_TIE", False)
    before = set(processes._lifelines)
    process = processes.start([sys.executable, "-c", "import sys; sys.stdout.write(sys.stdin.read().upper())"])
    assert process.communicate(b"asked", timeout=PATIENCE)[0] == b"ASKED"
    assert set(processes._lifelines) == before


def test_a_worker_without_a_parent_only_ignores_sigint(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        processes.initialize_worker()  # this process has no parent of that kind
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
