"""Padding, transposition, and space to depth and back."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, same_length
from specgate.execution.kernels.fill import check_number, number
from specgate.execution.kernels.narrow_types import is_stored, zero_of
from specgate.execution.kernels.reshape import expand, integers, split_along, tile_by, transpose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ENDS = {
    "constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "symmetric": "SYMMETRIC", "wrap": "WRAP",
}  # fmt: skip
_SIGN = 2**31
_MODES = ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP")


def pad(
    inputs: NDArray[Any],
    *,
    mode: str,
    start: Sequence[int],
    end: Sequence[int],
    value: float = 0.0,
    truncate_value: bool = False,
    same_type: bool = True,
    wraps: bool = False,
) -> NDArray[Any]:
    """Return `inputs` padded along each dimension, as in DirectML PADDING.

    mode: CONSTANT (`value`), EDGE (the nearest element), REFLECTION and SYMMETRIC (mirrored without and with the edge,
    as often as needed), WRAP (repeated from the other end). truncate_value: truncate `value` for integers. same_type:
    `value` is declared with the type of `inputs`. wraps: sums of sizes and paddings have 32 bits, so that a padding of
    2**31 or more crops elements; CONSTANT and EDGE then find only the last element before the array.
    """
    check_number("pad", inputs.dtype, same_type=same_type)
    same_length("pad", inputs.ndim, **{"start paddings": start, "end paddings": end})
    if mode not in _MODES:
        raise InputError(f"pad: unknown mode {mode!r:.60}; known: {', '.join(_MODES)}")
    if any(count < 0 for count in (*start, *end)):
        raise InputError("pad: expected pads of at least 0")
    shape = tuple(a + n + b for a, n, b in zip(start, inputs.shape, end, strict=True))
    if wraps and any(count >= _SIGN for count in (*start, *end)):
        return _pad_wrapped(inputs, mode, start, shape, number(value, inputs.dtype, integral_only=truncate_value))
    result = memory.empty(shape, inputs.dtype)
    if mode == "CONSTANT":
        result[...] = number(value, inputs.dtype, integral_only=truncate_value)
        result[tuple(slice(a, a + n) for a, n in zip(start, inputs.shape, strict=True))] = inputs
        return result
    if not result.size:  # only one slice of the other dimensions, for which no memory is counted
        return result
    places = [
        _places(np.arange(-before, size + after, dtype=np.int64), size, mode)
        for before, size, after in zip(start, inputs.shape, end, strict=True)
    ]
    result[...] = inputs[np.ix_(*places)]
    return result


def _pad_wrapped(
    inputs: NDArray[Any], mode: str, start: Sequence[int], sums: Sequence[int], value: Any
) -> NDArray[Any]:
    """Return `pad` with `wraps`.

    sums: of sizes and paddings.
    """
    shape = tuple(size % 2**32 for size in sums)
    result = memory.empty(shape, inputs.dtype)
    if not result.size:  # only one slice of the other dimensions, for which no memory is counted
        return result
    places, in_input = [], np.ones((), np.bool_)
    for axis, (before, size, count) in enumerate(zip(start, inputs.shape, shape, strict=True)):
        offsets = np.arange(count, dtype=np.int64) - before
        if mode == "CONSTANT":
            in_axis = (offsets >= 0) & (offsets < size)
            in_input = in_input & in_axis.reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
            places.append(np.where(in_axis, offsets, 0))
        elif mode == "EDGE":
            places.append(np.full(count, size - 1) if before >= _SIGN else np.clip(offsets, 0, size - 1))
        else:
            signed = offsets + (2**32 if before >= _SIGN else 0)
            places.append(_places(signed, size, mode))
    result[...] = inputs[np.ix_(*places)]
    result[~np.broadcast_to(in_input, shape)] = value
    return result


def pad_ends(
    inputs: NDArray[Any],
    pads: NDArray[Any] | Sequence[int],
    axes: NDArray[Any] | None = None,
    *,
    mode: str,
    value: NDArray[Any] | float = 0.0,
) -> NDArray[Any]:
    """Return `inputs` padded at the start of `axes`, then at the end.

    axes: all if None. Negative paddings crop. mode: constant (`value`, an array of one element of the type of
    `inputs`), edge, reflect, symmetric or wrap, which read the remaining elements.
    """
    counts = integers("pad", "pads", pads)
    dims = list(range(inputs.ndim)) if axes is None else integers("pad", "axes", axes)
    same_length("pad", 2 * len(dims), pads=counts)
    start, end = [0] * inputs.ndim, [0] * inputs.ndim
    for axis, before, pad_after in zip(dims, counts[: len(dims)], counts[len(dims) :], strict=True):
        place = axis + inputs.ndim if axis < 0 else axis
        check_axis(place, inputs.ndim, "pad")
        start[place], end[place] = before, pad_after
    axis_pads = list(zip(inputs.shape, start, end, strict=True))
    if mode not in _ENDS or any(size + a + b < 0 for size, a, b in axis_pads):
        raise InputError(
            f"pad: expected a mode in {', '.join(_ENDS)}, and negative pads that remove at most the existing elements"
        )
    if any(size + min(a, 0) + min(b, 0) < 0 for size, a, b in axis_pads):  # the added elements are cropped again
        pad_counts = [max(0, n) for n in (*start, *end)]
        padded = pad_ends(inputs, pad_counts, mode=mode, value=value)
        return pad_ends(padded, [min(0, n) for n in (*start, *end)], mode=mode, value=value)
    cropped = inputs[tuple(slice(max(0, -a), size + min(b, 0)) for size, a, b in axis_pads)]
    first, last = [max(0, a) for a in start], [max(0, b) for b in end]
    if mode == "constant":
        result = memory.empty(
            tuple(a + n + b for a, n, b in zip(first, cropped.shape, last, strict=True)), inputs.dtype
        )
        result[...] = _filler(value, inputs.dtype)
        result[tuple(slice(a, a + n) for a, n in zip(first, cropped.shape, strict=True))] = cropped
        return result
    if any(not n and a + b for n, a, b in zip(cropped.shape, first, last, strict=True)):
        raise NoKernel("pad: it is unspecified what is repeated in an empty input")
    result = memory.empty(tuple(a + n + b for a, n, b in zip(first, cropped.shape, last, strict=True)), inputs.dtype)
    if not result.size:  # only one slice of the other dimensions, for which no memory is counted
        return result
    places = [
        _places(np.arange(-before, size + after, dtype=np.int64), size, _ENDS[mode]) if size else np.zeros(0, np.int64)
        for before, size, after in zip(first, cropped.shape, last, strict=True)
    ]
    return np.asarray(cropped[np.ix_(*places)])


def _filler(value: NDArray[Any] | float, dtype: np.dtype[Any]) -> Any:
    if not isinstance(value, np.ndarray):
        if dtype.kind == "O" or (is_stored(dtype) and value == 0):
            return zero_of("pad", dtype)
        return number(value, dtype, integral_only=True) if dtype.kind in "iu" else np.asarray(value).astype(dtype)
    if value.size != 1 or value.dtype != dtype:
        raise InputError(f"pad: expected one element of {dtype}, found {value.size} of {value.dtype}")
    return value.reshape(())[()]


def _places(positions: NDArray[np.int64], size: int, mode: str) -> NDArray[np.int64]:
    if mode == "EDGE" or size == 1:
        return np.clip(positions, 0, size - 1)
    if mode == "WRAP":
        return positions % size
    period = 2 * size - 2 if mode == "REFLECTION" else 2 * size
    offset_in_period = positions % period
    return np.where(offset_in_period < size, offset_in_period, period - offset_in_period - (mode == "SYMMETRIC"))


_BROADCAST: Final = ("numpy", "explicit", "bidirectional")


def one_place(name: str, axis: NDArray[Any], rank: int) -> int:
    """Return the dimension in an array of one integer; negative: from the end."""
    if axis.size != 1 or axis.ndim > 1 or axis.dtype.kind not in "iu":
        raise InputError(f"{name}: expected one integer as axis, found {axis.dtype}{list(axis.shape)}")
    stated_number = int(axis.reshape(())[()])
    place = stated_number + rank if stated_number < 0 else stated_number
    check_axis(place, rank, name)
    return place


def gather_along(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    axis: NDArray[Any],
    *,
    batch_dimensions: int = 0,
    zeros_beyond: bool = False,
) -> NDArray[Any]:
    """Return `inputs` slices along `axis` selected by indices.

    The indices' dimensions replace `axis`. The first batch_dimensions (negative: counted from the end of `indices`) are
    equal in both, and each batch is gathered by its own indices. zeros_beyond: negative indices count from the end, and
    an index out of range gives zero (empty string); otherwise both are rejected.
    """
    place = one_place("gather", axis, inputs.ndim)
    batches = batch_dimensions + indices.ndim if batch_dimensions < 0 else batch_dimensions
    shape = inputs.shape
    if not 0 <= batches <= min(place, indices.ndim) or shape[:batches] != indices.shape[:batches]:
        raise InputError(
            f"gather: data {list(shape)} and indices {list(indices.shape)} do not share {batches} batch dimensions "
            f"before axis {place}"
        )
    places, is_outside = _clamp_indices(indices, shape[place], negative=zeros_beyond)
    if is_outside.any() and not zeros_beyond:
        raise InputError(f"gather: index {int(indices[is_outside][0])} is out of range for size {shape[place]}")
    result = memory.empty((*shape[:place], *indices.shape[batches:], *shape[place + 1 :]), inputs.dtype)
    if not result.size:
        return result
    zero = zero_of("gather", inputs.dtype) if is_outside.any() else None
    if not inputs.size:
        result[...] = zero
        return result
    folded = (prod(shape[:batches]), prod(shape[batches:place]))
    view_shape = (folded[0], prod(indices.shape[batches:]))
    data = inputs.reshape(*folded, shape[place], prod(shape[place + 1 :]))
    first, second = np.ogrid[: folded[0], : folded[1]]
    array = data[first[..., np.newaxis], second[..., np.newaxis], places.reshape(view_shape)[:, np.newaxis]]
    if zero is not None:
        array.transpose(0, 2, 1, 3)[is_outside.reshape(view_shape)] = zero
    result[...] = array.reshape(result.shape)
    return result


def _clamp_indices(indices: NDArray[Any], size: int, *, negative: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return non-negative indices, 0 for those out of range, and which are."""
    if indices.dtype.kind not in "iu":
        raise InputError(f"gather: expected integers as indices, found {indices.dtype}")
    is_outside = np.asarray((indices >= size) | (indices < (-size if negative else 0)))
    places = np.where(is_outside, 0, indices).astype(np.int64)
    return np.where(places < 0, places + size, places), is_outside


