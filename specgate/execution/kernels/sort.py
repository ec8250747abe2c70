"""TopK, Unique, SearchSorted, Bucketize and beam search paths.

DirectML TOP_K; ONNX TopK, Unique; OpenVINO Bucketize, GatherTree, SearchSorted, TopK, Unique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, to_float32
from specgate.execution.kernels.narrow_types import widen_array
from specgate.execution.kernels.pad_transpose import one_place

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Shorter sequences are fully sorted.
_MIN_PARTITION_LENGTH: Final = 256


def top_k(
    inputs: NDArray[Any], *, axis: int, k: int, largest: bool = True, index_type: np.dtype[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the top k elements along `axis` in order, and their indices.

    The largest in descending or the smallest in ascending order; of equal elements the earlier comes first. Sequences
    with nan are masked. index_type: default int64.
    """
    check_axis(axis, inputs.ndim, "top_k")
    size = inputs.shape[axis]
    if not 0 < k <= size:
        raise InputError(f"top_k: expected k from 1 to {size}, found {k}")
    keys = to_float32(inputs, inputs.dtype)
    if (arrays := _top_by_partition(inputs, keys, axis, k, largest)) is not None:
        return arrays[0], arrays[1].astype(index_type or np.int64)
    if largest:  # sorted backwards and reversed, which keeps the order of equal elements
        order = size - 1 - np.flip(np.argsort(np.flip(keys, axis), axis, kind="stable"), axis)
    else:
        order = np.argsort(keys, axis, kind="stable")
    places = np.take(order, range(k), axis)
    arrays = np.take_along_axis(inputs, places, axis), places.astype(index_type or np.int64)
    unordered = np.isnan(keys).any(axis, keepdims=True) if keys.dtype.kind == "f" else np.zeros(1, np.bool_)
    if not unordered.any():
        return arrays
    mask = np.broadcast_to(unordered, places.shape)
    return np.ma.MaskedArray(arrays[0], mask=mask), np.ma.MaskedArray(arrays[1], mask=mask)


