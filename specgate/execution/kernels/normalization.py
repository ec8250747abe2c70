"""Normalisation by mean and variance, and by given numbers per channel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axes, round_to, to_float32, to_float64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["normalize_mean_variance", "scale_channels"]


def normalize_mean_variance(
    inputs: NDArray[Any],
    scale: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    *,
    axes: Sequence[int],
    epsilon: float,
    use_mean: bool = True,
    use_variance: bool = True,
    element_as_variance: bool = False,
    activation: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """Return activation(scale * (inputs - mean) / sqrt(variance + epsilon) + bias), of the type of `inputs`.

    axes: the dimensions over which mean and variance are taken. scale, bias: of the rank of `inputs`, with its sizes or
    1. Without use_mean the mean is taken for 0 (the variance is the mean square then), without use_variance nothing is
    divided by. element_as_variance: each element is taken for its own variance. activation: of float32.
    """
    found = check_axes(axes, inputs.ndim, "normalization")
    for name, array in (("scale", scale), ("bias", bias)):
        if array is not None and (array.dtype != inputs.dtype or not _broadcastable(array.shape, inputs.shape)):
            raise InputError(f"normalization: a {name} of {array.dtype}{array.shape} does not fit {inputs.dtype}"
                             f"{inputs.shape}")  # fmt: skip
    with memory.quiet():
        result = memory.empty(inputs.shape, np.dtype(np.float64))
        result[...] = inputs
        if use_mean:
            result -= np.mean(result, axis=found, keepdims=True)
        if use_variance:
            squares = None if element_as_variance else np.mean(np.square(result), axis=found, keepdims=True)
            variance = to_float64(inputs) if squares is None else squares
            result /= np.sqrt(variance + np.float32(epsilon))
        if scale is not None:
            result = result * to_float64(scale)
        if bias is not None:
            result = result + to_float64(bias)
        rounded = to_float32(result, inputs.dtype)
        return round_to(rounded if activation is None else activation(rounded), inputs.dtype)


def _broadcastable(shape: Sequence[int], target: Sequence[int]) -> bool:
    return len(shape) == len(target) and all(a in {1, b} for a, b in zip(shape, target, strict=True))


def scale_channels(inputs: NDArray[Any], *, scale: float, bias: Sequence[float]) -> NDArray[Any]:
    """Return scale * inputs + bias[channel] for `inputs` [batch, channel, height, width], of their type."""
    if inputs.ndim != 4 or inputs.shape[1] != len(bias):
        raise InputError(f"scale_channels: {len(bias)} channels do not fit {list(inputs.shape)}")
    with memory.quiet():
        summands = np.array(bias, np.float32).reshape(-1, 1, 1)
        return round_to(to_float64(inputs) * np.float32(scale) + summands, inputs.dtype)
