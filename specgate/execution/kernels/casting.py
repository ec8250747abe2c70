"""Elements converted to another type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, narrow

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["cast"]


def cast(inputs: NDArray[Any], *, output_type: np.dtype[Any]) -> NDArray[Any]:
    """Return the elements as `output_type`.

    Floats lose their fraction on the way to integers, and take the nearest number that those can hold; nan becomes 0.
    So do integers on the way to 8 and 16 bits, those below 0 that become unsigned as the largest; those of 32 and 64
    bits keep their low bits.
    """
    memory.empty(inputs.shape, output_type)
    if is_float(output_type):
        return narrow(inputs, output_type)
    limits = np.iinfo(output_type)
    if is_float(inputs.dtype):
        whole = np.trunc(np.nan_to_num(inputs.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
        low, high = whole < float(limits.min), whole >= float(limits.max) + 1
        with np.errstate(invalid="ignore"):
            made = np.where(low | high, 0, whole).astype(output_type)
        return np.where(low, limits.min, np.where(high, limits.max, made)).astype(output_type)
    if output_type.itemsize >= 4:
        return inputs.astype(output_type)
    unsigned = output_type.kind == "u"
    values = inputs.astype(np.uint64 if unsigned or inputs.dtype.kind == "u" else np.int64)
    least = 0 if values.dtype.kind == "u" else limits.min
    return np.clip(values, least, limits.max).astype(output_type)
