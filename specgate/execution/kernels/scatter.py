"""Scatter: elements or slices written or reduced at indices.

DirectML SCATTER, SCATTER_ND; ONNX Scatter, ScatterElements, ScatterND; OpenVINO ScatterElementsUpdate, ScatterNDUpdate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, is_float, require_shape, round_to, to_float32
from specgate.execution.kernels.gather import counted_dimensions, places_and_outside, places_in
from specgate.execution.kernels.narrow_types import is_stored
from specgate.execution.kernels.pad_transpose import one_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COMBINERS: Final = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}


def scatter_elements(
    inputs: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], *, axis: int, reduction: str = "none"
) -> NDArray[Any]:
    """Return `inputs` with updates at indices along `axis`.

    Other coordinates are the update's own. reduction: none (the last update wins), add, mul, max or min, sequentially
    with the existing element.
    """
    check_axis(axis, inputs.ndim, "scatter")
    require_shape("scatter", "updates", updates.shape, indices.shape)
    cropped_sizes = [(n, m) for d, (n, m) in enumerate(zip(indices.shape, inputs.shape, strict=False)) if d != axis]
    if indices.ndim != inputs.ndim or any(n > m for n, m in cropped_sizes):
        raise InputError(
            f"scatter: indices of shape {list(indices.shape)} do not match data of shape {list(inputs.shape)}"
        )
    places: list[NDArray[Any]] = list(np.indices(indices.shape, np.int64, sparse=True))
    places[axis] = places_in("scatter", indices, inputs.shape[axis])
    return _write_updates(inputs, tuple(places), updates, reduction)


def scatter_nd(
    inputs: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], *, reduction: str = "none"
) -> NDArray[Any]:
    """Return `inputs` with updates at coordinate tuples, as in ScatterND.

    Tuples are along the last dimension of indices. A tuple shorter than the rank selects a slice, an empty one
    everything. reduction: as in `scatter_elements`.
    """
    if not indices.ndim or not inputs.ndim or indices.shape[-1] > inputs.ndim:
        raise InputError(
            f"scatter: indices of shape {list(indices.shape)} do not match data of shape {list(inputs.shape)}"
        )
    count = indices.shape[-1]
    if not count:
        first = np.zeros((*indices.shape[:-1], 1), np.int64)
        return np.asarray(scatter_nd(inputs[np.newaxis], first, updates, reduction=reduction)[0])
    require_shape("scatter", "updates", updates.shape, (*indices.shape[:-1], *inputs.shape[count:]))
    places = [places_in("scatter", indices[..., i], size) for i, size in enumerate(inputs.shape[:count])]
    return _write_updates(inputs, tuple(places), updates, reduction)


def _write_updates(
    inputs: NDArray[Any], places: tuple[NDArray[Any], ...], updates: NDArray[Any], reduction: str
) -> NDArray[Any]:
    if updates.dtype != inputs.dtype:
        raise InputError(f"scatter: expected updates of type {inputs.dtype}, found {updates.dtype}")
    if reduction == "none":
        result = inputs.copy()
        result[places] = updates
        return result
    if reduction not in _COMBINERS or inputs.dtype.kind in "OUS":
        raise InputError(f"scatter: expected none, add, mul, max or min of numbers, found {reduction!r:.60} of "
                         f"{inputs.dtype}")  # fmt: skip
    values = to_float32(inputs, inputs.dtype).copy()
    with memory.ignore_warnings():
        _COMBINERS[reduction].at(values, places, to_float32(updates, updates.dtype))
        return round_to(values, inputs.dtype)


_REDUCED: Final = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum, "sub": np.subtract}
_BOOLEAN_REDUCTIONS: Final = {"sum": np.logical_or, "prod": np.logical_and, "max": np.logical_or, "min": np.logical_and}


def scatter_elements_update(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    axis: NDArray[Any],
    *,
    reduction: str = "none",
    with_inputs: bool = True,
    from_start: bool = False,
) -> NDArray[Any]:
    """Return `inputs` with updates along `axis`, as in ScatterElementsUpdate.

    Other coordinates are the update's own. reduction: none (the last update wins), sum, prod, min, max or mean of the
    updates of one index, including the existing element if with_inputs. A mean of integers is rounded down. from_start:
    reject negative indices.
    """
    axis_number = one_place("scatter", axis, inputs.ndim)
    require_shape("scatter", "updates", updates.shape, indices.shape)
    cropped_sizes = [
        (n, m) for d, (n, m) in enumerate(zip(indices.shape, inputs.shape, strict=False)) if d != axis_number
    ]
    if indices.ndim != inputs.ndim or any(n > m for n, m in cropped_sizes):
        raise InputError(
            f"scatter: indices of shape {list(indices.shape)} do not match data of shape {list(inputs.shape)}"
        )
    if from_start and (indices < 0).any():
        raise InputError("scatter: expected indices of at least 0, found a negative one")
    places: list[NDArray[Any]] = list(np.indices(indices.shape, np.int64, sparse=True))
    places[axis_number] = places_in("scatter", indices, inputs.shape[axis_number])
    return _combine_updates(inputs, tuple(places), indices.shape, updates, reduction, with_inputs=with_inputs)


def scatter_nd_update(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    reduction: str = "none",
    from_start: bool = False,
) -> NDArray[Any]:
    """Return `inputs` with updates at coordinate tuples (ScatterNDUpdate).

    Tuples are along the last dimension of indices; a tuple shorter than the rank selects a slice. For a single full
    tuple, updates may be one element of any shape. reduction: as in `scatter_elements_update`, also sub, without mean.
    """
    if not indices.ndim or not inputs.ndim or indices.shape[-1] > inputs.ndim:
        raise InputError(
            f"scatter: indices of shape {list(indices.shape)} do not match data of shape {list(inputs.shape)}"
        )
    count = indices.shape[-1]
    if not count:  # an empty tuple selects everything
        first = np.zeros((*indices.shape[:-1], 1), np.int64)
        return np.asarray(scatter_nd_update(inputs[np.newaxis], first, updates, reduction=reduction)[0])
    if from_start and (indices < 0).any():
        raise InputError("scatter: expected indices of at least 0, found a negative one")
    shape = (*indices.shape[:-1], *inputs.shape[count:])
    updates = updates.reshape(shape) if shape == () and updates.size == 1 else updates
    require_shape("scatter", "updates", updates.shape, shape)
    places = tuple(places_in("scatter", indices[..., i], size) for i, size in enumerate(inputs.shape[:count]))
    return _combine_updates(inputs, places, shape, updates, reduction, with_inputs=True)


def _combine_updates(
    inputs: NDArray[Any],
    places: tuple[NDArray[Any], ...],
    shape: tuple[int, ...],
    updates: NDArray[Any],
    reduction: str,
    *,
    with_inputs: bool,
) -> NDArray[Any]:
    """Return the combined result; shape: of the selected slices."""
    if updates.dtype != inputs.dtype:
        raise InputError(f"scatter: expected updates of type {inputs.dtype}, found {updates.dtype}")
    result = inputs.copy()
    if reduction == "none":
        result[places] = updates.reshape(shape)
        return result
    reductions = _BOOLEAN_REDUCTIONS if inputs.dtype.kind == "b" else {**_REDUCED, "mean": np.add}
    if reduction not in reductions or inputs.dtype.kind in "OUS":
        raise InputError(f"scatter: the reduction {reduction!r:.40} is not defined for {inputs.dtype}")
    if is_stored(inputs.dtype):
        raise NoKernel(f"scatter: {reduction} of {inputs.dtype} is not implemented")
    with memory.ignore_warnings():
        values = to_float32(result, inputs.dtype).copy()
        summands = to_float32(updates, updates.dtype)
        if not with_inputs:
            values[places] = _neutral_element(reduction, values.dtype)
        reductions[reduction].at(values, places, summands)
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


def _neutral_element(reduction: str, dtype: np.dtype[Any]) -> Any:
    """Return the neutral element of a reduction."""
    if dtype.kind == "b":
        return reduction in {"prod", "min"}
    if reduction in {"sum", "mean", "prod"}:
        return dtype.type(reduction == "prod")
    if is_float(dtype):
        return dtype.type(np.inf if reduction == "min" else -np.inf)
    return np.iinfo(dtype).max if reduction == "min" else np.iinfo(dtype).min


def scatter_into(inputs: NDArray[Any], indices: NDArray[Any], updates: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return `inputs` with updates along `axis`, as in DirectML SCATTER.

    Other coordinates are the update's own. indices, updates: of the shape of `inputs` apart from `axis`. Negative
    indices count from the end. Masked where several updates collide, and entirely for an index out of range.
    """
    check_axis(axis, inputs.ndim, "scatter")
    other_sizes = (*inputs.shape[:axis], *inputs.shape[axis + 1 :])
    if indices.ndim != inputs.ndim or (*indices.shape[:axis], *indices.shape[axis + 1 :]) != other_sizes:
        raise InputError(
            f"scatter: indices of shape {list(indices.shape)} do not match data of shape {list(inputs.shape)}"
        )
    places, is_outside = places_and_outside(indices, inputs.shape[axis])
    index_arrays: list[NDArray[Any]] = list(np.indices(indices.shape, np.int64, sparse=True))
    index_arrays[axis] = places
    return _scatter_updates(inputs, tuple(index_arrays), updates, is_outside, indices.shape)


