"""Parts of arrays and arrays repeated: slices, tiles, reversed beginnings, and depth exchanged for space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, same_length, shape_of
from specgate.execution.kernels.narrow import zero_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "depth_to_space", "place_in_window", "reverse_beginnings", "slice_counted", "slice_window", "space_to_depth",
    "tile",
]  # fmt: skip

#: Up to here each place of a block is written by itself.
_SMALL: Final = 8


def slice_counted(
    inputs: NDArray[Any], *, first: Sequence[int], counts: Sequence[int], steps: Sequence[int]
) -> NDArray[Any]:
    """Return `counts` elements along each dimension, from place `first` on, `steps` apart (0: the same one again)."""
    same_length("slice", inputs.ndim, **{"first places": first, "counts": counts, "steps": steps})
    shape = shape_of("slice", counts)
    for size, start, count, step in zip(inputs.shape, first, shape, steps, strict=True):
        last = start + (count - 1) * step
        if not (0 <= start < size and 0 <= last < size):
            raise InputError(f"slice: places {start} to {last} are not all among {size}")
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
    """Return `counts` elements along each dimension of the window that `offsets` and `sizes` describe.

    They are `steps` apart, from the window's first place on, or from its last one where a step is negative.
    """
    first = _first_places(inputs.shape, offsets, sizes, steps, counts)
    return slice_counted(inputs, first=first, counts=counts, steps=steps)


def place_in_window(
    values: NDArray[Any],
    *,
    shape: Sequence[int],
    offsets: Sequence[int],
    sizes: Sequence[int],
    steps: Sequence[int],
) -> NDArray[Any]:
    """Return zeros of `shape` with `values` at the places from which `slice_window` would take as many elements."""
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
    """Return where slices of windows begin along each dimension of an array of `shape`."""
    same_length("slice", len(shape), offsets=offsets, sizes=sizes, steps=steps, counts=counts)
    first = []
    for place, offset, size, step, count in zip(shape, offsets, sizes, steps, counts, strict=True):
        if size < 1 or offset < 0 or offset + size > place:
            raise InputError(f"slice: a window of {size} from {offset} on is not in {place} places")
        if step == 0 or count > 1 + (size - 1) // abs(step):
            raise InputError(f"slice: {count} elements, {step} apart, are not in a window of {size}")
        first.append(offset if step > 0 else offset + size - 1)
    return first


def tile(inputs: NDArray[Any], *, repeats: Sequence[int]) -> NDArray[Any]:
    """Return `inputs` repeated so often along each dimension."""
    same_length("tile", inputs.ndim, repeats=repeats)
    if any(count < 1 for count in repeats):
        raise InputError(f"tile: expected repeats above 0, found {list(repeats)}")
    result = memory.empty(tuple(a * b for a, b in zip(inputs.shape, repeats, strict=True)), inputs.dtype)
    pairs = [n for pair in zip(repeats, inputs.shape, strict=True) for n in pair]
    result.reshape(pairs)[...] = inputs.reshape([n for size in inputs.shape for n in (1, size)])
    return result


def reverse_beginnings(inputs: NDArray[Any], lengths: NDArray[Any], *, axis: int, held: bool = True) -> NDArray[Any]:
    """Return `inputs` with the first elements of each sequence along `axis` in reverse order.

    lengths: how many, of the shape of `inputs` with size 1 along `axis`; more than there are mean all. Unless held,
    their low 32 bits count as they are, and what would lie behind the last element is the last element.
    """
    check_axis(axis, inputs.ndim, "reverse_beginnings")
    require_shape("reverse_beginnings", "lengths", lengths.shape, (*inputs.shape[:axis], 1, *inputs.shape[axis + 1 :]))
    size = inputs.shape[axis]
    counts = (np.minimum(lengths, size) if held else lengths.astype(np.uint32)).astype(np.int64)
    places = np.arange(size, dtype=np.int64).reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
    turned = np.minimum(counts - 1 - places, size - 1)
    return np.take_along_axis(inputs, np.where(places < counts, turned, places), axis)


def depth_to_space(inputs: NDArray[Any], *, block: int, channel_first: bool = False) -> NDArray[Any]:
    """Return [batch, channels, height, width] with blocks of `block` x `block` places made of the channels.

    channel_first: the channel runs slower in the depth than the place in the block.
    """
    batch, depth, height, width = _four(inputs, block)
    if depth % block**2:
        raise InputError(f"depth_to_space: {depth} channels are no multiple of {block}**2")
    channels = depth // block**2
    split = (channels, block, block) if channel_first else (block, block, channels)
    parts = inputs.reshape(batch, *split, height, width)
    order = (0, 1, 4, 2, 5, 3) if channel_first else (0, 3, 4, 1, 5, 2)
    moved = parts.transpose(order)
    if block > _SMALL:
        return moved.reshape(batch, channels, height * block, width * block)
    result = memory.empty(moved.shape, inputs.dtype)
    for row, column in np.ndindex(block, block):  # whole rows at a time, where numpy would go from block to block
        result[:, :, :, row, :, column] = moved[:, :, :, row, :, column]
    return result.reshape(batch, channels, height * block, width * block)


def space_to_depth(inputs: NDArray[Any], *, block: int, channel_first: bool = False) -> NDArray[Any]:
    """Return [batch, channels, height, width] with blocks of `block` x `block` places made channels.

    channel_first: the channel runs slower in the depth than the place in the block.
    """
    batch, channels, height, width = _four(inputs, block)
    if height % block or width % block:
        raise InputError(f"space_to_depth: {height} x {width} is no multiple of {block}")
    parts = inputs.reshape(batch, channels, height // block, block, width // block, block)
    order = (0, 1, 3, 5, 2, 4) if channel_first else (0, 3, 5, 1, 2, 4)
    return parts.transpose(order).reshape(batch, channels * block**2, height // block, width // block)


def _four(inputs: NDArray[Any], block: int) -> tuple[int, int, int, int]:
    if inputs.ndim != 4 or block < 1:
        raise InputError(f"expected 4 dimensions and a block size above 0, found {inputs.ndim} and {block}")
    batch, channels, height, width = inputs.shape
    return batch, channels, height, width
