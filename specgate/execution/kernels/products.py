"""Matrix products within the time of an execution: in blocks of rows, between which the clock is looked at."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to, to_float32, to_float64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["batch_of", "multiply_matrices", "multiply_rounded"]

#: Multiplications between two looks at the clock: a fraction of a second, of integers too.
_BLOCK: Final = 2**28
#: Elements of a matrix that are converted at a time, so that they are still in a cache when they are multiplied; and of
#: the largest of several matrices, whose arrays are then small enough for memory that is used again.
_CONVERTED, _TOGETHER = 2**20, 2**15


def multiply_matrices(left: NDArray[Any], right: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return ``left @ right`` of at least two dimensions each, the leading ones broadcast, in `out` if given.

    Raises InputError once the time of the budget in force is over.
    """
    batch = batch_of(left, right)
    shape = (*batch, left.shape[-2], right.shape[-1])
    if prod(shape) * left.shape[-1] <= _BLOCK:
        return np.matmul(left, right, out=out)
    result = memory.empty(shape, np.result_type(left, right)) if out is None else out
    lefts = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    rights = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    rows = max(1, _BLOCK // max(1, left.shape[-1] * right.shape[-1]))
    for place in memory.in_time(np.ndindex(batch)):
        for top in memory.in_time(range(0, left.shape[-2], rows)):
            np.matmul(lefts[place][top : top + rows], rights[place], out=result[place][top : top + rows])
    return result


def batch_of(left: NDArray[Any], right: NDArray[Any]) -> tuple[int, ...]:
    """Return the leading dimensions of a product of matrices; raise ValueError where they do not broadcast."""
    one, other = left.shape[:-2], right.shape[:-2]
    return one if one == other or not other else np.broadcast_shapes(one, other)


def multiply_rounded(left: NDArray[Any], right: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return ``left @ right`` of floats as `multiply_matrices` does, computed in float64 and rounded to `dtype`."""
    shape = (*batch_of(left, right), left.shape[-2], right.shape[-1])
    if dtype == np.float64 or (left.shape[:-2] != right.shape[:-2] and right.ndim > 2):
        product = memory.empty(shape, np.dtype(np.float64))
        multiply_matrices(to_float64(left), to_float64(right), product)
        return round_to(product, dtype)
    result = memory.empty(shape, dtype)
    if result.size:
        if right.ndim == 2:
            rows = prod(shape[:-1])
            _multiply_by_columns(left.reshape(rows, left.shape[-1]), right, result.reshape(rows, shape[-1]))
        else:
            lists = (each.reshape(prod(shape[:-2]), *each.shape[-2:]) for each in (left, right, result))
            _multiply_lists(*lists)
    return result


def _multiply_by_columns(left: NDArray[Any], right: NDArray[Any], result: NDArray[Any]) -> None:
    """Write the product of two matrices, some columns at a time."""
    wide = left.astype(np.float64)
    (rows, inner), count = left.shape, right.shape[1]
    each = min(count, max(16, _CONVERTED // max(1, rows, inner) // 16 * 16))
    rooms = np.empty(inner * each), np.empty(rows * each)  # used again: memory that is new each time takes longer
    for first in memory.in_time(range(0, count, each)):
        columns = slice(first, min(first + each, count))
        many = columns.stop - first
        part, made = (room[: size * many].reshape(size, many) for room, size in zip(rooms, left.T.shape, strict=True))
        part[...] = right[:, columns]
        result[:, columns] = _rounded(multiply_matrices(wide, part, made), result.dtype)


def _multiply_lists(left: NDArray[Any], right: NDArray[Any], result: NDArray[Any]) -> None:
    """Write the products of matrices [number, rows, columns], some of them at a time."""
    arrays = left, right, result
    many = min(len(result), max(1, _TOGETHER // max(1, *(prod(each.shape[1:]) for each in arrays))))
    rooms = [np.empty((many, *each.shape[1:])) for each in arrays]
    for first in memory.in_time(range(0, len(result), many)):
        some = slice(first, min(first + many, len(result)))
        one, other, made = (room[: some.stop - first] for room in rooms)
        one[...], other[...] = left[some], right[some]
        result[some] = _rounded(multiply_matrices(one, other, made), result.dtype)


def _rounded(wide: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return what is rounded to `dtype` where it is written: float64, or float32 on the way to less than that."""
    return wide if dtype.itemsize >= 4 else to_float32(wide, dtype)
