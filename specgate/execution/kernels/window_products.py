"""im2col and col2im (unfold and fold), and convolution by matrix products.

DirectML FOLD, UNFOLD.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, same_length, shape_of, to_float64
from specgate.execution.kernels.matmul import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

_LIMIT = 2**32


def unfold(
    inputs: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
) -> NDArray[Any]:
    """Return [batch, channels * window elements, windows] (im2col).

    inputs: [batch, channels, spatial…]. Padding is 0.
    """
    axis_places = _column_places(inputs.shape[2:], window, strides, dilations, start_padding, end_padding)
    batch, channels = inputs.shape[:2]
    counts = [places.shape[1] for places in axis_places]
    memory.check_budget((batch, channels * prod(window), prod(counts)), inputs.dtype)
    result = inputs
    for axis, places in enumerate(axis_places):
        size = inputs.shape[axis + 2]
        axis_number = 2 + 2 * axis
        in_input = (places >= 0) & (places < size)
        column = in_input.reshape(*in_input.shape, *(1,) * (result.ndim - axis_number - 1))
        array = np.take(result, np.where(in_input, places, 0), axis_number)
        result = np.where(column, array, np.zeros((), inputs.dtype))
    rank = len(axis_places)
    order = (0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 2 + 2 * rank, 2))
    return result.transpose(order).reshape(batch, channels * prod(window), prod(counts))


def fold_columns(
    columns: NDArray[Any],
    *,
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    accumulates: bool = True,
) -> NDArray[Any]:
    """Return an array of `sizes` with the windows added back (col2im).

    sizes: [batch, channels, spatial…]. columns: [batch, channels * window elements, windows], as from
    `unfold`. Padding is dropped. Sums of integers of up to 16 bits are clamped to their type. accumulates:
    else all elements are 0.
    """
    shape = shape_of("fold", sizes)
    axis_places = _column_places(shape[2:], window, strides, dilations, start_padding, end_padding)
    counts = [places.shape[1] for places in axis_places]
    require_shape("fold", "columns", columns.shape, (shape[0], shape[1] * prod(window), prod(counts)))
    memory.check_budget(shape, columns.dtype)
    if not accumulates:
        return np.zeros(shape, columns.dtype)
    narrow = columns.dtype.kind in "iu" and columns.dtype.itemsize < 4
    wide_columns = columns.astype(np.int64) if narrow else to_float64(columns)
    result = wide_columns.reshape(*shape[:2], *window, *counts)
    rank = len(axis_places)
    for axis, places in enumerate(axis_places):  # the remaining window dimensions, and their slides
        target_view = np.moveaxis(result, (2 + axis, 2 + rank), (0, 1))
        padded_inputs = memory.empty((shape[axis + 2], *target_view.shape[2:]), result.dtype)
        padded_inputs[...] = 0
        for part, target_places in memory.within_time_limit(zip(target_view, places, strict=True)):
            in_input = (target_places >= 0) & (target_places < len(padded_inputs))
            padded_inputs[target_places[in_input]] += part[in_input]
        result = np.moveaxis(padded_inputs, 0, 2 + axis)
    if narrow:
        limits = np.iinfo(columns.dtype)
        result = np.clip(result, limits.min, limits.max)
    return round_to(result, columns.dtype)


def _column_places(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    start: Sequence[int],
    end: Sequence[int],
) -> list[NDArray[np.int64]]:
    """Return the position of each window element along each dimension.

    Shape: [window elements, windows].
    """
    rank = len(sizes)
    same_length("windows", rank, windows=window, strides=strides, dilations=dilations)
    same_length("windows", rank, **{"start paddings": start, "end paddings": end})
    if rank < 1 or any(not 0 <= n < _LIMIT for n in (*window, *strides, *dilations, *start, *end)) or 0 in strides:
        raise InputError("windows: expected strides above 0, and numbers from 0 to 2**32 - 1")
    items = []
    for size, length, step, gap, before, pad_after in zip(sizes, window, strides, dilations, start, end, strict=True):
        left = size + before + pad_after - gap * (length - 1) - 1
        if left < 0:
            raise InputError(f"windows: a window of {gap * (length - 1) + 1} exceeds the padded input of size {size}")
        memory.check_budget((length, left // step + 1), np.dtype(np.int64))
        first = np.arange(left // step + 1, dtype=np.int64) * step - before
        items.append(np.arange(length, dtype=np.int64)[:, np.newaxis] * gap + first)
    return items


#: Window elements written next to each other per block, and the maximum per row of the output.
_PRODUCT_BLOCK: Final = 2**18
_MAX_BLOCK: Final = 2**20
#: Multiplications per image and group below which batching over images is faster, one filter element after the other.
_MIN_WORK: Final = 2**18


_ALL: Final[tuple[Any, ...]] = (slice(None),)


class Tap(NamedTuple):
    """A filter element along one dimension.

    The output positions that it contributes to, and the input positions that it reads.
    """

    element: int
    served: slice
    read: slice


def multiply_windows(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    bias: NDArray[Any] | None,
    shape: tuple[int, ...],
    taps: Sequence[Sequence[Tap]],
    groups: int,
) -> NDArray[Any] | None:
    """Return a float convolution computed in float64, or None.

    The result has this shape and is rounded to float32 unless it is float64. taps: of each spatial dimension. bias: one
    per output channel. None where a row of the output has too many terms, or there are many small products.
    """
    batch, outputs, height, *rest = shape
    channels, window = filters.shape[1], filters.shape[2:]
    is_depthwise = channels == 1 and groups == outputs  # each output depends on one channel
    terms = channels if is_depthwise else channels * prod(window)
    work = outputs // groups * terms * height * prod(rest)
    if (
        terms * prod(rest) > _MAX_BLOCK
        or not all(taps)
        or (not is_depthwise and batch * groups > 16 and work < _MIN_WORK)
    ):
        return None
    step = max(1, min(height, _PRODUCT_BLOCK // max(1, max(terms, outputs // groups) * prod(rest))))
    kind = np.dtype(np.float64 if inputs.dtype == np.float64 else np.float32)
    result = memory.empty(shape, kind)
    weights: NDArray[Any] = filters.astype(np.float64).reshape(
        groups, outputs // groups, terms if not is_depthwise else prod(window)
    )
    bias_array: NDArray[Any] = np.zeros(outputs) if bias is None else bias.astype(np.float64).reshape(outputs)
    if is_depthwise:
        flat = all(tap.read.step == 1 for axis_taps in taps for tap in axis_taps)
        (_slide_flat if flat else _slide_depthwise)(inputs, weights.reshape(outputs, *window), bias_array, result, taps)
        return result
    bias_array = bias_array.reshape(groups, -1, 1)
    workspace = memory.empty((terms * step * prod(rest),), np.dtype(np.float64))
    array = np.empty(outputs // groups * step * prod(rest))
    grouped = inputs.reshape(batch, groups, channels, *inputs.shape[2:])
    result_view = result.reshape(batch, groups, outputs // groups, *shape[2:])
    for first, batch_index, group in memory.within_time_limit(
        product(range(0, height, step), range(batch), range(groups))
    ):
        rows = slice(first, min(first + step, height))
        places = (rows.stop - first, *rest)
        columns = workspace[: terms * prod(places)].reshape(channels, *window, *places)
        _write_windows(grouped[batch_index, group], columns, rows, taps)
        total = array[: outputs // groups * prod(places)].reshape(outputs // groups, prod(places))
        multiply_matrices(weights[group], columns.reshape(terms, prod(places)), total)
        if bias is not None:
            total += bias_array[group]
        result_view[batch_index, group, :, rows] = total.reshape(outputs // groups, *places)
    return result


def _write_windows(data: NDArray[Any], columns: NDArray[Any], rows: slice, taps: Sequence[Sequence[Tap]]) -> None:
    """Write the windows of some rows into [channels, window…, rows, …].

    data: [channels, spatial…].
    """
    rank = len(taps)
    if any(len(axis_taps) < size for axis_taps, size in zip(taps, columns.shape[1 : 1 + rank], strict=True)):
        columns[...] = 0  # elements that read only padding
    for element in product(*taps):
        target = columns[_ALL + tuple(tap.element for tap in element)]
        served, source_slice = _tap_slices(element[0], rows)
        if served.stop - served.start < 1:
            target[...] = 0
            continue
        target_slices: tuple[Any, ...] = (slice(None), served, *(tap.served for tap in element[1:]))
        part = target[target_slices]
        if part.size < target.size:
            target[...] = 0
        part[...] = data[(slice(None), source_slice, *(tap.read for tap in element[1:]))]


def _tap_slices(tap: Tap, rows: slice) -> tuple[slice, slice]:
    """Return the output rows of a tap, relative to the first, and its reads."""
    first, last = max(tap.served.start, rows.start), min(tap.served.stop, rows.stop)
    step = tap.read.step or 1
    begin = tap.read.start + (first - tap.served.start) * step
    return slice(first - rows.start, last - rows.start), slice(begin, begin + (last - first - 1) * step + 1, step)


def _slide_depthwise(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    bias_array: NDArray[Any],
    result: NDArray[Any],
    taps: Sequence[Sequence[Tap]],
) -> None:
    """Write depthwise sums, a few terms without matrix products.

    weights: [channels, window…]. bias_array: [channels].
    """
    places = result.shape[2:]
    chunk_size = _channels_at_once(result, places)
    workspace, total, part = (np.empty((chunk_size, *sizes)) for sizes in (inputs.shape[2:], places, places))
    column = (-1, *(1,) * len(taps))
    for image_index, chunk, count in _channels(result, chunk_size):
        workspace[:count], total[:count] = inputs[image_index, chunk], bias_array[chunk].reshape(column)
        for element in memory.within_time_limit(product(*taps)):
            at_tap: tuple[Any, ...] = (chunk, *(tap.element for tap in element))
            factor = weights[at_tap].reshape(column)
            served: tuple[Any, ...] = (slice(count), *(tap.served for tap in element))
            source_view = workspace[(slice(count), *(tap.read for tap in element))]
            np.add(total[served], np.multiply(source_view, factor, out=part[served]), out=total[served])
        result[image_index, chunk] = total[:count]


def _slide_flat(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    bias_array: NDArray[Any],
    result: NDArray[Any],
    taps: Sequence[Sequence[Tap]],
) -> None:
    """Write `_slide_depthwise` for strides of 1 on a flat padded array.

    Each filter element reads one contiguous run. Rows of the sums are as long as padded rows; the excess is not used.
    """
    places = result.shape[2:]
    offsets = [[tap.read.start - tap.served.start for tap in axis_taps] for axis_taps in taps]
    low = [min(axis_offsets) for axis_offsets in offsets]
    padded = [size + max(axis_offsets) - least for size, axis_offsets, least in zip(places, offsets, low, strict=True)]
    each_step = [prod(padded[axis + 1 :]) for axis in range(len(padded))]
    length = sum((size - 1) * step for size, step in zip(places, each_step, strict=True)) + 1
    target_slices = tuple(
        slice(max(0, -least), min(size, n - least))
        for least, size, n in zip(low, padded, inputs.shape[2:], strict=True)
    )
    source_slices = tuple(
        slice(max(0, least), min(size, n - least) + least)
        for least, size, n in zip(low, padded, inputs.shape[2:], strict=True)
    )
    chunk_size = _channels_at_once(result, padded)
    workspace, total, part = (
        np.zeros((chunk_size, *padded)),
        np.empty((chunk_size, *padded)),
        np.empty((chunk_size, length)),
    )
    for image_index, chunk, count in _channels(result, chunk_size):
        workspace[(slice(count), *target_slices)] = inputs[image_index, chunk][_ALL + source_slices]
        flat, sums = workspace.reshape(chunk_size, -1)[:count], total.reshape(chunk_size, -1)[:count, :length]
        sums[...] = bias_array[chunk, np.newaxis]
        pairs = product(*(zip(axis_taps, offset, strict=True) for axis_taps, offset in zip(taps, offsets, strict=True)))
        for element in memory.within_time_limit(pairs):
            begin = sum(
                (offset - least) * step for (_, offset), least, step in zip(element, low, each_step, strict=True)
            )
            at_tap: tuple[Any, ...] = (chunk, *(tap.element for tap, _ in element))
            factor = weights[at_tap][:, np.newaxis]
            sums += np.multiply(flat[:, begin : begin + length], factor, out=part[:count])
        result[image_index, chunk] = total[(slice(count), *(slice(size) for size in places))]


def _channels_at_once(result: NDArray[Any], places: Sequence[int]) -> int:
    return max(1, min(int(result.shape[1]), _PRODUCT_BLOCK // 8 // max(1, prod(places))))


def _channels(result: NDArray[Any], chunk_size: int) -> Iterator[tuple[int, slice, int]]:
    """Yield each image, at most `chunk_size` channels, and their number."""
    for image_index, first in memory.within_time_limit(
        product(range(result.shape[0]), range(0, result.shape[1], chunk_size))
    ):
        chunk = slice(first, min(first + chunk_size, result.shape[1]))
        yield image_index, chunk, chunk.stop - first
