"""The Gauss error function and its inverse."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution.kernels.elementwise import unary

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["error_function", "inverse_error_function"]

_erf: Final = np.frompyfunc(math.erf, 1, 1)
_erfc: Final = np.frompyfunc(math.erfc, 1, 1)
_ROOT_OF_PI: Final = math.sqrt(math.pi)
_WINITZKI: Final = 0.147
#: The start is wrong by less than 1 in 100, and each step triples the digits that are right.
_STEPS: Final = 3


#: Places where the error function is tabled lie 1 / _DENSE apart, up to where it is 1 to the last bit.
_DENSE: Final = 2048
_END: Final = 6.0
_SIGN: Final = np.int64(-(2**63))


@cache
def _table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the function and its slope at each place."""
    at = np.arange(int(_END) * _DENSE + 1) / _DENSE
    return np.asarray(_erf(at), np.float64), 2 / _ROOT_OF_PI * np.exp(-at * at)


def error_function(x: NDArray[Any], *, single: bool) -> NDArray[Any]:
    """Return the error function of float64, which is written over.

    single: to 1 in 10**14, which float32 does not show, and much faster.
    """
    if not single:
        return np.asarray(_erf(x), np.float64)
    if not x.ndim:
        return error_function(x.reshape(1), single=True).reshape(())
    off = np.clip(x, -_END, _END)
    np.abs(off, out=off)
    near = off * _DENSE
    np.rint(near, out=near)
    at = near.astype(np.intp)
    near *= 1 / _DENSE
    off -= near
    values, slopes = _table()
    # Taylor's series at the place: value + slope * off * (1 - near * off + (2 * near**2 - 1) / 3 * off**2)
    total = near * near
    total -= 0.5
    total *= 2 / 3
    total *= off
    total -= near
    total *= off
    total += 1
    total *= off
    total *= np.take(slopes, at, mode="clip", out=near)
    total += np.take(values, at, mode="clip", out=near)
    signs = x.view(np.int64)
    signs &= _SIGN
    signs |= total.view(np.int64)  # no total is negative; np.copysign takes longer
    return signs.view(np.float64)


def _start(x: NDArray[Any]) -> NDArray[Any]:
    """Return Winitzki's approximation, where it loses no digits; below, the error function is nearly a line."""
    t = np.log1p(-x) + np.log1p(x)
    u = 2 / (math.pi * _WINITZKI) + t / 2
    return np.where(x < 0.1, x * (_ROOT_OF_PI / 2), np.sqrt(np.sqrt(u * u - t / _WINITZKI) - u))


def _inverse(x: NDArray[Any]) -> NDArray[Any]:
    """Return the function for 0 <= x < 1 by Halley's method; in the upper half by the complement, which is exact."""
    y = _start(x)
    for _ in range(_STEPS):
        above = np.where(x < 0.5, _erf(y).astype(np.float64) - x, (1 - x) - _erfc(y).astype(np.float64))
        step = above * (_ROOT_OF_PI / 2) * np.exp(y * y)
        y = y - step / (1 + y * step)
    return y


def _of_floats(x: NDArray[Any]) -> NDArray[Any]:
    size = np.abs(x)
    inside = size < 1
    result = np.where(size == 1, np.inf, np.nan)
    result[inside] = _inverse(size[inside])
    return np.asarray(np.copysign(result, x))


inverse_error_function = unary("inverse_error_function", _of_floats)
