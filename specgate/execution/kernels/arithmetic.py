"""Shared kernel helpers: wide arithmetic, rows by block, axis checks."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    _Sums = Callable[[NDArray[Any], NDArray[Any] | None], NDArray[Any]]

#: Elements rounded per block: their arrays fit into an L2 cache.
_BLOCK: Final = 2**15
#: numpy is faster for fewer elements.
_MIN_BLOCKED_ELEMENTS: Final = 2**10
#: The smallest normal float16, and the float32 from which on float16 overflows.
_MIN_NORMAL_HALF, _HALF_OVERFLOW = np.float32(2.0**-14), np.float32(65520)
_BITS, _TOP, _ONE = np.uint32(13), np.uint32(16), np.uint32(1)
#: Subtracts 112 from the exponent, and adds just less than half of the last bit that stays.
_BIAS: Final = np.uint32((0xFFF - (112 << 23)) % 2**32)
_SIGN: Final = np.uint16(0x8000)
#: Makes subnormal numbers integers, which are their bits.
_STEPS: Final = np.float32(2.0**24)


def to_half(array: NDArray[Any]) -> NDArray[Any]:
    """Return float32 rounded to float16, half to even, bit-exact with numpy."""
    result = np.empty(array.shape, np.float16)
    if array.size < _MIN_BLOCKED_ELEMENTS:
        result[...] = array
        return result
    flat, to = np.ascontiguousarray(array).reshape(-1), result.reshape(-1)
    block_size = min(_BLOCK, flat.size)
    workspace = np.empty(block_size, np.uint32), np.empty(block_size, np.float32), np.empty(block_size, np.uint16)
    for begin in memory.within_time_limit(range(0, flat.size, _BLOCK)):
        block, new_array = flat[begin : begin + _BLOCK], to[begin : begin + _BLOCK]
        bits, size, signs = (buffer[: block.size] for buffer in workspace)
        np.abs(block, size)
        if size.max() < _HALF_OVERFLOW:
            _round_normal(block.view(np.uint32), new_array.view(np.uint16), bits, signs)
            _round_small(block, new_array, size, signs)
        else:  # too large, infinite or nan
            new_array[...] = block
    return result


def _round_normal(normal_halves: NDArray[Any], codes: NDArray[Any], bits: NDArray[Any], signs: NDArray[Any]) -> None:
    """Write the bits of normal float16 numbers, and the signs.

    bits: scratch array of the same size.
    """
    np.right_shift(normal_halves, _TOP, bits)
    np.copyto(signs, bits, casting="unsafe")
    np.bitwise_and(signs, _SIGN, signs)
    np.right_shift(normal_halves, _BITS, bits)
    np.bitwise_and(bits, _ONE, bits)  # a half rounds up where the last bit is 1
    np.add(bits, normal_halves, bits)
    np.add(bits, _BIAS, bits)
    np.right_shift(bits, _BITS, bits)
    np.copyto(codes, bits, casting="unsafe")
    np.bitwise_or(codes, signs, codes)


def _round_small(numbers_to_round: NDArray[Any], array: NDArray[Any], size: NDArray[Any], signs: NDArray[Any]) -> None:
    """Write the numbers below the normal range, including 0.

    size: scratch array with each element's magnitude.
    """
    small = size < _MIN_NORMAL_HALF
    count = np.count_nonzero(small)
    if count > numbers_to_round.size // 16:
        np.multiply(size, _STEPS, size)
        np.rint(size, size)
        codes = array.view(np.uint16)
        signs |= size.astype(np.uint16)
        signs ^= codes  # exchanged bitwise, which is faster than an element-wise choice
        signs &= np.negative(small.view(np.int8), dtype=np.int16).view(np.uint16)
        codes ^= signs
    elif count:
        small_places = np.flatnonzero(small)
        array[small_places] = numbers_to_round[small_places]


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
    with memory.ignore_warnings():
        return array.astype(np.float32, copy=False)


def quiet_nans(array: NDArray[Any]) -> NDArray[Any]:
    """Return floats with every signaling nan made quiet.

    fmax and fmin skip quiet nan but return a signaling one.
    """
    return np.where(np.isnan(array), array.dtype.type(np.nan), array) if array.dtype.kind == "f" else array


def order_low_halves(array: NDArray[Any]) -> NDArray[Any]:
    """Return INT64 ordered by high half, then by signed low half.

    The function is its own inverse.
    """
    return np.asarray(array ^ np.int64(2**31))


def choose_elements(condition: NDArray[np.bool_], a: Any, b: Any) -> NDArray[Any]:
    """Return ``np.where(condition, a, b)`` for two arrays of one type.

    Works on bits, which is much faster for irregular conditions. Shapes broadcast.
    """
    left, right = np.asarray(a), np.asarray(b)
    size = left.dtype.itemsize
    if left.dtype != right.dtype or left.dtype.hasobject or size not in {1, 2, 4, 8}:
        array: NDArray[Any] = np.where(condition, a, b)
        return array
    bits = np.dtype(f"i{size}")
    mask = np.asarray(np.negative(condition.view(np.int8), dtype=bits))  # all bits set, or none
    result = np.asarray((left.view(bits) & mask) | (right.view(bits) & ~mask))
    return result.view(left.dtype)


def round_to(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array rounded to `dtype`, via float32 for narrower types."""
    if array.dtype == dtype:
        return array
    with memory.ignore_warnings():
        if dtype == _SINGLE:
            return array.astype(dtype)
        single = to_float32(array, dtype)
        half = dtype == np.float16 and single.dtype == np.float32
        return to_half(single) if half else single.astype(dtype, copy=False)


