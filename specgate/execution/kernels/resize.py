"""Resize, Upsample, Interpolate and resampling: coordinates and weights."""

from __future__ import annotations

from math import ceil, floor, inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, same_length, shape_of, to_float32, to_float64
from specgate.execution.kernels.attention import working
from specgate.execution.kernels.elementwise import ignore_warnings, store_as

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_HALF: Final = 0.5


def resample(
    inputs: NDArray[Any],
    *,
    sizes: Sequence[int],
    scales: Sequence[float],
    linear: bool,
    input_offsets: Sequence[float] | None = None,
    output_offsets: Sequence[float] | None = None,
    upwards: bool | None = None,
    stretched: bool = False,
    halved: bool = False,
    in_singles: bool = False,
    higher: bool = False,
) -> NDArray[Any]:
    """Return `inputs` resampled to other sizes, as in DirectML RESAMPLE.

    The input position is (position - output offset) / scale - input offset. linear: interpolate between the two
    neighbors along every dimension, nan next to an infinity; otherwise take one element: the next one above (upwards),
    the next one below, or if None the nearest, the lower one of a tie (with higher, the higher one). Positions outside
    are clamped; an infinite scale collapses all positions, and a scale of 0 puts them at the edges. Offsets default to
    0.5 and -0.5, the centers of elements. Positions are computed in float32; integers are truncated. stretched: linear
    along dimensions with a scale below 0.5 is the mean of all elements less than 1 / scale away, with triangular
    weights; positions outside are clamped. halved: where any scale is below 0.5, linear uses the quotients of sizes as
    scales, and reaches those below 0.5 in steps: the largest power of two, then halvings. in_singles: with linear,
    every step is rounded to float32, scales are their rounded reciprocals, and dimensions with scale 1 are skipped,
    except for the first if all have scale 1.
    """
    rank = inputs.ndim
    before = (0.5,) * rank if input_offsets is None else input_offsets
    offsets_after = (-0.5,) * rank if output_offsets is None else output_offsets
    offsets = {"input offsets": before, "output offsets": offsets_after}
    same_length("resample", rank, sizes=sizes, scales=scales, **offsets)
    memory.check_budget(shape_of("resample", sizes), inputs.dtype)
    singles = linear and in_singles
    result = inputs.astype(np.float32 if singles else np.float64) if linear else inputs
    in_steps = halved and linear and min(scales, default=1) < _HALF
    with memory.ignore_warnings():
        for axis, (size, *shift) in enumerate(zip(sizes, scales, before, offsets_after, strict=True)):
            if in_steps:
                result = _in_steps(result, axis, size, shift[1:], singles=singles)
                continue
            places = sampled_places(size, *shift)
            memory.check_budget(
                (*result.shape[:axis], size, *result.shape[axis + 1 :]), result.dtype
            )  # may exceed the output
            if singles and shift[0] == 1 and (axis or {*scales} != {1}) and (places == np.arange(size)).all():
                result = np.take(result, clamp_positions(places, result.shape[axis]), axis)
            elif singles:
                result = _stepwise(result, axis, size, shift[0], shift[1:])
            elif linear and stretched and 0 < shift[0] < _HALF:
                result = _average_triangular(result, axis, places, shift[0])
            elif linear:
                result = _interpolate_axis(result, axis, places)
            else:
                result = np.take(result, nearest(places, upwards, inputs.shape[axis], higher=higher), axis)
        if linear and not is_float(inputs.dtype):
            result = np.trunc(result.astype(np.float32))
        return round_to(result, inputs.dtype)


def _stepwise(values: NDArray[Any], axis: int, size: int, scale: float, offsets: Sequence[float]) -> NDArray[Any]:
    """Return values interpolated to `size`, each step rounded to float32.

    As in builds, the left neighbor is that for an input offset in [0, 1], and others extrapolate.
    """
    to_type, count = np.float32, values.shape[axis]
    before = to_type(offsets[0])
    centers = (np.arange(size, dtype=to_type) - to_type(offsets[1])) * (to_type(1) / to_type(scale))
    first = np.floor(centers - np.clip(before, to_type(0), to_type(1)))
    weight = (centers - before - first).reshape(-1, *(1,) * (values.ndim - 1 - axis))
    left = np.take(values, clamp_positions(first, count), axis)
    return np.asarray(left + (np.take(values, clamp_positions(first + 1, count), axis) - left) * weight)


def sampled_places(size: int, scale: float, before: float, offset_after: float) -> NDArray[np.float32]:
    """Return the input positions of `size` output positions.

    They are (position - behind) / scale - before.
    """
    to_type = np.float32
    array: NDArray[np.float32] = (np.arange(size, dtype=to_type) - to_type(offset_after)) / to_type(scale) - to_type(
        before
    )
    return array


