"""The largest or smallest elements of sequences, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, to_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["top_elements", "top_k"]

#: Shorter sequences are sorted whole.
_LONG: Final = 256


def top_k(
    inputs: NDArray[Any], *, axis: int, k: int, largest: bool = True, index_type: np.dtype[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the k largest elements along `axis` in falling order, or the smallest in rising order, and their places.

    Of equal elements the earlier comes first. Sequences with a nan have no order, so their results are masked.
    index_type: of the places, int64 if None.
    """
    check_axis(axis, inputs.ndim, "top_k")
    size = inputs.shape[axis]
    if not 0 < k <= size:
        raise InputError(f"top_k: expected k from 1 to {size}, found {k}")
    keys = to_float32(inputs, inputs.dtype)
    if (found := _by_partition(inputs, keys, axis, k, largest)) is not None:
        return found[0], found[1].astype(index_type or np.int64)
    if largest:  # sorted backwards and turned round, so that equal elements keep their order
        order = size - 1 - np.flip(np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(keys, axis, kind="stable")
    places = np.take(order, range(k), axis)
    found = np.take_along_axis(inputs, places, axis), places.astype(index_type or np.int64)
    unordered = np.isnan(keys).any(axis, keepdims=True) if keys.dtype.kind == "f" else np.zeros(1, np.bool_)
    if not unordered.any():
        return found
    mask = np.broadcast_to(unordered, places.shape)
    return np.ma.MaskedArray(found[0], mask=mask), np.ma.MaskedArray(found[1], mask=mask)


def _by_partition(
    inputs: NDArray[Any], keys: NDArray[Any], axis: int, k: int, largest: bool
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return values and places of `top_k`, found among the few elements that are not beyond the k-th one.

    None where that is no gain: of short sequences, many elements, many that equal the k-th one, and of nan.
    """
    size = keys.shape[axis]
    if keys.dtype.kind not in "fiu" or size < _LONG or k * 8 > size or not keys.size:
        return None
    rows = np.moveaxis(keys, axis, -1).reshape(-1, size)
    if keys.dtype.kind == "f" and np.isnan(rows).any():
        return None
    which = np.empty((len(rows), k), np.int64)
    for row, found in zip(memory.in_time(rows), which, strict=True):
        edge = np.partition(row, size - k if largest else k - 1)[size - k if largest else k - 1]
        near = np.flatnonzero(row >= edge if largest else row <= edge)  # in their order, so that the earlier is first
        if len(near) > 4 * k:
            return None
        values = row[near]
        order = (
            len(near) - 1 - np.argsort(values[::-1], kind="stable")[::-1]
            if largest
            else np.argsort(values, kind="stable")
        )
        found[:] = near[order[:k]]
    shape = (*keys.shape[:axis], *keys.shape[axis + 1 :], k)
    places = np.ascontiguousarray(np.moveaxis(which.reshape(shape), -1, axis))
    return np.take_along_axis(inputs, places, axis), places


def top_elements(
    inputs: NDArray[Any],
    k: NDArray[Any] | int,
    *,
    axis: int,
    largest: bool = True,
    order: str = "value",
    stable: bool = True,
    int32_indices: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what `top_k` does; k: a number, or an array of one integer.

    order: of the results, by `value`, by `index`, or `none`, which leaves it open. stable: of equal elements the
    earlier comes first; otherwise what depends on it is masked. int32_indices: the places are int32, not int64.
    """
    count = np.asarray(k)
    if count.size != 1 or count.ndim > 1 or count.dtype.kind not in "iu":
        raise InputError(f"top_k: expected k as one integer, found {count.dtype}{list(count.shape)}")
    if order not in {"value", "index", "none"}:
        raise InputError(f"top_k: unknown order {order!r:.60}; known: value, index, none")
    number = int(count.reshape(()))
    index_type = np.dtype(np.int32 if int32_indices else np.int64)
    if not number:
        check_axis(axis, inputs.ndim, "top_k")
        none = np.take(inputs, range(0), axis)
        return none, np.zeros(none.shape, index_type)
    found = top_k(inputs, axis=axis, k=number, largest=largest, index_type=index_type)
    if order == "value" and stable:
        return found
    values, places = _open(inputs, found, axis, order, stable)
    if order != "index":
        return values, places
    turn = np.argsort(np.ma.getdata(places), axis, kind="stable")
    return _turned(values, turn, axis), _turned(places, turn, axis)


def _turned(array: NDArray[Any], turn: NDArray[Any], axis: int) -> NDArray[Any]:
    plain = np.take_along_axis(np.ma.getdata(array), turn, axis)
    mask = np.ma.getmask(array)
    return plain if mask is np.ma.nomask else np.ma.MaskedArray(plain, mask=np.take_along_axis(mask, turn, axis))


def _open(
    inputs: NDArray[Any], found: tuple[NDArray[Any], NDArray[Any]], axis: int, order: str, stable: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return values and places, in the order of `top_k`, with those masked that order and ties leave open."""
    values, places = found
    plain = np.ma.getdata(values)
    if order == "none":
        unknown = np.broadcast_to(np.bool_(plain.shape[axis] > 1), plain.shape)
        return np.ma.MaskedArray(plain, mask=unknown), np.ma.MaskedArray(np.ma.getdata(places), mask=True)
    if stable:
        return found
    last = np.take(plain, [-1], axis)
    cut = (inputs == last).sum(axis, keepdims=True) > (plain == last).sum(axis, keepdims=True)
    if order == "index":  # which of equal elements is taken decides where all others stand
        open_values = open_places = np.broadcast_to(cut, plain.shape)
    else:
        twice = np.zeros(plain.shape, np.bool_)
        for step in (1, -1):
            twice |= _beside(plain, axis, step)
        open_values, open_places = np.zeros(plain.shape, np.bool_), twice | (cut & (plain == last))
    masks = (np.ma.getmaskarray(each) for each in found)
    opened = (mask | more for mask, more in zip(masks, (open_values, open_places), strict=True))
    values_mask, places_mask = opened
    return np.ma.MaskedArray(plain, mask=values_mask), np.ma.MaskedArray(np.ma.getdata(places), mask=places_mask)


def _beside(values: NDArray[Any], axis: int, step: int) -> NDArray[np.bool_]:
    """Return where an ordered sequence has the same value one place before (step 1) or behind (step -1)."""
    ordered = np.moveaxis(values, axis, 0)
    same = np.zeros(ordered.shape, np.bool_)
    if step > 0:
        same[1:] = ordered[1:] == ordered[:-1]
    else:
        same[:-1] = ordered[1:] == ordered[:-1]
    return np.moveaxis(same, 0, axis)
