"""The same elements in another order or shape, and repeated along new dimensions."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis
from specgate.execution.kernels.shapes import integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["expand", "flatten", "insert_dimensions", "remove_dimensions", "reshape", "transpose"]


def transpose(inputs: NDArray[Any], *, order: Sequence[int] | None = None) -> NDArray[Any]:
    """Return `inputs` with its dimensions in this order, backwards if None."""
    axes = list(range(inputs.ndim))[::-1] if order is None else list(order)
    if sorted(axes) != list(range(inputs.ndim)):
        raise InputError(f"transpose: expected each of {inputs.ndim} dimensions once, found {axes!r:.80}")
    return np.ascontiguousarray(inputs.transpose(axes)) if inputs.ndim else inputs.copy()


def reshape(inputs: NDArray[Any], shape: NDArray[Any] | Sequence[int], *, keep_zeros: bool = False) -> NDArray[Any]:
    """Return the elements in row-major order in another shape.

    A size of -1 is what is left for it; a size of 0 is that of `inputs` at its place, or with keep_zeros 0.
    """
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


def insert_dimensions(inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int]) -> NDArray[Any]:
    """Return `inputs` with dimensions of size 1, which stand at `axes` of the result."""
    given = integers("unsqueeze", "axes", np.ravel(axes))
    rank = inputs.ndim + len(given)
    along = _places("unsqueeze", given, rank)
    if len(along) != len(given) or rank > memory.MAX_DIMENSIONS:
        raise InputError(f"unsqueeze: expected each axis once, found {given!r:.80}")
    sizes = iter(inputs.shape)
    return inputs.reshape([1 if axis in along else next(sizes) for axis in range(rank)]).copy()


def _places(name: str, axes: NDArray[Any] | Sequence[int], rank: int) -> set[int]:
    along = {axis + rank if axis < 0 else axis for axis in integers(name, "axes", np.ravel(axes))}
    for axis in along:
        check_axis(axis, rank, name)
    return along


def expand(inputs: NDArray[Any], shape: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` broadcast with an array of this shape."""
    sizes = integers("expand", "sizes", shape)
    try:
        if any(size < 0 for size in sizes) or len(sizes) > memory.MAX_DIMENSIONS:
            raise ValueError
        wanted = np.broadcast_shapes(inputs.shape, tuple(sizes))
    except ValueError:
        raise InputError(f"expand: {list(inputs.shape)} and {sizes!r:.80} cannot be broadcast") from None
    result = memory.empty(wanted, inputs.dtype)
    result[...] = inputs
    return result
