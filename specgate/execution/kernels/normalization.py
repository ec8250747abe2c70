"""Normalization: batch, layer, instance, group, RMS, Lp, MVN and LRN."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import (
    are_summands_small,
    blocks_of,
    centre_rows,
    check_axes,
    check_axis,
    keeps_precision,
    normalize_singles,
    require_shape,
    round_to,
    row_function,
    scale_singles,
    to_float32,
    to_float64,
)
from specgate.execution.kernels.elementwise import require_float
from specgate.execution.kernels.reshape import integers

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    Activation = Callable[[NDArray[Any]], NDArray[Any]]


def local_response_normalization(
    inputs: NDArray[Any],
    *,
    axes: Sequence[int],
    size: int,
    alpha: float,
    beta: float,
    bias: float,
    by_logarithm: bool = False,
) -> NDArray[Any]:
    """Return inputs / (bias + alpha / size * squares) ** beta.

    squares: the sum of squares of the `size` elements around each along every one of `axes`, clipped to the array; for
    an even size the window has one more element after the center than before. by_logarithm: powers are 2 ** (beta *
    log2(base)).
    """
    axis_numbers = _require_window(inputs, axes, size)
    with memory.ignore_warnings():
        wide_inputs = to_float64(inputs)
        base = _base(wide_inputs, axis_numbers, size, alpha, bias)
        return round_to(wide_inputs * _power(base, -np.float64(np.float32(beta)), by_logarithm), inputs.dtype)


def local_response_normalization_gradient(
    inputs: NDArray[Any],
    gradient: NDArray[Any],
    *,
    axes: Sequence[int],
    size: int,
    alpha: float,
    beta: float,
    bias: float,
    by_logarithm: bool = False,
    mirrored: bool = True,
    own_together: bool = False,
    stepwise: bool = False,
    toward_zero: bool = False,
) -> NDArray[Any]:
    """Return the gradient of `local_response_normalization` with respect to its inputs.

    gradient: of the output, of the shape and type of `inputs`. mirrored: sums run over all positions whose window
    contains this one, else over its own window. by_logarithm: powers are 2 ** (exponent * log2(abs(base))), with the
    sign of the base for odd exponents; nan for a negative base and a fractional exponent. own_together: the
    contribution of an infinite gradient at its own position is one infinite term, not the difference of two, unless
    another infinite gradient is in the window. stepwise: squares, their sums and the means are rounded to the type of
    `inputs`, toward_zero or to nearest.
    """
    axis_numbers = _require_window(inputs, axes, size)
    require_shape("normalization", "a gradient", gradient.shape, inputs.shape)
    if gradient.dtype != inputs.dtype:
        raise InputError(f"normalization: expected a gradient of type {inputs.dtype}, found {gradient.dtype}")
    with memory.ignore_warnings():
        wide_inputs, incoming = to_float64(inputs), to_float64(gradient)
        rounding = partial(_round_step, dtype=inputs.dtype, toward_zero=toward_zero) if stepwise else None
        base = _base(wide_inputs, axis_numbers, size, alpha, bias, rounding)
        power = np.float64(np.float32(beta))
        factor = 2 * power * np.float64(np.float32(alpha)) / size
        before, count_after = (size - 1) // 2, size // 2
        reach = (count_after, before) if mirrored else (before, count_after)
        shared = _sum_axes(incoming * wide_inputs * _signed_power(base, -power - 1, by_logarithm), axis_numbers, reach)
        is_single_infinity = np.isinf(incoming) & own_together
        if not is_single_infinity.any():
            return round_to(
                incoming * _signed_power(base, -power, by_logarithm) - factor * wide_inputs * shared, inputs.dtype
            )
        steep = _signed_power(base, -power - 1, by_logarithm)
        has_several = _sum_axes(is_single_infinity.astype(np.float64), axis_numbers, reach) > 1
        other_terms = np.where(
            has_several,
            np.nan,
            _sum_axes(np.where(is_single_infinity, 0.0, incoming * wide_inputs * steep), axis_numbers, reach),
        )
        own_gradient = _signed_power(base, -power, by_logarithm) - np.where(
            is_single_infinity, factor * wide_inputs * wide_inputs * steep, 0.0
        )
        result = incoming * own_gradient - factor * wide_inputs * np.where(is_single_infinity, other_terms, shared)
        return round_to(result, inputs.dtype)


def _sum_axes(values: NDArray[Any], axes: tuple[int, ...], reach: tuple[int, int]) -> NDArray[Any]:
    for axis in axes:
        values = sum_near(values, axis, *reach)
    return values


def _power(base: NDArray[Any], exponent: np.float64, by_logarithm: bool) -> NDArray[Any]:
    return np.asarray(np.exp2(exponent * np.log2(base)) if by_logarithm else base**exponent)


def _signed_power(base: NDArray[Any], exponent: np.float64, by_logarithm: bool) -> NDArray[Any]:
    if not by_logarithm:
        return _power(base, exponent, by_logarithm)
    sign = np.where(base < 0, np.nan if exponent % 1 else -1.0 if exponent % 2 else 1.0, 1.0)
    return np.asarray(sign * _power(abs(base), exponent, by_logarithm))


def _require_window(inputs: NDArray[Any], axes: Sequence[int], size: int) -> tuple[int, ...]:
    if size < 1:
        raise InputError(f"normalization: expected a size of at least 1, found {size}")
    return check_axes(axes, inputs.ndim, "normalization")


def _base(
    wide: NDArray[Any],
    axes: tuple[int, ...],
    size: int,
    alpha: float,
    bias: float,
    rounding: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """Return bias + alpha * mean square; rounding: of squares, sums and means."""
    step = rounding or np.asarray
    squares = step(_sum_axes(step(np.square(wide)), axes, ((size - 1) // 2, size // 2)))
    return np.asarray(np.float64(np.float32(bias)) + step(np.float64(np.float32(alpha)) / size * squares))


def _round_step(values: NDArray[Any], dtype: np.dtype[Any], *, toward_zero: bool) -> NDArray[Any]:
    rounded = round_to(values, dtype)
    if toward_zero:
        rounded = np.where(np.abs(rounded) > np.abs(values), np.nextafter(rounded, dtype.type(0)), rounded)
    return to_float64(rounded)


def mean_variance_normalization(
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
    """Return mean variance normalization with scale, bias and activation.

    The result is activation(scale * (inputs - mean) / sqrt(variance + epsilon) + bias), of the type of `inputs`. axes:
    the dimensions of mean and variance. scale, bias: of the rank of `inputs`, with its sizes or 1. Without use_mean the
    mean is 0 (and the variance the mean square), without use_variance nothing is divided. element_as_variance: each
    element is its own variance. activation: function of float32.
    """
    numbers = check_axes(axes, inputs.ndim, "normalization")
    for name, array in (("scale", scale), ("bias", bias)):
        if array is not None and (array.dtype != inputs.dtype or not _broadcastable(array.shape, inputs.shape)):
            raise InputError(f"normalization: a {name} of {array.dtype}{array.shape} does not match {inputs.dtype}"
                             f"{inputs.shape}")  # fmt: skip
    with memory.ignore_warnings():
        result = memory.empty(inputs.shape, np.dtype(np.float64))
        result[...] = inputs
        if use_mean:
            result -= np.mean(result, axis=numbers, keepdims=True)
        if use_variance:
            squares = None if element_as_variance else np.mean(np.square(result), axis=numbers, keepdims=True)
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


def value_scale_2d(inputs: NDArray[Any], *, scale: float, bias: Sequence[float]) -> NDArray[Any]:
    """Return scale * inputs + bias[channel], of the type of `inputs`.

    inputs: [batch, channel, height, width].
    """
    if inputs.ndim != 4 or inputs.shape[1] != len(bias):
        raise InputError(
            f"value_scale_2d: a bias of {len(bias)} channels does not match an input of shape {list(inputs.shape)}"
        )
    with memory.ignore_warnings():
        summands = np.array(bias, np.float32).reshape(-1, 1, 1)
        return round_to(to_float64(inputs) * np.float32(scale) + summands, inputs.dtype)


#: Up to this magnitude float64 loses less than 2 ** -32.
_EXACT_MAGNITUDE: Final = 2.0**20


def _channel(noun: str, array: NDArray[Any], inputs: NDArray[Any]) -> NDArray[np.float64]:
    """Return a number per channel in float64, broadcastable to `inputs`.

    inputs: [batch, channel, …].
    """
    channels = inputs.shape[1] if inputs.ndim > 1 else 1
    require_shape("normalization", noun, array.shape, (channels,))
    column: NDArray[np.float64] = array.astype(np.float64).reshape(-1, *(1,) * (inputs.ndim - 2))
    return column if inputs.ndim > 1 else column.reshape(1)


def _position_parameter(noun: str, array: NDArray[Any], inputs: NDArray[Any]) -> NDArray[np.float64]:
    """Return a number per position of a batch element in float64."""
    require_shape("normalization", noun, array.shape, inputs.shape[1:])
    return array.astype(np.float64)


def instance_normalization(
    inputs: NDArray[Any], scale: NDArray[Any], bias: NDArray[Any], *, epsilon: float
) -> NDArray[Any]:
    """Return instance normalization over the spatial dimensions.

    inputs: [batch, channel, spatial…]. scale and bias: per channel.
    """
    if inputs.ndim < 2:
        raise InputError(f"normalization: expected a batch and channels, found {inputs.ndim} dimensions")
    factor = _channel("a scale", scale, inputs).reshape(-1, 1)
    summand = _channel("a bias", bias, inputs).reshape(-1, 1)
    if not inputs.size:
        return inputs.copy()
    batch, channels = inputs.shape[:2]

    def scale_rows(array: NDArray[Any], rows: slice) -> NDArray[Any]:
        channel_numbers = np.arange(rows.start, rows.stop) % channels
        array *= factor[channel_numbers].astype(array.dtype)
        array += summand[channel_numbers].astype(array.dtype)
        return array

    return _normalize_each(inputs, batch * channels, scale_rows, summand, epsilon)


def _normalize_each(
    inputs: NDArray[Any],
    count: int,
    scaled: Callable[[NDArray[Any], slice], NDArray[Any]],
    summand: NDArray[Any],
    epsilon: float,
) -> NDArray[Any]:
    """Return `count` equal parts of the inputs, each normalized and then scaled by rows."""

    def of_rows(wide_rows: NDArray[Any], rows: slice) -> NDArray[Any]:
        wide_rows /= centre_rows(wide_rows, epsilon)[1]
        return scaled(wide_rows, rows)

    with memory.ignore_warnings():
        flat = inputs.reshape(count, -1)
        if inputs.dtype == np.float32 and are_summands_small(summand):
            return normalize_singles(flat, scaled, of_rows, epsilon=epsilon).reshape(inputs.shape)
        return row_function(of_rows, flat, dtype=inputs.dtype, places=True).reshape(inputs.shape)


def batch_normalization(
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
    """Return batch normalization, running mean and variance, and those used.

    inputs: [batch, channel, …]. training: normalize by the mean and variance of `inputs` (nan if empty), and move the
    running ones towards them by 1 - momentum. by_channel, by_place: parameters may be per channel, or per position of a
    batch element. whole: only the first output, or all training outputs, are requested. fits: `inputs` has a rank that
    the operator's version supports.
    """
    if not fits:
        raise InputError(f"normalization: this operator version does not support rank {inputs.ndim}")
    if not whole:
        raise InputError("normalization: expected only the first output, or all training outputs")
    lists = (("a scale", scale), ("a bias", bias), ("a mean", mean), ("a variance", variance))
    parts = [
        (_channel if not by_place or (by_channel and array.ndim == 1) else _position_parameter)(noun, array, inputs)
        for noun, array in lists
    ]
    factor, summand, middle, deviation = parts
    with memory.ignore_warnings():
        if training:
            wide_inputs = inputs.astype(np.float64)
            axes = tuple(axis for axis in range(inputs.ndim) if axis != 1) if mean.ndim == 1 else (0,)
            count = np.float64(inputs.size // max(1, mean.size))
            middle = wide_inputs.sum(axis=axes, keepdims=True) / count
            deviation = np.square(wide_inputs - middle).sum(axis=axes, keepdims=True) / count
            kept_share = np.float32(momentum)
            moving_pairs = ((mean, middle), (variance, deviation))
            mean, variance = (
                round_to(old * kept_share + new.reshape(old.shape) * (np.float32(1) - kept_share), old.dtype)
                for old, new in moving_pairs
            )
        result = _scale_inputs(inputs, middle, np.sqrt(deviation + np.float32(epsilon)), factor, summand)
        used_statistics = [round_to(part.reshape(mean.shape), mean.dtype) for part in (middle, deviation)]
        return result, mean.copy(), variance.copy(), *used_statistics


def _scale_inputs(inputs: NDArray[Any], *numbers: NDArray[Any]) -> NDArray[Any]:
    """Return ``(inputs - middle) / divisor * factor + summand``.

    numbers: the four in float64, broadcast to `inputs`, equal for the whole batch.
    """
    rank, channels = inputs.ndim, inputs.shape[1] if inputs.ndim > 1 else 1
    middle, divisor, factor, summand = (n.reshape(n.shape[1:] if n.ndim == max(2, rank) else n.shape) for n in numbers)
    # inputs * slope + start: its float64 rounding error is invisible in float32 results
    slope = factor / divisor
    flat = inputs.reshape(prod(inputs.shape[:2]), *inputs.shape[2:])
    if inputs.dtype == np.float32 and are_summands_small(summand) and keeps_precision(middle, slope):
        return scale_singles(flat, middle, slope, summand).reshape(inputs.shape)
    lost_digits = middle * slope
    line = inputs.dtype != np.float64 and bool((np.abs(lost_digits) < _EXACT_MAGNITUDE).all())
    start = summand - lost_digits

    def of_rows(wide_rows: NDArray[Any], rows: slice) -> NDArray[Any]:
        channel_numbers = np.arange(rows.start, rows.stop) % channels
        if line:
            wide_rows *= slope[channel_numbers]
            wide_rows += start[channel_numbers]
            return wide_rows
        wide_rows -= middle[channel_numbers]
        wide_rows /= divisor[channel_numbers]
        wide_rows *= factor[channel_numbers]
        wide_rows += summand[channel_numbers]
        return wide_rows

    return row_function(of_rows, flat, dtype=inputs.dtype, places=True).reshape(inputs.shape)


def layer_normalization(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    axis: int,
    epsilon: float,
    statistics: np.dtype[Any] | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return layer normalization, means and inverse standard deviations.

    Normalizes over the dimensions from `axis` on. scale and bias broadcast to `inputs`. statistics: the type of the
    other outputs, float32 or bfloat16, which keep the dimensions with size 1, and are nan for empty slices.
    """
    check_axis(axis, inputs.ndim, "normalization")
    if statistics is None or statistics.name not in {"float32", "bfloat16"}:
        raise InputError(f"normalization: expected statistics of float32 or bfloat16, found {statistics}")
    outer, size = prod(inputs.shape[:axis]), prod(inputs.shape[axis:])
    mean, root = np.empty((outer, 1)), np.empty((outer, 1))
    factor = _rows(scale, inputs, axis, "a scale")
    summand = None if bias is None else _rows(bias, inputs, axis, "a bias")

    def scale_rows(array: NDArray[Any], rows: slice) -> NDArray[Any]:
        array *= factor[rows if len(factor) == outer else slice(1)].astype(array.dtype, copy=False)
        if summand is not None:
            array += summand[rows if len(summand) == outer else slice(1)].astype(array.dtype, copy=False)
        return array

    def of_rows(wide_rows: NDArray[Any], rows: slice) -> NDArray[Any]:
        mean[rows], root[rows] = centre_rows(wide_rows, epsilon)
        wide_rows *= 1 / root[rows]
        return scale_rows(wide_rows, rows)

    flat = inputs.reshape(outer, size)
    with memory.ignore_warnings():
        if inputs.dtype == np.float32 and size and are_summands_small(summand):
            result = normalize_singles(flat, scale_rows, of_rows, epsilon=epsilon, statistics=(mean, root))
        else:
            result = row_function(of_rows, flat, dtype=inputs.dtype, places=True)
        inverse = 1 / root
        result = result.reshape(inputs.shape)
        shape = (*inputs.shape[:axis], *(1,) * (inputs.ndim - axis))
        return result, round_to(mean, statistics).reshape(shape), round_to(inverse, statistics).reshape(shape)


