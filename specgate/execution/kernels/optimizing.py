"""Steps of optimizers that train a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["adam_step"]


def adam_step(
    parameters: NDArray[Any],
    first: NDArray[Any],
    second: NDArray[Any],
    gradient: NDArray[Any],
    step: NDArray[Any],
    *,
    rate: float,
    beta1: float,
    beta2: float,
    epsilon: float,
    by_difference: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the parameters, the first and the second moment after one step of Adam, all of one shape and type.

    The moments move towards the gradient and its square, by 1 - beta1 and 1 - beta2; from the parameters the rate times
    first / (root of second + epsilon) is taken, times the correction sqrt(1 - beta2 ** step) / (1 - beta1 ** step).
    step: one element; at 0, where the correction is 0 / 0, it is left out. by_difference: each moment is moved by a
    share of its difference to the target, so that an infinite moment becomes nan.
    """
    for what, array in (("a first moment", first), ("a second moment", second), ("a gradient", gradient)):
        require_shape("adam", what, array.shape, parameters.shape)
        if array.dtype != parameters.dtype:
            raise InputError(f"adam: expected {what} of {parameters.dtype}, found {array.dtype}")
    if step.size != 1:
        raise InputError(f"adam: expected one number of a step, found {step.size}")
    slow, slower, added = (np.float64(np.float32(number)) for number in (beta1, beta2, epsilon))
    count = np.float64(step.reshape(-1)[0])
    with memory.quiet():
        wide = to_float64(gradient)
        first = _moved(to_float64(first), wide, slow, by_difference)
        second = _moved(to_float64(second), np.square(wide), slower, by_difference)
        correction = np.sqrt(1 - slower**count) / (1 - slow**count) if count else np.float64(1)
        change = np.float64(np.float32(rate)) * correction * first / (np.sqrt(second) + added)
        results = (to_float64(parameters) - change, first, second)
        moved, near, far = (round_to(each, parameters.dtype) for each in results)
        return moved, near, far


def _moved(moment: NDArray[Any], target: NDArray[Any], kept: np.float64, by_difference: bool) -> NDArray[Any]:
    """Return a moment moved towards its target by the share that is not kept."""
    if by_difference:
        return np.asarray(moment + (1 - kept) * (target - moment))
    return np.asarray(kept * moment + (1 - kept) * target)
