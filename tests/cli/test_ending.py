"""Commands that end early, by signals or a full output, leave no process or file."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from specgate.cli import main
from tests.paths import DATA, ROOT
from tests.signals import default_signals
from tests.test_processes import PATIENCE, alive, are_gone

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
posix_only = pytest.mark.skipif(os.name == "nt", reason="this system has no such signals and files")
MODEL = DATA / "models/embedding_torch.onnx"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """Create a device node that is always full."""
    path = tmp_path / "full"
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        with path.open("rb") as file:
            file.read(1)
    except (AttributeError, OSError) as error:
        pytest.skip(f"A FULL DISK IS NOT TESTED: a node cannot be made or opened in {tmp_path} ({error})")
    return path


def group_of(leader: int) -> list[int]:
    """Return the running processes of a group."""
    numbers = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:  # gone meanwhile
                continue
            if int(fields[2]) == leader and alive(int(entry.name)):
                numbers.append(int(entry.name))
    return numbers


def many(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.onnx").write_bytes(MODEL.read_bytes())
    return folder


def stop_command(command: list[str], number: int, *, processes: int, folder: Path) -> tuple[int, str, str]:
    """Signal a command once it has a number of processes; return its exit status.

    All its processes must have ended.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "specgate", *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, cwd=folder, env=ENVIRONMENT,
        preexec_fn=default_signals,  # noqa: PLW1509
    ) as process:  # fmt: skip
        try:
            until = time.monotonic() + PATIENCE
            while len(group_of(process.pid)) < processes and process.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            numbers = group_of(process.pid)
            assert len(numbers) >= processes
            process.send_signal(number)
            out, err = process.communicate(timeout=PATIENCE)
            assert are_gone(numbers)
            assert group_of(process.pid) == []
        finally:
            if group_of(process.pid):
                os.killpg(process.pid, signal.SIGKILL)
    return process.returncode, out, err


def exit_code(number: int) -> int:
    """Return the exit code after a signal; SIGINT and SIGKILL end by the signal."""
    return 128 + number if number == signal.SIGTERM else -number


