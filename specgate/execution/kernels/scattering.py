"""Elements written at the places that indices name, each at most once; where that is not so, the result is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import check_axis, require_shape
from specgate.execution.kernels.gather import counted_dimensions, places_and_outside

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["write_elements", "write_tuples"]


def write_elements(inputs: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return `inputs` with each update at its own place but along `axis`, where its index is the place.

    indices, updates: of the shape of `inputs` apart from `axis`. Negative indices count from the end. Masked where
    several updates go, and as a whole where an index is no place.
    """
    check_axis(axis, inputs.ndim, "scatter")
    others = (*inputs.shape[:axis], *inputs.shape[axis + 1 :])
    if indices.ndim != inputs.ndim or (*indices.shape[:axis], *indices.shape[axis + 1 :]) != others:
        raise InputError(f"scatter: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    places, outside = places_and_outside(indices, inputs.shape[axis])
    at: list[NDArray[Any]] = list(np.indices(indices.shape, np.int64, sparse=True))
    at[axis] = places
    return _written(inputs, tuple(at), updates, outside, indices.shape)


def write_tuples(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    input_dimensions: int,
    index_dimensions: int,
) -> NDArray[Any]:
    """Return `inputs` with each update where its tuple of coordinates, along the last dimension of indices, leads.

    All have one rank; of `inputs` and `indices` only so many last dimensions count, those before have size 1. A tuple
    with fewer numbers than there are dimensions leads to a block. updates: one for each tuple, behind sizes of 1.
    Negative coordinates count from the end. Masked where several updates go, and as a whole where a tuple leads
    outside.
    """
    rank = inputs.ndim
    if indices.ndim != rank or not (1 <= input_dimensions <= rank and 1 <= index_dimensions <= rank):
        raise InputError(f"scatter: {input_dimensions} and {index_dimensions} dimensions of {rank} and {indices.ndim}")
    data = counted_dimensions(inputs, input_dimensions, "input")
    chosen = counted_dimensions(indices, index_dimensions, "indices")
    count = chosen.shape[-1]
    if count > data.ndim:
        raise InputError(f"scatter: tuples of {count} numbers are too long for {list(data.shape)}")
    shape = (*chosen.shape[:-1], *data.shape[count:])
    require_shape("scatter", "updates", updates.shape, (1,) * (rank - len(shape)) + shape)
    found = [places_and_outside(chosen[..., i], size) for i, size in enumerate(data.shape[:count])]
    outside = np.any([beyond for _, beyond in found], axis=0)
    made = _written(data, tuple(places for places, _ in found), updates.reshape(shape), outside, chosen.shape[:-1])
    return made.reshape(inputs.shape)


def _written(
    inputs: NDArray[Any],
    places: tuple[NDArray[Any], ...],
    updates: NDArray[Any],
    outside: NDArray[np.bool_],
    shape: tuple[int, ...],
) -> NDArray[Any]:
    """Write the updates whose place is inside. places: for each of the first dimensions, broadcast to `shape`."""
    if updates.dtype != inputs.dtype:
        raise InputError(f"scatter: expected updates of {inputs.dtype}, found {updates.dtype}")
    require_shape("scatter", "updates", updates.shape, (*shape, *inputs.shape[len(places) :]))
    inside = ~np.broadcast_to(outside, shape)
    at = tuple(np.broadcast_to(each, shape)[inside] for each in places)
    result = inputs.copy()
    result[at] = updates[inside]
    if not inside.all():  # an implementation may write it anywhere
        return np.ma.MaskedArray(result, np.ones(result.shape, np.bool_))
    times = np.zeros(inputs.shape[: len(places)], np.int32)
    np.add.at(times, at, 1)
    several = times > 1
    if not several.any():
        return result
    wide = several.reshape(several.shape + (1,) * (inputs.ndim - several.ndim))
    return np.ma.MaskedArray(result, np.broadcast_to(wide, inputs.shape))
