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

__all__ = ["Tap", "columns_of_windows", "multiply_windows", "windows_from_columns"]

_FARTHEST = 2**32


def columns_of_windows(
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
    each = _column_places(inputs.shape[2:], window, strides, dilations, start_padding, end_padding)
    batch, channels = inputs.shape[:2]
    counts = [places.shape[1] for places in each]
    memory.hold((batch, channels * prod(window), prod(counts)), inputs.dtype)
    result = inputs
    for axis, places in enumerate(each):
        size = inputs.shape[axis + 2]
        at = 2 + 2 * axis
        met = (places >= 0) & (places < size)
        column = met.reshape(*met.shape, *(1,) * (result.ndim - at - 1))
        array = np.take(result, np.where(met, places, 0), at)
        result = np.where(column, array, np.zeros((), inputs.dtype))
    rank = len(each)
    order = (0, 1, *range(2, 2 + 2 * rank, 2), *range(3, 2 + 2 * rank, 2))
    return result.transpose(order).reshape(batch, channels * prod(window), prod(counts))


def windows_from_columns(
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
    `columns_of_windows`. Padding is dropped. Sums of integers of up to 16 bits are clamped to their type. accumulates:
    else all elements are 0.
    """
    shape = shape_of("fold", sizes)
    each = _column_places(shape[2:], window, strides, dilations, start_padding, end_padding)
    counts = [places.shape[1] for places in each]
    require_shape("fold", "columns", columns.shape, (shape[0], shape[1] * prod(window), prod(counts)))
    memory.hold(shape, columns.dtype)
    if not accumulates:
        return np.zeros(shape, columns.dtype)
    narrow = columns.dtype.kind in "iu" and columns.dtype.itemsize < 4
    wide = columns.astype(np.int64) if narrow else to_float64(columns)
    result = wide.reshape(*shape[:2], *window, *counts)
    rank = len(each)
    for axis, places in enumerate(each):  # the remaining window dimensions, and their slides
        of = np.moveaxis(result, (2 + axis, 2 + rank), (0, 1))
        whole = memory.empty((shape[axis + 2], *of.shape[2:]), result.dtype)
        whole[...] = 0
        for part, at in memory.in_time(zip(of, places, strict=True)):
            met = (at >= 0) & (at < len(whole))
            whole[at[met]] += part[met]
        result = np.moveaxis(whole, 0, 2 + axis)
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
    if rank < 1 or any(not 0 <= n < _FARTHEST for n in (*window, *strides, *dilations, *start, *end)) or 0 in strides:
        raise InputError("windows: expected strides above 0, and numbers from 0 to 2**32 - 1")
    items = []
    for size, length, step, gap, before, behind in zip(sizes, window, strides, dilations, start, end, strict=True):
        left = size + before + behind - gap * (length - 1) - 1
        if left < 0:
            raise InputError(f"windows: a window of {gap * (length - 1) + 1} exceeds the padded input of size {size}")
        memory.hold((length, left // step + 1), np.dtype(np.int64))
        first = np.arange(left // step + 1, dtype=np.int64) * step - before
        items.append(np.arange(length, dtype=np.int64)[:, np.newaxis] * gap + first)
    return items


#: Window elements written next to each other per block, and the maximum per row of the output.
_PRODUCT_BLOCK: Final = 2**18
_MOST: Final = 2**20
#: Multiplications per image and group below which batching over images is faster, one filter element after the other.
_FEW: Final = 2**18


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
    alone = channels == 1 and groups == outputs  # each output depends on one channel
    terms = channels if alone else channels * prod(window)
    work = outputs // groups * terms * height * prod(rest)
    if terms * prod(rest) > _MOST or not all(taps) or (not alone and batch * groups > 16 and work < _FEW):
        return None
    each = max(1, min(height, _PRODUCT_BLOCK // max(1, max(terms, outputs // groups) * prod(rest))))
    kind = np.dtype(np.float64 if inputs.dtype == np.float64 else np.float32)
    result = memory.empty(shape, kind)
    weights: NDArray[Any] = filters.astype(np.float64).reshape(
        groups, outputs // groups, terms if not alone else prod(window)
    )
    added: NDArray[Any] = np.zeros(outputs) if bias is None else bias.astype(np.float64).reshape(outputs)
    if alone:
        flat = all(tap.read.step == 1 for each in taps for tap in each)
        (_slide_flat if flat else _slide_alone)(inputs, weights.reshape(outputs, *window), added, result, taps)
        return result
    added = added.reshape(groups, -1, 1)
    room = memory.empty((terms * each * prod(rest),), np.dtype(np.float64))
    array = np.empty(outputs // groups * each * prod(rest))
    grouped = inputs.reshape(batch, groups, channels, *inputs.shape[2:])
    into = result.reshape(batch, groups, outputs // groups, *shape[2:])
    for first, at, group in memory.in_time(product(range(0, height, each), range(batch), range(groups))):
        rows = slice(first, min(first + each, height))
        places = (rows.stop - first, *rest)
        columns = room[: terms * prod(places)].reshape(channels, *window, *places)
        _write_windows(grouped[at, group], columns, rows, taps)
        total = array[: outputs // groups * prod(places)].reshape(outputs // groups, prod(places))
        multiply_matrices(weights[group], columns.reshape(terms, prod(places)), total)
        if bias is not None:
            total += added[group]
        into[at, group, :, rows] = total.reshape(outputs // groups, *places)
    return result


def _write_windows(data: NDArray[Any], columns: NDArray[Any], rows: slice, taps: Sequence[Sequence[Tap]]) -> None:
    """Write the windows of some rows into [channels, window…, rows, …].

    data: [channels, spatial…].
    """
    rank = len(taps)
    if any(len(each) < size for each, size in zip(taps, columns.shape[1 : 1 + rank], strict=True)):
        columns[...] = 0  # elements that read only padding
    for element in product(*taps):
        target = columns[_ALL + tuple(tap.element for tap in element)]
        served, read = _tap_slices(element[0], rows)
        if served.stop - served.start < 1:
            target[...] = 0
            continue
        inside: tuple[Any, ...] = (slice(None), served, *(tap.served for tap in element[1:]))
        part = target[inside]
        if part.size < target.size:
            target[...] = 0
        part[...] = data[(slice(None), read, *(tap.read for tap in element[1:]))]


def _tap_slices(tap: Tap, rows: slice) -> tuple[slice, slice]:
    """Return the output rows of a tap, relative to the first, and its reads."""
    first, last = max(tap.served.start, rows.start), min(tap.served.stop, rows.stop)
    step = tap.read.step or 1
    begin = tap.read.start + (first - tap.served.start) * step
    return slice(first - rows.start, last - rows.start), slice(begin, begin + (last - first - 1) * step + 1, step)


def _slide_alone(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    added: NDArray[Any],
    result: NDArray[Any],
    taps: Sequence[Sequence[Tap]],
) -> None:
    """Write depthwise sums, a few terms without matrix products.

    weights: [channels, window…]. added: [channels].
    """
    places = result.shape[2:]
    many = _channels_at_once(result, places)
    room, total, part = (np.empty((many, *sizes)) for sizes in (inputs.shape[2:], places, places))
    column = (-1, *(1,) * len(taps))
    for at, some, count in _channels(result, many):
        room[:count], total[:count] = inputs[at, some], added[some].reshape(column)
        for element in memory.in_time(product(*taps)):
            at_tap: tuple[Any, ...] = (some, *(tap.element for tap in element))
            factor = weights[at_tap].reshape(column)
            served: tuple[Any, ...] = (slice(count), *(tap.served for tap in element))
            read = room[(slice(count), *(tap.read for tap in element))]
            np.add(total[served], np.multiply(read, factor, out=part[served]), out=total[served])
        result[at, some] = total[:count]


def _slide_flat(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    added: NDArray[Any],
    result: NDArray[Any],
    taps: Sequence[Sequence[Tap]],
) -> None:
    """Write `_slide_alone` for strides of 1 on a flat padded array.

    Each filter element reads one contiguous run. Rows of the sums are as long as padded rows; the excess is not used.
    """
    places = result.shape[2:]
    offsets = [[tap.read.start - tap.served.start for tap in each] for each in taps]
    low = [min(each) for each in offsets]
    padded = [size + max(each) - least for size, each, least in zip(places, offsets, low, strict=True)]
    each_step = [prod(padded[axis + 1 :]) for axis in range(len(padded))]
    length = sum((size - 1) * step for size, step in zip(places, each_step, strict=True)) + 1
    inside = tuple(
        slice(max(0, -least), min(size, n - least))
        for least, size, n in zip(low, padded, inputs.shape[2:], strict=True)
    )
    read = tuple(
        slice(max(0, least), min(size, n - least) + least)
        for least, size, n in zip(low, padded, inputs.shape[2:], strict=True)
    )
    many = _channels_at_once(result, padded)
    room, total, part = np.zeros((many, *padded)), np.empty((many, *padded)), np.empty((many, length))
    for at, some, count in _channels(result, many):
        room[(slice(count), *inside)] = inputs[at, some][_ALL + read]
        flat, sums = room.reshape(many, -1)[:count], total.reshape(many, -1)[:count, :length]
        sums[...] = added[some, np.newaxis]
        pairs = product(*(zip(each, offset, strict=True) for each, offset in zip(taps, offsets, strict=True)))
        for element in memory.in_time(pairs):
            begin = sum(
                (offset - least) * step for (_, offset), least, step in zip(element, low, each_step, strict=True)
            )
            at_tap: tuple[Any, ...] = (some, *(tap.element for tap, _ in element))
            factor = weights[at_tap][:, np.newaxis]
            sums += np.multiply(flat[:, begin : begin + length], factor, out=part[:count])
        result[at, some] = total[(slice(count), *(slice(size) for size in places))]


def _channels_at_once(result: NDArray[Any], places: Sequence[int]) -> int:
    return max(1, min(int(result.shape[1]), _PRODUCT_BLOCK // 8 // max(1, prod(places))))


def _channels(result: NDArray[Any], many: int) -> Iterator[tuple[int, slice, int]]:
    """Yield each image, at most `many` channels, and their number."""
    for at, first in memory.in_time(product(range(result.shape[0]), range(0, result.shape[1], many))):
        some = slice(first, min(first + many, result.shape[1]))
        yield at, some, some.stop - first