@pytest.mark.slow
@linux_only
@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("SIGTERM", 143, "specgate: terminated\n"),
        ("SIGINT", -2, "specgate: interrupted\n"),  # by the signal itself: test_interrupts.py
        ("SIGHUP", 129, "specgate: the terminal is gone\n"),
        ("SIGKILL", -9, None),
    ],
)
def test_signal_ends_lint_and_its_subprocesses(tmp_path: Path, name: str, code: int, message: str | None) -> None:
    """Two workers, an inference process each, and multiprocessing's tracker.

    The report is not started.
    """
    many(tmp_path / "models", 400)
    (tmp_path / "old.json").write_text("old", encoding="utf-8")
    command = ["lint", "models", "-t", "onnx:17", "--jobs", "2", "-o", "old.json", "--format", "json"]
    result, out, err = stop_command(command, getattr(signal, name), processes=6, folder=tmp_path)
    assert (result, out) == (code, "")
    assert message is None or err == message
    assert (tmp_path / "old.json").read_text(encoding="utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["models", "old.json"]


@pytest.mark.slow
@linux_only
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_a_signal_ends_lint_in_one_process(tmp_path: Path, name: str) -> None:
    many(tmp_path / "models", 400)
    number = getattr(signal, name)
    result, out, _ = stop_command(["lint", "models", "-t", "onnx:17"], number, processes=2, folder=tmp_path)
    assert (result, out) == (exit_code(number), "")


@pytest.mark.slow
@linux_only
@pytest.mark.oracle
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGKILL"])
def test_signal_ends_a_campaign_and_its_subprocesses(tmp_path: Path, name: str) -> None:
    """Two workers, the process of each oracle, and multiprocessing's tracker."""
    pytest.importorskip("hypothesis", reason="NO CAMPAIGN IS ENDED: pip install hypothesis")
    pytest.importorskip("onnxruntime", reason="NO CAMPAIGN IS ENDED: pip install onnxruntime")
    command = ["conform", "onnx", "--operator", "OneHot", "--cases", "100000", "--jobs", "2", "-o", "report.txt"]
    number = getattr(signal, name)
    result, out, err = stop_command(command, number, processes=6, folder=tmp_path)
    assert (result, out) == (exit_code(number), "")
    assert name == "SIGKILL" or err.startswith("specgate: ")
    assert name == "SIGKILL" or len(err.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@posix_only
def test_signal_during_writing_keeps_the_old_file(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import os, signal, sys\n"
        "from specgate.cli import main\n"
        "usual = os.replace\n"
        "def replaced(*names):\n"
        "    assert len(os.listdir('out')) == 2\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    usual(*names)\n"
        "os.replace = replaced\n"
        "sys.exit(main(['targets', 'onnx:17'] if len(sys.argv) < 2 else sys.argv[1:]))\n",
        encoding="utf-8",
    )
    (tmp_path / "out").mkdir()
    (tmp_path / "out/r.html").write_text("old", encoding="utf-8")
    command = ["support", "--target", "onnx:17", "--format", "html", "-o", "out/r.html"]
    run = subprocess.run(
        [sys.executable, str(script), *command],
        cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (run.returncode, run.stdout, run.stderr) == (143, "", "specgate: terminated\n")
    assert (tmp_path / "out/r.html").read_text(encoding="utf-8") == "old"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["r.html"]


@posix_only
def test_signal_handlers_are_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    assert main(["targets", "onnx:17"]) == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize(
    "command",
    [["targets", "onnx:17"], ["--help"], ["support", "--target", "onnx:17"], ["lint", str(MODEL), "-t", "onnx:17"]],
)
def test_full_disk_at_standard_output_is_reported(full: Path, command: list[str]) -> None:
    with full.open("wb", buffering=0) as output:
        run = subprocess.run(
            [sys.executable, "-m", "specgate", *command],
            stdout=output, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=PATIENCE,
        )  # fmt: skip
    assert run.stderr == "specgate: cannot write to standard output: No space left on device\n"
    assert run.returncode == 2
    assert stat.S_ISCHR(full.lstat().st_mode)


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize("more", [[], ["-o", "-"]])
def test_closed_reader_causes_no_message(more: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [sys.executable, "-m", "specgate", "support", "--target", "onnx:17", *more],
        stdout=writing, stderr=subprocess.PIPE, text=True, cwd=ROOT, timeout=PATIENCE,
    )  # fmt: skip
    os.close(writing)
    assert (run.returncode, run.stderr) == (2, "")


@pytest.mark.slow
@posix_only
def test_closed_standard_output_is_reported_only_if_used(tmp_path: Path) -> None:
    command = f"{sys.executable} -m specgate support --target onnx:17"
    run = subprocess.run(f"{command} >&-", shell=True, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (2, "specgate: cannot write to standard output: it is closed\n")
    command += f" -o {tmp_path / 'out.txt'}"
    run = subprocess.run(f"{command} >&- 2>&-", shell=True, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (0, "")
    assert (tmp_path / "out.txt").stat().st_size > 1000
    run = subprocess.run(
        f"{sys.executable} -m specgate check nothing.json -t onnx:17 2>&-",
        shell=True, capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT, timeout=PATIENCE,
    )  # fmt: skip
    assert run.returncode == 2


@posix_only
def test_reports_preserve_pipes_and_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "target.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to("target.json")
    os.mkfifo(tmp_path / "pipe")
    command = ["lint", str(MODEL), "-t", "onnx:17", "--no-infer", "--format", "json", "-o", "link.json"]
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, cwd=tmp_path) as reader:
        assert main([*command, "--report", "sarif=pipe"]) == 0
        assert reader.communicate(timeout=PATIENCE)[0].startswith(b"{")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "target.json").read_text(encoding="utf-8").startswith("{")
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


@pytest.mark.parametrize(
    "more",
    [
        ["-o", "r", "--report", "sarif=r"],
        ["--report", "json=r", "--report", "sarif=./r"],
        ["--baseline", "r", "--update-baseline", "-o", "r"],
    ],
)
def test_two_reports_to_the_same_file_are_rejected_first(tmp_path, monkeypatch, capsys, more) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["lint", str(MODEL), "-t", "onnx:17", *more]) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert "r: expected a different file for each output, found one twice" in caught.err
    assert list(tmp_path.iterdir()) == []


def test_two_arrays_to_the_same_file_are_rejected(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    file = str(DATA / "dxdispatch/one_hot.json")
    assert main(["run", file, "-o", "scores=a.npy", "-o", "rows=a.npy"]) == 2
    assert "expected a different file for each output" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@posix_only
def test_array_output_supports_pipes(tmp_path, monkeypatch) -> None:
    np = pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, cwd=tmp_path) as reader:
        assert main(["run", str(DATA / "dxdispatch/one_hot.json"), "-o", "scores=pipe"]) == 0
        data = reader.communicate(timeout=PATIENCE)[0]
    (tmp_path / "a.npy").write_bytes(data)
    assert np.load("a.npy").ravel()[:5].tolist() == [0, 0, 1, 0, 1]
    assert stat.S_ISFIFO((tmp_path / "pipe").lstat().st_mode)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_characters_missing_from_the_encoding_fall_back_to_ascii(encoding):
    run = [sys.executable, "-m", "specgate", "diff", "directml:6.3", "directml:6.4"]
    done = subprocess.run(run, env={**ENVIRONMENT, "PYTHONIOENCODING": encoding}, capture_output=True, check=True)
    assert done.stdout.decode(encoding).startswith("directml:6.3 -> directml:6.4: ")