def transpose_by(inputs: NDArray[Any], order: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` with transposed dimensions, reversed if order is empty."""
    return transpose(inputs, order=integers("transpose", "dimensions", order) or None)


def split_equally(inputs: NDArray[Any], axis: NDArray[Any], *, parts: int) -> list[NDArray[Any]]:
    """Return equal, non-empty parts of `inputs` along `axis`."""
    place = one_place("split", axis, inputs.ndim)
    if parts > inputs.shape[place]:
        raise InputError(f"split: {inputs.shape[place]} elements cannot be split into {parts} non-empty parts")
    return split_along(inputs, axis=place, parts=parts)


def variadic_split(inputs: NDArray[Any], axis: NDArray[Any], lengths: NDArray[Any]) -> list[NDArray[Any]]:
    """Return parts of `inputs` of these lengths along `axis`; -1 is the rest."""
    place = one_place("split", axis, inputs.ndim)
    sizes = integers("split", "lengths", lengths)
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = inputs.shape[place] - sum(size for size in sizes if size != -1)
    return split_along(inputs, sizes, axis=place, parts=len(sizes))


def tile_any(inputs: NDArray[Any], repeats: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` tiled along each dimension.

    The shorter of shape and repeats is left-padded with 1. Raises NoKernel for negative repeats, which are
    undocumented.
    """
    counts = integers("tile", "repeats", np.ravel(repeats))
    if any(count < 0 for count in counts):
        raise NoKernel(f"tile: expected repeats of at least 0, found {counts!r:.80}")
    rank = max(inputs.ndim, len(counts))
    if rank > memory.MAX_DIMENSIONS:
        raise InputError(f"tile: {rank} dimensions are more than {memory.MAX_DIMENSIONS}")
    expanded = inputs.reshape((1,) * (rank - inputs.ndim) + inputs.shape)
    return tile_by(expanded, np.array([1] * (rank - len(counts)) + counts, np.int64))


def broadcast_by(
    inputs: NDArray[Any], shape: NDArray[Any], axes: NDArray[Any] | None = None, *, mode: str
) -> NDArray[Any]:
    """Return `inputs` broadcast to a shape, as in OpenVINO Broadcast.

    mode: numpy (to exactly that shape, aligned at the end), bidirectional (with an array of that shape) or explicit
    (its dimensions are those of the result that `axes` lists in ascending order).
    """
    sizes = integers("broadcast", "sizes", shape)
    if mode not in _BROADCAST or (axes is None) == (mode == "explicit"):
        raise InputError(f"broadcast: expected a mode in {', '.join(_BROADCAST)}, and axes only with explicit")
    expanded = inputs
    if axes is not None:
        dims = integers("broadcast", "axes", axes)
        same_length("broadcast", inputs.ndim, axes=dims)
        if sorted(set(dims)) != dims or any(not 0 <= axis < len(sizes) for axis in dims):
            raise InputError(f"broadcast: expected axes from 0 to {len(sizes)} in ascending order, found {dims!r:.80}")
        sizes_by_axis = dict(zip(dims, inputs.shape, strict=True))
        expanded = inputs.reshape([sizes_by_axis.get(axis, 1) for axis in range(len(sizes))])
    result = expand(expanded, np.array(sizes, np.int64))
    if mode != "bidirectional" and result.shape != tuple(sizes):
        raise InputError(f"broadcast: {list(inputs.shape)} cannot be broadcast to {sizes!r:.80}")
    return result


def pad_between(
    inputs: NDArray[Any],
    begin: NDArray[Any],
    end: NDArray[Any],
    value: NDArray[Any] | None = None,
    *,
    mode: str,
    crop_negative: bool,
    overcrop: bool = False,
) -> NDArray[Any]:
    """Return `inputs` padded along each dimension, as in OpenVINO Pad.

    mode: constant (`value`, of the type of `inputs`, default 0 or ""), edge, reflect or symmetric, which mirror
    elements of `inputs` once, before the other end is cropped. crop_negative: negative paddings crop. overcrop: a
    dimension that loses more elements than it has becomes empty; otherwise InputError is raised.
    """
    first, last = integers("pad", "begin", begin), integers("pad", "end", end)
    same_length("pad", inputs.ndim, begin=first, end=last)
    if not crop_negative and any(count < 0 for count in (*first, *last)):
        raise InputError("pad: expected no negative numbers")
    if inputs.dtype.kind == "O" and mode != "constant":
        raise InputError(f"pad: expected mode constant for strings, found {mode!r:.60}")
    pads = [*first, *last]
    if mode in {"reflect", "symmetric"}:
        for size, before, pad_after in zip(inputs.shape, first, last, strict=True):
            if max(before, pad_after) > max(0, size - (mode == "reflect")):
                raise InputError(
                    f"pad: {max(before, pad_after)} elements cannot be mirrored along an axis of size {size}"
                )
        inputs = pad_ends(inputs, [max(0, count) for count in pads], mode=mode)
        pads = [min(0, count) for count in pads]
    shape = [size + before + pad_end for size, before, pad_end in zip(inputs.shape, first, last, strict=True)]
    if overcrop and any(size < 0 for size in shape):
        return memory.empty(tuple(max(0, size) for size in shape), inputs.dtype)
    return pad_ends(inputs, pads, mode=mode, value=0.0 if value is None or mode != "constant" else value)


def depth_to_space_nd(inputs: NDArray[Any], *, block: int, depth_first: bool) -> NDArray[Any]:
    """Return depth to space over any number of spatial dimensions.

    inputs: [batch, depth, spatial…]. depth_first: the remaining depth varies slower in the old depth than the position
    in the block.
    """
    count = _spatial("depth_to_space", inputs, block)
    batch, depth, *places = inputs.shape
    if depth % block**count:
        raise InputError(f"depth_to_space: {depth} channels are not a multiple of {block}**{count}")
    left = depth // block**count
    block_sizes = [block] * count
    parts = inputs.reshape(batch, *([left, *block_sizes] if depth_first else [*block_sizes, left]), *places)
    first = 2 if depth_first else 1
    order = [0, 1 if depth_first else count + 1]
    for dimension in range(count):
        order += [count + 2 + dimension, first + dimension]
    return _transpose_parts(parts, order, [batch, left, *(size * block for size in places)])


def space_to_depth_nd(inputs: NDArray[Any], *, block: int, depth_first: bool) -> NDArray[Any]:
    """Return space to depth over any number of spatial dimensions.

    inputs: [batch, depth, spatial…]. depth_first: the old depth varies slower in the new depth than the position in the
    block.
    """
    count = _spatial("space_to_depth", inputs, block)
    batch, depth, *places = inputs.shape
    if any(size % block for size in places):
        raise InputError(f"space_to_depth: the spatial dimensions {places!r:.80} are not multiples of {block}")
    outer = [size // block for size in places]
    parts = inputs.reshape(batch, depth, *(n for size in outer for n in (size, block)))
    block_axes = [3 + 2 * dimension for dimension in range(count)]
    outer_axes = [2 + 2 * dimension for dimension in range(count)]
    order = [0, 1, *block_axes, *outer_axes] if depth_first else [0, *block_axes, 1, *outer_axes]
    return _transpose_parts(parts, order, [batch, depth * block**count, *outer])


def batch_to_space(inputs: NDArray[Any], blocks: NDArray[Any], begin: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` with batches moved to spatial blocks, then cropped.

    blocks, begin, end: a number per dimension; the first ones are 1, 0 and 0.
    """
    sizes, first, last = _lists("batch_to_space", inputs, blocks, begin, end)
    block_volume = int(np.prod(sizes, dtype=object))
    if inputs.shape[0] % block_volume:
        raise InputError(f"batch_to_space: the batch size {inputs.shape[0]} is not a multiple of {block_volume}")
    batch, rank = inputs.shape[0] // block_volume, inputs.ndim
    parts = inputs.reshape(*sizes[1:], batch, *inputs.shape[1:])
    order = [rank - 1]
    for dimension in range(1, rank):
        order += [rank - 1 + dimension, dimension - 1]
    full = [batch, *(size * block for size, block in zip(inputs.shape[1:], sizes[1:], strict=True))]
    if any(a + b > size for size, a, b in zip(full, first, last, strict=True)):
        raise InputError(f"batch_to_space: the crop exceeds the size of {full!r:.80}")
    spread_parts = _transpose_parts(parts, order, full)
    return spread_parts[tuple(slice(a, n - b) for n, a, b in zip(full, first, last, strict=True))].copy()


def space_to_batch(inputs: NDArray[Any], blocks: NDArray[Any], begin: NDArray[Any], end: NDArray[Any]) -> NDArray[Any]:
    """Return zero-padded `inputs` with spatial blocks moved to the batch.

    blocks, begin, end: a number per dimension; the first ones are 1, 0 and 0.
    """
    sizes, first, last = _lists("space_to_batch", inputs, blocks, begin, end)
    padded = pad_ends(inputs, np.array([*first, *last], np.int64), mode="constant")
    if any(n % block for n, block in zip(padded.shape, sizes, strict=True)):
        raise InputError(f"space_to_batch: the padded shape {list(padded.shape)} is not a multiple of {sizes!r:.80}")
    outer = [n // block for n, block in zip(padded.shape, sizes, strict=True)]
    parts = padded.reshape(outer[0], *(n for pair in zip(outer[1:], sizes[1:], strict=True) for n in pair))
    inner_axes = [2 * dimension for dimension in range(1, inputs.ndim)]
    order = [*inner_axes, 0, *(place - 1 for place in inner_axes)]
    return _transpose_parts(parts, order, [outer[0] * int(np.prod(sizes, dtype=object)), *outer[1:]])


def shuffle_channels(inputs: NDArray[Any], *, axis: int, groups: int) -> NDArray[Any]:
    """Return `inputs` with the channels of `axis` shuffled between groups.

    That is a transpose of [groups, channels per group].
    """
    check_axis(axis, inputs.ndim, "shuffle")
    size = inputs.shape[axis]
    if not 1 <= groups <= size or size % groups:
        raise InputError(f"shuffle: size {size} is not divisible by {groups} groups")
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
        raise InputError(f"{name}: expected rank 2 or more, block sizes above 0, and pads or crops of at least 0")
    if sizes[0] != 1 or first[0] or last[0]:
        raise InputError(
            f"{name}: expected 1, 0 and 0 for the batch dimension, found {sizes[0]}, {first[0]} and {last[0]}"
        )
    return sizes, first, last


def _transpose_parts(parts: NDArray[Any], order: Sequence[int], shape: Sequence[int]) -> NDArray[Any]:
    """Return the parts transposed by `order` and reshaped."""
    transposed = parts.transpose(order)
    result = memory.empty(tuple(shape), parts.dtype)
    if result.size:
        result.reshape(transposed.shape)[...] = transposed
    return result
