"""Concatenation and split.

DirectML JOIN, SPLIT; ONNX Concat; OpenVINO Concat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["join", "split"]


def join(parts: Sequence[NDArray[Any]], *, axis: int) -> NDArray[Any]:
    """Return the parts concatenated along `axis`.

    They have one type and equal sizes along the other dimensions.
    """
    if not parts:
        raise InputError("join: expected at least one part")
    first = parts[0]
    check_axis(axis, first.ndim, "join")
    before, behind, size = first.shape[:axis], first.shape[axis + 1 :], 0
    for part in parts:
        shape = part.shape
        same = len(shape) == first.ndim and shape[:axis] == before and shape[axis + 1 :] == behind
        if not same or part.dtype != first.dtype:
            raise InputError(f"join: {part.dtype}{shape} and {first.dtype}{first.shape} cannot be joined")
        size += shape[axis]
    memory.hold((*before, size, *behind), first.dtype)
    return np.concatenate(parts, axis)


def split(inputs: NDArray[Any], *, shapes: Sequence[Sequence[int]], axis: int) -> list[NDArray[Any]]:
    """Return the list of parts of `inputs` with these shapes, along `axis`."""
    check_axis(axis, inputs.ndim, "split")
    others = (*inputs.shape[:axis], *inputs.shape[axis + 1 :])
    fitting = all(len(s) == inputs.ndim and (*s[:axis], *s[axis + 1 :]) == others for s in map(tuple, shapes))
    if not shapes or not fitting:
        raise InputError(f"split: expected parts of {list(inputs.shape)} along axis {axis}")
    sizes = [shape[axis] for shape in shapes]
    if any(size < 1 for size in sizes) or sum(sizes) != inputs.shape[axis]:
        raise InputError(f"split: sizes of {sizes!r:.80} do not make up {inputs.shape[axis]}")
    ends = np.cumsum(np.array(sizes, np.int64))[:-1]
    return [np.ascontiguousarray(part) for part in np.split(inputs, ends, axis)]
