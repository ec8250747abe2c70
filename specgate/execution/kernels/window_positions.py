"""Max pooling with indices by slices, one dimension after the other.

For arrays without special elements (nan, -0).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float
from specgate.execution.kernels.row_blocks import blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from specgate.execution.kernels.pool import Windows

__all__ = ["largest_by_slices", "places_by_slices", "plain", "values_by_slices"]

#: Elements per block, so that intermediate results stay in a cache.
_BLOCK: Final = 2**18


def plain(values: NDArray[Any], windows: Sequence[Windows], *, finite: bool) -> bool:
    """Return whether the functions below match a sequential maximum search.

    That search replaces an element only by a larger one. The functions do not distinguish 0 and -0, and treat
    infinities as numbers (finite: the search ignores them).
    """
    if not values.size or not all(each.runs for each in windows):
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
        last, each = arrays[-1], windows[axis - 2]
        result = memory.empty((*last.shape[:axis], len(each.counts), *last.shape[axis + 1 :]), last.dtype)
        result[...] = lowest
        for to, at in each.runs or ():
            before = (slice(None),) * axis
            np.maximum(result[(*before, to)], last[(*before, at)], out=result[(*before, to)])
        arrays.append(result)
    return arrays


def values_by_slices(
    values: NDArray[Any], windows: Sequence[Windows], lowest: Any, *, finite: bool
) -> NDArray[Any] | None:
    """Return the window maxima of `values`, nan if a window has any.

    None where the result would differ or depend on the order: for a maximum of 0 with -0 present. finite: see `plain`.
    """
    if not values.size or not all(each.runs for each in windows):
        return None
    if finite and is_float(values.dtype) and not np.isfinite(values).all():
        return None
    flat = values.reshape(prod(values.shape[:2]), 1, *values.shape[2:])
    result = memory.empty((len(flat), 1, *(len(each.counts) for each in windows)), values.dtype)
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
    shape = (rows, 1, *(len(each.counts) for each in windows))
    largest, places = memory.empty(shape, values.dtype), memory.empty(shape, np.dtype(np.int64))
    many = max(1, _BLOCK // max(1, prod(spatial)))
    for top in memory.in_time(range(0, rows, many)):
        steps = largest_by_slices(flat[top : top + many], windows, lowest)
        if is_float(values.dtype) and np.isnan(steps[-1]).any():
            return None
        largest[top : top + many] = steps[-1]
        np.add(_places(steps, windows), top * prod(spatial), out=places[top : top + many])
    whole = (*values.shape[:2], *shape[2:])
    return largest.reshape(whole), places.reshape(whole)


def _places(steps: Sequence[NDArray[Any]], windows: Sequence[Windows]) -> NDArray[np.int64]:
    """Return flat indices from the results of `largest_by_slices`."""
    shape, rank = steps[0].shape, steps[0].ndim
    counts = [len(each.runs or ()) for each in windows]
    kind = np.min_scalar_type(prod(counts))
    # which run, first spatial dimension first: a narrow integer, for speed
    codes: NDArray[Any] = np.zeros((), kind)
    for step, axis in enumerate(range(2, rank)):
        values, best, before = steps[step], steps[step + 1], (slice(None),) * axis
        array = np.full(best.shape, np.iinfo(kind).max, kind)
        for number, (to, at) in enumerate(windows[axis - 2].runs or ()):
            same = values[(*before, at)] == best[(*before, to)]
            missed = same.view(np.uint8).astype(kind, copy=False) - kind.type(1)  # all bits set where it differs
            code = kind.type(number * prod(counts[axis - 1 :]))
            missed |= codes[(*before, at)] + code if step else code
            np.minimum(array[(*before, to)], missed, out=array[(*before, to)])
        codes = array
    offsets = np.zeros((), np.int64)
    of_rows = np.arange(prod(shape[:2]), dtype=np.int64).reshape(*shape[:2], *(1,) * (rank - 2)) * prod(shape[2:])
    origins = np.zeros((), np.int64)
    for axis, each in enumerate(windows, 2):
        apart, runs = prod(shape[axis + 1 :]), each.runs or ()
        stride = runs[0][1].step
        steps_of = np.array([at.start - to.start * stride for to, at in runs], np.int64) * apart
        offsets = offsets[..., np.newaxis] + steps_of
        at_first = np.arange(len(each.counts), dtype=np.int64) * (stride * apart)
        origins = origins + at_first.reshape(-1, *(1,) * (rank - 1 - axis))
    places = np.take(offsets.reshape(-1), codes, mode="clip")
    places += origins
    places += of_rows
    return places
