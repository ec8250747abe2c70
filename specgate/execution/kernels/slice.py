"""Slice, tile, crop, reverse, roll, depth to space, compress, max unpool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, same_length, shape_of
from specgate.execution.kernels.narrow_types import zero_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Up to this block size each position of a block is written separately.
_MAX_SMALL_BLOCK: Final = 8


def slice_counted(
    inputs: NDArray[Any], *, first: Sequence[int], counts: Sequence[int], steps: Sequence[int]
) -> NDArray[Any]:
    """Return `counts` elements per dimension from `first`, `steps` apart.

    A step of 0 repeats one element.
    """
    same_length("slice", inputs.ndim, **{"first places": first, "counts": counts, "steps": steps})
    shape = shape_of("slice", counts)
    for size, start, count, step in zip(inputs.shape, first, shape, steps, strict=True):
        last = start + (count - 1) * step
        if not (0 <= start < size and 0 <= last < size):
            raise InputError(f"slice: elements {start} to {last} are not all within size {size}")
    result = memory.empty(shape, inputs.dtype)
    if inputs.size:
        begin = inputs[tuple(slice(start, None) for start in first)]
        strides = [step * stride for step, stride in zip(steps, inputs.strides, strict=True)]
        strides = [stride if count > 1 else 0 for stride, count in zip(strides, shape, strict=True)]
        result[...] = np.lib.stride_tricks.as_strided(begin, shape, strides)
    return result


def slice_window(
    inputs: NDArray[Any],
    *,
    offsets: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
    counts: Sequence[int],
) -> NDArray[Any]:
    """Return `counts` elements per dimension of a window, `steps` apart.

    offsets, sizes: of the window. A negative step starts at the window's last position.
    """
    first = _first_places(inputs.shape, offsets, sizes, steps, counts)
    return slice_counted(inputs, first=first, counts=counts, steps=steps)


def slice_gradient(
    values: NDArray[Any],
    *,
    shape: Sequence[int],
    offsets: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
) -> NDArray[Any]:
    """Return zeros of `shape` with `values` where `slice_window` would read.

    This is the gradient of the slice.
    """
    target = shape_of("slice", shape)
    same_length("slice", values.ndim, sizes=target)
    first = _first_places(target, offsets, sizes, steps, values.shape)
    result = memory.empty(target, values.dtype)
    result[...] = zero_of("slice", values.dtype)
    places = zip(first, values.shape, steps, strict=True)
    result[np.ix_(*(start + step * np.arange(count) for start, count, step in places))] = values
    return result


def _first_places(
    shape: Sequence[int], offsets: Sequence[int], sizes: Sequence[int], steps: Sequence[int], counts: Sequence[int]
) -> list[int]:
    """Return the start of windowed slices along each dimension of `shape`."""
    same_length("slice", len(shape), offsets=offsets, sizes=sizes, steps=steps, counts=counts)
    first = []
    for place, offset, size, step, count in zip(shape, offsets, sizes, steps, counts, strict=True):
        if size < 1 or offset < 0 or offset + size > place:
            raise InputError(f"slice: a window of {size} at offset {offset} exceeds size {place}")
        if step == 0 or count > 1 + (size - 1) // abs(step):
            raise InputError(f"slice: {count} elements, {step} apart, exceed a window of {size}")
        first.append(offset if step > 0 else offset + size - 1)
    return first


def tile(inputs: NDArray[Any], *, repeats: Sequence[int]) -> NDArray[Any]:
    """Return `inputs` repeated along each dimension."""
    same_length("tile", inputs.ndim, repeats=repeats)
    if any(count < 1 for count in repeats):
        raise InputError(f"tile: expected repeats above 0, found {list(repeats)}")
    result = memory.empty(tuple(a * b for a, b in zip(inputs.shape, repeats, strict=True)), inputs.dtype)
    pairs = [n for pair in zip(repeats, inputs.shape, strict=True) for n in pair]
    result.reshape(pairs)[...] = inputs.reshape([n for size in inputs.shape for n in (1, size)])
    return result


def reverse_subsequences(
    inputs: NDArray[Any], lengths: NDArray[Any], *, axis: int, clamped: bool = True
) -> NDArray[Any]:
    """Return `inputs` with the start of each sequence along `axis` reversed.

    lengths: of the shape of `inputs` with size 1 along `axis`, clamped to the size. Unless clamped, their low 32 bits
    are used as they are, and positions after the last element read the last element.
    """
    check_axis(axis, inputs.ndim, "reverse_subsequences")
    require_shape(
        "reverse_subsequences", "lengths", lengths.shape, (*inputs.shape[:axis], 1, *inputs.shape[axis + 1 :])
    )
    size = inputs.shape[axis]
    counts = (np.minimum(lengths, size) if clamped else lengths.astype(np.uint32)).astype(np.int64)
    places = np.arange(size, dtype=np.int64).reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
    reversed_places = np.minimum(counts - 1 - places, size - 1)
    return np.take_along_axis(inputs, np.where(places < counts, reversed_places, places), axis)


def depth_to_space(inputs: NDArray[Any], *, block: int, channel_first: bool = False) -> NDArray[Any]:
    """Return depth to space of [batch, channels, height, width].

    channel_first: channel-major (CRD), else depth-major (DCR) order.
    """
    batch, depth, height, width = _four(inputs, block)
    if depth % block**2:
        raise InputError(f"depth_to_space: {depth} channels are not a multiple of {block}**2")
    channels = depth // block**2
    split = (channels, block, block) if channel_first else (block, block, channels)
    parts = inputs.reshape(batch, *split, height, width)
    order = (0, 1, 4, 2, 5, 3) if channel_first else (0, 3, 4, 1, 5, 2)
    transposed = parts.transpose(order)
    if block > _MAX_SMALL_BLOCK:
        return transposed.reshape(batch, channels, height * block, width * block)
    result = memory.empty(transposed.shape, inputs.dtype)
    for row, column in np.ndindex(block, block):  # whole rows at a time, where numpy would go from block to block
        result[:, :, :, row, :, column] = transposed[:, :, :, row, :, column]
    return result.reshape(batch, channels, height * block, width * block)


def space_to_depth(inputs: NDArray[Any], *, block: int, channel_first: bool = False) -> NDArray[Any]:
    """Return space to depth of [batch, channels, height, width].

    channel_first: the channel varies slower in the depth than the position in the block.
    """
    batch, channels, height, width = _four(inputs, block)
    if height % block or width % block:
        raise InputError(f"space_to_depth: {height} x {width} is not a multiple of {block}")
    parts = inputs.reshape(batch, channels, height // block, block, width // block, block)
    order = (0, 1, 3, 5, 2, 4) if channel_first else (0, 3, 5, 1, 2, 4)
    return parts.transpose(order).reshape(batch, channels * block**2, height // block, width // block)


def _four(inputs: NDArray[Any], block: int) -> tuple[int, int, int, int]:
    if inputs.ndim != 4 or block < 1:
        raise InputError(f"expected 4 dimensions and a block size above 0, found {inputs.ndim} and {block}")
    batch, channels, height, width = inputs.shape
    return batch, channels, height, width


def strided_slice(
    inputs: NDArray[Any],
    begin: NDArray[Any],
    end: NDArray[Any],
    stride: NDArray[Any] | None = None,
    *,
    begin_mask: Sequence[int],
    end_mask: Sequence[int],
    new_axis_mask: Sequence[int] | None = None,
    shrink_axis_mask: Sequence[int] | None = None,
    ellipsis_mask: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return a strided slice with masks, as in OpenVINO StridedSlice.

    A 1 in begin_mask or end_mask ignores that bound; in new_axis_mask it inserts a dimension of size 1, in
    shrink_axis_mask it selects the element at begin and drops the dimension, in ellipsis_mask it covers all remaining
    dimensions. Masks are padded with zeros. Negative numbers count from the end.
    """
    count = begin.size
    if begin.shape != end.shape or begin.ndim != 1 or (stride is not None and stride.shape != begin.shape):
        raise InputError("slice: expected begins, ends and strides of the same length")
    steps = [1] * count if stride is None else stride.tolist()
    if 0 in steps:
        raise InputError("slice: expected strides other than 0")
    masks = [_bits(mask, count) for mask in (begin_mask, end_mask, new_axis_mask, shrink_axis_mask, ellipsis_mask)]
    without_begin, without_end, new, shrunk, dots = masks
    if sum(dots) > 1:
        raise InputError("slice: expected at most one ellipsis")
    if any(a + b + c > 1 for a, b, c in zip(new, shrunk, dots, strict=True)):
        raise NoKernel("slice: it is unspecified what a position in two masks means")
    used_count = count - sum(new) - sum(dots)
    if used_count > inputs.ndim:
        raise InputError(f"slice: {used_count} slice positions exceed rank {inputs.ndim}")
    index: list[Any] = []
    axis = 0
    for position in range(count):
        if new[position]:
            index.append(np.newaxis)
        elif dots[position]:
            index.append(Ellipsis)
            axis += inputs.ndim - used_count
        elif shrunk[position]:
            index.append(_clamp_position(int(begin[position]), inputs.shape[axis]))
            axis += 1
        else:
            first = None if without_begin[position] else int(begin[position])
            last = None if without_end[position] else int(end[position])
            index.append(_range(first, last, steps[position], inputs.shape[axis]))
            axis += 1
    return np.asarray(inputs[tuple(index)]).copy()


