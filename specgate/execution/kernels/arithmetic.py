"""What kernels share: wide arithmetic that is rounded once, and checks of shapes."""

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
    """Return whether a type is a floating one, those of ml_dtypes (which numpy calls void-like) included."""
    return dtype.kind == "f" or (dtype.kind == "V" and dtype.name.startswith(("bfloat", "float")))


def to_float64(array: NDArray[Any]) -> NDArray[Any]:
    """Return floats as a new array of float64, in which sums of products of float32 hardly round; other types stay."""
    return array.astype(np.float64) if is_float(array.dtype) else array


def to_float32(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return floats rounded to float32, the arithmetic of `dtype` up to 32 bits; float64 and integers stay.

    What is float32 already is the array itself, which no kernel writes into.
    """
    if array.dtype == np.float32 or dtype == np.float64 or not is_float(dtype):
        return array
    with memory.quiet():
        return array.astype(np.float32, copy=False)


def quiet(array: NDArray[Any]) -> NDArray[Any]:
    """Return floats with every nan a quiet one: fmax and fmin pass over those, but a signalling one they return."""
    return np.where(np.isnan(array), array.dtype.type(np.nan), array) if array.dtype.kind == "f" else array


def turn_low_halves(array: NDArray[Any]) -> NDArray[Any]:
    """Return INT64 whose order is that of the high halves, and of equal ones that of the low halves as signed numbers.

    The function is its own inverse.
    """
    return np.asarray(array ^ np.int64(2**31))


def chosen(condition: NDArray[np.bool_], a: Any, b: Any) -> NDArray[Any]:
    """Return ``np.where(condition, a, b)`` of two arrays of one type, which broadcast.

    By their bits, which takes a fraction of the time where the condition changes from element to element.
    """
    one, other = np.asarray(a), np.asarray(b)
    size = one.dtype.itemsize
    if one.dtype != other.dtype or one.dtype.hasobject or size not in {1, 2, 4, 8}:
        array: NDArray[Any] = np.where(condition, a, b)
        return array
    bits = np.dtype(f"i{size}")
    mask = np.asarray(np.negative(condition.view(np.int8), dtype=bits))  # all bits, or none
    result = np.asarray((one.view(bits) & mask) | (other.view(bits) & ~mask))
    return result.view(one.dtype)


def round_to(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array rounded to `dtype`, by way of float32 where that is narrower still."""
    if array.dtype == dtype:
        return array
    with memory.quiet():
        if dtype == _SINGLE:
            return array.astype(dtype)
        single = to_float32(array, dtype)
        half = dtype == np.float16 and single.dtype == np.float32
        return to_half(single) if half else single.astype(dtype, copy=False)


def check_axis(axis: int, rank: int, name: str) -> None:
    """Raise InputError unless `axis` is a position of `rank` dimensions."""
    if not 0 <= axis < rank:
        raise InputError(f"{name}: axis {axis} is not a position of {rank} dimensions")


def check_axes(axes: Iterable[int], rank: int, name: str) -> tuple[int, ...]:
    """Return the axes, each once, in rising order; raise InputError for one that is no position."""
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
    """Raise InputError unless a shape is the expected one."""
    if tuple(numbers) != tuple(expected):
        raise InputError(f"{name}: expected {what} of shape {list(expected)}, found {list(numbers)}")


def shape_of(name: str, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return an output's shape; raise InputError where a size is below 1."""
    if any(size < 1 for size in sizes):
        raise InputError(f"{name}: the output would have the shape {list(sizes)}")
    return tuple(int(size) for size in sizes)
