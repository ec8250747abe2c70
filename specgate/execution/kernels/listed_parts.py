"""Regions of feature maps, each listed with its map, brought to one size by the largest elements of their parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import quiet, require_shape, shape_of
from specgate.execution.kernels.region_pools import edges

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["pool_listed_parts"]

#: Corners farther away than this are no places.
_FAR = 2.0**30


def pool_listed_parts(
    inputs: NDArray[Any], regions: NDArray[Any], *, height: int, width: int, scale: float
) -> NDArray[Any]:
    """Return [regions, channels, height, width]: the largest element of each part of a region.

    inputs: [batch, channels, rows, columns]. regions: [1…, regions, 5], the number of the map and two corners, x before
    y. Corners times `scale` are rounded to elements, halves to the even one, and the elements of both count; a region
    is at least one element high and wide. A part has all elements that it touches, and is 0 without any. The search
    starts at the lowest finite number, so that neither -inf nor nan is found. Regions of no map, or with corners that
    are no places, are masked.
    """
    if inputs.ndim != 4 or regions.ndim < 2 or regions.dtype != inputs.dtype:
        raise InputError("pool_listed_parts: expected feature maps of four dimensions, and regions of the same type")
    require_shape("regions", "a list", regions.shape, (*(1,) * (regions.ndim - 2), regions.shape[-2], 5))
    numbers, corners = regions.reshape(-1, 5)[:, 0], regions.reshape(-1, 5)[:, 1:].astype(np.float32)
    result = memory.empty(shape_of("regions", (len(corners), inputs.shape[1], height, width)), inputs.dtype)
    result[...] = 0
    with memory.quiet():
        places = np.rint(corners * np.float32(scale))
    known = (np.abs(places) < _FAR).all(1) & np.isin(numbers, np.arange(len(inputs)))
    for index in memory.in_time(np.flatnonzero(known)):
        x1, y1, x2, y2 = (int(place) for place in places[index])
        across = edges(x1, max(1, x2 - x1 + 1), width, inputs.shape[3])
        down = edges(y1, max(1, y2 - y1 + 1), height, inputs.shape[2])
        _fill(result[index], inputs[int(numbers[index])], down, across)
    if known.all():
        return result
    return np.ma.MaskedArray(result, mask=np.broadcast_to(~known[:, None, None, None], result.shape))


def _fill(
    result: NDArray[Any], planes: NDArray[Any], down: list[tuple[int, int]], across: list[tuple[int, int]]
) -> None:
    """Put the largest elements of parts, rows first and then columns, where there are some."""
    lowest = np.finfo(planes.dtype).min
    for i, (top, bottom) in memory.in_time(enumerate(down)):
        if top >= bottom:
            continue
        rows = np.fmax.reduce(quiet(planes[:, top:bottom]), 1)
        for j, (left, right) in enumerate(across):
            if left < right:
                result[:, i, j] = np.fmax(np.fmax.reduce(rows[:, left:right], 1), lowest)
