"""Max pooling with indices, adaptive pooling and image patches."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import blocks_of, is_float, round_to, to_float64
from specgate.execution.kernels.narrow_types import zero_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from specgate.execution.kernels.pool import Windows

#: Elements per block, so that intermediate results stay in a cache.
_BLOCK: Final = 2**18


def is_sequential_equal(values: NDArray[Any], windows: Sequence[Windows], *, finite: bool) -> bool:
    """Return whether the functions below match a sequential maximum search.

    That search replaces an element only by a larger one. The functions do not distinguish 0 and -0, and treat
    infinities as numbers (finite: the search ignores them).
    """
    if not values.size or not all(window.runs for window in windows):
        return False
    if not is_float(values.dtype):
        return True
    return not (np.signbit(values) & (values == 0)).any() and bool(not finite or np.isfinite(values).all())


def largest_by_slices(values: NDArray[Any], windows: Sequence[Windows], lowest: Any) -> list[NDArray[Any]]:
    """Return partial maxima along the first spatial dimension, two, and so on.

    values: [batch, channel, spatial…], the first result. Windows of padding only give `lowest`, windows with nan give
    nan.
    """
    arrays = [values]
    for axis in range(2, values.ndim):
        last, window = arrays[-1], windows[axis - 2]
        result = memory.empty((*last.shape[:axis], len(window.counts), *last.shape[axis + 1 :]), last.dtype)
        result[...] = lowest
        for to, source_slice in window.runs or ():
            before = (slice(None),) * axis
            np.maximum(result[(*before, to)], last[(*before, source_slice)], out=result[(*before, to)])
        arrays.append(result)
    return arrays


def values_by_slices(
    values: NDArray[Any], windows: Sequence[Windows], lowest: Any, *, finite: bool
) -> NDArray[Any] | None:
    """Return the window maxima of `values`, nan if a window has any.

    None where the result would differ or depend on the order: for a maximum of 0 with -0 present. finite: see
    `is_sequential_equal`.
    """
    if not values.size or not all(window.runs for window in windows):
        return None
    if finite and is_float(values.dtype) and not np.isfinite(values).all():
        return None
    flat = values.reshape(prod(values.shape[:2]), 1, *values.shape[2:])
    result = memory.empty((len(flat), 1, *(len(window.counts) for window in windows)), values.dtype)
    for rows in blocks_of(len(flat), prod(values.shape[2:])):
        result[rows] = largest_by_slices(flat[rows], windows, lowest)[-1]
    if is_float(values.dtype) and (result == 0).any() and (np.signbit(values) & (values == 0)).any():
        return None
    return result.reshape(*values.shape[:2], *result.shape[2:])


def places_by_slices(
    values: NDArray[Any], windows: Sequence[Windows], lowest: Any
) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return window maxima, and flat indices of their first occurrence.

    None if there is nan. For windows of padding only the index is arbitrary.
    """
    rows, spatial = prod(values.shape[:2]), values.shape[2:]
    flat = values.reshape(rows, 1, *spatial)
    shape = (rows, 1, *(len(window.counts) for window in windows))
    largest, places = memory.empty(shape, values.dtype), memory.empty(shape, np.dtype(np.int64))
    chunk_size = max(1, _BLOCK // max(1, prod(spatial)))
    for top in memory.within_time_limit(range(0, rows, chunk_size)):
        steps = largest_by_slices(flat[top : top + chunk_size], windows, lowest)
        if is_float(values.dtype) and np.isnan(steps[-1]).any():
            return None
        largest[top : top + chunk_size] = steps[-1]
        np.add(_places(steps, windows), top * prod(spatial), out=places[top : top + chunk_size])
    output_shape = (*values.shape[:2], *shape[2:])
    return largest.reshape(output_shape), places.reshape(output_shape)


def _places(steps: Sequence[NDArray[Any]], windows: Sequence[Windows]) -> NDArray[np.int64]:
    """Return flat indices from the results of `largest_by_slices`."""
    shape, rank = steps[0].shape, steps[0].ndim
    counts = [len(window.runs or ()) for window in windows]
    kind = np.min_scalar_type(prod(counts))
    # which run, first spatial dimension first: a narrow integer, for speed
    codes: NDArray[Any] = np.zeros((), kind)
    for step, axis in enumerate(range(2, rank)):
        values, extremes, before = steps[step], steps[step + 1], (slice(None),) * axis
        array = np.full(extremes.shape, np.iinfo(kind).max, kind)
        for number, (to, source_slice) in enumerate(windows[axis - 2].runs or ()):
            is_extreme = values[(*before, source_slice)] == extremes[(*before, to)]
            missed = is_extreme.view(np.uint8).astype(kind, copy=False) - kind.type(1)  # all bits set where it differs
            code = kind.type(number * prod(counts[axis - 1 :]))
            missed |= codes[(*before, source_slice)] + code if step else code
            np.minimum(array[(*before, to)], missed, out=array[(*before, to)])
        codes = array
    offsets = np.zeros((), np.int64)
    of_rows = np.arange(prod(shape[:2]), dtype=np.int64).reshape(*shape[:2], *(1,) * (rank - 2)) * prod(shape[2:])
    origins = np.zeros((), np.int64)
    for axis, axis_windows in enumerate(windows, 2):
        inner_size, runs = prod(shape[axis + 1 :]), axis_windows.runs or ()
        stride = runs[0][1].step
        steps_of = np.array([run_source.start - to.start * stride for to, run_source in runs], np.int64) * inner_size
        offsets = offsets[..., np.newaxis] + steps_of
        at_first = np.arange(len(axis_windows.counts), dtype=np.int64) * (stride * inner_size)
        origins = origins + at_first.reshape(-1, *(1,) * (rank - 1 - axis))
    places = np.take(offsets.reshape(-1), codes, mode="clip")
    places += origins
    places += of_rows
    return places


def adaptive_avg_pool(data: NDArray[Any], output_size: NDArray[Any]) -> NDArray[Any]:
    """Return adaptive average pooling of `data` [batch, channel, spatial…].

    Bin i of n of a size s is [floor(i * s / n), ceil((i + 1) * s / n)). Empty bins are masked.
    """
    shape, parts = _parts(data, output_size)
    result = memory.empty(shape, data.dtype)
    if not prod(data.shape[2:]):
        return np.ma.array(result, mask=True)
    wide_data = to_float64(data)
    axes = tuple(range(2, data.ndim))
    with memory.ignore_warnings():
        for index, part in memory.within_time_limit(parts):
            result[_spatial_index(index)] = round_to(wide_data[_spatial_index(part)].mean(axis=axes), data.dtype)
    return result


def adaptive_max_pool(
    data: NDArray[Any], output_size: NDArray[Any], *, int32_indices: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return adaptive max pooling, and flat spatial indices of the maxima.

    Bins are those of `adaptive_avg_pool`. The first of equal elements wins. Bins with nan are masked. int32_indices:
    indices are int32, not int64.
    """
    shape, parts = _parts(data, output_size)
    values, places = (
        memory.empty(shape, data.dtype),
        memory.empty(shape, np.dtype(np.int32 if int32_indices else np.int64)),
    )
    if not prod(data.shape[2:]):
        return np.ma.array(values, mask=True), np.ma.array(places, mask=True)
    wide_data = to_float64(data)
    numbers = np.arange(prod(data.shape[2:])).reshape(data.shape[2:])
    unknown = np.zeros(shape, np.bool_)
    for index, part in memory.within_time_limit(parts):
        result = wide_data[_spatial_index(part)]
        flat = result.reshape(*data.shape[:2], prod(result.shape[2:]))
        best_indices = flat.argmax(axis=-1)
        values[_spatial_index(index)] = np.take_along_axis(flat, best_indices[..., None], -1)[..., 0].astype(data.dtype)
        places[_spatial_index(index)] = numbers[part].reshape(-1)[best_indices]
        unknown[_spatial_index(index)] = np.isnan(flat).any(axis=-1)
    if not unknown.any():
        return values, places
    return np.ma.array(values, mask=unknown), np.ma.array(places, mask=unknown)


def _parts(
    data: NDArray[Any], output_size: NDArray[Any]
) -> tuple[tuple[int, ...], list[tuple[tuple[int, ...], tuple[slice, ...]]]]:
    """Return the output's shape, and the bin of each output position."""
    counts, sizes = output_size.reshape(-1).tolist(), data.shape[2:]
    if output_size.dtype.kind not in "iu":
        raise InputError(f"pooling: expected integers as output_size, found {output_size.dtype}")
    if data.ndim < 3 or len(counts) != len(sizes) or min(counts, default=0) < 0:
        raise InputError(f"pooling: expected {len(sizes)} output sizes of at least 0, found {counts!r:.60}")
    shape = (*data.shape[:2], *counts)
    memory.check_budget(shape, data.dtype)
    if not prod(shape) or not prod(sizes):
        return shape, []
    cuts = [
        [slice(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        for count, size in zip(counts, sizes, strict=True)
    ]
    return shape, list(zip(product(*map(range, counts)), product(*cuts), strict=True))


def _spatial_index(spatial: tuple[Any, ...]) -> Any:
    """Return the index of positions or bins in every batch and channel."""
    return (slice(None), slice(None), *spatial)


def extract_image_patches(
    data: NDArray[Any], *, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], auto_pad: str
) -> NDArray[Any]:
    """Return flattened patches of `data`, as in OpenVINO ExtractImagePatches.

    data: [batch, depth, rows, columns]; patches replace the depth, with depth varying fastest. sizes, strides, rates:
    of rows and columns; elements of a patch are `rates` apart. auto_pad: valid (windows lie in the data), same_upper or
    same_lower (output = ceil(input / stride), zero-padded, the odd element at the end or at the beginning).
    """
    if data.ndim != 4 or any(len(numbers_per_axis) != 2 for numbers_per_axis in (sizes, strides, rates)):
        raise InputError(
            "extract_image_patches: expected a 4-D input, and two numbers each for sizes, strides and rates"
        )
    if min(sizes) < 0 or min(*strides, *rates) < 1:
        raise InputError("extract_image_patches: expected sizes of at least 0, and strides and rates of at least 1")
    if auto_pad not in {"valid", "same_upper", "same_lower"}:
        raise InputError(
            f"extract_image_patches: expected auto_pad valid, same_upper or same_lower, found {auto_pad!r:.40}"
        )
    before, counts = [], []
    for size, length, step, gap in zip(data.shape[2:], sizes, strides, rates, strict=True):
        span = (length - 1) * gap + 1
        count = max(0, (size - span) // step + 1) if auto_pad == "valid" else -(-size // step)
        missing_count = 0 if auto_pad == "valid" else max(0, (count - 1) * step + span - size)
        before.append(missing_count - missing_count // 2 if auto_pad == "same_lower" else missing_count // 2)
        counts.append(count)
    result = memory.empty((data.shape[0], data.shape[1] * sizes[0] * sizes[1], *counts), data.dtype)
    if auto_pad != "valid":
        result[...] = zero_of("extract_image_patches", data.dtype)
    parts = result.reshape(data.shape[0], sizes[0] * sizes[1], data.shape[1], *counts)
    for index, (row, column) in memory.within_time_limit(enumerate(product(range(sizes[0]), range(sizes[1])))):
        offsets = (row * rates[0] - before[0], column * rates[1] - before[1])
        slices_by_axis = [
            _overlapping_slices(*axis_values)
            for axis_values in zip(data.shape[2:], counts, strides, offsets, strict=True)
        ]
        (rows, from_rows), (columns, from_columns) = slices_by_axis
        parts[:, index, :, rows, columns] = data[:, :, from_rows, from_columns]
    return result


def _overlapping_slices(size: int, count: int, step: int, offset: int) -> tuple[slice, slice]:
    """Return which windows' elements at `offset` lie inside, and where."""
    first = max(0, -(offset // step)) if offset < 0 else 0
    last = min(count, (size - 1 - offset) // step + 1) if size > offset else 0
    last = max(first, last)
    begin = first * step + offset
    return slice(first, last), slice(begin, begin + max(0, (last - first - 1)) * step + (last > first), step)
