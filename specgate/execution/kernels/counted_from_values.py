"""Outputs whose sizes follow from the elements: the numbers of a range, and the places that are not zero."""

from __future__ import annotations

from math import ceil, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float64
from specgate.execution.kernels.narrow import widened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["numbers_between", "places_not_zero", "rows_not_zero"]

_MOST = 2**40


def numbers_between(
    start: NDArray[Any], stop: NDArray[Any], step: NDArray[Any], *, like: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return the numbers from start on, step by step, that lie before stop, of the type `like` or that of start.

    All three hold one element each, and lose their fractions where the output has integers. Each number is start and
    so many steps, rounded once.
    """
    if any(array.size != 1 for array in (start, stop, step)):
        raise InputError("range: expected one number each to start, to stop and to step by")
    first, last, by = (to_float64(array).reshape(-1)[0].item() for array in (start, stop, step))
    if not all(map(isfinite, (first, last, by))) or not by:
        raise InputError(f"range: expected finite numbers and a step other than 0, found {first}, {last}, {by}")
    dtype = start.dtype if like is None else like
    if not is_float(dtype):
        first, last, by = int(first), int(last), int(by)
    if not by:
        raise InputError("range: a step of 0 after rounding has no meaning")
    steps = (last - first) / by if isinstance(first + last + by, float) else -((first - last) // by)
    if steps > _MOST:
        raise InputError(f"range: {steps} elements are larger than any array")
    count = max(0, ceil(max(steps, -1)))
    result = memory.empty((count,), dtype)
    if count:
        whole = all(isinstance(number, int) for number in (first, by))
        if whole and abs(first) + count * abs(by) >= 2**62:
            result[...] = np.array([first + i * by for i in memory.in_time(range(count))], object).astype(dtype)
        else:
            places = np.arange(count, dtype=np.int64 if whole else np.float64)
            found = first + places * by
            result[...] = round_to(found, dtype) if is_float(dtype) else found.astype(dtype)
    return result


def places_not_zero(inputs: NDArray[Any], *, int32_indices: bool = False, rows_of_scalar: int = 1) -> NDArray[Any]:
    """Return the coordinates of the elements that are not 0 [dimensions, number of them], in row-major order.

    int32_indices: as int32, else int64. Of a scalar: [1, 1] with a 0, or [1, 0]; with rows_of_scalar 0 [0, 1] or [0,
    0].
    """
    if inputs.dtype.kind in "OUS":
        raise InputError("nonzero: expected numbers, found texts")
    full = inputs.reshape(1) if not inputs.ndim else inputs
    numbers = widened(full)
    kept = numbers != np.zeros((), numbers.dtype)
    rows = full.ndim if inputs.ndim else rows_of_scalar
    result = memory.empty((rows, int(np.count_nonzero(kept))), np.dtype(np.int32 if int32_indices else np.int64))
    for axis, places in enumerate(np.nonzero(kept)[:rows]):
        result[axis] = places
    return result


def rows_not_zero(
    inputs: NDArray[Any], *, columns: int, count_sizes: Sequence[int], sizes: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return how many elements are not 0, and the last `columns` coordinates of each, a row for each in their order.

    Both are of uint32. count_sizes: the shape of the first, of one element. sizes: that of the second, a row for every
    element of `inputs`; the rows behind the last one are masked.
    """
    require_shape("nonzero", "the number", count_sizes, (1,) * len(count_sizes))
    expected = (*(1,) * (len(sizes) - 2), inputs.size, columns)
    require_shape("nonzero", "coordinates", sizes, expected)
    if not 0 < columns <= inputs.ndim or any(size != 1 for size in inputs.shape[: inputs.ndim - columns]):
        raise InputError(f"nonzero: {columns} coordinates do not name the places of {list(inputs.shape)}")
    result = memory.empty(expected, np.dtype(np.uint32))
    result[...] = 0
    places = np.nonzero(inputs)[inputs.ndim - columns :]
    many = len(places[0])
    rows = result.reshape(inputs.size, columns)
    rows[:many] = np.stack(places, axis=1)
    mask = np.broadcast_to((np.arange(inputs.size) >= many)[:, np.newaxis], rows.shape).reshape(expected)
    return np.full(tuple(count_sizes), many, np.uint32), np.ma.MaskedArray(result, mask) if mask.any() else result
