"""Where structures lie: in an image that was made of them, or in the memory of this process."""

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

#: Texts are read in parts of so many bytes, which none of a page's end cuts: the next page need not be there.
_PART: Final = 64


class Memory(Protocol):
    """What structures are read from, at addresses or offsets."""

    def read(self, at: int, size: int) -> bytes:
        """Return `size` bytes; raise InputError where there are none."""

    def target(self, at: int) -> int | None:
        """Return where the pointer at `at` leads, None for the null pointer; raise InputError."""


class ImageMemory:
    """An image: a pointer is one that the image lists, since offset 0 may be pointed to."""

    def __init__(self, image: Image) -> None:
        self._data = image.data
        self._pointers = frozenset(image.pointers)

    def read(self, at: int, size: int) -> bytes:
        data = self._data[at : at + size]
        if at < 0 or len(data) != size:
            raise InputError("expected the image of an operator's description, found one that ends too soon")
        return data

    def target(self, at: int) -> int | None:
        (to,) = struct.unpack("<Q", self.read(at, 8))
        return int(to) if at in self._pointers else None


class ProcessMemory:
    """The memory of this process. An address that nothing is mapped at is refused, it does not end the process.

    The system copies what is read, as it does for debuggers. All that one object reads together is bounded: pointers
    that lead in a circle do not go on for ever.
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
            raise InputError(f"the address {at:#x} cannot be read: nothing is there, or it is no longer valid")
        return data

    def target(self, at: int) -> int | None:
        return int(struct.unpack("<Q", self.read(at, 8))[0]) or None

    def text(self, at: int, most: int) -> str:
        """Return a text that ends with a zero byte, at most so many bytes of it."""
        data = bytearray()
        while b"\0" not in data and len(data) < most:
            data += self.read(at + len(data), _PART - (at + len(data)) % _PART)
        return bytes(data[:most]).partition(b"\0")[0].decode("utf-8", "replace")


@cache
def _copier() -> Callable[[int, int], bytes | None]:
    """Return what copies bytes at an address, None where they cannot be read."""
    if struct.calcsize("P") != 8 or sys.byteorder != "little":
        raise InputError("DirectML's structures are read in 64-bit little-endian processes only")
    if sys.platform == "win32":
        return _of_windows()
    if os.path.exists("/proc/self/mem"):  # noqa: PTH110
        return _of_linux
    return ctypes.string_at


def _of_linux(at: int, size: int) -> bytes | None:
    try:
        with open("/proc/self/mem", "rb", buffering=0) as memory:  # noqa: PTH123  # no other opens it unbuffered
            return os.pread(memory.fileno(), size, at)
    except OSError:
        return None


def _of_windows() -> Callable[[int, int], bytes | None]:
    kernel: Any = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]  # there on Windows alone
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    kernel.ReadProcessMemory.argtypes = [
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p,
    ]  # fmt: skip

    def copy(at: int, size: int) -> bytes | None:
        buffer = ctypes.create_string_buffer(size)
        return buffer.raw if kernel.ReadProcessMemory(kernel.GetCurrentProcess(), at, buffer, size, None) else None

    return copy
