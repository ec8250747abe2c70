"""The same elements in another order or shape, and repeated along new dimensions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis
from specgate.execution.kernels.shapes import integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "drop_ones", "expand", "flatten", "insert_dimensions", "remove_dimensions", "reshape", "reshape_by_pattern",
    "sizes_of", "transpose",
]  # fmt: skip


def transpose(inputs: NDArray[Any], *, order: Sequence[int] | None = None) -> NDArray[Any]:
    """Return `inputs` with its dimensions in this order, backwards if None."""
    axes = list(range(inputs.ndim))[::-1] if order is None else list(order)
    if sorted(axes) != list(range(inputs.ndim)):
        raise InputError(f"transpose: expected each of {inputs.ndim} dimensions once, found {axes!r:.80}")
    return np.ascontiguousarray(inputs.transpose(axes)) if inputs.ndim else inputs.copy()


def reshape(
    inputs: NDArray[Any], shape: NDArray[Any] | Sequence[int] | None = None, *, keep_zeros: bool = False
) -> NDArray[Any]:
    """Return the elements in row-major order in another shape.

    A size of -1 is what is left for it; a size of 0 is that of `inputs` at its place, or with keep_zeros 0. Raises
    NoKernel where no shape is given.
    """
    if shape is None:
        raise NoKernel("reshape: it is not said what shape there is where none is given")
    sizes = integers("reshape", "sizes", shape)
    if not keep_zeros:
        if any(size == 0 and place >= inputs.ndim for place, size in enumerate(sizes)):
            raise InputError(f"reshape: a size of 0 in {sizes} stands behind the dimensions of {list(inputs.shape)}")
        sizes = [size or inputs.shape[place] for place, size in enumerate(sizes)]
    known = prod(size for size in sizes if size != -1)
    if -1 in sizes and known and inputs.size % known == 0:
        sizes[sizes.index(-1)] = inputs.size // known
    if any(size < 0 for size in sizes) or prod(sizes) != inputs.size or len(sizes) > memory.MAX_DIMENSIONS:
        raise InputError(f"reshape: {inputs.size} elements have no shape {sizes!r:.80}")
    return inputs.reshape(sizes).copy()


def reshape_by_pattern(inputs: NDArray[Any], shape: NDArray[Any], *, copy_zeros: bool) -> NDArray[Any]:
    """Return the elements in row-major order in another shape.

    copy_zeros: a size of 0 is that of `inputs` at its place, and -1 what the sizes that are not copied leave for it.
    """
    sizes = integers("reshape", "sizes", shape)
    copied = [place for place, size in enumerate(sizes) if copy_zeros and size == 0]
    if any(place >= inputs.ndim for place in copied):
        raise InputError(f"reshape: a size of 0 in {sizes} stands behind the dimensions of {list(inputs.shape)}")
    left = prod(size for place, size in enumerate(inputs.shape) if place not in copied)
    known = prod(size for place, size in enumerate(sizes) if size != -1 and place not in copied)
    if sizes.count(-1) == 1 and known > 0 and left % known == 0:
        sizes[sizes.index(-1)] = left // known
    for place in copied:
        sizes[place] = inputs.shape[place]
    if any(size < 0 for size in sizes) or prod(sizes) != inputs.size or len(sizes) > memory.MAX_DIMENSIONS:
        raise InputError(f"reshape: {inputs.size} elements have no shape {sizes!r:.80}")
    return inputs.reshape(sizes).copy()


def flatten(inputs: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return a matrix: the dimensions before `axis` are its rows, the others its columns."""
    if not 0 <= axis <= inputs.ndim:
        raise InputError(f"flatten: {axis} is no place among or behind {inputs.ndim} dimensions")
    return inputs.reshape(prod(inputs.shape[:axis]), prod(inputs.shape[axis:])).copy()


def remove_dimensions(inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int] | None = None) -> NDArray[Any]:
    """Return `inputs` without the dimensions of `axes`, which have size 1; without all such dimensions if None."""
    if axes is None:
        return inputs.reshape([size for size in inputs.shape if size != 1]).copy()
    along = _places("squeeze", axes, inputs.ndim)
    if any(inputs.shape[axis] != 1 for axis in along):
        raise InputError(f"squeeze: not all of the dimensions {sorted(along)} of {list(inputs.shape)} have size 1")
    return inputs.reshape([size for axis, size in enumerate(inputs.shape) if axis not in along]).copy()


def drop_ones(inputs: NDArray[Any], axes: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return `inputs` without those dimensions of `axes` that have size 1; without all such dimensions if it is empty.

    Dimensions of another size stay.
    """
    named = set(range(inputs.ndim)) if axes is None or not axes.size else _places("squeeze", axes, inputs.ndim)
    return inputs.reshape([size for axis, size in enumerate(inputs.shape) if size != 1 or axis not in named]).copy()


def insert_dimensions(inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int]) -> NDArray[Any]:
    """Return `inputs` with dimensions of size 1, which stand at `axes` of the result."""
    given = integers("unsqueeze", "axes", _listed(axes))
    rank = inputs.ndim + len(given)
    along = _places("unsqueeze", given, rank)
    if len(along) != len(given) or rank > memory.MAX_DIMENSIONS:
        raise InputError(f"unsqueeze: expected each axis once, found {given!r:.80}")
    sizes = iter(inputs.shape)
    return inputs.reshape([1 if axis in along else next(sizes) for axis in range(rank)]).copy()


def _listed(axes: NDArray[Any] | Sequence[int]) -> NDArray[Any]:
    return np.ravel(np.asarray(axes, None if isinstance(axes, np.ndarray) else np.int64))  # of no numbers, too


def _places(name: str, axes: NDArray[Any] | Sequence[int], rank: int) -> set[int]:
    along = {axis + rank if axis < 0 else axis for axis in integers(name, "axes", _listed(axes))}
    for axis in along:
        check_axis(axis, rank, name)
    return along


def expand(inputs: NDArray[Any], shape: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` broadcast with an array of this shape."""
    sizes = integers("expand", "sizes", shape)
    try:
        if any(size < 0 for size in sizes) or len(sizes) > memory.MAX_DIMENSIONS:
            raise ValueError
        memory.hold(tuple(sizes), inputs.dtype)
        wanted = np.broadcast_shapes(inputs.shape, tuple(sizes))
    except ValueError:
        raise InputError(f"expand: {list(inputs.shape)} and {sizes!r:.80} cannot be broadcast") from None
    result = memory.empty(wanted, inputs.dtype)
    result[...] = inputs
    return result


def sizes_of(inputs: NDArray[Any], *, int32_output: bool) -> NDArray[Any]:
    """Return the sizes of `inputs` as int64, or int32 if narrow."""
    return np.array(inputs.shape, np.int32 if int32_output else np.int64)
