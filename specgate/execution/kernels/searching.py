"""Where numbers stand among sorted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import to_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["bucket_numbers", "places_to_insert"]


def bucket_numbers(
    data: NDArray[Any], boundaries: NDArray[Any], *, right_bound: bool = True, int32_indices: bool = False
) -> NDArray[Any]:
    """Return for each element how many of the rising `boundaries` lie below it, those equal to it not counted.

    right_bound: an interval has its right boundary; otherwise its left one, so that boundaries equal to the element
    count. int32_indices: the numbers are int32, not int64. What a nan would give is masked.
    """
    if boundaries.ndim != 1:
        raise InputError(f"bucket_numbers: expected boundaries of one dimension, found {boundaries.ndim}")
    sorted_ones = to_float32(boundaries, boundaries.dtype)
    if not (sorted_ones[1:] > sorted_ones[:-1]).all() or _open(sorted_ones).any():
        raise InputError("bucket_numbers: expected boundaries in rising order, no two alike")
    keys = to_float32(data, data.dtype)
    found = _places(sorted_ones, keys, after=not right_bound)
    return _result(found, _open(keys), int32_indices)


def places_to_insert(
    sequences: NDArray[Any], values: NDArray[Any], *, right: bool = False, int32_indices: bool = False
) -> NDArray[Any]:
    """Return where `values` would be inserted in rising `sequences` along their last dimension.

    sequences: of the sizes of values but for the last dimension, or one for all. right: behind elements that are equal,
    otherwise before them. int32_indices: the places are int32. Masked is what a nan or a sequence in another order
    would give.
    """
    if sequences.ndim == 0 or (sequences.ndim > 1 and sequences.shape[:-1] != values.shape[:-1]):
        found_shapes = f"{list(sequences.shape)} and {list(values.shape)}"
        raise NoKernel(f"places_to_insert: which sequence is for which value is not known, found {found_shapes}")
    lists, keys = to_float32(sequences, sequences.dtype), to_float32(values, values.dtype)
    with memory.quiet():
        unordered = (~(lists[..., 1:] >= lists[..., :-1])).any(-1, keepdims=True) | _open(lists).any(-1, keepdims=True)
    if sequences.ndim == 1:
        found, unknown = _places(lists, keys, after=right), _open(keys) | bool(unordered.any())
        return _result(found, unknown, int32_indices)
    found = np.empty(values.shape, np.int64)
    for place in memory.in_time(np.ndindex(values.shape[:-1])):
        found[place] = _places(lists[place], keys[place], after=right)
    return _result(found, _open(keys) | unordered, int32_indices)


def _places(sorted_ones: NDArray[Any], keys: NDArray[Any], *, after: bool) -> NDArray[Any]:
    """Return where keys stand among sorted numbers. Integers beside floats are compared as what they are."""
    if sorted_ones.dtype.kind != keys.dtype.kind and {sorted_ones.dtype.kind, keys.dtype.kind} <= {"i", "u"}:
        sorted_ones, keys = sorted_ones.astype(object), keys.astype(object)
    side: Any = "right" if after else "left"
    return np.asarray(np.searchsorted(sorted_ones, keys, side))


def _open(keys: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(keys) if keys.dtype.kind == "f" else np.zeros(keys.shape, np.bool_)


def _result(found: NDArray[Any], unknown: NDArray[np.bool_], narrow: bool) -> NDArray[Any]:
    places = found.astype(np.int32 if narrow else np.int64)
    return np.ma.MaskedArray(places, mask=np.broadcast_to(unknown, places.shape)) if unknown.any() else places