def nearest(places: NDArray[np.float32], upwards: bool | None, size: int, *, higher: bool = False) -> NDArray[np.int64]:
    """Return integral positions in `size`: next above, below, or nearest.

    upwards: None for the nearest. higher: ties go to the higher one, not the lower.
    """
    half = np.float32(0.5)
    if upwards is None:
        return clamp_positions(np.floor(places + half) if higher else np.ceil(places - half), size)
    return clamp_positions(np.ceil(places) if upwards else np.floor(places), size)


def clamp_positions(places: NDArray[np.float32], size: int) -> NDArray[np.int64]:
    """Return integral positions clamped to `size`; nan becomes the first.

    nan results from infinite offsets.
    """
    return np.asarray(np.nan_to_num(np.clip(places, 0, size - 1), nan=0.0), np.int64)


def lower_neighbors(places: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[Any]]:
    """Return the integral position below each position, and the upper weight."""
    lower = np.floor(places)
    return lower, to_float64(to_float32(places - lower, places.dtype))


def _interpolate_axis(values: NDArray[Any], axis: int, places: NDArray[np.float32]) -> NDArray[Any]:
    size = values.shape[axis]
    lower, weight = lower_neighbors(places)
    weight = weight.reshape(-1, *(1,) * (values.ndim - 1 - axis))
    left = np.take(values, clamp_positions(lower, size), axis)
    right = np.take(values, clamp_positions(lower + 1, size), axis)
    return np.asarray(left + (right - left) * weight)


