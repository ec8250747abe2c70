"""Elements written, or combined with what is there, at the places that indices name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, round_to, to_float32
from specgate.execution.kernels.lookup import places_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["scatter_elements", "scatter_tuples"]

_COMBINED: Final = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scatter_elements(
    inputs: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], *, axis: int, reduction: str = "none"
) -> NDArray[Any]:
    """Return `inputs` with each update at its own place but for `axis`, where its index is the place.

    reduction: none (the last one stands), add, mul, max or min, of what is there and the updates one after the other.
    """
    check_axis(axis, inputs.ndim, "scatter")
    require_shape("scatter", "updates", updates.shape, indices.shape)
    others = [(n, m) for d, (n, m) in enumerate(zip(indices.shape, inputs.shape, strict=False)) if d != axis]
    if indices.ndim != inputs.ndim or any(n > m for n, m in others):
        raise InputError(f"scatter: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    places: list[NDArray[Any]] = list(np.indices(indices.shape, np.int64, sparse=True))
    places[axis] = places_in("scatter", indices, inputs.shape[axis])
    return _written(inputs, tuple(places), updates, reduction)


def scatter_tuples(
    inputs: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], *, reduction: str = "none"
) -> NDArray[Any]:
    """Return `inputs` with each update where its tuple of coordinates, along the last dimension of indices, leads.

    A tuple with fewer numbers than there are dimensions leads to a block, one of none to all. reduction: as for
    `scatter_elements`.
    """
    if not indices.ndim or not inputs.ndim or indices.shape[-1] > inputs.ndim:
        raise InputError(f"scatter: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    count = indices.shape[-1]
    if not count:
        first = np.zeros((*indices.shape[:-1], 1), np.int64)
        return np.asarray(scatter_tuples(inputs[np.newaxis], first, updates, reduction=reduction)[0])
    require_shape("scatter", "updates", updates.shape, (*indices.shape[:-1], *inputs.shape[count:]))
    places = [places_in("scatter", indices[..., i], size) for i, size in enumerate(inputs.shape[:count])]
    return _written(inputs, tuple(places), updates, reduction)


def _written(
    inputs: NDArray[Any], places: tuple[NDArray[Any], ...], updates: NDArray[Any], reduction: str
) -> NDArray[Any]:
    if updates.dtype != inputs.dtype:
        raise InputError(f"scatter: expected updates of {inputs.dtype}, found {updates.dtype}")
    if reduction == "none":
        result = inputs.copy()
        result[places] = updates
        return result
    if reduction not in _COMBINED or inputs.dtype.kind in "OUS":
        raise InputError(f"scatter: expected none, add, mul, max or min of numbers, found {reduction!r:.60} of "
                         f"{inputs.dtype}")  # fmt: skip
    values = to_float32(inputs, inputs.dtype).copy()
    with memory.quiet():
        _COMBINED[reduction].at(values, places, to_float32(updates, updates.dtype))
        return round_to(values, inputs.dtype)
