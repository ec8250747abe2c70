"""Memory that holds structures: an image, or this process."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol

from specgate.dialects.directml.native.marshal import MAX_IMAGE
from specgate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.dialects.directml.native.marshal import Image

__all__ = ["ImageMemory", "Memory", "ProcessMemory"]

#: Texts are read in parts of this many bytes. A part never crosses the end of a page, as the next page may be unmapped.
_PART: Final = 64


class Memory(Protocol):
    """Bytes at addresses or offsets, from which structures are read."""

    def read(self, at: int, size: int) -> bytes:
        """Return `size` bytes; raise InputError if they are not readable."""

    def target(self, at: int) -> int | None:
        """Return the target of the pointer at `at`, None if null; InputError."""


class ImageMemory:
    """An image; only its listed pointers are non-null, as 0 is an offset."""

    def __init__(self, image: Image) -> None:
        self._data = image.data
        self._pointers = frozenset(image.pointers)

    def read(self, at: int, size: int) -> bytes:
        data = self._data[at : at + size]
        if at < 0 or len(data) != size:
            raise InputError("expected the image of an operator's description, found a truncated one")
        return data

    def target(self, at: int) -> int | None:
        (to,) = struct.unpack("<Q", self.read(at, 8))
        return int(to) if at in self._pointers else None


class ProcessMemory:
    """The memory of this process; unmapped addresses raise InputError.

    The system copies the bytes, as for debuggers. The total that one object reads is limited, so pointer cycles end.
    """

    def __init__(self) -> None:
        self._left = MAX_IMAGE
        self._copy = _copier()

    def read(self, at: int, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise InputError(f"expected structures of at most {MAX_IMAGE} bytes, found more")
        data = self._copy(at, size) if 0 < at <= 2**63 - 1 - size else None
        if data is None or len(data) != size:
            raise InputError(f"the address {at:#x} cannot be read: it is unmapped or no longer valid")
        return data

    def target(self, at: int) -> int | None:
        return int(struct.unpack("<Q", self.read(at, 8))[0]) or None

    def text(self, at: int, most: int) -> str:
        """Return a zero-terminated text of at most `most` bytes."""
        data = bytearray()
        while b"\0" not in data and len(data) < most:
            data += self.read(at + len(data), _PART - (at + len(data)) % _PART)
        return bytes(data[:most]).partition(b"\0")[0].decode("utf-8", "replace")


@cache
def _copier() -> Callable[[int, int], bytes | None]:
    """Return a function that copies bytes, or returns None if unreadable."""
    if struct.calcsize("P") != 8 or sys.byteorder != "little":
        raise InputError("DirectML's structures are read in 64-bit little-endian processes only")
    if sys.platform == "win32":
        return _of_windows()
    if os.path.exists("/proc/self/mem"):  # noqa: PTH110
        return _of_linux
    return ctypes.string_at


def _of_linux(at: int, size: int) -> bytes | None:
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123  # pathlib cannot open it unbuffered
            return os.pread(memory.fileno(), size, at)
    except OSError:
        return None


def _of_windows() -> Callable[[int, int], bytes | None]:
    kernel: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]  # Windows only
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.ReadProcessMemory.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
    ]  # fmt: skip

    def copy(at: int, size: int) -> bytes | None:
        buffer = ctypes.create_string_buffer(size)
        return buffer.raw if kernel.ReadProcessMemory(kernel.GetCurrentProcess(), at, buffer, size, None) else None

    return copy
