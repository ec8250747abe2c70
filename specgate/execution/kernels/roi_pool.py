"""Regions of feature maps brought to one size, each with the number of its batch before its corners.

A region of corners x1, y1, x2, y2 is divided into parts, `height` by `width`. Places are computed in the precision of
the regions. A region with corners that are not finite, or far from any element, has no values: it is masked.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import quiet, require_shape, round_to, shape_of, to_float64
from specgate.execution.kernels.roi_align import neighbours

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["edges", "pool_channels_of_parts", "pool_listed_parts", "pool_moved_parts", "pool_parts"]

#: Corners farther away than this are no places.
_FAR = 2.0**30
#: Points this near the edges of planes, in planes, may be rounded to either side.
_NEAR = 1e-6
#: How large a region is at least, whose parts are means.
_LEAST = 0.1


def pool_parts(
    inputs: NDArray[Any], regions: NDArray[Any], *, height: int, width: int, scale: float, straight: bool = False
) -> NDArray[Any]:
    """Return [regions, channels, height, width]: the largest element of each part of a region.

    inputs: [batch, channels, rows, columns]. regions: [regions, 5], the batch and two corners. Corners times `scale`
    are rounded to elements, halves away from 0, and the elements of both count; a part has all elements that it
    touches, and is 0 without any. straight: instead the elements at regular points from corner to corner, of the middle
    where there is one point; there corners are 0 to 1 over all of a plane, and points outside are 0.
    """
    rows, columns = _four(inputs)[2:]

    def largest(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        x1, y1, x2, y2 = (int(at) for at in _rounded(corners * corners.dtype.type(scale)))
        array = np.zeros((len(planes), height, width))
        across = edges(x1, max(1, x2 - x1 + 1), width, columns)
        for i, (top, bottom) in enumerate(edges(y1, max(1, y2 - y1 + 1), height, rows)):
            for j, (left, right) in enumerate(across):
                if top < bottom and left < right:
                    array[:, i, j] = planes[:, top:bottom, left:right].max((1, 2))
        return array

    def between(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        y, x = (
            _to_corner(corners[d], corners[d + 2], *sizes) for d, sizes in ((1, (height, rows)), (0, (width, columns)))
        )
        return _at(planes, y[:, None], x[None])

    return _of_regions(inputs, regions, (inputs.shape[1], height, width), between if straight else largest)


def pool_channels_of_parts(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    *,
    channels: int,
    parts: int,
    scale: float,
    straight: bool = False,
    bins_across: int = 1,
    bins_down: int = 1,
) -> NDArray[Any]:
    """Return [regions, channels, parts, parts]: the mean of the elements of each part, each part from its own channel.

    inputs: [batch, channels * parts * parts, rows, columns]. regions: [regions, 5], the batch and two corners, which
    are rounded to elements that both count; behind that they are multiplied by `scale`. A part has all elements that it
    touches, and is 0 without any.

    straight: inputs are [batch, bins_down * bins_across * channels, rows, columns], corners times scale are 0 to 1 over
    all of a plane. A region is divided into bins, and each into points as by `pool_parts`. An element of the
    output is the mean over bins of the points at its place, each bin from its own channel; points outside count as 0.
    It is masked where rounding decides whether a point is outside.
    """
    _, number, rows, columns = _four(inputs)
    needed = channels * (bins_across * bins_down if straight else parts * parts)
    if number != needed:
        raise NoKernel(f"pool_channels_of_parts: it is not said what {number} channels mean where {needed} are pooled")

    def mean(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        one = corners.dtype.type
        near, far = (_rounded(corners[:2]) * one(scale), (_rounded(corners[2:]) + 1) * one(scale))
        spans = np.maximum(far - near, one(_LEAST)) / one(parts)
        across, down = (_touched(near[at], spans[at], parts, size) for at, size in enumerate((columns, rows)))
        apart = planes.reshape(channels, parts, parts, rows, columns)
        result = np.zeros((channels, parts, parts))
        for (i, (top, bottom)), (j, (left, right)) in product(enumerate(down), enumerate(across)):
            if top < bottom and left < right:
                result[:, i, j] = apart[:, i, j, top:bottom, left:right].mean((1, 2))
        return result

    def between(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        result, unsure = np.zeros((channels, parts, parts)), np.zeros((parts, parts), np.bool_)
        for at, (i, j) in enumerate(memory.in_time(product(range(bins_down), range(bins_across)))):
            x, beside = _of_bin(corners[::2], scale, (j, bins_across), parts, columns)
            y, below = _of_bin(corners[1::2], scale, (i, bins_down), parts, rows)
            result += _at(planes[at * channels : (at + 1) * channels], y[:, None], x[None])
            unsure |= below[:, None] | beside
        result /= bins_down * bins_across
        return np.ma.MaskedArray(result, mask=np.broadcast_to(unsure, result.shape)) if unsure.any() else result

    return _of_regions(inputs, regions, (channels, parts, parts), between if straight else mean)


def pool_moved_parts(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    offsets: NDArray[Any] | None = None,
    *,
    channels: int,
    parts: int,
    scale: float,
    spread: float = 1.0,
    bins_across: int = 1,
    bins_down: int = 1,
) -> NDArray[Any]:
    """Return [regions, channels, parts, parts]: the mean over bins of each part, each part from its own channel.

    inputs, regions: as `pool_channels_of_parts`; regions then begin half an element earlier. offsets: [regions, 2 *
    classes, parts, parts], by which x and y of a part move, times `spread` and the size of the region; the channels
    of the output are divided among classes. A bin is the element at its first corner; bins that are more than half an
    element outside are left out, and a part is 0 without any. Parts that offsets move nowhere (nan) are masked.
    """
    _, number, rows, columns = _four(inputs)
    if number != channels * parts * parts:
        raise InputError(f"pool_moved_parts: expected {channels * parts * parts} channels, found {number}")
    classes = 1 if offsets is None else offsets.shape[1] // 2
    if classes < 1 or channels % classes:
        raise NoKernel(f"pool_moved_parts: it is not said which of {channels} channels belong to {classes} classes")
    if offsets is not None:
        require_shape("pool_moved_parts", "offsets", offsets.shape, (len(regions), 2 * classes, parts, parts))
    first = np.arange(parts)

    def mean(planes: NDArray[Any], corners: NDArray[Any], moved: NDArray[Any]) -> NDArray[Any]:
        one = corners.dtype.type
        near = _rounded(corners[:2]) * one(scale) - one(0.5)
        far = (_rounded(corners[2:]) + 1) * one(scale) - one(0.5)
        spans = np.maximum(far - near, one(_LEAST))
        part = spans / one(parts)
        shift = moved * one(spread) * spans[None, :, None, None]  # [classes, 2, parts, parts]
        x = near[0] + first.astype(one) * part[0] + shift[:, 0]
        y = near[1] + (first.astype(one) * part[1])[:, None] + shift[:, 1]
        sizes = part / np.array([bins_across, bins_down], corners.dtype)
        inner = [np.arange(n).astype(one) * size for n, size in zip((bins_across, bins_down), sizes, strict=True)]
        lost = np.broadcast_to(~(np.isfinite(y) & np.isfinite(x)), (classes, parts, parts))
        own = planes.reshape(classes, channels // classes, parts, parts, rows, columns)
        array = _mean_of_bins(own, np.where(lost, -np.inf, y), np.where(lost, -np.inf, x), inner)
        if not lost.any():
            return array
        mask = np.broadcast_to(lost[:, None], own.shape[:4]).reshape(array.shape)
        return np.ma.MaskedArray(array, mask=mask)

    def pooled(planes: NDArray[Any], corners: NDArray[Any], region: int = 0) -> NDArray[Any]:
        none = np.zeros((1, 2, 1, 1), corners.dtype)
        moved = none if offsets is None else offsets[region].astype(corners.dtype).reshape(classes, 2, parts, parts)
        return mean(planes, corners, moved)

    return _of_regions(inputs, regions, (channels, parts, parts), pooled, counted=True)


def _mean_of_bins(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any], inner: list[NDArray[Any]]) -> NDArray[Any]:
    """Return [channels, parts, parts]: the mean at y and x [classes, parts, parts] and `inner` places behind them.

    planes: [classes, channels of each, parts, parts, rows, columns].
    """
    classes, each, parts, _, rows, columns = planes.shape
    shape = (classes, parts, parts)
    total, count = np.zeros((classes, each, parts, parts)), np.zeros((classes, 1, parts, parts))
    own = np.ogrid[:classes, :each, :parts, :parts]
    for down, across in memory.in_time(product(inner[1], inner[0])):
        rows_at, columns_at = np.broadcast_to(y + down, shape)[:, None], np.broadcast_to(x + across, shape)[:, None]
        inside = (rows_at >= -0.5) & (rows_at <= rows - 0.5) & (columns_at >= -0.5) & (columns_at <= columns - 0.5)
        (top, bottom, low), (left, right, beside) = neighbours(rows_at, rows), neighbours(columns_at, columns)
        upper = planes[*own, top, left] * (1 - beside) + planes[*own, top, right] * beside
        lower = planes[*own, bottom, left] * (1 - beside) + planes[*own, bottom, right] * beside
        total += np.where(inside, upper * (1 - low) + lower * low, 0.0)
        count += inside
    return (total / np.maximum(1, count)).reshape(classes * each, parts, parts)


def _four(inputs: NDArray[Any]) -> tuple[int, ...]:
    if inputs.ndim != 4:
        raise InputError("expected feature maps of four dimensions")
    return inputs.shape


def _rounded(places: NDArray[Any]) -> NDArray[Any]:
    """Return whole places in their own type, halves away from 0."""
    wide = places.astype(np.float64)
    return np.copysign(np.floor(np.abs(wide) + 0.5), wide).astype(places.dtype)


def edges(start: int, span: int, parts: int, size: int) -> list[tuple[int, int]]:
    """Return the first element of each part of `span` elements, and the one behind its last, held to all."""
    ends = (((i * span) // parts + start, -((-(i + 1) * span) // parts) + start) for i in range(parts))
    return [(min(max(first, 0), size), min(max(last, 0), size)) for first, last in ends]


def _touched(start: Any, span: Any, parts: int, size: int) -> list[tuple[int, int]]:
    """Return the first element that each part of a length touches, and the one behind its last."""
    one = type(start)
    first, last = (np.arange(at, parts + at).astype(one) * span + start for at in (0, 1))
    items = (np.clip(at, 0, size).astype(int).tolist() for at in (np.floor(first), np.ceil(last)))
    return list(zip(*items, strict=True))


def _spread(first: Any, span: Any, count: int, size: int) -> NDArray[Any]:
    """Return points over a span from `first` on, or its middle, in elements of a plane that is 0 to 1 long."""
    one, more = type(first), type(first)(size - 1)
    if count == 1:
        return np.array([one(0.5) * (first + (first + span)) * more])
    step = span * more / one(max(1, count - 1))
    array: NDArray[Any] = np.arange(count).astype(one) * step + first * more
    return array


def _of_bin(
    ends: NDArray[Any], scale: float, which: tuple[int, int], count: int, size: int
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the points of one of the bins of a region, and whether only rounding puts them inside or outside."""
    at, bins = which

    def points(one: Any) -> NDArray[Any]:
        first, last = (one(end) * one(scale) for end in ends)
        span = (last - first) / one(bins)
        return _spread(first + one(at) * span, span, count, size)

    array, exact = points(ends.dtype.type), points(np.float64)
    near = (np.abs(exact) < _NEAR * size) | (np.abs(exact - (size - 1)) < _NEAR * size)
    return array, near & (array != exact)


