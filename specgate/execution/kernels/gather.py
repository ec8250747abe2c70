"""Gather and embedding bags: elements and slices selected by indices."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, is_float, require_shape, round_to, to_float32, to_float64
from specgate.execution.kernels.pad_transpose import one_place

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    index_array = counted_dimensions(indices, index_dimensions, "indices")
    shape = (*inputs.shape[:axis], *index_array.shape, *inputs.shape[axis + 1 :])
    shape = (1,) * (rank - len(shape)) + shape
    if any(size != 1 for size in shape[: len(shape) - rank]):
        raise InputError(f"gather: the output shape {list(shape)} has more than {rank} dimensions")
    places, is_outside = places_and_outside(index_array, inputs.shape[axis])
    result = memory.empty(shape[len(shape) - rank :], inputs.dtype)
    flat = result.reshape(*inputs.shape[:axis], places.size, *inputs.shape[axis + 1 :])
    np.take(inputs, places.reshape(-1), axis, out=flat, mode="clip")
    missing_mask = is_outside.reshape((-1,) + (1,) * (rank - 1 - axis))
    return _mask_outside(
        result, np.broadcast_to(missing_mask, flat.shape).reshape(result.shape) if is_outside.any() else None
    )


def gather_elements(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return the `inputs` element at each index along `axis`.

    Other coordinates are the index's own. indices: of the shape of `inputs` apart from `axis`. Negative ones count from
    the end; results of out-of-range indices are masked.
    """
    check_axis(axis, inputs.ndim, "gather_elements")
    other_sizes = (*inputs.shape[:axis], *inputs.shape[axis + 1 :])
    if indices.ndim != inputs.ndim or (*indices.shape[:axis], *indices.shape[axis + 1 :]) != other_sizes:
        raise InputError(
            f"gather_elements: indices of shape {list(indices.shape)} do not match data of shape {list(inputs.shape)}"
        )
    places, is_outside = places_and_outside(indices, inputs.shape[axis])
    return _mask_outside(np.take_along_axis(inputs, places, axis), is_outside if is_outside.any() else None)


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
    idx = counted_dimensions(indices, index_dimensions, "indices")
    batch = data.shape[:batch_dimensions]
    count = idx.shape[-1]
    if not 0 <= batch_dimensions < min(data.ndim, idx.ndim) or idx.shape[:batch_dimensions] != batch:
        raise InputError(
            f"gather_nd: data {list(data.shape)} and indices {list(idx.shape)} do not share {batch_dimensions} "
            "batch dimensions"
        )
    if batch_dimensions + count > data.ndim:
        raise InputError(
            f"gather_nd: index tuples of {count} numbers are too long for data of shape {list(data.shape)}"
        )
    shape = (*idx.shape[:-1], *data.shape[batch_dimensions + count :])
    if len(shape) > rank:
        raise InputError(f"gather_nd: the output shape {list(shape)} has more than {rank} dimensions")
    sizes = data.shape[batch_dimensions : batch_dimensions + count]
    is_outside = np.zeros(idx.shape[:-1], np.bool_)
    coords: list[Any] = list(np.ix_(*map(np.arange, batch))) if batch else []
    coords = [coordinate.reshape(*coordinate.shape, *(1,) * (idx.ndim - 1 - batch_dimensions)) for coordinate in coords]
    for position, size in enumerate(sizes):
        places, is_beyond = places_and_outside(idx[..., position], size)
        coords.append(places)
        is_outside |= is_beyond
    result = memory.empty((1,) * (rank - len(shape)) + shape, inputs.dtype)
    result.reshape(shape)[...] = data[tuple(coords)]
    missing_mask = is_outside.reshape(is_outside.shape + (1,) * (len(shape) - is_outside.ndim))
    return _mask_outside(
        result, np.broadcast_to(missing_mask, shape).reshape(result.shape) if is_outside.any() else None
    )


def counted_dimensions(array: NDArray[Any], dimensions: int, noun: str) -> NDArray[Any]:
    """Return an array with its last dimensions only; the others have size 1."""
    left = array.ndim - dimensions
    if any(size != 1 for size in array.shape[:left]):
        raise InputError(
            f"of the {noun}, {list(array.shape)}, dimensions before the last {dimensions} have other sizes than 1"
        )
    return array.reshape(array.shape[left:])


