"""The one way in which specgate writes files: whole or not at all, and a device stays a device.

A regular file is replaced at once, by one that was written beside it under a name that cannot be foreseen. A link is
followed, and what it leads to is written so. A pipe or a character device is opened and written as it is.
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

__all__ = [
    "Plain", "State", "refuse_replaced", "refuse_shared", "refuse_unwritable", "state_of", "unwritable", "write_bytes",
    "write_text", "writing",
]  # fmt: skip

_NEW: Final = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_PRESENT: Final = os.O_WRONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_LINKS: Final = 40  # in a chain, as Linux has it


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text as UTF-8 with its line ends as they are; InputError where that cannot be done."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file; InputError where that cannot be done, and then what was there before is still there."""
    with writing(path) as file:
        file.write(data)


#: What two states of a file differ in if it was written or replaced between them.
State = tuple[int, int, int, int]


def state_of(status: os.stat_result) -> State:
    """Return the device, inode, size and time of change of a file, by which a later change shows."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


@contextmanager
def writing(
    path: str | os.PathLike[str], *, replaces: State | None = None, lost: list[str] | None = None
) -> Iterator[IO[bytes]]:
    """Give a file to write to, which is in its place once the block has ended without an exception.

    After any exception, also when it is interrupted, what was there before is still there, and nothing beside it.
    replaces: the state of the file that was read; a file in another state is not replaced. lost: gets what the new file
    could not keep of the one before: its owner, bits of its mode, extended attributes, hard links. Raises InputError
    for a folder, for what is no file at all, and where the system refuses.
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
            raise OSError("expected a file, found the name of a folder")
        if stat_result is None or stat.S_ISREG(stat_result.st_mode):
            with _replacing(place, stat_result, replaces, [] if lost is None else lost) as file:
                yield file
        else:
            with _opened(name, stat_result) as file:
                yield file
    except (OSError, ValueError) as error:  # ValueError: a name with a null character, for one
        raise unwritable(name, error) from None


def unwritable(name: str, error: OSError | ValueError) -> InputError:
    """Return the error for a file that the system does not write, with the system's reason."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return InputError(f"cannot be written: {reason}", file=name)


class Plain:
    """A file that can be written to and nothing else: numpy asks others for their position, which a pipe lacks."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


