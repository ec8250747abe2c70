"""Regions of feature maps brought to one size by interpolation at regular points of each part."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.products import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["align_regions", "align_turned_regions", "between", "interpolated", "neighbours"]

_FEW = 2**31


def align_regions(
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
    """Return [regions, channels, height, width]: the mean, or the largest, of interpolated elements of each part.

    inputs: [batch, channels, rows, columns]. regions: [regions, 4], x and y of two corners. batches: [regions].
    samples: points along each dimension of a part, as many as elements fit in if 0. scale: corners are multiplied by
    it, after shift_before and before shift_behind are added. clamp_size: a region is at least one element high and
    wide. of_parts: the largest is that of what each element around a point gives to it, instead of that of their sums.
    from_zero: the largest is at least 0. A region that has no points has no values: it is masked.
    """
    one = _precision(regions)

    def points(region: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
        corners = (region + one(shift_before)) * one(scale) + one(shift_behind)
        spans = (corners[2:] - corners[:2]).astype(one)
        spans = np.maximum(spans, one(1)) if clamp_size else spans
        x, across = _along(corners[0], spans[0], width, samples)
        y, down = _along(corners[1], spans[1], height, samples)
        memory.hold((height, down, width, across), np.dtype(np.int8))
        return y.reshape(-1), x.reshape(-1), (down, across)

    _hold_regions("align_regions", inputs, regions, batches, 4)
    found = _pooled(
        inputs, regions.astype(one), batches, (height, width), points, largest=largest, of_parts=of_parts, lines=True
    )
    return np.maximum(found, found.dtype.type(0)) if largest and from_zero else found


def align_turned_regions(
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
    """Return [regions, channels, height, width]: the mean of interpolated elements of each part of turned regions.

    regions: [regions, 5], x and y of the centre, width, height and the angle, counterclockwise unless `clockwise`.
    All but the angle is multiplied by `scale`; the centre is then moved by half an element. Else as `align_regions`.
    """
    one = _precision(regions)

    def points(region: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], tuple[int, int]]:
        centre = region[:2] * one(scale) - one(0.5)
        spans = (region[2:4] * one(scale)).astype(one)
        angle = -region[4] if clockwise else region[4]
        x, across = _along(-spans[0] / one(2), spans[0], width, samples)
        y, down = _along(-spans[1] / one(2), spans[1], height, samples)
        y = y[:, :, None, None]
        turn, rest = np.sin(angle), np.cos(angle)
        grid = (height, down, width, across)
        rows, columns = y * rest - x * turn + centre[1], y * turn + x * rest + centre[0]
        return _spread(rows, grid), _spread(columns, grid), (down, across)

    _hold_regions("align_turned_regions", inputs, regions, batches, 5)
    return _pooled(inputs, regions.astype(one), batches, (height, width), points, largest=False)


def interpolated(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return [channels, points]: the planes [channels, rows, columns] between the four elements around each point.

    Points at most one element outside take the edge, those farther away are 0.
    """
    return _sum_of_four(_weighed(planes, y, x))


