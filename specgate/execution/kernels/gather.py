"""Elements and blocks of an array, chosen by indices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["counted_dimensions", "gather", "gather_elements", "gather_nd", "places_and_outside"]


def gather(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int, index_dimensions: int) -> NDArray[Any]:
    """Return `inputs` with those places along `axis` that the indices name, the indices' own dimensions in its stead.

    indices: of the rank of `inputs`; only the last index_dimensions count, those before have size 1. The result has
    that rank too: leading dimensions of size 1 are left out or added. Negative indices count from the end; what an
    index beyond the dimension gives is masked.
    """
    rank = inputs.ndim
    check_axis(axis, rank, "gather")
    if indices.ndim != rank or not 0 <= index_dimensions <= rank:
        raise InputError(f"gather: expected indices of {rank} dimensions ({index_dimensions} of them count), found "
                         f"{indices.ndim}")  # fmt: skip
    chosen = counted_dimensions(indices, index_dimensions, "indices")
    shape = (*inputs.shape[:axis], *chosen.shape, *inputs.shape[axis + 1 :])
    shape = (1,) * (rank - len(shape)) + shape
    if any(size != 1 for size in shape[: len(shape) - rank]):
        raise InputError(f"gather: the result of shape {list(shape)} has more than {rank} dimensions")
    places, outside = places_and_outside(chosen, inputs.shape[axis])
    result = memory.empty(shape[len(shape) - rank :], inputs.dtype)
    flat = result.reshape(*inputs.shape[:axis], places.size, *inputs.shape[axis + 1 :])
    np.take(inputs, places.reshape(-1), axis, out=flat, mode="clip")
    missing = outside.reshape((-1,) + (1,) * (rank - 1 - axis))
    return _masked(result, np.broadcast_to(missing, flat.shape).reshape(result.shape) if outside.any() else None)


def gather_elements(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return, for each index, the element of `inputs` at its own place but for `axis`, where the index is the place.

    indices: of the shape of `inputs` apart from `axis`. Negative ones count from the end; what an index beyond the
    dimension gives is masked.
    """
    check_axis(axis, inputs.ndim, "gather_elements")
    others = (*inputs.shape[:axis], *inputs.shape[axis + 1 :])
    if indices.ndim != inputs.ndim or (*indices.shape[:axis], *indices.shape[axis + 1 :]) != others:
        raise InputError(f"gather_elements: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    places, outside = places_and_outside(indices, inputs.shape[axis])
    return _masked(np.take_along_axis(inputs, places, axis), outside if outside.any() else None)


def gather_nd(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    *,
    input_dimensions: int,
    index_dimensions: int,
    batch_dimensions: int = 0,
) -> NDArray[Any]:
    """Return for each tuple of coordinates, along the last dimension of `indices`, what it leads to in `inputs`.

    Of both arrays, of equal rank, only so many last dimensions count, and the first batch_dimensions of those are
    equal. A tuple with fewer numbers than there are dimensions leads to a block. The result has the rank of `inputs`,
    by leading dimensions of size 1. Negative numbers count from the end; what a place outside of `inputs` gives is
    masked.
    """
    rank = inputs.ndim
    if indices.ndim != rank or not (1 <= input_dimensions <= rank and 1 <= index_dimensions <= rank):
        raise InputError(
            f"gather_nd: {input_dimensions} and {index_dimensions} dimensions of {rank} and {indices.ndim}"
        )
    data = counted_dimensions(inputs, input_dimensions, "input")
    chosen = counted_dimensions(indices, index_dimensions, "indices")
    batch = data.shape[:batch_dimensions]
    count = chosen.shape[-1]
    if not 0 <= batch_dimensions < min(data.ndim, chosen.ndim) or chosen.shape[:batch_dimensions] != batch:
        raise InputError(f"gather_nd: {list(data.shape)} and {list(chosen.shape)} have no {batch_dimensions} batches")
    if batch_dimensions + count > data.ndim:
        raise InputError(f"gather_nd: tuples of {count} numbers are too long for {list(data.shape)}")
    shape = (*chosen.shape[:-1], *data.shape[batch_dimensions + count :])
    if len(shape) > rank:
        raise InputError(f"gather_nd: the result of shape {list(shape)} has more than {rank} dimensions")
    sizes = data.shape[batch_dimensions : batch_dimensions + count]
    outside = np.zeros(chosen.shape[:-1], np.bool_)
    coordinates: list[Any] = list(np.ix_(*map(np.arange, batch))) if batch else []
    coordinates = [each.reshape(*each.shape, *(1,) * (chosen.ndim - 1 - batch_dimensions)) for each in coordinates]
    for position, size in enumerate(sizes):
        places, beyond = places_and_outside(chosen[..., position], size)
        coordinates.append(places)
        outside |= beyond
    result = memory.empty((1,) * (rank - len(shape)) + shape, inputs.dtype)
    result.reshape(shape)[...] = data[tuple(coordinates)]
    missing = outside.reshape(outside.shape + (1,) * (len(shape) - outside.ndim))
    return _masked(result, np.broadcast_to(missing, shape).reshape(result.shape) if outside.any() else None)


def counted_dimensions(array: NDArray[Any], dimensions: int, what: str) -> NDArray[Any]:
    """Return an array with its last dimensions only; the others must have size 1."""
    left = array.ndim - dimensions
    if any(size != 1 for size in array.shape[:left]):
        raise InputError(
            f"of the {what}, {list(array.shape)}, dimensions before the last {dimensions} have other sizes than 1"
        )
    return array.reshape(array.shape[left:])


def places_and_outside(indices: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return places from the start, 0 for those outside, and which are outside."""
    if indices.dtype.kind not in "iu":
        raise InputError(f"expected integers as indices, found {indices.dtype}")
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(2**63 - 1))
    whole = indices.astype(np.int64, copy=False)
    whole = np.where(whole < 0, whole + size, whole)
    outside = (whole < 0) | (whole >= size)
    return np.where(outside, 0, whole), outside


def _masked(result: NDArray[Any], outside: NDArray[np.bool_] | None) -> NDArray[Any]:
    return result if outside is None else np.ma.MaskedArray(result, mask=outside)
