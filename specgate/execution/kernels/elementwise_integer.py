"""Operations on bits, whatever the elements' type encodes with them; and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.elementwise import bits_of, called, paired, quiet, undefined, whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from numpy.typing import NDArray

    from specgate.execution.kernels.elementwise import Broadcast

__all__ = ["bit_count", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "shift"]

_SET_BITS: Final = np.array([n.bit_count() for n in range(256)], np.uint8)


def _bitwise(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    def kernel(a: NDArray[Any], b: NDArray[Any], **how: Unpack[Broadcast]) -> NDArray[Any]:
        a, b = paired(name, a, b, **how)
        return function(bits_of(a), bits_of(b)).view(a.dtype)

    return called(name, kernel)


bitwise_and = _bitwise("bitwise_and", np.bitwise_and)
bitwise_or = _bitwise("bitwise_or", np.bitwise_or)
bitwise_xor = _bitwise("bitwise_xor", np.bitwise_xor)


def bitwise_not(x: NDArray[Any]) -> NDArray[Any]:
    """Return every element with all its bits inverted; of truth values the other one."""
    if x.dtype == np.bool_:
        return np.asarray(np.logical_not(x))
    result: NDArray[Any] = np.invert(bits_of(x)).view(x.dtype)
    return result


def bit_count(x: NDArray[Any], *, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return how many bits of every element are set. dtype: of the result, uint8 if absent."""
    octets = bits_of(x).reshape(-1).view(np.uint8).reshape(*x.shape, x.dtype.itemsize)
    result: NDArray[Any] = _SET_BITS[octets].sum(axis=-1, dtype=dtype or np.uint8)
    return result


def left_shift(a: NDArray[Any], b: NDArray[Any], *, overlong: str = "zero") -> NDArray[Any]:
    """Return unsigned elements shifted up by b bits. overlong: what a shift by the width or more does.

    zero: no bit is left. word: the shift is that of a machine with 32-bit words, which looks at the lowest 5 bits of b;
    narrower types lose what leaves their width, and of 64-bit ones b's lower word counts, from 32 on as 32 plus 5 bits.
    """
    return _shift("left_shift", np.left_shift, a, b, overlong)


def right_shift(a: NDArray[Any], b: NDArray[Any], *, overlong: str = "zero") -> NDArray[Any]:
    """Return unsigned elements shifted down by b bits; overlong as in `left_shift`."""
    return _shift("right_shift", np.right_shift, a, b, overlong)


def _shift(
    name: str, function: Callable[..., NDArray[Any]], a: NDArray[Any], b: NDArray[Any], overlong: str
) -> NDArray[Any]:
    a, b = paired(name, a, b)
    if a.dtype.kind != "u":
        raise InputError(f"{name}: expected unsigned integers, found {a.dtype}")
    by = b.astype(np.uint64)
    if overlong == "word":
        low = by & np.uint64(0xFFFFFFFF)
        five = low & np.uint64(31)
        by = np.where(low < 32, five, five + np.uint64(32)) if a.dtype.itemsize == 8 else five
    elif overlong != "zero":
        raise InputError(f"{name}: expected zero or word, found {overlong!r:.60}")
    result = function(a.astype(np.uint64), np.minimum(by, np.uint64(63)))
    return np.where(by < a.dtype.itemsize * 8, result, np.uint64(0)).astype(a.dtype)


def shift(
    a: NDArray[Any], b: NDArray[Any], *, left: bool, overlong: str = "sign", **how: Unpack[Broadcast]
) -> NDArray[Any]:
    """Return integers shifted by b bits, up (left) or down, where signed ones keep their sign.

    By a negative number of bits, or all and more, only the sign is left, and that of a shift down. overlong: undefined
    says that this has no value (masked), and no shift up of a signed integer that its type cannot hold.
    """
    if overlong not in {"sign", "undefined"}:
        raise InputError(f"shift: expected sign or undefined, found {overlong!r:.60}")
    a, b = paired("shift", a, b, **how)
    whole("shift", a)
    bits = a.dtype.itemsize * 8
    beyond = (b < 0) | (b >= bits)
    by = np.where(beyond, np.asarray(0, b.dtype), b)
    with quiet():
        moved = np.left_shift(a, by) if left else np.right_shift(a, by)
        sign = np.where((a < 0) & (not left), np.asarray(-1, np.int64), np.asarray(0, np.int64)).astype(a.dtype)
        lost = np.right_shift(moved, by) != a if left and a.dtype.kind == "i" else np.zeros((), np.bool_)
    if overlong == "undefined":
        return undefined(moved, beyond | lost)
    return np.where(beyond, sign, moved)
