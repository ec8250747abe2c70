"""Floats rounded to those of few bits and brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["round_between_scales"]


def round_between_scales(
    data: NDArray[Any],
    scale: NDArray[Any],
    shift: NDArray[Any] | None = None,
    *,
    digits: int,
    min_exponent: int,
    largest: float,
) -> NDArray[Any]:
    """Return (r + shift) / scale, where r is data * scale - shift as a float of few bits; all of one type of floats.

    scale, shift: of one shape, broadcast to data. digits: binary digits behind the point of such a float. min_exponent:
    the exponent of the least normal one, largest: the greatest one. To the nearest, halves to even. Elements are masked
    that are no such float even when rounded, and those whose r depends on the precision of what is before it.
    """
    if not is_float(data.dtype) or any(each is not None and each.dtype != data.dtype for each in (scale, shift)):
        raise InputError(f"narrow floats: expected floats of one type, found {data.dtype} and {scale.dtype}")
    if shift is not None and shift.shape != scale.shape:
        raise InputError(f"narrow floats: a shift {list(shift.shape)} does not go with a scale {list(scale.shape)}")
    try:
        np.broadcast_to(scale, data.shape)
    except ValueError:
        raise InputError(f"narrow floats: {list(scale.shape)} is not broadcast to {list(data.shape)}") from None
    memory.hold(data.shape, np.dtype(np.float64))
    moved = np.zeros_like(scale) if shift is None else shift
    with memory.quiet():
        factor, summand = to_float64(scale), to_float64(moved)
        exact = _rounded(to_float64(data) * factor - summand, digits, min_exponent)
        steps = to_float64(round_to(to_float64(data) * factor, data.dtype)) - summand
        left_open = _rounded(to_float64(round_to(steps, data.dtype)), digits, min_exponent) != exact
        left_open |= ~(np.abs(exact) <= largest)
        result = round_to((exact + summand) / factor, data.dtype)
    return np.ma.MaskedArray(result, mask=left_open) if left_open.any() else result


def _rounded(values: NDArray[Any], digits: int, least: int) -> NDArray[Any]:
    """Return float64 rounded to `digits` behind the point of their own power of two, or of that of `least`."""
    _, exponents = np.frexp(values)
    powers = np.maximum(exponents - 1, least) - digits
    rounded: NDArray[Any] = np.ldexp(np.rint(np.ldexp(values, -powers)), powers)
    return rounded
