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

    _Sums = Callable[[NDArray[Any], NDArray[Any] | None], NDArray[Any]]

__all__ = [
    "BLOCK", "blocks_of", "centre_rows", "few_digits_lost", "few_summands", "normalize_singles", "rows_by",
    "scale_singles", "singles_by",
]  # fmt: skip

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
        new_array = function(*wide, rows) if places else function(*wide)
        result[rows] = (
            new_array if dtype.itemsize >= 4 else to_float32(new_array, dtype)
        )  # narrower ones by way of float32
    return result


def singles_by(
    function: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], object], array: NDArray[Any]
) -> NDArray[Any]:
    """Return a function of each element of float32, computed in float32.

    function: of elements, of an array to write the results into, and of one to compute in, which it may write over.
    """
    result = np.empty(array.shape, np.float32)
    flat, new_array = np.ascontiguousarray(array).reshape(-1), result.reshape(-1)
    room = np.empty(min(BLOCK, flat.size), np.float32)
    for some in blocks_of(flat.size, 1):
        function(flat[some], new_array[some], room[: some.stop - some.start])
    return result


#: What is added last: up to here what float32 loses before is little of the tolerance, whatever cancels.
_SUMMAND: Final = 4.0
#: Numbers that are added up in one sweep, since more lose too much, and into how many sweeps rows are cut.
_SWEEP, _PARTS = 2**12, 64
#: How many blocks are computed at once.
_TIMES: Final = 4
#: Numbers from the one to the other are far from the ends of float32.
_SMALL, _LARGE = 1e-30, 1e30
#: Variances whose squares float32 holds; below the least they are lost, unless an epsilon outweighs them.
_LEAST, _MOST, _OUTWEIGHS = 1e-28, 1e28, 1e-20


def few_summands(*summands: NDArray[Any] | None) -> bool:
    """Return whether numbers that are added to normalised ones are small enough for float32."""
    return all(each is None or not each.size or bool(np.abs(each).max() <= _SUMMAND) for each in summands)


def few_digits_lost(means: NDArray[Any], slopes: NDArray[Any]) -> bool:
    """Return whether `scale_singles` can take means and slopes: they are far from the ends of float32, or 0."""
    sizes = np.abs(slopes)
    return bool((np.abs(means) <= _LARGE).all() and ((sizes <= _LARGE) & ((sizes >= _SMALL) | (sizes == 0))).all())


def scale_singles(
    inputs: NDArray[Any], means: NDArray[Any], slopes: NDArray[Any], summands: NDArray[Any]
) -> NDArray[Any]:
    """Return ``(inputs - means) * slopes + summands`` of float32 [rows, …] and numbers of float64 for its first rows.

    Each of the numbers is used again for every so many rows.
    """
    result = np.empty(inputs.shape, np.float32)
    every = len(means)
    near = means.astype(np.float32)
    rest = (means - near).astype(np.float32)
    numbers = near, rest, slopes.astype(np.float32), summands.astype(np.float32)
    for some in blocks_of(len(inputs), prod(inputs.shape[1:]), _TIMES):
        array = result[some]
        each = np.arange(some.start, some.stop) % every
        first, second, slope, summand = (number[each] for number in numbers)
        np.subtract(inputs[some], first, out=array)
        if second.any():
            array -= second
        array *= slope
        array += summand
    return result


def normalize_singles(
    inputs: NDArray[Any],
    scaled: Callable[[NDArray[Any], slice], object],
    wider: Callable[[NDArray[Any], slice], NDArray[Any]],
    *,
    epsilon: float,
    statistics: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """Return rows [rows, size] of float32 less their mean, divided by the root of their variance and epsilon, scaled.

    Each row is what it is alone. scaled: what is done with these rows in float32, which it writes over; wider: all of
    it with rows of float64, where float32 does not hold the squares. statistics: two arrays [rows, 1] of float64 for
    means and roots.
    """
    count, size = inputs.shape
    result = np.empty(inputs.shape, np.float32)
    least = 0.0 if epsilon >= _OUTWEIGHS else _LEAST
    sums = _sums_of(size)
    for some in blocks_of(count, size, _TIMES):
        array = result[some]
        mean, spread = _centre(inputs[some], array, sums)
        root = np.sqrt(spread + np.float32(epsilon))
        array *= (1 / root).astype(np.float32)
        scaled(array, some)
        if statistics is not None:
            statistics[0][some], statistics[1][some] = mean, root
        if not (least <= spread.min() and spread.max() <= _MOST):
            for row in memory.in_time(some.start + _beyond(inputs[some], spread, least)):
                result[row : row + 1] = wider(inputs[row : row + 1].astype(np.float64), slice(row, row + 1))
    return result


def _beyond(rows: NDArray[Any], spread: NDArray[Any], least: float) -> NDArray[np.intp]:
    """Return the finite rows whose variances float32 does not hold; all of another is nan in any type."""
    array = np.flatnonzero(~((spread >= least) & (spread <= _MOST)))
    known_array: NDArray[np.intp] = array[np.isfinite(rows[array]).all(axis=1)]
    return known_array


def _centre(rows: NDArray[Any], array: NDArray[Any], sums: _Sums) -> tuple[NDArray[Any], NDArray[Any]]:
    """Write rows less their means to `array`; return means and variances in float64."""
    size = rows.shape[1]
    near = (sums(rows, None) / size).astype(np.float32)
    np.subtract(rows, near, out=array)  # hardly rounds where the mean is large beside what remains
    rest = np.where(np.isfinite(near), sums(array, None) / size, 0.0)
    spread = np.maximum(sums(array, array) / size - rest * rest, 0.0)
    if (np.abs(rest) > np.sqrt(spread) * 2.0**-24).any():
        array -= rest.astype(np.float32)
    return near + rest, spread


def _sums_of(size: int) -> _Sums:
    """Return a function of rows of so many elements: columns of float64 with their sums, or those of products.

    Each is a product of two vectors, which takes the least time and is the same whatever rows there are beside it.
    """
    parts = next((each for each in range(-(-size // _SWEEP), _PARTS) if size % each == 0), 0)
    each = size // max(1, parts)
    ones = np.ones((each, 1), np.float32)

    def sums(rows: NDArray[Any], others: NDArray[Any] | None) -> NDArray[Any]:
        if not parts:
            result = (rows if others is None else rows * others).sum(axis=1, keepdims=True)  # in pairs
            return np.asarray(result, np.float64)
        by = ones if others is None else others.reshape(-1, each, 1)
        result = np.matmul(rows.reshape(-1, 1, each), by).reshape(-1, parts)
        return np.asarray(result.sum(axis=1, keepdims=True, dtype=np.float64))

    return sums