def refuse_shared(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError where two outputs would replace the same file; a pipe or a device may take several."""
    seen: set[tuple[int, int] | str] = set()
    for each in paths:
        key = _identity(each)
        if key in seen:
            message = "expected a file of its own for each output, found it given twice"
            raise InputError(message, file=os.fspath(each))
        seen.update(() if key is None else (key,))


def refuse_replaced(outputs: Iterable[str | os.PathLike[str]], inputs: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError where an output would replace a file that is read; a device may be both, and so may "-"."""
    written = {key: os.fspath(path) for path in outputs if path != "-" and (key := _identity(path)) is not None}
    for each in inputs if written else ():
        if each != "-" and (key := _identity(each)) in written:
            raise InputError(
                "expected a file to write, found one that is read: it would be replaced", file=written[key]
            )


def refuse_unwritable(paths: Iterable[str | os.PathLike[str]]) -> None:
    """Raise InputError for an output that will not be written, before hours are spent on it: a folder, or in none."""
    for each in paths:
        name = os.fspath(each)
        with suppress(OSError, ValueError):  # writing it says what is wrong
            if os.path.isdir(name):  # noqa: PTH112
                raise InputError("cannot be written: expected a file, found a directory", file=name)
            if not os.path.exists(os.path.dirname(os.path.realpath(name))):  # noqa: PTH110, PTH120
                raise InputError("cannot be written: No such file or directory", file=name)


def _identity(path: str | os.PathLike[str]) -> tuple[int, int] | str | None:
    """Return what two names of one regular file have in common; None for what is none, or cannot be looked at."""
    with suppress(OSError, ValueError):  # writing it says what is wrong
        place = os.path.realpath(path)
        stat_result = _state(place)
        if stat_result is None or stat.S_ISREG(stat_result.st_mode):
            return place if stat_result is None or not stat_result.st_ino else (stat_result.st_dev, stat_result.st_ino)
    return None


def _own_descriptor(path: str) -> int | None:
    """Return the number of an open file of this process that a path such as /dev/stdout is a name of."""
    own = os.path.realpath("/proc/self/fd") if os.path.isdir("/proc/self/fd") else None  # noqa: PTH112
    for _ in range(_LINKS if own else 0):
        folder, name = os.path.split(path)
        if name.isdecimal() and name.isascii() and os.path.realpath(folder) == own:
            return int(name)
        try:
            path = os.path.join(folder, os.readlink(path))  # noqa: PTH115, PTH118
        except OSError:  # no link
            return None
    return None


def _state(place: str) -> os.stat_result | None:
    """Return what is there, None where nothing is."""
    try:
        return os.stat(place)  # noqa: PTH116
    except FileNotFoundError:
        return None


@contextmanager
def _replacing(
    place: str, stat_result: os.stat_result | None, replaces: State | None, lost: list[str]
) -> Iterator[IO[bytes]]:
    """Give a new file that takes the place of `stat_result`, which is regular, or of nothing."""
    if stat_result is not None and not os.access(place, os.W_OK):
        raise PermissionError(13, "Permission denied")
    temporary = os.path.join(os.path.dirname(place), f".specgate-{os.urandom(8).hex()}.tmp")  # noqa: PTH118, PTH120
    ours = True
    try:
        try:
            number = os.open(temporary, _NEW, 0o666 if stat_result is None else 0o600)
        except FileExistsError:
            ours = False
            raise
        with open(number, "wb") as file:  # noqa: PTH123
            if stat_result is not None and sys.platform != "win32":
                _keep(place, number, stat_result, lost)
            yield file
        if replaces is not None and ((now := _state(place)) is None or state_of(now) != replaces):
            raise OSError("the file has changed since it was read")
        os.replace(temporary, place)  # noqa: PTH105
        ours = False
    finally:
        if ours:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108


def _keep(place: str, number: int, stat_result: os.stat_result, lost: list[str]) -> None:
    """Give the new file, open as `number`, what the one before has; `lost` gets what the system does not allow."""
    new = os.fstat(number)
    if (new.st_uid, new.st_gid) != (stat_result.st_uid, stat_result.st_gid):
        for owner in (stat_result.st_uid, -1):  # a user may often set the group alone
            with suppress(OSError):
                os.fchown(number, owner, stat_result.st_gid)
                break
        new = os.fstat(number)
        if new.st_uid != stat_result.st_uid:
            lost.append(f"its owner is now {new.st_uid}, not {stat_result.st_uid}")
        if new.st_gid != stat_result.st_gid:
            lost.append(f"its group is now {new.st_gid}, not {stat_result.st_gid}")
    for name, value in _attributes(place).items():
        try:
            os.setxattr(number, name, value)
        except OSError:
            if _attributes(number).get(name) != value:
                lost.append(f"the extended attribute {name!r:.60} could not be kept")
    os.fchmod(number, stat.S_IMODE(stat_result.st_mode) & 0o777)  # after what may change it
    if stat_result.st_mode & (stat.S_ISUID | stat.S_ISGID):
        lost.append("its set-user-ID and set-group-ID bits are not set any more")
    if stat_result.st_nlink > 1:
        lost.append(f"its other names ({stat_result.st_nlink - 1} hard links) still have the old content")


def _attributes(file: str | int) -> dict[str, bytes]:
    """Return the extended attributes of a file, access control lists among them; none where the system has none."""
    if sys.platform != "linux":
        return {}
    try:
        return {name: os.getxattr(file, name) for name in os.listxattr(file)}
    except OSError:
        return {}


@contextmanager
def _opened(path: str, stat_result: os.stat_result) -> Iterator[IO[bytes]]:
    """Give what is no regular file itself. A pipe without a reader waits for its reader, as everywhere."""
    if stat.S_ISDIR(stat_result.st_mode):
        raise OSError("expected a file, found a directory")
    if not stat.S_ISFIFO(stat_result.st_mode) and not stat.S_ISCHR(stat_result.st_mode):
        raise OSError("expected a file, a pipe or a character device")
    number = os.open(path, _PRESENT)
    with open(number, "wb") as file:  # noqa: PTH123
        now = os.fstat(number)
        if (now.st_dev, now.st_ino) != (stat_result.st_dev, stat_result.st_ino):
            raise OSError("it was exchanged meanwhile")
        yield file