def _top_by_partition(
    inputs: NDArray[Any], keys: NDArray[Any], axis: int, k: int, largest: bool
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return values and indices of `top_k` by partition at the k-th element.

    None where that is slower: for short sequences, large k, many elements equal to the k-th one, and nan.
    """
    size = keys.shape[axis]
    if keys.dtype.kind not in "fiu" or size < _MIN_PARTITION_LENGTH or k * 8 > size or not keys.size:
        return None
    rows = np.moveaxis(keys, axis, -1).reshape(-1, size)
    if keys.dtype.kind == "f" and np.isnan(rows).any():
        return None
    row_order = np.empty((len(rows), k), np.int64)
    for row, array in zip(memory.within_time_limit(rows), row_order, strict=True):
        edge = np.partition(row, size - k if largest else k - 1)[size - k if largest else k - 1]
        tie_candidates = np.flatnonzero(
            row >= edge if largest else row <= edge
        )  # in input order: the earlier comes first
        if len(tie_candidates) > 4 * k:
            return None
        values = row[tie_candidates]
        order = (
            len(tie_candidates) - 1 - np.argsort(values[::-1], kind="stable")[::-1]
            if largest
            else np.argsort(values, kind="stable")
        )
        array[:] = tie_candidates[order[:k]]
    shape = (*keys.shape[:axis], *keys.shape[axis + 1 :], k)
    places = np.ascontiguousarray(np.moveaxis(row_order.reshape(shape), -1, axis))
    return np.take_along_axis(inputs, places, axis), places


def top_k_along(
    inputs: NDArray[Any],
    k: NDArray[Any] | int,
    *,
    axis: int,
    largest: bool = True,
    order: str = "value",
    stable: bool = True,
    int32_indices: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `top_k` in a given order, as in OpenVINO TopK.

    k: a number, or an array of one integer. order: by `value`, by `index`, or `none`, which is unspecified. stable: of
    equal elements the earlier comes first; otherwise results that depend on ties are masked. int32_indices: indices are
    int32, not int64.
    """
    count = np.asarray(k)
    if count.size != 1 or count.ndim > 1 or count.dtype.kind not in "iu":
        raise InputError(f"top_k: expected k of one integer, found {count.dtype}{list(count.shape)}")
    if order not in {"value", "index", "none"}:
        raise InputError(f"top_k: unknown order {order!r:.60}; known: value, index, none")
    number = int(count.reshape(()))
    index_type = np.dtype(np.int32 if int32_indices else np.int64)
    if not number:
        check_axis(axis, inputs.ndim, "top_k")
        empty_values = np.take(inputs, range(0), axis)
        return empty_values, np.zeros(empty_values.shape, index_type)
    arrays = top_k(inputs, axis=axis, k=number, largest=largest, index_type=index_type)
    if order == "value" and stable:
        return arrays
    values, places = _mask_unspecified(inputs, arrays, axis, order, stable)
    if order != "index":
        return values, places
    turn = np.argsort(np.ma.getdata(places), axis, kind="stable")
    return _take_order(values, turn, axis), _take_order(places, turn, axis)


def _take_order(array: NDArray[Any], turn: NDArray[Any], axis: int) -> NDArray[Any]:
    data = np.take_along_axis(np.ma.getdata(array), turn, axis)
    mask = np.ma.getmask(array)
    return data if mask is np.ma.nomask else np.ma.MaskedArray(data, mask=np.take_along_axis(mask, turn, axis))


def _mask_unspecified(
    inputs: NDArray[Any], arrays: tuple[NDArray[Any], NDArray[Any]], axis: int, order: str, stable: bool
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return values and indices with unspecified ones masked.

    Arguments are in the order of `top_k`.
    """
    values, places = arrays
    plain_values = np.ma.getdata(values)
    if order == "none":
        unknown = np.broadcast_to(np.bool_(plain_values.shape[axis] > 1), plain_values.shape)
        return np.ma.MaskedArray(plain_values, mask=unknown), np.ma.MaskedArray(np.ma.getdata(places), mask=True)
    if stable:
        return arrays
    last = np.take(plain_values, [-1], axis)
    cut = (inputs == last).sum(axis, keepdims=True) > (plain_values == last).sum(axis, keepdims=True)
    if order == "index":  # the choice among equal elements moves all others
        open_values = open_places = np.broadcast_to(cut, plain_values.shape)
    else:
        is_tied = np.zeros(plain_values.shape, np.bool_)
        for step in (1, -1):
            is_tied |= _equals_neighbor(plain_values, axis, step)
        open_values, open_places = np.zeros(plain_values.shape, np.bool_), is_tied | (cut & (plain_values == last))
    masks = (np.ma.getmaskarray(array) for array in arrays)
    open_masks = (mask | tie_mask for mask, tie_mask in zip(masks, (open_values, open_places), strict=True))
    values_mask, places_mask = open_masks
    return np.ma.MaskedArray(plain_values, mask=values_mask), np.ma.MaskedArray(np.ma.getdata(places), mask=places_mask)


def _equals_neighbor(values: NDArray[Any], axis: int, step: int) -> NDArray[np.bool_]:
    """Return where a sorted sequence equals its neighbor.

    step: -1 for the element before, 1 for the one after.
    """
    ordered = np.moveaxis(values, axis, 0)
    equals_next = np.zeros(ordered.shape, np.bool_)
    if step > 0:
        equals_next[1:] = ordered[1:] == ordered[:-1]
    else:
        equals_next[:-1] = ordered[1:] == ordered[:-1]
    return np.moveaxis(equals_next, 0, axis)


def bucketize(
    data: NDArray[Any], boundaries: NDArray[Any], *, right_bound: bool = True, int32_indices: bool = False
) -> NDArray[Any]:
    """Return the bucket of each element: the number of boundaries below it.

    Boundaries are ascending; equal ones do not count. right_bound: intervals include their right boundary; otherwise
    their left one, so equal boundaries count. int32_indices: int32 results, not int64. nan is masked.
    """
    if boundaries.ndim != 1:
        raise InputError(f"bucketize: expected 1-D boundaries, found rank {boundaries.ndim}")
    sorted_ones = to_float32(boundaries, boundaries.dtype)
    if not (sorted_ones[1:] > sorted_ones[:-1]).all() or _is_open(sorted_ones).any():
        raise InputError("bucketize: expected strictly increasing boundaries")
    keys = to_float32(data, data.dtype)
    array = _places(sorted_ones, keys, after=not right_bound)
    return _result(array, _is_open(keys), int32_indices)


def search_sorted(
    sequences: NDArray[Any], values: NDArray[Any], *, right: bool = False, int32_indices: bool = False
) -> NDArray[Any]:
    """Return insertion positions of `values` in sorted `sequences`.

    sequences: of the sizes of values apart from the last dimension, or one for all. right: after equal elements,
    otherwise before them. int32_indices: positions are int32. Masked for nan and for unsorted sequences.
    """
    if sequences.ndim == 0 or (sequences.ndim > 1 and sequences.shape[:-1] != values.shape[:-1]):
        found_shapes = f"{list(sequences.shape)} and {list(values.shape)}"
        raise NoKernel(f"search_sorted: expected a 1-D sequence, or equal leading dimensions, found {found_shapes}")
    lists, keys = to_float32(sequences, sequences.dtype), to_float32(values, values.dtype)
    with memory.ignore_warnings():
        unordered = (~(lists[..., 1:] >= lists[..., :-1])).any(-1, keepdims=True) | _is_open(lists).any(
            -1, keepdims=True
        )
    if sequences.ndim == 1:
        array, unknown = _places(lists, keys, after=right), _is_open(keys) | bool(unordered.any())
        return _result(array, unknown, int32_indices)
    array = np.empty(values.shape, np.int64)
    for place in memory.within_time_limit(np.ndindex(values.shape[:-1])):
        array[place] = _places(lists[place], keys[place], after=right)
    return _result(array, _is_open(keys) | unordered, int32_indices)


def _places(sorted_ones: NDArray[Any], keys: NDArray[Any], *, after: bool) -> NDArray[Any]:
    """Return positions of keys in sorted numbers.

    Integers and floats are compared exactly.
    """
    if sorted_ones.dtype.kind != keys.dtype.kind and {sorted_ones.dtype.kind, keys.dtype.kind} <= {"i", "u"}:
        sorted_ones, keys = sorted_ones.astype(object), keys.astype(object)
    side: Any = "right" if after else "left"
    return np.asarray(np.searchsorted(sorted_ones, keys, side))


def _is_open(keys: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(keys) if keys.dtype.kind == "f" else np.zeros(keys.shape, np.bool_)


def _result(array: NDArray[Any], unknown: NDArray[np.bool_], narrow: bool) -> NDArray[Any]:
    places = array.astype(np.int32 if narrow else np.int64)
    return np.ma.MaskedArray(places, mask=np.broadcast_to(unknown, places.shape)) if unknown.any() else places


def unique(
    data: NDArray[Any], axis: NDArray[Any] | None = None, *, in_order: bool, int32_indices: bool, int32_counts: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return unique elements, first indices, inverse indices and counts.

    axis: unique slices along it; without it `data` is flattened. in_order: sorted ascending, else in order of first
    occurrence. int32_indices: indices are int32, not int64; int32_counts: counts are. Raises NoKernel for nan, which
    equals nothing and has no order.
    """
    if data.dtype.kind != "O" and (data != data).any():  # noqa: PLR0124  # also of bfloat16
        raise NoKernel("unique: it is unspecified whether nan equals nan, and how it is sorted")
    leading_slices = data.reshape(-1) if axis is None else np.moveaxis(data, one_place("unique", axis, data.ndim), 0)
    kind = np.dtype(np.int32 if int32_indices else np.int64)
    begins, places, counts = _rank_slices(leading_slices)
    if not in_order:
        order = np.argsort(begins, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        begins, counts, places = begins[order], counts[order], rank[places]
    memory.check_budget(leading_slices.shape, data.dtype)
    values = leading_slices[begins]
    if axis is not None:
        values = np.ascontiguousarray(np.moveaxis(values, 0, one_place("unique", axis, data.ndim)))
    return values, begins.astype(kind), places.astype(kind), counts.astype(np.int32 if int32_counts else np.int64)


def unique_along(
    data: NDArray[Any], *, axis: int | None = None, in_order: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `distinct` with int64 indices and counts.

    axis: negative ones count from the end.
    """
    place = None if axis is None else np.array(axis, np.int64)
    return unique(data, place, in_order=in_order, int32_indices=False, int32_counts=False)


def _rank_slices(leading_slices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return first indices, inverse and counts of sorted unique slices.

    Slices are along the first axis.
    """
    if leading_slices.dtype.kind == "O" or not leading_slices.size:
        return _ranked_rows(leading_slices)
    flat = widen_array(leading_slices.reshape(len(leading_slices), -1))
    flat = flat.astype(np.float32) if flat.dtype.name == "bfloat16" else flat
    keys = flat.reshape(-1) if flat.shape[1] == 1 else flat
    axis = None if keys.ndim == 1 else 0
    _, begins, places, counts = np.unique(keys + keys.dtype.type(0), True, True, True, axis=axis)  # -0 is 0
    return begins, places.reshape(-1), counts


def _ranked_rows(leading_slices: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `_rank_slices` for strings, and for empty slices, which are all equal."""
    rows = (
        [tuple(row) for row in memory.within_time_limit(leading_slices.reshape(len(leading_slices), -1).tolist())]
        if leading_slices.size
        else []
    )
    if not leading_slices.size and len(leading_slices):
        rows = [()] * len(leading_slices)
    first: dict[Any, int] = {}
    for row_index, row in enumerate(memory.within_time_limit(rows)):
        first.setdefault(row, row_index)
    number = {row: index for index, row in enumerate(sorted(first))}
    places = np.array([number[row] for row in rows], np.int64)
    counts = np.bincount(places, minlength=len(number)) if len(rows) else np.zeros(0, np.int64)
    return np.array([first[row] for row in number], np.int64), places, counts


def gather_tree(
    step_ids: NDArray[Any], parent_ids: NDArray[Any], lengths: NDArray[Any], end_token: NDArray[Any]
) -> NDArray[Any]:
    """Return the ids on the path of each beam, [steps, batch, beams].

    step_ids, parent_ids: [steps, batch, beams], the id of each step and its parent beam. A path has `lengths` [batch]
    steps, clamped; after them, and after the first end_token, follows end_token.
    """
    require_shape("gather_tree", "parent_ids", parent_ids.shape, step_ids.shape)
    if step_ids.ndim != 3 or end_token.size != 1:
        raise InputError("gather_tree: expected step_ids [steps, batch, beams] and one end token")
    require_shape("gather_tree", "lengths", lengths.shape, step_ids.shape[1:2])
    steps, _, beams = step_ids.shape
    end = end_token.reshape(-1)[0]
    result = memory.empty(step_ids.shape, step_ids.dtype)
    result[...] = end
    counts = lengths.astype(np.float64)
    if np.isnan(counts).any():
        raise NoKernel("gather_tree: it is unspecified what a length of nan means")
    for batch_index, step_count in enumerate(
        memory.within_time_limit(np.clip(counts, 0, steps).astype(np.int64).tolist())
    ):
        last = step_count - 1
        if last < 0:
            continue
        beam = np.arange(beams)
        for step in range(last, -1, -1):
            result[step, batch_index] = step_ids[step, batch_index][beam]
            parents = parent_ids[step, batch_index][beam]
            if not ((parents >= 0) & (parents < beams)).all():
                raise NoKernel(f"gather_tree: it is unspecified what a parent outside the {beams} beams means")
            beam = parents.astype(np.int64)
        has_ended = np.maximum.accumulate(result[: last + 1, batch_index] == end, axis=0)
        result[: last + 1, batch_index][has_ended] = end
    return result
