"""Local response normalization along chosen dimensions, and its gradient.

DirectML LOCAL_RESPONSE_NORMALIZATION, LOCAL_RESPONSE_NORMALIZATION_GRAD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axes, require_shape, round_to, to_float64
from specgate.execution.kernels.normalization import sum_near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["divide_by_near", "divide_by_near_gradient"]


def divide_by_near(
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
    along = _hold(inputs, axes, size)
    with memory.quiet():
        wide = to_float64(inputs)
        base = _base(wide, along, size, alpha, bias)
        return round_to(wide * _power(base, -np.float64(np.float32(beta)), by_logarithm), inputs.dtype)


def divide_by_near_gradient(
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
) -> NDArray[Any]:
    """Return the gradient of `divide_by_near` with respect to its inputs.

    gradient: of the output, of the shape and type of `inputs`. mirrored: sums run over all positions whose window
    contains this one, else over its own window. own_together: the contribution of an infinite gradient at its own
    position is one infinite term, not the difference of two, unless another infinite gradient is in the window.
    """
    along = _hold(inputs, axes, size)
    require_shape("normalization", "a gradient", gradient.shape, inputs.shape)
    if gradient.dtype != inputs.dtype:
        raise InputError(f"normalization: expected a gradient of {inputs.dtype}, found {gradient.dtype}")
    with memory.quiet():
        wide, incoming = to_float64(inputs), to_float64(gradient)
        base = _base(wide, along, size, alpha, bias)
        power = np.float64(np.float32(beta))
        factor = 2 * power * np.float64(np.float32(alpha)) / size
        before, behind = (size - 1) // 2, size // 2
        reach = (behind, before) if mirrored else (before, behind)
        shared = _summed(incoming * wide * _power(base, -power - 1, by_logarithm), along, reach)
        alone = np.isinf(incoming) & own_together
        if not alone.any():
            return round_to(incoming * _power(base, -power, by_logarithm) - factor * wide * shared, inputs.dtype)
        steep = _power(base, -power - 1, by_logarithm)
        several = _summed(alone.astype(np.float64), along, reach) > 1
        others = np.where(several, np.nan, _summed(np.where(alone, 0.0, incoming * wide * steep), along, reach))
        own = _power(base, -power, by_logarithm) - np.where(alone, factor * wide * wide * steep, 0.0)
        result = incoming * own - factor * wide * np.where(alone, others, shared)
        return round_to(result, inputs.dtype)


def _summed(values: NDArray[Any], axes: tuple[int, ...], reach: tuple[int, int]) -> NDArray[Any]:
    for axis in axes:
        values = sum_near(values, axis, *reach)
    return values


def _power(base: NDArray[Any], exponent: np.float64, by_logarithm: bool) -> NDArray[Any]:
    return np.asarray(np.exp2(exponent * np.log2(base)) if by_logarithm else base**exponent)


def _hold(inputs: NDArray[Any], axes: Sequence[int], size: int) -> tuple[int, ...]:
    if size < 1:
        raise InputError(f"normalization: expected a size of at least 1, found {size}")
    return check_axes(axes, inputs.ndim, "normalization")


def _base(wide: NDArray[Any], axes: tuple[int, ...], size: int, alpha: float, bias: float) -> NDArray[Any]:
    squares = _summed(np.square(wide), axes, ((size - 1) // 2, size // 2))
    return np.asarray(np.float64(np.float32(bias)) + np.float64(np.float32(alpha)) / size * squares)
