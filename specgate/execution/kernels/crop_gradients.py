"""The gradients of regions cropped out of feature maps, by the maps and by the regions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, shape_of, to_float64
from specgate.execution.kernels.crops import Cropping, Points, each_region, nearest_elements, nearest_places
from specgate.execution.kernels.regions import between, neighbours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["crop_gradients"]


class _Picking(NamedTuple):
    """How elements are picked at points: between them, or the nearest, of two the upper one or the lower one."""

    linear: bool
    upper: bool


def crop_gradients(
    gradient: NDArray[Any],
    regions: NDArray[Any],
    batches: NDArray[Any],
    inputs: NDArray[Any] | None = None,
    *,
    sizes: Sequence[int],
    linear: bool,
    largest: bool,
    scale_y: float,
    scale_x: float,
    min_samples: int,
    max_samples: int,
    before: float,
    behind: float,
    to_corners: bool,
    upper: bool = False,
    ahead: bool = False,
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the gradients of `crop_regions` by its maps, of `sizes`, and by the corners of its regions.

    gradient: [regions, channels, height, width], what comes in. inputs: the maps; without them only the first gradient
    of a mean can be computed. The arguments are those of `crop_regions`. Points outside count as 0, and give nothing. A
    corner moves a point by how far it is from the other one, in elements of the map: of part i of n by 1 - i / n, or
    i / n, of the map's size (each less 1 with to_corners); linear and the scales have no influence on that. The map has
    no slope at a point that is an element, or with `ahead` that to the next one. Regions that `crop_regions` has no
    values of give nothing, and their own gradient is masked.
    """
    shape = _maps(gradient, regions, batches, inputs, sizes, largest=largest)
    height, width = gradient.shape[2:]
    cropping = Cropping(height, width, scale_y, scale_x, min_samples, max_samples, before, behind, to_corners)
    how = _Picking(linear, upper)
    by_maps = memory.empty(shape, np.dtype(np.float64))
    by_maps[...] = 0
    by_regions = np.zeros((batches.size, 4))
    lacking = np.ones((batches.size, 4), np.bool_)
    with memory.quiet():
        for index, batch, points in each_region(shape, regions, batches, cropping):
            memory.hold((shape[1], len(points.y)), np.dtype(np.int8))  # what is worked with
            planes = None if inputs is None else to_float64(inputs[batch])
            shares = _shares(to_float64(gradient[index]), points, planes, largest=largest, how=how)
            _add(by_maps[batch], shares, points, how)
            lacking[index] = False
            if planes is not None:
                by_regions[index] = _by_corners(planes, shares, points, to_corners=to_corners, ahead=ahead)
        corners = round_to(by_regions.reshape(regions.shape), regions.dtype)
    if lacking.any():
        corners = np.ma.MaskedArray(corners, mask=lacking.reshape(corners.shape))
    return round_to(by_maps, gradient.dtype), None if inputs is None else corners


def _maps(
    gradient: NDArray[Any],
    regions: NDArray[Any],
    batches: NDArray[Any],
    inputs: NDArray[Any] | None,
    sizes: Sequence[int],
    *,
    largest: bool,
) -> tuple[int, ...]:
    """Return the shape of the maps; raise InputError where arrays do not fit each other."""
    shape = shape_of("crop_gradients", sizes)
    if len(shape) != 4 or gradient.ndim != 4 or gradient.shape[:2] != (batches.size, shape[1]):
        raise InputError(f"crop_gradients: a gradient of {list(gradient.shape)} does not fit maps of {list(shape)}")
    for what, array in (("regions", regions), ("maps", inputs)):
        if array is not None and array.dtype != gradient.dtype:
            raise InputError(f"crop_gradients: expected {what} of {gradient.dtype}, found {array.dtype}")
    if inputs is None and largest:
        raise InputError("crop_gradients: the largest element is found in the maps, which are not given")
    if inputs is not None:
        require_shape("crop_gradients", "maps", inputs.shape, shape)
    return shape


