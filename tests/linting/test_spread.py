"""Jobs across processes: order, bounded memory, crashes, Ctrl-C."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Any

import pytest

from specgate.cli import main
from specgate.errors import InputError
from specgate.linting.jobs import lint_job
from specgate.workers.pool import LostJob, PoolClosed, Processes, bounded_map
from tests.linting.deadly import act, prepare
from tests.paths import DATA, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

posix_only = pytest.mark.skipif(os.name == "nt", reason="kills processes by signals")


def spread(jobs: Iterable[str], count: int = 2) -> list[Any]:
    with Processes(act, count) as workers:
        return list(workers.answers(jobs))


def test_answers_are_ordered_with_bounded_jobs_in_flight() -> None:
    begun: list[int] = []
    numbers: list[tuple[int, int]] = []

    def submit(job: int) -> int:
        begun.append(job)
        assert len(begun) - len(numbers) <= 5
        return job * 2

    answers = bounded_map(iter(range(100)), submit, lambda job, doubled: (job, doubled), 5)
    numbers.extend(answers)  # one by one: a list does not read ahead
    assert numbers == [(job, job * 2) for job in range(100)]


def test_answers_of_processes_are_ordered() -> None:
    jobs = ["wait 0.3", *[f"say {number}" for number in range(40)], "wait 0.1", "say last"]
    assert spread(jobs) == [job.partition(" ")[2] for job in jobs]


def test_every_process_is_prepared(tmp_path: Path) -> None:
    with Processes(act, 2, partial(prepare, str(tmp_path))) as workers:
        assert list(workers.answers(["wait 0.2", "wait 0.2"])) == ["0.2", "0.2"]
    assert len(list(tmp_path.iterdir())) == 2


def test_an_exception_in_a_job_is_its_answer() -> None:
    items = spread(["say 1", "raise no such thing", "strange", "say 2"])
    assert items[1] == LostJob("ValueError: no such thing")
    assert isinstance(items[2], LostJob)
    assert [items[0], items[3]] == ["1", "2"]


@pytest.mark.slow
@posix_only
def test_a_job_that_kills_its_process_does_not_affect_other_jobs(tmp_path: Path) -> None:
    log = tmp_path / "log"
    jobs = [f"log {log} {number}" for number in range(100)]
    for place in (0, 7, 20, 21, 95):
        jobs.insert(place, "die")
    jobs.append("die")
    jobs.insert(
        60, f"die-beside {tmp_path / 'died'}"
    )  # submitted next to a job that does not crash, so that it starts there
    result = spread(jobs)
    assert len(result) == len(jobs)
    for job, answer in zip(jobs, result, strict=True):
        if job == "die":
            assert isinstance(answer, LostJob)
            assert "the second time in isolation" in answer.reason
        else:
            assert answer == ("lived" if "beside" in job else job.rpartition(" ")[2])
    questions = log.read_text(encoding="utf-8").split()
    assert set(questions) == {str(number) for number in range(100)}  # some twice, but one answer each


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize("dies_first", [True, False])
def test_a_crash_during_startup_leaves_no_processes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dies_first: bool
) -> None:
    accepted, go = tmp_path / "taken", tmp_path / "go"
    begun: list[SpawnProcess] = []
    usual = SpawnProcess.start

    def die() -> None:
        go.touch()
        begun[0].join(60)
        time.sleep(1)  # the executor has ended its processes

    def start(self: SpawnProcess) -> None:
        second = len(begun) == 1
        while second and not accepted.exists():  # by the first, as there is no other yet
            time.sleep(0.02)
        if second and dies_first:
            die()
        usual(self)
        begun.append(self)
        if second and not dies_first:
            die()

    monkeypatch.setattr(SpawnProcess, "start", start)
    done: list[Any] = []
    thread = threading.Thread(target=lambda: done.extend(spread([f"die-after {accepted} {go}", "say 1"])), daemon=True)
    thread.start()
    thread.join(100)
    assert [type(answer) for answer in done] == [LostJob, str]
    for process in begun:
        process.join(30)
        assert not process.is_alive()


def test_zero_processes_are_rejected() -> None:
    with pytest.raises(InputError, match="at least one process, found 0"):
        Processes(act, 0)


@posix_only
def test_leaving_early_stops_running_jobs(tmp_path: Path) -> None:
    before = set(multiprocessing.active_children())
    begun = tmp_path / "begun"
    started = time.monotonic()

    def leave() -> None:
        with Processes(act, 2) as workers:
            for answer in workers.answers(["say 1", f"wait 250 {begun}", "wait 250"]):
                assert answer == "1"
                while not begun.exists():
                    time.sleep(0.02)
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        leave()
    assert time.monotonic() - started < 120  # far below the duration of the jobs, however busy the machine is
    for child in set(multiprocessing.active_children()) - before:
        child.join(60)
        assert not child.is_alive()


@pytest.mark.slow
@posix_only
def test_ctrl_c_stops_the_command_with_a_single_line(tmp_path: Path) -> None:
    for number in range(400):
        (tmp_path / f"{number}.onnx").write_bytes((DATA / "models/embedding_torch.onnx").read_bytes())
    code = (
        "import os, signal, sys, threading\n"
        "from specgate.cli import lint, main\n"
        "usual = lint._progress\n"
        "def interrupted(answers, total):\n"
        "    for answer in usual(answers, total):\n"
        "        os.killpg(0, signal.SIGINT)\n"  # as a terminal does: to every process of the group
        "        yield answer\n"
        "lint._progress = interrupted\n"
        "if __name__ == '__main__':\n"
        "    sys.exit(main(['lint', sys.argv[1], '-t', 'onnx:17', '--jobs', '2']))\n"
    )
    script = tmp_path / "script.py"
    script.write_text(code, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, str(script), str(tmp_path)],
        capture_output=True, text=True, timeout=120, start_new_session=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell's background jobs ignore it
    )  # fmt: skip
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "specgate: interrupted\n")


@pytest.mark.slow
@posix_only
def test_the_command_names_the_file_that_kills_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    model = (DATA / "models/embedding_torch.onnx").read_bytes()
    for number in range(20):
        (tmp_path / f"{number:02}.onnx").write_bytes(model)
    monkeypatch.setattr("specgate.cli.lint.lint_job", lint_or_die)
    assert main(["lint", str(tmp_path), "-t", "onnx:17", "--jobs", "2", "--format", "json"]) == 2
    caught = capsys.readouterr()
    assert "07.onnx: the worker crashed on this file twice" in caught.err
    assert len(caught.err.splitlines()) == 1
    report = json.loads(caught.out)
    assert [message for message in report["unusable"] if "07.onnx: the worker" in message] == report["unusable"]
    assert len(report["files"]) == 19
    for number in set(range(20)) - {7}:
        assert f"{number:02}.onnx" in caught.out


def test_answers_are_reported_after_all_workers_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(5):
        (tmp_path / f"{number}.onnx").write_bytes((DATA / "models/embedding_torch.onnx").read_bytes())

    class Leaving(Processes[Any, Any]):
        def answers(self, jobs: Iterable[Any]) -> Iterator[Any]:
            yield from map(lint_job, list(jobs)[:2])
            raise PoolClosed("the cluster was lost")

    monkeypatch.setattr("specgate.cli.lint._workers", lambda *_: Leaving(act, 1))
    assert main(["lint", str(tmp_path), "-t", "onnx:17", "--format", "json"]) == 2
    caught = capsys.readouterr()
    assert caught.err == "specgate: the cluster was lost: 3 of 5 files were not checked\n"
    assert [number for number in range(5) if f"{number}.onnx" in caught.out] == [0, 1]


def lint_or_die(job: Any) -> Any:
    if job.file.endswith("07.onnx"):
        os.kill(os.getpid(), signal.SIGKILL)
    return lint_job(job)
