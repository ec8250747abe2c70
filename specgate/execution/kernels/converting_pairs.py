"""Two arrays converted to one type that holds the numbers of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution.kernels.arithmetic import is_float
from specgate.execution.kernels.converting import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["convert_both"]


def convert_both(
    first: NDArray[Any], second: NDArray[Any], *, scalars_follow: bool, widest: str
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both arrays in one type, converted as `convert` does.

    It is the one of a float beside an integer, and of an integer beside truth values; of two floats or integers the
    least that has the digits and the range of both. scalars_follow: of two floats or integers, a scalar takes the type
    of an array that is none. widest: the name of the type for what no integer type holds.
    """
    to = _common(first, second, widest, scalars_follow=scalars_follow)
    return convert(first, to=to), convert(second, to=to)


def _common(first: NDArray[Any], second: NDArray[Any], widest: str, *, scalars_follow: bool) -> str:
    one, other = first.dtype, second.dtype
    if one == other or _kind(one) != _kind(other):
        return _name(one if _kind(one) >= _kind(other) else other)
    if scalars_follow and (first.ndim == 0) != (second.ndim == 0):
        return _name(one if first.ndim else other)
    low, high = sorted((one, other), key=lambda dtype: dtype.itemsize)
    if is_float(one):
        return _name(high) if low.itemsize < high.itemsize else "f32"
    if one.kind == other.kind:
        return _name(high)
    signed, unsigned = (one, other) if one.kind == "i" else (other, one)
    size = max(signed.itemsize, 2 * unsigned.itemsize)
    return f"i{8 * size}" if size <= 8 else widest


def _kind(dtype: np.dtype[Any]) -> int:
    return 2 if is_float(dtype) else 1 if dtype.kind in "iu" else 0


def _name(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "fiu":
        return f"{dtype.kind}{8 * dtype.itemsize}"
    return "bf16" if is_float(dtype) else "boolean" if dtype == np.bool_ else dtype.name
