"""Resampling by interpolation along each dimension, and its gradient.

DirectML RESAMPLE, RESAMPLE_GRAD, UPSAMPLE_2D.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, same_length, shape_of, to_float32, to_float64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["around", "enlarge", "inside", "nearest", "places_of", "resample", "resample_gradient"]

_HALF: Final = 0.5


def resample(
    inputs: NDArray[Any],
    *,
    sizes: Sequence[int],
    scales: Sequence[float],
    linear: bool,
    input_offsets: Sequence[float] | None = None,
    output_offsets: Sequence[float] | None = None,
    upwards: bool | None = None,
    stretched: bool = False,
    halved: bool = False,
    in_singles: bool = False,
    higher: bool = False,
) -> NDArray[Any]:
    """Return `inputs` resampled to other sizes, as in DirectML RESAMPLE.

    The input position is (position - output offset) / scale - input offset. linear: interpolate between the two
    neighbors along every dimension, nan next to an infinity; otherwise take one element: the next one above (upwards),
    the next one below, or if None the nearest, the lower one of a tie (with higher, the higher one). Positions outside
    are clamped; an infinite scale collapses all positions, and a scale of 0 puts them at the edges. Offsets default to
    0.5 and -0.5, the centers of elements. Positions are computed in float32; integers are truncated. stretched: linear
    along dimensions with a scale below 0.5 is the mean of all elements less than 1 / scale away, with triangular
    weights; positions outside are clamped. halved: where any scale is below 0.5, linear uses the quotients of sizes as
    scales, and reaches those below 0.5 in steps: the largest power of two, then halvings. in_singles: with linear,
    every step is rounded to float32, scales are their rounded reciprocals, and dimensions with scale 1 are skipped,
    except for the first if all have scale 1.
    """
    rank = inputs.ndim
    before = (0.5,) * rank if input_offsets is None else input_offsets
    behind = (-0.5,) * rank if output_offsets is None else output_offsets
    offsets = {"input offsets": before, "output offsets": behind}
    same_length("resample", rank, sizes=sizes, scales=scales, **offsets)
    memory.hold(shape_of("resample", sizes), inputs.dtype)
    singles = linear and in_singles
    result = inputs.astype(np.float32 if singles else np.float64) if linear else inputs
    in_steps = halved and linear and min(scales, default=1) < _HALF
    with memory.quiet():
        for axis, (size, *shift) in enumerate(zip(sizes, scales, before, behind, strict=True)):
            if in_steps:
                result = _in_steps(result, axis, size, shift[1:], singles=singles)
                continue
            places = places_of(size, *shift)
            memory.hold((*result.shape[:axis], size, *result.shape[axis + 1 :]), result.dtype)  # may exceed the output
            if singles and shift[0] == 1 and (axis or {*scales} != {1}) and (places == np.arange(size)).all():
                result = np.take(result, inside(places, result.shape[axis]), axis)
            elif singles:
                result = _stepwise(result, axis, size, shift[0], shift[1:])
            elif linear and stretched and 0 < shift[0] < _HALF:
                result = _weighed(result, axis, places, shift[0])
            elif linear:
                result = _interpolated(result, axis, places)
            else:
                result = np.take(result, nearest(places, upwards, inputs.shape[axis], higher=higher), axis)
        if linear and not is_float(inputs.dtype):
            result = np.trunc(result.astype(np.float32))
        return round_to(result, inputs.dtype)


def _stepwise(values: NDArray[Any], axis: int, size: int, scale: float, offsets: Sequence[float]) -> NDArray[Any]:
    """Return values interpolated to `size`, each step rounded to float32."""
    one, count = np.float32, values.shape[axis]
    places = (np.arange(size, dtype=one) - one(offsets[1])) * (one(1) / one(scale)) - one(offsets[0])
    weight = (places - np.floor(places)).reshape(-1, *(1,) * (values.ndim - 1 - axis))
    left = np.take(values, inside(np.floor(places), count), axis)
    return np.asarray(left + (np.take(values, inside(np.floor(places) + 1, count), axis) - left) * weight)


def places_of(size: int, scale: float, before: float, behind: float) -> NDArray[np.float32]:
    """Return the input positions of `size` output positions.

    They are (position - behind) / scale - before.
    """
    one = np.float32
    array: NDArray[np.float32] = (np.arange(size, dtype=one) - one(behind)) / one(scale) - one(before)
    return array


def nearest(places: NDArray[np.float32], upwards: bool | None, size: int, *, higher: bool = False) -> NDArray[np.int64]:
    """Return integral positions in `size`: next above, below, or nearest.

    upwards: None for the nearest. higher: ties go to the higher one, not the lower.
    """
    half = np.float32(0.5)
    if upwards is None:
        return inside(np.floor(places + half) if higher else np.ceil(places - half), size)
    return inside(np.ceil(places) if upwards else np.floor(places), size)


def inside(places: NDArray[np.float32], size: int) -> NDArray[np.int64]:
    """Return integral positions clamped to `size`; nan becomes the first.

    nan results from infinite offsets.
    """
    return np.asarray(np.nan_to_num(np.clip(places, 0, size - 1), nan=0.0), np.int64)


def around(places: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Return the integral position below each position, and the upper weight."""
    lower = np.floor(places)
    return lower, to_float64(to_float32(places - lower, places.dtype))


