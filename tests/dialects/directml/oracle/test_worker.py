"""One host process: order of answers, crashes, timeouts, invalid output.

The host is a Python script.
"""

from __future__ import annotations

import struct
import sys
import time
from pathlib import Path

import pytest

from specgate.dialects.directml.native.marshal import Image
from specgate.dialects.directml.oracle.worker import Worker
from specgate.errors import InputError

SLOW = 0.3  # seconds


def question(word: int) -> Image:
    return Image(struct.pack("<IIQ", word, 0, 0), (8,), 0)


@pytest.fixture
def worker(fake_host):
    """Start workers and close them at the end."""
    started = []

    def start(replies):
        started.append(Worker(fake_host(replies), {}))
        return started[-1]

    yield start
    for each in started:
        each.close()


def test_replies_keep_the_order_of_queries(worker):
    host = worker({n: n for n in range(100)})
    assert host.level == 0x6200
    for _ in range(2):
        outcome = host.ask([question(n) for n in range(100)], 10)
        assert (outcome.codes, outcome.end) == (list(range(100)), "")
    assert host.question_count == 200


def test_replies_before_a_crash_are_kept(worker):
    outcome = worker({1: 5, 2: "die"}).ask([question(n) for n in (1, 1, 2, 1)], 10)
    assert (outcome.codes, outcome.end) == ([5, 5], "crashed")


def test_dead_process_gives_no_further_replies(worker):
    host = worker({2: "die"})
    host.ask([question(2)], 10)
    assert host.ask([question(1)], 10).end == "crashed"


def test_timeout_ends_the_process(worker):
    host = worker({1: 5, 2: "hang"})
    begin = time.monotonic()
    outcome = host.ask([question(1), question(2), question(1)], SLOW)
    assert (outcome.codes, outcome.end) == ([5], "timeout")
    assert SLOW <= time.monotonic() - begin < 30


def test_timeout_applies_per_query(fake_host):
    command = fake_host({})
    path = Path(command[-1])
    path.write_text(path.read_text().replace("asked += 1", "asked += 1; time.sleep(0.1)"))
    host = Worker(command, {})
    assert host.ask([question(0)] * 8, 0.5).end == ""
    host.close()


def test_large_batch_to_a_hanging_process_times_out(worker):
    large = Image(struct.pack("<I", 2) + bytes(2**20), (), 0)
    assert worker({2: "hang"}).ask([large, large], SLOW).end == "timeout"


def test_unexpected_output_counts_as_a_crash(worker):
    outcome = worker({1: 5, 2: "babble"}).ask([question(1), question(2)], 10)
    assert (outcome.codes, outcome.end) == ([5], "crashed")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit('no such library')", "exited during startup: 'no such library'"),
        ("print('hello, this is no protocol')", "greeted with b'hello, this is n'"),
        ("import sys; sys.stdout.buffer.write(b'SGDM' + bytes([1,0,0,0, 87,0,7,128, 0,0,0,0]))", "0x80070057"),
        ("import time; time.sleep(60)", "did not start in time"),
    ],
)
def test_host_that_fails_to_start_is_reported(code, message):
    with pytest.raises(InputError, match=message):
        Worker([sys.executable, "-c", code], {}, start_timeout=SLOW if "sleep" in code else 30)


def test_missing_host_is_reported():
    with pytest.raises(InputError, match="cannot be started"):
        Worker(["/nowhere/host"], {})


def test_closing_twice_and_after_a_crash(worker):
    host = worker({2: "die"})
    host.ask([question(2)], 10)
    host.close()
    host.close()


def test_startup_is_retried_once(fake_host, tmp_path):
    program = fake_host({})[-1]
    once = tmp_path / "once.py"
    once.write_text(
        f"import pathlib, runpy, sys\nmark = pathlib.Path({str(tmp_path / 'mark')!r})\n"
        f"if not mark.exists():\n    mark.touch()\n    sys.exit(3)\nrunpy.run_path({program!r})\n",
        encoding="utf-8",
    )
    worker = Worker([sys.executable, str(once)], {})
    try:
        assert worker.level == 0x6200
        assert worker.ask([Image(b"\0" * 8, (), 0)], 10).codes == [0]
    finally:
        worker.close()
