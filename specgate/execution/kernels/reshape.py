"""Reshape, transpose, squeeze, expand, tile, reverse, concat and split."""

from __future__ import annotations

from itertools import accumulate
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, same_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def transpose(inputs: NDArray[Any], *, order: Sequence[int] | None = None) -> NDArray[Any]:
    """Return `inputs` with transposed dimensions, reversed if order is None."""
    axes = list(range(inputs.ndim))[::-1] if order is None else list(order)
    if sorted(axes) != list(range(inputs.ndim)):
        raise InputError(f"transpose: expected a permutation of {inputs.ndim} dimensions, found {axes!r:.80}")
    return np.ascontiguousarray(inputs.transpose(axes)) if inputs.ndim else inputs.copy()


def reshape(
    inputs: NDArray[Any], shape: NDArray[Any] | Sequence[int] | None = None, *, keep_zeros: bool = False
) -> NDArray[Any]:
    """Return `inputs` reshaped.

    A size of -1 is inferred; a size of 0 is copied from `inputs`, or with keep_zeros is 0. Raises NoKernel without a
    shape.
    """
    if shape is None:
        raise NoKernel("reshape: the result is unspecified without a shape")
    sizes = integers("reshape", "sizes", shape)
    if not keep_zeros:
        if any(size == 0 and place >= inputs.ndim for place, size in enumerate(sizes)):
            raise InputError(f"reshape: a size of 0 in {sizes} has no input dimension to copy in {list(inputs.shape)}")
        sizes = [size or inputs.shape[place] for place, size in enumerate(sizes)]
    size_product = prod(size for size in sizes if size != -1)
    if -1 in sizes and size_product and inputs.size % size_product == 0:
        sizes[sizes.index(-1)] = inputs.size // size_product
    if any(size < 0 for size in sizes) or prod(sizes) != inputs.size or len(sizes) > memory.MAX_DIMENSIONS:
        raise InputError(f"reshape: {inputs.size} elements cannot have the shape {sizes!r:.80}")
    return inputs.reshape(sizes).copy()


def reshape_by_pattern(inputs: NDArray[Any], shape: NDArray[Any], *, copy_zeros: bool) -> NDArray[Any]:
    """Return `inputs` reshaped, as in OpenVINO Reshape.

    copy_zeros: a size of 0 is copied from `inputs`, and -1 is inferred from the remaining sizes.
    """
    sizes = integers("reshape", "sizes", shape)
    copied = [place for place, size in enumerate(sizes) if copy_zeros and size == 0]
    if any(place >= inputs.ndim for place in copied):
        raise InputError(f"reshape: a size of 0 in {sizes} has no input dimension to copy in {list(inputs.shape)}")
    left = prod(size for place, size in enumerate(inputs.shape) if place not in copied)
    size_product = prod(size for place, size in enumerate(sizes) if size != -1 and place not in copied)
    if sizes.count(-1) == 1 and size_product > 0 and left % size_product == 0:
        sizes[sizes.index(-1)] = left // size_product
    for place in copied:
        sizes[place] = inputs.shape[place]
    if any(size < 0 for size in sizes) or prod(sizes) != inputs.size or len(sizes) > memory.MAX_DIMENSIONS:
        raise InputError(f"reshape: {inputs.size} elements cannot have the shape {sizes!r:.80}")
    return inputs.reshape(sizes).copy()


