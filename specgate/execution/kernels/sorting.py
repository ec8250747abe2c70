"""The largest or smallest elements of sequences, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import check_axis, to_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["top_elements", "top_k"]


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


def top_elements(
    inputs: NDArray[Any], k: NDArray[Any] | int, *, axis: int, largest: bool = True
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what `top_k` does, with int64 places; k: a number, or an array of one integer."""
    count = np.asarray(k)
    if count.size != 1 or count.ndim > 1 or count.dtype.kind not in "iu":
        raise InputError(f"top_k: expected k as one integer, found {count.dtype}{list(count.shape)}")
    number = int(count.reshape(()))
    if not number:
        check_axis(axis, inputs.ndim, "top_k")
        none = np.take(inputs, range(0), axis)
        return none, np.zeros(none.shape, np.int64)
    return top_k(inputs, axis=axis, k=number, largest=largest)