def slice_scatter(
    inputs: NDArray[Any],
    updates: NDArray[Any],
    start: NDArray[Any],
    stop: NDArray[Any],
    step: NDArray[Any],
    axes: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return `inputs` with `updates` written to a slice (SliceScatter).

    The slice is [start, stop) by step along axes. axes: default the first dimensions, one per start; negative ones
    count from the end.
    """
    if not start.shape == stop.shape == step.shape or start.ndim != 1 or start.size > inputs.ndim:
        raise InputError("slice: expected starts, ends and steps of the same length, at most the rank of the input")
    dims = list(range(start.size)) if axes is None else axes.tolist()
    if len(dims) != start.size or any(not -inputs.ndim <= axis < inputs.ndim for axis in dims):
        raise InputError(f"slice: expected one axis per start, in range for rank {inputs.ndim}, found {dims!r:.80}")
    places = [axis % inputs.ndim for axis in dims]
    if len(set(places)) != len(places) or 0 in step.tolist():
        raise InputError("slice: expected distinct axes, and steps other than 0")
    index = [slice(None)] * inputs.ndim
    for axis, first, last, increment in zip(places, start.tolist(), stop.tolist(), step.tolist(), strict=True):
        index[axis] = _range(first, last, increment, inputs.shape[axis])
    result = inputs.copy()
    require_shape("slice", "updates", updates.shape, result[tuple(index)].shape)
    if updates.dtype != inputs.dtype:
        raise InputError(f"slice: expected updates of type {inputs.dtype}, found {updates.dtype}")
    result[tuple(index)] = updates
    return result


def _bits(mask: Sequence[int] | None, count: int) -> list[int]:
    bits = list(mask or ())[:count]
    if any(bit not in {0, 1} for bit in bits):
        raise InputError("slice: expected masks of 0 and 1")
    return bits + [0] * (count - len(bits))


def _clamp_position(position: int, size: int) -> int:
    if not -size <= position < size:
        raise InputError(f"slice: {position} is out of range for size {size}")
    return position


def _range(first: int | None, last: int | None, step: int, size: int) -> slice:
    """Return a numpy slice; a negative position before the start stays before."""
    if last is not None and step < 0 and last < -size:
        last = None
    step = max(-size - 1, min(step, size + 1))  # numpy positions have 64 bits, and anything beyond the size is equal
    return slice(first, last, step)


def compress(inputs: NDArray[Any], condition: NDArray[Any], *, axis: int | None = None) -> NDArray[Any]:
    """Return slices along `axis` where the condition is true (Compress).

    Without an axis, elements in row-major order. condition: 1-D booleans, possibly shorter than the axis; slices after
    its end are dropped.
    """
    if condition.ndim != 1 or not inputs.ndim:
        raise InputError("compress: expected a 1-D bool condition and an input of rank 1 or more")
    if axis is None:
        data, place = inputs.reshape(-1), 0
    else:
        data, place = inputs, axis + inputs.ndim if axis < 0 else axis
        check_axis(place, inputs.ndim, "compress")
    places = np.flatnonzero(condition)
    if places.size and places[-1] >= data.shape[place]:
        raise NoKernel("compress: true conditions beyond the last slice are unspecified")
    memory.check_budget((*data.shape[:place], len(places), *data.shape[place + 1 :]), data.dtype)
    return np.take(data, places, place)


def center_crop_pad(inputs: NDArray[Any], shape: NDArray[Any], *, axes: Sequence[int] | None = None) -> NDArray[Any]:
    """Return `inputs` center-cropped or zero-padded to sizes along axes.

    axes: default all. Of an odd difference the larger part is at the end.
    """
    axis_numbers = list(range(inputs.ndim)) if axes is None else [a + inputs.ndim if a < 0 else a for a in axes]
    numbers = [int(size) for size in shape.reshape(-1)]
    if shape.ndim != 1 or len(numbers) != len(axis_numbers) or len(set(axis_numbers)) != len(axis_numbers):
        raise InputError(f"center_crop_pad: expected one size per axis of {axis_numbers!r:.60}, found {len(numbers)}")
    if any(not 0 <= axis < inputs.ndim for axis in axis_numbers) or min(numbers, default=0) < 0:
        raise InputError(
            f"center_crop_pad: invalid sizes {numbers!r:.60} or axes {axis_numbers!r:.60} for rank {inputs.ndim}"
        )
    padded_shape = list(inputs.shape)
    source, target = [slice(None)] * inputs.ndim, [slice(None)] * inputs.ndim
    for axis, size in zip(axis_numbers, numbers, strict=True):
        old, padded_shape[axis] = inputs.shape[axis], size
        first = abs(old - size) // 2
        (source if old > size else target)[axis] = slice(first, first + min(old, size))
    result = memory.empty(tuple(padded_shape), inputs.dtype)
    if result.size > inputs.size or any(part != slice(None) for part in target):
        result[...] = zero_of("center_crop_pad", inputs.dtype)
    result[tuple(target)] = inputs[tuple(source)]
    return result


def tensor_scatter(
    buffer: NDArray[Any],
    update: NDArray[Any],
    first: NDArray[Any] | None = None,
    *,
    axis: int,
    mode: str = "linear",
) -> NDArray[Any]:
    """Return `buffer` with `update` written along `axis` (TensorScatter).

    first: [batch], start per batch (dimension 0), default 0. mode: linear, where all must fit, or circular, which wraps
    around.
    """
    place = axis + buffer.ndim if axis < 0 else axis
    check_axis(place, buffer.ndim, "cache")
    if not place or mode not in {"linear", "circular"} or update.ndim != buffer.ndim or update.dtype != buffer.dtype:
        raise InputError(
            "cache: expected an update of the cache's type and rank, and an axis other than the batch, found mode "
            f"{mode!r:.30}"
        )
    count, length = update.shape[place], buffer.shape[place]
    require_shape("cache", "an update", update.shape, (*buffer.shape[:place], count, *buffer.shape[place + 1 :]))
    if count > length:
        raise InputError(f"cache: {count} new positions do not fit into a cache of {length}")
    begins = np.zeros(len(buffer), np.int64) if first is None else first
    require_shape("cache", "first places", begins.shape, buffer.shape[:1])
    if mode == "circular":
        begins = begins % max(1, length)
    elif begins.size and (int(begins.min()) < 0 or int(begins.max()) + count > length):
        raise InputError(
            f"cache: {count} new positions from {int(begins.max())} on do not fit into a cache of {length}"
        )
    result = memory.empty(buffer.shape, buffer.dtype)
    result[...] = buffer
    if not length:
        return result
    positions = (begins[:, None] + np.arange(count)) % length
    moved_result, new = np.moveaxis(result, place, 1), np.moveaxis(update, place, 1)
    moved_result[np.arange(len(buffer))[:, None], positions] = new
    return result


def max_unpool(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    shape: NDArray[Any] | None = None,
    *,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return zeros with `inputs` at their pooled indices (MaxUnpool).

    inputs: [batch, channels, spatial…]. indices: of the shape of `inputs`, flat row-major positions in the smallest
    array that pools to the inputs. shape: of the result, default that array's; with larger spatial sizes that array is
    at the start. Of several elements at one index the last one wins.
    """
    rank = inputs.ndim - 2
    steps, pad_list = list(strides or [1] * rank), list(pads or [0] * (2 * rank))
    require_shape("max_unpooling", "places", indices.shape, inputs.shape)
    if rank < 1 or len(window) != rank or len(steps) != rank or len(pad_list) != 2 * rank:
        raise InputError(f"max_unpooling: expected {rank} window sizes and strides, and {2 * rank} pads")
    if min(*window, *steps) < 1 or min(pad_list) < 0:
        raise InputError("max_unpooling: expected window sizes and strides above 0, and pads of at least 0")
    sides = zip(inputs.shape[2:], steps, window, pad_list[:rank], pad_list[rank:], strict=True)
    least = (*inputs.shape[:2], *((n - 1) * step + k - a - b for n, step, k, a, b in sides))
    result_sizes = least if shape is None else tuple(int(n) for n in shape.reshape(-1))
    if len(result_sizes) != inputs.ndim or min(least) < 0 or min(result_sizes) < 0:
        raise InputError(f"max_unpooling: the output cannot have the shape {list(result_sizes)!r:.60}")
    result = memory.empty(least, inputs.dtype)
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= result.size):
        raise NoKernel(f"max_unpooling: it is unspecified what an index outside the {result.size} elements means")
    result[...] = 0
    result.reshape(-1)[indices.reshape(-1)] = inputs.reshape(-1)
    if result_sizes == least:
        return result
    if any(n < m for n, m in zip(result_sizes, least, strict=True)):
        raise NoKernel(
            f"max_unpooling: it is unspecified how an output of shape {list(result_sizes)} contains {list(least)}"
        )
    larger = memory.empty(result_sizes, inputs.dtype)
    larger[...] = 0
    larger[tuple(slice(n) for n in least)] = result
    return larger


