"""Atomic file output.

A regular file is replaced in one step by a temporary file with a random name in the same directory. Symbolic links are
followed. Pipes and character devices are opened and written directly.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Final

from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NEW: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_OPEN_FLAGS: Final = os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_LINKS: Final = 40  # links may be chained; this is the limit of Linux


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8 without converting line ends.

    Raises InputError on failure.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file; raise InputError on failure.

    After a failure the previous content is unchanged.
    """
    with writing(path) as file:
        file.write(data)


#: The attributes of a file that change if it is written or replaced.
State = tuple[int, int, int, int]


def state_of(status: os.stat_result) -> State:
    """Return the device, inode, size and modification time of a file.

    Comparing two states detects a change.
    """
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def writing(
    path: str | os.PathLike[str], *, replaces: State | None = None, lost_attributes: list[str] | None = None
) -> Iterator[IO[bytes]]:
    """Yield a file object whose content replaces the file on success.

    If the block raises or is interrupted, the previous file is unchanged and no temporary file remains.

    replaces: the state of the file when it was read; a file that has changed since is not replaced. lost_attributes:
    receives the properties that the new file could not keep (owner, mode bits, extended attributes, hard links).

    Raises InputError for a directory, for an unsupported kind of file, and on errors of the operating system.
    """
    name = os.fspath(path)
    try:
        number = _own_descriptor(name)
        if number is not None:
            if sys.stdout is not None:
                sys.stdout.flush()  # it may be the same file
            with open(os.dup(number), "wb") as file:  # noqa: PTH123
                yield file
            return
        place = os.path.realpath(name)
        stat_result = _state(place)
        if stat_result is None and os.path.basename(name) == "":  # noqa: PTH119
            raise OSError("expected a file, found a directory name")
        if stat_result is None or stat.S_ISREG(stat_result.st_mode):
            with _replacing(place, stat_result, replaces, [] if lost_attributes is None else lost_attributes) as file:
                yield file
        else:
            with _open_device(name, stat_result) as file:
                yield file
    except (OSError, ValueError) as error:  # ValueError: for example a name with a null character
        raise unwritable_error(name, error) from None


def unwritable_error(name: str, error: OSError | ValueError) -> InputError:
    """Return the InputError for a file that cannot be written.

    It contains the reason given by the operating system.
    """
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"cannot be written: {reason}", file=name)


class WritableFile:
    """Minimal writable file, for numpy.

    numpy asks other file objects for their position, which pipes do not support.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def refuse_shared(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError if two outputs would replace the same file.

    Several outputs may share a pipe or a device.
    """
    identities: set[tuple[int, int] | str] = set()
    for path in paths:
        key = _identity(path)
        if key in identities:
            message = "expected a different file for each output, found one twice"
            raise InputError(message, file=os.fspath(path))
        identities.update(() if key is None else (key,))


