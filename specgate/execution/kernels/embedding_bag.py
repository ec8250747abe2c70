"""Embedding bags: sums of table rows per bag of indices.

OpenVINO EmbeddingBagOffsets, EmbeddingBagPacked, EmbeddingSegmentsSum, SegmentMax, SparseFillEmptyRows.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float32, to_float64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fill_empty_rows", "segment_max", "sum_bags", "sum_packed", "sum_segments"]

#: Number of row elements added per block.
_BLOCK: Final = 2**11


def sum_bags(
    table: NDArray[Any],
    indices: NDArray[Any],
    offsets: NDArray[Any],
    default_index: NDArray[Any] | None = None,
    weights: NDArray[Any] | None = None,
    *,
    reduction: str = "sum",
) -> NDArray[Any]:
    """Return the sum or mean of weighted `table` rows per bag of indices.

    offsets: start of each bag in `indices`, ascending. weights: one per index. An empty bag gets the row default_index,
    or zeros where that is -1 or absent; with an index that is not a row, empty bags are masked.
    """
    begins = offsets.tolist()
    ends = [*begins[1:], indices.size] if begins else []
    if weights is not None:
        require_shape("bags", "weights", weights.shape, indices.shape)
    if any(not 0 <= first <= last <= indices.size for first, last in zip(begins, ends, strict=True)):
        raise NoKernel(
            f"bags: it is unspecified how to read bags with offsets {begins!r:.80} into {indices.size} indices"
        )
    indices = indices[begins[0] :] if begins else indices[:0]
    weights = None if weights is None else weights[len(weights) - len(indices) :]
    segments = np.repeat(np.arange(len(begins)), np.subtract(ends, begins).astype(np.int64))
    return _sums(table, indices, segments, len(begins), default_index, weights, reduction)


def sum_packed(
    table: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any] | None = None, *, reduction: str = "sum"
) -> NDArray[Any]:
    """Return `sum_bags` for each row of `indices` [bags, indices per bag]."""
    if indices.ndim != 2:
        raise InputError(f"bags: expected indices of two dimensions, found {indices.ndim}")
    if weights is not None:
        require_shape("bags", "weights", weights.shape, indices.shape)
        weights = weights.reshape(-1)
    count, each = indices.shape
    segments = np.repeat(np.arange(count), each)
    return _sums(table, indices.reshape(-1), segments, count, None, weights, reduction)


def sum_segments(
    table: NDArray[Any],
    indices: NDArray[Any],
    segment_ids: NDArray[Any],
    num_segments: NDArray[Any],
    default_index: NDArray[Any] | None = None,
    weights: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return `sum_bags` for each of num_segments.

    segment_ids: one per index, ascending.
    """
    require_shape("segments", "segment_ids", segment_ids.shape, indices.shape)
    count = int(num_segments.reshape(())) if num_segments.size == 1 else -1
    if count < 0 or (segment_ids < 0).any() or (segment_ids >= count).any() or (np.diff(segment_ids) < 0).any():
        raise InputError(f"segments: expected segment_ids in rising order from 0 on, below {count}")
    return _sums(table, indices, segment_ids, count, default_index, weights, "sum")


