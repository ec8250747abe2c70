"""Shared kernel helpers: wide arithmetic, shape and axis checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.float16 import to_half

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = [
    "check_axes",
    "check_axis",
    "chosen",
    "is_float",
    "quiet",
    "require_shape",
    "round_to",
    "same_length",
    "shape_of",
    "to_float32",
    "to_float64",
    "turn_low_halves",
]

_SINGLE: Final = np.dtype(np.float32)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is floating-point, including ml_dtypes floats.

    numpy itself classifies those as void-like.
    """
    return dtype.kind == "f" or (dtype.kind == "V" and dtype.name.startswith(("bfloat", "float")))


def to_float64(array: NDArray[Any]) -> NDArray[Any]:
    """Return floats as a new float64 array; other types unchanged.

    Sums of float32 products hardly round in float64.
    """
    return array.astype(np.float64) if is_float(array.dtype) else array


def to_float32(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return floats of up to 32 bits as float32.

    float64 and integers are unchanged. A float32 array is returned itself, not copied; no kernel writes into it.
    """
    if array.dtype == np.float32 or dtype == np.float64 or not is_float(dtype):
        return array
    with memory.quiet():
        return array.astype(np.float32, copy=False)


def quiet(array: NDArray[Any]) -> NDArray[Any]:
    """Return floats with every signaling nan made quiet.

    fmax and fmin skip quiet nan but return a signaling one.
    """
    return np.where(np.isnan(array), array.dtype.type(np.nan), array) if array.dtype.kind == "f" else array


def turn_low_halves(array: NDArray[Any]) -> NDArray[Any]:
    """Return INT64 ordered by high half, then by signed low half.

    The function is its own inverse.
    """
    return np.asarray(array ^ np.int64(2**31))


def chosen(condition: NDArray[np.bool_], a: Any, b: Any) -> NDArray[Any]:
    """Return ``np.where(condition, a, b)`` for two arrays of one type.

    Works on bits, which is much faster for irregular conditions. Shapes broadcast.
    """
    one, other = np.asarray(a), np.asarray(b)
    size = one.dtype.itemsize
    if one.dtype != other.dtype or one.dtype.hasobject or size not in {1, 2, 4, 8}:
        array: NDArray[Any] = np.where(condition, a, b)
        return array
    bits = np.dtype(f"i{size}")
    mask = np.asarray(np.negative(condition.view(np.int8), dtype=bits))  # all bits set, or none
    result = np.asarray((one.view(bits) & mask) | (other.view(bits) & ~mask))
    return result.view(one.dtype)


def round_to(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array rounded to `dtype`, via float32 for narrower types."""
    if array.dtype == dtype:
        return array
    with memory.quiet():
        if dtype == _SINGLE:
            return array.astype(dtype)
        single = to_float32(array, dtype)
        half = dtype == np.float16 and single.dtype == np.float32
        return to_half(single) if half else single.astype(dtype, copy=False)


def check_axis(axis: int, rank: int, name: str) -> None:
    """Raise InputError unless `axis` is in range for `rank`."""
    if not 0 <= axis < rank:
        raise InputError(f"{name}: axis {axis} is not a position of {rank} dimensions")


def check_axes(axes: Iterable[int], rank: int, name: str) -> tuple[int, ...]:
    """Return the distinct axes in ascending order.

    Raises InputError for an axis out of range.
    """
    numbers = sorted(set(axes))
    for axis in numbers:
        check_axis(axis, rank, name)
    return tuple(numbers)


def same_length(name: str, count: int, **lists: Sequence[Any]) -> None:
    """Raise InputError unless every list has `count` elements."""
    for what, values in lists.items():
        if len(values) != count:
            raise InputError(f"{name}: expected {count} {what}, found {len(values)}")


def require_shape(name: str, what: str, numbers: Sequence[int], expected: Sequence[int]) -> None:
    """Raise InputError unless a shape equals the expected one."""
    if tuple(numbers) != tuple(expected):
        raise InputError(f"{name}: expected {what} of shape {list(expected)}, found {list(numbers)}")


def shape_of(name: str, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return an output shape; raise InputError for a size below 1."""
    if any(size < 1 for size in sizes):
        raise InputError(f"{name}: the output would have the shape {list(sizes)}")
    return tuple(int(size) for size in sizes)