def _shares(
    incoming: NDArray[Any], points: Points, planes: NDArray[Any] | None, *, largest: bool, how: _Picking
) -> NDArray[Any]:
    """Return what part of the incoming gradient each point gets, [channels, points]; nothing where it is outside."""
    _, down, _, across = points.grid
    wide = incoming[:, :, None, :, None]
    if not largest or planes is None:
        shares = np.broadcast_to(wide / (down * across), (len(incoming), *points.grid)).reshape(
            len(incoming), prod(points.grid)
        )
    else:
        shares = _of_largest(wide, points, planes, how)
    return shares


def _of_largest(wide: NDArray[Any], points: Points, planes: NDArray[Any], how: _Picking) -> NDArray[Any]:
    """Return the gradient at the first of the largest points of each part, 0 at the others: [channels, points]."""
    found = np.where(points.outside, 0.0, _values(planes, points, how)).reshape(len(planes), *points.grid)
    channels, (height, down, width, across) = len(found), points.grid
    flat = found.transpose(0, 1, 3, 2, 4).reshape(channels, height, width, down * across)
    best = np.where(np.isnan(flat), -np.inf, flat).argmax(-1)[..., None]
    chosen = np.zeros(flat.shape)
    np.put_along_axis(chosen, best, wide[:, :, 0, :, 0][..., None], -1)
    return (
        chosen.reshape(channels, height, width, down, across)
        .transpose(0, 1, 3, 2, 4)
        .reshape(channels, prod(points.grid))
    )


def _values(planes: NDArray[Any], points: Points, how: _Picking) -> NDArray[Any]:
    return between(planes, points.y, points.x) if how.linear else nearest_elements(planes, points, upper=how.upper)


def _add(maps: NDArray[Any], shares: NDArray[Any], points: Points, how: _Picking) -> None:
    """Add shares to the elements that points are made of."""
    channels, rows, columns = maps.shape
    inside = ~points.outside
    y, x, shares = points.y[inside], points.x[inside], shares[:, inside]
    if how.linear:
        (top, bottom, low), (left, right, beside) = neighbours(y, rows), neighbours(x, columns)
        corners = [
            (top, left, (1 - low) * (1 - beside)),
            (top, right, (1 - low) * beside),
            (bottom, left, low * (1 - beside)),
            (bottom, right, low * beside),
        ]
    else:
        row, column = nearest_places(y, rows, upper=how.upper), nearest_places(x, columns, upper=how.upper)
        corners = [(row, column, np.ones(len(y)))]
    first = np.arange(channels)[:, None] * (rows * columns)
    for row, column, weight in corners:
        places = (first + row * columns + column).reshape(-1)
        maps += np.bincount(places, (shares * weight).reshape(-1), maps.size).reshape(maps.shape)


def _by_corners(
    planes: NDArray[Any], shares: NDArray[Any], points: Points, *, to_corners: bool, ahead: bool
) -> NDArray[Any]:
    """Return the gradients by x1, y1, x2 and y2 of one region."""
    rows, columns = planes.shape[1:]
    (top, bottom, low), (left, right, beside) = (
        _ends(points.y, rows, ahead=ahead),
        _ends(points.x, columns, ahead=ahead),
    )
    upper, lower = planes[:, top, right] - planes[:, top, left], planes[:, bottom, right] - planes[:, bottom, left]
    before, behind = planes[:, bottom, left] - planes[:, top, left], planes[:, bottom, right] - planes[:, top, right]
    across, down = ((1 - low) * upper + low * lower, (1 - beside) * before + beside * behind)
    found = []
    for slopes, axes, size in ((across, (0, 1, 3), columns), (down, (1, 2, 3), rows)):
        parts = np.where(points.outside, 0, slopes * shares).sum(0).reshape(points.grid).sum(axes)
        count, whole = (len(parts) - 1, size - 1) if to_corners else (len(parts), size)
        moved = np.arange(len(parts)) * (whole / count) if count else whole / 2
        found.append(((parts * (whole - moved)).sum(), (parts * moved).sum()))
    (x1, x2), (y1, y2) = found
    return np.array([x1, y1, x2, y2])


def _ends(
    places: NDArray[np.float32], size: int, *, ahead: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return the elements between which places are, and how far they are from the first one."""
    first = np.floor(places)
    second = first + 1 if ahead else np.ceil(places)
    near, far = (np.clip(at, 0, size - 1).astype(np.int64) for at in (first, second))
    return near, far, to_float64(places - first)
