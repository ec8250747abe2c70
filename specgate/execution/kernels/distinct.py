"""Distinct elements or slices, and the paths of a search through beams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape
from specgate.execution.kernels.moving_by_tensors import one_place
from specgate.execution.kernels.narrow import widened

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["distinct", "distinct_along", "paths_of_beams"]


def distinct(
    data: NDArray[Any], axis: NDArray[Any] | None = None, *, in_order: bool, int32_indices: bool, int32_counts: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the distinct elements, or slices along `axis`, where each first occurs, the place of each, and how often.

    axis: without it `data` is taken as a list. in_order: in rising order, else as they first occur. int32_indices:
    places are int32, not int64; narrow_counts: counts are. Raises NoKernel for nan, which equals nothing and has no
    order.
    """
    if data.dtype.kind != "O" and (data != data).any():  # noqa: PLR0124  # also of bfloat16
        raise NoKernel("unique: it is not said whether nan equals nan, and where it stands")
    moved = data.reshape(-1) if axis is None else np.moveaxis(data, one_place("unique", axis, data.ndim), 0)
    kind = np.dtype(np.int32 if int32_indices else np.int64)
    begins, places, counts = _ranked(moved)
    if not in_order:
        order = np.argsort(begins, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        begins, counts, places = begins[order], counts[order], rank[places]
    memory.hold(moved.shape, data.dtype)
    values = moved[begins]
    if axis is not None:
        values = np.ascontiguousarray(np.moveaxis(values, 0, one_place("unique", axis, data.ndim)))
    return values, begins.astype(kind), places.astype(kind), counts.astype(np.int32 if int32_counts else np.int64)


def distinct_along(
    data: NDArray[Any], *, axis: int | None = None, in_order: bool
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what `distinct` does, places and counts as int64; axis: a number, negative ones counted from the end."""
    place = None if axis is None else np.array(axis, np.int64)
    return distinct(data, place, in_order=in_order, int32_indices=False, int32_counts=False)


def _ranked(moved: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return where each distinct slice along the first axis first is, in rising order, which each is, and how often."""
    if moved.dtype.kind == "O" or not moved.size:
        return _ranked_rows(moved)
    flat = widened(moved.reshape(len(moved), -1))
    flat = flat.astype(np.float32) if flat.dtype.name == "bfloat16" else flat
    keys = flat.reshape(-1) if flat.shape[1] == 1 else flat
    axis = None if keys.ndim == 1 else 0
    _, begins, places, counts = np.unique(keys + keys.dtype.type(0), True, True, True, axis=axis)  # -0 is 0
    return begins, places.reshape(-1), counts


def _ranked_rows(moved: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """`_ranked` of texts, and of slices without elements, which are all equal."""
    rows = [tuple(row) for row in memory.in_time(moved.reshape(len(moved), -1).tolist())] if moved.size else []
    if not moved.size and len(moved):
        rows = [()] * len(moved)
    first: dict[Any, int] = {}
    for at, row in enumerate(memory.in_time(rows)):
        first.setdefault(row, at)
    number = {row: at for at, row in enumerate(sorted(first))}
    places = np.array([number[row] for row in rows], np.int64)
    counts = np.bincount(places, minlength=len(number)) if len(rows) else np.zeros(0, np.int64)
    return np.array([first[row] for row in number], np.int64), places, counts


def paths_of_beams(
    step_ids: NDArray[Any], parent_ids: NDArray[Any], lengths: NDArray[Any], end_token: NDArray[Any]
) -> NDArray[Any]:
    """Return for each batch and beam the ids on the path that ends there [steps, batch, beams].

    step_ids, parent_ids: [steps, batch, beams], the id of each step and the beam that it came from. A path has as many
    steps as `lengths` [batch] says, at most all; behind them, and behind the first end_token, is end_token.
    """
    require_shape("gather_tree", "parent_ids", parent_ids.shape, step_ids.shape)
    if step_ids.ndim != 3 or end_token.size != 1:
        raise InputError("gather_tree: expected steps, batches and beams, and one end token")
    require_shape("gather_tree", "lengths", lengths.shape, step_ids.shape[1:2])
    steps, _, beams = step_ids.shape
    end = end_token.reshape(-1)[0]
    result = memory.empty(step_ids.shape, step_ids.dtype)
    result[...] = end
    counts = lengths.astype(np.float64)
    if np.isnan(counts).any():
        raise NoKernel("gather_tree: it is not said what a length of nan is")
    for at, most in enumerate(memory.in_time(np.clip(counts, 0, steps).astype(np.int64).tolist())):
        last = most - 1
        if last < 0:
            continue
        beam = np.arange(beams)
        for step in range(last, -1, -1):
            result[step, at] = step_ids[step, at][beam]
            parents = parent_ids[step, at][beam]
            if not ((parents >= 0) & (parents < beams)).all():
                raise NoKernel(f"gather_tree: it is not said what a parent is that is no beam among {beams}")
            beam = parents.astype(np.int64)
        ended = np.maximum.accumulate(result[: last + 1, at] == end, axis=0)
        result[: last + 1, at][ended] = end
    return result
