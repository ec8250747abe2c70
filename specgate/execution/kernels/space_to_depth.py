"""Depth to space, space to depth, batch to space, channel shuffle.

OpenVINO BatchToSpace, DepthToSpace, ShuffleChannels, SpaceToBatch, SpaceToDepth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, same_length
from specgate.execution.kernels.pad_transpose import pad_ends
from specgate.execution.kernels.reshape import integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["batches_from_space", "blocks_from_depth", "depth_from_blocks", "shuffle_groups", "space_from_batches"]


def blocks_from_depth(inputs: NDArray[Any], *, block: int, depth_first: bool) -> NDArray[Any]:
    """Return depth to space over any number of spatial dimensions.

    inputs: [batch, depth, spatial…]. depth_first: the remaining depth varies slower in the old depth than the position
    in the block.
    """
    count = _spatial("depth_to_space", inputs, block)
    batch, depth, *places = inputs.shape
    if depth % block**count:
        raise InputError(f"depth_to_space: a depth of {depth} is not a multiple of {block}**{count}")
    left = depth // block**count
    within = [block] * count
    parts = inputs.reshape(batch, *([left, *within] if depth_first else [*within, left]), *places)
    first = 2 if depth_first else 1
    order = [0, 1 if depth_first else count + 1]
    for dimension in range(count):
        order += [count + 2 + dimension, first + dimension]
    return _moved(parts, order, [batch, left, *(size * block for size in places)])


def depth_from_blocks(inputs: NDArray[Any], *, block: int, depth_first: bool) -> NDArray[Any]:
    """Return space to depth over any number of spatial dimensions.

    inputs: [batch, depth, spatial…]. depth_first: the old depth varies slower in the new depth than the position in the
    block.
    """
    count = _spatial("space_to_depth", inputs, block)
    batch, depth, *places = inputs.shape
    if any(size % block for size in places):
        raise InputError(f"space_to_depth: {places!r:.80} are not multiples of {block}")
    outer = [size // block for size in places]
    parts = inputs.reshape(batch, depth, *(n for size in outer for n in (size, block)))
    inside = [3 + 2 * dimension for dimension in range(count)]
    outside = [2 + 2 * dimension for dimension in range(count)]
    order = [0, 1, *inside, *outside] if depth_first else [0, *inside, 1, *outside]
    return _moved(parts, order, [batch, depth * block**count, *outer])


def space_from_batches(
    inputs: NDArray[Any], blocks: NDArray[Any], begin: NDArray[Any], end: NDArray[Any]
) -> NDArray[Any]:
    """Return `inputs` with batches moved to spatial blocks, then cropped.

    blocks, begin, end: a number per dimension; the first ones are 1, 0 and 0.
    """
    sizes, first, last = _lists("batch_to_space", inputs, blocks, begin, end)
    whole = int(np.prod(sizes, dtype=object))
    if inputs.shape[0] % whole:
        raise InputError(f"batch_to_space: {inputs.shape[0]} batches are not a multiple of {whole}")
    batch, rank = inputs.shape[0] // whole, inputs.ndim
    parts = inputs.reshape(*sizes[1:], batch, *inputs.shape[1:])
    order = [rank - 1]
    for dimension in range(1, rank):
        order += [rank - 1 + dimension, dimension - 1]
    full = [batch, *(size * block for size, block in zip(inputs.shape[1:], sizes[1:], strict=True))]
    if any(a + b > size for size, a, b in zip(full, first, last, strict=True)):
        raise InputError(f"batch_to_space: the crop exceeds the size of {full!r:.80}")
    spread = _moved(parts, order, full)
    return spread[tuple(slice(a, n - b) for n, a, b in zip(full, first, last, strict=True))].copy()


def batches_from_space(
    inputs: NDArray[Any], blocks: NDArray[Any], begin: NDArray[Any], end: NDArray[Any]
) -> NDArray[Any]:
    """Return zero-padded `inputs` with spatial blocks moved to the batch.

    blocks, begin, end: a number per dimension; the first ones are 1, 0 and 0.
    """
    sizes, first, last = _lists("space_to_batch", inputs, blocks, begin, end)
    padded = pad_ends(inputs, np.array([*first, *last], np.int64), mode="constant")
    if any(n % block for n, block in zip(padded.shape, sizes, strict=True)):
        raise InputError(f"space_to_batch: {list(padded.shape)} are not multiples of {sizes!r:.80}")
    outer = [n // block for n, block in zip(padded.shape, sizes, strict=True)]
    parts = padded.reshape(outer[0], *(n for pair in zip(outer[1:], sizes[1:], strict=True) for n in pair))
    inside = [2 * dimension for dimension in range(1, inputs.ndim)]
    order = [*inside, 0, *(place - 1 for place in inside)]
    return _moved(parts, order, [outer[0] * int(np.prod(sizes, dtype=object)), *outer[1:]])


def shuffle_groups(inputs: NDArray[Any], *, axis: int, groups: int) -> NDArray[Any]:
    """Return `inputs` with the channels of `axis` shuffled between groups.

    That is a transpose of [groups, channels per group].
    """
    check_axis(axis, inputs.ndim, "shuffle")
    size = inputs.shape[axis]
    if not 1 <= groups <= size or size % groups:
        raise InputError(f"shuffle: {size} places cannot be divided into {groups} groups")
    parts = inputs.reshape(*inputs.shape[:axis], groups, size // groups, *inputs.shape[axis + 1 :])
    return np.ascontiguousarray(np.swapaxes(parts, axis, axis + 1)).reshape(inputs.shape)


def _spatial(name: str, inputs: NDArray[Any], block: int) -> int:
    if inputs.ndim < 3 or block < 1 or block > 2**32:
        raise InputError(f"{name}: expected 3 or more dimensions and blocks above 0, found {inputs.ndim} and {block}")
    return inputs.ndim - 2


def _lists(
    name: str, inputs: NDArray[Any], blocks: NDArray[Any], begin: NDArray[Any], end: NDArray[Any]
) -> tuple[list[int], list[int], list[int]]:
    sizes = integers(name, "blocks", blocks)
    first, last = integers(name, "begin", begin), integers(name, "end", end)
    same_length(name, inputs.ndim, blocks=sizes, begin=first, end=last)
    if inputs.ndim < 2 or any(size < 1 for size in sizes) or any(n < 0 for n in (*first, *last)):
        raise InputError(f"{name}: expected 2 dimensions, blocks above 0 and no numbers below 0")
    if sizes[0] != 1 or first[0] or last[0]:
        raise InputError(f"{name}: expected 1, 0 and 0 for the batches, found {sizes[0]}, {first[0]} and {last[0]}")
    return sizes, first, last


def _moved(parts: NDArray[Any], order: Sequence[int], shape: Sequence[int]) -> NDArray[Any]:
    """Return the parts transposed by `order` and reshaped."""
    turned = parts.transpose(order)
    result = memory.empty(tuple(shape), parts.dtype)
    if result.size:
        result.reshape(turned.shape)[...] = turned
    return result
