"""Arrays enlarged or reduced by interpolation along each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, same_length, shape_of, to_float32, to_float64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["resample"]


def resample(
    inputs: NDArray[Any],
    *,
    sizes: Sequence[int],
    scales: Sequence[float],
    linear: bool,
    input_offsets: Sequence[float] | None = None,
    output_offsets: Sequence[float] | None = None,
    upwards: bool | None = None,
    higher: bool = False,
) -> NDArray[Any]:
    """Return `inputs` at the places of an array of other sizes: (place - output offset) / scale - input offset.

    linear: the first of the two elements around it and their weighted difference along every dimension, nan beside an
    infinite one, instead of one element. That is the next one above (upwards), the next one below, or the nearest, the
    lower one of two (or the higher one), if None. Places outside take the edge; an infinite scale makes all places one,
    and one of 0 puts them at the edges. Offsets are 0.5 and
    -0.5, the centres of elements, if None. Places are computed in float32; integers lose the fraction of a mean.
    """
    rank = inputs.ndim
    before = (0.5,) * rank if input_offsets is None else input_offsets
    behind = (-0.5,) * rank if output_offsets is None else output_offsets
    offsets = {"input offsets": before, "output offsets": behind}
    same_length("resample", rank, sizes=sizes, scales=scales, **offsets)
    memory.empty(shape_of("resample", sizes), inputs.dtype)
    result = inputs.astype(np.float64) if linear else inputs
    with np.errstate(all="ignore"):
        for axis, (size, *shift) in enumerate(zip(sizes, scales, before, behind, strict=True)):
            places = _places(size, *shift)
            if linear:
                result = _interpolated(result, axis, places)
            else:
                result = np.take(result, _whole(places, upwards, inputs.shape[axis], higher=higher), axis)
        if linear and not is_float(inputs.dtype):
            result = np.trunc(result.astype(np.float32))
        return round_to(result, inputs.dtype)


def _places(size: int, scale: float, before: float, behind: float) -> NDArray[np.float32]:
    one = np.float32
    found: NDArray[np.float32] = (np.arange(size, dtype=one) - one(behind)) / one(scale) - one(before)
    return found


def _whole(places: NDArray[np.float32], upwards: bool | None, size: int, *, higher: bool) -> NDArray[np.int64]:
    half = np.float32(0.5)
    if upwards is None:
        return _inside(np.floor(places + half) if higher else np.ceil(places - half), size)
    return _inside(np.ceil(places) if upwards else np.floor(places), size)


def _inside(places: NDArray[np.float32], size: int) -> NDArray[np.int64]:
    """Return whole places held to those that there are; one that is no number, of infinite offsets, is the first."""
    return np.asarray(np.nan_to_num(np.clip(places, 0, size - 1), nan=0.0), np.int64)


def _interpolated(values: NDArray[Any], axis: int, places: NDArray[np.float32]) -> NDArray[Any]:
    size = values.shape[axis]
    lower = np.floor(places)
    weight = to_float64(to_float32(places - lower, places.dtype)).reshape(-1, *(1,) * (values.ndim - 1 - axis))
    left = np.take(values, _inside(lower, size), axis)
    right = np.take(values, _inside(lower + 1, size), axis)
    return np.asarray(left + (right - left) * weight)
