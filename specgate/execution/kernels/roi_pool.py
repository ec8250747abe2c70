"""ROI pooling: max, position-sensitive (PSROI) and deformable PSROI.

DirectML ROI_POOLING; ONNX MaxRoiPool; OpenVINO DeformablePSROIPooling, PSROIPooling, ROIPooling.
A region with corners x1, y1, x2, y2 is divided into `height` by `width` bins. Positions are computed in the precision
of the regions. A region with corners that are not finite, or far from any element, is masked.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import quiet_nans, require_shape, round_to, shape_of, to_float64
from specgate.execution.kernels.roi_align import neighbours

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: Corners farther away than this are invalid.
_MAX_CORNER = 2.0**30
#: Points this near to a plane's edge, in planes, may be rounded to either side.
_TOLERANCE = 1e-6
#: Minimum size of a region whose bins are means.
_MIN_REGION_SIZE = 0.1


def max_roi_pool(
    inputs: NDArray[Any], regions: NDArray[Any], *, height: int, width: int, scale: float, straight: bool = False
) -> NDArray[Any]:
    """Return max ROI pooling [regions, channels, height, width].

    inputs: [batch, channels, rows, columns]. regions: [regions, 5], the batch and two corners. Corners times `scale`
    are rounded to elements, halves away from 0, both inclusive; a bin has all elements that it touches, and is 0 if
    empty. straight: bilinear samples at regular points from corner to corner, in the middle for one point; corners are
    then normalized to [0, 1], and points outside are 0.
    """
    rows, columns = _four(inputs)[2:]

    def largest(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        x1, y1, x2, y2 = (int(coordinate) for coordinate in _round_half_away(corners * corners.dtype.type(scale)))
        array = np.zeros((len(planes), height, width))
        column_edges = edges(x1, max(1, x2 - x1 + 1), width, columns)
        for i, (top, bottom) in enumerate(edges(y1, max(1, y2 - y1 + 1), height, rows)):
            for j, (left, right) in enumerate(column_edges):
                if top < bottom and left < right:
                    array[:, i, j] = planes[:, top:bottom, left:right].max((1, 2))
        return array

    def sample_part(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        y, x = (
            _points_to_end(corners[d], corners[d + 2], *sizes)
            for d, sizes in ((1, (height, rows)), (0, (width, columns)))
        )
        return _sample_planes(planes, y[:, None], x[None])

    return _pool_regions(inputs, regions, (inputs.shape[1], height, width), sample_part if straight else largest)


def psroi_pooling(
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
    """Return position-sensitive ROI pooling, as in OpenVINO PSROIPooling.

    The result is [regions, channels, parts, parts], the mean of each bin, each bin from a separate channel. inputs:
    [batch, channels * parts * parts, rows, columns]. regions: [regions, 5], the batch and two corners, which are
    rounded to elements, both inclusive, and then multiplied by `scale`. A bin has all elements that it touches, and is
    0 if empty.
    straight: inputs are [batch, bins_down * bins_across * channels, rows, columns], corners times scale are normalized
    to [0, 1]. A region is divided into bins, and each into points as in `max_roi_pool`. An output element is the mean
    over bins of the points at its position, each bin from a separate channel; points outside count as 0. It is masked
    where rounding decides whether a point is outside.
    """
    _, number, rows, columns = _four(inputs)
    channel_count = channels * (bins_across * bins_down if straight else parts * parts)
    if number != channel_count:
        raise NoKernel(f"psroi_pooling: expected {channel_count} channels, found {number}")

    def mean(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        to_type = corners.dtype.type
        lower_corner, upper_corner = (
            _round_half_away(corners[:2]) * to_type(scale),
            (_round_half_away(corners[2:]) + 1) * to_type(scale),
        )
        spans = np.maximum(upper_corner - lower_corner, to_type(_MIN_REGION_SIZE)) / to_type(parts)
        x_ranges, y_ranges = (
            _bin_ranges(lower_corner[axis], spans[axis], parts, size) for axis, size in enumerate((columns, rows))
        )
        part_planes = planes.reshape(channels, parts, parts, rows, columns)
        result = np.zeros((channels, parts, parts))
        for (i, (top, bottom)), (j, (left, right)) in product(enumerate(y_ranges), enumerate(x_ranges)):
            if top < bottom and left < right:
                result[:, i, j] = part_planes[:, i, j, top:bottom, left:right].mean((1, 2))
        return result

    def sample_part(planes: NDArray[Any], corners: NDArray[Any]) -> NDArray[Any]:
        result, is_unsure = np.zeros((channels, parts, parts)), np.zeros((parts, parts), np.bool_)
        for bin_index, (i, j) in enumerate(memory.within_time_limit(product(range(bins_down), range(bins_across)))):
            x, unsure_columns = _bin_points(corners[::2], scale, (j, bins_across), parts, columns)
            y, unsure_rows = _bin_points(corners[1::2], scale, (i, bins_down), parts, rows)
            result += _sample_planes(planes[bin_index * channels : (bin_index + 1) * channels], y[:, None], x[None])
            is_unsure |= unsure_rows[:, None] | unsure_columns
        result /= bins_down * bins_across
        return np.ma.MaskedArray(result, mask=np.broadcast_to(is_unsure, result.shape)) if is_unsure.any() else result

    return _pool_regions(inputs, regions, (channels, parts, parts), sample_part if straight else mean)


def deformable_psroi_pooling(
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
    """Return deformable position-sensitive ROI pooling.

    The result is [regions, channels, parts, parts]. inputs, regions: as in `psroi_pooling`; regions then start
    half an element earlier. offsets: [regions, 2 * classes, parts, parts], x and y offset of a bin, times `spread` and
    the size of the region; the output channels are divided among classes. A sub-bin is sampled at its first corner;
    sub-bins more than half an element outside are dropped, and a bin is 0 if empty. Bins with nan offsets are masked.
    """
    _, number, rows, columns = _four(inputs)
    if number != channels * parts * parts:
        raise InputError(f"deformable_psroi_pooling: expected {channels * parts * parts} channels, found {number}")
    classes = 1 if offsets is None else offsets.shape[1] // 2
    if classes < 1 or channels % classes:
        raise NoKernel(
            f"deformable_psroi_pooling: it is unspecified which of {channels} channels belong to {classes} classes"
        )
    if offsets is not None:
        require_shape("deformable_psroi_pooling", "offsets", offsets.shape, (len(regions), 2 * classes, parts, parts))
    first = np.arange(parts)

    def mean(planes: NDArray[Any], corners: NDArray[Any], part_offsets: NDArray[Any]) -> NDArray[Any]:
        to_type = corners.dtype.type
        lower_corner = _round_half_away(corners[:2]) * to_type(scale) - to_type(0.5)
        upper_corner = (_round_half_away(corners[2:]) + 1) * to_type(scale) - to_type(0.5)
        spans = np.maximum(upper_corner - lower_corner, to_type(_MIN_REGION_SIZE))
        part = spans / to_type(parts)
        shift = part_offsets * to_type(spread) * spans[None, :, None, None]  # [classes, 2, parts, parts]
        x = lower_corner[0] + first.astype(to_type) * part[0] + shift[:, 0]
        y = lower_corner[1] + (first.astype(to_type) * part[1])[:, None] + shift[:, 1]
        sizes = part / np.array([bins_across, bins_down], corners.dtype)
        inner = [np.arange(n).astype(to_type) * size for n, size in zip((bins_across, bins_down), sizes, strict=True)]
        is_lost = np.broadcast_to(~(np.isfinite(y) & np.isfinite(x)), (classes, parts, parts))
        class_planes = planes.reshape(classes, channels // classes, parts, parts, rows, columns)
        array = _mean_of_bins(class_planes, np.where(is_lost, -np.inf, y), np.where(is_lost, -np.inf, x), inner)
        if not is_lost.any():
            return array
        mask = np.broadcast_to(is_lost[:, None], class_planes.shape[:4]).reshape(array.shape)
        return np.ma.MaskedArray(array, mask=mask)

    def pool_region(planes: NDArray[Any], corners: NDArray[Any], region: int = 0) -> NDArray[Any]:
        zero_offsets = np.zeros((1, 2, 1, 1), corners.dtype)
        region_offsets = (
            zero_offsets if offsets is None else offsets[region].astype(corners.dtype).reshape(classes, 2, parts, parts)
        )
        return mean(planes, corners, region_offsets)

    return _pool_regions(inputs, regions, (channels, parts, parts), pool_region, counts_outside=True)


def _mean_of_bins(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any], inner: list[NDArray[Any]]) -> NDArray[Any]:
    """Return bin means at y and x plus `inner`, [channels, parts, parts].

    y, x: [classes, parts, parts]. planes: [classes, channels per class, parts, parts, rows, columns].
    """
    classes, channels_per_class, parts, _, rows, columns = planes.shape
    shape = (classes, parts, parts)
    total, count = np.zeros((classes, channels_per_class, parts, parts)), np.zeros((classes, 1, parts, parts))
    bin_grid = np.ogrid[:classes, :channels_per_class, :parts, :parts]
    for y_offset, x_offset in memory.within_time_limit(product(inner[1], inner[0])):
        rows_at, columns_at = (
            np.broadcast_to(y + y_offset, shape)[:, None],
            np.broadcast_to(x + x_offset, shape)[:, None],
        )
        in_image = (rows_at >= -0.5) & (rows_at <= rows - 0.5) & (columns_at >= -0.5) & (columns_at <= columns - 0.5)
        (top, bottom, low), (left, right, x_fraction) = neighbours(rows_at, rows), neighbours(columns_at, columns)
        upper = planes[*bin_grid, top, left] * (1 - x_fraction) + planes[*bin_grid, top, right] * x_fraction
        lower = planes[*bin_grid, bottom, left] * (1 - x_fraction) + planes[*bin_grid, bottom, right] * x_fraction
        total += np.where(in_image, upper * (1 - low) + lower * low, 0.0)
        count += in_image
    return (total / np.maximum(1, count)).reshape(classes * channels_per_class, parts, parts)


def _four(inputs: NDArray[Any]) -> tuple[int, ...]:
    if inputs.ndim != 4:
        raise InputError("expected 4-D feature maps")
    return inputs.shape


def _round_half_away(places: NDArray[Any]) -> NDArray[Any]:
    """Return positions rounded half away from 0, in their own type."""
    wide_places = places.astype(np.float64)
    return np.copysign(np.floor(np.abs(wide_places) + 0.5), wide_places).astype(places.dtype)


def edges(start: int, span: int, parts: int, size: int) -> list[tuple[int, int]]:
    """Return first and end element of each of `parts` bins, clamped."""
    ends = (((i * span) // parts + start, -((-(i + 1) * span) // parts) + start) for i in range(parts))
    return [(min(max(first, 0), size), min(max(last, 0), size)) for first, last in ends]


def _bin_ranges(start: Any, span: Any, parts: int, size: int) -> list[tuple[int, int]]:
    """Return the first element that each bin touches, and the end."""
    to_type = type(start)
    first, last = (np.arange(offset, parts + offset).astype(to_type) * span + start for offset in (0, 1))
    items = (np.clip(bounds, 0, size).astype(int).tolist() for bounds in (np.floor(first), np.ceil(last)))
    return list(zip(*items, strict=True))


def _spread_points(first: Any, span: Any, count: int, size: int) -> NDArray[Any]:
    """Return points over a span from `first`, or its middle if only one.

    They are in elements of a plane of length 1.
    """
    to_type, side_offset = type(first), type(first)(size - 1)
    if count == 1:
        return np.array([to_type(0.5) * (first + (first + span)) * side_offset])
    step = span * side_offset / to_type(max(1, count - 1))
    array: NDArray[Any] = np.arange(count).astype(to_type) * step + first * side_offset
    return array


def _bin_points(
    ends: NDArray[Any], scale: float, bin_index: tuple[int, int], count: int, size: int
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return points of one bin of a region, and which depend on rounding."""
    position, bins = bin_index

    def points(to_type: Any) -> NDArray[Any]:
        first, last = (to_type(end) * to_type(scale) for end in ends)
        span = (last - first) / to_type(bins)
        return _spread_points(first + to_type(position) * span, span, count, size)

    array, exact = points(ends.dtype.type), points(np.float64)
    is_near_border = (np.abs(exact) < _TOLERANCE * size) | (np.abs(exact - (size - 1)) < _TOLERANCE * size)
    return array, is_near_border & (array != exact)