def refuse_replaced(outputs: Iterable[str | os.PathLike[str]], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError if an output would replace an input file.

    A device, and "-", may be both input and output.
    """
    output_paths = {key: os.fspath(path) for path in outputs if path != "-" and (key := _identity(path)) is not None}
    for input_path in inputs if output_paths else ():
        if input_path != "-" and (key := _identity(input_path)) in output_paths:
            raise InputError("refusing to overwrite an input file", file=output_paths[key])


def refuse_unwritable(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError for an output path that cannot be written.

    Detects directories and missing parent directories before hours of work are spent.
    """
    for path in paths:
        name = os.fspath(path)
        with suppress(OSError, ValueError):  # the error of the write itself is more precise
            if os.path.isdir(name):  # noqa: PTH112
                raise InputError("cannot be written: expected a file, found a directory", file=name)
            if not os.path.exists(os.path.dirname(os.path.realpath(name))):  # noqa: PTH110, PTH120
                raise InputError("cannot be written: No such file or directory", file=name)


def _identity(path: str | os.PathLike[str]) -> tuple[int, int] | str | None:
    """Return a key that is equal for two names of the same regular file.

    None for other kinds of files and for files whose status cannot be read.
    """
    with suppress(OSError, ValueError):  # the error of the write itself is more precise
        place = os.path.realpath(path)
        stat_result = _state(place)
        if stat_result is None or stat.S_ISREG(stat_result.st_mode):
            return place if stat_result is None or not stat_result.st_ino else (stat_result.st_dev, stat_result.st_ino)
    return None


def _own_descriptor(path: str) -> int | None:
    """Return the descriptor number for a path such as /dev/stdout.

    None if the path does not name an open file of this process.
    """
    descriptor_folder = os.path.realpath("/proc/self/fd") if os.path.isdir("/proc/self/fd") else None  # noqa: PTH112
    for _ in range(_LINKS if descriptor_folder else 0):
        folder, name = os.path.split(path)
        if name.isdecimal() and name.isascii() and os.path.realpath(folder) == descriptor_folder:
            return int(name)
        try:
            path = os.path.join(folder, os.readlink(path))  # noqa: PTH115, PTH118
        except OSError:  # not a link
            return None
    return None


def _state(place: str) -> os.stat_result | None:
    """Return the status of a file; None if it does not exist."""
    try:
        return os.stat(place)  # noqa: PTH116
    except FileNotFoundError:
        return None


@contextmanager
def _replacing(
    place: str, stat_result: os.stat_result | None, replaces: State | None, lost_attributes: list[str]
) -> Iterator[IO[bytes]]:
    """Yield a temporary file that replaces a regular or missing file.

    stat_result: the status of the existing file, or None.
    """
    if stat_result is not None and not os.access(place, os.W_OK):
        raise PermissionError(13, "Permission denied")
    temporary = os.path.join(os.path.dirname(place), f".specgate-{os.urandom(8).hex()}.tmp")  # noqa: PTH118, PTH120
    is_our_file = True
    try:
        try:
            number = os.open(temporary, _NEW, 0o666 if stat_result is None else 0o600)
        except FileExistsError:
            is_our_file = False
            raise
        with open(number, "wb") as file:  # noqa: PTH123
            if stat_result is not None and sys.platform != "win32":
                _copy_metadata(place, number, stat_result, lost_attributes)
            yield file
        if replaces is not None and ((current := _state(place)) is None or state_of(current) != replaces):
            raise OSError("the file has changed since it was read")
        os.replace(temporary, place)  # noqa: PTH105
        is_our_file = False
    finally:
        if is_our_file:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108


def _copy_metadata(place: str, number: int, stat_result: os.stat_result, lost_attributes: list[str]) -> None:
    """Copy owner, mode and attributes of the previous file to the new one.

    number: the descriptor of the new file. lost_attributes: receives the properties that the system does not let us
    set.
    """
    new = os.fstat(number)
    if (new.st_uid, new.st_gid) != (stat_result.st_uid, stat_result.st_gid):
        for owner in (stat_result.st_uid, -1):  # users may often change the group but not the owner
            with suppress(OSError):
                os.fchown(number, owner, stat_result.st_gid)
                break
        new = os.fstat(number)
        if new.st_uid != stat_result.st_uid:
            lost_attributes.append(f"its owner is now {new.st_uid}, not {stat_result.st_uid}")
        if new.st_gid != stat_result.st_gid:
            lost_attributes.append(f"its group is now {new.st_gid}, not {stat_result.st_gid}")
    for name, value in _attributes(place).items():
        try:
            os.setxattr(number, name, value)
        except OSError:
            if _attributes(number).get(name) != value:
                lost_attributes.append(f"the extended attribute {name!r:.60} could not be kept")
    os.fchmod(number, stat.S_IMODE(stat_result.st_mode) & 0o777)  # last, because the steps before may change the mode
    if stat_result.st_mode & (stat.S_ISUID | stat.S_ISGID):
        lost_attributes.append("its set-user-ID and set-group-ID bits were cleared")
    if stat_result.st_nlink > 1:
        lost_attributes.append(f"its other names ({stat_result.st_nlink - 1} hard links) still have the old content")


def _attributes(file: str | int) -> dict[str, bytes]:
    """Return the extended attributes of a file, including its ACLs.

    Empty on systems without extended attributes.
    """
    if sys.platform != "linux":
        return {}
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError:
        return {}


@contextmanager
def _open_device(path: str, stat_result: os.stat_result) -> Iterator[IO[bytes]]:
    """Yield a pipe or device opened for writing.

    Opening a pipe blocks until it has a reader.
    """
    if stat.S_ISDIR(stat_result.st_mode):
        raise OSError("expected a file, found a directory")
    if not stat.S_ISFIFO(stat_result.st_mode) and not stat.S_ISCHR(stat_result.st_mode):
        raise OSError("expected a file, a pipe or a character device")
    number = os.open(path, _OPEN_FLAGS)
    with open(number, "wb") as file:  # noqa: PTH123
        current = os.fstat(number)
        if (current.st_dev, current.st_ino) != (stat_result.st_dev, stat_result.st_ino):
            raise OSError("it was replaced since it was opened")
        yield file
