"""One-hot encoding, shared by DirectML ONE_HOT, ONNX OneHot and OpenVINO OneHot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["one_hot"]


def one_hot(
    indices: NDArray[Any],
    values: NDArray[Any] | None = None,
    *,
    axis: int,
    depth: NDArray[Any] | int,
    index_axis: str,
    negative_indices: str,
    on_value: NDArray[Any] | None = None,
    off_value: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return an array with on_value where the position along `axis` equals the index, off_value elsewhere.

    indices: any integer or floating type (floats are truncated toward zero to int64). values: off_value and on_value
    as its first two elements in row-major order; or on_value and off_value as arrays of one element.
    depth: the output's size along `axis`. index_axis: "kept" if indices have that dimension with size 1, "inserted" if
    it is new. negative_indices: "ignored" (all off_value), "from_end", or "undefined" (masked in the result, as are
    positions of an index that no int64 can hold).
    """
    off, on = _off_on(values, on_value, off_value)
    size = _depth(depth)
    whole, no_number = _as_int64(np.asarray(indices))
    rank = whole.ndim + (index_axis == "inserted")
    position = axis + rank if axis < 0 and index_axis == "inserted" else axis
    if not 0 <= position < rank:
        raise InputError(f"one_hot: axis {axis} is not a position of {rank} dimensions")
    if index_axis == "kept":
        if whole.shape[position] != 1:
            raise InputError(f"one_hot: the indices have size {whole.shape[position]} along axis {axis}, expected 1")
        whole, no_number = np.squeeze(whole, position), np.squeeze(no_number, position)
    undefined = no_number | (whole < 0) if negative_indices == "undefined" else no_number
    result = _filled(whole, size, position, off, on, from_end=negative_indices == "from_end")
    return _masked(result, undefined, position)


def _off_on(
    values: NDArray[Any] | None, on_value: NDArray[Any] | None, off_value: NDArray[Any] | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    if values is not None:
        flat = np.asarray(values).reshape(-1)
        if flat.size < 2:
            raise InputError(f"one_hot: expected at least 2 values (off, on), found {flat.size}")
        return flat[0:1], flat[1:2]
    off, on = np.asarray(off_value).reshape(-1), np.asarray(on_value).reshape(-1)
    if off.size != 1 or on.size != 1 or off.dtype != on.dtype:
        raise InputError("one_hot: expected on_value and off_value as one element each, of one type")
    return off, on


def _depth(depth: NDArray[Any] | int) -> int:
    array = np.asarray(depth)
    if array.size != 1:
        raise InputError(f"one_hot: expected one depth, found {array.size}")
    number = array.reshape(()).item()
    if not -1 < number < 2**63:  # nan is neither; above -1 a float is truncated to 0 or more
        raise InputError(f"one_hot: expected a depth from 0 to 2**63 - 1, found {number}")
    return int(number)


def _as_int64(indices: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the indices as int64, and where they have no int64 value (nan, infinite or huge floats).

    A uint64 above the int64 range is larger than any depth, so it stays a (too large) index.
    """
    if indices.dtype.kind in "iu":
        if indices.dtype == np.uint64:
            indices = np.minimum(indices, np.uint64(2**63 - 1))
        return indices.astype(np.int64, copy=False), np.zeros(indices.shape, np.bool_)
    if indices.dtype.kind == "c" or indices.dtype.kind not in "fV":
        raise InputError(f"one_hot: indices of type {indices.dtype} have no integer value")
    wide = indices.astype(np.float64)
    bad = ~(np.abs(wide) < 2.0**63)
    return np.where(bad, 0.0, wide).astype(np.int64), bad


def _filled(
    whole: NDArray[np.int64], size: int, position: int, off: NDArray[Any], on: NDArray[Any], *, from_end: bool
) -> NDArray[Any]:
    """Fill with off_value, then write on_value through flat offsets: one pass over the output, one over the indices."""
    shape = (*whole.shape[:position], size, *whole.shape[position:])
    result = memory.full(shape, off[0], off.dtype)
    if whole.size == 0 or size == 0:
        return result
    inner = int(np.prod(whole.shape[position:], dtype=np.int64))
    flat = whole.reshape(-1)
    low = -size if from_end else 0
    if int(flat.min()) >= low and int(flat.max()) < size:
        rows: NDArray[Any] = np.arange(flat.size)
    else:
        rows = np.flatnonzero((flat >= low) & (flat < size))
        flat = flat[rows]
    if from_end:
        flat = np.where(flat < 0, flat + size, flat)
    outer, rest = (rows, 0) if inner == 1 else (rows // inner, rows % inner)
    result.reshape(-1)[(outer * size + flat) * inner + rest] = on[0]
    return result


def _masked(result: NDArray[Any], undefined: NDArray[np.bool_], position: int) -> NDArray[Any]:
    """Mask what has no defined value; an array without any stays a plain one."""
    if not undefined.any():
        return result
    mask = np.broadcast_to(np.expand_dims(undefined, position), result.shape)
    return np.ma.MaskedArray(result, mask=mask)
