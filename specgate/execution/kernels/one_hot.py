"""One-hot encoding: DirectML ONE_HOT, ONNX OneHot and OpenVINO OneHot."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["one_hot"]

_BLOCK_BYTES: Final = 2**21
_TABLE_BYTES: Final = 2**18


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
    """Return on_value where the position along `axis` equals the index.

    Other elements are off_value. indices: any integer or floating type (floats are truncated toward zero to int64).
    values: off_value and on_value as its first two elements in row-major order; or on_value and off_value as arrays of
    one element. depth: the output's size along `axis`. index_axis: "kept" if indices have that dimension with size 1,
    "inserted" if it is new. negative_indices: "ignored" (all off_value), "from_end", or "undefined" (masked in the
    result, as are positions of an index beyond int64).
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
    if array.size != 1 or array.ndim > 1:
        raise InputError(f"one_hot: expected depth as a scalar or one element, found the shape {list(array.shape)}")
    number = array.reshape(()).item()
    if not -1 < number < 2**63:  # nan fails both comparisons; above -1 a float is truncated to 0 or more
        raise InputError(f"one_hot: expected a depth from 0 to 2**63 - 1, found {number}")
    return int(number)


def _as_int64(indices: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the indices as int64, and where they have no int64 value.

    Those are nan, infinite and huge floats. A uint64 above the int64 range exceeds any depth, so it stays out of range.
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
    """Return the output: on_value at valid indices, off_value elsewhere."""
    result = memory.empty((*whole.shape[:position], size, *whole.shape[position:]), off.dtype)
    if result.size == 0:
        return result
    outer, inner = prod(whole.shape[:position]), prod(whole.shape[position:])
    if from_end:
        whole = np.where(whole < 0, whole + size, whole) if bool((whole < 0).any()) else whole
    target, indices = result.reshape(outer, size, inner), whole.reshape(outer, inner)
    if inner == 1 and (size + 1) * size * off.dtype.itemsize <= _TABLE_BYTES:
        _copy_rows(target[:, :, 0], indices[:, 0], off[0], on[0])
    else:
        _fill_and_write(target, indices, off[0], on[0])
    return result


def _copy_rows(target: NDArray[Any], indices: NDArray[np.int64], off: Any, on: Any) -> None:
    """Fill along the last axis by copying rows of a small table, in one pass."""
    size = target.shape[1]
    table = np.empty((size + 1, size), target.dtype)  # the last row is for indices out of range
    table.fill(off)  # numpy.full strips trailing NUL characters of a string
    np.fill_diagonal(table[:size], on)
    if not bool((indices.view(np.uint64) < np.uint64(size)).all()):  # a negative index is a huge unsigned one
        indices = np.where((indices >= 0) & (indices < size), indices, size)
    np.take(table, indices, axis=0, out=target, mode="clip")


def _fill_and_write(target: NDArray[Any], indices: NDArray[np.int64], off: Any, on: Any) -> None:
    """Fill block by block, and write each block's on_value while it is cached."""
    outer, size, inner = target.shape
    columns = max(1, min(inner, _BLOCK_BYTES // (size * target.itemsize)))
    rows = max(1, _BLOCK_BYTES // (size * columns * target.itemsize))
    for top in range(0, outer, rows):
        for left in range(0, inner, columns):
            block = target[top : top + rows, :, left : left + columns]
            block.fill(off)
            part = indices[top : top + rows, left : left + columns]
            row, column = np.nonzero((part >= 0) & (part < size))
            block[row, part[row, column], column] = on


def _masked(result: NDArray[Any], undefined: NDArray[np.bool_], position: int) -> NDArray[Any]:
    """Mask undefined elements; an array without any stays unmasked."""
    if not undefined.any():
        return result
    mask = np.broadcast_to(np.expand_dims(undefined, position), result.shape)
    return np.ma.MaskedArray(result, mask=mask)
