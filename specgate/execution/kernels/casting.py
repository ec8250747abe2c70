"""Elements converted to another type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["cast"]


def cast(inputs: NDArray[Any], *, output_type: np.dtype[Any]) -> NDArray[Any]:
    """Return the elements as `output_type`.

    Floats lose their fraction on the way to integers, and take the nearest number that those can hold; nan becomes 0.
    Integers keep their low bits where they get 32 or 64; where they get 8 or 16, their bits are first read as a signed
    or unsigned number of 32 or 64, as the result is, and that is held in its range.
    """
    memory.hold(inputs.shape, output_type)
    if is_float(output_type):
        return round_to(inputs, output_type)
    limits = np.iinfo(output_type)
    if is_float(inputs.dtype):
        whole = np.trunc(np.nan_to_num(inputs.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
        low, high = whole < float(limits.min), whole >= float(limits.max) + 1
        with memory.quiet():
            made = np.where(low | high, 0, whole).astype(output_type)
        return np.where(low, limits.min, np.where(high, limits.max, made)).astype(output_type)
    if output_type.itemsize >= 4:
        return inputs.astype(output_type)
    values: NDArray[Any] = inputs.astype(f"{output_type.kind}{max(4, inputs.itemsize)}")
    held: NDArray[Any] = np.clip(values, limits.min, limits.max).astype(output_type)
    return held
