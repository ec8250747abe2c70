"""Pooling: the mean, the largest or the p-norm of the elements under a window that slides over the last dimensions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, same_length, shape_of, to_float32, to_float64
from specgate.execution.kernels.row_blocks import blocks_of
from specgate.execution.kernels.window_places import places_by_slices, plain, values_by_slices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Windows", "average_pool", "lp_pool", "max_pool", "max_pool_values", "windows_of"]

_LIMIT = 2**32  # of paddings, strides, windows and dilations, so that places are exact in 64 bits


class Windows(NamedTuple):
    """Along one dimension, per window: where its elements stand, which of those are no padding, and how many.

    places, met: [windows, at most as many as there are elements]. counts: [windows]. times: how often each one counts.
    runs: the same by places in the window, in order: which windows have an element there, and where these stand.
    """

    places: NDArray[np.int64]
    met: NDArray[np.bool_]
    counts: NDArray[np.int64]
    times: int
    runs: tuple[tuple[slice, slice], ...] | None = None


def average_pool(
    inputs: NDArray[Any],
    *,
    strides: Sequence[int],
    window: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    include_padding: bool,
    dilations: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the mean under each window of `inputs` [batch, channel, spatial…], of their type.

    include_padding: whether the divisor counts the padding, of zeros, too. dilations: the steps in the window, 1 if
    None. sizes: of the result, whatever the end paddings; None for what these give.
    """
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, sizes)
    divisor: Any = 1.0
    for axis, each in enumerate(windows, 2):
        counts = np.full(each.counts.shape, window[axis - 2]) if include_padding else each.counts
        divisor = divisor * counts.reshape(-1, *(1,) * (inputs.ndim - 1 - axis)).astype(np.float64)
    flat = inputs.reshape(prod(inputs.shape[:2]), 1, *inputs.shape[2:])
    result = memory.empty((len(flat), 1, *(len(each.counts) for each in windows)), inputs.dtype)
    with memory.quiet():
        for rows in blocks_of(len(flat), prod(inputs.shape[2:])):
            wide = to_float64(flat[rows])
            for axis, each in enumerate(windows, 2):
                wide = _sum(wide, axis, each)
            result[rows] = round_to(wide / divisor, inputs.dtype)
    return result.reshape(*inputs.shape[:2], *result.shape[2:])


def lp_pool(
    inputs: NDArray[Any],
    *,
    strides: Sequence[int],
    window: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    p: float,
    dilations: Sequence[int] | None = None,
    sizes: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the p-norm under each window of `inputs` [batch, channel, spatial…], of their type.

    sizes: of the result, as in `average_pool`.
    """
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, sizes)
    with memory.quiet():
        result = to_float64(to_float32(to_float64(np.abs(inputs)) ** p, inputs.dtype))
        for axis, each in enumerate(windows, 2):
            result = _sum(result, axis, each)
        return round_to(to_float64(to_float32(result, inputs.dtype)) ** (1.0 / p if p else np.inf), inputs.dtype)


def max_pool(
    inputs: NDArray[Any],
    *,
    strides: Sequence[int],
    window: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    dilations: Sequence[int] | None = None,
    index_type: np.dtype[Any] | None = None,
    finite: bool = True,
    sizes: Sequence[int] | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the largest element under each window of `inputs` [batch, channel, spatial…], and where it stands.

    That is the place of the first of equals in the flat `inputs`, of index_type, int64 if None. The search starts with
    the lowest finite number at the first element that is no padding, and with place 0 where all is padding: so -inf and
    nan are never found. Without `finite` it starts with -inf, and the first nan is found as the largest. sizes: of the
    results, as in `average_pool`.
    """
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, sizes)
    values, lowest = _start(inputs, finite=finite)
    quick = places_by_slices(values, windows, lowest) if plain(values, windows, finite=finite) else None
    if quick is not None:
        values, places = quick
    else:
        places = np.arange(inputs.size, dtype=np.int64).reshape(inputs.shape)
        for axis in range(inputs.ndim - 1, 1, -1):  # the last dimension first, so that the first of equals is found
            values, places = _largest(values, places, axis, windows[axis - 2], lowest)
    for axis, each in enumerate(windows, 2):
        if not each.counts.all():
            places *= (each.counts > 0).reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
    return round_to(values, inputs.dtype), places.astype(index_type or np.int64, copy=False)