def _interpolated_on_lines(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return [channels, points]: what `interpolated` gives where each of `y` meets each of `x`, first between rows."""
    top, bottom, down = neighbours(y, planes.shape[1])
    left, right, across = neighbours(x, planes.shape[2])
    rows = np.take(planes, top, 1) * (1 - down)[:, None] + np.take(planes, bottom, 1) * down[:, None]
    found: NDArray[Any] = np.take(rows, left, 2) * (1 - across) + np.take(rows, right, 2) * across
    found[:, (y < -1) | (y > planes.shape[1])] = 0
    found[:, :, (x < -1) | (x > planes.shape[2])] = 0
    return found


def _means_on_lines(
    planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any], grid: tuple[int, int, int, int]
) -> NDArray[Any]:
    """Return the means [channels, height, width] of each part's `_interpolated_on_lines`, as products of matrices.

    grid: height, points down a part, width, points across. The planes are finite: elements far away count 0 times.
    """
    down, across = (
        _weights(places, size, parts, each)
        for places, size, parts, each in zip((y, x), planes.shape[1:], grid[::2], grid[1::2], strict=True)
    )
    return multiply_matrices(multiply_matrices(down, planes), across.T)


def _weights(places: NDArray[Any], size: int, parts: int, each: int) -> NDArray[Any]:
    """Return [parts, size]: how much each element along a dimension gives to the mean of each part's points."""
    first, second, share = neighbours(places, size)
    inside = ((places >= -1) & (places <= size)) / each
    found = np.zeros((parts, size))
    part = np.arange(parts).repeat(each)
    np.add.at(found, (part, first), (1 - share) * inside)
    np.add.at(found, (part, second), share * inside)
    return found


def between(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return what `interpolated` does, of points outside as those at the edge."""
    return _sum_of_four(_shares(planes, y, x))


def _sum_of_four(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    total: NDArray[Any] = (parts[0] + parts[1]) + (parts[2] + parts[3])
    return total


def _weighed(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> list[NDArray[Any]]:
    """Return what each of the four elements around each point gives to what `interpolated` returns."""
    rows, columns = planes.shape[1:]
    outside = (y < -1) | (y > rows) | (x < -1) | (x > columns)
    return [np.where(outside, 0.0, part) for part in _shares(planes, y, x)]


def _shares(planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the four elements around each point, each by its weight; places outside are those at the edge."""
    top, bottom, down = neighbours(y, planes.shape[1])
    left, right, across = neighbours(x, planes.shape[2])
    return (
        planes[:, top, left] * (1 - down) * (1 - across),
        planes[:, top, right] * (1 - down) * across,
        planes[:, bottom, left] * down * (1 - across),
        planes[:, bottom, right] * down * across,
    )


def neighbours(places: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[Any]]:
    """Return the elements before and behind places, and the weight of the one behind."""
    held = np.clip(places, 0, size - 1)
    first = np.floor(held).astype(np.int64)
    return first, np.minimum(first + 1, size - 1), to_float64(held - first)


def _precision(regions: NDArray[Any]) -> Any:
    """Return the type that places are computed in."""
    return np.float64 if regions.dtype == np.float64 else np.float32


def _along(start: Any, span: Any, parts: int, samples: int) -> tuple[NDArray[Any], int]:
    """Return points [parts, number in each] from `start` on, and their number, 0 where there are none."""
    part = span / type(span)(parts)
    if not np.isfinite(start) or not np.isfinite(part):
        return np.zeros((parts, 0), type(span)), 0
    count = samples if samples > 0 else max(0, ceil(part))
    if count >= _FEW:
        raise InputError(
            f"align_regions: {count} points along a dimension are too many, more than the limit of {_FEW - 1}"
        )
    memory.hold((parts, count), np.dtype(np.int8))
    inside = (np.arange(count, dtype=type(span)) + type(span)(0.5)) * (part / type(span)(max(1, count)))
    return start + np.arange(parts, dtype=type(span))[:, None] * part + inside, count


def _spread(places: NDArray[Any], grid: tuple[int, ...]) -> NDArray[Any]:
    memory.hold(grid, np.dtype(np.int8))
    return np.broadcast_to(places, grid).reshape(-1)


def _hold_regions(name: str, inputs: NDArray[Any], regions: NDArray[Any], batches: NDArray[Any], numbers: int) -> None:
    if inputs.ndim != 4 or regions.ndim != 2:
        raise InputError(f"{name}: expected feature maps of four dimensions and a list of regions")
    require_shape(name, "regions", regions.shape[1:], (numbers,))
    require_shape(name, "batches", batches.shape, regions.shape[:1])
    if ((batches < 0) | (batches >= inputs.shape[0])).any():
        raise InputError(f"{name}: a batch of a region is none of {inputs.shape[0]}")
    if not np.isfinite(to_float64(regions)).all():
        raise InputError(f"{name}: expected regions of finite numbers")


def _pooled(
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
    """Return what is made of the elements at the points of each region, masked where there are none.

    lines: the points are where each of the first numbers meets each of the others.
    """
    if min(sizes) < 0:
        raise InputError(f"align_regions: the output would have the sizes {list(sizes)}")
    height, width = sizes
    channels = inputs.shape[1]
    result = memory.empty((len(regions), channels, height, width), inputs.dtype)
    if not result.size:  # without the places along its other dimensions, for which nothing is charged
        return result
    lacking = np.full(len(regions), 0 in inputs.shape[2:])
    result[lacking] = 0
    batch, planes, finite = -1, inputs, False
    for index in memory.in_time(np.flatnonzero(~lacking)):
        y, x, (down, across) = points(regions[index])
        if not len(y) or not len(x) or np.isnan(y).any() or np.isnan(x).any():
            lacking[index] = True
            result[index] = 0
            continue
        memory.hold((channels, height * down * width * across), np.dtype(np.int8))  # what is worked with
        if batches[index] != batch:
            batch = int(batches[index])
            planes = to_float64(inputs[batch])
            few = max(height * planes.shape[1], width * planes.shape[2]) <= planes.size
            finite = few and bool(np.isfinite(planes).all())
        if finite and lines and not largest and not of_parts:
            means = _means_on_lines(planes, y, x, (height, down, width, across))
            result[index] = round_to(means, inputs.dtype)
            continue
        if of_parts:
            y, x = (np.repeat(y, len(x)), np.tile(x, len(y))) if lines else (y, x)
            found = np.maximum.reduce(_weighed(planes, y, x))
        else:
            found = _interpolated_on_lines(planes, y, x) if lines else interpolated(planes, y, x)
        parts = found.reshape(channels, height, down, width, across)
        result[index] = round_to(parts.max((2, 4)) if largest else parts.mean((2, 4)), inputs.dtype)
    if not lacking.any():
        return result
    mask = np.broadcast_to(lacking[:, None, None, None], result.shape)
    return np.ma.MaskedArray(result, mask=mask)