def rms_normalization(inputs: NDArray[Any], scale: NDArray[Any], *, axis: int, epsilon: float) -> NDArray[Any]:
    """Return RMS normalization from dimension `axis` on, times scale."""
    check_axis(axis, inputs.ndim, "normalization")
    if not inputs.size:
        return inputs.copy()
    outer, size = prod(inputs.shape[:axis]), prod(inputs.shape[axis:])
    factor = _rows(scale, inputs, axis, "a scale")

    def of_rows(wide_rows: NDArray[Any], rows: slice) -> NDArray[Any]:
        wide_rows /= np.sqrt(np.square(wide_rows).mean(axis=1, keepdims=True) + np.float32(epsilon))
        wide_rows *= factor[rows if len(factor) == outer else slice(1)]
        return wide_rows

    with memory.ignore_warnings():
        flat = inputs.reshape(outer, size)
        return row_function(of_rows, flat, dtype=scale.dtype, places=True).reshape(inputs.shape)


def _rows(array: NDArray[Any], inputs: NDArray[Any], axis: int, noun: str) -> NDArray[Any]:
    """Return parameters per position from `axis` on.

    One row if all rows are equal, otherwise all rows.
    """
    sizes = zip(array.shape[::-1], inputs.shape[::-1], strict=False)
    if array.ndim > inputs.ndim or any(n not in {1, m} for n, m in sizes):
        raise InputError(
            f"normalization: {noun} of shape {list(array.shape)} does not match an input of shape {list(inputs.shape)}"
        )
    first, inner_shape = inputs.shape[:axis], inputs.shape[axis:]
    if array.ndim > len(inner_shape) and prod(array.shape[: array.ndim - len(inner_shape)]) != 1:
        return np.broadcast_to(array, inputs.shape).reshape(prod(first), prod(inner_shape))
    row = array.reshape(array.shape[max(0, array.ndim - len(inner_shape)) :]).astype(np.float64)
    return np.broadcast_to(row, inner_shape).reshape(1, prod(inner_shape))