def check_axis(axis: int, rank: int, name: str) -> None:
    """Raise InputError unless `axis` is in range for `rank`."""
    if not 0 <= axis < rank:
        raise InputError(f"{name}: axis {axis} is out of range for rank {rank}")


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
    for noun, values in lists.items():
        if len(values) != count:
            raise InputError(f"{name}: expected {count} {noun}, found {len(values)}")


def require_shape(name: str, noun: str, numbers: Sequence[int], expected: Sequence[int]) -> None:
    """Raise InputError unless a shape equals the expected one."""
    if tuple(numbers) != tuple(expected):
        raise InputError(f"{name}: expected {noun} of shape {list(expected)}, found {list(numbers)}")


def shape_of(name: str, sizes: Sequence[int]) -> tuple[int, ...]:
    """Return an output shape; raise InputError for a size below 1."""
    if any(size < 1 for size in sizes):
        raise InputError(f"{name}: expected output sizes of at least 1, found {list(sizes)}")
    return tuple(int(size) for size in sizes)


#: Elements per block: a few arrays of this size fit into an L2 cache.
BLOCK: Final = 2**15


def blocks_of(count: int, size: int, times: int = 1) -> Iterator[slice]:
    """Yield slices of `count` rows, about `BLOCK` elements each.

    Checks the time budget. times: multiple of the block size, for cheap memory use and much work per block.
    """
    rows_per_block = max(1, BLOCK * times // max(1, size))
    for begin in memory.within_time_limit(range(0, count, rows_per_block)):
        yield slice(begin, min(begin + rows_per_block, count))


def centre_rows(wide_rows: NDArray[Any], epsilon: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Subtract row means in place; return means and deviations.

    wide_rows: float64 [rows, size]. Deviations are sqrt(variance + epsilon).
    """
    count = np.float64(wide_rows.shape[1])
    mean = wide_rows.sum(axis=1, keepdims=True) / count
    wide_rows -= mean
    return mean, np.sqrt(np.square(wide_rows).sum(axis=1, keepdims=True) / count + np.float32(epsilon))


def row_function(
    function: Callable[..., NDArray[Any]], *arrays: NDArray[Any], dtype: np.dtype[Any], places: bool = False
) -> NDArray[Any]:
    """Return `function` of float rows [rows, …], computed in float64.

    The result is rounded to `dtype`. function: of the same rows of all arrays, with places also of the row slice. It
    may write into its arrays, and returns one of the shape of the first.
    """
    first = arrays[0]
    result = np.empty(first.shape, dtype)
    workspace = [np.empty(0)] * len(arrays)
    for rows in blocks_of(len(first), prod(first.shape[1:])):
        count = rows.stop - rows.start
        if not rows.start:
            workspace = [np.empty((count, *array.shape[1:])) for array in arrays]
        wide_rows = [buffer[:count] for buffer in workspace]
        for wide_row, array in zip(wide_rows, arrays, strict=True):
            wide_row[...] = array[rows]
        new_array = function(*wide_rows, rows) if places else function(*wide_rows)
        result[rows] = new_array if dtype.itemsize >= 4 else to_float32(new_array, dtype)  # narrower ones via float32
    return result


def singles_by(
    function: Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], object], array: NDArray[Any]
) -> NDArray[Any]:
    """Return an element-wise `function` of float32, computed in float32.

    function: of the elements, an output array, and a scratch array.
    """
    result = np.empty(array.shape, np.float32)
    flat, new_array = np.ascontiguousarray(array).reshape(-1), result.reshape(-1)
    workspace = np.empty(min(BLOCK, flat.size), np.float32)
    for block in blocks_of(flat.size, 1):
        function(flat[block], new_array[block], workspace[: block.stop - block.start])
    return result


#: Limit of the final summand: up to it, float32's error is small relative to the tolerance despite cancellation.
_SUMMAND: Final = 4.0
#: Maximum number of terms per sum, since more lose precision, and number of sums that rows are divided into.
_MAX_TERMS, _PARTS = 2**12, 64
#: Number of blocks computed at once.
_TIMES: Final = 4
#: Range of numbers far from the limits of float32.
_MIN_SAFE, _MAX_SAFE = 1e-30, 1e30
#: Range of variances whose squares float32 holds; smaller ones are lost unless epsilon outweighs them.
_MIN_VARIANCE, _MAX_VARIANCE, _DOMINANT_EPSILON = 1e-28, 1e28, 1e-20


def are_summands_small(*summands: NDArray[Any] | None) -> bool:
    """Return whether summands of normalized numbers are small enough.

    The limit is that of float32 precision.
    """
    return all(array is None or not array.size or bool(np.abs(array).max() <= _SUMMAND) for array in summands)


def keeps_precision(means: NDArray[Any], slopes: NDArray[Any]) -> bool:
    """Return whether `scale_singles` supports these means and slopes.

    They must be 0, or far from the limits of float32.
    """
    sizes = np.abs(slopes)
    return bool(
        (np.abs(means) <= _MAX_SAFE).all() and ((sizes <= _MAX_SAFE) & ((sizes >= _MIN_SAFE) | (sizes == 0))).all()
    )


def scale_singles(
    inputs: NDArray[Any], means: NDArray[Any], slopes: NDArray[Any], summands: NDArray[Any]
) -> NDArray[Any]:
    """Return ``(inputs - means) * slopes + summands`` in float32.

    inputs: [rows, …]. Parameters are float64 for the first rows, and repeat periodically.
    """
    result = np.empty(inputs.shape, np.float32)
    row_count = len(means)
    single_means = means.astype(np.float32)
    rest = (means - single_means).astype(np.float32)
    numbers = single_means, rest, slopes.astype(np.float32), summands.astype(np.float32)
    for block in blocks_of(len(inputs), prod(inputs.shape[1:]), _TIMES):
        array = result[block]
        row_numbers = np.arange(block.start, block.stop) % row_count
        first, second, slope, summand = (number[row_numbers] for number in numbers)
        np.subtract(inputs[block], first, out=array)
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
    """Return float32 rows normalized by mean and deviation, then scaled.

    Each row is independent of the others. scaled: a function of float32 rows, which it overwrites; wider: the same for
    float64 rows, used where float32 does not hold the squares. statistics: two float64 arrays [rows, 1] for means and
    deviations.
    """
    count, size = inputs.shape
    result = np.empty(inputs.shape, np.float32)
    least = 0.0 if epsilon >= _DOMINANT_EPSILON else _MIN_VARIANCE
    sums = _sums_of(size)
    for block in blocks_of(count, size, _TIMES):
        array = result[block]
        mean, deviation = _center_rows(inputs[block], array, sums)
        root = np.sqrt(deviation + np.float32(epsilon))
        array *= (1 / root).astype(np.float32)
        scaled(array, block)
        if statistics is not None:
            statistics[0][block], statistics[1][block] = mean, root
        if not (least <= deviation.min() and deviation.max() <= _MAX_VARIANCE):
            for row in memory.within_time_limit(block.start + _overflowing_rows(inputs[block], deviation, least)):
                result[row : row + 1] = wider(inputs[row : row + 1].astype(np.float64), slice(row, row + 1))
    return result


def _overflowing_rows(rows: NDArray[Any], deviations: NDArray[Any], least: float) -> NDArray[np.intp]:
    """Return the finite rows whose variances exceed float32.

    Non-finite rows are nan in any type.
    """
    array = np.flatnonzero(~((deviations >= least) & (deviations <= _MAX_VARIANCE)))
    known_array: NDArray[np.intp] = array[np.isfinite(rows[array]).all(axis=1)]
    return known_array


def _center_rows(rows: NDArray[Any], array: NDArray[Any], sums: _Sums) -> tuple[NDArray[Any], NDArray[Any]]:
    """Write centered rows to `array`; return means and float64 variances."""
    size = rows.shape[1]
    single_means = (sums(rows, None) / size).astype(np.float32)
    np.subtract(rows, single_means, out=array)  # hardly rounds where the mean is large relative to the rest
    rest = np.where(np.isfinite(single_means), sums(array, None) / size, 0.0)
    variance = np.maximum(sums(array, array) / size - rest * rest, 0.0)
    if (np.abs(rest) > np.sqrt(variance) * 2.0**-24).any():
        array -= rest.astype(np.float32)
    return single_means + rest, variance


def _sums_of(size: int) -> _Sums:
    """Return a function of rows that returns float64 row sums or dot products.

    Computed as products of two vectors, which is fastest and independent of other rows.
    """
    parts = next((part_count for part_count in range(-(-size // _MAX_TERMS), _PARTS) if size % part_count == 0), 0)
    part_size = size // max(1, parts)
    ones_column = np.ones((part_size, 1), np.float32)

    def sums(rows: NDArray[Any], other_rows: NDArray[Any] | None) -> NDArray[Any]:
        if not parts:
            result = (rows if other_rows is None else rows * other_rows).sum(axis=1, keepdims=True)  # pairwise
            return np.asarray(result, np.float64)
        factors = ones_column if other_rows is None else other_rows.reshape(-1, part_size, 1)
        result = np.matmul(rows.reshape(-1, 1, part_size), factors).reshape(-1, parts)
        return np.asarray(result.sum(axis=1, keepdims=True, dtype=np.float64))

    return sums