def scatter_nd_into(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    updates: NDArray[Any],
    *,
    input_dimensions: int,
    index_dimensions: int,
) -> NDArray[Any]:
    """Return `inputs` with updates at tuples, as in DirectML SCATTER_ND.

    Tuples are along the last dimension of indices. All have one rank; of `inputs` and `indices` only the stated number
    of last dimensions count, the leading ones have size 1. A tuple shorter than the rank selects a slice. updates: one
    per tuple, after dimensions of size 1. Negative coordinates count from the end. Masked where several updates
    collide, and entirely for a tuple out of range.
    """
    rank = inputs.ndim
    if indices.ndim != rank or not (1 <= input_dimensions <= rank and 1 <= index_dimensions <= rank):
        raise InputError(f"scatter: {input_dimensions} and {index_dimensions} dimensions of {rank} and {indices.ndim}")
    data = counted_dimensions(inputs, input_dimensions, "input")
    index_array = counted_dimensions(indices, index_dimensions, "indices")
    count = index_array.shape[-1]
    if count > data.ndim:
        raise InputError(f"scatter: index tuples of {count} numbers are too long for data of shape {list(data.shape)}")
    shape = (*index_array.shape[:-1], *data.shape[count:])
    require_shape("scatter", "updates", updates.shape, (1,) * (rank - len(shape)) + shape)
    arrays = [places_and_outside(index_array[..., i], size) for i, size in enumerate(data.shape[:count])]
    is_outside = np.any([part_outside for _, part_outside in arrays], axis=0)
    array = _scatter_updates(
        data, tuple(places for places, _ in arrays), updates.reshape(shape), is_outside, index_array.shape[:-1]
    )
    return array.reshape(inputs.shape)


