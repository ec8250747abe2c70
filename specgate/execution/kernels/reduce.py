"""Reductions, argmin and argmax, cumulative sums and products.

DirectML ARGMAX, CUMULATIVE_SUMMATION, REDUCE; ONNX ArgMax, ArgMin, CumProd, CumSum, ReduceL1, ReduceL2, ReduceLogSum,
ReduceLogSumExp, ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum, ReduceSumSquare; OpenVINO CumSum.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import (
    BLOCK,
    blocks_of,
    check_axes,
    check_axis,
    is_float,
    quiet_nans,
    round_to,
    to_float32,
    to_float64,
)
from specgate.execution.kernels.elementwise import mask_undefined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Function = Callable[[NDArray[Any], tuple[int, ...]], NDArray[Any]]

#: Slice elements from which on one call per slice is cheaper than numpy's cost per element.
_MIN_SLICE: Final = 64


def reduce(
    inputs: NDArray[Any], *, function: str, axes: Sequence[int], output_type: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return `inputs` with `axes` reduced to size 1.

    function: AVERAGE, L1 (sum of magnitudes), L2 (root of the sum of squares), LOG_SUM, LOG_SUM_EXP, MAX, MIN,
    MULTIPLY, SUM, SUM_SQUARE, or ARGMAX and ARGMIN, which return the index of the first such element. output_type: that
    of the indices; otherwise the result has the type of `inputs`, integers wrap around. MAX and MIN ignore nan, and
    return an infinity if there is nothing else.
    """
    if function in {"ARGMAX", "ARGMIN"}:
        return arg_reduce(inputs, axes=axes, largest=function == "ARGMAX", last=False, output_type=output_type)
    if function not in _FUNCTIONS:
        raise InputError(f"reduce: unknown function {function!r:.60}; known: {', '.join(_FUNCTIONS)}, ARGMAX, ARGMIN")
    numbers = check_axes(axes, inputs.ndim, "reduce")
    with memory.ignore_warnings():
        return round_to(np.asarray(_FUNCTIONS[function](inputs, numbers)), inputs.dtype)


