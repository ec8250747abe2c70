"""Deformable convolution.

OpenVINO DeformableConvolution.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float64
from specgate.execution.kernels.conv import AUTOMATIC, Slide, slide_over
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["slide_deformed"]

#: Positions farther away all read zeros.
_FAR = 2**40
#: The smallest distance between positions.
_TINY = 2.0**-149


def slide_deformed(
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
    _hold_shapes(data, offsets, filters, mask, slide, (group, offset_group))
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
    with memory.quiet():
        for batch, part in product(range(batches), range(offset_group)):
            blocks = _blocks(outputs, group, part, outputs // offset_group)
            first, last = blocks[0].group if blocks else 0, (blocks[-1].group + 1) if blocks else 0
            planes = data[batch, first * filters.shape[1] : last * filters.shape[1]]
            for place, at in memory.in_time(enumerate(np.ndindex(*window))):
                y, x = (_moved(slide, axis, at[axis], moves[batch, part, place, axis]) for axis in (0, 1))
                array, unclear = _sampled(planes, y, x, zeros_around, -_TINY if from_zero else -1)
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


def _blocks(outputs: int, groups: int, part: int, each: int) -> list[_Block]:
    size = outputs // groups
    first, last = part * each, (part + 1) * each
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
) -> Slide:
    explicit = auto_pad == "explicit"
    if auto_pad not in AUTOMATIC or data.ndim != 4 or filters.ndim != 4:
        raise InputError("deformed filters: expected data and filters of four dimensions, and a word for auto_pad")
    if explicit and not len(begins) == len(ends) == 2:
        raise InputError("deformed filters: expected two paddings at each end")
    pads = [*begins, *ends] if explicit else None
    return slide_over(
        "deformed filters", data.shape[2:], filters.shape[2:], strides, dilations, pads, AUTOMATIC[auto_pad],
        least_dilation=0,
    )  # fmt: skip


def _hold_shapes(
    data: NDArray[Any],
    offsets: NDArray[Any],
    filters: NDArray[Any],
    mask: NDArray[Any] | None,
    slide: Slide,
    groups: tuple[int, int],
) -> None:
    if any(array is not None and array.dtype != data.dtype for array in (offsets, filters, mask)):
        raise InputError(f"deformed filters: expected arrays of {data.dtype} only")
    if min(groups) < 1 or any(filters.shape[0] % n for n in groups) or data.shape[1] != filters.shape[1] * groups[0]:
        raise InputError(f"deformed filters: {list(filters.shape)} do not fit {list(data.shape)} in {groups} groups")
    places = groups[1] * filters.shape[2] * filters.shape[3]
    require_shape("deformed filters", "offsets", offsets.shape, (data.shape[0], places * 2, *slide.counts))
    if mask is not None:
        require_shape("deformed filters", "a mask", mask.shape, (data.shape[0], places, *slide.counts))


def _moved(slide: Slide, axis: int, step: int, moves: NDArray[Any]) -> NDArray[Any]:
    """Return the sampled position of a filter element per output element.

    Integers where the offsets are integers.
    """
    first = min(max(step * slide.dilations[axis] - slide.start[axis], -_FAR), _FAR)
    starts = first + np.arange(slide.counts[axis]) * slide.strides[axis]
    grid = np.broadcast_to(starts[:, None] if axis == 0 else starts, slide.counts).reshape(-1)
    if is_float(moves.dtype):
        result = np.clip(to_float64(moves), -_FAR, _FAR)
    else:
        small = np.clip(moves.astype(object), -_FAR, _FAR) if moves.dtype.itemsize > 4 else moves
        result = small.astype(np.int64)
    places: NDArray[Any] = grid + result
    return places


def _sampled(
    planes: NDArray[Any], y: NDArray[Any], x: NDArray[Any], zeros_around: bool | None, above: float
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return planes [channels, rows, columns] sampled at points.

    The result is [channels, points], and which points are undefined. above: positions up to it are outside.
    """
    rows, columns = planes.shape[1:]
    unclear = np.isnan(y) | np.isnan(x)
    y, x = np.where(unclear, -_FAR, y), np.where(unclear, -_FAR, x)
    near = (y > above) & (y < rows) & (x > above) & (x < columns)
    beyond = near & ((y < 0) | (y > rows - 1) | (x < 0) | (x > columns - 1))
    if zeros_around is None:
        unclear = unclear | beyond
    if not zeros_around:  # values are undocumented there
        y, x = np.where(near, np.clip(y, 0, rows - 1), -_FAR), np.where(near, np.clip(x, 0, columns - 1), -_FAR)
    top, left = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    down, across = y - top, x - left
    result = memory.empty((len(planes), len(y)), np.dtype(np.float64) if is_float(planes.dtype) else planes.dtype)
    result[...] = 0
    for row, column in product((0, 1), (0, 1)):
        weights = (down if row else 1 - down) * (across if column else 1 - across)
        at, to = top + row, left + column
        chosen = np.flatnonzero((weights != 0) & (at >= 0) & (at < rows) & (to >= 0) & (to < columns))
        if len(chosen):
            array = to_float64(planes[:, at[chosen], to[chosen]])
            result[:, chosen] += array * weights[chosen] if is_float(planes.dtype) else array
    return result, unclear
