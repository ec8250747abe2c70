"""Two arrays converted to one type that holds the numbers of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import is_float
from specgate.execution.kernels.converting import convert
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["convert_both"]


def convert_both(
    first: NDArray[Any], second: NDArray[Any], *, scalars_follow: bool, widest: np.dtype[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both arrays in one type, converted as `convert` does.

    It is the one of a float beside an integer, and of an integer beside truth values; of two floats or integers the
    least that has the digits and the range of both. scalars_follow: of two floats or integers, a scalar takes the type
    of an array that is none. widest: the type for what no integer type holds.
    """
    to = _common(first, second, widest, scalars_follow=scalars_follow)
    return convert(first, to=to), convert(second, to=to)


def _common(
    first: NDArray[Any], second: NDArray[Any], widest: np.dtype[Any] | None, *, scalars_follow: bool
) -> np.dtype[Any]:
    one, other = first.dtype, second.dtype
    if one == other or _kind(one) != _kind(other):
        return one if _kind(one) >= _kind(other) else other
    if scalars_follow and (first.ndim == 0) != (second.ndim == 0):
        return one if first.ndim else other
    low, high = sorted((one, other), key=_bits)
    if is_float(one):
        return high if _bits(low) < _bits(high) else np.dtype(np.float16 if _bits(high) == 8 else np.float32)
    if _signed(one) == _signed(other):
        return high
    signed, unsigned = (one, other) if _signed(one) else (other, one)
    if _bits(signed) >= 2 * _bits(unsigned):
        return signed
    if _bits(unsigned) < 64:
        return np.dtype(f"i{_bits(unsigned) // 4}")  # twice its bits, in bytes
    if widest is None:
        raise InputError("expected the type for what no integer type holds")
    return widest


def _kind(dtype: np.dtype[Any]) -> int:
    return 2 if is_float(dtype) else 1 if integer_range(dtype) is not None else 0


def _signed(dtype: np.dtype[Any]) -> bool:
    return (integer_range(dtype) or (0, 0))[0] < 0


def _bits(dtype: np.dtype[Any]) -> int:
    limits = integer_range(dtype)
    return 8 * dtype.itemsize if limits is None else (limits[1] - limits[0]).bit_length()
