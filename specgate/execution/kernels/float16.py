"""Fast float32 to float16 rounding by vectorized bit operations.

numpy branches per element. A float32 whose exponent float16 has is the same number with a smaller bias and 13 fewer
bits; other elements are handled separately.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["to_half"]

#: Elements rounded per block: their arrays fit into an L2 cache.
_BLOCK: Final = 2**15
#: numpy is faster for fewer elements.
_FEW: Final = 2**10
#: The smallest normal float16, and the float32 from which on float16 overflows.
_LEAST, _MOST = np.float32(2.0**-14), np.float32(65520)
_BITS, _TOP, _ONE = np.uint32(13), np.uint32(16), np.uint32(1)
#: Subtracts 112 from the exponent, and adds just less than half of the last bit that stays.
_BIAS: Final = np.uint32((0xFFF - (112 << 23)) % 2**32)
_SIGN: Final = np.uint16(0x8000)
#: Makes subnormal numbers integers, which are their bits.
_STEPS: Final = np.float32(2.0**24)


def to_half(array: NDArray[Any]) -> NDArray[Any]:
    """Return float32 rounded to float16, half to even, bit-exact with numpy."""
    result = np.empty(array.shape, np.float16)
    if array.size < _FEW:
        result[...] = array
        return result
    flat, to = np.ascontiguousarray(array).reshape(-1), result.reshape(-1)
    most = min(_BLOCK, flat.size)
    room = np.empty(most, np.uint32), np.empty(most, np.float32), np.empty(most, np.uint16)
    for begin in memory.in_time(range(0, flat.size, _BLOCK)):
        some, new_array = flat[begin : begin + _BLOCK], to[begin : begin + _BLOCK]
        bits, size, signs = (each[: some.size] for each in room)
        np.abs(some, size)
        if size.max() < _MOST:
            _round_normal(some.view(np.uint32), new_array.view(np.uint16), bits, signs)
            _round_small(some, new_array, size, signs)
        else:  # too large, infinite or nan
            new_array[...] = some
    return result


def _round_normal(whole: NDArray[Any], codes: NDArray[Any], bits: NDArray[Any], signs: NDArray[Any]) -> None:
    """Write the bits of normal float16 numbers, and the signs.

    bits: scratch array of the same size.
    """
    np.right_shift(whole, _TOP, bits)
    np.copyto(signs, bits, casting="unsafe")
    np.bitwise_and(signs, _SIGN, signs)
    np.right_shift(whole, _BITS, bits)
    np.bitwise_and(bits, _ONE, bits)  # a half rounds up where the last bit is 1
    np.add(bits, whole, bits)
    np.add(bits, _BIAS, bits)
    np.right_shift(bits, _BITS, bits)
    np.copyto(codes, bits, casting="unsafe")
    np.bitwise_or(codes, signs, codes)


def _round_small(some: NDArray[Any], array: NDArray[Any], size: NDArray[Any], signs: NDArray[Any]) -> None:
    """Write the numbers below the normal range, including 0.

    size: scratch array with each element's magnitude.
    """
    small = size < _LEAST
    count = np.count_nonzero(small)
    if count > some.size // 16:
        np.multiply(size, _STEPS, size)
        np.rint(size, size)
        codes = array.view(np.uint16)
        signs |= size.astype(np.uint16)
        signs ^= codes  # exchanged bitwise, which is faster than an element-wise choice
        signs &= np.negative(small.view(np.int8), dtype=np.int16).view(np.uint16)
        codes ^= signs
    elif count:
        at = np.flatnonzero(small)
        array[at] = some[at]
