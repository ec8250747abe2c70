"""Batch normalisation with numbers that broadcast to the inputs, and its gradients."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float32, to_float64

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Activation = Callable[[NDArray[Any]], NDArray[Any]]

__all__ = ["batch_gradients", "normalize_by", "normalize_by_own"]


def normalize_by(
    inputs: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    *,
    epsilon: float,
    activation: Activation | None = None,
) -> NDArray[Any]:
    """Return activation(scale * (inputs - mean) / sqrt(variance + epsilon) + bias), of the type of `inputs`.

    The four have its rank, and its sizes or 1. activation: of float32.
    """
    _hold(inputs, mean=mean, variance=variance, scale=scale, bias=bias)
    with memory.quiet():
        spread = np.sqrt(to_float64(variance) + np.float32(epsilon))
        result = to_float64(inputs) - to_float64(mean)
        result /= spread
        result *= to_float64(scale)
        result += to_float64(bias)
        return _activated(result, activation, inputs.dtype)


def normalize_by_own(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    added: NDArray[Any] | None = None,
    *,
    epsilon: float,
    activation: Activation | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what `normalize_by` does with the mean and the variance of `inputs` themselves, and these two.

    They are taken over the dimensions in which scale and bias, of one shape, have a size of 1. added: of the shape of
    `inputs`, added before the activation.
    """
    _hold(inputs, scale=scale, bias=bias)
    require_shape("normalization", "a bias", bias.shape, scale.shape)
    if added is not None:
        require_shape("normalization", "a summand", added.shape, inputs.shape)
        if added.dtype != inputs.dtype:
            raise InputError(f"normalization: expected a summand of {inputs.dtype}, found {added.dtype}")
    axes = _repeated(scale)
    with memory.quiet():
        result = to_float64(inputs)
        mean = result.mean(axis=axes, keepdims=True)
        result -= mean
        variance = np.square(result).mean(axis=axes, keepdims=True)
        result /= np.sqrt(variance + np.float32(epsilon))
        result *= to_float64(scale)
        result += to_float64(bias)
        if added is not None:
            result += to_float64(added)
        kept = [round_to(each, inputs.dtype) for each in (mean, variance)]
        return _activated(result, activation, inputs.dtype), kept[0], kept[1]


def batch_gradients(
    inputs: NDArray[Any],
    gradient: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    scale: NDArray[Any],
    *,
    epsilon: float,
    own: bool,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the gradients of batch normalisation by its inputs, its scale and its bias.

    gradient: what comes in, of the shape of `inputs`. mean, variance, scale: of one shape, with the sizes of `inputs`
    or 1; the last two gradients have it too, and are sums along the sizes of 1. own: mean and variance are those of
    `inputs`, which they therefore depend on, instead of constants.
    """
    _hold(inputs, mean=mean, variance=variance, scale=scale)
    for what, array, shape in (
        ("a gradient", gradient, inputs.shape),
        ("a mean", mean, scale.shape),
        ("a variance", variance, scale.shape),
    ):
        require_shape("normalization", what, array.shape, shape)
    if gradient.dtype != inputs.dtype:
        raise InputError(f"normalization: expected a gradient of {inputs.dtype}, found {gradient.dtype}")
    axes = _repeated(scale)
    with memory.quiet():
        wide, incoming = to_float64(inputs), to_float64(gradient)
        inner = to_float64(variance) + np.float32(epsilon)
        share = 1 / np.sqrt(inner)
        products = incoming * (wide - to_float64(mean))
        by_scale = (products * share).sum(axis=axes, keepdims=True)
        by_bias = incoming.sum(axis=axes, keepdims=True)
        if own:
            count = prod(inputs.shape[axis] for axis in axes)
            wide -= to_float64(mean)
            wide *= products.mean(axis=axes, keepdims=True) / inner
            incoming = incoming - by_bias / count - wide
        results = (incoming * (to_float64(scale) * share), by_scale, by_bias)
        back, scales, biases = (round_to(each, inputs.dtype) for each in results)
        return back, scales, biases


def _activated(result: NDArray[Any], activation: Activation | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    rounded = to_float32(result, dtype)
    return round_to(rounded if activation is None else activation(rounded), dtype)


def _repeated(array: NDArray[Any]) -> tuple[int, ...]:
    """Return the dimensions along which an array is repeated, those of size 1."""
    return tuple(axis for axis, size in enumerate(array.shape) if size == 1)


def _hold(inputs: NDArray[Any], **arrays: NDArray[Any]) -> None:
    """Raise InputError unless arrays have the type and rank of `inputs`, and its sizes or 1."""
    memory.hold(inputs.shape, inputs.dtype)
    for name, array in arrays.items():
        fits = array.ndim == inputs.ndim and all(n in {1, m} for n, m in zip(array.shape, inputs.shape, strict=True))
        if not fits or array.dtype != inputs.dtype:
            raise InputError(f"normalization: a {name} of {array.dtype} {list(array.shape)} does not fit "
                             f"{inputs.dtype} {list(inputs.shape)}")  # fmt: skip
