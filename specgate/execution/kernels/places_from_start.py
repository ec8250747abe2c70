"""Elements read and written at places that are counted from the start alone, where other kernels take negative ones."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import check_axis, require_shape
from specgate.execution.kernels.lookup import elements_at, places_in, tuples_at
from specgate.execution.kernels.moving_by_tensors import one_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["elements_from_start", "entries_replaced", "tuples_in_batches"]


def elements_from_start(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return, for each index, the element of `inputs` at its own place but for `axis`, where the index is the place.

    indices: of the sizes of `inputs` but for `axis`.
    """
    check_axis(axis, inputs.ndim, "gather_elements")
    expected = list(inputs.shape)
    if indices.ndim == inputs.ndim:
        expected[axis] = indices.shape[axis]
    require_shape("gather_elements", "indices", indices.shape, expected)
    _hold_from_start("gather_elements", indices)
    return elements_at(inputs, indices, axis=axis)


def tuples_in_batches(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    *,
    batch_dimensions: int = 0,
    merged: bool,
    from_end: bool = False,
) -> NDArray[Any]:
    """Return for each tuple of coordinates, along the last dimension of `indices`, what it leads to in `inputs`.

    The first batch_dimensions of both are equal. merged: they are one dimension of the result, and coordinates are
    from 0 on, unless from_end; otherwise all of them stay, and negative coordinates count from the end.
    """
    if merged and not from_end:
        _hold_from_start("gather_nd", indices)
    result = tuples_at(inputs, indices, batch_dimensions=batch_dimensions)
    if not merged or not batch_dimensions:
        return result
    return result.reshape(prod(result.shape[:batch_dimensions]), *result.shape[batch_dimensions:])


def entries_replaced(
    inputs: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], axis: NDArray[Any]
) -> NDArray[Any]:
    """Return `inputs` with the entries along `axis` that the indices name replaced by `updates`, the last one stands.

    updates: of the sizes of `inputs` with those of `indices` in the place of `axis`.
    """
    place = one_place("scatter", axis, inputs.ndim)
    shape = (*inputs.shape[:place], *indices.shape, *inputs.shape[place + 1 :])
    require_shape("scatter", "updates", updates.shape, shape)
    if updates.dtype != inputs.dtype:
        raise InputError(f"scatter: expected updates of {inputs.dtype}, found {updates.dtype}")
    _hold_from_start("scatter", indices)
    at: tuple[Any, ...] = (*(slice(None),) * place, places_in("scatter", indices, inputs.shape[place]))
    result = inputs.copy()
    result[at] = updates
    return result


def _hold_from_start(name: str, indices: NDArray[Any]) -> None:
    if indices.dtype.kind == "i" and np.any(indices < 0):
        raise InputError(f"{name}: expected no indices below 0, found {int(indices.min())}")
