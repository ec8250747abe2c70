"""Constants, ranges, diagonals, one-hot encoding, nonzero, shape and size."""

from __future__ import annotations

from math import ceil, isfinite, prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, shape_of, to_float64
from specgate.execution.kernels.narrow_types import widen_array, zero_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def number(value: float, dtype: np.dtype[Any], *, integral_only: bool = False) -> NDArray[Any]:
    """Return `value` as a 0-D array.

    Raises InputError where the type cannot hold it. integral_only: a number that an integer type cannot hold is
    truncated and wraps around, via int32, or int64 for UINT32 and wider types; what that cannot hold is its minimum.
    """
    if is_float(dtype):
        return round_to(np.asarray(value, np.float64), dtype)
    limits = np.iinfo(dtype)
    if limits.min <= value <= limits.max and value == int(value):
        return np.asarray(int(value), dtype)
    if not integral_only:
        raise InputError(f"expected a number that {dtype} can hold, found {value}")
    exclusive_limit = 2**63 if dtype.itemsize == 8 or dtype == np.uint32 else 2**31
    clamped = int(value) if abs(value) < exclusive_limit else -exclusive_limit
    return np.asarray(clamped, np.int64).astype(dtype)


def check_number(name: str, dtype: np.dtype[Any], *, same_type: bool) -> None:
    """Raise InputError unless a scalar is declared with the array's type."""
    if not same_type:
        raise InputError(f"{name}: expected a number of the type of the output, {dtype}")


def fill_constant(
    *, sizes: Sequence[int], value: float, output_type: np.dtype[Any], same_type: bool = True
) -> NDArray[Any]:
    """Return an array filled with `value`.

    same_type: the scalar is declared with the array's type.
    """
    check_number("fill", output_type, same_type=same_type)
    result = memory.empty(shape_of("fill", sizes), output_type)
    result[...] = number(value, output_type)
    return result


def fill_sequence(
    *, sizes: Sequence[int], start: float, delta: float, output_type: np.dtype[Any], same_type: bool = True
) -> NDArray[Any]:
    """Return start + i * delta in row-major order; integers wrap around.

    same_type: the scalars are declared with the array's type.
    """
    check_number("fill", output_type, same_type=same_type)
    result = memory.empty(shape_of("fill", sizes), output_type)
    steps = np.arange(prod(result.shape), dtype=np.int64)
    with memory.ignore_warnings():
        first, step = number(start, output_type), number(delta, output_type)
        if is_float(output_type):
            array = round_to(first.astype(np.float64) + steps * step.astype(np.float64), output_type)
        else:
            array = first + steps.astype(output_type) * step
    result[...] = array.reshape(result.shape)
    return result


def diagonal_matrix(*, sizes: Sequence[int], value: float, offset: int, output_type: np.dtype[Any]) -> NDArray[Any]:
    """Return matrices with `value` on one diagonal.

    offset: columns right of the main diagonal. They are the last two dimensions. value: a FLOAT, converted as by
    `number`.
    """
    result = memory.empty(shape_of("diagonal", sizes), output_type)
    with memory.ignore_warnings():
        single = float(np.float32(value))
    result[...] = np.where(_differences(result.shape) == offset, number(single, output_type, integral_only=True), 0)
    return result


def diagonal_matrix_band(
    inputs: NDArray[Any] | None = None,
    *,
    sizes: Sequence[int],
    value: float,
    begin: int,
    end: int,
    output_type: np.dtype[Any],
    same_type: bool = True,
) -> NDArray[Any]:
    """Return `inputs` (zeros if None) with `value` on diagonals [begin, end).

    Diagonals are in the last two dimensions, numbered column - row. end < begin: on all but those in [end, begin).
    same_type: the scalar is declared with the result's type, which is also the input's.
    """
    check_number("diagonal", output_type, same_type=same_type)
    shape = shape_of("diagonal", sizes)
    if inputs is not None:
        require_shape(
            "diagonal", f"an input of {output_type}", inputs.shape if inputs.dtype == output_type else (), shape
        )
    result = memory.empty(shape, output_type)
    differences = _differences(shape)
    strip = (
        (begin <= differences) & (differences < end) if begin <= end else (begin <= differences) | (differences < end)
    )
    result[...] = np.where(strip, number(value, output_type), 0 if inputs is None else inputs)
    return result


