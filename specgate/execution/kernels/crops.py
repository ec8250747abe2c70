"""Regions cropped out of feature maps and brought to one size, and the gradients of that.

A region has the corners x1, y1, x2, y2, and may be mirrored or empty. It is divided into parts, and each part into
points, in float32. Points an element or more outside of the feature map are outside; where points reach from corner to
corner, those that are not between elements.
"""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import quiet, require_shape, round_to, shape_of, to_float64
from specgate.execution.kernels.regions import between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Cropping", "Points", "crop_regions", "each_region", "largest_of", "nearest_elements", "nearest_places"]

_FEW = 2**31
#: Of a place, relative to its size: what rounding may move it by.
_NEAR = 1e-6


class Cropping(NamedTuple):
    """How points lie in regions: how many parts there are, and of each part at least and at most how many points.

    scale_y, scale_x: corners are multiplied by them. before, behind: the offsets of elements of the feature map and
    of points, half an element as 0.5 and -0.5. to_corners: points reach from corner to corner.
    """

    height: int
    width: int
    scale_y: float
    scale_x: float
    least: int
    most: int
    before: float
    behind: float
    to_corners: bool


class Points(NamedTuple):
    """The points of one region: y and x of each of them, [height, points down, width, points across] flattened.

    outside: those that are outside of the feature map. unsure: those that rounding alone puts on one side.
    """

    y: NDArray[np.float32]
    x: NDArray[np.float32]
    grid: tuple[int, int, int, int]
    outside: NDArray[np.bool_]
    unsure: NDArray[np.bool_]


def crop_regions(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    batches: NDArray[Any],
    *,
    height: int,
    width: int,
    linear: bool,
    largest: bool,
    scale_y: float,
    scale_x: float,
    outside: float,
    min_samples: int,
    max_samples: int,
    before: float = 0.5,
    behind: float = -0.5,
    to_corners: bool = False,
    upper: bool = False,
) -> NDArray[Any]:
    """Return [regions, channels, height, width]: the mean, or the largest, of the elements at the points of each part.

    inputs: [batch, channels, rows, columns]. regions: [1…, regions, 4]. batches: [1…, regions], the map of each.
    linear: points are between elements, else the nearest, of two the upper one if `upper`. largest: from the lowest
    finite number on, so that neither -inf nor nan is found. outside: what points there are. The others are the members
    of `Cropping`.
    Regions with corners that are not finite, of no map, or without points are masked, and parts with a point
    that rounding alone puts outside or inside.
    """
    if regions.dtype != inputs.dtype:
        raise InputError(f"crop_regions: expected regions of {inputs.dtype}, found {regions.dtype}")
    cropping = Cropping(height, width, scale_y, scale_x, min_samples, max_samples, before, behind, to_corners)
    shape = shape_of("crop_regions", (batches.size, inputs.shape[1], height, width))
    result = memory.empty(shape, inputs.dtype)
    lacking = np.ones((len(result), 1, height, width), np.bool_)
    result[...] = 0
    with memory.quiet():
        for index, batch, points in each_region(inputs.shape, regions, batches, cropping):
            memory.hold((2, inputs.shape[1], len(points.y)), np.dtype(np.int8))  # what is worked with
            planes = to_float64(inputs[batch])
            found = between(planes, points.y, points.x) if linear else nearest_elements(planes, points, upper=upper)
            found = np.where(points.outside, np.float64(np.float32(outside)), found)
            parts = found.reshape(len(found), *points.grid)
            pooled = largest_of(parts, inputs.dtype) if largest else parts.mean((2, 4))
            result[index] = round_to(pooled, inputs.dtype)
            lacking[index, 0] = points.unsure.reshape(points.grid).any((1, 3))
    if not lacking.any():
        return result
    return np.ma.MaskedArray(result, mask=np.broadcast_to(lacking, shape))