def _to_corner(first: Any, last: Any, count: int, size: int) -> NDArray[Any]:
    """Return points from `first` to `last`, which is where it is, whatever the steps before it lost."""
    array = _spread(first, last - first, count, size)
    if count > 1:
        array[-1] = last * type(last)(size - 1)
    return array


def _at(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return the planes [channels, rows, columns] between the four elements around points, 0 outside."""
    rows, columns = planes.shape[1:]
    outside = (y < 0) | (y > rows - 1) | (x < 0) | (x > columns - 1)
    (top, bottom, low), (left, right, beside) = neighbours(y, rows), neighbours(x, columns)
    upper = planes[:, top, left] * (1 - beside) + planes[:, top, right] * beside
    lower = planes[:, bottom, left] * (1 - beside) + planes[:, bottom, right] * beside
    return np.where(outside, 0.0, upper * (1 - low) + lower * low)


def _of_regions(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    shape: tuple[int, int, int],
    pooled: Callable[..., NDArray[Any]],
    *,
    counted: bool = False,
) -> NDArray[Any]:
    """Return what `pooled` makes of the planes and the corners of each region, masked where there is nothing.

    counted: it gets the number of the region, too.
    """
    batches = _four(inputs)[0]
    if regions.ndim != 2 or regions.shape[1] != 5 or min(shape) < 0:
        raise InputError("expected a list of regions of five numbers, and sizes that are not negative")
    numbers = to_float64(regions[:, 0])
    if not np.isin(numbers, np.arange(batches)).all():
        raise InputError(f"a batch of a region is none of {batches}")
    result = memory.empty((len(regions), *shape), inputs.dtype)
    if not result.size:  # without the places along its other dimensions, for which nothing is charged
        return result
    memory.hold((*shape, 8), np.dtype(np.float64))  # what is worked with
    mask = np.zeros(result.shape, np.bool_)
    corners = regions[:, 1:].astype(np.float64 if regions.dtype == np.float64 else np.float32)
    known = (np.abs(corners) < _FAR).all(1) & (0 not in inputs.shape[2:])
    for at in memory.in_time(range(len(regions))):
        if not known[at]:
            result[at], mask[at] = 0, True
            continue
        planes = to_float64(inputs[int(numbers[at])])
        with memory.quiet():
            array = pooled(planes, corners[at], at) if counted else pooled(planes, corners[at])
        result[at], mask[at] = round_to(np.ma.getdata(array), inputs.dtype), np.ma.getmaskarray(array)
    return np.ma.MaskedArray(result, mask=mask) if mask.any() else result


#: Corners farther away than this are no places.
_FAR_PARTS = 2.0**30


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
    known = (np.abs(places) < _FAR_PARTS).all(1) & np.isin(numbers, np.arange(len(inputs)))
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
