"""Gather: elements and slices selected by indices.

DirectML GATHER, GATHER_ELEMENTS, GATHER_ND; ONNX Gather, GatherElements, GatherND; OpenVINO GatherElements, GatherND,
ScatterUpdate.
"""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape
from specgate.execution.kernels.pad_transpose import one_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "counted_dimensions", "elements_at", "elements_from_start", "entries_replaced", "gather", "gather_elements",
    "gather_nd", "places_and_outside", "places_in", "slices_at", "tuples_at", "tuples_in_batches",
]  # fmt: skip


def gather(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int, index_dimensions: int) -> NDArray[Any]:
    """Return `inputs` slices along `axis` selected by indices.

    The indices' dimensions replace `axis`. indices: of the rank of `inputs`; only the last index_dimensions count, the
    leading ones have size 1. The result has that rank as well: leading dimensions of size 1 are dropped or added.
    Negative indices count from the end; results of out-of-range indices are masked.
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
    """Return the `inputs` element at each index along `axis`.

    Other coordinates are the index's own. indices: of the shape of `inputs` apart from `axis`. Negative ones count from
    the end; results of out-of-range indices are masked.
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
    """Return the element or slice at each coordinate tuple of `indices`.

    Tuples are along the last dimension. Of both arrays, of equal rank, only the stated number of last dimensions count,
    and the first batch_dimensions of those are equal. A tuple shorter than the rank selects a slice. The result has the
    rank of `inputs` with leading dimensions of size 1. Negative numbers count from the end; results of out-of-range
    indices are masked.
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
    """Return an array with its last dimensions only; the others have size 1."""
    left = array.ndim - dimensions
    if any(size != 1 for size in array.shape[:left]):
        raise InputError(
            f"of the {what}, {list(array.shape)}, dimensions before the last {dimensions} have other sizes than 1"
        )
    return array.reshape(array.shape[left:])


def places_and_outside(indices: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return non-negative indices, 0 for those out of range, and which are."""
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


def places_in(name: str, indices: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return non-negative indices; raise InputError for one out of range.

    Negative ones count from the end.
    """
    if indices.dtype.kind not in "iu":
        raise InputError(f"{name}: expected integers as indices, found {indices.dtype}")
    whole = np.asarray(indices, np.int64)
    if not whole.size or np.maximum.reduce(whole.view(np.uint64), axis=None) < size:  # negative ones become the largest
        return whole  # read-only
    outside = (whole < -size) | (whole >= size)
    if outside.any():
        raise InputError(f"{name}: index {int(whole[outside][0])} is out of range for size {size}")
    return np.where(whole < 0, whole + size, whole)


def slices_at(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return `inputs` slices along `axis` selected by indices.

    The indices' dimensions replace `axis`.
    """
    check_axis(axis, inputs.ndim, "gather")
    if indices.dtype == np.int64 and indices.size and inputs.size and not inputs.dtype.hasobject:
        memory.hold((*inputs.shape[:axis], *indices.shape, *inputs.shape[axis + 1 :]), inputs.dtype)
        with suppress(IndexError):  # `places_in` words the error
            return np.asarray(np.take(inputs, indices, axis))
    places = places_in("gather", indices, inputs.shape[axis])
    result = memory.empty((*inputs.shape[:axis], *places.shape, *inputs.shape[axis + 1 :]), inputs.dtype)
    if result.size:
        np.take(inputs, places, axis, out=result, mode="clip")  # all indices are valid; the mode saves a copy
    return result


def elements_at(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return the `inputs` element at each index along `axis`.

    Other coordinates are the index's own. indices: of the rank of `inputs`, not larger along other dimensions than
    `axis`.
    """
    check_axis(axis, inputs.ndim, "gather_elements")
    others = [(n, m) for d, (n, m) in enumerate(zip(indices.shape, inputs.shape, strict=False)) if d != axis]
    if indices.ndim != inputs.ndim or any(n > m for n, m in others):
        raise InputError(f"gather_elements: indices of shape {list(indices.shape)} do not fit {list(inputs.shape)}")
    places = places_in("gather_elements", indices, inputs.shape[axis])
    near = inputs[tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))]
    return np.take_along_axis(near, places, axis)


def tuples_at(inputs: NDArray[Any], indices: NDArray[Any], *, batch_dimensions: int = 0) -> NDArray[Any]:
    """Return the element or slice at each coordinate tuple of `indices`.

    Tuples are along the last dimension. The first batch_dimensions of both are equal, and coordinates start after them.
    A tuple shorter than the remaining rank selects a slice.
    """
    batch = inputs.shape[: max(0, batch_dimensions)]
    if not 0 <= batch_dimensions < min(inputs.ndim, indices.ndim) or indices.shape[:batch_dimensions] != batch:
        raise InputError(
            f"gather_nd: {list(inputs.shape)} and {list(indices.shape)} have no {batch_dimensions} batches"
        )
    count = indices.shape[-1]
    if not count:
        raise NoKernel("gather_nd: it is unspecified what empty index tuples select")
    if count > inputs.ndim - batch_dimensions:
        raise InputError(f"gather_nd: tuples of {count} numbers do not fit {list(inputs.shape)}")
    at = indices.reshape(prod(batch), prod(indices.shape[batch_dimensions:-1]), count)
    data = inputs.reshape(prod(batch), *inputs.shape[batch_dimensions:])
    places = [places_in("gather_nd", at[..., i], size) for i, size in enumerate(data.shape[1 : count + 1])]
    result = memory.empty((*indices.shape[:-1], *inputs.shape[batch_dimensions + count :]), inputs.dtype)
    if result.size:
        value = data[(np.arange(prod(batch))[:, np.newaxis], *places)]
        result[...] = value.reshape(result.shape)
    return result


def elements_from_start(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return the `inputs` element at each non-negative index along `axis`.

    indices: of the sizes of `inputs` apart from `axis`.
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
    """Return the element or slice at each coordinate tuple, per batch.

    The first batch_dimensions of both are equal. merged: they become one dimension of the result, and coordinates are
    non-negative unless from_end; otherwise all of them stay, and negative coordinates count from the end.
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
    """Return `inputs` with slices along `axis` replaced by `updates`.

    Of repeated indices the last update wins. updates: of the sizes of `inputs`, with those of `indices` instead of
    `axis`.
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
        raise InputError(f"{name}: expected no negative indices, found {int(indices.min())}")
