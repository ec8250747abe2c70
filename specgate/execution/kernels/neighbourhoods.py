"""Elements divided by a power of the mean of squares around them, along chosen dimensions, and the gradient of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axes, require_shape, round_to, to_float64
from specgate.execution.kernels.normalize_axes import sum_near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["divide_by_near", "divide_by_near_gradient"]


def divide_by_near(
    inputs: NDArray[Any], *, axes: Sequence[int], size: int, alpha: float, beta: float, bias: float
) -> NDArray[Any]:
    """Return `inputs` / (bias + alpha / size * squares) ** beta, of their type.

    squares: the sum of squares of the `size` elements around each along every one of `axes`, of an even number one more
    behind it than before it, as far as there are elements.
    """
    along = _hold(inputs, axes, size)
    with memory.quiet():
        wide = to_float64(inputs)
        base = _base(wide, along, size, alpha, bias)
        return round_to(wide * base ** -np.float64(np.float32(beta)), inputs.dtype)


def divide_by_near_gradient(
    inputs: NDArray[Any],
    gradient: NDArray[Any],
    *,
    axes: Sequence[int],
    size: int,
    alpha: float,
    beta: float,
    bias: float,
) -> NDArray[Any]:
    """Return the gradient of `divide_by_near` by its inputs, where `gradient`, of their shape and type, comes in."""
    along = _hold(inputs, axes, size)
    require_shape("normalization", "a gradient", gradient.shape, inputs.shape)
    if gradient.dtype != inputs.dtype:
        raise InputError(f"normalization: expected a gradient of {inputs.dtype}, found {gradient.dtype}")
    with memory.quiet():
        wide, incoming = to_float64(inputs), to_float64(gradient)
        base = _base(wide, along, size, alpha, bias)
        power = np.float64(np.float32(beta))
        shared = incoming * wide * base ** (-power - 1)
        for axis in along:  # of all elements that this one is near to
            shared = sum_near(shared, axis, size // 2, (size - 1) // 2)
        factor = 2 * power * np.float64(np.float32(alpha)) / size
        return round_to(incoming * base**-power - factor * wide * shared, inputs.dtype)


def _hold(inputs: NDArray[Any], axes: Sequence[int], size: int) -> tuple[int, ...]:
    if size < 1:
        raise InputError(f"normalization: expected a size of at least 1, found {size}")
    return check_axes(axes, inputs.ndim, "normalization")


def _base(wide: NDArray[Any], axes: tuple[int, ...], size: int, alpha: float, bias: float) -> NDArray[Any]:
    squares = np.square(wide)
    for axis in axes:
        squares = sum_near(squares, axis, (size - 1) // 2, size // 2)
    return np.asarray(np.float64(np.float32(bias)) + np.float64(np.float32(alpha)) / size * squares)
