"""Pools whose paddings are two lists, or as many as keep the sizes, with three ways to round the number of windows."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import same_length
from specgate.execution.kernels.pooling import average_pool, max_pool
from specgate.execution.kernels.sliding_filters import AUTOMATIC
from specgate.execution.kernels.windows import Slide

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["largest_in_windows", "mean_in_windows"]

_LIMIT = 2**31


def largest_in_windows(
    data: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    dilations: Sequence[int] | None = None,
    auto_pad: str = "explicit",
    rounding: str = "floor",
    valid_rounds: bool = False,
    strided: bool = False,
    axis: int = 0,
    int32_indices: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the largest element under each window of `data` [batch, channel, spatial…], and its place.

    Padding is never found: where there is nothing else, or there is nan, the results are masked. The place is that in
    the flat dimensions of `data` from `axis` on, of int32 if narrow, else int64.
    """
    how = auto_pad, rounding, valid_rounds, strided
    slide = _slide(data.shape[2:], window, strides, dilations, begins, ends, *how)
    if not -data.ndim <= axis < data.ndim:
        raise InputError(f"pooling: axis {axis} is not one of {data.ndim} dimensions")
    kind = np.dtype(np.int32 if int32_indices else np.int64)
    shape = (*data.shape[:2], *slide.counts)
    if not prod(shape) or not data.size:
        values, places = memory.empty(shape, data.dtype), memory.empty(shape, kind)
        return np.ma.array(values, mask=True), np.ma.array(places, mask=True)
    values, places = max_pool(
        data,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=_ends(data, window, slide),
        dilations=slide.dilations,
        finite=False,
    )
    within = prod(data.shape[axis if axis >= 0 else axis + data.ndim :])
    places = (places % within).astype(kind)
    open_ = _without_input(data.shape[2:], window, slide) | (values != values)  # noqa: PLR0124  # also of bfloat16
    return (np.ma.array(values, mask=open_), np.ma.array(places, mask=open_)) if open_.any() else (values, places)


def mean_in_windows(
    data: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    exclude: bool,
    dilations: Sequence[int] | None = None,
    auto_pad: str = "explicit",
    rounding: str = "floor",
    strided: bool = False,
) -> NDArray[Any]:
    """Return the mean under each window, placed as in `largest_in_windows`.

    exclude: padding does not count, and the mean of nothing else is masked; otherwise it counts as zeros. Raises
    NoKernel where it counts and a window reaches behind it.
    """
    slide = _slide(data.shape[2:], window, strides, dilations, begins, ends, auto_pad, rounding, False, strided)
    shape = (*data.shape[:2], *slide.counts)
    behind = _ends(data, window, slide)
    if not exclude and any(more > end for more, end in zip(behind, slide.end, strict=True)):
        raise NoKernel("pooling: it is not said what counts where a window reaches behind the padding")
    if not prod(shape):
        return memory.empty(shape, data.dtype)
    if not data.size:
        return np.ma.array(memory.empty(shape, data.dtype), mask=True)
    found = average_pool(
        data,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=behind,
        include_padding=not exclude,
        dilations=slide.dilations,
    )
    empty = np.broadcast_to(_without_input(data.shape[2:], window, slide), shape)
    return np.ma.array(found, mask=empty) if exclude and empty.any() else found


def _slide(
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int] | None,
    begins: Sequence[int],
    ends: Sequence[int],
    auto_pad: str,
    rounding: str,
    valid: bool,
    strided: bool,
) -> Slide:
    """Return where windows lie.

    valid: `rounding` counts with auto_pad valid too; else it is known where it is even. strided: with same_upper and
    same_lower there are as many windows as strides begin in the input, else as many as it has elements.
    """
    rank = len(sizes)
    gaps = list(dilations) if dilations is not None else [1] * rank
    same_length("pooling", rank, strides=strides, dilations=gaps, windows=window)
    if auto_pad not in AUTOMATIC or rounding not in {"floor", "ceil", "ceil_torch"}:
        raise InputError(f"pooling: unknown paddings or rounding, {auto_pad!r:.30} and {rounding!r:.30}")
    if auto_pad == "explicit":
        same_length("pooling", rank, **{"paddings before": begins, "paddings behind": ends})
    start, end = ([*begins], [*ends]) if auto_pad == "explicit" else ([0] * rank, [0] * rank)
    if rank < 1 or any(n < 1 for n in (*strides, *window)) or any(not 0 <= n < _LIMIT for n in (*gaps, *start, *end)):
        raise InputError("pooling: expected windows and strides above 0, dilations and paddings of 0 or more")
    counts = []
    for at, (size, length, step, gap) in enumerate(zip(sizes, window, strides, gaps, strict=True)):
        span = (length - 1) * gap + 1
        if auto_pad.startswith("same"):
            count = -(-size // step) if strided else size
            whole = max(0, (count - 1) * step + span - size) if size else 0
            start[at] = whole // 2 if auto_pad == "same_upper" else whole - whole // 2
            end[at] = whole - start[at]
            counts.append(count)
            continue
        left = size + start[at] + end[at] - span
        if left < 0:
            raise InputError(f"pooling: a window of {span} does not fit into {left + span} places")
        counts.append(_count(left, step, size + start[at], rounding, even=auto_pad != "valid" or valid))
    most = [min(step, _LIMIT) if count <= 1 else step for step, count in zip(strides, counts, strict=True)]
    return Slide(most, gaps, start, end, counts)


def _count(left: int, step: int, inside: int, rounding: str, *, even: bool) -> int:
    """Return how many windows fit. even: the rounding is known even where it matters."""
    down, up = left // step + 1, -(-left // step) + 1
    if rounding == "floor" or down == up:
        return down
    if not even:
        raise NoKernel("pooling: it is not said how the number of windows is rounded here")
    return down if rounding == "ceil_torch" and (up - 1) * step >= inside else up


def _ends(data: NDArray[Any], window: Sequence[int], slide: Slide) -> list[int]:
    """Return the paddings behind that make room for exactly the windows that there are."""
    each = zip(data.shape[2:], window, *slide, strict=True)
    return [
        max(0, (count - 1) * step + (length - 1) * gap + 1 - size - before) if count else 0
        for size, length, step, gap, before, _, count in each
    ]


def _without_input(sizes: Sequence[int], window: Sequence[int], slide: Slide) -> NDArray[np.bool_]:
    """Return under which windows [spatial…] there is padding alone."""
    found = np.zeros((1,) * len(sizes), np.bool_)
    for at, (size, length, step, gap, before, _, count) in enumerate(zip(sizes, window, *slide, strict=True)):
        first = np.arange(count) * step - before
        skipped = np.where(first < 0, -(first // gap) if gap else length, 0)
        met = (skipped < length) & (first + skipped * gap < size)
        shape = [1] * len(sizes)
        shape[at] = count
        found = found | ~met.reshape(shape)
    return found
