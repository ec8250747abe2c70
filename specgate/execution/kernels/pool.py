"""Pooling: average, max and Lp over sliding windows, unpooling, gradients.

DirectML AVERAGE_POOLING, AVERAGE_POOLING_GRAD, LP_POOLING, MAX_POOLING, MAX_POOLING1, MAX_POOLING_GRAD, MAX_UNPOOLING;
ONNX AveragePool, GlobalAveragePool, GlobalLpPool, GlobalMaxPool, LpPool, MaxPool; OpenVINO AvgPool, MaxPool.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.adaptive_pool import is_sequential_equal, places_by_slices, values_by_slices
from specgate.execution.kernels.arithmetic import (
    blocks_of,
    is_float,
    require_shape,
    round_to,
    same_length,
    shape_of,
    to_float32,
    to_float64,
)
from specgate.execution.kernels.conv import AUTOMATIC, WindowGeometry, slide_over
from specgate.execution.kernels.reduce import reduce_dimensions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_LIMIT = 2**32  # bound of paddings, strides, windows and dilations, so that positions are exact in 64 bits


class Windows(NamedTuple):
    """Windows along one dimension.

    places, met: position of each window element and whether it is not padding, [windows, at most the size]. counts:
    number of elements that are not padding, [windows]. times: multiplicity of each element. runs: the same by position
    in the window, in order: which windows have an element there, and its position.
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
    """Return average pooling of [batch, channel, spatial…], in their type.

    include_padding: the divisor counts zero padding. dilations: steps in the window, default 1. sizes: of the result,
    regardless of the end paddings; None to infer them.
    """
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, sizes)
    divisor: Any = 1.0
    for axis, axis_windows in enumerate(windows, 2):
        counts = np.full(axis_windows.counts.shape, window[axis - 2]) if include_padding else axis_windows.counts
        divisor = divisor * counts.reshape(-1, *(1,) * (inputs.ndim - 1 - axis)).astype(np.float64)
    flat = inputs.reshape(prod(inputs.shape[:2]), 1, *inputs.shape[2:])
    result = memory.empty((len(flat), 1, *(len(one_axis.counts) for one_axis in windows)), inputs.dtype)
    with memory.ignore_warnings():
        for rows in blocks_of(len(flat), prod(inputs.shape[2:])):
            wide_rows = to_float64(flat[rows])
            for axis, axis_windows in enumerate(windows, 2):
                wide_rows = _sum(wide_rows, axis, axis_windows)
            result[rows] = round_to(wide_rows / divisor, inputs.dtype)
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
    """Return Lp pooling of [batch, channel, spatial…], in their type.

    sizes: of the result, as in `average_pool`.
    """
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, sizes)
    with memory.ignore_warnings():
        result = to_float64(to_float32(to_float64(np.abs(inputs)) ** p, inputs.dtype))
        for axis, axis_windows in enumerate(windows, 2):
            result = _sum(result, axis, axis_windows)
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
    """Return max pooling of [batch, channel, spatial…], and indices.

    An index is that of the first maximum in the flat `inputs`, of index_type, default int64. The search starts with the
    lowest finite number at the first element that is not padding (index 0 if all is padding), so -inf and nan are never
    found. Without `finite` it starts with -inf, and the first nan counts as the maximum. sizes: of the results, as in
    `average_pool`.
    """
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, sizes)
    values, lowest = _start(inputs, finite=finite)
    quick = places_by_slices(values, windows, lowest) if is_sequential_equal(values, windows, finite=finite) else None
    if quick is not None:
        values, places = quick
    else:
        places = np.arange(inputs.size, dtype=np.int64).reshape(inputs.shape)
        for axis in range(inputs.ndim - 1, 1, -1):  # the last dimension first, so that the first of equal elements wins
            values, places = _largest(values, places, axis, windows[axis - 2], lowest)
    for axis, axis_windows in enumerate(windows, 2):
        if not axis_windows.counts.all():
            places *= (axis_windows.counts > 0).reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
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
    """Return max pooling without indices, as in `max_pool`."""
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
    """Return the windows over each spatial dimension.

    sizes: [batch, channel, spatial…]. results: output sizes that determine the window counts, regardless of the end
    paddings; a stride may then be 0.
    """
    rank = len(sizes) - 2
    steps = (1,) * rank if dilations is None else dilations
    same_length("pooling", rank, strides=strides, windows=window, dilations=steps)
    same_length("pooling", rank, **{"start paddings": start, "end paddings": end})
    if rank < 1 or any(not 0 <= n < _LIMIT for n in (*strides, *window, *start, *end, *steps)):
        raise InputError("pooling: expected numbers from 0 to 2**32 - 1")
    if results is None and 0 in strides:
        raise InputError("pooling: expected strides above 0")
    axis_geometry = list(zip(sizes[2:], strides, window, start, end, steps, strict=True))
    if results is None:
        counts = [(n + a + b - d * (w - 1) - 1) // s + 1 for n, s, w, a, b, d in axis_geometry]
    else:
        same_length("pooling", len(sizes), sizes=results)
        counts = list(results[2:])
    shape = shape_of("pooling", (*sizes[:2], *counts))
    memory.check_budget(shape, np.dtype(np.float32))
    return [
        _make_windows(n, s, w, a, d, count) for (n, s, w, a, _, d), count in zip(axis_geometry, counts, strict=True)
    ]


def _make_windows(size: int, stride: int, window: int, start: int, dilation: int, count: int) -> Windows:
    """Return `count` windows over one dimension of `size` elements.

    start: padding before them.
    """
    first = np.arange(count, dtype=np.int64) * stride - start
    if dilation == 0:  # every element of the window is the same one
        in_input = ((first >= 0) & (first < size) & (window > 0))[:, np.newaxis]
        runs = _runs(size, stride, min(window, 1), start, 1, count)
        return Windows(
            np.where(in_input[:, 0], first, 0)[:, np.newaxis], in_input, in_input[:, 0] * window, window, runs
        )
    skipped = np.maximum(0, -(first // dilation))
    last = np.minimum(window - 1, (size - 1 - first) // dilation)
    counts = np.maximum(0, last - skipped + 1)
    steps = np.arange(int(counts.max()), dtype=np.int64)
    memory.check_budget((count, len(steps)), steps.dtype)
    in_input = steps < counts[:, np.newaxis]
    places = np.where(in_input, first[:, np.newaxis] + (skipped[:, np.newaxis] + steps) * dilation, 0)
    return Windows(places, in_input, counts, 1, _runs(size, stride, window, start, dilation, count))


def _runs(
    size: int, stride: int, window: int, start: int, dilation: int, count: int
) -> tuple[tuple[slice, slice], ...] | None:
    """Return, per window element, which windows have it in range, and where.

    None where few of many do.
    """
    if not stride:
        return None
    least = max(0, -(((count - 1) * stride - start) // dilation))
    last_tap = min(window - 1, (size - 1 + start) // dilation)
    if last_tap - least > 2 * size:
        return None
    runs = []
    for element in range(least, last_tap + 1):
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
    for to, source_slice, in_input in _iterate_window_elements(windows, axis, array.ndim):
        np.add(result[to], array[source_slice], out=result[to], where=in_input)
    return result * windows.times if windows.times != 1 else result


def _largest(
    values: NDArray[Any], places: NDArray[np.int64], axis: int, windows: Windows, lowest: Any
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    shape = (*values.shape[:axis], len(windows.counts), *values.shape[axis + 1 :])
    result = memory.empty(shape, values.dtype)
    result[...] = lowest
    first = windows.places[:, 0] if windows.places.shape[1] else np.zeros_like(windows.counts)
    array = np.take(places, first, axis)
    for to, source_slice, in_input in _iterate_window_elements(windows, axis, values.ndim):
        candidate, greatest = values[source_slice], result[to]
        is_greater = candidate > greatest
        if lowest == -np.inf:
            is_greater |= np.isnan(candidate) & ~np.isnan(greatest)
        is_greater &= in_input
        np.copyto(greatest, candidate, where=is_greater)
        np.copyto(array[to], places[source_slice], where=is_greater)
    return result, array


def _start(inputs: NDArray[Any], *, finite: bool) -> tuple[NDArray[Any], Any]:
    """Return the comparable inputs, and the initial value of the maximum."""
    values = inputs if finite else to_float32(inputs, inputs.dtype)
    limits = np.finfo(values.dtype) if is_float(inputs.dtype) else np.iinfo(inputs.dtype)
    return values, limits.min if finite or not is_float(inputs.dtype) else -np.inf


def _iterate_window_elements(windows: Windows, axis: int, rank: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield which windows have an element, its position, and its validity.

    The element is valid where it is not padding.
    """
    before = (slice(None),) * axis
    if windows.runs is not None:
        for to, source_slice in memory.within_time_limit(windows.runs):
            yield (*before, to), (*before, source_slice), True
        return
    column = (-1, *(1,) * (rank - 1 - axis))
    for places, in_input in memory.within_time_limit(zip(windows.places.T, windows.met.T, strict=True)):
        yield (*before, slice(None)), (*before, places), in_input.reshape(column)


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
    """Return the gradient of average pooling, an array of `sizes`.

    gradient: [batch, channel, spatial…], one element per window. include_padding: the divisor counts padding.
    any_count: there are as many windows as gradient elements, regardless of the end paddings, and with a stride of 0
    nothing is added.
    """
    shape = shape_of("pooling", sizes)
    memory.check_budget(shape, gradient.dtype)
    results = gradient.shape if any_count else None
    windows = windows_of(shape, strides, window, start_padding, end_padding, results=results)
    counts = tuple(len(axis_windows.counts) for axis_windows in windows)
    require_shape("pooling", "a gradient", gradient.shape, (*shape[:2], *counts))
    if 0 in strides:
        return np.zeros(shape, gradient.dtype)
    with memory.ignore_warnings():
        result = to_float64(gradient)
        for axis, one_axis in enumerate(windows, 2):
            divisor = one_axis.counts
            if include_padding:
                spatial_axis = axis - 2
                window_begins = np.arange(len(divisor), dtype=np.int64) * strides[spatial_axis]
                divisor = np.clip(
                    start_padding[spatial_axis] + shape[axis] + end_padding[spatial_axis] - window_begins,
                    0,
                    window[spatial_axis],
                )
            result = result / divisor.reshape(-1, *(1,) * (len(shape) - 1 - axis)).astype(np.float64)
        for axis, one_axis in enumerate(windows, 2):
            result = spread_along(result, axis, one_axis, shape[axis])
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
    """Return the gradient of max pooling, of the shape of `inputs`.

    inputs: [batch, channel, spatial…]; gradient: one element per window, of the same type, added at the first maximum
    as in `max_pool`. Gradients of windows that see only padding are dropped. any_count: as in `average_pool_gradient`.
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
    in_input = np.ones((), np.bool_)
    windows = windows_of(inputs.shape, strides, window, start_padding, end_padding, dilations, results)
    for axis, axis_windows in enumerate(windows, 2):
        in_input = in_input & (axis_windows.counts > 0).reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
    in_input = np.broadcast_to(in_input, values.shape)
    with memory.ignore_warnings():
        sums = np.bincount(places[in_input], to_float64(gradient[in_input]), inputs.size)
        return round_to(sums.reshape(inputs.shape), inputs.dtype)


def max_unpooling(
    inputs: NDArray[Any], indices: NDArray[Any], *, sizes: Sequence[int], low_halves: bool = False
) -> NDArray[Any]:
    """Return zeros of `sizes` with `inputs` scattered to flat indices.

    indices: of the shape of `inputs`. Indices out of range are ignored. Where several elements have one index, the
    choice is undocumented and masked. low_halves: only the low 32 bits of indices count.
    """
    require_shape("unpooling", "indices", indices.shape, inputs.shape)
    result = memory.empty(shape_of("unpooling", sizes), inputs.dtype)
    result[...] = 0
    flat = (indices.astype(np.uint32) if low_halves else indices).reshape(-1)
    valid_places = np.flatnonzero((flat >= 0) & (flat < result.size))
    places, values = flat[valid_places].astype(np.int64), inputs.reshape(-1)[valid_places]
    result.reshape(-1)[places] = values
    order = np.argsort(places, kind="stable")
    repeated = order[1:][places[order][1:] == places[order][:-1]]
    if not len(repeated):
        return result
    mask = np.zeros(result.shape, np.bool_)
    mask.reshape(-1)[places[repeated]] = True
    return np.ma.MaskedArray(result, mask=mask)


def spread_along(array: NDArray[Any], axis: int, windows: Windows, size: int) -> NDArray[Any]:
    """Return sums of `array` elements per position along `axis`.

    Each element is added to all positions of its window.
    """
    result = memory.empty((*array.shape[:axis], size, *array.shape[axis + 1 :]), array.dtype)
    result[...] = 0
    target_view, source_view = np.moveaxis(result, axis, 0), np.moveaxis(array, axis, 0)
    if windows.runs is not None:
        for to, source_slice in memory.within_time_limit(windows.runs):
            target_view[source_slice] += source_view[to]
        return result
    for places, in_input in memory.within_time_limit(zip(windows.places.T, windows.met.T, strict=True)):
        np.add.at(
            target_view, places[in_input], source_view[in_input]
        )  # windows that start in the padding share their first position
    return result


def average_pool_nd(
    inputs: NDArray[Any],
    *,
    window: Sequence[int],
    include_padding: bool = False,
    **options: Any,
) -> NDArray[Any]:
    """Return average pooling, with paddings as in `convolve`.

    inputs: [batch, channel, spatial…]. include_padding: zero padding counts, positions beyond it do not. options:
    strides, dilations, pads, auto_pad and ceil of `slide_over`; with ceil, the last window may extend beyond the
    padding, but not start there.
    """
    slide = slide_over("pooling", inputs.shape[2:], window, **options)
    shape = (*inputs.shape[:2], *slide.counts)
    if not prod(shape):
        return memory.empty(shape, inputs.dtype)
    if include_padding:
        memory.check_budget(
            (*inputs.shape[:2], *map(sum, zip(inputs.shape[2:], slide.start, slide.end, strict=True))), inputs.dtype
        )
        inputs = np.pad(inputs, [(0, 0), (0, 0), *zip(slide.start, slide.end, strict=True)])
        slide = slide._replace(start=[0] * len(window))
    return average_pool(
        inputs,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=_end_paddings(inputs, window, slide),
        include_padding=False,
        dilations=slide.dilations,
    )


def _end_paddings(inputs: NDArray[Any], window: Sequence[int], slide: WindowGeometry) -> list[int]:
    """Return the end paddings that fit exactly the window counts."""
    axis_geometry = zip(inputs.shape[2:], window, *slide, strict=True)
    return [
        max(0, (count - 1) * step + (length - 1) * gap + 1 - size - before)
        for size, length, step, gap, before, _, count in axis_geometry
    ]


def lp_pool_nd(
    inputs: NDArray[Any],
    *,
    window: Sequence[int] | None = None,
    p: float,
    **options: Any,
) -> NDArray[Any]:
    """Return Lp pooling, with arguments as for `average_pool_nd`.

    Raises NoKernel without a window.
    """
    if window is None:
        raise NoKernel("pooling: the default window size is unspecified")
    slide = slide_over("pooling", inputs.shape[2:], window, **options)
    shape = (*inputs.shape[:2], *slide.counts)
    if not prod(shape):
        return memory.empty(shape, inputs.dtype)
    return lp_pool(
        inputs,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=_end_paddings(inputs, window, slide),
        p=p,
        dilations=slide.dilations,
    )


def max_pool_nd(
    inputs: NDArray[Any],
    *,
    window: Sequence[int],
    columns_first: bool = False,
    places_too: bool = True,
    **options: Any,
) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return max pooling, and indices in the flat inputs.

    Arguments are as for `average_pool_nd`. The first maximum, or the first nan, wins, and padding never does: windows
    without input are masked. columns_first: indices are column-major in the spatial dimensions. places_too: indices are
    requested.
    """
    slide = slide_over("pooling", inputs.shape[2:], window, **options)
    shape = (*inputs.shape[:2], *slide.counts)
    if not prod(shape):
        empty_values = memory.empty(shape, inputs.dtype)
        return empty_values, empty_values.astype(np.int64)
    if not inputs.size:
        empty_values, empty_indices = (memory.empty(shape, np.dtype(kind)) for kind in (inputs.dtype, np.int64))
        return np.ma.array(empty_values, mask=True), np.ma.array(empty_indices, mask=True)
    arguments: dict[str, Any] = {
        "strides": slide.strides, "window": window, "start_padding": slide.start,
        "end_padding": _end_paddings(inputs, window, slide), "dilations": slide.dilations, "finite": False,
    }  # fmt: skip
    if not places_too:
        return max_pool_values(inputs, **arguments), None
    values, places = max_pool(inputs, **arguments)
    return values, _to_column_major(places, inputs.shape[2:]) if columns_first else places


def _to_column_major(places: NDArray[np.int64], spatial: tuple[int, ...]) -> NDArray[np.int64]:
    size = prod(spatial)
    coordinates = np.unravel_index(places % size, spatial)
    return np.asarray(places // size * size + np.ravel_multi_index(coordinates[::-1], spatial[::-1]), np.int64)


def global_pool(inputs: NDArray[Any], *, function: str, p: float = 2) -> NDArray[Any]:
    """Return global pooling of [batch, channel, spatial…].

    function: AVERAGE, MAX or NORM (p-norm).
    """
    if inputs.ndim < 2:
        raise InputError(f"pooling: expected a batch and channels, found {inputs.ndim} dimensions")
    axes = range(2, inputs.ndim)
    if function == "NORM":
        with memory.ignore_warnings():
            total = np.sum(np.abs(inputs.astype(np.float64)) ** p, axis=tuple(axes), keepdims=True)
            return round_to(total ** (1.0 / p if p else np.inf), inputs.dtype)
    return reduce_dimensions(inputs, list(axes), function=function, keep=True, none_of_none=True)


_MAX_STEP = 2**31


def max_pool_with_index(
    data: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    dilations: Sequence[int] | None = None,
    auto_pad: str = "explicit",
    rounding: str = "floor",
    valid_rounds: bool = False,
    strided: bool = False,
    axis: int = 0,
    int32_indices: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return max pooling and indices, as in OpenVINO MaxPool.

    data: [batch, channel, spatial…]. Padding is never found: windows that see only padding, or nan, are masked. The
    index is in the flat dimensions of `data` from `axis` on. int32_indices: indices are int32, else int64.
    """
    options = auto_pad, rounding, valid_rounds, strided
    slide = _slide(data.shape[2:], window, strides, dilations, begins, ends, *options)
    if not -data.ndim <= axis < data.ndim:
        raise InputError(f"pooling: axis {axis} is out of range for rank {data.ndim}")
    kind = np.dtype(np.int32 if int32_indices else np.int64)
    shape = (*data.shape[:2], *slide.counts)
    if not prod(shape) or not data.size:
        values, places = memory.empty(shape, data.dtype), memory.empty(shape, kind)
        return np.ma.array(values, mask=True), np.ma.array(places, mask=True)
    values, places = max_pool(
        data,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=_window_ends(data, window, slide),
        dilations=slide.dilations,
        finite=False,
    )
    inner_size = prod(data.shape[axis if axis >= 0 else axis + data.ndim :])
    places = (places % inner_size).astype(kind)
    is_open = _without_input(data.shape[2:], window, slide) | (values != values)  # noqa: PLR0124  # also of bfloat16
    return (np.ma.array(values, mask=is_open), np.ma.array(places, mask=is_open)) if is_open.any() else (values, places)


def avg_pool(
    data: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    exclude: bool,
    dilations: Sequence[int] | None = None,
    auto_pad: str = "explicit",
    rounding: str = "floor",
    strided: bool = False,
) -> NDArray[Any]:
    """Return average pooling, as in OpenVINO AvgPool.

    Windows are those of `max_pool_with_index`. exclude: padding does not count, and windows that see only padding are
    masked; otherwise it counts as zeros. Raises NoKernel where it counts and a window extends beyond it.
    """
    slide = _slide(data.shape[2:], window, strides, dilations, begins, ends, auto_pad, rounding, False, strided)
    shape = (*data.shape[:2], *slide.counts)
    window_ends = _window_ends(data, window, slide)
    if not exclude and any(window_end > end for window_end, end in zip(window_ends, slide.end, strict=True)):
        raise NoKernel("pooling: it is unspecified which elements count if a window extends past the padding")
    if not prod(shape):
        return memory.empty(shape, data.dtype)
    if not data.size:
        return np.ma.array(memory.empty(shape, data.dtype), mask=True)
    array = average_pool(
        data,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=window_ends,
        include_padding=not exclude,
        dilations=slide.dilations,
    )
    empty = np.broadcast_to(_without_input(data.shape[2:], window, slide), shape)
    return np.ma.array(array, mask=empty) if exclude and empty.any() else array


def _slide(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int] | None,
    begins: Sequence[int],
    ends: Sequence[int],
    auto_pad: str,
    rounding: str,
    valid: bool,
    strided: bool,
) -> WindowGeometry:
    """Return the window geometry.

    valid: `rounding` applies with auto_pad valid as well; otherwise the count is known only where it is exact. strided:
    with same_upper and same_lower, output = ceil(input / stride), or the count of `ceil` if that is larger; otherwise
    output = input.
    """
    rank = len(sizes)
    gaps = list(dilations) if dilations is not None else [1] * rank
    same_length("pooling", rank, strides=strides, dilations=gaps, windows=window)
    if auto_pad not in AUTOMATIC or rounding not in {"floor", "ceil", "ceil_torch"}:
        raise InputError(f"pooling: unknown auto_pad {auto_pad!r:.30} or rounding_type {rounding!r:.30}")
    if auto_pad == "explicit":
        same_length("pooling", rank, **{"start paddings": begins, "end paddings": ends})
    start, end = ([*begins], [*ends]) if auto_pad == "explicit" else ([0] * rank, [0] * rank)
    if (
        rank < 1
        or any(n < 1 for n in (*strides, *window))
        or any(not 0 <= n < _MAX_STEP for n in (*gaps, *start, *end))
    ):
        raise InputError("pooling: expected windows and strides above 0, dilations and paddings of at least 0")
    counts = []
    for axis_index, (size, length, step, gap) in enumerate(zip(sizes, window, strides, gaps, strict=True)):
        span = (length - 1) * gap + 1
        if auto_pad.startswith("same"):
            count = -(-size // step) if strided else size
            total_padding = max(0, (count - 1) * step + span - size) if size else 0
            start[axis_index] = total_padding // 2 if auto_pad == "same_upper" else total_padding - total_padding // 2
            end[axis_index] = total_padding - start[axis_index]
            rounds = strided and rounding == "ceil"
            counts.append(max(count, 1 - (span - size - total_padding) // step) if rounds else count)
            continue
        left = size + start[axis_index] + end[axis_index] - span
        if left < 0:
            raise InputError(f"pooling: a window of {span} exceeds the padded input size {left + span}")
        counts.append(_count(left, step, size + start[axis_index], rounding, even=auto_pad != "valid" or valid))
    step_limits = [min(step, _MAX_STEP) if count <= 1 else step for step, count in zip(strides, counts, strict=True)]
    return WindowGeometry(step_limits, gaps, start, end, counts)


def _count(left: int, step: int, input_size: int, rounding: str, *, even: bool) -> int:
    """Return the number of windows that fit.

    even: the rounding is documented even where it matters.
    """
    floor_count, ceil_count = left // step + 1, -(-left // step) + 1
    if rounding == "floor" or floor_count == ceil_count:
        return floor_count
    if not even:
        raise NoKernel("pooling: it is unspecified how the number of windows is rounded here")
    return floor_count if rounding == "ceil_torch" and (ceil_count - 1) * step >= input_size else ceil_count


def _window_ends(data: NDArray[Any], window: Sequence[int], slide: WindowGeometry) -> list[int]:
    """Return the end paddings that fit exactly the window counts."""
    axis_geometry = zip(data.shape[2:], window, *slide, strict=True)
    return [
        max(0, (count - 1) * step + (length - 1) * gap + 1 - size - before) if count else 0
        for size, length, step, gap, before, _, count in axis_geometry
    ]


def _without_input(sizes: Sequence[int], window: Sequence[int], slide: WindowGeometry) -> NDArray[np.bool_]:
    """Return which windows [spatial…] see only padding."""
    array = np.zeros((1,) * len(sizes), np.bool_)
    for axis_index, (size, length, step, gap, before, _, count) in enumerate(zip(sizes, window, *slide, strict=True)):
        first = np.arange(count) * step - before
        skipped = np.where(first < 0, -(first // gap) if gap else length, 0)
        in_input = (skipped < length) & (first + skipped * gap < size)
        shape = [1] * len(sizes)
        shape[axis_index] = count
        array = array | ~in_input.reshape(shape)
    return array