def _scatter_updates(
    inputs: NDArray[Any],
    places: tuple[NDArray[Any], ...],
    updates: NDArray[Any],
    is_outside: NDArray[np.bool_],
    shape: tuple[int, ...],
) -> NDArray[Any]:
    """Return `inputs` with the in-range updates written.

    places: per leading dimension, broadcast to `shape`.
    """
    if updates.dtype != inputs.dtype:
        raise InputError(f"scatter: expected updates of type {inputs.dtype}, found {updates.dtype}")
    require_shape("scatter", "updates", updates.shape, (*shape, *inputs.shape[len(places) :]))
    in_range = ~np.broadcast_to(is_outside, shape)
    index_arrays = tuple(np.broadcast_to(place_array, shape)[in_range] for place_array in places)
    result = inputs.copy()
    result[index_arrays] = updates[in_range]
    if not in_range.all():  # an implementation may write it anywhere
        return np.ma.MaskedArray(result, np.ones(result.shape, np.bool_))
    times = np.zeros(inputs.shape[: len(places)], np.int32)
    np.add.at(times, index_arrays, 1)
    has_duplicates = times > 1
    if not has_duplicates.any():
        return result
    duplicate_mask = has_duplicates.reshape(has_duplicates.shape + (1,) * (inputs.ndim - has_duplicates.ndim))
    return np.ma.MaskedArray(result, np.broadcast_to(duplicate_mask, inputs.shape))