def max_pool_values(
    inputs: NDArray[Any],
    *,
    strides: Sequence[int],
    window: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    dilations: Sequence[int] | None = None,
    finite: bool = True,
    sizes: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the largest element under each window, as `max_pool` does, alone."""
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, sizes)
    values, lowest = _start(inputs, finite=finite)
    quick = values_by_slices(values, windows, lowest, finite=finite)
    if quick is not None:
        return round_to(quick, inputs.dtype)
    return max_pool(
        inputs, strides=strides, window=window, start_padding=start_padding, end_padding=end_padding,
        dilations=dilations, finite=finite, sizes=sizes,
    )[0]  # fmt: skip


def windows_of(
    sizes: Sequence[int],
    strides: Sequence[int],
    window: Sequence[int],
    start: Sequence[int],
    end: Sequence[int],
    dilations: Sequence[int] | None = None,
    results: Sequence[int] | None = None,
) -> list[Windows]:
    """Return the windows over each spatial dimension of an array of `sizes` [batch, channel, spatial…].

    results: the sizes that say how many there are, whatever the end paddings; then a stride may be 0.
    """
    rank = len(sizes) - 2
    steps = (1,) * rank if dilations is None else dilations
    same_length("pooling", rank, strides=strides, windows=window, dilations=steps)
    same_length("pooling", rank, **{"start paddings": start, "end paddings": end})
    if rank < 1 or any(not 0 <= n < _LIMIT for n in (*strides, *window, *start, *end, *steps)):
        raise InputError("pooling: expected nothing negative or above 2**32 - 1")
    if results is None and 0 in strides:
        raise InputError("pooling: expected strides above 0")
    each = list(zip(sizes[2:], strides, window, start, end, steps, strict=True))
    if results is None:
        counts = [(n + a + b - d * (w - 1) - 1) // s + 1 for n, s, w, a, b, d in each]
    else:
        same_length("pooling", len(sizes), sizes=results)
        counts = list(results[2:])
    shape = shape_of("pooling", (*sizes[:2], *counts))
    memory.hold(shape, np.dtype(np.float32))
    return [_along(n, s, w, a, d, count) for (n, s, w, a, _, d), count in zip(each, counts, strict=True)]


def _along(size: int, stride: int, window: int, start: int, dilation: int, count: int) -> Windows:
    """Return `count` windows over one dimension of `size` elements, `start` of padding before them."""
    first = np.arange(count, dtype=np.int64) * stride - start
    if dilation == 0:  # every element of the window is the same one
        met = ((first >= 0) & (first < size) & (window > 0))[:, np.newaxis]
        runs = _runs(size, stride, min(window, 1), start, 1, count)
        return Windows(np.where(met[:, 0], first, 0)[:, np.newaxis], met, met[:, 0] * window, window, runs)
    skipped = np.maximum(0, -(first // dilation))
    last = np.minimum(window - 1, (size - 1 - first) // dilation)
    counts = np.maximum(0, last - skipped + 1)
    steps = np.arange(int(counts.max()), dtype=np.int64)
    memory.hold((count, len(steps)), steps.dtype)
    met = steps < counts[:, np.newaxis]
    places = np.where(met, first[:, np.newaxis] + (skipped[:, np.newaxis] + steps) * dilation, 0)
    return Windows(places, met, counts, 1, _runs(size, stride, window, start, dilation, count))


def _runs(
    size: int, stride: int, window: int, start: int, dilation: int, count: int
) -> tuple[tuple[slice, slice], ...] | None:
    """Return, for each element of the windows, which ones have it in the array and where; None where few of many do."""
    if not stride:
        return None
    least = max(0, -(((count - 1) * stride - start) // dilation))
    most = min(window - 1, (size - 1 + start) // dilation)
    if most - least > 2 * size:
        return None
    runs = []
    for element in range(least, most + 1):
        offset = element * dilation - start
        first = max(0, -(offset // stride))
        last = min(count - 1, (size - 1 - offset) // stride)
        if first <= last:
            begin = first * stride + offset
            runs.append((slice(first, last + 1), slice(begin, last * stride + offset + 1, stride)))
    return tuple(runs)


def _sum(array: NDArray[Any], axis: int, windows: Windows) -> NDArray[Any]:
    shape = (*array.shape[:axis], len(windows.counts), *array.shape[axis + 1 :])
    result = memory.empty(shape, array.dtype)
    result[...] = 0
    for to, at, where in _met(windows, axis, array.ndim):
        np.add(result[to], array[at], out=result[to], where=where)
    return result * windows.times if windows.times != 1 else result


def _largest(
    values: NDArray[Any], places: NDArray[np.int64], axis: int, windows: Windows, lowest: Any
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    shape = (*values.shape[:axis], len(windows.counts), *values.shape[axis + 1 :])
    result = memory.empty(shape, values.dtype)
    result[...] = lowest
    first = windows.places[:, 0] if windows.places.shape[1] else np.zeros_like(windows.counts)
    found = np.take(places, first, axis)
    for to, at, where in _met(windows, axis, values.ndim):
        candidate, best = values[at], result[to]
        better = candidate > best
        if lowest == -np.inf:
            better |= np.isnan(candidate) & ~np.isnan(best)
        better &= where
        np.copyto(best, candidate, where=better)
        np.copyto(found[to], places[at], where=better)
    return result, found


def _start(inputs: NDArray[Any], *, finite: bool) -> tuple[NDArray[Any], Any]:
    """Return what is compared, and the number that the search for the largest starts with."""
    values = inputs if finite else to_float32(inputs, inputs.dtype)
    limits = np.finfo(values.dtype) if is_float(inputs.dtype) else np.iinfo(inputs.dtype)
    return values, limits.min if finite or not is_float(inputs.dtype) else -np.inf


def _met(windows: Windows, axis: int, rank: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield which windows have an element, where it is in the array, and in which of them it is no padding."""
    before = (slice(None),) * axis
    if windows.runs is not None:
        for to, at in memory.in_time(windows.runs):
            yield (*before, to), (*before, at), True
        return
    column = (-1, *(1,) * (rank - 1 - axis))
    for places, met in memory.in_time(zip(windows.places.T, windows.met.T, strict=True)):
        yield (*before, slice(None)), (*before, places), met.reshape(column)