def _interpolated(values: NDArray[Any], axis: int, places: NDArray[np.float32]) -> NDArray[Any]:
    size = values.shape[axis]
    lower, weight = around(places)
    weight = weight.reshape(-1, *(1,) * (values.ndim - 1 - axis))
    left = np.take(values, inside(lower, size), axis)
    right = np.take(values, inside(lower + 1, size), axis)
    return np.asarray(left + (right - left) * weight)


def _in_steps(values: NDArray[Any], axis: int, size: int, offsets: Sequence[float], *, singles: bool) -> NDArray[Any]:
    """Return values interpolated to `size`, at once or by halving.

    Halving starts at the largest power of two of the size.
    """
    last = values.shape[axis]
    steps = []
    if 2 * size < last:
        steps.append(2 ** (last.bit_length() - 1))
        while steps[-1] > 2 * size:
            steps.append(steps[-1] // 2)
    for step in (*steps, size):
        scale = step / values.shape[axis]
        if singles:
            values = _stepwise(values, axis, step, scale, offsets)
        else:
            values = _interpolated(values, axis, places_of(step, scale, *offsets))
    return values


def _weighed(values: NDArray[Any], axis: int, places: NDArray[np.float32], scale: float) -> NDArray[Any]:
    """Return means with triangular weights of radius 1 / scale."""
    size = values.shape[axis]
    array = np.clip(np.nan_to_num(places.astype(np.float64)), 0, size - 1)
    first = np.maximum(np.floor(array - 1 / scale), 0).astype(np.int64)
    shape = (*values.shape[:axis], len(places), *values.shape[axis + 1 :])
    result, total = memory.empty(shape, np.dtype(np.float64)), np.zeros(len(places))
    result[...] = 0
    column = (-1, *(1,) * (values.ndim - 1 - axis))
    for step in memory.in_time(range(min(size, 2 * ceil(1 / scale) + 2))):
        at = np.minimum(first + step, size - 1)
        weight = np.where(first + step < size, np.maximum(0.0, 1 - np.abs(at - array) * scale), 0)
        total += weight
        result += np.take(values, at, axis) * weight.reshape(column)
    return np.asarray(result / total.reshape(column))


def enlarge(inputs: NDArray[Any], *, height: int, width: int, linear: bool) -> NDArray[Any]:
    """Return `inputs` with the last two dimensions upsampled by integers."""
    if inputs.ndim < 2 or height < 1 or width < 1:
        raise InputError(f"resample: expected two dimensions and factors above 0, found {inputs.ndim} dimensions")
    factors = (*(1,) * (inputs.ndim - 2), height, width)
    sizes = [size * factor for size, factor in zip(inputs.shape, factors, strict=True)]
    if not linear:
        memory.hold(tuple(sizes), inputs.dtype)
        return inputs.repeat(height, -2).repeat(width, -1)
    return resample(inputs, sizes=sizes, scales=factors, linear=True)


def resample_gradient(
    gradient: NDArray[Any],
    *,
    sizes: Sequence[int],
    scales: Sequence[float],
    linear: bool,
    input_offsets: Sequence[float],
    output_offsets: Sequence[float],
    upwards: bool | None = None,
    higher: bool = False,
    skips_zeros: bool = False,
) -> NDArray[Any]:
    """Return the gradient of `resample`, an array of `sizes`.

    linear: each element is distributed to two elements along every dimension with the forward weights; skips_zeros: a
    weight of 0 adds nothing, even for an infinite gradient. Other arguments are those of `resample` from such an array
    to the shape of `gradient`.
    """
    rank = gradient.ndim
    offsets = {"input offsets": input_offsets, "output offsets": output_offsets}
    same_length("resample", rank, sizes=sizes, scales=scales, **offsets)
    memory.hold(shape_of("resample", sizes), gradient.dtype)
    result = to_float64(gradient)
    with memory.quiet():
        for axis, (size, *shift) in enumerate(zip(sizes, scales, input_offsets, output_offsets, strict=True)):
            places = places_of(gradient.shape[axis], *shift)
            if not linear:
                result = _added(result, axis, size, nearest(places, upwards, size, higher=higher))
                continue
            lower, weight = around(places)
            column = weight.reshape(-1, *(1,) * (rank - 1 - axis))
            shares = [result * each for each in (1 - column, column)]
            if skips_zeros:
                shares = [
                    np.where(each == 0, 0.0, share) for each, share in zip((1 - column, column), shares, strict=True)
                ]
            near = _added(shares[0], axis, size, inside(lower, size))
            result = near + _added(shares[1], axis, size, inside(lower + 1, size))
        return round_to(result, gradient.dtype)


def _added(values: NDArray[Any], axis: int, size: int, places: NDArray[np.int64]) -> NDArray[Any]:
    """Return sums of the values at each position, `size` along `axis`."""
    result = memory.empty((*values.shape[:axis], size, *values.shape[axis + 1 :]), values.dtype)
    result[...] = 0
    np.add.at(np.moveaxis(result, axis, 0), places, np.moveaxis(values, axis, 0))
    return result