def lp_normalization(inputs: NDArray[Any], *, axis: int, p: int, epsilon: float | None = None) -> NDArray[Any]:
    """Return `inputs` divided by their p-norm (1 or 2) along `axis`.

    The result is 0 where the norm is 0. epsilon: added to the squared norm; 0 / 0 is then nan.
    """
    check_axis(axis, inputs.ndim, "normalization")
    if p not in {1, 2}:
        raise InputError(f"normalization: expected p of 1 or 2, found {p}")
    with memory.ignore_warnings():
        wide_inputs = inputs.astype(np.float64)
        norm = np.sum(np.abs(wide_inputs) ** p, axis=axis, keepdims=True)
        if epsilon is not None:
            return round_to(wide_inputs / np.sqrt((norm if p == 2 else norm**2) + np.float32(epsilon)), inputs.dtype)
        norm = np.sqrt(norm) if p == 2 else norm
        return round_to(np.where(norm == 0, 0.0, wide_inputs / np.where(norm == 0, 1.0, norm)), inputs.dtype)


#: Powers that square roots compute exactly except for rounding. They overwrite their input; the second array is scratch
#: memory.
_ROOTS: Final[Mapping[np.float32, Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]]] = {
    np.float32(0.5): lambda base, _: np.sqrt(base, out=base),
    np.float32(0.75): lambda base, workspace: np.multiply(
        root := np.sqrt(base, out=base), np.sqrt(root, out=workspace), out=root
    ),
    np.float32(1): lambda base, _: base,
}
#: Terms of a float32 sum, and the range of numbers whose squares float32 holds.
_MAX_SINGLE_TERMS: Final = 8
_MIN_SAFE, _MAX_SAFE = 1e-10, 1e18


