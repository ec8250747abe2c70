"""Reductions of dimensions to size 1, running sums and products, and where the least or largest element stands."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import (
    check_axes,
    check_axis,
    is_float,
    quiet,
    round_to,
    to_float32,
    to_float64,
)
from specgate.execution.kernels.row_blocks import BLOCK, blocks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["arg_reduce", "cumulative", "reduce"]

#: Elements of a slice from which on a call for each slice costs less than what numpy does for each element.
_WIDE: Final = 64


def reduce(
    inputs: NDArray[Any], *, function: str, axes: Sequence[int], output_type: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return `inputs` with the dimensions of `axes` reduced to size 1.

    function: AVERAGE, L1 (sum of magnitudes), L2 (root of the sum of squares), LOG_SUM, LOG_SUM_EXP, MAX, MIN,
    MULTIPLY, SUM, SUM_SQUARE, or ARGMAX and ARGMIN, which give the place of the first such element. output_type: that
    of the places; otherwise the result has the type of `inputs`, integers wrap around. MAX and MIN pass over nan, and
    give an infinity of nothing else.
    """
    if function in {"ARGMAX", "ARGMIN"}:
        return arg_reduce(inputs, axes=axes, largest=function == "ARGMAX", last=False, output_type=output_type)
    if function not in _FUNCTIONS:
        raise InputError(f"reduce: unknown function {function!r:.60}; known: {', '.join(_FUNCTIONS)}, ARGMAX, ARGMIN")
    found = check_axes(axes, inputs.ndim, "reduce")
    with memory.quiet():
        return round_to(np.asarray(_FUNCTIONS[function](inputs, found)), inputs.dtype)


def _sum(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    dtype = np.dtype(np.float64) if is_float(array.dtype) else array.dtype
    return np.asarray(np.sum(array, axis=axes, dtype=dtype, keepdims=True))


def _product(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    dtype = np.dtype(np.float64) if is_float(array.dtype) else array.dtype
    return np.asarray(np.prod(array, axis=axes, dtype=dtype, keepdims=True))


def _squares(array: NDArray[Any]) -> NDArray[Any]:
    """The squares in the arithmetic of the type, so that they overflow where its squares do."""
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
    found = np.fmax.reduce(quiet(to_float32(array, array.dtype)), axis=axes, keepdims=True)
    return np.where(np.isnan(found), -np.inf, found) if is_float(array.dtype) else np.asarray(found)


def _min(array: NDArray[Any], axes: tuple[int, ...]) -> NDArray[Any]:
    found = np.fmin.reduce(quiet(to_float32(array, array.dtype)), axis=axes, keepdims=True)
    return np.where(np.isnan(found), np.inf, found) if is_float(array.dtype) else np.asarray(found)


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
    """Return the place of the largest (or least) element of the dimensions of `axes`, which get size 1.

    It counts over the reduced dimensions in row-major order. last: of equal elements the last instead of the first. nan
    is passed over, but stays if it is the first element. output_type: an integer type, int64 if None.
    """
    found = check_axes(axes, inputs.ndim, "arg_reduce")
    kept = [axis for axis in range(inputs.ndim) if axis not in found]
    count = prod(inputs.shape[axis] for axis in found)
    rows = np.transpose(inputs, (*kept, *found)).reshape(*(inputs.shape[axis] for axis in kept), count)
    values = quiet(to_float32(rows, inputs.dtype))
    best = (np.fmax if largest else np.fmin).reduce(values, axis=-1, keepdims=True)
    hits = values == best
    places = np.asarray(count - 1 - np.argmax(hits[..., ::-1], axis=-1) if last else np.argmax(hits, axis=-1))
    if is_float(inputs.dtype):
        places = np.where(np.isnan(values[..., 0]), 0, places)
    shape = tuple(1 if axis in found else size for axis, size in enumerate(inputs.shape))
    return places.reshape(shape).astype(output_type or np.int64)


def _accumulated(
    function: np.ufunc, values: NDArray[Any], axis: int, work: np.dtype[Any], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return what `function` accumulates in `work`, rounded to `dtype`.

    With many elements behind the axis that is done a slice at a time, which numpy does an element at a time.
    """
    behind = prod(values.shape[axis + 1 :])
    if behind < _WIDE or not values.size:
        return round_to(np.asarray(function.accumulate(values, axis, dtype=work)), dtype)
    size = values.shape[axis]
    flat = values.reshape(-1, size, behind)
    result = memory.empty(flat.shape, dtype)
    each = min(size, max(1, BLOCK // behind))
    room = np.empty((each + 1, behind), work)  # in front, what the block before came to
    slices = list(room)
    for place, made in zip(flat, result, strict=True):
        for some in blocks_of(size, behind):
            count = some.stop - some.start
            wide = room[1 : count + 1]
            wide[...] = place[some]
            later = slices[1 if some.start else 2 : count + 1]
            for _ in map(function, slices[0 if some.start else 1 :], later, later):
                pass
            made[some] = round_to(wide, dtype)
            room[0] = wide[-1]
    return result.reshape(values.shape)


def cumulative(
    inputs: NDArray[Any], *, axis: int, backwards: bool, exclusive: bool, multiply: bool = False
) -> NDArray[Any]:
    """Return at each place the sum, or product, of the elements up to it along `axis`, of the type of `inputs`.

    backwards: from the last element instead of the first. exclusive: without the element itself, 0 (or 1) at first.
    Integers wrap around.
    """
    check_axis(axis, inputs.ndim, "cumulative")
    values = np.flip(inputs, axis) if backwards else inputs
    if exclusive:
        first = np.full_like(np.take(values, [0], axis), int(multiply))
        values = np.concatenate([first, np.take(values, range(inputs.shape[axis] - 1), axis)], axis)
    dtype = np.dtype(np.float64) if is_float(inputs.dtype) else inputs.dtype
    with memory.quiet():
        function = np.multiply if multiply else np.add
        result = _accumulated(function, values, axis, dtype, inputs.dtype)
    return np.ascontiguousarray(np.flip(result, axis) if backwards else result)
