"""Normalisation with scales and biases per channel or per element, and the statistics that it used."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape, round_to
from specgate.execution.kernels.row_blocks import centre_rows, rows_by
from specgate.execution.kernels.single_rows import few_digits_lost, few_summands, normalize_singles, scale_singles

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["normalize_batch", "normalize_instances", "normalize_layer", "normalize_to_unit", "root_mean_square"]


#: Of numbers up to here float64 loses less than 2 ** -32.
_LITTLE: Final = 2.0**20


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
    factor = _channel("a scale", scale, inputs).reshape(-1, 1)
    summand = _channel("a bias", bias, inputs).reshape(-1, 1)
    if not inputs.size:
        return inputs.copy()
    batch, channels = inputs.shape[:2]

    def scaled(made: NDArray[Any], rows: slice) -> NDArray[Any]:
        each = np.arange(rows.start, rows.stop) % channels
        made *= factor[each].astype(made.dtype)
        made += summand[each].astype(made.dtype)
        return made

    def of_rows(wide: NDArray[Any], rows: slice) -> NDArray[Any]:
        wide /= centre_rows(wide, epsilon)[1]
        return scaled(wide, rows)

    with memory.quiet():
        flat = inputs.reshape(batch * channels, -1)
        if inputs.dtype == np.float32 and few_summands(summand):
            return normalize_singles(flat, scaled, of_rows, epsilon=epsilon).reshape(inputs.shape)
        return rows_by(of_rows, flat, dtype=inputs.dtype, places=True).reshape(inputs.shape)


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
    with memory.quiet():
        if training:
            wide = inputs.astype(np.float64)
            axes = tuple(axis for axis in range(inputs.ndim) if axis != 1) if mean.ndim == 1 else (0,)
            count = np.float64(inputs.size // max(1, mean.size))
            middle = wide.sum(axis=axes, keepdims=True) / count
            spread = np.square(wide - middle).sum(axis=axes, keepdims=True) / count
            keep = np.float32(momentum)
            moved = ((mean, middle), (variance, spread))
            mean, variance = (
                round_to(old * keep + new.reshape(old.shape) * (np.float32(1) - keep), old.dtype) for old, new in moved
            )
        result = _scaled(inputs, middle, np.sqrt(spread + np.float32(epsilon)), factor, summand)
        used = [round_to(part.reshape(mean.shape), mean.dtype) for part in (middle, spread)]
        return result, mean.copy(), variance.copy(), *used


def _scaled(inputs: NDArray[Any], *numbers: NDArray[Any]) -> NDArray[Any]:
    """Return ``(inputs - middle) / divisor * factor + summand``.

    numbers: the four in float64, which broadcast to `inputs`, equal for all of the batch.
    """
    rank, channels = inputs.ndim, inputs.shape[1] if inputs.ndim > 1 else 1
    middle, divisor, factor, summand = (n.reshape(n.shape[1:] if n.ndim == max(2, rank) else n.shape) for n in numbers)
    # inputs * slope + start: what that loses of float64, no result of float32 shows
    slope = factor / divisor
    flat = inputs.reshape(prod(inputs.shape[:2]), *inputs.shape[2:])
    if inputs.dtype == np.float32 and few_summands(summand) and few_digits_lost(middle, slope):
        return scale_singles(flat, middle, slope, summand).reshape(inputs.shape)
    lost = middle * slope
    line = inputs.dtype != np.float64 and bool((np.abs(lost) < _LITTLE).all())
    start = summand - lost

    def of_rows(wide: NDArray[Any], rows: slice) -> NDArray[Any]:
        each = np.arange(rows.start, rows.stop) % channels
        if line:
            wide *= slope[each]
            wide += start[each]
            return wide
        wide -= middle[each]
        wide /= divisor[each]
        wide *= factor[each]
        wide += summand[each]
        return wide

    return rows_by(of_rows, flat, dtype=inputs.dtype, places=True).reshape(inputs.shape)


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
    outer, size = prod(inputs.shape[:axis]), prod(inputs.shape[axis:])
    mean, root = np.empty((outer, 1)), np.empty((outer, 1))
    factor = _rows(scale, inputs, axis, "a scale")
    summand = None if bias is None else _rows(bias, inputs, axis, "a bias")

    def scaled(made: NDArray[Any], rows: slice) -> NDArray[Any]:
        made *= factor[rows if len(factor) == outer else slice(1)].astype(made.dtype, copy=False)
        if summand is not None:
            made += summand[rows if len(summand) == outer else slice(1)].astype(made.dtype, copy=False)
        return made

    def of_rows(wide: NDArray[Any], rows: slice) -> NDArray[Any]:
        mean[rows], root[rows] = centre_rows(wide, epsilon)
        wide *= 1 / root[rows]
        return scaled(wide, rows)

    flat = inputs.reshape(outer, size)
    with memory.quiet():
        if inputs.dtype == np.float32 and size and few_summands(summand):
            result = normalize_singles(flat, scaled, of_rows, epsilon=epsilon, statistics=(mean, root))
        else:
            result = rows_by(of_rows, flat, dtype=inputs.dtype, places=True)
        inverse = 1 / root
        result = result.reshape(inputs.shape)
        shape = (*inputs.shape[:axis], *(1,) * (inputs.ndim - axis))
        return result, round_to(mean, statistics).reshape(shape), round_to(inverse, statistics).reshape(shape)


def root_mean_square(inputs: NDArray[Any], scale: NDArray[Any], *, axis: int, epsilon: float) -> NDArray[Any]:
    """Return `inputs` divided by the root of their mean square over the dimensions from `axis` on, times scale."""
    check_axis(axis, inputs.ndim, "normalization")
    if not inputs.size:
        return inputs.copy()
    outer, size = prod(inputs.shape[:axis]), prod(inputs.shape[axis:])
    factor = _rows(scale, inputs, axis, "a scale")

    def of_rows(wide: NDArray[Any], rows: slice) -> NDArray[Any]:
        wide /= np.sqrt(np.square(wide).mean(axis=1, keepdims=True) + np.float32(epsilon))
        wide *= factor[rows if len(factor) == outer else slice(1)]
        return wide

    with memory.quiet():
        flat = inputs.reshape(outer, size)
        return rows_by(of_rows, flat, dtype=scale.dtype, places=True).reshape(inputs.shape)


def _rows(array: NDArray[Any], inputs: NDArray[Any], axis: int, what: str) -> NDArray[Any]:
    """Return numbers that broadcast to `inputs` for each place from `axis` on: one row, or where they differ all."""
    sizes = zip(array.shape[::-1], inputs.shape[::-1], strict=False)
    if array.ndim > inputs.ndim or any(n not in {1, m} for n, m in sizes):
        raise InputError(f"normalization: {what} of shape {list(array.shape)} does not fit {list(inputs.shape)}")
    first, behind = inputs.shape[:axis], inputs.shape[axis:]
    if array.ndim > len(behind) and prod(array.shape[: array.ndim - len(behind)]) != 1:
        return np.broadcast_to(array, inputs.shape).reshape(prod(first), prod(behind))
    row = array.reshape(array.shape[max(0, array.ndim - len(behind)) :]).astype(np.float64)
    return np.broadcast_to(row, behind).reshape(1, prod(behind))


def normalize_to_unit(inputs: NDArray[Any], *, axis: int, p: int, epsilon: float | None = None) -> NDArray[Any]:
    """Return `inputs` divided by their p-norm (1 or 2) along `axis`; 0 where that is 0.

    epsilon: added to the square of the norm; 0 / 0 is nan then.
    """
    check_axis(axis, inputs.ndim, "normalization")
    if p not in {1, 2}:
        raise InputError(f"normalization: expected 1 or 2 as p, found {p}")
    with memory.quiet():
        wide = inputs.astype(np.float64)
        norm = np.sum(np.abs(wide) ** p, axis=axis, keepdims=True)
        if epsilon is not None:
            return round_to(wide / np.sqrt((norm if p == 2 else norm**2) + np.float32(epsilon)), inputs.dtype)
        norm = np.sqrt(norm) if p == 2 else norm
        return round_to(np.where(norm == 0, 0.0, wide / np.where(norm == 0, 1.0, norm)), inputs.dtype)
