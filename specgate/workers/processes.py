"""Processes that end with this process, even if it is killed.

On Linux, each process reads a pipe whose only writer is this process. When this process ends, even by SIGKILL, the
kernel signals the other end of the pipe, whatever that process is doing. On other systems, a process ends at the end of
its standard input or at its own time limit.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import weakref
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

try:
    import fcntl

    _CAN_TIE: Final = hasattr(fcntl, "F_SETSIG")
except ImportError:  # Windows
    _CAN_TIE = False  # type: ignore[misc]

_PART: Final = 1 << 20  # bytes: read in parts, so that a wrong length does not allocate memory
_lifelines: set[int] = set()  # descriptors; the process is killed when the last copy is closed


class Closing:
    """A context that calls `close` at its end."""

    def close(self) -> None:
        """Release resources."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start(
    command: Sequence[str],
    *,
    environment: Mapping[str, str] | None = None,
    errors: int = subprocess.DEVNULL,
    group: bool = False,
) -> subprocess.Popen[bytes]:
    """Start a process that ends with this process at the latest.

    It has unbuffered pipes for input and output. errors: the destination of its standard error. group: create a
    session, which is ended as a whole. Raises OSError if it cannot be started.
    """
    if not _CAN_TIE:
        return _popen(command, environment, errors, group)
    child_end, parent_end = os.pipe()
    _lifelines.add(parent_end)
    try:
        process = _popen(command, environment, errors, group, child_end)
        weakref.finalize(process, _close_lifeline, parent_end).atexit = False
        _kill_with_pipe(child_end, -process.pid if group else process.pid)
    except BaseException:
        _close_lifeline(parent_end)
        raise
    finally:
        os.close(child_end)
    return process


def _popen(
    command: Sequence[str], environment: Mapping[str, str] | None, errors: int, group: bool, *inherited_handle: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=None if environment is None else dict(environment),
        bufsize=0,  # an unbuffered pipe has no lock that a fork could copy while it is held
        start_new_session=group,
        pass_fds=inherited_handle,
    )


def initialize_worker() -> None:
    """Prepare a process of multiprocessing.

    It ends with its parent, and leaves Ctrl-C, which reaches every process, to the parent.
    """
    import multiprocessing
    from multiprocessing.connection import wait

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def follow() -> None:
        wait([parent.sentinel])
        os._exit(1)

    if _CAN_TIE:
        _kill_with_pipe(parent.sentinel, os.getpid())
        if wait([parent.sentinel], 0):  # the parent had ended before
            os._exit(1)
    else:
        threading.Thread(target=follow, daemon=True).start()


def send(stream: IO[bytes], data: bytes) -> None:
    """Write all of `data`; raise OSError if the other process is gone."""
    view = memoryview(data)
    while view:
        view = view[stream.write(view) or 0 :]
    stream.flush()


def receive(read_bytes: Callable[[int], bytes], size: int) -> bytes:
    """Return exactly `size` bytes, read in parts.

    Raises EOFError if the process at the other end is gone.
    """
    parts: list[bytes] = []
    while size:
        part = read_bytes(min(size, _PART))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _kill_with_pipe(pipe: int, owner: int) -> None:
    """Let the kernel kill `owner` when `pipe` has no writer any more.

    owner: a process or, if negative, a process group.
    """
    fcntl.fcntl(pipe, fcntl.F_SETOWN, owner)
    fcntl.fcntl(pipe, fcntl.F_SETSIG, signal.SIGKILL)  # type: ignore[attr-defined,unused-ignore]  # exists on Linux
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)


def _close_lifeline(lifeline: int) -> None:
    if lifeline in _lifelines:
        _lifelines.discard(lifeline)
        os.close(lifeline)


def _close_in_fork() -> None:
    """Close the pipes in a fork, so that it does not keep processes alive."""
    while _lifelines:
        os.close(_lifelines.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_in_fork)
