"""What pooling gave, or its gradient, brought back to where it came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, shape_of, to_float64
from specgate.execution.kernels.pooling import max_pool, windows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from specgate.execution.kernels.pooling import Windows

__all__ = ["average_pool_gradient", "max_pool_gradient", "spread_along", "unpool"]


def average_pool_gradient(
    gradient: NDArray[Any],
    *,
    sizes: Sequence[int],
    strides: Sequence[int],
    window: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    include_padding: bool,
    any_count: bool = False,
) -> NDArray[Any]:
    """Return an array of `sizes` to which each element of `gradient`, divided among its window, was added.

    gradient: [batch, channel, spatial…], one element for each window over `sizes`. include_padding: whether the
    divisor counts padding, too. any_count: there are as many windows as elements, whatever the end paddings, and with
    a stride of 0 nothing is added.
    """
    shape = shape_of("pooling", sizes)
    memory.hold(shape, gradient.dtype)
    results = gradient.shape if any_count else None
    windows = windows_of(shape, strides, window, start_padding, end_padding, results=results)
    counts = tuple(len(each.counts) for each in windows)
    require_shape("pooling", "a gradient", gradient.shape, (*shape[:2], *counts))
    if 0 in strides:
        return np.zeros(shape, gradient.dtype)
    with memory.quiet():
        result = to_float64(gradient)
        for axis, each in enumerate(windows, 2):
            divisor = each.counts
            if include_padding:
                at = axis - 2
                begun = np.arange(len(divisor), dtype=np.int64) * strides[at]
                divisor = np.clip(start_padding[at] + shape[axis] + end_padding[at] - begun, 0, window[at])
            result = result / divisor.reshape(-1, *(1,) * (len(shape) - 1 - axis)).astype(np.float64)
        for axis, each in enumerate(windows, 2):
            result = spread_along(result, axis, each, shape[axis])
        return round_to(result, gradient.dtype)


def max_pool_gradient(
    inputs: NDArray[Any],
    gradient: NDArray[Any],
    *,
    strides: Sequence[int],
    window: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    dilations: Sequence[int],
    any_count: bool = False,
) -> NDArray[Any]:
    """Return zeros of the shape of `inputs` to which each element of `gradient` was added at its window's largest.

    inputs: [batch, channel, spatial…]; gradient: one element for each window, of their type. The first of equals is the
    largest, as in `max_pool`. What belongs to windows of padding alone is added nowhere. any_count: as in
    `average_pool_gradient`.
    """
    results = gradient.shape if any_count else None
    values, places = max_pool(
        inputs,
        strides=strides,
        window=window,
        start_padding=start_padding,
        end_padding=end_padding,
        dilations=dilations,
        sizes=results,
    )
    require_shape("pooling", "a gradient", gradient.shape, values.shape)
    if gradient.dtype != inputs.dtype:
        raise InputError(f"pooling: expected a gradient of {inputs.dtype}, found {gradient.dtype}")
    met = np.ones((), np.bool_)
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, results)
    for axis, each in enumerate(windows, 2):
        met = met & (each.counts > 0).reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
    met = np.broadcast_to(met, values.shape)
    with memory.quiet():
        sums = np.bincount(places[met], to_float64(gradient[met]), inputs.size)
        return round_to(sums.reshape(inputs.shape), inputs.dtype)


def unpool(
    inputs: NDArray[Any], indices: NDArray[Any], *, sizes: Sequence[int], low_halves: bool = False
) -> NDArray[Any]:
    """Return zeros of `sizes` with each element of `inputs` at its index, a place in the flat result.

    indices: of the shape of `inputs`. Indices beyond the result lead nowhere. What two different indices name, which is
    not said to be either, is masked. low_halves: the low 32 bits of indices count alone.
    """
    require_shape("unpooling", "indices", indices.shape, inputs.shape)
    result = memory.empty(shape_of("unpooling", sizes), inputs.dtype)
    result[...] = 0
    flat = (indices.astype(np.uint32) if low_halves else indices).reshape(-1)
    inside = np.flatnonzero((flat >= 0) & (flat < result.size))
    places, values = flat[inside].astype(np.int64), inputs.reshape(-1)[inside]
    result.reshape(-1)[places] = values
    order = np.argsort(places, kind="stable")
    again = order[1:][places[order][1:] == places[order][:-1]]
    if not len(again):
        return result
    mask = np.zeros(result.shape, np.bool_)
    mask.reshape(-1)[places[again]] = True
    return np.ma.MaskedArray(result, mask=mask)


def spread_along(array: NDArray[Any], axis: int, windows: Windows, size: int) -> NDArray[Any]:
    """Return `size` places along `axis`, to each of which all elements of `array` were added whose windows it is in."""
    result = memory.empty((*array.shape[:axis], size, *array.shape[axis + 1 :]), array.dtype)
    result[...] = 0
    into, of = np.moveaxis(result, axis, 0), np.moveaxis(array, axis, 0)
    if windows.runs is not None:
        for to, at in memory.in_time(windows.runs):
            into[at] += of[to]
        return result
    for places, met in memory.in_time(zip(windows.places.T, windows.met.T, strict=True)):
        np.add.at(into, places[met], of[met])  # windows that begin in the padding share their first place
    return result
