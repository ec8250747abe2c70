"""Slices whose begins and ends masks set aside, and that add and remove dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.arithmetic import require_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["slice_by_masks", "write_slices"]


def slice_by_masks(
    inputs: NDArray[Any],
    begin: NDArray[Any],
    end: NDArray[Any],
    stride: NDArray[Any] | None = None,
    *,
    begin_mask: Sequence[int],
    end_mask: Sequence[int],
    new_axis_mask: Sequence[int] | None = None,
    shrink_axis_mask: Sequence[int] | None = None,
    ellipsis_mask: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the elements from begin on and before end, stride apart, along the dimensions that positions stand for.

    A 1 in begin_mask or end_mask sets the number at its position aside; in new_axis_mask it makes a dimension of 1, in
    shrink_axis_mask it takes the one element at begin and drops the dimension, in ellipsis_mask it stands for all
    dimensions that no other position does. Masks end in zeros. Negative numbers count from the end of a dimension.
    """
    count = begin.size
    if begin.shape != end.shape or begin.ndim != 1 or (stride is not None and stride.shape != begin.shape):
        raise InputError("slice: expected begins, ends and strides of one length")
    steps = [1] * count if stride is None else stride.tolist()
    if 0 in steps:
        raise InputError("slice: expected strides other than 0")
    masks = [_bits(mask, count) for mask in (begin_mask, end_mask, new_axis_mask, shrink_axis_mask, ellipsis_mask)]
    without_begin, without_end, new, shrunk, dots = masks
    if sum(dots) > 1:
        raise InputError("slice: expected one ellipsis at most")
    if any(a + b + c > 1 for a, b, c in zip(new, shrunk, dots, strict=True)):
        raise NoKernel("slice: it is not said what a position does that two of the masks mark")
    used = count - sum(new) - sum(dots)
    if used > inputs.ndim:
        raise InputError(f"slice: {used} positions for {inputs.ndim} dimensions")
    index: list[Any] = []
    axis = 0
    for at in range(count):
        if new[at]:
            index.append(np.newaxis)
        elif dots[at]:
            index.append(Ellipsis)
            axis += inputs.ndim - used
        elif shrunk[at]:
            index.append(_place(int(begin[at]), inputs.shape[axis]))
            axis += 1
        else:
            first = None if without_begin[at] else int(begin[at])
            last = None if without_end[at] else int(end[at])
            index.append(_range(first, last, steps[at], inputs.shape[axis]))
            axis += 1
    return np.asarray(inputs[tuple(index)]).copy()


def write_slices(
    inputs: NDArray[Any],
    updates: NDArray[Any],
    start: NDArray[Any],
    stop: NDArray[Any],
    step: NDArray[Any],
    axes: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return `inputs` with `updates` where a slice from start on and before stop, step apart along axes, would read.

    axes: the first dimensions, one for each start, where it is left out; negative ones count from the end.
    """
    if not start.shape == stop.shape == step.shape or start.ndim != 1 or start.size > inputs.ndim:
        raise InputError("slice: expected starts, stops and steps of one length, no more than there are dimensions")
    along = list(range(start.size)) if axes is None else axes.tolist()
    if len(along) != start.size or any(not -inputs.ndim <= axis < inputs.ndim for axis in along):
        raise InputError(f"slice: {along!r:.80} are not axes of {inputs.ndim} dimensions, one for each start")
    places = [axis % inputs.ndim for axis in along]
    if len(set(places)) != len(places) or 0 in step.tolist():
        raise InputError("slice: expected each axis once, and steps other than 0")
    index = [slice(None)] * inputs.ndim
    for axis, first, last, by in zip(places, start.tolist(), stop.tolist(), step.tolist(), strict=True):
        index[axis] = _range(first, last, by, inputs.shape[axis])
    result = inputs.copy()
    require_shape("slice", "updates", updates.shape, result[tuple(index)].shape)
    if updates.dtype != inputs.dtype:
        raise InputError(f"slice: expected updates of {inputs.dtype}, found {updates.dtype}")
    result[tuple(index)] = updates
    return result


def _bits(mask: Sequence[int] | None, count: int) -> list[int]:
    bits = list(mask or ())[:count]
    if any(bit not in {0, 1} for bit in bits):
        raise InputError("slice: expected masks of 0 and 1")
    return bits + [0] * (count - len(bits))


def _place(at: int, size: int) -> int:
    if not -size <= at < size:
        raise InputError(f"slice: {at} is no place among {size}")
    return at


def _range(first: int | None, last: int | None, step: int, size: int) -> slice:
    """Return the slice that numpy takes: what counts from the end and is before the first place is before it still."""
    if last is not None and step < 0 and last < -size:
        last = None
    step = max(-size - 1, min(step, size + 1))  # numpy's numbers have 64 bits, and further than all is far enough
    return slice(first, last, step)