def flatten(inputs: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return a matrix: dimensions before `axis` are rows, others columns."""
    if not 0 <= axis <= inputs.ndim:
        raise InputError(f"flatten: axis {axis} is out of range for rank {inputs.ndim}")
    return inputs.reshape(prod(inputs.shape[:axis]), prod(inputs.shape[axis:])).copy()


def squeeze(inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int] | None = None) -> NDArray[Any]:
    """Return `inputs` without the size-1 dimensions `axes`, default all such."""
    if axes is None:
        return inputs.reshape([size for size in inputs.shape if size != 1]).copy()
    axis_numbers = _places("squeeze", axes, inputs.ndim)
    if any(inputs.shape[axis] != 1 for axis in axis_numbers):
        raise InputError(
            f"squeeze: expected size 1 along the axes {sorted(axis_numbers)}, found the shape {list(inputs.shape)}"
        )
    return inputs.reshape([size for axis, size in enumerate(inputs.shape) if axis not in axis_numbers]).copy()


def squeeze_ones(inputs: NDArray[Any], axes: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return `inputs` without those of `axes` that have size 1.

    If axes are empty, all such dimensions are dropped. Dimensions of other sizes stay.
    """
    axis_set = set(range(inputs.ndim)) if axes is None or not axes.size else _places("squeeze", axes, inputs.ndim)
    return inputs.reshape([size for axis, size in enumerate(inputs.shape) if size != 1 or axis not in axis_set]).copy()


def unsqueeze(inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int]) -> NDArray[Any]:
    """Return `inputs` with dimensions of size 1 inserted at `axes`."""
    numbers = integers("unsqueeze", "axes", _axes_array(axes))
    rank = inputs.ndim + len(numbers)
    axis_numbers = _places("unsqueeze", numbers, rank)
    if len(axis_numbers) != len(numbers) or rank > memory.MAX_DIMENSIONS:
        raise InputError(f"unsqueeze: expected distinct axes, found {numbers!r:.80}")
    sizes = iter(inputs.shape)
    return inputs.reshape([1 if axis in axis_numbers else next(sizes) for axis in range(rank)]).copy()


def _axes_array(axes: NDArray[Any] | Sequence[int]) -> NDArray[Any]:
    return np.ravel(np.asarray(axes, None if isinstance(axes, np.ndarray) else np.int64))  # even if empty


def _places(name: str, axes: NDArray[Any] | Sequence[int], rank: int) -> set[int]:
    axis_numbers = {axis + rank if axis < 0 else axis for axis in integers(name, "axes", _axes_array(axes))}
    for axis in axis_numbers:
        check_axis(axis, rank, name)
    return axis_numbers