def largest_of(parts: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the largest of each part [channels, height, down, width, across], at least the lowest of a type."""
    lowest = np.float64(np.finfo(np.float32 if dtype.itemsize < 4 else dtype).min)
    return np.asarray(np.fmax(np.fmax.reduce(quiet(parts), (2, 4)), lowest))


def nearest_places(places: NDArray[np.float32], size: int, *, upper: bool) -> NDArray[np.int64]:
    """Return the elements nearest to places, of two the lower or the upper one."""
    half = np.float32(0.5)
    whole = np.floor(places + half) if upper else np.ceil(places - half)
    return np.asarray(np.clip(whole, 0, size - 1), np.int64)


def nearest_elements(planes: NDArray[Any], points: Points, *, upper: bool) -> NDArray[Any]:
    """Return [channels, points]: the elements of planes [channels, rows, columns] nearest to points."""
    rows, columns = planes.shape[1:]
    places = nearest_places(points.y, rows, upper=upper), nearest_places(points.x, columns, upper=upper)
    return np.asarray(planes[:, places[0], places[1]])


def each_region(
    sizes: tuple[int, ...], regions: NDArray[Any], batches: NDArray[Any], cropping: Cropping
) -> Iterator[tuple[int, int, Points]]:
    """Yield the number, the map and the points of each region that has some, of maps of `sizes`."""
    if len(sizes) != 4 or regions.ndim < 2 or batches.ndim < 1 or cropping.height < 1 or cropping.width < 1:
        raise InputError("crop_regions: expected feature maps of four dimensions, regions and a map for each")
    require_shape("crop_regions", "regions", regions.shape, (*(1,) * (regions.ndim - 2), batches.size, 4))
    require_shape("crop_regions", "maps", batches.shape, (*(1,) * (batches.ndim - 1), batches.size))
    scales = np.array([cropping.scale_x, cropping.scale_y] * 2, np.float32)
    corners = regions.reshape(-1, 4).astype(np.float32) * scales
    for index in memory.in_time(range(len(corners))):
        batch = int(batches.reshape(-1)[index])
        if not 0 <= batch < sizes[0] or not np.isfinite(corners[index]).all():
            continue
        x1, y1, x2, y2 = corners[index]
        x, exact_x, across = _along(x1, x2, cropping.width, cropping)
        y, exact_y, down = _along(y1, y2, cropping.height, cropping)
        grid = (cropping.height, down, cropping.width, across)
        if 0 in grid or not np.isfinite(x).all() or not np.isfinite(y).all():
            continue
        memory.hold(grid, np.dtype(np.float64))
        each = ((y, exact_y, sizes[2]), (x, exact_x, sizes[3]))
        apart = [_outside(at, size, to_corners=cropping.to_corners) for at, _, size in each]
        near = [_unsure(at, exact, size, to_corners=cropping.to_corners) for at, exact, size in each]
        outside, unsure = (np.logical_or.outer(*pair).ravel() for pair in (apart, near))
        yield index, batch, Points(np.repeat(y, len(x)), np.tile(x, len(y)), grid, outside, unsure)


def _unsure(places: NDArray[Any], exact: NDArray[Any], size: int, *, to_corners: bool) -> NDArray[np.bool_]:
    """Return which places are rounded, and outside or not only thereby."""
    least, most = (_outside(exact + by * (1 + np.abs(exact)), size, to_corners=to_corners) for by in (-_NEAR, _NEAR))
    return np.asarray((least != most) & (places != exact), np.bool_)


def _outside(places: NDArray[Any], size: int, *, to_corners: bool) -> NDArray[np.bool_]:
    outside = (places < 0) | (places > size - 1) if to_corners else (places <= -1) | (places >= size)
    return np.asarray(outside, np.bool_)


def _along(
    start: Any, end: Any, parts: int, cropping: Cropping
) -> tuple[NDArray[np.float32], NDArray[np.float64], int]:
    """Return all points between two corners, in float32 and exact, and how many each part has."""
    one = np.float32
    span = end - start
    share = np.abs(span / one(parts))
    wanted = ceil(share) if np.isfinite(share) else _FEW
    count = min(max(wanted, cropping.least), cropping.most)
    if parts * count >= _FEW:
        raise InputError(f"crop_regions: {count} points along a dimension of each of {parts} parts are too many")
    total = parts * count
    memory.hold((total,), np.dtype(one))
    steps = max(1, total - 1 if cropping.to_corners else total)
    places = (np.arange(total, dtype=one) - one(cropping.behind)) * (span / one(steps)) + start - one(cropping.before)
    exact = (np.arange(total) - np.float64(one(cropping.behind))) * (np.float64(end) - np.float64(start)) / steps
    return places.astype(one), exact + np.float64(start) - np.float64(one(cropping.before)), count
