"""MurmurHash3 (32 bits): com.microsoft MurmurHash3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.text import encoded

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["hash_elements"]

#: The constants of MurmurHash3_x86_32 by Austin Appleby (public domain).
_FIRST, _SECOND, _ADDED = np.uint32(0xCC9E2D51), np.uint32(0x1B873593), np.uint32(0xE6546B64)
_MIXES: Final = ((16, np.uint32(0x85EBCA6B)), (13, np.uint32(0xC2B2AE35)))


def hash_elements(x: NDArray[Any], *, seed: int = 0, positive: bool = True) -> NDArray[Any]:
    """Return the 32-bit hash of the bytes of each element, as uint32.

    Numbers are hashed little-endian, strings in UTF-8. seed: 32 bits. positive: otherwise the bits are reinterpreted as
    int32.
    """
    if not 0 <= seed < 2**32:
        raise InputError(f"hash: expected a seed of 32 bits, found {seed}")
    result = memory.empty(x.shape, np.dtype(np.uint32))
    flat = result.reshape(-1)
    if x.dtype.kind != "O":
        little = np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<"), copy=False)
        flat[...] = _hashed(little.reshape(-1).view(np.uint8).reshape(x.size, x.itemsize), seed)
    else:
        texts = [encoded(text) for text in memory.in_time(x.reshape(-1).tolist())]
        lengths = np.array([len(text) for text in texts], np.int64)
        for length in memory.in_time(np.unique(lengths).tolist()):
            at = np.flatnonzero(lengths == length)
            joined = b"".join(texts[place] for place in at)
            flat[at] = _hashed(np.frombuffer(joined, np.uint8).reshape(len(at), length), seed)
    return result if positive else result.view(np.int32)


def _hashed(data: NDArray[np.uint8], seed: int) -> NDArray[np.uint32]:
    """Return the hash of each row of bytes."""
    count, length = data.shape
    whole = length // 4
    words = np.ascontiguousarray(data[:, : 4 * whole]).view("<u4").astype(np.uint32).reshape(count, whole)
    array = np.full(count, seed, np.uint32)
    for at in memory.in_time(range(whole)):
        array = _turned(array ^ _scrambled(words[:, at]), 13) * np.uint32(5) + _ADDED
    if length % 4:
        rest = np.zeros((count, 4), np.uint8)
        rest[:, : length % 4] = data[:, 4 * whole :]
        array = array ^ _scrambled(rest.view("<u4").astype(np.uint32)[:, 0])
    array = array ^ np.uint32(length)
    for shift, factor in _MIXES:
        array = (array ^ (array >> np.uint32(shift))) * factor
    return array ^ (array >> np.uint32(16))


def _scrambled(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return _turned(words * _FIRST, 15) * _SECOND


def _turned(words: NDArray[np.uint32], bits: int) -> NDArray[np.uint32]:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))