def _in_steps(values: NDArray[Any], axis: int, size: int, offsets: Sequence[float], *, singles: bool) -> NDArray[Any]:
    """Return values interpolated to `size`, at once or by halving.

    Halving starts at the largest power of two of the size.
    """
    last = values.shape[axis]
    steps = []
    if 2 * size < last:
        steps.append(2 ** (last.bit_length() - 1))
        while steps[-1] > 2 * size:
            steps.append(steps[-1] // 2)
    for step in (*steps, size):
        scale = step / values.shape[axis]
        if singles:
            values = _stepwise(values, axis, step, scale, offsets)
        else:
            values = _interpolate_axis(values, axis, sampled_places(step, scale, *offsets))
    return values


def _average_triangular(values: NDArray[Any], axis: int, places: NDArray[np.float32], scale: float) -> NDArray[Any]:
    """Return means with triangular weights of radius 1 / scale."""
    size = values.shape[axis]
    array = np.clip(np.nan_to_num(places.astype(np.float64)), 0, size - 1)
    first = np.maximum(np.floor(array - 1 / scale), 0).astype(np.int64)
    shape = (*values.shape[:axis], len(places), *values.shape[axis + 1 :])
    result, total = memory.empty(shape, np.dtype(np.float64)), np.zeros(len(places))
    result[...] = 0
    column = (-1, *(1,) * (values.ndim - 1 - axis))
    for step in memory.within_time_limit(range(min(size, 2 * ceil(1 / scale) + 2))):
        position = np.minimum(first + step, size - 1)
        weight = np.where(first + step < size, np.maximum(0.0, 1 - np.abs(position - array) * scale), 0)
        total += weight
        result += np.take(values, position, axis) * weight.reshape(column)
    return np.asarray(result / total.reshape(column))


def upsample_2d(inputs: NDArray[Any], *, height: int, width: int, linear: bool) -> NDArray[Any]:
    """Return `inputs` with the last two dimensions upsampled by integers."""
    if inputs.ndim < 2 or height < 1 or width < 1:
        raise InputError(f"resample: expected an input of rank 2 or more and factors above 0, found rank {inputs.ndim}")
    factors = (*(1,) * (inputs.ndim - 2), height, width)
    sizes = [size * factor for size, factor in zip(inputs.shape, factors, strict=True)]
    if not linear:
        memory.check_budget(tuple(sizes), inputs.dtype)
        return inputs.repeat(height, -2).repeat(width, -1)
    return resample(inputs, sizes=sizes, scales=factors, linear=True)


def resample_gradient(
    gradient: NDArray[Any],
    *,
    sizes: Sequence[int],
    scales: Sequence[float],
    linear: bool,
    input_offsets: Sequence[float],
    output_offsets: Sequence[float],
    upwards: bool | None = None,
    higher: bool = False,
    skips_zeros: bool = False,
) -> NDArray[Any]:
    """Return the gradient of `resample`, an array of `sizes`.

    linear: each element is distributed to two elements along every dimension with the forward weights; skips_zeros: a
    weight of 0 adds nothing, even for an infinite gradient. Other arguments are those of `resample` from such an array
    to the shape of `gradient`.
    """
    rank = gradient.ndim
    offsets = {"input offsets": input_offsets, "output offsets": output_offsets}
    same_length("resample", rank, sizes=sizes, scales=scales, **offsets)
    memory.check_budget(shape_of("resample", sizes), gradient.dtype)
    result = to_float64(gradient)
    with memory.ignore_warnings():
        for axis, (size, *shift) in enumerate(zip(sizes, scales, input_offsets, output_offsets, strict=True)):
            places = sampled_places(gradient.shape[axis], *shift)
            if not linear:
                result = _scatter_add(result, axis, size, nearest(places, upwards, size, higher=higher))
                continue
            lower, weight = lower_neighbors(places)
            column = weight.reshape(-1, *(1,) * (rank - 1 - axis))
            shares = [result * share_factor for share_factor in (1 - column, column)]
            if skips_zeros:
                shares = [
                    np.where(share_factor == 0, 0.0, share)
                    for share_factor, share in zip((1 - column, column), shares, strict=True)
                ]
            lower_sums = _scatter_add(shares[0], axis, size, clamp_positions(lower, size))
            result = lower_sums + _scatter_add(shares[1], axis, size, clamp_positions(lower + 1, size))
        return round_to(result, gradient.dtype)


def _scatter_add(values: NDArray[Any], axis: int, size: int, places: NDArray[np.int64]) -> NDArray[Any]:
    """Return sums of the values at each position, `size` along `axis`."""
    result = memory.empty((*values.shape[:axis], size, *values.shape[axis + 1 :]), values.dtype)
    result[...] = 0
    np.add.at(np.moveaxis(result, axis, 0), places, np.moveaxis(values, axis, 0))
    return result


_ROUNDED: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def places_of(name: str, new: int, old: int, scale: float, length: float, part: tuple[float, float]) -> NDArray[Any]:
    """Return the input coordinates along a resized axis, in float32.

    name: the coordinate transformation. old, new: sizes. length: the new size before it is rounded down, used by the
    outermost positions. part: start and end of the region of interest, from 0 to 1.
    """
    i = np.arange(new, dtype=np.float64)
    half = (i + 0.5) / scale - 0.5
    if name == "half_pixel":
        coordinate = half
    elif name == "pytorch_half_pixel":
        coordinate = half if length > 1 else np.zeros(new)
    elif name == "half_pixel_symmetric":
        coordinate = half + old / 2 * (1 - new / (scale * old)) if new else half
    elif name == "align_corners":
        coordinate = i * (old - 1) / (length - 1) if length > 1 else np.zeros(new)
    elif name == "asymmetric":
        coordinate = i / scale
    elif name == "tf_half_pixel_for_nn":
        coordinate = (i + 0.5) / scale
    elif name == "tf_crop_and_resize":
        begin, end = part
        step = (end - begin) * (old - 1) / (length - 1) if length > 1 else 0.0
        coordinate = begin * (old - 1) + i * step if length > 1 else np.full(new, 0.5 * (begin + end) * (old - 1))
    else:
        raise InputError(f"resize: unknown coordinate transformation {name!r:.40}")
    return coordinate.astype(np.float32).astype(np.float64)


def rounded_places(coordinates: NDArray[Any], size: int, mode: str) -> NDArray[np.int64]:
    """Return coordinates rounded to elements, clamped to the axis."""
    if mode not in _ROUNDED:
        raise InputError(f"resize: unknown nearest_mode {mode!r:.40}")
    array: NDArray[Any] = np.clip(np.nan_to_num(_ROUNDED[mode](coordinates)), 0, size - 1)
    return array.astype(np.int64)


def _taps_in_reach(coordinates: NDArray[Any], reach: float) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the elements [positions, taps] within `reach`, and distances."""
    begin = floor(-reach) + 1
    low = np.floor(np.clip(np.nan_to_num(coordinates), -(2.0**40), 2.0**40))
    memory.check_budget((len(coordinates), 2 - 2 * begin), np.dtype(np.float64))
    taps = low[:, None] + np.arange(begin, 2 - begin)
    return taps.astype(np.int64), taps - coordinates[:, None]


def _linear(coordinates: NDArray[Any], width: float, _cube: float) -> tuple[NDArray[np.int64], NDArray[Any]]:
    taps, distances = _taps_in_reach(coordinates, 1 / width)
    weights = np.maximum(0.0, 1 - np.abs(distances) * width)
    return taps, weights / weights.sum(axis=1, keepdims=True) if width < 1 else weights


def _cubic(coordinates: NDArray[Any], width: float, cube: float) -> tuple[NDArray[np.int64], NDArray[Any]]:
    taps, distances = _taps_in_reach(coordinates, 2 / width)
    x = np.abs(distances) * width
    inner_weights = ((cube + 2) * x - (cube + 3)) * x * x + 1
    outer_weights = ((cube * x - 5 * cube) * x + 8 * cube) * x - 4 * cube
    weights = np.where(x <= 1, inner_weights, np.where(x < 2, outer_weights, 0.0))
    return taps, weights / weights.sum(axis=1, keepdims=True) if width < 1 else weights


#: Interpolation weights by mode, for a filter scale of at most 1.
WEIGHTS: Final[dict[str, Callable[[NDArray[Any], float, float], tuple[NDArray[np.int64], NDArray[Any]]]]] = {
    "linear": _linear,
    "cubic": _cubic,
}


_MAX_SIZE: Final = 2**31
_POLICIES: Final = ("stretch", "not_larger", "not_smaller")


class _Axis(NamedTuple):
    """A resized axis.

    Axis, new size, new size before rounding down, scale, and region of interest from 0 to 1.
    """

    axis: int
    size: int
    length: float
    scale: float
    begin: float
    end: float


def resize(
    data: NDArray[Any],
    roi: NDArray[Any] | None = None,
    scales: NDArray[Any] | None = None,
    sizes: NDArray[Any] | None = None,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest: str = "round_prefer_floor",
    antialias: int = 0,
    cube: float = -0.75,
    exclude: int = 0,
    beyond: float = 0.0,
    policy: str = "stretch",
    axes: Sequence[int] | None = None,
    stated: Sequence[float] | None = None,
) -> NDArray[Any]:
    """Return `data` resized by `scales` or to `sizes`, as in ONNX Resize.

    axes: default all. mode: nearest, linear or cubic (with the coefficient `cube`). coordinate_transformation_mode: as
    in ONNX; with tf_crop_and_resize, `roi` holds the starts, then the ends of axes, and `beyond` is the value outside
    of `data`. nearest: the rounding mode. antialias: widen the filter when downsampling. exclude: positions outside of
    `data` have weight 0, instead of the border element. policy: stretch, or one scale for all sizes so that none is
    larger, or smaller, than requested. stated: the scales attribute. Integers are truncated.
    """
    axis = _axes(data, roi, scales if scales is None or scales.size else None, sizes, axes, stated, policy)
    shape = list(data.shape)
    for axis_plan in axis:
        shape[axis_plan.axis] = axis_plan.size
    memory.check_budget(tuple(shape), np.dtype(np.float64))
    if not data.size:
        if 0 not in shape:
            raise NoKernel("resize: it is unspecified how to enlarge an empty input")
        return memory.empty(tuple(shape), data.dtype)
    if mode not in {"nearest", *WEIGHTS}:
        raise InputError(f"resize: unknown mode {mode!r:.40}")
    if mode != "nearest" and data.dtype.kind not in "fiu" and not is_float(data.dtype):
        raise NoKernel(f"resize: it is unspecified how to interpolate {data.dtype}")
    if 0 in shape:  # only one slice of the other dimensions, for which no memory is counted
        return memory.empty(tuple(shape), data.dtype)
    cropped = coordinate_transformation_mode == "tf_crop_and_resize"
    axis_coordinates = [
        places_of(coordinate_transformation_mode, e.size, data.shape[e.axis], e.scale, e.length, (e.begin, e.end))
        for e in axis
    ]
    with ignore_warnings():
        result = data if mode == "nearest" else data.astype(working(data)) if is_float(data.dtype) else to_float64(data)
        result = result.astype(np.float64) if mode != "nearest" and not is_float(data.dtype) else result
        for axis_plan, coords in sorted(zip(axis, axis_coordinates, strict=True), key=lambda pair: pair[0].scale):
            if mode == "nearest":
                result = np.take(result, rounded_places(coords, data.shape[axis_plan.axis], nearest), axis_plan.axis)
            else:
                result = _sum_taps(result, axis_plan, coords, (mode, bool(antialias), bool(exclude), cube))
        if mode != "nearest":
            result = round_to(result, data.dtype) if is_float(data.dtype) else store_as(result, data.dtype)
        return _fill_extrapolated(result, data, axis, axis_coordinates, beyond) if cropped else result


def _axes(
    data: NDArray[Any],
    roi: NDArray[Any] | None,
    scales: NDArray[Any] | None,
    sizes: NDArray[Any] | None,
    axes: Sequence[int] | None,
    stated_scales: Sequence[float] | None,
    policy: str,
) -> list[_Axis]:
    numbers = list(range(data.ndim)) if axes is None else [a + data.ndim if a < 0 else a for a in axes]
    if any(not 0 <= axis < data.ndim for axis in numbers) or policy not in _POLICIES:
        raise InputError(
            f"resize: axes {numbers!r:.60} are out of range for rank {data.ndim}, or policy {policy!r:.30} is unknown"
        )
    if len(set(numbers)) != len(numbers):
        raise NoKernel("resize: expected distinct axes; the result for a repeated axis is unspecified")
    old = [data.shape[axis] for axis in numbers]
    result = (
        stated_scales
        if stated_scales is not None
        else None
        if scales is None
        else to_float64(scales.reshape(-1)).tolist()
    )
    if (result is None) == (sizes is None) or len(sizes if result is None else result) != len(numbers):  # type: ignore[arg-type]
        raise InputError(f"resize: expected {len(numbers)} scales or sizes")
    if result is not None:
        factors = [float(np.float32(n)) for n in result]
        if any(not 0 < n < inf for n in factors):
            raise InputError(f"resize: expected scales above 0, found {factors!r:.60}")
        if max(factors, default=0.0) >= _MAX_SIZE:
            raise InputError(f"resize: an output scaled by {max(factors)} is larger than any array")
        new = [floor(float(np.float32(size * n))) for n, size in zip(factors, old, strict=True)]
    else:
        new, factors = _sizes_and_scales([int(n) for n in sizes.reshape(-1)], old, policy)  # type: ignore[union-attr]
    ends = [0.0] * len(numbers) + [1.0] * len(numbers)
    if roi is not None and roi.size:
        if roi.size != 2 * len(numbers):
            raise NoKernel(f"resize: it is unspecified how {roi.size} numbers of roi apply to {len(numbers)} axes")
        ends = to_float64(roi.reshape(-1)).tolist()
    lengths = [n * size for n, size in zip(factors, old, strict=True)] if result is not None else list(map(float, new))
    parts = zip(numbers, new, lengths, factors, ends[: len(numbers)], ends[len(numbers) :], strict=True)
    return [_Axis(*part) for part in parts]


def _sizes_and_scales(numbers: list[int], old: list[int], policy: str) -> tuple[list[int], list[float]]:
    if min(numbers, default=0) < 0:
        raise NoKernel(f"resize: it is unspecified how to read the sizes {numbers!r:.60}")
    if policy == "stretch":
        return numbers, [float(np.float32(n / size)) if size else 1.0 for n, size in zip(numbers, old, strict=True)]
    if not all(old):
        raise NoKernel("resize: keep_aspect_ratio_policy is unspecified for an empty input")
    scale = (min if policy == "not_larger" else max)(
        (n / size for n, size in zip(numbers, old, strict=True)), default=1.0
    )
    return [floor(scale * size + 0.5) for size in old], [scale] * len(old)


def _sum_taps(
    data: NDArray[Any], axis_plan: _Axis, coordinates: NDArray[Any], options: tuple[str, bool, bool, float]
) -> NDArray[Any]:
    """Return weighted sums of elements along an axis at positions `coordinates`."""
    mode, antialias, exclude, cube = options
    size = data.shape[axis_plan.axis]
    if not len(coordinates):
        return data[(slice(None),) * axis_plan.axis + (slice(0),)]
    if len(coordinates) == size and np.array_equal(coordinates, np.arange(size)):
        return data
    width = min(axis_plan.scale, 1.0) if antialias else 1.0
    taps, weights = WEIGHTS[mode](coordinates, width, cube)
    if exclude:
        weights = np.where((taps >= 0) & (taps < size), weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1.0, total)
    taps = np.clip(taps, 0, size - 1)
    shape = (*data.shape[: axis_plan.axis], len(coordinates), *data.shape[axis_plan.axis + 1 :])
    column = [1] * data.ndim
    column[axis_plan.axis] = len(coordinates)
    result = np.zeros(shape, data.dtype)
    for tap in memory.within_time_limit(range(taps.shape[1])):
        factor = weights[:, tap].astype(data.dtype)
        if factor.any():
            array = np.take(data, taps[:, tap], axis_plan.axis)
            array *= factor.reshape(column)
            result += array
    return result


def _fill_extrapolated(
    result: NDArray[Any],
    data: NDArray[Any],
    axis: list[_Axis],
    axis_coordinates: list[NDArray[Any]],
    extrapolation_value: float,
) -> NDArray[Any]:
    """Return the result with the extrapolation value outside of the data."""
    if data.dtype.kind not in "fiu" and not is_float(data.dtype):
        raise NoKernel(f"resize: it is unspecified how to extrapolate {data.dtype}")
    result = result.copy()
    for axis_plan, coordinates in zip(axis, axis_coordinates, strict=True):
        moved_result = np.moveaxis(result, axis_plan.axis, 0)
        moved_result[(coordinates < 0) | (coordinates > data.shape[axis_plan.axis] - 1)] = round_to(
            np.array(extrapolation_value), data.dtype
        )
    return result


_LARGEST: Final = 2**31


def interpolate(
    data: NDArray[Any],
    sizes: NDArray[Any] | None = None,
    scales: NDArray[Any] | None = None,
    axes: NDArray[Any] | None = None,
    *,
    mode: str,
    shape_calculation_mode: str = "sizes",
    coordinate_transformation_mode: str | None = None,
    nearest: str = "round_prefer_floor",
    antialias: bool = False,
    begins: Sequence[int] = (),
    ends: Sequence[int] = (),
    cube: float = -0.75,
    axes_attribute: Sequence[int] | None = None,
    align_corners: bool | None = None,
) -> NDArray[Any]:
    """Return `data` resized along axes, as in OpenVINO Interpolate.

    sizes, scales: one per axis; shape_calculation_mode selects which counts, the other follows; a size from a scale is
    rounded down. mode: nearest, linear (triangle filter, with antialias widened when downsampling), straight (linear
    between two elements), cubic (with the coefficient `cube`), bilinear_pillow or bicubic_pillow (as in Pillow,
    antialiased). coordinate_transformation_mode: half_pixel (the default), pytorch_half_pixel, asymmetric,
    tf_half_pixel_for_nn or align_corners. nearest: the rounding, with mode nearest. begins, ends: zero padding of the
    data. Raises NoKernel for other modes, and for integers that would be rounded, because the rounding is undocumented.
    axes: default all; axes_attribute: the axes as an attribute. align_corners: where this attribute replaces
    coordinate_transformation_mode, only linear between corners is computed, for results of more than one position.
    """
    if align_corners is not None and coordinate_transformation_mode is None:
        mode, coordinate_transformation_mode = _resolve_align_corners(
            data, sizes, axes_attribute or (), (mode, align_corners, antialias, *begins, *ends)
        )
    axes = np.array(axes_attribute, np.int64) if axes_attribute is not None else axes
    padded = _pad_data(data, begins, ends)
    dims = list(range(padded.ndim)) if axes is None else axes.reshape(-1).tolist()
    if any(not 0 <= axis < padded.ndim for axis in dims) or len(set(dims)) != len(dims):
        raise InputError(f"interpolate: expected distinct axes of an input of rank {padded.ndim}, found {dims!r:.80}")
    lengths, factors = _lengths([padded.shape[axis] for axis in dims], sizes, scales, shape_calculation_mode)
    shape = list(padded.shape)
    for axis, length in zip(dims, lengths, strict=True):
        shape[axis] = length
    memory.check_budget(tuple(shape), np.dtype(np.float64))
    if not padded.size:
        if 0 not in shape:
            raise NoKernel("interpolate: it is unspecified how to enlarge an empty input")
        return memory.empty(tuple(shape), data.dtype)
    pillow = mode in {"bilinear_pillow", "bicubic_pillow"}
    to_place = _PLACES.get("half_pixel" if pillow else coordinate_transformation_mode or "half_pixel")
    if to_place is None:
        raise InputError(f"interpolate: unknown coordinate transformation {coordinate_transformation_mode!r:.40}")
    if mode == "nearest":
        if nearest not in _ROUNDING_FUNCTIONS:
            raise InputError(f"interpolate: unknown nearest_mode {nearest!r:.40}")
        if 0 in shape:
            return memory.empty(tuple(shape), data.dtype)
        return _nearest(padded, dims, lengths, factors, to_place, nearest)
    if mode not in _WEIGHTS:
        raise NoKernel(f"interpolate: no kernel for mode {mode!r:.40}")
    if not is_float(data.dtype):
        raise NoKernel("interpolate: it is unspecified how integers are rounded")
    if 0 in shape:  # only one slice of the other dimensions, for which no memory is counted
        return memory.empty(tuple(shape), data.dtype)
    result = to_float64(padded)
    antialias = antialias and any(factor < 1 for factor in factors)
    with memory.ignore_warnings():
        for axis, length, factor in zip(dims, lengths, factors, strict=True):
            size = padded.shape[axis]
            factor = length / size if pillow else factor  # noqa: PLW2901
            coordinates = np.array([to_place(i, factor, length, size) for i in memory.within_time_limit(range(length))])
            result = _resize_along(
                result, axis, _WEIGHTS[mode](coordinates, size, factor if antialias else 1.0, factor, cube)
            )
        return round_to(result, data.dtype)


def _resolve_align_corners(
    data: NDArray[Any], sizes: NDArray[Any] | None, axes: Sequence[int], options: tuple[Any, ...]
) -> tuple[str, str]:
    """Return mode and coordinates for align_corners.

    Raises NoKernel where the meaning is undocumented. options: mode, align_corners, antialias and the paddings.
    """
    mode, align_corners, *other_options = options
    if len(set(axes)) != len(axes) or mode != "linear" or not align_corners or any(other_options):
        raise NoKernel(f"interpolate: mode {mode!r:.40} is specified only for align_corners")
    items = [] if sizes is None else sizes.reshape(-1).tolist()
    for axis, length in zip(axes, items, strict=False):
        if 0 <= axis < data.ndim and length == 1 != data.shape[axis]:
            raise NoKernel("interpolate: align_corners is unspecified for an axis that shrinks to size 1")
    return "straight", "align_corners"


def _pad_data(data: NDArray[Any], begins: Sequence[int], ends: Sequence[int]) -> NDArray[Any]:
    before, pads_after = ([*per_axis][: data.ndim] + [0] * (data.ndim - len(per_axis)) for per_axis in (begins, ends))
    if any(not 0 <= n < _LARGEST for n in (*before, *pads_after)):
        raise InputError("interpolate: expected pads of at least 0")
    if not any((*before, *pads_after)):
        return data
    pairs = list(zip(before, pads_after, strict=True))
    memory.check_budget(tuple(n + a + b for n, (a, b) in zip(data.shape, pairs, strict=True)), data.dtype)
    return np.pad(data, pairs)


def _lengths(
    old: list[int], sizes: NDArray[Any] | None, scales: NDArray[Any] | None, option: str
) -> tuple[list[int], list[float]]:
    """Return the new sizes and the scales."""
    array = sizes if option == "sizes" else scales
    if option not in {"sizes", "scales"} or array is None or array.size != len(old):
        raise InputError(f"interpolate: expected {len(old)} sizes or scales")
    numbers = to_float64(array).reshape(-1).tolist()
    if any(not np.isfinite(n) or not 0 <= n < _LARGEST for n in numbers):
        raise NoKernel(f"interpolate: it is unspecified how to read {numbers!r:.80} as {option}")
    if option == "sizes":
        return [int(n) for n in numbers], [n / size if size else 1.0 for n, size in zip(numbers, old, strict=True)]
    return [floor(n * size) for n, size in zip(numbers, old, strict=True)], numbers


def _half_pixel(i: int, scale: float, _length: int, _size: int) -> float:
    return (i + 0.5) / scale - 0.5


def _pytorch(i: int, scale: float, length: int, _size: int) -> float:
    return (i + 0.5) / scale - 0.5 if length > 1 else 0.0


def _asymmetric(i: int, scale: float, _length: int, _size: int) -> float:
    return i / scale


def _tf_half_pixel(i: int, scale: float, _length: int, _size: int) -> float:
    return (i + 0.5) / scale


def _corners(i: int, _scale: float, length: int, size: int) -> float:
    return i * (size - 1) / (length - 1) if length > 1 else 0.0


_PLACES: Final[dict[str, Callable[[int, float, int, int], float]]] = {
    "half_pixel": _half_pixel,
    "pytorch_half_pixel": _pytorch,
    "asymmetric": _asymmetric,
    "tf_half_pixel_for_nn": _tf_half_pixel,
    "align_corners": _corners,
}
_ROUNDING_FUNCTIONS: Final[dict[str, Callable[[float, bool], int]]] = {
    "round_prefer_floor": lambda x, _: ceil(x - 0.5),
    "round_prefer_ceil": lambda x, _: floor(x + 0.5),
    "floor": lambda x, _: floor(x),
    "ceil": lambda x, _: ceil(x),
    "simple": lambda x, is_smaller: ceil(x) if is_smaller else int(x),
}


def _nearest(
    data: NDArray[Any],
    axes: list[int],
    lengths: list[int],
    factors: list[float],
    to_place: Callable[[int, float, int, int], float],
    rounding: str,
) -> NDArray[Any]:
    for axis, length, factor in sorted(zip(axes, lengths, factors, strict=True), key=lambda choice: choice[2]):
        size = data.shape[axis]  # smallest first: no intermediate exceeds both the data and the result
        places = memory.within_time_limit(range(length))
        coordinates = [_ROUNDING_FUNCTIONS[rounding](to_place(i, factor, length, size), factor < 1) for i in places]
        data = np.take(data, np.clip(np.array(coordinates, np.int64), 0, size - 1), axis)
    return data


class _Terms(NamedTuple):
    """Weighted terms of each output position [new, terms].

    Input positions, weights, and which are inside of the data.
    """

    places: NDArray[Any]
    weights: NDArray[Any]
    there: NDArray[np.bool_] | None = None


def _resize_along(data: NDArray[Any], axis: int, terms: _Terms) -> NDArray[Any]:
    """Return weighted sums along `axis`.

    A weight of 0 times an infinity gives nan.
    """
    result = memory.empty((*data.shape[:axis], len(terms.places), *data.shape[axis + 1 :]), np.dtype(np.float64))
    result[...] = 0
    column = [1] * data.ndim
    column[axis] = len(terms.places)
    for term in memory.within_time_limit(range(terms.places.shape[1])):
        value = np.take(data, terms.places[:, term], axis) * terms.weights[:, term].reshape(column)
        result += value if terms.there is None else np.where(terms.there[:, term].reshape(column), value, 0.0)
    return result


def _linear_terms(coordinates: NDArray[Any], size: int, _width: float, _factor: float, _cube: float) -> _Terms:
    """Return the two neighbors, clamped to the data."""
    coordinates = np.clip(coordinates, 0, size - 1)
    low = np.minimum(coordinates.astype(np.int64), size - 1)
    high = np.minimum(low + 1, size - 1)
    is_same_point = low == high
    lower_weight, upper_weight = (
        np.where(is_same_point, 0.5, np.abs(coordinates - neighbour)) for neighbour in (low, high)
    )
    return _Terms(np.stack([low, high], 1), np.stack([upper_weight, lower_weight], 1))


def _triangle(coordinates: NDArray[Any], size: int, width: float, factor: float, _cube: float) -> _Terms:
    """Return triangle weights with support 2 / width; may cover nothing."""
    reach = 2 if factor > 1 else ceil(2.0 / max(width, 1.0 / _LARGEST))
    reach = min(reach, size + 2)  # farther away the weight is 0
    memory.check_budget((len(coordinates), 2 * reach + 1), np.dtype(np.float64))
    places = np.rint(coordinates).astype(np.int64)[:, None] + np.arange(-reach, reach + 1)
    in_input = (places >= 0) & (places < size)
    weights = np.where(in_input, np.maximum(0.0, 1.0 - np.abs(width * (coordinates[:, None] - places))), 0.0)
    total = weights.sum(axis=1, keepdims=True)
    weights = weights / np.where(total == 0, 1.0, total)
    return _Terms(np.clip(places, 0, size - 1), weights, in_input & (total != 0))


def _cubic_weights(coordinates: NDArray[Any], size: int, _width: float, _factor: float, cube: float) -> _Terms:
    """Return four taps; those outside of the data are clamped."""
    first = np.floor(coordinates).astype(np.int64)
    x = np.abs(coordinates - first)
    weights = [
        cube * (x - 1.0) * (x - 1.0) * x,
        ((cube + 2.0) * x - (cube + 3.0)) * x * x + 1.0,
        (((-cube - 2.0) * x + (2.0 * cube + 3.0)) * x - cube) * x,
        -cube * x * x * (x - 1.0),
    ]
    return _Terms(np.clip(first[:, None] + np.arange(-1, 3), 0, size - 1), np.stack(weights, 1))


def _pillow(coordinates: NDArray[Any], size: int, factor: float, reach: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the taps of a Pillow filter, and distances in filter widths.

    Taps outside have the distance at which the filter is 0. reach: filter radius, wider when downsampling.
    """
    width = max(1.0 / factor, 1.0)
    centers, support = coordinates + 0.5, reach * width
    first = np.maximum((centers - support + 0.5).astype(np.int64), 0)
    last = np.minimum((centers + support + 0.5).astype(np.int64), size)
    count = int((last - first).max())
    memory.check_budget((len(coordinates), count), np.dtype(np.float64))
    places = first[:, None] + np.arange(count)
    distances = np.where(places < last[:, None], np.abs(places + 0.5 - centers[:, None]) / width, np.inf)
    return np.clip(places, 0, size - 1), distances


def _normalize_weights(places: NDArray[Any], weights: NDArray[Any]) -> _Terms:
    total = weights.sum(axis=1, keepdims=True)
    return _Terms(places, np.where(total != 0, weights / np.where(total == 0, 1.0, total), weights), weights != 0)


def _bilinear_pillow(coordinates: NDArray[Any], size: int, _width: float, factor: float, _cube: float) -> _Terms:
    places, distances = _pillow(coordinates, size, factor, 1.0)
    return _normalize_weights(places, np.maximum(0.0, 1.0 - distances))


def _bicubic_pillow(coordinates: NDArray[Any], size: int, _width: float, factor: float, cube: float) -> _Terms:
    places, distances = _pillow(coordinates, size, factor, 2.0)
    x = np.minimum(distances, 2.0)
    inner_weights = ((cube + 2.0) * x - (cube + 3.0)) * x * x + 1.0
    return _normalize_weights(places, np.where(x < 1.0, inner_weights, (((x - 5.0) * x + 8.0) * x - 4.0) * cube))


_WEIGHTS: Final[dict[str, Callable[[NDArray[Any], int, float, float, float], _Terms]]] = {
    "straight": _linear_terms,
    "linear": _triangle,
    "cubic": _cubic_weights,
    "bilinear_pillow": _bilinear_pillow,
    "bicubic_pillow": _bicubic_pillow,
}