def _sums(
    table: NDArray[Any],
    indices: NDArray[Any],
    segments: NDArray[Any],
    count: int,
    default_index: NDArray[Any] | None,
    weights: NDArray[Any] | None,
    reduction: str,
) -> NDArray[Any]:
    if not table.ndim or indices.ndim != 1:
        raise InputError("bags: expected a table of one dimension or more, and a list of indices")
    if reduction not in {"sum", "mean"} or (reduction == "mean" and weights is not None):
        raise InputError(f"bags: expected a sum, or a mean without weights, found {reduction!r:.40}")
    result = memory.empty((count, *table.shape[1:]), table.dtype)
    total = np.zeros(result.shape, np.float64 if is_float(table.dtype) else table.dtype)
    if weights is not None:
        require_shape("bags", "weights", weights.shape, indices.shape)
        if weights.dtype != table.dtype:
            raise InputError(f"bags: expected weights of {table.dtype}, found {weights.dtype}")
    _rows(indices, len(table))
    some = max(1, _BLOCK // max(1, prod(table.shape[1:])))
    with memory.quiet():
        for first in memory.in_time(range(0, len(indices), some)):
            part = slice(first, first + some)
            rows = to_float64(table[indices[part]])
            if weights is not None:
                rows = rows * to_float64(weights[part]).reshape(-1, *(1,) * (table.ndim - 1))
            np.add.at(total, segments[part], rows)
        filled = np.bincount(segments, minlength=count) if count else np.zeros(0, np.int64)
        if reduction == "mean":
            divisors = np.maximum(filled, 1).reshape(-1, *(1,) * (table.ndim - 1))
            total = total / divisors if is_float(table.dtype) else total // divisors.astype(table.dtype)
        default = -1 if default_index is None else int(default_index.reshape(-1)[0])
        if 0 <= default < len(table):
            total[filled == 0] = to_float64(table[default])
        result[...] = round_to(total, table.dtype)
    if not -1 <= default < len(table) and (filled == 0).any():
        mask = np.zeros(result.shape, np.bool_)
        mask[filled == 0] = True
        return np.ma.MaskedArray(result, mask)
    return result


def _rows(indices: NDArray[Any], size: int) -> NDArray[Any]:
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        raise InputError(f"bags: index {int(indices[outside][0])} is out of range for {size} rows")
    return indices


def segment_max(
    data: NDArray[Any], segment_ids: NDArray[Any], num_segments: NDArray[Any] | None = None, *, lowest: bool
) -> NDArray[Any]:
    """Return the maximum of each segment along the first dimension of `data`.

    segment_ids: the segment number of each slice, ascending. num_segments: default the last segment plus one; slices
    beyond are dropped. An empty segment has zeros, or the lowest number of the type if `lowest`.
    """
    if data.ndim == 0:
        raise InputError("segment_max: expected data of at least one dimension")
    if data.dtype == np.bool_:
        raise InputError("segment_max: expected numbers, found bool")
    require_shape("segment_max", "segment_ids", segment_ids.shape, data.shape[:1])
    if (segment_ids < 0).any() or (segment_ids[1:] < segment_ids[:-1]).any():
        raise InputError("segment_max: expected segment_ids of 0 and above, in rising order")
    count = int(num_segments.reshape(())) if num_segments is not None else int(segment_ids.max(initial=-1)) + 1
    if count < 0:
        raise InputError(f"segment_max: expected 0 segments or more, found {count}")
    result = memory.empty((count, *data.shape[1:]), data.dtype)
    result[...] = _lowest(data.dtype) if lowest else 0
    if data.size:
        first = np.flatnonzero(np.concatenate([[True], segment_ids[1:] != segment_ids[:-1]]))
        largest = np.maximum.reduceat(to_float32(data, data.dtype), first, axis=0)
        kept = segment_ids[first] < count
        result[segment_ids[first][kept]] = round_to(largest[kept], data.dtype)
    return result


def _lowest(dtype: np.dtype[Any]) -> Any:
    """Return the lowest finite number of a type."""
    if not is_float(dtype):
        return np.iinfo(dtype).min
    if dtype.kind == "f":
        return np.finfo(dtype).min
    return np.array(0xFF7F, np.uint16).view(dtype)  # bfloat16: the upper half of float32's lowest


def fill_empty_rows(
    values: NDArray[Any], dense_shape: NDArray[Any], indices: NDArray[Any], default: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return indices and values with empty rows filled, and which were empty.

    An empty row gets an element at its first column. values: [n]; indices: [n, 2], row and column, ordered by row.
    dense_shape: rows and columns.
    """
    if indices.shape != (values.size, 2) or values.ndim != 1 or dense_shape.size != 2 or default.size != 1:
        raise InputError("sparse: expected as many pairs of indices as values, two sizes and one default")
    rows = int(dense_shape.reshape(-1)[0])
    if rows < 0 or (indices < 0).any() or (indices >= dense_shape).any():
        raise InputError(f"sparse: an index is outside of {dense_shape.tolist()!r:.80}")
    if (np.diff(indices[:, 0]) < 0).any():
        raise NoKernel("sparse: it is unspecified the order of rows that are not ascending")
    memory.hold((rows,), np.dtype(np.int64))
    empty = np.bincount(indices[:, 0], minlength=rows)[:rows] == 0 if rows else np.zeros(0, np.bool_)
    added = np.flatnonzero(empty)
    at = np.searchsorted(indices[:, 0], added)
    pairs = np.insert(indices, at, np.stack([added, np.zeros_like(added)], 1).astype(indices.dtype), axis=0)
    return pairs, np.insert(values, at, default.reshape(-1)[:1].astype(values.dtype)), empty
