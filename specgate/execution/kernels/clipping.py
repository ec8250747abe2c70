"""Numbers held within bounds, and the gradients of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float32, turn_low_halves
from specgate.execution.kernels.elementwise import held, paired, prepared, quiet

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["clip", "clip_gradient", "hold_between", "raise_to"]

_LARGEST_BFLOAT16: Final = (2 - 2.0**-7) * 2.0**127


def _bound(value: float, dtype: np.dtype[Any], *, finite: bool, nan_is_sign: bool = False) -> NDArray[Any]:
    """Return a bound in the type of computation: truncated and held in range for integers.

    finite: of FLOAT16, to the nearest, and held within what is finite; else as it is in float32. nan_is_sign: for
    integers, nan is the number of which only the highest bit is set, not 0.
    """
    if not is_float(dtype):
        if nan_is_sign and np.isnan(value):
            return np.asarray(1 << (8 * dtype.itemsize - 1), f"u{dtype.itemsize}").view(dtype)
        number = np.asarray(value)
        if number.dtype.kind == "O" or number.dtype.kind in "iu":  # any size of Python's integers
            return np.asarray(min(max(int(value), np.iinfo(dtype).min), np.iinfo(dtype).max), dtype)
        return held(np.asarray(np.float32(value)), dtype)
    with quiet():
        number = np.asarray(value, np.float64).astype(np.float64 if dtype == np.float64 else np.float32)
        if dtype == np.float16:
            most = np.float32(np.finfo(np.float16).max)
            number = np.clip(number, -most, most) if finite else number
            return to_float32(number.astype(np.float16), dtype)
        return number


def clip(
    x: NDArray[Any],
    *,
    low: float,
    high: float,
    scale_bias: tuple[float, float] | None = None,
    finite_bounds: bool = False,
    nan_is_sign: bool = False,
    by_halves: bool = False,
) -> NDArray[Any]:
    """Return every element, at most `high` and then at least `low`, so that `low` wins where it is above `high`.

    nan becomes `high`; a bound that is nan is none for floats, 0 for integers. Bounds that are no whole numbers are
    truncated for integers, and held in range; a zero beside a bound of 0 gets its sign. finite_bounds: those of FLOAT16
    are held within what is finite. nan_is_sign: for integers, nan is the number of which only the highest bit is set.
    by_halves: INT64 are compared as `turn_low_halves` orders them.
    """
    bottom, top = (_bound(bound, x.dtype, finite=finite_bounds, nan_is_sign=nan_is_sign) for bound in (low, high))
    with quiet():
        values = prepared(x, scale_bias)
        if by_halves:
            bottom, top, values = map(turn_low_halves, (bottom, top, values))
        values = np.where(~(values < top) & (top == top), top, values)  # noqa: PLR0124
        values = np.where(~(values > bottom) & (bottom == bottom), bottom, values)  # noqa: PLR0124
        return round_to(turn_low_halves(values) if by_halves else values, x.dtype)


def hold_between(
    x: NDArray[Any], low: NDArray[Any] | float | None = None, high: NDArray[Any] | float | None = None
) -> NDArray[Any]:
    """Return every element, at least `low` and then at most `high`, so that `high` wins where it is below `low`.

    Bounds are numbers, or arrays of one element of the type of `x`; one that is None is the least or the largest finite
    number of the type. nan stays.
    """
    least, most = (_edge(bound, x.dtype, place) for bound, place in ((low, -1), (high, 1)))
    with quiet():
        if x.dtype.kind in "fiu":
            return np.asarray(np.clip(x, least, most))
        return np.asarray(np.minimum(np.maximum(x, least), most))


def _edge(bound: NDArray[Any] | float | None, dtype: np.dtype[Any], place: int) -> NDArray[Any]:
    """Return a bound of `hold_between` in the type of the elements. place: -1 for the least, 1 for the largest."""
    if bound is None:
        if is_float(dtype):
            with quiet():
                return np.asarray((place * _most(dtype)).astype(dtype))
        limits = np.iinfo(dtype)
        return np.asarray(limits.min if place < 0 else limits.max, dtype)
    if not isinstance(bound, np.ndarray):
        return _bound(bound, dtype, finite=False).astype(dtype)
    if bound.dtype != dtype or bound.ndim:
        raise InputError(
            f"clip: expected a bound of {dtype} without dimensions, found {bound.dtype} {list(bound.shape)}"
        )
    return bound


def _most(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the largest finite float of a type in float64."""
    return np.asarray(_LARGEST_BFLOAT16 if dtype.name == "bfloat16" else np.finfo(dtype).max, np.float64)


def raise_to(x: NDArray[Any], *, low: float, scale_bias: tuple[float, float] | None = None) -> NDArray[Any]:
    """Return every element, at least `low`, which is read as in `clip`; nan and a zero beside a zero become `low`."""
    bottom = np.asarray(np.float32(low)) if is_float(x.dtype) else _bound(low, x.dtype, finite=False)
    with quiet():
        values = prepared(x, scale_bias)
        return round_to(np.where(~(values > bottom) & (bottom == bottom), bottom, values), x.dtype)  # noqa: PLR0124


def clip_gradient(
    x: NDArray[Any],
    gradient: NDArray[Any],
    *,
    low: float,
    high: float,
    nan_is_sign: bool = False,
    by_halves: bool = False,
) -> NDArray[Any]:
    """Return the gradient where x lies above `low` and below `high`, else 0. The rest is as in `clip`."""
    x, gradient = paired("clip_gradient", x, gradient)
    bottom, top = (_bound(bound, x.dtype, finite=False, nan_is_sign=nan_is_sign) for bound in (low, high))
    values = to_float32(x, x.dtype)
    if by_halves:
        bottom, top, values = map(turn_low_halves, (bottom, top, values))
    return np.where((values > bottom) & (values < top), gradient, np.zeros((), gradient.dtype))