def _places(inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int]) -> tuple[int, ...]:
    """Return distinct non-negative axes; negative ones count from the end."""
    stated_numbers = integers("normalization", "axes", np.ravel(axes) if isinstance(axes, np.ndarray) else list(axes))
    numbers = {axis + inputs.ndim if axis < 0 else axis for axis in stated_numbers}
    for axis in numbers:
        check_axis(axis, inputs.ndim, "normalization")
    return tuple(sorted(numbers))


def mvn(
    inputs: NDArray[Any],
    axes: NDArray[Any] | Sequence[int] | None = None,
    *,
    first: int,
    epsilon: float,
    use_variance: bool = True,
    inside: bool = True,
) -> NDArray[Any]:
    """Return mean variance normalization along `axes`.

    axes: the dimensions from `first` on if None. use_variance: divide by the deviation. inside: epsilon is added to the
    variance, else to its square root.
    """
    require_float("normalization", inputs)
    axis_numbers = _places(inputs, range(first, inputs.ndim) if axes is None else axes)
    if not inputs.size:
        return inputs.copy()
    with memory.ignore_warnings():
        wide_inputs = inputs.astype(np.float64)
        wide_inputs = wide_inputs - wide_inputs.mean(axis=axis_numbers, keepdims=True)
        if use_variance:
            variance = np.square(wide_inputs).mean(axis=axis_numbers, keepdims=True)
            epsilon_single = np.float32(epsilon)
            wide_inputs /= np.sqrt(variance + epsilon_single) if inside else np.sqrt(variance) + epsilon_single
        return round_to(wide_inputs, inputs.dtype)


