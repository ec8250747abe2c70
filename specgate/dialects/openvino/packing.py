"""Elements of less than a byte as OpenVINO packs them: u1 from the highest bit of a byte on, others from the lowest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["packed", "packed_size", "unpacked"]


def packed_size(count: int, bits: int) -> int:
    """Return how many bytes `count` elements take; bits: of one, a divisor of 8 or a multiple of it."""
    return -(-count * bits // 8)


def unpacked(blob: bytes, count: int, dtype: np.dtype[Any], bits: int) -> NDArray[Any]:
    """Return the first `count` elements of 1, 2 or 4 bits in `blob`, as a type that holds each in a byte."""
    shifts = _shifts(bits)
    codes = np.frombuffer(blob, np.uint8)[: packed_size(count, bits), np.newaxis] >> shifts
    return (codes.reshape(-1)[:count] & np.uint8(2**bits - 1)).view(dtype)


def packed(array: NDArray[Any], bits: int) -> bytes:
    """Return the bytes of elements of 1, 2 or 4 bits, each of which has a byte in `array`; what is left over is 0."""
    each = 8 // bits
    codes = np.zeros(-(-array.size // each) * each, np.uint8)
    codes[: array.size] = np.ascontiguousarray(array).reshape(-1).view(np.uint8) & np.uint8(2**bits - 1)
    joined: NDArray[Any] = np.bitwise_or.reduce(codes.reshape(-1, each) << _shifts(bits), axis=1)
    return joined.astype(np.uint8).tobytes()


def _shifts(bits: int) -> NDArray[np.uint8]:
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    return shifts[::-1] if bits == 1 else shifts