def _sum(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    dtype = np.dtype(np.float64) if is_float(array.dtype) else array.dtype
    return np.asarray(np.sum(array, axis=axes, dtype=dtype, keepdims=True))


def _product(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    dtype = np.dtype(np.float64) if is_float(array.dtype) else array.dtype
    return np.asarray(np.prod(array, axis=axes, dtype=dtype, keepdims=True))


def _squares(array: NDArray[Any]) -> NDArray[Any]:
    """Return squares in the type's own arithmetic, including its overflow."""
    values = to_float32(array, array.dtype)
    return np.asarray(values * values)


def _average(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    count = int(np.prod([array.shape[axis] for axis in axes], dtype=np.int64))
    return np.asarray(to_float32(_sum(array, axes), array.dtype) / np.float32(count))


def _l1(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return _sum(np.abs(to_float32(array, array.dtype)), axes)


def _sum_square(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return _sum(_squares(array), axes)


def _l2(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return np.asarray(np.sqrt(to_float32(_sum_square(array, axes), array.dtype)))


def _log_sum(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return np.asarray(np.log(to_float64(to_float32(_sum(array, axes), array.dtype))))


def _log_sum_exp(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return np.asarray(np.log(to_float64(to_float32(_sum(np.exp(to_float64(array)), axes), array.dtype))))


def _max(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    matching_array = np.fmax.reduce(quiet_nans(to_float32(array, array.dtype)), axis=axes, keepdims=True)
    return (
        np.where(np.isnan(matching_array), -np.inf, matching_array)
        if is_float(array.dtype)
        else np.asarray(matching_array)
    )


def _min(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    matching_array = np.fmin.reduce(quiet_nans(to_float32(array, array.dtype)), axis=axes, keepdims=True)
    return (
        np.where(np.isnan(matching_array), np.inf, matching_array)
        if is_float(array.dtype)
        else np.asarray(matching_array)
    )


_FUNCTIONS: Final[dict[str, Callable[[NDArray[Any], tuple[int, ...]], NDArray[Any]]]] = {
    "AVERAGE": _average,
    "L1": _l1,
    "L2": _l2,
    "LOG_SUM": _log_sum,
    "LOG_SUM_EXP": _log_sum_exp,
    "MAX": _max,
    "MIN": _min,
    "MULTIPLY": _product,
    "SUM": _sum,
    "SUM_SQUARE": _sum_square,
}


def arg_reduce(
    inputs: NDArray[Any],
    *,
    axes: Sequence[int],
    largest: bool,
    last: bool,
    output_type: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return the index of the largest (or smallest) element over `axes`.

    The axes get size 1; the index is row-major over them. last: of equal elements the last instead of the first. nan is
    ignored unless it is the first element. output_type: an integer type, default int64.
    """
    numbers = check_axes(axes, inputs.ndim, "arg_reduce")
    kept_axes = [axis for axis in range(inputs.ndim) if axis not in numbers]
    count = prod(inputs.shape[axis] for axis in numbers)
    rows = np.transpose(inputs, (*kept_axes, *numbers)).reshape(*(inputs.shape[axis] for axis in kept_axes), count)
    values = quiet_nans(to_float32(rows, inputs.dtype))
    extremes = (np.fmax if largest else np.fmin).reduce(values, axis=-1, keepdims=True)
    hits = values == extremes
    places = np.asarray(count - 1 - np.argmax(hits[..., ::-1], axis=-1) if last else np.argmax(hits, axis=-1))
    if is_float(inputs.dtype):
        places = np.where(np.isnan(values[..., 0]), 0, places)
    shape = tuple(1 if axis in numbers else size for axis, size in enumerate(inputs.shape))
    return places.reshape(shape).astype(output_type or np.int64)


def _accumulate_axis(
    function: np.ufunc, values: NDArray[Any], axis: int, work: np.dtype[Any], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return the cumulative `function` computed in `work`, rounded to `dtype`.

    With many elements after the axis it is computed per slice instead of numpy's per element.
    """
    inner = prod(values.shape[axis + 1 :])
    if inner < _MIN_SLICE or not values.size:
        return round_to(np.asarray(function.accumulate(values, axis, dtype=work)), dtype)
    size = values.shape[axis]
    flat = values.reshape(-1, size, inner)
    result = memory.empty(flat.shape, dtype)
    rows_per_block = min(size, max(1, BLOCK // inner))
    workspace = np.empty((rows_per_block + 1, inner), work)  # preceded by the result of the block before
    slices = list(workspace)
    for place, value in zip(flat, result, strict=True):
        for block in blocks_of(size, inner):
            count = block.stop - block.start
            wide_block = workspace[1 : count + 1]
            wide_block[...] = place[block]
            later_slices = slices[1 if block.start else 2 : count + 1]
            for _ in map(function, slices[0 if block.start else 1 :], later_slices, later_slices):
                pass
            value[block] = round_to(wide_block, dtype)
            workspace[0] = wide_block[-1]
    return result.reshape(values.shape)


def cumulative(
    inputs: NDArray[Any], *, axis: int, backwards: bool, exclusive: bool, multiply: bool = False
) -> NDArray[Any]:
    """Return cumulative sums or products along `axis`, in the inputs' type.

    backwards: from the last element on. exclusive: without the element itself, starting with 0 (or 1). Integers wrap
    around.
    """
    check_axis(axis, inputs.ndim, "cumulative")
    values = np.flip(inputs, axis) if backwards else inputs
    if exclusive:
        first = np.full_like(np.take(values, [0], axis), int(multiply))
        values = np.concatenate([first, np.take(values, range(inputs.shape[axis] - 1), axis)], axis)
    dtype = np.dtype(np.float64) if is_float(inputs.dtype) else inputs.dtype
    with memory.ignore_warnings():
        function = np.multiply if multiply else np.add
        result = _accumulate_axis(function, values, axis, dtype, inputs.dtype)
    return np.ascontiguousarray(np.flip(result, axis) if backwards else result)


#: Number of row blocks summed at once: each number is read once, so fewer calls matter more.
_BLOCKS: Final = 4
_LOGARITHMS: Final = ("LOG_SUM", "LOG_SUM_EXP")


def reduce_dimensions(
    inputs: NDArray[Any],
    axes: NDArray[Any] | Sequence[int] | None = None,
    *,
    function: str,
    keep: int,
    none_of_none: bool = False,
) -> NDArray[Any]:
    """Return `inputs` reduced over `axes`.

    keep: 1 keeps them with size 1, 0 drops them. axes: all dimensions if None or empty, or none with none_of_none; the
    function is then applied to single elements. function: AVERAGE, L1, L2, LOG_SUM, LOG_SUM_EXP, MAX, MIN, MULTIPLY,
    SUM, SUM_SQUARE, or MAX_NUMBER and MIN_NUMBER, which ignore nan and return finite maxima of float32. Floats are
    summed in float64 and rounded once, integers wrap around. Over no elements sums are 0, products 1, the maximum is
    the minimum of the type and vice versa; undefined results (means, and logarithms as integers) are masked.
    """
    if function not in _AXES_FUNCTIONS:
        raise InputError(f"reduce: unknown function {function!r:.60}; known: {', '.join(_FUNCTIONS)}")
    _require_keep("reduce", keep)
    numbers: list[int] = [] if axes is None else np.asarray(axes, np.int64).reshape(-1).tolist()
    if numbers:
        axis_numbers = tuple(sorted({axis + inputs.ndim if axis < 0 else axis for axis in numbers}))
        for axis in axis_numbers:
            check_axis(axis, inputs.ndim, "reduce")
    else:
        axis_numbers = () if none_of_none else tuple(range(inputs.ndim))
    with memory.ignore_warnings():
        array = np.asarray(_AXES_FUNCTIONS[function](inputs, axis_numbers))
        rounds_result = array.dtype.kind == "f" and not is_float(inputs.dtype)
        result = np.trunc(array).astype(inputs.dtype) if rounds_result else round_to(array, inputs.dtype)
    is_empty_sum = axis_numbers and not all(inputs.shape[axis] for axis in axis_numbers)
    if is_empty_sum and (function == "AVERAGE" or (function in _LOGARITHMS and rounds_result)):
        result = mask_undefined(np.zeros_like(result), np.ones(result.shape, np.bool_))
    if not keep:
        return result  # the reductions drop the dimensions
    shape = [*inputs.shape]
    for axis in axis_numbers:
        shape[axis] = 1
    return result.reshape(shape)


def _require_keep(name: str, keep: int) -> None:
    """Raise InputError unless `keep` is 0 or 1."""
    if keep not in {0, 1}:
        raise InputError(f"{name}: expected keepdims 0 or 1, found {keep}")


def _widen_floats(array: NDArray[Any]) -> NDArray[Any]:
    """Return floats as float64; integers unchanged."""
    return array.astype(np.float64) if is_float(array.dtype) else array


def _axes_sum(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    kept_rank = array.ndim - len(axes)
    if (
        axes and axes[0] == kept_rank and array.dtype != np.float64 and is_float(array.dtype)
    ):  # exactly the last dimensions
        shape = array.shape[:kept_rank]
        return _sums(array.reshape(prod(shape), prod(array.shape[kept_rank:]))).reshape(shape)
    values = _widen_floats(array)
    return np.asarray(np.sum(values, axis=axes, dtype=values.dtype))


def _sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Return row sums in float64, as faster products with ones."""
    (count, size), ones_vector = rows.shape, np.ones(rows.shape[1])
    if rows.size <= BLOCK * _BLOCKS:
        return np.asarray(np.dot(rows.astype(np.float64), ones_vector))
    result = np.empty(count)
    workspace = np.empty((0, size))
    for block in blocks_of(count, size, _BLOCKS):
        if not block.start:
            workspace = np.empty((block.stop, size))
        wide_block = workspace[: block.stop - block.start]
        wide_block[...] = rows[block]
        np.dot(wide_block, ones_vector, out=result[block])
    return result


def _axes_product(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    values = _widen_floats(array)
    return np.asarray(np.prod(values, axis=axes, dtype=values.dtype))


def _axes_average(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    count = prod(array.shape[axis] for axis in axes)
    total = _axes_sum(array, axes) if is_float(array.dtype) else np.sum(array, axis=axes, dtype=np.float64)
    return np.asarray(total / np.float64(count))


def _axes_l1(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return _axes_sum(np.abs(array), axes)


def _axes_sum_square(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    values = _widen_floats(array)
    return _axes_sum(values * values, axes)


def _axes_l2(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return np.asarray(np.sqrt(_axes_sum_square(array.astype(np.float64), axes)))


def _axes_log_sum(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    return np.asarray(np.log(_axes_sum(array.astype(np.float64), axes)))


def _axes_log_sum_exp(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    values = array.astype(np.float64)
    greatest = np.max(values, axis=axes, keepdims=True, initial=-np.inf)
    greatest = np.where(np.isfinite(greatest), greatest, 0.0)
    total = np.log(np.sum(np.exp(values - greatest), axis=axes, keepdims=True)) + greatest
    return np.asarray(np.squeeze(total, axes))


def _extreme_reduction(function: Any, *, largest: bool, finite: bool = False) -> Function:
    """Return a reduction; with `finite`, float32 elements are at least the lowest."""

    def reduce_extreme(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
        values = to_float32(array, array.dtype)
        if values.dtype.kind == "b":
            return np.asarray(function.reduce(values, axis=axes, initial=not largest))
        if values.dtype.kind == "f":
            start: Any = values.dtype.type(-np.inf if largest else np.inf)
            if finite and array.dtype == np.float32:
                start = np.finfo(np.float32).min
        else:
            start = np.iinfo(values.dtype).min if largest else np.iinfo(values.dtype).max
        return np.asarray(function.reduce(values, axis=axes, initial=start))

    return reduce_extreme


_AXES_FUNCTIONS: Final[dict[str, Function]] = {
    "AVERAGE": _axes_average,
    "L1": _axes_l1,
    "L2": _axes_l2,
    "LOG_SUM": _axes_log_sum,
    "LOG_SUM_EXP": _axes_log_sum_exp,
    "MAX": _extreme_reduction(np.maximum, largest=True),
    "MAX_NUMBER": _extreme_reduction(np.fmax, largest=True, finite=True),
    "MIN": _extreme_reduction(np.minimum, largest=False),
    "MIN_NUMBER": _extreme_reduction(np.fmin, largest=False),
    "MULTIPLY": _axes_product,
    "SUM": _axes_sum,
    "SUM_SQUARE": _axes_sum_square,
}


def arg_reduce_dimension(
    inputs: NDArray[Any], *, axis: int, keep: int, largest: bool, last: bool = False
) -> NDArray[np.int64]:
    """Return the index of the largest (or smallest) element along `axis`.

    keep: 1 keeps the axis with size 1, 0 drops it. last: of equal elements the last instead of the first. The first nan
    counts as both largest and smallest. Empty reductions are masked.
    """
    check_axis(axis, inputs.ndim, "arg_reduce")
    _require_keep("arg_reduce", keep)
    size = inputs.shape[axis]
    if not size:
        sizes = [1 if place == axis else n for place, n in enumerate(inputs.shape) if keep or place != axis]
        return np.ma.array(np.zeros(sizes, np.int64), mask=True)
    values = np.flip(to_float32(inputs, inputs.dtype), axis) if last else to_float32(inputs, inputs.dtype)
    result = (np.argmax if largest else np.argmin)(values, axis=axis, keepdims=bool(keep))
    return np.asarray(size - 1 - result if last else result, np.int64)


def cumulate(
    inputs: NDArray[Any],
    axis: NDArray[Any] | None = None,
    *,
    backwards: bool,
    exclusive: bool,
    multiply: bool = False,
) -> NDArray[Any]:
    """Return `cumulative`; axis: an array of one integer, default 0."""
    axis = np.zeros((), np.int64) if axis is None else axis
    if axis.size != 1 or axis.ndim > 1 or axis.dtype.kind not in "iu":
        raise InputError(f"cumulate: expected an axis of one integer, found {axis.dtype}{list(axis.shape)}")
    place = int(axis.reshape(()))
    place = place + inputs.ndim if place < 0 else place
    check_axis(place, inputs.ndim, "cumulate")
    if not inputs.size:
        return inputs.copy()
    return cumulative(inputs, axis=place, backwards=backwards, exclusive=exclusive, multiply=multiply)
