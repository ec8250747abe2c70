"""Files are written completely or not at all, also through links and devices.

The tests touch no system files.
"""

from __future__ import annotations

import os
import re
import stat
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from specgate.errors import InputError
from specgate.files import State, refuse_shared, state_of, write_bytes, write_text, writing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

posix_only = pytest.mark.skipif(os.name == "nt", reason="this system has no such files")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    result = tmp_path / "out"
    result.mkdir()
    return result


@pytest.fixture
def device(tmp_path: Path) -> Callable[[str, int], Path]:
    """Create a node of a memory device: 3 discards everything, 7 is always full."""

    def make(name: str, minor: int) -> Path:
        path = tmp_path / name
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, minor))
            with path.open("rb") as file:
                file.read(1)
        except (AttributeError, OSError) as error:
            pytest.skip(f"DEVICES ARE NOT TESTED: a node cannot be made or opened in {tmp_path} ({error})")
        return path

    return make


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def fail(path: Path, error: BaseException) -> None:
    with writing(path) as file:
        file.write(b"half")
        raise error


def test_a_new_file_has_the_text_and_the_umask_mode(folder: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(folder / "a", "zeile\n\udc80")
    finally:
        os.umask(before)
    assert (folder / "a").read_bytes() == b"zeile\n\\udc80"
    if os.name != "nt":
        assert stat.S_IMODE((folder / "a").stat().st_mode) == 0o640


@posix_only
def test_a_replaced_file_keeps_its_mode_and_is_a_new_file(folder: Path) -> None:
    path = folder / "a"
    path.write_bytes(b"old")
    path.chmod(0o604)
    with path.open("rb") as reading:
        write_bytes(path, b"new")
        assert reading.read() == b"old"  # concurrent readers see a complete file
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert names(folder) == ["a"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_a_failure_leaves_the_old_file_and_nothing_else(folder: Path, error: BaseException) -> None:
    path = folder / "a"
    path.write_bytes(b"old")
    expected = InputError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        fail(path, error)
    with pytest.raises(expected):
        fail(folder / "new", error)
    assert path.read_bytes() == b"old"
    assert names(folder) == ["a"]


def test_a_failure_of_the_last_step_leaves_the_old_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_all(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (folder / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", break_all)
    with pytest.raises(InputError, match="a: cannot be written: No space left on device"):
        write_bytes(folder / "a", b"new")
    assert (folder / "a").read_bytes() == b"old"
    assert names(folder) == ["a"]


@posix_only
def test_a_link_stays_and_its_target_is_replaced(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_bytes(b"old")
    (folder / "near").symlink_to(tmp_path / "target")
    (folder / "far").symlink_to("near")
    write_bytes(folder / "far", b"new")
    assert (tmp_path / "target").read_bytes() == b"new"
    assert (folder / "near").is_symlink()
    assert (folder / "far").is_symlink()
    assert not (tmp_path / "target").is_symlink()


@posix_only
def test_the_target_of_a_dangling_link_is_created(folder: Path, tmp_path: Path) -> None:
    (folder / "link").symlink_to(tmp_path / "target")
    write_bytes(folder / "link", b"new")
    assert (tmp_path / "target").read_bytes() == b"new"
    assert (folder / "link").is_symlink()


@posix_only
def test_links_in_a_circle_are_rejected(folder: Path) -> None:
    (folder / "a").symlink_to("b")
    (folder / "b").symlink_to("a")
    with pytest.raises(InputError, match="a: cannot be written: Too many levels"):
        write_bytes(folder / "a", b"new")


@posix_only
def test_predictable_names_are_not_used(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process creates every temporary file under a new name, never through a link."""
    outcome: list[tuple[str, int]] = []
    usual = os.open

    def record_open(path: str, flags: int, *more: int) -> int:
        if flags & os.O_CREAT:
            outcome.append((os.fspath(path), flags))
        return usual(path, flags, *more)

    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr(os, "open", record_open)
    for old in (f"a.{os.getpid()}.tmp", f".a.{os.getpid()}", "a.tmp"):
        (folder / old).symlink_to(victim)
    write_bytes(folder / "a", b"1")
    write_bytes(folder / "a", b"2")
    assert victim.read_bytes() == b"precious"
    result = [re.fullmatch(r".*/\.specgate-([0-9a-f]{16})\.tmp", path) for path, _ in outcome]
    assert len({match[1] for match in result if match}) == 2
    for _, flags in outcome:
        assert flags & os.O_EXCL
        assert flags & os.O_NOFOLLOW


@posix_only
def test_a_link_at_the_temporary_name_is_not_followed(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    monkeypatch.setattr(os, "urandom", bytes)
    planted = folder / f".specgate-{'00' * 8}.tmp"
    planted.symlink_to(victim)
    with pytest.raises(InputError, match="cannot be written: File exists"):
        write_bytes(folder / "a", b"new")
    assert victim.read_bytes() == b"precious"
    assert planted.is_symlink()


@posix_only
def test_a_pipe_stays_a_pipe_and_its_reader_gets_everything(folder: Path) -> None:
    path = folder / "pipe"
    os.mkfifo(path)
    read: list[bytes] = []
    thread = threading.Thread(target=lambda: read.append(path.read_bytes()))
    thread.start()
    write_bytes(path, b"x" * 200_000)
    thread.join(60)
    assert read == [b"x" * 200_000]
    assert stat.S_ISFIFO(path.lstat().st_mode)
    assert names(folder) == ["pipe"]


@posix_only
def test_a_device_stays_a_device(device: Callable[[str, int], Path], folder: Path) -> None:
    path = device("sink", 3)
    (folder / "link").symlink_to(path)
    write_bytes(path, b"lost")
    write_bytes(folder / "link", b"lost")
    assert stat.S_ISCHR(path.lstat().st_mode)
    assert os.major(path.lstat().st_rdev) == 1
    assert (folder / "link").is_symlink()


@posix_only
def test_a_full_device_is_reported_and_stays(device: Callable[[str, int], Path]) -> None:
    path = device("full", 7)
    with pytest.raises(InputError, match="full: cannot be written: No space left on device"):
        write_bytes(path, b"much")
    assert stat.S_ISCHR(path.lstat().st_mode)


def test_folders_and_invalid_names_are_rejected(folder: Path) -> None:
    cases: list[tuple[str | Path, str]] = [
        (folder, "expected a file, found a directory"),
        (f"{folder}/none/", "expected a file"),
        ("", "expected a file, found a directory"),
        (folder / "no" / "such", "No such file"),
        (f"{folder}/a\0b", "null"),
    ]
    for name, reason in cases:
        with pytest.raises(InputError, match=reason):
            write_bytes(name, b"")
    assert names(folder) == []


@posix_only
def test_a_socket_is_rejected(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    monkeypatch.chdir(folder)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("s")
        with pytest.raises(InputError, match="expected a file, a pipe or a character device"):
            write_bytes("s", b"")
    assert stat.S_ISSOCK((folder / "s").lstat().st_mode)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="A FILE NOT TO BE WRITTEN IS NOT TESTED: root may")
def test_a_file_that_may_not_be_written_is_not_replaced(folder: Path) -> None:
    (folder / "a").write_bytes(b"old")
    (folder / "a").chmod(0o444)
    with pytest.raises(InputError, match="Permission denied"):
        write_bytes(folder / "a", b"new")
    assert (folder / "a").read_bytes() == b"old"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="such names are Linux's")
def test_the_name_of_an_open_file_is_that_file(folder: Path) -> None:
    """As with ``-o /dev/stdout >> log``: the log keeps its contents."""
    path = folder / "log"
    path.write_bytes(b"old,")
    with path.open("ab", buffering=0) as file:
        (folder / "link").symlink_to(f"/proc/self/fd/{file.fileno()}")
        write_bytes(folder / "link", b"new,")
        write_bytes(f"/dev/fd/{file.fileno()}", b"newer")
    assert path.read_bytes() == b"old,new,newer"
    reading, writing_end = os.pipe()
    write_bytes(f"/proc/self/fd/{writing_end}", b"through")
    os.close(writing_end)
    assert os.read(reading, 100) == b"through"
    os.close(reading)


def test_two_outputs_have_two_files(folder: Path) -> None:
    (folder / "a").write_bytes(b"")
    refuse_shared([folder / "a", folder / "b"])
    with pytest.raises(InputError, match="b: expected a different file for each output"):
        refuse_shared([folder / "b", str(folder / "a" / ".." / ".." / folder.name / "b")])
    if os.name != "nt":
        (folder / "link").symlink_to("a")
        (folder / "hard").hardlink_to(folder / "a")
        os.mkfifo(folder / "pipe")
        for other in ("link", "hard"):
            with pytest.raises(InputError, match="a different file for each output"):
                refuse_shared([folder / "a", folder / other])
        refuse_shared([folder / "pipe", folder / "pipe"])


def state(path: Path) -> State:
    return state_of(path.stat())


def test_a_file_that_was_replaced_meanwhile_is_not_overwritten(folder: Path) -> None:
    path, other = folder / "model.onnx", folder / "export.onnx"
    path.write_bytes(b"as it was read")
    read = state(path)
    other.write_bytes(b"a new export!!")
    file = writing(path, replaces=read)
    file.__enter__().write(b"ours")
    other.replace(path)
    with pytest.raises(InputError, match="cannot be written: the file has changed since it was read"):
        file.__exit__(None, None, None)
    assert path.read_bytes() == b"a new export!!"
    assert names(folder) == ["model.onnx"]


@pytest.mark.parametrize("change", ["written in place", "removed"])
def test_other_changes_that_writing_notices(folder: Path, change: str) -> None:
    path = folder / "model.onnx"
    path.write_bytes(b"as it was read")
    read = state(path)
    if change == "removed":
        path.unlink()
    else:
        path.write_bytes(b"longer than it was read")
    with (
        pytest.raises(InputError, match="the file has changed since it was read"),
        writing(path, replaces=read) as file,
    ):
        file.write(b"ours")
    assert names(folder) == ([] if change == "removed" else ["model.onnx"])
    path.write_bytes(b"now")
    with writing(path, replaces=state(path)) as file:
        file.write(b"ours")
    assert path.read_bytes() == b"ours"


@posix_only
def test_an_owner_is_kept(folder: Path) -> None:
    path = folder / "model.onnx"
    path.write_bytes(b"old")
    path.chmod(0o640)
    try:
        os.chown(path, 12345, 12346)
    except OSError:
        pytest.skip("OWNERS ARE NOT TRIED: only root may give files away")
    lost: list[str] = []
    with writing(path, lost_attributes=lost) as file:
        file.write(b"new")
    result = path.stat()
    assert (result.st_uid, result.st_gid, stat.S_IMODE(result.st_mode), lost) == (12345, 12346, 0o640, [])


@posix_only
def test_lost_file_attributes_are_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "model.onnx"
    path.write_bytes(b"old")
    os.link(path, folder / "twin.onnx")
    try:
        os.chown(path, 12345, 12346)
    except OSError:
        pytest.skip("OWNERS ARE NOT TRIED: only root may give files away")

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchown", refuse)
    lost: list[str] = []
    with writing(path, lost_attributes=lost) as file:
        file.write(b"new")
    assert lost == [
        "its owner is now 0, not 12345",
        "its group is now 0, not 12346",
        "its other names (1 hard links) still have the old content",
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="Python has no extended attributes here")
def test_extended_attributes_are_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "model.onnx"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"a download")
    except OSError as error:
        pytest.skip(f"EXTENDED ATTRIBUTES ARE NOT TRIED: {error}")
    write_bytes(path, b"new")
    assert os.getxattr(path, "user.origin") == b"a download"

    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", refuse)
    lost: list[str] = []
    with writing(path, lost_attributes=lost) as file:
        file.write(b"newer")
    assert lost == ["the extended attribute 'user.origin' could not be kept"]