def batch_norm_inference(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    *,
    epsilon: float,
) -> NDArray[Any]:
    """Return batch normalization of [batch, channel, …] by given parameters.

    The four have one number per channel.
    """
    require_float("normalization", inputs)
    has_channels = inputs.ndim >= 2
    return batch_normalization(
        inputs, scale, bias, mean, variance, epsilon=epsilon, momentum=0.0, training=False, fits=has_channels
    )[0]


def normalize_l2(
    inputs: NDArray[Any], axes: NDArray[Any] | Sequence[int], *, epsilon: float, largest: bool = False
) -> NDArray[Any]:
    """Return L2 normalization along `axes`.

    epsilon is added to the sum of squares; with largest, the sum is max(sum, epsilon).
    """
    require_float("normalization", inputs)
    axis_numbers = _places(inputs, axes)
    with memory.ignore_warnings():
        wide_inputs = inputs.astype(np.float64)
        total = np.square(wide_inputs).sum(axis=axis_numbers, keepdims=True)
        least = np.float32(epsilon)
        return round_to(wide_inputs / np.sqrt(np.maximum(total, least) if largest else total + least), inputs.dtype)


def group_normalization(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    *,
    groups: int,
    epsilon: float,
    per_group: bool | None = None,
) -> NDArray[Any]:
    """Return group normalization with scale and bias.

    inputs: [batch, channel, …]. scale and bias are per channel, or with per_group per group. An input without channels
    is accepted only if per_group is stated.
    """
    require_float("normalization", inputs)
    has_no_groups = inputs.ndim > 1 and not inputs.shape[1] and per_group is None
    if inputs.ndim < 2 or groups < 1 or has_no_groups or inputs.shape[1] % groups:
        raise InputError(f"normalization: {list(inputs.shape)} has channels that are not divisible by {groups} groups")
    for noun, array in (("a scale", scale), ("a bias", bias)):
        require_shape("normalization", noun, array.shape, (groups,) if per_group else inputs.shape[1:2])
    if not inputs.size:
        return inputs.copy()
    if per_group:
        scale, bias = (np.repeat(array, inputs.shape[1] // groups) for array in (scale, bias))
    factor, summand = (array.astype(np.float64).reshape(groups, -1, 1) for array in (scale, bias))

    def scale_rows(array: NDArray[Any], rows: slice) -> NDArray[Any]:
        group_numbers = np.arange(rows.start, rows.stop) % groups
        channels = array.reshape(len(array), factor.shape[1], -1)
        channels *= factor[group_numbers].astype(array.dtype)
        channels += summand[group_numbers].astype(array.dtype)
        return array

    return _normalize_each(inputs, inputs.shape[0] * groups, scale_rows, summand, epsilon)


def lrn(
    inputs: NDArray[Any],
    axes: NDArray[Any] | Sequence[int],
    *,
    alpha: float,
    beta: float,
    bias: float,
    size: int,
    before: int | None = None,
) -> NDArray[Any]:
    """Return inputs / (bias + alpha * squares / size ** len(axes)) ** beta.

    squares: the sum of squares of the window of size
    2 positions after each element along each of `axes`, and as many, or `before`, before it.
    """
    require_float("normalization", inputs)
    if size < 1:
        raise InputError(f"normalization: expected a size of at least 1, found {size}")
    axis_numbers = _places(inputs, axes)
    count = size // 2 if before is None else before, size // 2
    with memory.ignore_warnings():
        share = np.float64(np.float32(alpha)) / float(size) ** len(np.ravel(axes))
        if len(axis_numbers) == 1 and _is_float32_enough(inputs, share, np.float32(beta), np.float32(bias), sum(count)):
            return _divided_by_roots(inputs, axis_numbers[0], share, np.float32(beta), np.float32(bias), count)
        wide_inputs = inputs.astype(np.float64)
        squares = np.square(wide_inputs)
        for axis in axis_numbers:
            squares = sum_near(squares, axis, *count)
        base = np.float64(np.float32(bias)) + share * squares
        return round_to(wide_inputs / base ** np.float64(np.float32(beta)), inputs.dtype)


def _is_float32_enough(inputs: NDArray[Any], share: np.float64, beta: np.float32, bias: np.float32, count: int) -> bool:
    """Return whether float32 is accurate enough.

    It is for few non-negative terms and powers made of square roots.
    """
    result = (
        inputs.dtype == np.float32
        and count <= _MAX_SINGLE_TERMS
        and beta in _ROOTS
        and 0 <= share <= 1
        and _MIN_SAFE <= bias <= _MAX_SAFE
    )
    return bool(result and inputs.size and inputs.max() <= _MAX_SAFE and inputs.min() >= -_MAX_SAFE)


def _divided_by_roots(
    inputs: NDArray[Any], axis: int, share: np.float64, beta: np.float32, bias: np.float32, count: tuple[int, int]
) -> NDArray[Any]:
    """Return `lrn` along one axis in float32, by blocks."""
    length = inputs.shape[axis]
    values = inputs.reshape(prod(inputs.shape[:axis]), length, -1)
    result = np.empty(values.shape, np.float32)
    workspace = np.empty((2, 0, 0), np.float32)
    for outer in memory.within_time_limit(range(len(values))):
        for block in blocks_of(values.shape[2], length, 2):
            array, width = values[outer, :, block], block.stop - block.start
            if not block.start and not outer:
                workspace = np.empty((2, length, width), np.float32)
            squares, base = workspace[:, :, :width]
            np.square(array, out=squares)
            _add_neighbours(base, squares, *count)
            base *= np.float32(share)
            base += bias
            np.divide(array, _ROOTS[beta](base, squares), out=result[outer, :, block])
    return result.reshape(inputs.shape)


def sum_near(values: NDArray[Any], axis: int, before: int, count_after: int) -> NDArray[Any]:
    """Return sums over a window of positions before and after along `axis`."""
    result = memory.empty(values.shape, values.dtype)
    _add_neighbours(np.moveaxis(result, axis, 0), np.moveaxis(values, axis, 0), before, count_after)
    return result


def _add_neighbours(target_sums: NDArray[Any], summands: NDArray[Any], before: int, count_after: int) -> None:
    """Write the sums of `sum_near` along the first dimension."""
    last_slice = slice(-1, None) if count_after and len(summands) > 1 else slice(None)
    target_sums[last_slice] = summands[last_slice]
    if last_slice.start:
        np.add(summands[:-1], summands[1:], out=target_sums[:-1])  # in one step, without a copy to add to
    for distance in memory.within_time_limit(
        range(1, min(max(before, count_after), len(summands) - 1) + 1 if summands.size else 0)
    ):
        if 1 < distance <= count_after:
            target_sums[:-distance] += summands[distance:]
        if distance <= before:
            target_sums[distance:] += summands[:-distance]


def normalize_by(
    inputs: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    *,
    epsilon: float,
    activation: Activation | None = None,
    folded: bool = False,
) -> NDArray[Any]:
    """Return normalization by given mean and variance, with activation.

    The result is activation(scale * (inputs - mean) / sqrt(variance + epsilon) + bias), of the type of `inputs`. The
    four have its rank, and its sizes or 1. activation: function of float32. folded: as inputs * factor + (bias - mean *
    factor), with factor = scale / sqrt(variance + epsilon), which may give nan instead of infinity.
    """
    _require(inputs, mean=mean, variance=variance, scale=scale, bias=bias)
    with memory.ignore_warnings():
        deviation = np.sqrt(to_float64(variance) + np.float32(epsilon))
        if folded:
            factor = to_float64(scale) / deviation
            result = to_float64(inputs) * factor + (to_float64(bias) - to_float64(mean) * factor)
            return _apply_activation(result, activation, inputs.dtype)
        result = to_float64(inputs) - to_float64(mean)
        result /= deviation
        result *= to_float64(scale)
        result += to_float64(bias)
        return _apply_activation(result, activation, inputs.dtype)


def batch_normalization_training(
    inputs: NDArray[Any],
    scale: NDArray[Any],
    bias: NDArray[Any],
    added: NDArray[Any] | None = None,
    *,
    epsilon: float,
    activation: Activation | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `normalize_by` with the inputs' own mean and variance, and these.

    They are computed over the dimensions in which scale and bias, of one shape, have size 1. added: of the shape of
    `inputs`, added before the activation.
    """
    _require(inputs, scale=scale, bias=bias)
    require_shape("normalization", "a bias", bias.shape, scale.shape)
    if added is not None:
        require_shape("normalization", "a summand", added.shape, inputs.shape)
        if added.dtype != inputs.dtype:
            raise InputError(f"normalization: expected an addend of type {inputs.dtype}, found {added.dtype}")
    axes = _broadcast_axes(scale)
    with memory.ignore_warnings():
        result = to_float64(inputs)
        mean = result.mean(axis=axes, keepdims=True)
        result -= mean
        variance = np.square(result).mean(axis=axes, keepdims=True)
        result /= np.sqrt(variance + np.float32(epsilon))
        result *= to_float64(scale)
        result += to_float64(bias)
        if added is not None:
            result += to_float64(added)
        rounded_statistics = [round_to(array, inputs.dtype) for array in (mean, variance)]
        return _apply_activation(result, activation, inputs.dtype), rounded_statistics[0], rounded_statistics[1]


def batch_normalization_gradient(
    inputs: NDArray[Any],
    gradient: NDArray[Any],
    mean: NDArray[Any],
    variance: NDArray[Any],
    scale: NDArray[Any],
    *,
    epsilon: float,
    own: bool,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return batch normalization gradients of inputs, scale and bias.

    gradient: of the output, of the shape of `inputs`. mean, variance, scale: of one shape, with the sizes of `inputs`
    or 1; the last two gradients have the same shape, summed along sizes of 1. own: mean and variance are those of
    `inputs` and depend on them, otherwise constants.
    """
    _require(inputs, mean=mean, variance=variance, scale=scale)
    for noun, array, shape in (
        ("a gradient", gradient, inputs.shape),
        ("a mean", mean, scale.shape),
        ("a variance", variance, scale.shape),
    ):
        require_shape("normalization", noun, array.shape, shape)
    if gradient.dtype != inputs.dtype:
        raise InputError(f"normalization: expected a gradient of type {inputs.dtype}, found {gradient.dtype}")
    axes = _broadcast_axes(scale)
    with memory.ignore_warnings():
        wide_inputs, incoming = to_float64(inputs), to_float64(gradient)
        inner = to_float64(variance) + np.float32(epsilon)
        share = 1 / np.sqrt(inner)
        products = incoming * (wide_inputs - to_float64(mean))
        by_scale = (products * share).sum(axis=axes, keepdims=True)
        by_bias = incoming.sum(axis=axes, keepdims=True)
        if own:
            count = prod(inputs.shape[axis] for axis in axes)
            wide_inputs -= to_float64(mean)
            wide_inputs *= products.mean(axis=axes, keepdims=True) / inner
            incoming = incoming - by_bias / count - wide_inputs
        results = (incoming * (to_float64(scale) * share), by_scale, by_bias)
        input_gradient, scales, biases = (round_to(gradient_array, inputs.dtype) for gradient_array in results)
        return input_gradient, scales, biases


def _apply_activation(result: NDArray[Any], activation: Activation | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    rounded = to_float32(result, dtype)
    return round_to(rounded if activation is None else activation(rounded), dtype)


def _broadcast_axes(array: NDArray[Any]) -> tuple[int, ...]:
    """Return the broadcast dimensions of an array, those of size 1."""
    return tuple(axis for axis, size in enumerate(array.shape) if size == 1)


def _require(inputs: NDArray[Any], **arrays: NDArray[Any]) -> None:
    """Raise InputError for arrays of other types or shapes than `inputs`.

    Sizes may be 1.
    """
    memory.check_budget(inputs.shape, inputs.dtype)
    for name, array in arrays.items():
        is_broadcastable = array.ndim == inputs.ndim and all(
            n in {1, m} for n, m in zip(array.shape, inputs.shape, strict=True)
        )
        if not is_broadcastable or array.dtype != inputs.dtype:
            raise InputError(f"normalization: a {name} of {array.dtype} {list(array.shape)} does not match "
                             f"{inputs.dtype} {list(inputs.shape)}")  # fmt: skip
