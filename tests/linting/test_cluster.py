"""Lint over a local Dask cluster of two workers, one of which is killed.

Needs the extra `dask`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from specgate.cli import main
from specgate.errors import InputError
from specgate.linting import jobs as linting_jobs
from specgate.workers.pool import LostJob
from tests.linting.deadly import act
from tests.paths import DATA, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

distributed = pytest.importorskip("distributed", reason="the extra dask (distributed) is not installed")
dask = pytest.importorskip("dask", reason="the extra dask is not installed")
pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.skipif(os.name == "nt", reason="kills by signals")]
MODEL = (DATA / "models/embedding_torch.onnx").read_bytes()


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    with local_cluster(2, tmp_path) as started:
        yield started.scheduler_address


@contextmanager
def local_cluster(workers: int, folder: Path) -> Iterator[Any]:
    settings = {"distributed.scheduler.allowed-failures": 2, "distributed.worker.memory.terminate": False}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(folder / "dask"),
            silence_logs=50,
        ) as started,
    ):
        yield started


def registry(folder: Path, count: int) -> list[str]:
    """Models in a folder; the fourth file is not a model."""
    (folder / "models").mkdir()
    names = [f"models/{number:04}.onnx" for number in range(count)]
    for name in names:
        (folder / name).write_bytes(MODEL)
    (folder / names[3]).write_bytes(b"\xff\xff\xff")
    return names


def kill_one(folder: Path, killed: list[int]) -> None:
    """Kill the process of the worker that has started the middle file."""
    while not (folder / "begun").exists():
        time.sleep(0.01)
    killed.append(int((folder / "begun").read_text(encoding="utf-8")))
    (folder / "killed").touch()  # first, or the file might start again before the marker exists
    os.kill(killed[0], signal.SIGKILL)


def waiting_job(function: Any, specs: tuple[str, ...], job: Any) -> Any:
    """On a worker: the middle file waits until its first worker is killed."""
    folder = Path(job.path).parent.parent
    if job.file.endswith("0060.onnx") and not (folder / "killed").exists():
        (folder / "pid").write_text(str(os.getpid()), encoding="utf-8")
        (folder / "pid").rename(folder / "begun")
        time.sleep(250)
    return linting_jobs.run_job(function, specs, job)


def test_a_worker_killed_midway_loses_nothing_and_reports_nothing_twice(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = registry(tmp_path, 120)
    argv = ["lint", "models", "-t", "onnx:15", "--format", "json"]
    assert main(argv) == 2
    alone = capsys.readouterr()
    killed: list[int] = []
    monkeypatch.setattr(linting_jobs, "run_job", waiting_job)
    killer = Thread(target=kill_one, args=(tmp_path, killed), daemon=True)
    killer.start()
    code = main([*argv, "--dask", address])
    existing = capsys.readouterr()
    assert (code, len(killed)) == (2, 1)
    assert existing.err == alone.err == f"specgate: {names[3]}: byte 0: {alone.err.partition('byte 0: ')[2]}"
    assert existing.out == alone.out  # the same files in the same order, each finding once
    assert len(json.loads(existing.out)["findings"]) == 119


def test_a_job_that_kills_its_workers_does_not_affect_other_jobs(address: str) -> None:
    jobs = [f"say {number}" for number in range(40)]
    jobs.insert(11, "die")
    jobs.insert(5, "raise no such thing")
    with linting_jobs.Cluster(act, address) as workers:
        items = list(workers.answers(jobs))
    assert items[5] == LostJob("ValueError: no such thing")
    assert items[12] == LostJob("3 workers died on this file")
    assert [answer for answer in items if not isinstance(answer, LostJob)] == [str(number) for number in range(40)]


def test_the_cluster_runs_a_bounded_number_of_jobs(address: str) -> None:
    with linting_jobs.Cluster(act, address) as workers:
        submitted, count = 0, 0

        def jobs() -> Iterator[str]:
            nonlocal submitted
            for number in range(200):
                submitted += 1
                assert submitted - count <= 33
                yield f"say {number}"

        for answer in workers.answers(jobs()):
            assert answer == str(count)
            count += 1
    assert count == 200


def test_a_worker_with_another_specgate_version_is_rejected(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("specgate.__version__", "9.9")
    with pytest.raises(InputError, match=r"the Dask worker tcp://.* has specgate .*, here it is 9\.9"):
        linting_jobs.Cluster(act, address).__enter__()


def test_a_missing_scheduler_is_a_single_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(linting_jobs, "_SECONDS", 0.5)
    monkeypatch.chdir(tmp_path)
    registry(tmp_path, 5)
    for wrong in ("tcp://127.0.0.1:1", "nonsense://x", "no address at all"):
        assert main(["lint", "models", "-t", "onnx:17", "--dask", wrong]) == 2
        caught = capsys.readouterr()
        assert caught.err.startswith(f"specgate: no Dask scheduler answers at '{wrong}'"), caught.err
        assert caught.out == ""
    with local_cluster(0, tmp_path) as empty:
        assert main(["lint", "models", "-t", "onnx:17", "--dask", empty.scheduler_address]) == 2
    assert "has no worker" in capsys.readouterr().err


@pytest.mark.parametrize(
    "address", ["foo", "", "foo:abc", "127.0.0.1:99999", "127.0.0.1:0", "127.0.0.1:1", "nonsense://x:1", "inproc://1"]
)
def test_a_wrong_address_is_a_single_message_and_exits(address: str, tmp_path: Path) -> None:
    """In a subprocess: a partly built client complains at interpreter exit."""
    code = (
        "import sys\nfrom specgate.linting import cluster\ncluster._SECONDS = 0.5\n"
        "from specgate.cli import main\nsys.exit(main(sys.argv[1:]))\n"
    )
    command = ["lint", str(DATA / "models/embedding_torch.onnx"), "-t", "onnx:17", "--dask", address]
    run = subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"specgate: no Dask scheduler answers at {address!r} (expected HOST:PORT): ")
    assert len(run.stderr.splitlines()) == 1, run.stderr


def test_jobs_and_dask_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["lint", "x.onnx", "--jobs", "2", "--dask", "tcp://127.0.0.1:1"])
    assert "not allowed with argument" in capsys.readouterr().err
