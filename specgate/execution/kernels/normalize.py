"""Normalisation with scales and biases per channel or per element, and the statistics that it used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import check_axis, require_shape, round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["normalize_batch", "normalize_instances", "normalize_layer", "normalize_to_unit", "root_mean_square"]


def _channel(what: str, array: NDArray[Any], inputs: NDArray[Any]) -> NDArray[np.float64]:
    """Return one number per channel in float64, so that it goes with `inputs` [batch, channel, …]."""
    channels = inputs.shape[1] if inputs.ndim > 1 else 1
    require_shape("normalization", what, array.shape, (channels,))
    column: NDArray[np.float64] = array.astype(np.float64).reshape(-1, *(1,) * (inputs.ndim - 2))
    return column if inputs.ndim > 1 else column.reshape(1)


def _place(what: str, array: NDArray[Any], inputs: NDArray[Any]) -> NDArray[np.float64]:
    """Return one number in float64 for each place of an element of the batch."""
    require_shape("normalization", what, array.shape, inputs.shape[1:])
    return array.astype(np.float64)


def normalize_instances(
    inputs: NDArray[Any], scale: NDArray[Any], bias: NDArray[Any], *, epsilon: float
) -> NDArray[Any]:
    """Return `inputs` [batch, channel, spatial…] normalised over the spatial dimensions, times scale plus bias."""
    if inputs.ndim < 2:
        raise InputError(f"normalization: expected a batch and channels, found {inputs.ndim} dimensions")
    axes = tuple(range(2, inputs.ndim))
    factor = _channel("a scale", scale, inputs)
    summand = _channel("a bias", bias, inputs)
    if not inputs.size:
        return inputs.copy()
    with np.errstate(all="ignore"):
        wide = inputs.astype(np.float64)
        wide = wide - wide.mean(axis=axes, keepdims=True)
        wide /= np.sqrt(np.square(wide).mean(axis=axes, keepdims=True) + np.float32(epsilon))
        return round_to(wide * factor + summand, inputs.dtype)


def normalize_batch(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    *,
    epsilon: float,
    momentum: float,
    training: bool,
    by_channel: bool = True,
    by_place: bool = False,
    whole: bool = True,
    fits: bool = True,
) -> tuple[NDArray[Any], ...]:
    """Return `inputs` [batch, channel, …] normalised by mean and variance, both as they are then, and those it used.

    training: by those of `inputs`, nan of none, and the given ones move towards them, by 1 - momentum. by_channel,
    by_place: there may be one of each number for a channel, or one for each place of an element of the batch. whole:
    whether the outputs that are asked for are the first, or all those of training. fits: whether `inputs` has the
    dimensions that the operator's version takes.
    """
    if not fits:
        raise InputError(f"normalization: {inputs.ndim} dimensions are not what this version takes")
    if not whole:
        raise InputError("normalization: expected the first output alone, or all those of training")
    lists = (("a scale", scale), ("a bias", bias), ("a mean", mean), ("a variance", variance))
    parts = [
        (_channel if not by_place or (by_channel and array.ndim == 1) else _place)(what, array, inputs)
        for what, array in lists
    ]
    factor, summand, middle, spread = parts
    with np.errstate(all="ignore"):
        wide = inputs.astype(np.float64)
        if training:
            axes = tuple(axis for axis in range(inputs.ndim) if axis != 1) if mean.ndim == 1 else (0,)
            count = np.float64(inputs.size // max(1, mean.size))
            middle = wide.sum(axis=axes, keepdims=True) / count
            spread = np.square(wide - middle).sum(axis=axes, keepdims=True) / count
            keep = np.float32(momentum)
            moved = ((mean, middle), (variance, spread))
            mean, variance = (
                round_to(old * keep + new.reshape(old.shape) * (np.float32(1) - keep), old.dtype) for old, new in moved
            )
        result = np.subtract(wide, middle, out=wide)
        result /= np.sqrt(spread + np.float32(epsilon))
        result *= factor
        result += summand
        used = [round_to(part.reshape(mean.shape), mean.dtype) for part in (middle, spread)]
        return round_to(result.reshape(inputs.shape), inputs.dtype), mean.copy(), variance.copy(), *used


def normalize_layer(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    axis: int,
    epsilon: float,
    statistics: np.dtype[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `inputs` normalised over the dimensions from `axis` on, the means, and 1 / the standard deviations.

    scale and bias broadcast to `inputs`. statistics: the type of the others, float32 or bfloat16, which keep those
    dimensions with size 1, and are nan of no elements.
    """
    check_axis(axis, inputs.ndim, "normalization")
    if statistics is None or statistics.name not in {"float32", "bfloat16"}:
        raise InputError(f"normalization: expected statistics of float32 or bfloat16, found {statistics}")
    axes, kind = tuple(range(axis, inputs.ndim)), statistics
    with np.errstate(all="ignore"):
        wide = inputs.astype(np.float64)
        count = np.float64(np.prod([inputs.shape[axis] for axis in axes], dtype=np.int64))
        mean = wide.sum(axis=axes, keepdims=True) / count
        wide = wide - mean
        inverse = 1 / np.sqrt(np.square(wide).sum(axis=axes, keepdims=True) / count + np.float32(epsilon))
        result = _stretched(wide * inverse, scale, "a scale", np.multiply)
        if bias is not None:
            result = _stretched(result, bias, "a bias", np.add)
        return round_to(result, inputs.dtype), round_to(mean, kind), round_to(inverse, kind)


def root_mean_square(inputs: NDArray[Any], scale: NDArray[Any], *, axis: int, epsilon: float) -> NDArray[Any]:
    """Return `inputs` divided by the root of their mean square over the dimensions from `axis` on, times scale."""
    check_axis(axis, inputs.ndim, "normalization")
    axes = tuple(range(axis, inputs.ndim))
    if not inputs.size:
        return inputs.copy()
    with np.errstate(all="ignore"):
        wide = inputs.astype(np.float64)
        wide = wide / np.sqrt(np.square(wide).mean(axis=axes, keepdims=True) + np.float32(epsilon))
        return round_to(_stretched(wide, scale, "a scale", np.multiply), scale.dtype)


def _stretched(wide: NDArray[Any], array: NDArray[Any], what: str, function: Any) -> NDArray[Any]:
    sizes = zip(array.shape[::-1], wide.shape[::-1], strict=False)
    if array.ndim > wide.ndim or any(n not in {1, m} for n, m in sizes):
        raise InputError(f"normalization: {what} of shape {list(array.shape)} does not fit {list(wide.shape)}")
    return np.asarray(function(wide, array.astype(np.float64)))


def normalize_to_unit(inputs: NDArray[Any], *, axis: int, p: int, epsilon: float | None = None) -> NDArray[Any]:
    """Return `inputs` divided by their p-norm (1 or 2) along `axis`; 0 where that is 0.

    epsilon: added to the square of the norm; 0 / 0 is nan then.
    """
    check_axis(axis, inputs.ndim, "normalization")
    if p not in {1, 2}:
        raise InputError(f"normalization: expected 1 or 2 as p, found {p}")
    with np.errstate(all="ignore"):
        wide = inputs.astype(np.float64)
        norm = np.sum(np.abs(wide) ** p, axis=axis, keepdims=True)
        if epsilon is not None:
            return round_to(wide / np.sqrt((norm if p == 2 else norm**2) + np.float32(epsilon)), inputs.dtype)
        norm = np.sqrt(norm) if p == 2 else norm
        return round_to(np.where(norm == 0, 0.0, wide / np.where(norm == 0, 1.0, norm)), inputs.dtype)
