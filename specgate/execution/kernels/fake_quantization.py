"""Numbers rounded to a few levels, which stay floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.elementwise import paired, quiet, want_float

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fake_quantize"]


def fake_quantize(
    x: NDArray[Any],
    input_low: NDArray[Any],
    input_high: NDArray[Any],
    output_low: NDArray[Any],
    output_high: NDArray[Any],
    *,
    levels: int,
) -> NDArray[Any]:
    """Return x as the nearest of `levels` numbers that lie evenly between output_low and output_high.

    They stand for as many numbers between input_low and input_high. What is not above the lesser of those becomes
    output_low, what is above the larger one output_high; halves go to the even neighbour. Limits are broadcast to x.
    """
    want_float("fake_quantize", x)
    if levels < 2:
        raise InputError(f"fake_quantize: expected at least 2 levels, found {levels}")
    shape = x.shape
    arrays = paired("fake_quantize", x, input_low, input_high, output_low, output_high, broadcast=True)
    require_shape("fake_quantize", "limits that broadcast", arrays[0].shape, shape)
    with quiet():
        values, low, high, bottom, top = (array.astype(np.float64) for array in arrays)
        steps = np.float64(levels - 1)
        inside = np.rint((values - low) / (high - low) * steps) / steps * (top - bottom) + bottom
        result = np.where(values > np.maximum(low, high), top, inside)
        return round_to(np.where(values <= np.minimum(low, high), bottom, result), x.dtype)
