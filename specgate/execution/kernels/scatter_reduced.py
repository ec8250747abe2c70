"""Elements combined with what others are written to the same place, with or without what was there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float32
from specgate.execution.kernels.lookup import places_in
from specgate.execution.kernels.moving_by_tensors import one_place
from specgate.execution.kernels.narrow import is_stored

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["combine_elements", "combine_tuples"]

_COMBINED: Final = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "sub": np.subtract}
_TRUTHS: Final = {"sum": np.logical_or, "prod": np.logical_and, "max": np.logical_or, "min": np.logical_and}


def combine_elements(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    axis: NDArray[Any],
    *,
    reduction: str = "none",
    with_inputs: bool = True,
    from_start: bool = False,
) -> NDArray[Any]:
    """Return `inputs` with each update at its own place but for `axis`, where its index is the place.

    reduction: none (the last one stands), sum, prod, min, max or mean of the updates of one place, and of what is there
    if with_inputs. A mean of integers is rounded down. from_start: indices are not counted from the end.
    """
    at = one_place("scatter", axis, inputs.ndim)
    require_shape("scatter", "updates", updates.shape, indices.shape)
    others = [(n, m) for d, (n, m) in enumerate(zip(indices.shape, inputs.shape, strict=False)) if d != at]
    if indices.ndim != inputs.ndim or any(n > m for n, m in others):
        raise InputError(f"scatter: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    if from_start and (indices < 0).any():
        raise InputError("scatter: an index is negative")
    places: list[NDArray[Any]] = list(np.indices(indices.shape, np.int64, sparse=True))
    places[at] = places_in("scatter", indices, inputs.shape[at])
    return _combined(inputs, tuple(places), indices.shape, updates, reduction, with_inputs=with_inputs)


def combine_tuples(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    reduction: str = "none",
    from_start: bool = False,
) -> NDArray[Any]:
    """Return `inputs` with each update where its tuple of coordinates, along the last dimension of indices, leads.

    A tuple with fewer numbers than there are dimensions leads to a block. Where one tuple leads to one element, updates
    may be that element in any shape. reduction: as for `combine_elements`, also sub, and no mean.
    """
    if not indices.ndim or not inputs.ndim or indices.shape[-1] > inputs.ndim:
        raise InputError(f"scatter: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    count = indices.shape[-1]
    if not count:  # a tuple of none leads to all
        first = np.zeros((*indices.shape[:-1], 1), np.int64)
        return np.asarray(combine_tuples(inputs[np.newaxis], first, updates, reduction=reduction)[0])
    if from_start and (indices < 0).any():
        raise InputError("scatter: an index is negative")
    shape = (*indices.shape[:-1], *inputs.shape[count:])
    updates = updates.reshape(shape) if shape == () and updates.size == 1 else updates
    require_shape("scatter", "updates", updates.shape, shape)
    places = tuple(places_in("scatter", indices[..., i], size) for i, size in enumerate(inputs.shape[:count]))
    return _combined(inputs, places, shape, updates, reduction, with_inputs=True)


def _combined(
    inputs: NDArray[Any],
    places: tuple[NDArray[Any], ...],
    shape: tuple[int, ...],
    updates: NDArray[Any],
    reduction: str,
    *,
    with_inputs: bool,
) -> NDArray[Any]:
    """shape: of what the places lead to."""
    if updates.dtype != inputs.dtype:
        raise InputError(f"scatter: expected updates of {inputs.dtype}, found {updates.dtype}")
    result = inputs.copy()
    if reduction == "none":
        result[places] = updates.reshape(shape)
        return result
    known = _TRUTHS if inputs.dtype.kind == "b" else {**_COMBINED, "mean": np.add}
    if reduction not in known or inputs.dtype.kind in "OUS":
        raise InputError(f"scatter: no {reduction!r:.40} of {inputs.dtype}")
    if is_stored(inputs.dtype):
        raise NoKernel(f"scatter: no kernel for {reduction} of {inputs.dtype}")
    with memory.quiet():
        values = to_float32(result, inputs.dtype).copy()
        added = to_float32(updates, updates.dtype)
        if not with_inputs:
            values[places] = _neutral(reduction, values.dtype)
        known[reduction].at(values, places, added)
        if reduction == "mean":
            values = _mean(values, places, shape, with_inputs=with_inputs)
        return round_to(values, inputs.dtype)


def _mean(
    sums: NDArray[Any], places: tuple[NDArray[Any], ...], shape: tuple[int, ...], *, with_inputs: bool
) -> NDArray[Any]:
    counts = np.zeros(sums.shape, np.int64)
    np.add.at(counts, places, np.ones(shape, np.int64))
    counts = np.where(counts > 0, counts + with_inputs, 1)
    if is_float(sums.dtype):
        return np.asarray(sums / counts.astype(sums.dtype))
    return np.asarray(sums // counts.astype(sums.dtype))


def _neutral(reduction: str, dtype: np.dtype[Any]) -> Any:
    """Return what changes nothing."""
    if dtype.kind == "b":
        return reduction in {"prod", "min"}
    if reduction in {"sum", "mean", "prod"}:
        return dtype.type(reduction == "prod")
    if is_float(dtype):
        return dtype.type(np.inf if reduction == "min" else -np.inf)
    return np.iinfo(dtype).max if reduction == "min" else np.iinfo(dtype).min
