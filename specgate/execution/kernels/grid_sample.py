"""GridSample, Col2Im and deformable convolution with interpolation."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import choose_elements, is_float, require_shape, round_to, to_float64
from specgate.execution.kernels.attention import working
from specgate.execution.kernels.conv import AUTOMATIC, WindowGeometry, slide_over
from specgate.execution.kernels.elementwise import ignore_warnings, require_float, store_as
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: The coefficient of the interpolating cubic.
_CUBE = -0.75


def grid_sample_2d(
    data: NDArray[Any],
    grid: NDArray[Any],
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> NDArray[Any]:
    """Return `data` sampled at `grid`, as in OpenVINO GridSample.

    data: [batch, channels, rows, columns]. grid: [batch, H, W, 2], column and row from -1 to 1, which are the centers
    of the outermost elements with align_corners, else their outer edges. mode: bilinear, bicubic, nearest (half to
    even). padding_mode: zeros, border or reflection. Raises NoKernel for nan positions, and for integers that would be
    rounded.
    """
    if data.ndim != 4 or grid.ndim != 4 or grid.shape[3] != 2 or grid.shape[0] != data.shape[0]:
        raise InputError(
            f"grid_sample: a grid of shape {list(grid.shape)} does not match an input of shape {list(data.shape)}"
        )
    if mode not in {"bilinear", "bicubic", "nearest"} or padding_mode not in {"zeros", "border", "reflection"}:
        raise InputError(f"grid_sample: unknown mode {mode!r:.30} or padding {padding_mode!r:.30}")
    if mode != "nearest" and not is_float(data.dtype):
        raise NoKernel("grid_sample: it is unspecified how integers are rounded")
    places = to_float64(grid)
    if not (np.abs(places) < 2**31).all():
        raise NoKernel("grid_sample: the value at positions that are not finite, or too far away, is unspecified")
    shape = (*data.shape[:2], *grid.shape[1:3])
    memory.check_budget(shape, np.dtype(np.float64))
    if not data.size:
        if 0 not in shape:
            raise NoKernel("grid_sample: the input is empty")
        return np.zeros(shape, data.dtype)
    sizes = data.shape[3], data.shape[2]
    x, y = (_unnormalize_positions(places[..., axis], size, align_corners) for axis, size in enumerate(sizes))
    if padding_mode == "border" and mode != "bicubic":
        x, y = (np.clip(coordinates, 0, size - 1) for coordinates, size in zip((x, y), sizes, strict=True))
    if mode == "nearest":
        columns, rows = np.rint(x).astype(np.int64), np.rint(y).astype(np.int64)
        return _read_elements(data, rows, columns, padding_mode, align_corners)
    result = np.zeros(shape)
    left, top = np.floor(x), np.floor(y)
    weights = [_weights(coordinates - first, mode) for coordinates, first in ((x, left), (y, top))]
    steps = range(2) if mode == "bilinear" else range(-1, 3)
    with memory.ignore_warnings():
        for (i, row), (j, column) in product(enumerate(steps), enumerate(steps)):
            rows, columns = (top + row).astype(np.int64), (left + column).astype(np.int64)
            array = to_float64(_read_elements(data, rows, columns, padding_mode, align_corners))
            result += array * (weights[1][i] * weights[0][j])[:, None]
    return round_to(result, data.dtype)


def _unnormalize_positions(coordinates: NDArray[Any], size: int, align_corners: bool) -> NDArray[Any]:
    return (coordinates + 1) / 2 * (size - 1) if align_corners else ((coordinates + 1) * size - 1) / 2


def _weights(s: NDArray[Any], mode: str) -> list[NDArray[Any]]:
    return [1 - s, s] if mode == "bilinear" else cubic_weights(s)


def cubic_weights(s: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the cubic weights of the four elements around a position.

    s: its distance after the second element.
    """
    a = _CUBE
    return [
        ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a,
        ((a + 2) * s - (a + 3)) * s * s + 1,
        ((a + 2) * (1 - s) - (a + 3)) * (1 - s) * (1 - s) + 1,
        ((a * (2 - s) - 5 * a) * (2 - s) + 8 * a) * (2 - s) - 4 * a,
    ]


