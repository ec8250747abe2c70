"""RoiAlign: regions pooled from interpolated samples, and gradient.

DirectML ROI_ALIGN, ROI_ALIGN_GRAD; ONNX RoiAlign; OpenVINO ROIAlign, ROIAlignRotated.
"""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import quiet_nans, require_shape, round_to, shape_of, to_float64
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

_LIMIT = 2**31


def roi_align(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    batches: NDArray[Any],
    *,
    height: int,
    width: int,
    samples: int,
    scale: float,
    largest: bool = False,
    shift_before: float = 0.0,
    shift_behind: float = 0.0,
    clamp_size: bool = True,
    of_parts: bool = False,
    from_zero: bool = False,
) -> NDArray[Any]:
    """Return RoiAlign [regions, channels, height, width].

    Each bin is the mean, or the largest, of interpolated samples. inputs: [batch, channels, rows, columns]. regions:
    [regions, 4], x and y of two corners. batches: [regions]. samples: sampling points per bin and dimension, adaptive
    if 0. scale: spatial scale of corners, applied after shift_before and before shift_behind is added. clamp_size: a
    region is at least one element high and wide. of_parts: the maximum is over the weighted neighbors of the samples,
    instead of over their sums. from_zero: the maximum is at least 0. A region without sampling points is masked.
    """
    to_type = _precision(regions)

    def points(region: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
        corners = (region + to_type(shift_before)) * to_type(scale) + to_type(shift_behind)
        spans = (corners[2:] - corners[:2]).astype(to_type)
        spans = np.maximum(spans, to_type(1)) if clamp_size else spans
        x, x_flags = _sampling_points(corners[0], spans[0], width, samples)
        y, y_flags = _sampling_points(corners[1], spans[1], height, samples)
        memory.check_budget((height, y_flags, width, x_flags), np.dtype(np.int8))
        return y.reshape(-1), x.reshape(-1), (y_flags, x_flags)

    _require_regions("roi_align", inputs, regions, batches, 4)
    array = _pool_samples(
        inputs,
        regions.astype(to_type),
        batches,
        (height, width),
        points,
        largest=largest,
        of_parts=of_parts,
        lines=True,
    )
    return np.maximum(array, array.dtype.type(0)) if largest and from_zero else array


def roi_align_rotated(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    batches: NDArray[Any],
    *,
    height: int,
    width: int,
    samples: int,
    scale: float,
    clockwise: bool = False,
) -> NDArray[Any]:
    """Return RoiAlign of rotated regions, [regions, channels, height, width].

    regions: [regions, 5], center x, center y, width, height and angle, counterclockwise unless `clockwise`. All but the
    angle are multiplied by `scale`; the center is then moved by half an element. Otherwise as `roi_align`.
    """
    to_type = _precision(regions)

    def points(region: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
        centre = region[:2] * to_type(scale) - to_type(0.5)
        spans = (region[2:4] * to_type(scale)).astype(to_type)
        angle = -region[4] if clockwise else region[4]
        x, x_flags = _sampling_points(-spans[0] / to_type(2), spans[0], width, samples)
        y, y_flags = _sampling_points(-spans[1] / to_type(2), spans[1], height, samples)
        y = y[:, :, None, None]
        turn, rest = np.sin(angle), np.cos(angle)
        grid = (height, y_flags, width, x_flags)
        rows, columns = y * rest - x * turn + centre[1], y * turn + x * rest + centre[0]
        return _broadcast_points(rows, grid), _broadcast_points(columns, grid), (y_flags, x_flags)

    _require_regions("roi_align_rotated", inputs, regions, batches, 5)
    return _pool_samples(inputs, regions.astype(to_type), batches, (height, width), points, largest=False)


def sample_bilinear(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return planes [channels, rows, columns] bilinearly sampled at points.

    The result is [channels, points]. Points at most one element outside are clamped, those farther away are 0.
    """
    return _sum_of_four(_weigh_neighbors(planes, y, x))


def _interpolated_on_lines(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return `interpolated` on a grid of `y` and `x`, [channels, points].

    Interpolates between rows first.
    """
    top, bottom, y_fraction = neighbours(y, planes.shape[1])
    left, right, x_fraction = neighbours(x, planes.shape[2])
    rows = np.take(planes, top, 1) * (1 - y_fraction)[:, None] + np.take(planes, bottom, 1) * y_fraction[:, None]
    array: NDArray[Any] = np.take(rows, left, 2) * (1 - x_fraction) + np.take(rows, right, 2) * x_fraction
    array[:, (y < -1) | (y > planes.shape[1])] = 0
    array[:, :, (x < -1) | (x > planes.shape[2])] = 0
    return array


def _means_on_lines(
    planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any], grid: tuple[int, int, int, int]
) -> NDArray[Any]:
    """Return bin means of `_interpolated_on_lines`, as matrix products.

    The result is [channels, height, width]. grid: height, points down a bin, width, points across. The planes are
    finite: elements far away count 0 times.
    """
    y_weights, x_weights = (
        _weights(places, size, parts, sample_count)
        for places, size, parts, sample_count in zip((y, x), planes.shape[1:], grid[::2], grid[1::2], strict=True)
    )
    return multiply_matrices(multiply_matrices(y_weights, planes), x_weights.T)


def _weights(places: NDArray[Any], size: int, parts: int, sample_count: int) -> NDArray[Any]:
    """Return weights [parts, size] of elements in each bin's mean."""
    first, second, share = neighbours(places, size)
    in_range = ((places >= -1) & (places <= size)) / sample_count
    array = np.zeros((parts, size))
    part = np.arange(parts).repeat(sample_count)
    np.add.at(array, (part, first), (1 - share) * in_range)
    np.add.at(array, (part, second), share * in_range)
    return array


def sample_clamped(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return `interpolated` with points outside clamped to the edge."""
    return _sum_of_four(_shares(planes, y, x))


def _sum_of_four(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    total: NDArray[Any] = (parts[0] + parts[1]) + (parts[2] + parts[3])
    return total


def _weigh_neighbors(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the weighted neighbors that sum to `interpolated`."""
    rows, columns = planes.shape[1:]
    is_outside = (y < -1) | (y > rows) | (x < -1) | (x > columns)
    return [np.where(is_outside, 0.0, part) for part in _shares(planes, y, x)]


def _shares(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the four weighted neighbors of each point, clamped to the edge."""
    top, bottom, y_fraction = neighbours(y, planes.shape[1])
    left, right, x_fraction = neighbours(x, planes.shape[2])
    return (
        planes[:, top, left] * (1 - y_fraction) * (1 - x_fraction),
        planes[:, top, right] * (1 - y_fraction) * x_fraction,
        planes[:, bottom, left] * y_fraction * (1 - x_fraction),
        planes[:, bottom, right] * y_fraction * x_fraction,
    )


def neighbours(places: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return indices before and after positions, and weights of the second."""
    result = np.clip(places, 0, size - 1)
    first = np.floor(result).astype(np.int64)
    return first, np.minimum(first + 1, size - 1), to_float64(result - first)


def _precision(regions: NDArray[Any]) -> Any:
    """Return the type that positions are computed in."""
    return np.float64 if regions.dtype == np.float64 else np.float32


def _sampling_points(start: Any, span: Any, parts: int, samples: int) -> tuple[NDArray[Any], int]:
    """Return sampling points [bins, count] from `start`, and their count.

    The count is 0 where there are none.
    """
    part = span / type(span)(parts)
    if not np.isfinite(start) or not np.isfinite(part):
        return np.zeros((parts, 0), type(span)), 0
    count = samples if samples > 0 else max(0, ceil(part))
    if count >= _LIMIT:
        raise InputError(f"roi_align: {count} sampling points per dimension are more than the limit of {_LIMIT - 1}")
    memory.check_budget((parts, count), np.dtype(np.int8))
    sample_offsets = (np.arange(count, dtype=type(span)) + type(span)(0.5)) * (part / type(span)(max(1, count)))
    return start + np.arange(parts, dtype=type(span))[:, None] * part + sample_offsets, count


def _broadcast_points(places: NDArray[Any], grid: tuple[int, ...]) -> NDArray[Any]:
    memory.check_budget(grid, np.dtype(np.int8))
    return np.broadcast_to(places, grid).reshape(-1)


def _require_regions(
    name: str, inputs: NDArray[Any], regions: NDArray[Any], batches: NDArray[Any], numbers: int
) -> None:
    if inputs.ndim != 4 or regions.ndim != 2:
        raise InputError(f"{name}: expected 4-D feature maps and a list of regions")
    require_shape(name, "regions", regions.shape[1:], (numbers,))
    require_shape(name, "batches", batches.shape, regions.shape[:1])
    if ((batches < 0) | (batches >= inputs.shape[0])).any():
        raise InputError(f"{name}: a region's batch index is out of range for batch size {inputs.shape[0]}")
    if not np.isfinite(to_float64(regions)).all():
        raise InputError(f"{name}: expected finite region coordinates")


def _pool_samples(
    inputs: NDArray[Any],
    regions: NDArray[Any],
    batches: NDArray[Any],
    sizes: tuple[int, int],
    points: Callable[[NDArray[Any]], tuple[NDArray[Any], NDArray[Any], tuple[int, int]]],
    *,
    largest: bool,
    of_parts: bool = False,
    lines: bool = False,
) -> NDArray[Any]:
    """Return pooled samples per region, masked where there are none.

    lines: the points are the grid of the first and the second coordinates.
    """
    if min(sizes) < 0:
        raise InputError(f"roi_align: expected output sizes of at least 0, found {list(sizes)}")
    height, width = sizes
    channels = inputs.shape[1]
    result = memory.empty((len(regions), channels, height, width), inputs.dtype)
    if not result.size:  # only one slice of the other dimensions, for which no memory is counted
        return result
    is_undefined = np.full(len(regions), 0 in inputs.shape[2:])
    result[is_undefined] = 0
    batch, planes, finite = -1, inputs, False
    for index in memory.within_time_limit(np.flatnonzero(~is_undefined)):
        y, x, (y_flags, x_flags) = points(regions[index])
        if not len(y) or not len(x) or np.isnan(y).any() or np.isnan(x).any():
            is_undefined[index] = True
            result[index] = 0
            continue
        memory.check_budget((channels, height * y_flags * width * x_flags), np.dtype(np.int8))  # working memory
        if batches[index] != batch:
            batch = int(batches[index])
            planes = to_float64(inputs[batch])
            few = max(height * planes.shape[1], width * planes.shape[2]) <= planes.size
            finite = few and bool(np.isfinite(planes).all())
        if finite and lines and not largest and not of_parts:
            means = _means_on_lines(planes, y, x, (height, y_flags, width, x_flags))
            result[index] = round_to(means, inputs.dtype)
            continue
        if of_parts:
            y, x = (np.repeat(y, len(x)), np.tile(x, len(y))) if lines else (y, x)
            value = np.maximum.reduce(_weigh_neighbors(planes, y, x))
        else:
            value = _interpolated_on_lines(planes, y, x) if lines else sample_bilinear(planes, y, x)
        parts = value.reshape(channels, height, y_flags, width, x_flags)
        result[index] = round_to(parts.max((2, 4)) if largest else parts.mean((2, 4)), inputs.dtype)
    if not is_undefined.any():
        return result
    mask = np.broadcast_to(is_undefined[:, None, None, None], result.shape)
    return np.ma.MaskedArray(result, mask=mask)


_MAX_CROP_SAMPLES = 2**31
#: Rounding error of a position, relative to its size.
_POSITION_TOLERANCE = 1e-6


class Cropping(NamedTuple):
    """Sampling geometry of regions.

    Number of bins, and minimum and maximum number of points per bin. scale_y, scale_x: spatial scales of corners.
    before, behind: the offsets of elements of the feature map and of points, half an element as 0.5 and -0.5.
    to_corners: points reach from corner to corner.
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
    """Sampling points of one region.

    y and x of each, [height, points down, width, points across] flattened. outside: those outside of the feature map.
    unsure: those whose side depends on rounding.
    """

    y: NDArray[np.float32]
    x: NDArray[np.float32]
    grid: tuple[int, int, int, int]
    outside: NDArray[np.bool_]
    unsure: NDArray[np.bool_]


def roi_align_by_samples(
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
    """Return ROI_ALIGN: [regions, channels, height, width].

    Each bin is the mean, or the largest, of its samples. inputs: [batch, channels, rows, columns]. regions: [1…,
    regions, 4]. batches: [1…, regions], the map of each. linear: interpolate, else nearest, ties to the upper one if
    `upper`. largest: starts at the lowest finite number, so that neither -inf nor nan is found. outside: the value of
    points outside. Others are the members of `Cropping`. Masked: regions with non-finite corners, with an invalid batch
    index, or without points, and bins with a point whose side depends on rounding.
    """
    if regions.dtype != inputs.dtype:
        raise InputError(f"roi_align_by_samples: expected regions of type {inputs.dtype}, found {regions.dtype}")
    crop_options = Cropping(height, width, scale_y, scale_x, min_samples, max_samples, before, behind, to_corners)
    shape = shape_of("roi_align_by_samples", (batches.size, inputs.shape[1], height, width))
    result = memory.empty(shape, inputs.dtype)
    is_undefined = np.ones((len(result), 1, height, width), np.bool_)
    result[...] = 0
    with memory.ignore_warnings():
        for index, batch, points in each_region(inputs.shape, regions, batches, crop_options):
            memory.check_budget((2, inputs.shape[1], len(points.y)), np.dtype(np.int8))  # working memory
            planes = to_float64(inputs[batch])
            array = (
                sample_clamped(planes, points.y, points.x) if linear else nearest_elements(planes, points, upper=upper)
            )
            array = np.where(points.outside, np.float64(np.float32(outside)), array)
            parts = array.reshape(len(array), *points.grid)
            crops = largest_of(parts, inputs.dtype) if largest else parts.mean((2, 4))
            result[index] = round_to(crops, inputs.dtype)
            is_undefined[index, 0] = points.unsure.reshape(points.grid).any((1, 3))
    if not is_undefined.any():
        return result
    return np.ma.MaskedArray(result, mask=np.broadcast_to(is_undefined, shape))


def largest_of(parts: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the maximum of each bin, at least the lowest of a type.

    parts: [channels, height, down, width, across].
    """
    lowest = np.float64(np.finfo(np.float32 if dtype.itemsize < 4 else dtype).min)
    return np.asarray(np.fmax(np.fmax.reduce(quiet_nans(parts), (2, 4)), lowest))


def nearest_places(places: NDArray[np.float32], size: int, *, upper: bool) -> NDArray[np.int64]:
    """Return the elements nearest to positions, ties lower or upper."""
    half = np.float32(0.5)
    rounded = np.floor(places + half) if upper else np.ceil(places - half)
    return np.asarray(np.clip(rounded, 0, size - 1), np.int64)


def nearest_elements(planes: NDArray[Any], points: Points, *, upper: bool) -> NDArray[Any]:
    """Return [channels, points]: the plane elements nearest to points.

    planes: [channels, rows, columns].
    """
    rows, columns = planes.shape[1:]
    places = nearest_places(points.y, rows, upper=upper), nearest_places(points.x, columns, upper=upper)
    return np.asarray(planes[:, places[0], places[1]])


def each_region(
    sizes: tuple[int, ...], regions: NDArray[Any], batches: NDArray[Any], crop_options: Cropping
) -> Iterator[tuple[int, int, Points]]:
    """Yield index, map and points of each valid region, for maps of `sizes`."""
    if len(sizes) != 4 or regions.ndim < 2 or batches.ndim < 1 or crop_options.height < 1 or crop_options.width < 1:
        raise InputError("roi_align_by_samples: expected 4-D feature maps, regions, and a batch index per region")
    require_shape("roi_align_by_samples", "regions", regions.shape, (*(1,) * (regions.ndim - 2), batches.size, 4))
    require_shape("roi_align_by_samples", "maps", batches.shape, (*(1,) * (batches.ndim - 1), batches.size))
    scales = np.array([crop_options.scale_x, crop_options.scale_y] * 2, np.float32)
    corners = regions.reshape(-1, 4).astype(np.float32) * scales
    for index in memory.within_time_limit(range(len(corners))):
        batch = int(batches.reshape(-1)[index])
        if not 0 <= batch < sizes[0] or not np.isfinite(corners[index]).all():
            continue
        x1, y1, x2, y2 = corners[index]
        x, exact_x, x_flags = _sample_axis(x1, x2, crop_options.width, crop_options)
        y, exact_y, y_flags = _sample_axis(y1, y2, crop_options.height, crop_options)
        grid = (crop_options.height, y_flags, crop_options.width, x_flags)
        if 0 in grid or not np.isfinite(x).all() or not np.isfinite(y).all():
            continue
        memory.check_budget(grid, np.dtype(np.float64))
        axis_points = ((y, exact_y, sizes[2]), (x, exact_x, sizes[3]))
        outside_flags = [
            _is_outside(positions, size, to_corners=crop_options.to_corners) for positions, _, size in axis_points
        ]
        border_flags = [
            _find_unsure(positions, exact, size, to_corners=crop_options.to_corners)
            for positions, exact, size in axis_points
        ]
        is_outside, is_unsure = (np.logical_or.outer(*pair).ravel() for pair in (outside_flags, border_flags))
        yield index, batch, Points(np.repeat(y, len(x)), np.tile(x, len(y)), grid, is_outside, is_unsure)


def _find_unsure(places: NDArray[Any], exact: NDArray[Any], size: int, *, to_corners: bool) -> NDArray[np.bool_]:
    """Return which positions depend on rounding to be inside or outside."""
    least, upper_unsure = (
        _is_outside(exact + tolerance * (1 + np.abs(exact)), size, to_corners=to_corners)
        for tolerance in (-_POSITION_TOLERANCE, _POSITION_TOLERANCE)
    )
    return np.asarray((least != upper_unsure) & (places != exact), np.bool_)


def _is_outside(places: NDArray[Any], size: int, *, to_corners: bool) -> NDArray[np.bool_]:
    is_outside = (places < 0) | (places > size - 1) if to_corners else (places <= -1) | (places >= size)
    return np.asarray(is_outside, np.bool_)


def _sample_axis(
    start: Any, end: Any, parts: int, crop_options: Cropping
) -> tuple[NDArray[np.float32], NDArray[np.float64], int]:
    """Return all points between two corners, and their count per bin.

    Points are in float32 and exact.
    """
    to_type = np.float32
    span = end - start
    share = np.abs(span / to_type(parts))
    result = ceil(share) if np.isfinite(share) else _MAX_CROP_SAMPLES
    count = min(max(result, crop_options.least), crop_options.most)
    if parts * count >= _MAX_CROP_SAMPLES:
        raise InputError(
            f"roi_align_by_samples: {count} sampling points in each of {parts} bins are more than the limit of "
            f"{_MAX_CROP_SAMPLES}"
        )
    total = parts * count
    memory.check_budget((total,), np.dtype(to_type))
    steps = max(1, total - 1 if crop_options.to_corners else total)
    places = (
        (np.arange(total, dtype=to_type) - to_type(crop_options.behind)) * (span / to_type(steps))
        + start
        - to_type(crop_options.before)
    )
    exact = (
        (np.arange(total) - np.float64(to_type(crop_options.behind))) * (np.float64(end) - np.float64(start)) / steps
    )
    return places.astype(to_type), exact + np.float64(start) - np.float64(to_type(crop_options.before)), count


class _SampleOptions(NamedTuple):
    """Sampling of points: interpolated, or nearest with ties upper or lower."""

    linear: bool
    upper: bool


def roi_align_gradient(
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
    """Return the gradients of `roi_align_by_samples` by maps and by region corners.

    gradient: [regions, channels, height, width]. sizes: of the maps. inputs: the maps; without them only the first
    gradient of a mean can be computed. Other arguments are those of `roi_align_by_samples`. Points outside count as 0,
    and contribute nothing. A corner moves a point by its distance from the other corner, in elements of the map: for
    bin i of n by 1 - i / n, or i / n, of the map's size (each less 1 with to_corners), regardless of linear and the
    scales. The map's slope is 0 at a point that is an element, or with `ahead` the slope to the next element. Regions
    that `roi_align_by_samples` masks contribute nothing, and their own gradient is masked.
    """
    shape = _maps(gradient, regions, batches, inputs, sizes, largest=largest)
    height, width = gradient.shape[2:]
    crop_options = Cropping(height, width, scale_y, scale_x, min_samples, max_samples, before, behind, to_corners)
    picking = _SampleOptions(linear, upper)
    by_maps = memory.empty(shape, np.dtype(np.float64))
    by_maps[...] = 0
    by_regions = np.zeros((batches.size, 4))
    is_undefined = np.ones((batches.size, 4), np.bool_)
    with memory.ignore_warnings():
        for index, batch, points in each_region(shape, regions, batches, crop_options):
            memory.check_budget((shape[1], len(points.y)), np.dtype(np.int8))  # working memory
            planes = None if inputs is None else to_float64(inputs[batch])
            shares = _gradient_shares(to_float64(gradient[index]), points, planes, largest=largest, options=picking)
            _add(by_maps[batch], shares, points, picking)
            is_undefined[index] = False
            if planes is not None:
                by_regions[index] = _corner_gradients(planes, shares, points, to_corners=to_corners, forward_ends=ahead)
        corners = round_to(by_regions.reshape(regions.shape), regions.dtype)
    if is_undefined.any():
        corners = np.ma.MaskedArray(corners, mask=is_undefined.reshape(corners.shape))
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
    """Return the shape of the maps; raise InputError for inconsistent arrays."""
    shape = shape_of("roi_align_gradient", sizes)
    if len(shape) != 4 or gradient.ndim != 4 or gradient.shape[:2] != (batches.size, shape[1]):
        raise InputError(
            f"roi_align_gradient: a gradient of shape {list(gradient.shape)} does not match feature maps of shape "
            f"{list(shape)}"
        )
    for noun, array in (("regions", regions), ("maps", inputs)):
        if array is not None and array.dtype != gradient.dtype:
            raise InputError(f"roi_align_gradient: expected {noun} of {gradient.dtype}, found {array.dtype}")
    if inputs is None and largest:
        raise InputError("roi_align_gradient: the maximum requires the feature maps, which are missing")
    if inputs is not None:
        require_shape("roi_align_gradient", "maps", inputs.shape, shape)
    return shape


def _gradient_shares(
    incoming: NDArray[Any], points: Points, planes: NDArray[Any] | None, *, largest: bool, options: _SampleOptions
) -> NDArray[Any]:
    """Return each point's share of the gradient, 0 outside.

    The result is [channels, points].
    """
    _, row_count, _, column_count = points.grid
    wide_gradient = incoming[:, :, None, :, None]
    if not largest or planes is None:
        shares = np.broadcast_to(wide_gradient / (row_count * column_count), (len(incoming), *points.grid)).reshape(
            len(incoming), prod(points.grid)
        )
    else:
        shares = _gradient_at_maximum(wide_gradient, points, planes, options)
    return shares


def _gradient_at_maximum(
    wide_gradient: NDArray[Any], points: Points, planes: NDArray[Any], options: _SampleOptions
) -> NDArray[Any]:
    """Return the gradient at each bin's first maximum, 0 elsewhere.

    The result is [channels, points].
    """
    array = np.where(points.outside, 0.0, _values(planes, points, options)).reshape(len(planes), *points.grid)
    channels, (height, row_count, width, column_count) = len(array), points.grid
    flat = array.transpose(0, 1, 3, 2, 4).reshape(channels, height, width, row_count * column_count)
    best_indices = np.where(np.isnan(flat), -np.inf, flat).argmax(-1)[..., None]
    shares = np.zeros(flat.shape)
    np.put_along_axis(shares, best_indices, wide_gradient[:, :, 0, :, 0][..., None], -1)
    return (
        shares.reshape(channels, height, width, row_count, column_count)
        .transpose(0, 1, 3, 2, 4)
        .reshape(channels, prod(points.grid))
    )


def _values(planes: NDArray[Any], points: Points, options: _SampleOptions) -> NDArray[Any]:
    return (
        sample_clamped(planes, points.y, points.x)
        if options.linear
        else nearest_elements(planes, points, upper=options.upper)
    )


def _add(maps: NDArray[Any], shares: NDArray[Any], points: Points, options: _SampleOptions) -> None:
    """Add shares to the elements that points are interpolated from."""
    channels, rows, columns = maps.shape
    is_inside = ~points.outside
    y, x, shares = points.y[is_inside], points.x[is_inside], shares[:, is_inside]
    if options.linear:
        (top, bottom, low), (left, right, x_fraction) = neighbours(y, rows), neighbours(x, columns)
        corners = [
            (top, left, (1 - low) * (1 - x_fraction)),
            (top, right, (1 - low) * x_fraction),
            (bottom, left, low * (1 - x_fraction)),
            (bottom, right, low * x_fraction),
        ]
    else:
        row, column = nearest_places(y, rows, upper=options.upper), nearest_places(x, columns, upper=options.upper)
        corners = [(row, column, np.ones(len(y)))]
    first = np.arange(channels)[:, None] * (rows * columns)
    for row, column, weight in corners:
        places = (first + row * columns + column).reshape(-1)
        maps += np.bincount(places, (shares * weight).reshape(-1), maps.size).reshape(maps.shape)


def _corner_gradients(
    planes: NDArray[Any], shares: NDArray[Any], points: Points, *, to_corners: bool, forward_ends: bool
) -> NDArray[Any]:
    """Return the gradients by x1, y1, x2 and y2 of one region."""
    rows, columns = planes.shape[1:]
    (top, bottom, low), (left, right, x_fraction) = (
        _neighbor_pairs(points.y, rows, forward_ends=forward_ends),
        _neighbor_pairs(points.x, columns, forward_ends=forward_ends),
    )
    upper, lower = planes[:, top, right] - planes[:, top, left], planes[:, bottom, right] - planes[:, bottom, left]
    before, right_difference = (
        planes[:, bottom, left] - planes[:, top, left],
        planes[:, bottom, right] - planes[:, top, right],
    )
    x_gradient, y_gradient = (
        (1 - low) * upper + low * lower,
        (1 - x_fraction) * before + x_fraction * right_difference,
    )
    values = []
    for slopes, axes, size in ((x_gradient, (0, 1, 3), columns), (y_gradient, (1, 2, 3), rows)):
        parts = np.where(points.outside, 0, slopes * shares).sum(0).reshape(points.grid).sum(axes)
        count, span_length = (len(parts) - 1, size - 1) if to_corners else (len(parts), size)
        offsets = np.arange(len(parts)) * (span_length / count) if count else span_length / 2
        values.append(((parts * (span_length - offsets)).sum(), (parts * offsets).sum()))
    (x1, x2), (y1, y2) = values
    return np.array([x1, y1, x2, y2])


def _neighbor_pairs(
    places: NDArray[np.float32], size: int, *, forward_ends: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return the neighbors of positions, and the distance from the first."""
    first = np.floor(places)
    second = first + 1 if forward_ends else np.ceil(places)
    lower_index, upper_index = (np.clip(positions, 0, size - 1).astype(np.int64) for positions in (first, second))
    return lower_index, upper_index, to_float64(places - first)
