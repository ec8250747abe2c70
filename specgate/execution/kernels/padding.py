"""Padding: elements added around an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import same_length
from specgate.execution.kernels.fill import check_number, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["pad"]

_MODES = ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP")


def pad(
    inputs: NDArray[Any],
    *,
    mode: str,
    start: Sequence[int],
    end: Sequence[int],
    value: float = 0.0,
    cut: bool = False,
    same_type: bool = True,
) -> NDArray[Any]:
    """Return `inputs` with so many elements added before and behind along each dimension.

    mode: CONSTANT (`value`), EDGE (the nearest element), REFLECTION and SYMMETRIC (mirrored without and with the edge,
    as often as needed), WRAP (repeated from the other end). cut: `value` becomes an integer for integers. same_type:
    whether it is declared to be of the type of `inputs`.
    """
    check_number("pad", inputs.dtype, same_type=same_type)
    same_length("pad", inputs.ndim, **{"start paddings": start, "end paddings": end})
    if mode not in _MODES:
        raise InputError(f"pad: unknown mode {mode!r:.60}; known: {', '.join(_MODES)}")
    if any(count < 0 for count in (*start, *end)):
        raise InputError("pad: expected no paddings below 0")
    shape = tuple(a + n + b for a, n, b in zip(start, inputs.shape, end, strict=True))
    result = memory.empty(shape, inputs.dtype)
    if mode == "CONSTANT":
        result[...] = number(value, inputs.dtype, whole=cut)
        result[tuple(slice(a, a + n) for a, n in zip(start, inputs.shape, strict=True))] = inputs
        return result
    places = [
        _places(np.arange(-before, size + after, dtype=np.int64), size, mode)
        for before, size, after in zip(start, inputs.shape, end, strict=True)
    ]
    result[...] = inputs[np.ix_(*places)]
    return result


def _places(at: NDArray[np.int64], size: int, mode: str) -> NDArray[np.int64]:
    if mode == "EDGE" or size == 1:
        return np.clip(at, 0, size - 1)
    if mode == "WRAP":
        return at % size
    period = 2 * size - 2 if mode == "REFLECTION" else 2 * size
    within = at % period
    return np.where(within < size, within, period - within - (mode == "SYMMETRIC"))