def places_and_outside(indices: NDArray[Any], size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return non-negative indices, 0 for those out of range, and which are."""
    if indices.dtype.kind not in "iu":
        raise InputError(f"expected integers as indices, found {indices.dtype}")
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(2**63 - 1))
    index_array = indices.astype(np.int64, copy=False)
    index_array = np.where(index_array < 0, index_array + size, index_array)
    is_outside = (index_array < 0) | (index_array >= size)
    return np.where(is_outside, 0, index_array), is_outside


def _mask_outside(result: NDArray[Any], is_outside: NDArray[np.bool_] | None) -> NDArray[Any]:
    return result if is_outside is None else np.ma.MaskedArray(result, mask=is_outside)


def places_in(name: str, indices: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return non-negative indices; raise InputError for one out of range.

    Negative ones count from the end.
    """
    if indices.dtype.kind not in "iu":
        raise InputError(f"{name}: expected integers as indices, found {indices.dtype}")
    idx = np.asarray(indices, np.int64)
    if not idx.size or np.maximum.reduce(idx.view(np.uint64), axis=None) < size:  # negative ones become the largest
        return idx  # read-only
    is_outside = (idx < -size) | (idx >= size)
    if is_outside.any():
        raise InputError(f"{name}: index {int(idx[is_outside][0])} is out of range for size {size}")
    return np.where(idx < 0, idx + size, idx)


def gather_slices(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return `inputs` slices along `axis` selected by indices.

    The indices' dimensions replace `axis`.
    """
    check_axis(axis, inputs.ndim, "gather")
    if indices.dtype == np.int64 and indices.size and inputs.size and not inputs.dtype.hasobject:
        memory.check_budget((*inputs.shape[:axis], *indices.shape, *inputs.shape[axis + 1 :]), inputs.dtype)
        with suppress(IndexError):  # `places_in` words the error
            return np.asarray(np.take(inputs, indices, axis))
    places = places_in("gather", indices, inputs.shape[axis])
    result = memory.empty((*inputs.shape[:axis], *places.shape, *inputs.shape[axis + 1 :]), inputs.dtype)
    if result.size:
        np.take(inputs, places, axis, out=result, mode="clip")  # all indices are valid; the mode saves a copy
    return result


def gather_elements_along(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return the `inputs` element at each index along `axis`.

    Other coordinates are the index's own. indices: of the rank of `inputs`, not larger along other dimensions than
    `axis`.
    """
    check_axis(axis, inputs.ndim, "gather_elements")
    other_sizes = [(n, m) for d, (n, m) in enumerate(zip(indices.shape, inputs.shape, strict=False)) if d != axis]
    if indices.ndim != inputs.ndim or any(n > m for n, m in other_sizes):
        raise InputError(
            f"gather_elements: indices of shape {list(indices.shape)} do not match data of shape {list(inputs.shape)}"
        )
    places = places_in("gather_elements", indices, inputs.shape[axis])
    cropped_inputs = inputs[tuple(slice(None) if d == axis else slice(n) for d, n in enumerate(indices.shape))]
    return np.take_along_axis(cropped_inputs, places, axis)


def gather_nd_slices(inputs: NDArray[Any], indices: NDArray[Any], *, batch_dimensions: int = 0) -> NDArray[Any]:
    """Return the element or slice at each coordinate tuple of `indices`.

    Tuples are along the last dimension. The first batch_dimensions of both are equal, and coordinates start after them.
    A tuple shorter than the remaining rank selects a slice.
    """
    batch = inputs.shape[: max(0, batch_dimensions)]
    if not 0 <= batch_dimensions < min(inputs.ndim, indices.ndim) or indices.shape[:batch_dimensions] != batch:
        raise InputError(
            f"gather_nd: data {list(inputs.shape)} and indices {list(indices.shape)} do not share {batch_dimensions} "
            "batch dimensions"
        )
    count = indices.shape[-1]
    if not count:
        raise NoKernel("gather_nd: it is unspecified what empty index tuples select")
    if count > inputs.ndim - batch_dimensions:
        raise InputError(f"gather_nd: index tuples of {count} numbers do not match data of shape {list(inputs.shape)}")
    tuple_array = indices.reshape(prod(batch), prod(indices.shape[batch_dimensions:-1]), count)
    data = inputs.reshape(prod(batch), *inputs.shape[batch_dimensions:])
    places = [places_in("gather_nd", tuple_array[..., i], size) for i, size in enumerate(data.shape[1 : count + 1])]
    result = memory.empty((*indices.shape[:-1], *inputs.shape[batch_dimensions + count :]), inputs.dtype)
    if result.size:
        value = data[(np.arange(prod(batch))[:, np.newaxis], *places)]
        result[...] = value.reshape(result.shape)
    return result


def gather_elements_from_start(inputs: NDArray[Any], indices: NDArray[Any], *, axis: int) -> NDArray[Any]:
    """Return the `inputs` element at each non-negative index along `axis`.

    indices: of the sizes of `inputs` apart from `axis`.
    """
    check_axis(axis, inputs.ndim, "gather_elements")
    expected = list(inputs.shape)
    if indices.ndim == inputs.ndim:
        expected[axis] = indices.shape[axis]
    require_shape("gather_elements", "indices", indices.shape, expected)
    _require_from_start("gather_elements", indices)
    return gather_elements_along(inputs, indices, axis=axis)


def gather_nd_batched(
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
        _require_from_start("gather_nd", indices)
    result = gather_nd_slices(inputs, indices, batch_dimensions=batch_dimensions)
    if not merged or not batch_dimensions:
        return result
    return result.reshape(prod(result.shape[:batch_dimensions]), *result.shape[batch_dimensions:])


def scatter_update(
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
        raise InputError(f"scatter: expected updates of type {inputs.dtype}, found {updates.dtype}")
    _require_from_start("scatter", indices)
    slices: tuple[Any, ...] = (*(slice(None),) * place, places_in("scatter", indices, inputs.shape[place]))
    result = inputs.copy()
    result[slices] = updates
    return result


def _require_from_start(name: str, indices: NDArray[Any]) -> None:
    if indices.dtype.kind == "i" and np.any(indices < 0):
        raise InputError(f"{name}: expected no negative indices, found {int(indices.min())}")


#: Number of row elements added per block.
_BLOCK: Final = 2**11


def embedding_bag_offsets(
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
        raise NoKernel(f"bags: it is unspecified how the offsets {begins!r:.80} divide {indices.size} indices")
    indices = indices[begins[0] :] if begins else indices[:0]
    weights = None if weights is None else weights[len(weights) - len(indices) :]
    segments = np.repeat(np.arange(len(begins)), np.subtract(ends, begins).astype(np.int64))
    return _sums(table, indices, segments, len(begins), default_index, weights, reduction)


def embedding_bag_packed(
    table: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any] | None = None, *, reduction: str = "sum"
) -> NDArray[Any]:
    """Return `embedding_bag_offsets` for each row of `indices` [bags, indices per bag]."""
    if indices.ndim != 2:
        raise InputError(f"bags: expected 2-D indices, found rank {indices.ndim}")
    if weights is not None:
        require_shape("bags", "weights", weights.shape, indices.shape)
        weights = weights.reshape(-1)
    count, bag_size = indices.shape
    segments = np.repeat(np.arange(count), bag_size)
    return _sums(table, indices.reshape(-1), segments, count, None, weights, reduction)


def embedding_segments_sum(
    table: NDArray[Any],
    indices: NDArray[Any],
    segment_ids: NDArray[Any],
    num_segments: NDArray[Any],
    default_index: NDArray[Any] | None = None,
    weights: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return `embedding_bag_offsets` for each of num_segments.

    segment_ids: one per index, ascending.
    """
    require_shape("segments", "segment_ids", segment_ids.shape, indices.shape)
    count = int(num_segments.reshape(())) if num_segments.size == 1 else -1
    if count < 0 or (segment_ids < 0).any() or (segment_ids >= count).any() or (np.diff(segment_ids) < 0).any():
        raise InputError(f"segments: expected sorted segment_ids from 0 to below {count}")
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
        raise InputError("bags: expected a table of rank 1 or more and 1-D indices")
    if reduction not in {"sum", "mean"} or (reduction == "mean" and weights is not None):
        raise InputError(f"bags: expected the reduction sum, or mean without weights, found {reduction!r:.40}")
    result = memory.empty((count, *table.shape[1:]), table.dtype)
    total = np.zeros(result.shape, np.float64 if is_float(table.dtype) else table.dtype)
    if weights is not None:
        require_shape("bags", "weights", weights.shape, indices.shape)
        if weights.dtype != table.dtype:
            raise InputError(f"bags: expected weights of {table.dtype}, found {weights.dtype}")
    _rows(indices, len(table))
    chunk_size = max(1, _BLOCK // max(1, prod(table.shape[1:])))
    with memory.ignore_warnings():
        for first in memory.within_time_limit(range(0, len(indices), chunk_size)):
            part = slice(first, first + chunk_size)
            rows = to_float64(table[indices[part]])
            if weights is not None:
                rows = rows * to_float64(weights[part]).reshape(-1, *(1,) * (table.ndim - 1))
            np.add.at(total, segments[part], rows)
        filled_counts = np.bincount(segments, minlength=count) if count else np.zeros(0, np.int64)
        if reduction == "mean":
            divisors = np.maximum(filled_counts, 1).reshape(-1, *(1,) * (table.ndim - 1))
            total = total / divisors if is_float(table.dtype) else total // divisors.astype(table.dtype)
        default = -1 if default_index is None else int(default_index.reshape(-1)[0])
        if 0 <= default < len(table):
            total[filled_counts == 0] = to_float64(table[default])
        result[...] = round_to(total, table.dtype)
    if not -1 <= default < len(table) and (filled_counts == 0).any():
        mask = np.zeros(result.shape, np.bool_)
        mask[filled_counts == 0] = True
        return np.ma.MaskedArray(result, mask)
    return result


def _rows(indices: NDArray[Any], size: int) -> NDArray[Any]:
    is_outside = (indices < 0) | (indices >= size)
    if is_outside.any():
        raise InputError(f"bags: index {int(indices[is_outside][0])} is out of range for {size} rows")
    return indices


def segment_max(
    data: NDArray[Any], segment_ids: NDArray[Any], num_segments: NDArray[Any] | None = None, *, lowest: bool
) -> NDArray[Any]:
    """Return the maximum of each segment along the first dimension of `data`.

    segment_ids: the segment number of each slice, ascending. num_segments: default the last segment plus one; slices
    beyond are dropped. An empty segment has zeros, or the lowest number of the type if `lowest`.
    """
    if data.ndim == 0:
        raise InputError("segment_max: expected data of rank 1 or more")
    if data.dtype == np.bool_:
        raise InputError("segment_max: expected numbers, found bool")
    require_shape("segment_max", "segment_ids", segment_ids.shape, data.shape[:1])
    if (segment_ids < 0).any() or (segment_ids[1:] < segment_ids[:-1]).any():
        raise InputError("segment_max: expected sorted segment_ids of at least 0")
    count = int(num_segments.reshape(())) if num_segments is not None else int(segment_ids.max(initial=-1)) + 1
    if count < 0:
        raise InputError(f"segment_max: expected at least 0 segments, found {count}")
    result = memory.empty((count, *data.shape[1:]), data.dtype)
    result[...] = _lowest(data.dtype) if lowest else 0
    if data.size:
        first = np.flatnonzero(np.concatenate([[True], segment_ids[1:] != segment_ids[:-1]]))
        largest = np.maximum.reduceat(to_float32(data, data.dtype), first, axis=0)
        in_range = segment_ids[first] < count
        result[segment_ids[first][in_range]] = round_to(largest[in_range], data.dtype)
    return result


def _lowest(dtype: np.dtype[Any]) -> Any:
    """Return the lowest finite number of a type."""
    if not is_float(dtype):
        return np.iinfo(dtype).min
    if dtype.kind == "f":
        return np.finfo(dtype).min
    return np.array(0xFF7F, np.uint16).view(dtype)  # bfloat16: the upper half of float32's lowest


def sparse_fill_empty_rows(
    values: NDArray[Any], dense_shape: NDArray[Any], indices: NDArray[Any], default: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return indices and values with empty rows filled, and which were empty.

    An empty row gets an element at its first column. values: [n]; indices: [n, 2], row and column, ordered by row.
    dense_shape: rows and columns.
    """
    if indices.shape != (values.size, 2) or values.ndim != 1 or dense_shape.size != 2 or default.size != 1:
        raise InputError("sparse: expected one index pair per value, two sizes and one default value")
    rows = int(dense_shape.reshape(-1)[0])
    if rows < 0 or (indices < 0).any() or (indices >= dense_shape).any():
        raise InputError(f"sparse: an index is outside of {dense_shape.tolist()!r:.80}")
    if (np.diff(indices[:, 0]) < 0).any():
        raise NoKernel("sparse: the result for indices that are not sorted by row is unspecified")
    memory.check_budget((rows,), np.dtype(np.int64))
    empty = np.bincount(indices[:, 0], minlength=rows)[:rows] == 0 if rows else np.zeros(0, np.bool_)
    empty_rows = np.flatnonzero(empty)
    insert_places = np.searchsorted(indices[:, 0], empty_rows)
    pairs = np.insert(
        indices, insert_places, np.stack([empty_rows, np.zeros_like(empty_rows)], 1).astype(indices.dtype), axis=0
    )
    return pairs, np.insert(values, insert_places, default.reshape(-1)[:1].astype(values.dtype)), empty
