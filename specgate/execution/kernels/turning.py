"""Reverse, roll and reverse sequence.

OpenVINO Reverse, ReverseSequence, Roll.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.arithmetic import check_axis, require_shape

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["reverse_along", "reverse_parts", "roll_along"]


def reverse_along(inputs: NDArray[Any], axes: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` reversed along axes.

    axes: indices, or a boolean per dimension. An axis that is listed twice is reversed once.
    """
    if axes.ndim != 1:
        raise InputError(f"reverse: expected a list of axes, found {axes.ndim} dimensions")
    if axes.dtype.kind == "b":
        require_shape("reverse", "a truth for each dimension", axes.shape, (inputs.ndim,))
        chosen = np.flatnonzero(axes).tolist()
    else:
        chosen = axes.tolist()
    for axis in chosen:
        check_axis(axis, inputs.ndim, "reverse")
    return np.flip(inputs, tuple(set(chosen))).copy() if chosen else inputs.copy()


def roll_along(inputs: NDArray[Any], shift: NDArray[Any], axes: NDArray[Any]) -> NDArray[Any]:
    """Return `inputs` with elements shifted cyclically along each axis.

    axes: negative ones count from the end; shifts of one axis add up. One shift may apply to all axes.
    """
    shifts, places = shift.reshape(-1).tolist(), axes.reshape(-1).tolist()
    if len(shifts) == 1:
        shifts *= len(places)
    if len(shifts) != len(places):
        raise InputError(f"roll: {len(shifts)} shifts do not fit {len(places)} axes")
    total = [0] * inputs.ndim
    for by, axis in zip(shifts, places, strict=True):
        at = axis + inputs.ndim if axis < 0 else axis
        check_axis(at, inputs.ndim, "roll")
        total[at] += by
    result = inputs.copy()
    for axis, (by, size) in enumerate(zip(total, inputs.shape, strict=True)):
        if size and by % size:
            result = np.roll(result, by % size, axis)
    return result


def reverse_parts(inputs: NDArray[Any], lengths: NDArray[Any], *, time_axis: int, batch_axis: int) -> NDArray[Any]:
    """Return `inputs` with the first `lengths` time steps reversed per batch.

    lengths: [size of batch_axis], integral, from 1 to the size of time_axis, of any numeric type.
    """
    check_axis(time_axis, inputs.ndim, "reverse")
    check_axis(batch_axis, inputs.ndim, "reverse")
    require_shape("reverse", "lengths", lengths.shape, (inputs.shape[batch_axis],))
    most = inputs.shape[time_axis]
    if time_axis == batch_axis:
        raise NoKernel(f"reverse: axis {time_axis} is that of the sequences and of the batches")
    numbers = lengths.astype(np.float64)
    if not ((numbers >= 1) & (numbers <= most) & (numbers == np.floor(numbers))).all():
        raise InputError(f"reverse: expected whole lengths from 1 to {most}")
    shape = [1] * inputs.ndim
    shape[batch_axis] = len(lengths)
    until = numbers.astype(np.int64).reshape(shape)
    places = np.arange(most, dtype=np.int64).reshape([-1 if axis == time_axis else 1 for axis in range(inputs.ndim)])
    return np.take_along_axis(inputs, np.where(places < until, until - 1 - places, places), time_axis)