def reverse_axes(inputs: NDArray[Any], axes: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` reversed along axes.

    axes: indices, or a boolean per dimension. An axis that is listed twice is reversed once.
    """
    if axes.ndim != 1:
        raise InputError(f"reverse: expected 1-D axes, found rank {axes.ndim}")
    if axes.dtype.kind == "b":
        require_shape("reverse", "one bool per dimension", axes.shape, (inputs.ndim,))
        axis_numbers = np.flatnonzero(axes).tolist()
    else:
        axis_numbers = axes.tolist()
    for axis in axis_numbers:
        check_axis(axis, inputs.ndim, "reverse")
    return np.flip(inputs, tuple(set(axis_numbers))).copy() if axis_numbers else inputs.copy()


def roll_axes(inputs: NDArray[Any], shift: NDArray[Any], axes: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` with elements shifted cyclically along each axis.

    axes: negative ones count from the end; shifts of one axis add up. One shift may apply to all axes.
    """
    shifts, places = shift.reshape(-1).tolist(), axes.reshape(-1).tolist()
    if len(shifts) == 1:
        shifts *= len(places)
    if len(shifts) != len(places):
        raise InputError(f"roll: expected one shift per axis ({len(places)}), found {len(shifts)}")
    total = [0] * inputs.ndim
    for distance, axis in zip(shifts, places, strict=True):
        axis_number = axis + inputs.ndim if axis < 0 else axis
        check_axis(axis_number, inputs.ndim, "roll")
        total[axis_number] += distance
    result = inputs.copy()
    for axis, (distance, size) in enumerate(zip(total, inputs.shape, strict=True)):
        if size and distance % size:
            result = np.roll(result, distance % size, axis)
    return result


def reverse_sequence(inputs: NDArray[Any], lengths: NDArray[Any], *, time_axis: int, batch_axis: int) -> NDArray[Any]:
    """Return `inputs` with the first `lengths` time steps reversed per batch.

    lengths: [size of batch_axis], integral, from 1 to the size of time_axis, of any numeric type.
    """
    check_axis(time_axis, inputs.ndim, "reverse")
    check_axis(batch_axis, inputs.ndim, "reverse")
    require_shape("reverse", "lengths", lengths.shape, (inputs.shape[batch_axis],))
    steps = inputs.shape[time_axis]
    if time_axis == batch_axis:
        raise NoKernel(f"reverse: expected different sequence and batch axes, found {time_axis} for both")
    numbers = lengths.astype(np.float64)
    if not ((numbers >= 1) & (numbers <= steps) & (numbers == np.floor(numbers))).all():
        raise InputError(f"reverse: expected integer lengths from 1 to {steps}")
    shape = [1] * inputs.ndim
    shape[batch_axis] = len(lengths)
    end_steps = numbers.astype(np.int64).reshape(shape)
    places = np.arange(steps, dtype=np.int64).reshape([-1 if axis == time_axis else 1 for axis in range(inputs.ndim)])
    return np.take_along_axis(inputs, np.where(places < end_steps, end_steps - 1 - places, places), time_axis)