def _read_elements(
    data: NDArray[Any],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    padding_mode: str,
    align_corners: bool,
) -> NDArray[Any]:
    """Return the elements at any rows and columns [batch, H, W]."""
    height, width = data.shape[2:]
    in_image = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    if padding_mode == "reflection":
        rows, columns = reflect_positions(rows, height, align_corners), reflect_positions(columns, width, align_corners)
    batch = np.arange(len(data))[:, None, None]
    array = data[batch, :, np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]  # [batch, H, W, channels]
    array = np.moveaxis(array, -1, 1)
    return np.where(in_image[:, None], array, np.zeros((), data.dtype)) if padding_mode == "zeros" else array


def reflect_positions(positions: NDArray[np.int64], size: int, align_corners: bool) -> NDArray[np.int64]:
    """Return positions mirrored at the border until they are inside.

    The border is at the outermost elements or at their outer edges.
    """
    if size == 1:
        return np.zeros_like(positions)
    period = 2 * (size - 1) if align_corners else 2 * size
    positions = positions % period
    return np.where(positions < size, positions, (period if align_corners else period - 1) - positions)


def col2im_columns(
    data: NDArray[Any],
    output_size: NDArray[Any],
    kernel_size: NDArray[Any],
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    begins: Sequence[int] | None = None,
    ends: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return planes with columns added at their blocks, as in Col2Im.

    The result is [batch, channels, rows, columns]. data: [batch, channels * kernel rows * kernel columns, blocks]. The
    padding is cropped. Elements of a block are `dilations` apart.
    """
    before, pads_after = (list(per_axis) if per_axis is not None else [0] * 2 for per_axis in (begins, ends))
    if len(before) != 2 or len(pads_after) != 2 or output_size.size != 2:
        raise InputError("col2im: expected 3-D data, and two values for each attribute")
    return col2im(data, output_size, kernel_size, strides=strides, dilations=dilations, pads=[*before, *pads_after])


def col2im(
    data: NDArray[Any],
    output_size: NDArray[Any],
    kernel_size: NDArray[Any],
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return `col2im_columns` for any number of spatial dimensions.

    pads: begin paddings, then end paddings.
    """
    sizes, window = output_size.reshape(-1).tolist(), kernel_size.reshape(-1).tolist()
    rank = len(sizes)
    steps, gaps = (list(per_axis) if per_axis is not None else [1] * rank for per_axis in (strides, dilations))
    pad_list = list(pads) if pads is not None else [0] * (2 * rank)
    if (
        any(len(per_axis) != rank for per_axis in (window, steps, gaps))
        or len(pad_list) != 2 * rank
        or output_size.ndim != 1
        or kernel_size.ndim != 1
        or data.ndim != 3
        or not rank
    ):
        raise InputError("col2im: expected 3-D data, and the same number of values for each attribute")
    if min(*sizes, *window, *steps, *gaps) < 1 or min(pad_list) < 0:
        raise InputError("col2im: expected sizes, strides and dilations above 0, and pads of at least 0")
    if data.dtype.kind in "OSUT":
        raise InputError("col2im: expected numbers, found strings")
    before, pads_after = pad_list[:rank], pad_list[rank:]
    padded_sizes = [size + a + b for size, a, b in zip(sizes, before, pads_after, strict=True)]
    counts = [
        (n - (k - 1) * gap - 1) // step + 1 for n, k, gap, step in zip(padded_sizes, window, gaps, steps, strict=True)
    ]
    area = prod(window)
    if min(counts) < 1 or data.shape[1] % area or data.shape[2] != prod(counts):
        raise InputError(f"col2im: data of shape {list(data.shape)} does not hold {counts} blocks of {window}")
    channels = data.shape[1] // area
    memory.check_budget((data.shape[0], channels, *padded_sizes), np.dtype(np.float64))
    planes = np.zeros((data.shape[0], channels, *padded_sizes), np.float64 if is_float(data.dtype) else data.dtype)
    blocks = to_float64(data).reshape(data.shape[0], channels, *window, *counts)
    leading_slices: tuple[Any, ...] = (slice(None), slice(None))
    with memory.ignore_warnings():
        for element in memory.within_time_limit(product(*map(range, window))):
            places = tuple(
                slice(k * gap, k * gap + (count - 1) * step + 1, step)
                for k, gap, count, step in zip(element, gaps, counts, steps, strict=True)
            )
            planes[leading_slices + places] += blocks[leading_slices + element]
        cropped = planes[leading_slices + tuple(slice(a, a + size) for a, size in zip(before, sizes, strict=True))]
        return round_to(np.ascontiguousarray(cropped), data.dtype)


_MODES: Final = ("linear", "nearest", "cubic")
_PADDINGS: Final = ("zeros", "border", "reflection")


def grid_sample(
    data: NDArray[Any],
    grid: NDArray[Any],
    *,
    mode: str = "linear",
    padding: str = "zeros",
    align_corners: int = 0,
) -> NDArray[Any]:
    """Return `data` sampled at `grid`, as in ONNX GridSample.

    data: [batch, channels, spatial…]. grid: [batch, spatial…, dimensions], a number from -1 to 1 per spatial dimension,
    the last one first: the centers of the outermost elements with align_corners, else their outer edges. mode: linear,
    nearest (half to even) or cubic; padding: zeros, border or reflection. Integers are truncated. Raises NoKernel for
    nan positions.
    """
    rank = data.ndim - 2
    if rank < 1 or grid.ndim != data.ndim or grid.shape[0] != data.shape[0] or grid.shape[-1] != rank:
        raise InputError(
            f"grid_sample: a grid of shape {list(grid.shape)} does not match an input of shape {list(data.shape)}"
        )
    if mode not in _MODES or padding not in _PADDINGS:
        raise InputError(f"grid_sample: unknown mode {mode!r:.30} or padding {padding!r:.30}")
    texts = data.dtype.kind not in "fiu" and not is_float(data.dtype)
    if texts and (mode != "nearest" or padding == "zeros"):
        raise NoKernel(f"grid_sample: it is unspecified how to interpolate {data.dtype}")
    places = grid.astype(np.float64)
    if not (np.abs(places) < 2**31).all():
        raise NoKernel("grid_sample: the value at positions that are not finite, or too far away, is unspecified")
    shape = (*data.shape[:2], *grid.shape[1:-1])
    memory.check_budget(shape, np.dtype(np.float64))
    if not data.size and prod(shape):
        raise NoKernel("grid_sample: the input is empty")
    kind = data.dtype if mode == "nearest" else working(data) if is_float(data.dtype) else np.dtype(np.float64)
    result = np.zeros((*shape[:2], prod(shape[2:])), kind)
    with ignore_warnings():
        for image_index in memory.within_time_limit(range(len(data))):
            flat = places[image_index].reshape(-1, rank)
            coordinates = [
                _unnormalized_places(flat[:, rank - 1 - d], data.shape[d + 2], align_corners) for d in range(rank)
            ]
            result[image_index] = _interpolate_planes(
                data[image_index].astype(kind, copy=False), coordinates, mode, padding, bool(align_corners)
            )
        array = result if mode == "nearest" else round_to(result, data.dtype) if is_float(data.dtype) else None
        return (store_as(result, data.dtype) if array is None else array).reshape(shape)


def _unnormalized_places(coordinates: NDArray[Any], size: int, align_corners: int) -> NDArray[Any]:
    return (coordinates + 1) / 2 * (size - 1) if align_corners else ((coordinates + 1) * size - 1) / 2


def _interpolate_planes(
    planes: NDArray[Any], coordinates: Sequence[NDArray[Any]], mode: str, padding: str, corners: bool
) -> NDArray[Any]:
    """Return [channels, positions] of [channels, spatial…]."""
    sizes = planes.shape[1:]
    flat = planes.reshape(len(planes), prod(sizes))
    if padding == "border" and mode != "cubic":
        coordinates = [np.clip(coords, 0, size - 1) for coords, size in zip(coordinates, sizes, strict=True)]
    taps: list[list[tuple[NDArray[np.int64], NDArray[Any] | None]]] = []
    for coordinate in coordinates:
        low = np.rint(coordinate) if mode == "nearest" else np.floor(coordinate)
        first, part = low.astype(np.int64), coordinate - low
        if mode == "nearest":
            taps.append([(first, None)])
        elif mode == "linear":
            taps.append([(first, 1 - part), (first + 1, part)])
        else:
            taps.append(
                [(first + step, weight) for step, weight in zip(range(-1, 3), cubic_weights(part), strict=True)]
            )
    total: NDArray[Any] = np.zeros((), planes.dtype)
    for number, tap_choice in enumerate(product(*taps)):
        array = _elements(flat, [tap for tap, _ in tap_choice], sizes, padding, corners)
        for _, weight in tap_choice:
            array = array if weight is None else np.multiply(array, weight.astype(flat.dtype), out=array)
        total = np.add(total, array, out=total) if number else array
    return total


def _elements(
    flat: NDArray[Any], taps: Sequence[NDArray[np.int64]], sizes: Sequence[int], padding: str, corners: bool
) -> NDArray[Any]:
    index: Any = 0
    in_image: Any = True
    for tap, size in zip(taps, sizes, strict=True):
        in_image = in_image & (tap >= 0) & (tap < size) if padding == "zeros" else True
        place = reflect_positions(tap, size, corners) if padding == "reflection" else np.clip(tap, 0, size - 1)
        index = index * size + place
    result = np.take(flat, index, axis=1)
    return choose_elements(in_image, result, np.zeros((), flat.dtype)) if padding == "zeros" else result


def deform_conv(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    offsets: NDArray[Any],
    bias: NDArray[Any] | None = None,
    mask: NDArray[Any] | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    groups: int = 1,
    parts: int = 1,
    window: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the deformable convolution, as in ONNX DeformConv.

    inputs: [batch, channels, spatial…]. filters: [output channels, channels / groups, spatial…]. offsets: [batch, parts
    * filter positions * dimensions, output spatial…]; the i-th of the parts is for the i-th part of the channels. mask:
    [batch, parts * filter positions, output spatial…], factors. Interpolation is linear, with zeros outside. Other
    arguments as for `convolve`.
    """
    require_float("convolution", inputs, filters, offsets)
    rank = inputs.ndim - 2
    if rank < 1 or filters.ndim != inputs.ndim or parts < 1 or inputs.shape[1] % parts or groups < 1:
        raise InputError(
            f"convolution: filters of shape {list(filters.shape)} in {parts} parts do not match an input of shape "
            f"{list(inputs.shape)}"
        )
    if inputs.shape[1] != filters.shape[1] * groups or filters.shape[0] % groups:
        raise InputError(
            f"convolution: filters of shape {list(filters.shape)} in {groups} groups do not match an input of shape "
            f"{list(inputs.shape)}"
        )
    if window is not None:
        require_shape("convolution", "filters", filters.shape[2:], window)
    slide = slide_over("convolution", inputs.shape[2:], filters.shape[2:], strides, dilations, pads, "NOTSET")
    taps = prod(filters.shape[2:])
    require_shape("convolution", "offsets", offsets.shape, (len(inputs), parts * taps * rank, *slide.counts))
    if mask is not None:
        require_shape("convolution", "a mask", mask.shape, (len(inputs), parts * taps, *slide.counts))
    if bias is not None:
        require_shape("convolution", "a bias", bias.shape, filters.shape[:1])
    count, kind = prod(slide.counts), working(inputs)
    total = memory.empty((len(inputs), groups, filters.shape[0] // groups, count), kind)
    total[...] = 0
    starts = np.meshgrid(
        *(np.arange(n) * step for n, step in zip(slide.counts, slide.strides, strict=True)), indexing="ij"
    )
    offset_array = offsets.astype(np.float64).reshape(len(inputs), parts, taps, rank, count)
    factors = None if mask is None else mask.astype(kind).reshape(len(inputs), parts, taps, 1, count)
    weights = filters.astype(kind).reshape(groups, filters.shape[0] // groups, filters.shape[1], taps)
    planes = inputs.astype(kind).reshape(len(inputs), parts, inputs.shape[1] // parts, *inputs.shape[2:])
    with ignore_warnings():
        for tap, element in enumerate(memory.within_time_limit(np.ndindex(filters.shape[2:]))):
            base = [
                start.reshape(-1) + n * gap - before
                for start, n, gap, before in zip(starts, element, slide.dilations, slide.start, strict=True)
            ]
            for batch, part in np.ndindex(len(inputs), parts):
                coordinates = [
                    np.nan_to_num(axis_base + offset_array[batch, part, tap, d], nan=-9.0)
                    for d, axis_base in enumerate(base)
                ]
                coordinates = [
                    np.clip(axis_coordinates, -9.0, size + 9.0)
                    for axis_coordinates, size in zip(coordinates, inputs.shape[2:], strict=True)
                ]
                array = _interpolate_planes(planes[batch, part], coordinates, "linear", "zeros", corners=False)
                array = array if factors is None else array * factors[batch, part, tap]
                _add(total[batch], weights[..., tap], array, part * planes.shape[2])
        result = total.reshape(len(inputs), filters.shape[0], count)
        result = result if bias is None else result + bias.astype(kind)[:, None]
        return round_to(result.reshape(len(inputs), filters.shape[0], *slide.counts), inputs.dtype)


def _add(total: NDArray[Any], weights: NDArray[Any], array: NDArray[Any], first: int) -> None:
    """Add the products of some channels with their groups' weights.

    first: the first of the channels.
    """
    points_per_block = max(1, weights.shape[2])
    for group in range(first // points_per_block, -(-(first + len(array)) // points_per_block)):
        low, high = max(first, group * points_per_block), min(first + len(array), (group + 1) * points_per_block)
        total[group] += multiply_matrices(
            weights[group][:, low - group * points_per_block : high - group * points_per_block],
            array[low - first : high - first],
        )


#: Positions farther away all read zeros.
_LIMIT = 2**40
#: The smallest distance between positions.
_MIN_DISTANCE = 2.0**-149


def deformable_convolution(
    data: NDArray[Any],
    offsets: NDArray[Any],
    filters: NDArray[Any],
    mask: NDArray[Any] | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    auto_pad: str = "explicit",
    group: int = 1,
    offset_group: int = 1,
    zeros_around: bool | None = None,
    from_zero: bool = False,
) -> NDArray[Any]:
    """Return the deformable convolution of [batch, channels, rows, columns].

    filters: [output channels, channels per group, rows, columns]. offsets: [batch, offset_group * filter positions * 2,
    rows and columns of the output], row and column offset of each position; the i-th of `offset_group` parts is for the
    i-th part of the output channels. mask: [batch, offset_group * filter positions, rows, columns], factors. begins,
    ends: the paddings, ignored unless auto_pad is explicit. Positions between elements are interpolated, outside is 0.
    Within one element outside, the border element is used, or with zeros_around its interpolation with 0; where
    zeros_around is None, results that need it are masked. from_zero: before the first row and column everything is 0.
    Integers wrap around.
    """
    slide = _slide(data, filters, strides, dilations, begins, ends, auto_pad)
    _require_shapes(data, offsets, filters, mask, slide, (group, offset_group))
    batches, outputs = data.shape[0], filters.shape[0]
    shape = (batches, outputs, *slide.counts)
    dtype = np.dtype(np.float64) if is_float(data.dtype) else data.dtype
    window, points = filters.shape[2:], prod(slide.counts)
    result = memory.empty(shape, dtype).reshape(batches, outputs, points)
    result[...] = 0
    flat = to_float64(filters).reshape(*filters.shape[:2], prod(window))
    moves = offsets.reshape(batches, offset_group, prod(window), 2, points)
    factors = None if mask is None else to_float64(mask).reshape(batches, offset_group, prod(window), points)
    open_places = np.zeros((batches, offset_group, points), np.bool_)
    with memory.ignore_warnings():
        for batch, part in product(range(batches), range(offset_group)):
            blocks = _blocks(outputs, group, part, outputs // offset_group)
            first, last = blocks[0].group if blocks else 0, (blocks[-1].group + 1) if blocks else 0
            planes = data[batch, first * filters.shape[1] : last * filters.shape[1]]
            for place, window_place in memory.within_time_limit(enumerate(np.ndindex(*window))):
                y, x = (
                    _sample_positions(slide, axis, window_place[axis], moves[batch, part, place, axis])
                    for axis in (0, 1)
                )
                array, unclear = _sample_planes(planes, y, x, zeros_around, -_MIN_DISTANCE if from_zero else -1)
                if factors is not None:
                    array = array * factors[batch, part, place]
                for block in blocks:
                    rows = array.reshape(last - first, filters.shape[1], points)[block.group - first]
                    result[batch, block.channels] += multiply_matrices(flat[block.channels, :, place], rows)
                open_places[batch, part] |= unclear
    new_array = round_to(result, data.dtype).reshape(shape)
    if not open_places.any():
        return new_array
    return np.ma.MaskedArray(new_array, mask=np.repeat(open_places, outputs // offset_group, axis=1).reshape(shape))


class _Block(NamedTuple):
    """Output channels that share an input group and an offset group."""

    group: int
    channels: slice


def _blocks(outputs: int, groups: int, part: int, points_per_block: int) -> list[_Block]:
    size = outputs // groups
    first, last = part * points_per_block, (part + 1) * points_per_block
    if not size or first == last:
        return []
    numbers = range(first // size, (last - 1) // size + 1)
    return [_Block(g, slice(max(first, g * size), min(last, (g + 1) * size))) for g in numbers]


def _slide(
    data: NDArray[Any],
    filters: NDArray[Any],
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    auto_pad: str,
) -> WindowGeometry:
    explicit = auto_pad == "explicit"
    if auto_pad not in AUTOMATIC or data.ndim != 4 or filters.ndim != 4:
        raise InputError("deformable convolution: expected 4-D data and filters, and a known auto_pad")
    if explicit and not len(begins) == len(ends) == 2:
        raise InputError("deformable convolution: expected two pads at each end")
    pads = [*begins, *ends] if explicit else None
    return slide_over(
        "deformed filters", data.shape[2:], filters.shape[2:], strides, dilations, pads, AUTOMATIC[auto_pad],
        least_dilation=0,
    )  # fmt: skip


def _require_shapes(
    data: NDArray[Any],
    offsets: NDArray[Any],
    filters: NDArray[Any],
    mask: NDArray[Any] | None,
    slide: WindowGeometry,
    groups: tuple[int, int],
) -> None:
    if any(array is not None and array.dtype != data.dtype for array in (offsets, filters, mask)):
        raise InputError(f"deformable convolution: expected all inputs to be {data.dtype}")
    if min(groups) < 1 or any(filters.shape[0] % n for n in groups) or data.shape[1] != filters.shape[1] * groups[0]:
        raise InputError(
            f"deformable convolution: filters of shape {list(filters.shape)} in {groups} groups do not match data of "
            f"shape {list(data.shape)}"
        )
    places = groups[1] * filters.shape[2] * filters.shape[3]
    require_shape("deformed filters", "offsets", offsets.shape, (data.shape[0], places * 2, *slide.counts))
    if mask is not None:
        require_shape("deformed filters", "a mask", mask.shape, (data.shape[0], places, *slide.counts))


def _sample_positions(slide: WindowGeometry, axis: int, step: int, moves: NDArray[Any]) -> NDArray[Any]:
    """Return the sampled position of a filter element per output element.

    Integers where the offsets are integers.
    """
    first = min(max(step * slide.dilations[axis] - slide.start[axis], -_LIMIT), _LIMIT)
    starts = first + np.arange(slide.counts[axis]) * slide.strides[axis]
    grid = np.broadcast_to(starts[:, None] if axis == 0 else starts, slide.counts).reshape(-1)
    if is_float(moves.dtype):
        result = np.clip(to_float64(moves), -_LIMIT, _LIMIT)
    else:
        small = np.clip(moves.astype(object), -_LIMIT, _LIMIT) if moves.dtype.itemsize > 4 else moves
        result = small.astype(np.int64)
    places: NDArray[Any] = grid + result
    return places


def _sample_planes(
    planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any], zeros_around: bool | None, lower_bound: float
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return planes [channels, rows, columns] sampled at points.

    The result is [channels, points], and which points are undefined. lower_bound: positions up to it are outside.
    """
    rows, columns = planes.shape[1:]
    unclear = np.isnan(y) | np.isnan(x)
    y, x = np.where(unclear, -_LIMIT, y), np.where(unclear, -_LIMIT, x)
    is_near = (y > lower_bound) & (y < rows) & (x > lower_bound) & (x < columns)
    on_border = is_near & ((y < 0) | (y > rows - 1) | (x < 0) | (x > columns - 1))
    if zeros_around is None:
        unclear = unclear | on_border
    if not zeros_around:  # values are undocumented there
        y, x = (
            np.where(is_near, np.clip(y, 0, rows - 1), -_LIMIT),
            np.where(is_near, np.clip(x, 0, columns - 1), -_LIMIT),
        )
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    y_fraction, x_fraction = y - top, x - left
    result = memory.empty((len(planes), len(y)), np.dtype(np.float64) if is_float(planes.dtype) else planes.dtype)
    result[...] = 0
    for row, column in product((0, 1), (0, 1)):
        weights = (y_fraction if row else 1 - y_fraction) * (x_fraction if column else 1 - x_fraction)
        row_places, to = top + row, left + column
        tap_places = np.flatnonzero(
            (weights != 0) & (row_places >= 0) & (row_places < rows) & (to >= 0) & (to < columns)
        )
        if len(tap_places):
            array = to_float64(planes[:, row_places[tap_places], to[tap_places]])
            result[:, tap_places] += array * weights[tap_places] if is_float(planes.dtype) else array
    return result, unclear