def expand(inputs: NDArray[Any], shape: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` broadcast bidirectionally with a shape."""
    sizes = integers("expand", "sizes", shape)
    try:
        if any(size < 0 for size in sizes) or len(sizes) > memory.MAX_DIMENSIONS:
            raise ValueError
        memory.check_budget(tuple(sizes), inputs.dtype)
        items = np.broadcast_shapes(inputs.shape, tuple(sizes))
    except ValueError:
        raise InputError(f"expand: {list(inputs.shape)} and {sizes!r:.80} cannot be broadcast") from None
    result = memory.empty(items, inputs.dtype)
    result[...] = inputs
    return result


def tensor_shape(inputs: NDArray[Any], *, int32_output: bool) -> NDArray[Any]:
    """Return the sizes of `inputs` as int64, or int32 with int32_output."""
    return np.array(inputs.shape, np.int32 if int32_output else np.int64)


_MAX_PARTS = 2**16
#: Contiguous elements from which on a run is copied as a whole.
_MIN_RUN = 2**8
_EXACT = 2.0**63  # floats from here on exceed int64


def integers(name: str, noun: str, result: NDArray[Any] | Sequence[int]) -> list[int]:
    """Return a 1-D array as a list of integers.

    Raises InputError for another rank or type, or more elements than the maximum rank.
    """
    array = np.asarray(result, None if isinstance(result, np.ndarray) else np.int64)
    if array.ndim != 1 or array.size > _MAX_PARTS or array.dtype.kind not in "iu":
        raise InputError(f"{name}: expected a list of integers as {noun}, found {array.dtype}{list(array.shape)}")
    numbers: list[int] = array.tolist()
    return numbers


def _integer_list(name: str, noun: str, result: NDArray[Any] | Sequence[int]) -> list[int]:
    """Return a list of integers; an array of integral floats is accepted."""
    if not isinstance(result, np.ndarray) or result.dtype.kind != "f":
        return integers(name, noun, result)
    if not (np.isfinite(result) & (np.abs(result) < _EXACT) & (result == np.trunc(result))).all():
        raise InputError(f"{name}: expected integers as {noun}")
    return integers(name, noun, result.astype(np.int64))


def slice_between(
    inputs: NDArray[Any],
    starts: NDArray[Any] | Sequence[int],
    ends: NDArray[Any] | Sequence[int],
    axes: NDArray[Any] | Sequence[int] | None = None,
    steps: NDArray[Any] | Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the slice [starts, ends) along each of `axes`, by steps.

    axes: default the first ones. Negative positions and axes count from the end; positions are clamped. steps: default
    1.
    """
    first, last = integers("slice", "starts", starts), integers("slice", "ends", ends)
    axis_numbers = list(range(len(first))) if axes is None else integers("slice", "axes", axes)
    step_sizes = [1] * len(first) if steps is None else integers("slice", "steps", steps)
    same_length("slice", len(first), ends=last, axes=axis_numbers, steps=step_sizes)
    slices = [slice(None)] * inputs.ndim
    if len({axis % inputs.ndim for axis in axis_numbers if inputs.ndim}) != len(axis_numbers):
        raise InputError(f"slice: expected distinct axes, found {axis_numbers!r:.80}")
    for axis, *(start, end, step) in zip(axis_numbers, first, last, step_sizes, strict=True):
        place = axis + inputs.ndim if axis < 0 else axis
        check_axis(place, inputs.ndim, "slice")
        if not step:
            raise InputError("slice: expected steps other than 0")
        slices[place] = slice(start, end, step)
    return inputs[tuple(slices)].copy()


def tile_by(
    inputs: NDArray[Any],
    repeats: NDArray[Any] | None = None,
    *,
    tiles: NDArray[Any] | None = None,
    axis: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return `inputs` tiled along each dimension, possibly 0 times.

    tiles, axis: instead of repeats, the number of copies along one dimension (negative: from the end), integers of any
    type; raises NoKernel unless they have one element each.
    """
    counts = _single_axis_repeats(inputs.ndim, tiles, axis) if repeats is None else integers("tile", "repeats", repeats)
    same_length("tile", inputs.ndim, repeats=counts)
    if counts and min(counts) < 0:
        raise InputError(f"tile: expected repeats of at least 0, found {counts}")
    result = memory.empty(tuple(map(mul, inputs.shape, counts)), inputs.dtype)
    if not result.size:
        return result
    repeated = [dimension for dimension, count in enumerate(counts) if count > 1] or [0]
    if prod(inputs.shape[repeated[-1] :]) >= _MIN_RUN:
        if len(repeated) == 1:  # without the other dimensions, which are slow to iterate over
            (place,) = repeated
            before, inner_count = prod(inputs.shape[:place]), prod(inputs.shape[place:])
            result.reshape(before, counts[place], inner_count)[...] = inputs.reshape(before, 1, inner_count)
            return result
        pairs = [n for pair in zip(counts, inputs.shape, strict=True) for n in pair]
        result.reshape(pairs)[...] = inputs.reshape([n for size in inputs.shape for n in (1, size)])
        return result
    result[tuple(slice(0, size) for size in inputs.shape)] = inputs
    for dimension, size in enumerate(inputs.shape):
        leading_view, done = np.moveaxis(result, dimension, 0), size
        while done < len(leading_view):  # existing copies are copied after themselves
            leading_view[done : 2 * done] = leading_view[: len(leading_view) - done][:done]
            done *= 2
    return result


def _single_axis_repeats(rank: int, tiles: NDArray[Any] | None, axis: NDArray[Any] | None) -> list[int]:
    """Return the repeats per dimension where only one is repeated."""
    if tiles is None or axis is None or tiles.size != 1 or axis.size != 1:
        raise NoKernel("tile: it is unspecified how to apply repeats that are not one number per axis")
    (times,), (axis_array,) = (_integer_list("tile", "a number", array.reshape(1)) for array in (tiles, axis))
    place = axis_array + rank if axis_array < 0 else axis_array
    check_axis(place, rank, "tile")
    return [times if dimension == place else 1 for dimension in range(rank)]


def split_along(
    inputs: NDArray[Any],
    sizes: NDArray[Any] | Sequence[int] | None = None,
    *,
    axis: int | None = None,
    parts: int,
    split_attribute: Sequence[int] | None = None,
    rest: bool = False,
    stated: int | None = None,
) -> list[NDArray[Any]]:
    """Return `parts` parts of `inputs` along `axis`.

    sizes: of the parts, default equal. parts: 0 to use `stated` or the number of sizes. axis: negative ones count from
    the end; raises NoKernel without one. split_attribute: the sizes as an attribute; raises NoKernel where both are
    given and differ. rest: the last part may be smaller than the others, which are equal; `stated` is then their
    number.
    """
    if axis is None:
        raise NoKernel("split: the default axis is unspecified")
    place = axis + inputs.ndim if axis < 0 else axis
    check_axis(place, inputs.ndim, "split")
    size = inputs.shape[place]
    sizes = sizes if sizes is None else _integer_list("split", "sizes", sizes)
    if split_attribute is not None:
        if sizes not in (None, list(split_attribute)):
            raise NoKernel("split: it is unspecified which of two lists of sizes applies")
        sizes = split_attribute
    parts = parts or (len(sizes) if sizes is not None else stated or 0)
    if parts < 1:
        raise InputError(f"split: expected at least one part, found {parts}")
    if rest and (sizes is None) == (stated is None):
        raise InputError("split: expected either sizes or the number of parts")
    if stated not in {None, parts}:
        raise InputError(f"split: expected {stated} parts, found {parts}")
    if sizes is not None:
        counts = integers("split", "sizes", sizes)
    else:
        part_size = -(-size // parts)
        counts = [part_size] * (parts - 1) + [size - part_size * (parts - 1)]
        if not rest and counts[-1] != part_size:
            raise InputError(f"split: {size} elements are not divisible into {parts} equal parts")
    if len(counts) != parts or any(count < 0 for count in counts) or sum(counts) != size:
        raise InputError(f"split: expected {parts} sizes that add up to {size}, found {counts!r:.80}")
    before = (slice(None),) * place
    return [
        inputs[*before, slice(end - count, end)].copy() for count, end in zip(counts, accumulate(counts), strict=True)
    ]


def reverse_sequences(inputs: NDArray[Any], lengths: NDArray[Any], *, time_axis: int, batch_axis: int) -> NDArray[Any]:
    """Return `inputs` with the first `lengths` time steps reversed per batch."""
    if {time_axis, batch_axis} != {0, 1} or inputs.ndim < 2:
        raise InputError(
            f"reverse: expected the axes 0 and 1 of an input of rank 2 or more, found {time_axis} and {batch_axis}"
        )
    counts = integers("reverse", "lengths", lengths)
    steps = inputs.shape[time_axis]
    if len(counts) != inputs.shape[batch_axis] or any(not 0 <= count <= steps for count in counts):
        raise InputError(
            f"reverse: expected {inputs.shape[batch_axis]} lengths from 0 to {steps}, found {counts!r:.80}"
        )
    shape = [1] * inputs.ndim
    shape[batch_axis] = len(counts)
    end_steps = np.array(counts, np.int64).reshape(shape)
    places = np.arange(steps, dtype=np.int64).reshape([-1 if axis == time_axis else 1 for axis in range(inputs.ndim)])
    return np.take_along_axis(inputs, np.where(places < end_steps, end_steps - 1 - places, places), time_axis)


def join(parts: Sequence[NDArray[Any]], *, axis: int) -> NDArray[Any]:
    """Return the parts concatenated along `axis`.

    They have one type and equal sizes along the other dimensions.
    """
    if not parts:
        raise InputError("join: expected at least one input")
    first = parts[0]
    check_axis(axis, first.ndim, "join")
    before, inner_shape, size = first.shape[:axis], first.shape[axis + 1 :], 0
    for part in parts:
        shape = part.shape
        shapes_agree = len(shape) == first.ndim and shape[:axis] == before and shape[axis + 1 :] == inner_shape
        if not shapes_agree or part.dtype != first.dtype:
            raise InputError(f"join: {part.dtype}{shape} and {first.dtype}{first.shape} cannot be joined")
        size += shape[axis]
    memory.check_budget((*before, size, *inner_shape), first.dtype)
    return np.concatenate(parts, axis)


def split(inputs: NDArray[Any], *, shapes: Sequence[Sequence[int]], axis: int) -> list[NDArray[Any]]:
    """Return the list of parts of `inputs` with these shapes, along `axis`."""
    check_axis(axis, inputs.ndim, "split")
    other_sizes = (*inputs.shape[:axis], *inputs.shape[axis + 1 :])
    shapes_agree = all(len(s) == inputs.ndim and (*s[:axis], *s[axis + 1 :]) == other_sizes for s in map(tuple, shapes))
    if not shapes or not shapes_agree:
        raise InputError(f"split: expected parts of {list(inputs.shape)} along axis {axis}")
    sizes = [shape[axis] for shape in shapes]
    if any(size < 1 for size in sizes) or sum(sizes) != inputs.shape[axis]:
        raise InputError(f"split: expected sizes above 0 that add up to {inputs.shape[axis]}, found {sizes!r:.80}")
    ends = np.cumsum(np.array(sizes, np.int64))[:-1]
    return [np.ascontiguousarray(part) for part in np.split(inputs, ends, axis)]
