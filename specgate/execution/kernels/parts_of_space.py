"""Adaptive pooling and image patches.

OpenVINO AdaptiveAvgPool, AdaptiveMaxPool, ExtractImagePatches.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to, to_float64
from specgate.execution.kernels.narrow_types import zero_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["largest_of_parts", "mean_of_parts", "patches"]


def mean_of_parts(data: NDArray[Any], output_size: NDArray[Any]) -> NDArray[Any]:
    """Return adaptive average pooling of `data` [batch, channel, spatial…].

    Bin i of n of a size s is [floor(i * s / n), ceil((i + 1) * s / n)). Empty bins are masked.
    """
    shape, parts = _parts(data, output_size)
    result = memory.empty(shape, data.dtype)
    if not prod(data.shape[2:]):
        return np.ma.array(result, mask=True)
    wide = to_float64(data)
    axes = tuple(range(2, data.ndim))
    with memory.quiet():
        for at, part in memory.in_time(parts):
            result[_at(at)] = round_to(wide[_at(part)].mean(axis=axes), data.dtype)
    return result


def largest_of_parts(
    data: NDArray[Any], output_size: NDArray[Any], *, int32_indices: bool = False
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return adaptive max pooling, and flat spatial indices of the maxima.

    Bins are those of `mean_of_parts`. The first of equal elements wins. Bins with nan are masked. int32_indices:
    indices are int32, not int64.
    """
    shape, parts = _parts(data, output_size)
    values, places = (
        memory.empty(shape, data.dtype),
        memory.empty(shape, np.dtype(np.int32 if int32_indices else np.int64)),
    )
    if not prod(data.shape[2:]):
        return np.ma.array(values, mask=True), np.ma.array(places, mask=True)
    wide = to_float64(data)
    numbers = np.arange(prod(data.shape[2:])).reshape(data.shape[2:])
    unknown = np.zeros(shape, np.bool_)
    for at, part in memory.in_time(parts):
        result = wide[_at(part)]
        flat = result.reshape(*data.shape[:2], prod(result.shape[2:]))
        best = flat.argmax(axis=-1)
        values[_at(at)] = np.take_along_axis(flat, best[..., None], -1)[..., 0].astype(data.dtype)
        places[_at(at)] = numbers[part].reshape(-1)[best]
        unknown[_at(at)] = np.isnan(flat).any(axis=-1)
    if not unknown.any():
        return values, places
    return np.ma.array(values, mask=unknown), np.ma.array(places, mask=unknown)


def _parts(
    data: NDArray[Any], output_size: NDArray[Any]
) -> tuple[tuple[int, ...], list[tuple[tuple[int, ...], tuple[slice, ...]]]]:
    """Return the output's shape, and the bin of each output position."""
    counts, sizes = output_size.reshape(-1).tolist(), data.shape[2:]
    if output_size.dtype.kind not in "iu":
        raise InputError(f"pooling: expected sizes as whole numbers, found {output_size.dtype}")
    if data.ndim < 3 or len(counts) != len(sizes) or min(counts, default=0) < 0:
        raise InputError(f"pooling: expected {len(sizes)} sizes of 0 or more, found {counts!r:.60}")
    shape = (*data.shape[:2], *counts)
    memory.hold(shape, data.dtype)
    if not prod(shape) or not prod(sizes):
        return shape, []
    cuts = [
        [slice(i * size // count, -(-(i + 1) * size // count)) for i in range(count)]
        for count, size in zip(counts, sizes, strict=True)
    ]
    return shape, list(zip(product(*map(range, counts)), product(*cuts), strict=True))


def _at(spatial: tuple[Any, ...]) -> Any:
    """Return the index of positions or bins in every batch and channel."""
    return (slice(None), slice(None), *spatial)


def patches(
    data: NDArray[Any], *, sizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], auto_pad: str
) -> NDArray[Any]:
    """Return flattened patches of `data`, as in OpenVINO ExtractImagePatches.

    data: [batch, depth, rows, columns]; patches replace the depth, with depth varying fastest. sizes, strides, rates:
    of rows and columns; elements of a patch are `rates` apart. auto_pad: valid (windows lie in the data), same_upper or
    same_lower (output = ceil(input / stride), zero-padded, the odd element at the end or at the beginning).
    """
    if data.ndim != 4 or any(len(each) != 2 for each in (sizes, strides, rates)):
        raise InputError("patches: expected four dimensions, and two sizes, strides and rates")
    if min(sizes) < 0 or min(*strides, *rates) < 1:
        raise InputError("patches: expected sizes of 0 or more, and strides and rates of at least 1")
    if auto_pad not in {"valid", "same_upper", "same_lower"}:
        raise InputError(f"patches: expected valid, same_upper or same_lower, found {auto_pad!r:.40}")
    before, counts = [], []
    for size, length, step, gap in zip(data.shape[2:], sizes, strides, rates, strict=True):
        span = (length - 1) * gap + 1
        count = max(0, (size - span) // step + 1) if auto_pad == "valid" else -(-size // step)
        missing = 0 if auto_pad == "valid" else max(0, (count - 1) * step + span - size)
        before.append(missing - missing // 2 if auto_pad == "same_lower" else missing // 2)
        counts.append(count)
    result = memory.empty((data.shape[0], data.shape[1] * sizes[0] * sizes[1], *counts), data.dtype)
    if auto_pad != "valid":
        result[...] = zero_of("patches", data.dtype)
    parts = result.reshape(data.shape[0], sizes[0] * sizes[1], data.shape[1], *counts)
    for at, (row, column) in memory.in_time(enumerate(product(range(sizes[0]), range(sizes[1])))):
        offsets = (row * rates[0] - before[0], column * rates[1] - before[1])
        met = [_met(*each) for each in zip(data.shape[2:], counts, strides, offsets, strict=True)]
        (rows, from_rows), (columns, from_columns) = met
        parts[:, at, :, rows, columns] = data[:, :, from_rows, from_columns]
    return result


def _met(size: int, count: int, step: int, offset: int) -> tuple[slice, slice]:
    """Return which windows' elements at `offset` lie inside, and where."""
    first = max(0, -(offset // step)) if offset < 0 else 0
    last = min(count, (size - 1 - offset) // step + 1) if size > offset else 0
    last = max(first, last)
    begin = first * step + offset
    return slice(first, last), slice(begin, begin + max(0, (last - first - 1)) * step + (last > first), step)