def _differences(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Return column - row of the last two dimensions; a 1-D shape is one row."""
    rows, columns = (1, *shape)[-2:]
    array = np.arange(columns) - np.arange(rows)[:, np.newaxis]
    return array if len(shape) > 1 else array[0]


_MAX_DIAGONAL = 2**40


def shape_between(inputs: NDArray[Any], *, start: int = 0, end: int | None = None) -> NDArray[Any]:
    """Return the sizes of dimensions [start, end) as int64, as a Python slice."""
    return np.array(inputs.shape[start:end], np.int64)


def count_elements(inputs: NDArray[Any]) -> NDArray[Any]:
    """Return the number of elements, a scalar of int64."""
    return np.array(inputs.size, np.int64)


def constant_of_shape(sizes: NDArray[Any], *, value: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return an array filled with the element of `value`, default float32 0."""
    shape = tuple(int(size) for size in sizes.reshape(-1))
    if min(shape, default=0) < 0:
        raise InputError(f"constant: expected output sizes of at least 0, found {list(shape)!r:.60}")
    fill_array = np.zeros(1, np.float32) if value is None else value
    if fill_array.size != 1:
        raise InputError(f"constant: expected one value, found {fill_array.size}")
    result = memory.empty(shape, fill_array.dtype)
    result[...] = fill_array.reshape(())
    return result


def stated_value(
    *,
    tensor: NDArray[Any] | None = None,
    float_: float | None = None,
    floats: Sequence[float] | None = None,
    int_: int | None = None,
    ints: Sequence[int] | None = None,
    text: str | None = None,
    texts: Sequence[str] | None = None,
) -> NDArray[Any]:
    """Return the attribute that is set as an array.

    Numbers are float32 or int64, strings objects.
    """
    stated_values: list[tuple[Any, Any]] = [
        (tensor, None), (float_, np.float32), (floats, np.float32), (int_, np.int64), (ints, np.int64),
        (text, object), (texts, object),
    ]  # fmt: skip
    values = [(value, kind) for value, kind in stated_values if value is not None]
    if len(values) != 1:
        raise InputError(f"constant: expected one value, found {len(values)}")
    value, kind = values[0]
    return np.array(value, kind)


def eye_like(inputs: NDArray[Any], *, right: int = 0, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return an identity-like matrix of the shape of `inputs`.

    right: column offset of the diagonal of ones. dtype: default that of `inputs`.
    """
    if inputs.ndim != 2:
        raise InputError(f"eye_like: expected a 2-D input, found rank {inputs.ndim}")
    result = memory.empty(inputs.shape, inputs.dtype if dtype is None else dtype)
    result[...] = 0
    height, width = inputs.shape
    right = max(-_MAX_DIAGONAL, min(_MAX_DIAGONAL, right))
    places = np.arange(max(0, -right), max(0, -right, min(height, width - right)))
    result[places, places + right] = 1
    return result


def trilu(inputs: NDArray[Any], diagonal: NDArray[Any] | None = None, *, upper: bool) -> NDArray[Any]:
    """Return matrices [..., n, m] zeroed below or above a diagonal.

    Strings become empty. diagonal: columns right of the main one, default 0.
    """
    if inputs.ndim < 2 or (diagonal is not None and diagonal.size != 1):
        raise InputError(
            f"triangle: expected an input of rank 2 or more and one diagonal, found the shape {list(inputs.shape)}"
        )
    right = 0 if diagonal is None else max(-_MAX_DIAGONAL, min(_MAX_DIAGONAL, int(diagonal.reshape(()))))
    height, width = inputs.shape[-2:]
    if not inputs.size:  # only one slice of the other dimensions, for which no memory is counted
        return inputs.copy()
    memory.check_budget(inputs.shape, inputs.dtype)
    differences = np.arange(width) - np.arange(height)[:, np.newaxis]
    in_triangle = differences >= right if upper else differences <= right
    return np.where(in_triangle, inputs, zero_of("triangle", inputs.dtype))


_MAX_COUNT = 2**40


def arange(
    start: NDArray[Any], stop: NDArray[Any], step: NDArray[Any], *, like: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return the range [start, stop) by step.

    The type is that of `like`, default that of start. All three hold one element each and are truncated where the
    output has integers. Each number is start + i * step, rounded once.
    """
    if any(array.size != 1 for array in (start, stop, step)):
        raise InputError("range: expected start, limit and delta of one element each")
    first, last, delta = (to_float64(array).reshape(-1)[0].item() for array in (start, stop, step))
    if not all(map(isfinite, (first, last, delta))) or not delta:
        raise InputError(
            f"range: expected finite start, limit and delta, and a delta other than 0, found {first}, {last}, {delta}"
        )
    dtype = start.dtype if like is None else like
    if not is_float(dtype):
        first, last, delta = int(first), int(last), int(delta)
    if not delta:
        raise InputError("range: delta is 0 after rounding, expected another number")
    steps = (last - first) / delta if isinstance(first + last + delta, float) else -((first - last) // delta)
    if steps > _MAX_COUNT:
        raise InputError(f"range: {steps} elements are larger than any array")
    count = max(0, ceil(max(steps, -1)))
    result = memory.empty((count,), dtype)
    if count:
        all_integers = all(isinstance(number, int) for number in (first, delta))
        if all_integers and abs(first) + count * abs(delta) >= 2**62:
            result[...] = np.array([first + i * delta for i in memory.within_time_limit(range(count))], object).astype(
                dtype
            )
        else:
            places = np.arange(count, dtype=np.int64 if all_integers else np.float64)
            value = first + places * delta
            result[...] = round_to(value, dtype) if is_float(dtype) else value.astype(dtype)
    return result


def non_zero(inputs: NDArray[Any], *, int32_indices: bool = False, rows_of_scalar: int = 1) -> NDArray[Any]:
    """Return coordinates of non-zero elements [rank, count], row-major.

    int32_indices: as int32, else int64. For a scalar: [1, 1] with a 0, or [1, 0]; with rows_of_scalar 0 [0, 1] or [0,
    0].
    """
    if inputs.dtype.kind in "OUS":
        raise InputError("nonzero: expected numbers, found strings")
    full = inputs.reshape(1) if not inputs.ndim else inputs
    numbers = widen_array(full)
    is_nonzero = numbers != np.zeros((), numbers.dtype)
    rows = full.ndim if inputs.ndim else rows_of_scalar
    result = memory.empty((rows, int(np.count_nonzero(is_nonzero))), np.dtype(np.int32 if int32_indices else np.int64))
    for axis, places in enumerate(np.nonzero(is_nonzero)[:rows]):
        result[axis] = places
    return result


def nonzero_coordinates(
    inputs: NDArray[Any], *, columns: int, count_sizes: Sequence[int], sizes: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the non-zero count, and the coordinates, a row per element.

    Rows hold the last `columns` coordinates. Both are uint32. count_sizes: shape of the count, which has one element.
    sizes: shape of the coordinates, a row for every element of `inputs`; unused rows are masked.
    """
    require_shape("nonzero", "the number", count_sizes, (1,) * len(count_sizes))
    expected = (*(1,) * (len(sizes) - 2), inputs.size, columns)
    require_shape("nonzero", "coordinates", sizes, expected)
    if not 0 < columns <= inputs.ndim or any(size != 1 for size in inputs.shape[: inputs.ndim - columns]):
        raise InputError(f"nonzero: {columns} coordinates do not match the shape {list(inputs.shape)}")
    result = memory.empty(expected, np.dtype(np.uint32))
    result[...] = 0
    places = np.nonzero(inputs)[inputs.ndim - columns :]
    row_count = len(places[0])
    rows = result.reshape(inputs.size, columns)
    rows[:row_count] = np.stack(places, axis=1)
    mask = np.broadcast_to((np.arange(inputs.size) >= row_count)[:, np.newaxis], rows.shape).reshape(expected)
    return np.full(tuple(count_sizes), row_count, np.uint32), np.ma.MaskedArray(result, mask) if mask.any() else result


_BLOCK_BYTES: Final = 2**21
_TABLE_BYTES: Final = 2**18


def one_hot(
    indices: NDArray[Any],
    values: NDArray[Any] | None = None,
    *,
    axis: int,
    depth: NDArray[Any] | int,
    index_axis: str,
    negative_indices: str,
    on_value: NDArray[Any] | None = None,
    off_value: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return on_value where the position along `axis` equals the index.

    Other elements are off_value. indices: any integer or floating type (floats are truncated toward zero to int64).
    values: off_value and on_value as its first two elements in row-major order; or on_value and off_value as arrays of
    one element. depth: the output's size along `axis`. index_axis: "kept" if indices have that dimension with size 1,
    "inserted" if it is new. negative_indices: "ignored" (all off_value), "from_end", or "undefined" (masked in the
    result, as are positions of an index beyond int64).
    """
    off_array, on_array = _split_values(values, on_value, off_value)
    size = _depth(depth)
    index_array, no_number = _as_int64(np.asarray(indices))
    rank = index_array.ndim + (index_axis == "inserted")
    pos = axis + rank if axis < 0 and index_axis == "inserted" else axis
    if not 0 <= pos < rank:
        raise InputError(f"one_hot: axis {axis} is out of range for rank {rank}")
    if index_axis == "kept":
        if index_array.shape[pos] != 1:
            raise InputError(f"one_hot: the indices have size {index_array.shape[pos]} along axis {axis}, expected 1")
        index_array, no_number = np.squeeze(index_array, pos), np.squeeze(no_number, pos)
    is_undefined = no_number | (index_array < 0) if negative_indices == "undefined" else no_number
    result = _fill_one_hot(index_array, size, pos, off_array, on_array, from_end=negative_indices == "from_end")
    return _mask_undefined(result, is_undefined, pos)


def _split_values(
    values: NDArray[Any] | None, on_value: NDArray[Any] | None, off_value: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    if values is not None:
        flat = np.asarray(values).reshape(-1)
        if flat.size < 2:
            raise InputError(f"one_hot: expected at least 2 values (off, on), found {flat.size}")
        return flat[0:1], flat[1:2]
    off_array, on_array = np.asarray(off_value).reshape(-1), np.asarray(on_value).reshape(-1)
    if off_array.size != 1 or on_array.size != 1 or off_array.dtype != on_array.dtype:
        raise InputError("one_hot: expected on_value and off_value of one element each and the same type")
    return off_array, on_array


def _depth(depth: NDArray[Any] | int) -> int:
    array = np.asarray(depth)
    if array.size != 1 or array.ndim > 1:
        raise InputError(f"one_hot: expected depth as a scalar or one element, found the shape {list(array.shape)}")
    number = array.reshape(()).item()
    if not -1 < number < 2**63:  # nan fails both comparisons; above -1 a float is truncated to 0 or more
        raise InputError(f"one_hot: expected a depth from 0 to 2**63 - 1, found {number}")
    return int(number)


def _as_int64(indices: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the indices as int64, and where they have no int64 value.

    Those are nan, infinite and huge floats. A uint64 above the int64 range exceeds any depth, so it stays out of range.
    """
    if indices.dtype.kind in "iu":
        if indices.dtype == np.uint64:
            indices = np.minimum(indices, np.uint64(2**63 - 1))
        return indices.astype(np.int64, copy=False), np.zeros(indices.shape, np.bool_)
    if indices.dtype.kind == "c" or indices.dtype.kind not in "fV":
        raise InputError(f"one_hot: indices of type {indices.dtype} cannot be converted to integers")
    wide_indices = indices.astype(np.float64)
    bad = ~(np.abs(wide_indices) < 2.0**63)
    return np.where(bad, 0.0, wide_indices).astype(np.int64), bad


def _fill_one_hot(
    index_array: NDArray[np.int64],
    size: int,
    position: int,
    off_array: NDArray[Any],
    on_array: NDArray[Any],
    *,
    from_end: bool,
) -> NDArray[Any]:
    """Return the output: on_value at valid indices, off_value elsewhere."""
    result = memory.empty((*index_array.shape[:position], size, *index_array.shape[position:]), off_array.dtype)
    if result.size == 0:
        return result
    outer, inner = prod(index_array.shape[:position]), prod(index_array.shape[position:])
    if from_end:
        index_array = (
            np.where(index_array < 0, index_array + size, index_array) if bool((index_array < 0).any()) else index_array
        )
    target, indices = result.reshape(outer, size, inner), index_array.reshape(outer, inner)
    if inner == 1 and (size + 1) * size * off_array.dtype.itemsize <= _TABLE_BYTES:
        _copy_rows(target[:, :, 0], indices[:, 0], off_array[0], on_array[0])
    else:
        _fill_blocks(target, indices, off_array[0], on_array[0])
    return result


def _copy_rows(target: NDArray[Any], indices: NDArray[np.int64], off_array: Any, on_array: Any) -> None:
    """Fill along the last axis by copying rows of a small table, in one pass."""
    size = target.shape[1]
    table = np.empty((size + 1, size), target.dtype)  # the last row is for indices out of range
    table.fill(off_array)  # numpy.full strips trailing NUL characters of a string
    np.fill_diagonal(table[:size], on_array)
    if not bool((indices.view(np.uint64) < np.uint64(size)).all()):  # a negative index is a huge unsigned one
        indices = np.where((indices >= 0) & (indices < size), indices, size)
    np.take(table, indices, axis=0, out=target, mode="clip")


def _fill_blocks(target: NDArray[Any], indices: NDArray[np.int64], off_array: Any, on_array: Any) -> None:
    """Fill block by block, and write each block's on_value while it is cached."""
    outer, size, inner = target.shape
    columns = max(1, min(inner, _BLOCK_BYTES // (size * target.itemsize)))
    rows = max(1, _BLOCK_BYTES // (size * columns * target.itemsize))
    for top in range(0, outer, rows):
        for left in range(0, inner, columns):
            block = target[top : top + rows, :, left : left + columns]
            block.fill(off_array)
            part = indices[top : top + rows, left : left + columns]
            row, column = np.nonzero((part >= 0) & (part < size))
            block[row, part[row, column], column] = on_array


def _mask_undefined(result: NDArray[Any], is_undefined: NDArray[np.bool_], position: int) -> NDArray[Any]:
    """Mask undefined elements; an array without any stays unmasked."""
    if not is_undefined.any():
        return result
    mask = np.broadcast_to(np.expand_dims(is_undefined, position), result.shape)
    return np.ma.MaskedArray(result, mask=mask)
