"""Elements and slices of an array at the places that indices of any rank name."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["elements_at", "places_in", "slices_at", "tuples_at"]


def places_in(name: str, indices: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return places from the start, negative ones counted from the end; raise InputError for one outside of `size`."""
    if indices.dtype.kind not in "iu":
        raise InputError(f"{name}: expected integers as indices, found {indices.dtype}")
    whole = np.asarray(indices, np.int64)
    if not whole.size or np.maximum.reduce(whole.view(np.uint64), axis=None) < size:  # negative ones are the largest
        return whole  # which nothing writes into
    outside = (whole < -size) | (whole >= size)
    if outside.any():
        raise InputError(f"{name}: index {int(whole[outside][0])} is no place among {size}")
    return np.where(whole < 0, whole + size, whole)


def slices_at(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return `inputs` with the places along `axis` that the indices name, the indices' dimensions in its stead."""
    check_axis(axis, inputs.ndim, "gather")
    if indices.dtype == np.int64 and indices.size and inputs.size and not inputs.dtype.hasobject:
        memory.hold((*inputs.shape[:axis], *indices.shape, *inputs.shape[axis + 1 :]), inputs.dtype)
        with suppress(IndexError):  # which `places_in` words
            return np.asarray(np.take(inputs, indices, axis))
    places = places_in("gather", indices, inputs.shape[axis])
    result = memory.empty((*inputs.shape[:axis], *places.shape, *inputs.shape[axis + 1 :]), inputs.dtype)
    if result.size:
        np.take(inputs, places, axis, out=result, mode="clip")  # all are places; the mode spares a copy
    return result


def elements_at(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return, for each index, the element of `inputs` at its own place but for `axis`, where the index is the place.

    indices: of the rank of `inputs`, along other dimensions than `axis` not larger.
    """
    check_axis(axis, inputs.ndim, "gather_elements")
    others = [(n, m) for d, (n, m) in enumerate(zip(indices.shape, inputs.shape, strict=False)) if d != axis]
    if indices.ndim != inputs.ndim or any(n > m for n, m in others):
        raise InputError(f"gather_elements: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    places = places_in("gather_elements", indices, inputs.shape[axis])
    near = inputs[tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))]
    return np.take_along_axis(near, places, axis)


def tuples_at(inputs: NDArray[Any], indices: NDArray[Any], *, batch_dimensions: int = 0) -> NDArray[Any]:
    """Return for each tuple of coordinates, along the last dimension of `indices`, what it leads to in `inputs`.

    The first batch_dimensions of both are equal, and coordinates count from behind them. A tuple with fewer numbers
    than there are dimensions leads to a block.
    """
    batch = inputs.shape[: max(0, batch_dimensions)]
    if not 0 <= batch_dimensions < min(inputs.ndim, indices.ndim) or indices.shape[:batch_dimensions] != batch:
        raise InputError(
            f"gather_nd: {list(inputs.shape)} and {list(indices.shape)} have no {batch_dimensions} batches"
        )
    count = indices.shape[-1]
    if not count:
        raise NoKernel("gather_nd: it is not said what tuples of no numbers name")
    if count > inputs.ndim - batch_dimensions:
        raise InputError(f"gather_nd: tuples of {count} numbers do not fit {list(inputs.shape)}")
    at = indices.reshape(prod(batch), prod(indices.shape[batch_dimensions:-1]), count)
    data = inputs.reshape(prod(batch), *inputs.shape[batch_dimensions:])
    places = [places_in("gather_nd", at[..., i], size) for i, size in enumerate(data.shape[1 : count + 1])]
    result = memory.empty((*indices.shape[:-1], *inputs.shape[batch_dimensions + count :]), inputs.dtype)
    if result.size:
        found = data[(np.arange(prod(batch))[:, np.newaxis], *places)]
        result[...] = found.reshape(result.shape)
    return result
