"""Functions of rows and of single elements, computed in float64 or in float32 some of them at a time.

What a function makes on its way then stays in the processor's cache, in arrays that are used again: memory that is new
each time costs more than the arithmetic.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.arithmetic import to_float32

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

__all__ = ["BLOCK", "blocks_of", "centre_rows", "rows_by", "singles_by"]

#: Elements that are computed at a time: a few arrays of so many fit into a cache of the second level.
BLOCK: Final = 2**15


def blocks_of(count: int, size: int, times: int = 1) -> Iterator[slice]:
    """Yield slices of `count` rows of so many elements, each of about `BLOCK` elements, as long as there is time.

    times: or so many times as many, where few arrays are written to and much is done for each block.
    """
    each = max(1, BLOCK * times // max(1, size))
    for begin in memory.in_time(range(0, count, each)):
        yield slice(begin, min(begin + each, count))


def centre_rows(wide: NDArray[Any], epsilon: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Take from each row of float64 [rows, size] its mean; return the means and the roots of variance plus epsilon."""
    count = np.float64(wide.shape[1])
    mean = wide.sum(axis=1, keepdims=True) / count
    wide -= mean
    return mean, np.sqrt(np.square(wide).sum(axis=1, keepdims=True) / count + np.float32(epsilon))


def rows_by(
    function: Callable[..., NDArray[Any]], *arrays: NDArray[Any], dtype: np.dtype[Any], places: bool = False
) -> NDArray[Any]:
    """Return a function of rows of floats [rows, …], each computed by itself in float64, rounded to `dtype`.

    function: of the same rows of all arrays, with places of a slice that says which, too. It may write into its arrays,
    and gives one of the shape of the first.
    """
    first = arrays[0]
    result = np.empty(first.shape, dtype)
    room = [np.empty(0)] * len(arrays)
    for rows in blocks_of(len(first), prod(first.shape[1:])):
        count = rows.stop - rows.start
        if not rows.start:
            room = [np.empty((count, *array.shape[1:])) for array in arrays]
        wide = [each[:count] for each in room]
        for each, array in zip(wide, arrays, strict=True):
            each[...] = array[rows]
        made = function(*wide, rows) if places else function(*wide)
        result[rows] = made if dtype.itemsize >= 4 else to_float32(made, dtype)  # narrower ones by way of float32
    return result


def singles_by(
    function: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], object], array: NDArray[Any]
) -> NDArray[Any]:
    """Return a function of each element of float32, computed in float32.

    function: of elements, of an array to write the results into, and of one to compute in, which it may write over.
    """
    result = np.empty(array.shape, np.float32)
    flat, made = np.ascontiguousarray(array).reshape(-1), result.reshape(-1)
    room = np.empty(min(BLOCK, flat.size), np.float32)
    for some in blocks_of(flat.size, 1):
        function(flat[some], made[some], room[: some.stop - some.start])
    return result