def _points_to_end(first: Any, last: Any, count: int, size: int) -> NDArray[Any]:
    """Return points from `first` to `last`, with `last` exact."""
    array = _spread_points(first, last - first, count, size)
    if count > 1:
        array[-1] = last * type(last)(size - 1)
    return array


def _sample_planes(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return planes [channels, rows, columns] sampled bilinearly, 0 outside."""
    rows, columns = planes.shape[1:]
    is_outside = (y < 0) | (y > rows - 1) | (x < 0) | (x > columns - 1)
    (top, bottom, low), (left, right, x_fraction) = neighbours(y, rows), neighbours(x, columns)
    upper = planes[:, top, left] * (1 - x_fraction) + planes[:, top, right] * x_fraction
    lower = planes[:, bottom, left] * (1 - x_fraction) + planes[:, bottom, right] * x_fraction
    return np.where(is_outside, 0.0, upper * (1 - low) + lower * low)


def _pool_regions(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    shape: tuple[int, int, int],
    pooled: Callable[..., NDArray[Any]],
    *,
    counts_outside: bool = False,
) -> NDArray[Any]:
    """Return `pooled` for the planes and corners of each region.

    Masked for invalid regions. counts_outside: also pass the region's index.
    """
    batches = _four(inputs)[0]
    if regions.ndim != 2 or regions.shape[1] != 5 or min(shape) < 0:
        raise InputError("expected regions of five numbers each, and output sizes of at least 0")
    numbers = to_float64(regions[:, 0])
    if not np.isin(numbers, np.arange(batches)).all():
        raise InputError(f"a region's batch index is out of range for batch size {batches}")
    result = memory.empty((len(regions), *shape), inputs.dtype)
    if not result.size:  # only one slice of the other dimensions, for which no memory is counted
        return result
    memory.check_budget((*shape, 8), np.dtype(np.float64))  # working memory
    mask = np.zeros(result.shape, np.bool_)
    corners = regions[:, 1:].astype(np.float64 if regions.dtype == np.float64 else np.float32)
    is_valid = (np.abs(corners) < _MAX_CORNER).all(1) & (0 not in inputs.shape[2:])
    for region in memory.within_time_limit(range(len(regions))):
        if not is_valid[region]:
            result[region], mask[region] = 0, True
            continue
        planes = to_float64(inputs[int(numbers[region])])
        with memory.ignore_warnings():
            array = pooled(planes, corners[region], region) if counts_outside else pooled(planes, corners[region])
        result[region], mask[region] = (
            round_to(np.ma.getdata(array), inputs.dtype),
            np.ma.getmaskarray(array),
        )
    return np.ma.MaskedArray(result, mask=mask) if mask.any() else result


#: Corners farther away than this are invalid.
_MAX_PART_CORNER = 2.0**30


def roi_pooling(inputs: NDArray[Any], regions: NDArray[Any], *, height: int, width: int, scale: float) -> NDArray[Any]:
    """Return max ROI pooling, as in DirectML ROI_POOLING.

    The result is [regions, channels, height, width]. inputs: [batch, channels, rows, columns]. regions: [1…, regions,
    5], the map index and two corners, x before y. Corners times `scale` are rounded to elements, half to even, both
    inclusive; a region is at least one element high and wide. A bin has all elements that it touches, and is 0 if
    empty. The search starts at the lowest finite number, so neither -inf nor nan is found. Regions with an invalid map
    index or invalid corners are masked.
    """
    if inputs.ndim != 4 or regions.ndim < 2 or regions.dtype != inputs.dtype:
        raise InputError("roi_pooling: expected 4-D feature maps and regions of the same type")
    require_shape("regions", "a list", regions.shape, (*(1,) * (regions.ndim - 2), regions.shape[-2], 5))
    numbers, corners = regions.reshape(-1, 5)[:, 0], regions.reshape(-1, 5)[:, 1:].astype(np.float32)
    result = memory.empty(shape_of("regions", (len(corners), inputs.shape[1], height, width)), inputs.dtype)
    result[...] = 0
    with memory.ignore_warnings():
        places = np.rint(corners * np.float32(scale))
    is_valid = (np.abs(places) < _MAX_PART_CORNER).all(1) & np.isin(numbers, np.arange(len(inputs)))
    for index in memory.within_time_limit(np.flatnonzero(is_valid)):
        x1, y1, x2, y2 = (int(place) for place in places[index])
        column_edges = edges(x1, max(1, x2 - x1 + 1), width, inputs.shape[3])
        row_edges = edges(y1, max(1, y2 - y1 + 1), height, inputs.shape[2])
        _fill(result[index], inputs[int(numbers[index])], row_edges, column_edges)
    if is_valid.all():
        return result
    return np.ma.MaskedArray(result, mask=np.broadcast_to(~is_valid[:, None, None, None], result.shape))


def _fill(
    result: NDArray[Any], planes: NDArray[Any], row_edges: list[tuple[int, int]], column_edges: list[tuple[int, int]]
) -> None:
    """Write the maximum of each non-empty bin, first by rows, then columns."""
    lowest = np.finfo(planes.dtype).min
    for i, (top, bottom) in memory.within_time_limit(enumerate(row_edges)):
        if top >= bottom:
            continue
        rows = np.fmax.reduce(quiet_nans(planes[:, top:bottom]), 1)
        for j, (left, right) in enumerate(column_edges):
            if left < right:
                result[:, i, j] = np.fmax(np.fmax.reduce(rows[:, left:right], 1), lowest)
