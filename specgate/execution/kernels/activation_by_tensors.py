"""Activations whose parameters are tensors, and the clamp whose bounds are rounded inwards for integers."""

from __future__ import annotations

from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.activation import hard_sigmoid, prelu, scaled_elu, slopes_of_channels, swish
from specgate.execution.kernels.arithmetic import is_float
from specgate.execution.kernels.clipping import hold_between

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["clamp", "hard_sigmoid_by_tensors", "prelu_of_channels", "scaled_elu_by_tensors", "swish_by_tensor"]


def _number(name: str, array: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return the one element of an array of the type of `x`, without dimensions."""
    if array.size != 1 or array.dtype != x.dtype:
        raise InputError(f"{name}: expected one element of {x.dtype}, found {array.dtype}{list(array.shape)}")
    return array.reshape(())


def hard_sigmoid_by_tensors(x: NDArray[Any], alpha: NDArray[Any], beta: NDArray[Any]) -> NDArray[Any]:
    """Return alpha times x plus beta, held between 0 and 1; nan stays."""
    numbers: Any = {"alpha": _number("hard_sigmoid", alpha, x), "beta": _number("hard_sigmoid", beta, x)}
    return np.asarray(hard_sigmoid(x, of_nan="NAN", **numbers))


def scaled_elu_by_tensors(x: NDArray[Any], alpha: NDArray[Any], gamma: NDArray[Any]) -> NDArray[Any]:
    """Return gamma times x, or times alpha times exp(x) - 1 where x is not above 0."""
    numbers: Any = {"alpha": _number("scaled_elu", alpha, x), "gamma": _number("scaled_elu", gamma, x)}
    return np.asarray(scaled_elu(x, **numbers))


def swish_by_tensor(x: NDArray[Any], scale: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return x times the sigmoid of scale times x; scale is 1 if None."""
    number: Any = 1.0 if scale is None else _number("swish", scale, x)
    return np.asarray(swish(x, scale=number))


def prelu_of_channels(x: NDArray[Any], slope: NDArray[Any]) -> NDArray[Any]:
    """Return x where it is at least 0, else its slope times x.

    A list of as many slopes as the second dimension of x is long has one for each place there; others are broadcast.
    """
    if x.dtype.kind not in "iuf" and x.dtype.name != "bfloat16":
        raise InputError(f"prelu: expected numbers, found {x.dtype}")
    return prelu(x, slopes_of_channels(x, slope), broadcast=True)


def clamp(x: NDArray[Any], *, low: float, high: float) -> NDArray[Any]:
    """Return every element, at least `low` and then at most `high`; nan stays.

    For integers the bounds are rounded to integers that lie between them.
    """
    if not is_float(x.dtype):
        low = ceil(low) if isfinite(low) else low
        high = floor(high) if isfinite(high) else high
    return hold_between(x, low, high)
