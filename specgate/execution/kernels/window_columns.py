"""Windows written as columns, and columns put back."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, same_length, shape_of, to_float64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["columns_of_windows", "windows_from_columns"]

_LIMIT = 2**32


def columns_of_windows(
    inputs: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
) -> NDArray[Any]:
    """Return [batch, channels * elements of a window, windows] of `inputs` [batch, channels, spatial…].

    Padding is 0.
    """
    each = _places(inputs.shape[2:], window, strides, dilations, start_padding, end_padding)
    batch, channels = inputs.shape[:2]
    counts = [places.shape[1] for places in each]
    memory.hold((batch, channels * prod(window), prod(counts)), inputs.dtype)
    result = inputs
    for axis, places in enumerate(each):
        size = inputs.shape[axis + 2]
        at = 2 + 2 * axis
        met = (places >= 0) & (places < size)
        column = met.reshape(*met.shape, *(1,) * (result.ndim - at - 1))
        taken = np.take(result, np.where(met, places, 0), at)
        result = np.where(column, taken, np.zeros((), inputs.dtype))
    rank = len(each)
    order = (0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 2 + 2 * rank, 2))
    return result.transpose(order).reshape(batch, channels * prod(window), prod(counts))


def windows_from_columns(
    columns: NDArray[Any],
    *,
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
) -> NDArray[Any]:
    """Return an array of `sizes` [batch, channels, spatial…] to which windows were added where they are from.

    columns: [batch, channels * elements of a window, windows], as `columns_of_windows` gives them. What is of the
    padding is left out. Sums of integers of up to 16 bits are held to what their type has.
    """
    shape = shape_of("fold", sizes)
    each = _places(shape[2:], window, strides, dilations, start_padding, end_padding)
    counts = [places.shape[1] for places in each]
    require_shape("fold", "columns", columns.shape, (shape[0], shape[1] * prod(window), prod(counts)))
    memory.hold(shape, columns.dtype)
    narrow = columns.dtype.kind in "iu" and columns.dtype.itemsize < 4
    wide = columns.astype(np.int64) if narrow else to_float64(columns)
    result = wide.reshape(*shape[:2], *window, *counts)
    rank = len(each)
    for axis, places in enumerate(each):  # the window's first dimension left, and where that slides
        of = np.moveaxis(result, (2 + axis, 2 + rank), (0, 1))
        whole = memory.empty((shape[axis + 2], *of.shape[2:]), result.dtype)
        whole[...] = 0
        for part, at in memory.in_time(zip(of, places, strict=True)):
            met = (at >= 0) & (at < len(whole))
            whole[at[met]] += part[met]
        result = np.moveaxis(whole, 0, 2 + axis)
    if narrow:
        limits = np.iinfo(columns.dtype)
        result = np.clip(result, limits.min, limits.max)
    return round_to(result, columns.dtype)


def _places(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    start: Sequence[int],
    end: Sequence[int],
) -> list[NDArray[np.int64]]:
    """Return along each dimension where each element of each window stands: [elements of a window, windows]."""
    rank = len(sizes)
    same_length("windows", rank, windows=window, strides=strides, dilations=dilations)
    same_length("windows", rank, **{"start paddings": start, "end paddings": end})
    if rank < 1 or any(not 0 <= n < _LIMIT for n in (*window, *strides, *dilations, *start, *end)) or 0 in strides:
        raise InputError("windows: expected strides above 0, and nothing negative or above 2**32 - 1")
    found = []
    for size, length, step, gap, before, behind in zip(sizes, window, strides, dilations, start, end, strict=True):
        left = size + before + behind - gap * (length - 1) - 1
        if left < 0:
            raise InputError(f"windows: a window of {gap * (length - 1) + 1} does not fit into {size} and its padding")
        memory.hold((length, left // step + 1), np.dtype(np.int64))
        first = np.arange(left // step + 1, dtype=np.int64) * step - before
        found.append(np.arange(length, dtype=np.int64)[:, np.newaxis] * gap + first)
    return found
