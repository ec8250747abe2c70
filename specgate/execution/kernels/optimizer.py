"""Training optimizers: Adam, Adagrad and Momentum.

DirectML ADAM_OPTIMIZER; ai.onnx.preview.training Adagrad, Adam, Momentum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float64

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def adam_optimizer(
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
    """Return the parameters and both moments after one Adam step.

    All have one shape and type. The moments move towards the gradient and its square by 1 - beta1 and 1 - beta2; the
    parameters decrease by rate * first / (sqrt(second) + epsilon), times the correction sqrt(1 - beta2 ** step) / (1 -
    beta1 ** step). step: one element; at 0, where the correction is 0 / 0, it is omitted. by_difference: compute moment
    + share * (target - moment), so that an infinite moment becomes nan.
    """
    for noun, array in (("a first moment", first), ("a second moment", second), ("a gradient", gradient)):
        require_shape("adam", noun, array.shape, parameters.shape)
        if array.dtype != parameters.dtype:
            raise InputError(f"adam: expected {noun} of {parameters.dtype}, found {array.dtype}")
    if step.size != 1:
        raise InputError(f"adam: expected a step of one element, found {step.size}")
    slow, slower, epsilon_wide = (np.float64(np.float32(number)) for number in (beta1, beta2, epsilon))
    count = np.float64(step.reshape(-1)[0])
    with memory.ignore_warnings():
        wide_gradient = to_float64(gradient)
        first = _move_moment(to_float64(first), wide_gradient, slow, by_difference)
        second = _move_moment(to_float64(second), np.square(wide_gradient), slower, by_difference)
        correction = np.sqrt(1 - slower**count) / (1 - slow**count) if count else np.float64(1)
        change = np.float64(np.float32(rate)) * correction * first / (np.sqrt(second) + epsilon_wide)
        results = (to_float64(parameters) - change, first, second)
        new_parameters, new_first, new_second = (round_to(moment, parameters.dtype) for moment in results)
        return new_parameters, new_first, new_second


def _move_moment(moment: NDArray[Any], target: NDArray[Any], decay: np.float64, by_difference: bool) -> NDArray[Any]:
    """Return a moment moved towards its target by 1 - kept."""
    if by_difference:
        return np.asarray(moment + (1 - decay) * (target - moment))
    return np.asarray(decay * moment + (1 - decay) * target)


def _scalars(name: str, rate: NDArray[Any], count: NDArray[Any]) -> tuple[float, int]:
    if rate.size != 1 or count.ndim:
        raise InputError(f"{name}: expected a learning rate R of one element and a scalar update count T")
    return float(rate.reshape(())), int(count)


def _update_tensors(
    name: str, tensors: Sequence[NDArray[Any]], parts: int, step: Callable[..., tuple[NDArray[Any], ...]]
) -> list[NDArray[Any]]:
    """Return the results of `step` per tensor, grouped by result.

    tensors: all tensors, then their companions: `parts` lists of one length. Computed in float64, rounded to the type
    of the tensor that each result updates.
    """
    if len(tensors) % parts:
        raise InputError(f"{name}: expected groups of {parts} tensors, found {len(tensors)} tensors")
    count = len(tensors) // parts
    arrays: list[list[NDArray[Any]]] = [[] for _ in range(parts - 1)]
    for first in range(count):
        group = [tensors[first + count * part] for part in range(parts)]
        for tensor_group in group:
            require_shape(name, "tensors of the same optimizer state", tensor_group.shape, group[0].shape)
            if not is_float(tensor_group.dtype):
                raise InputError(f"{name}: expected floats, found {tensor_group.dtype}")
        kinds = [group[0].dtype, *(array.dtype for array in group[2:])]
        for place, (result, dtype) in enumerate(zip(step(*(g.astype(np.float64) for g in group)), kinds, strict=True)):
            new_array = memory.empty(group[0].shape, dtype)
            new_array[...] = result
            arrays[place].append(new_array)
    return [array for part in arrays for array in part]


def adagrad(
    rate: NDArray[Any],
    count: NDArray[Any],
    tensors: Sequence[NDArray[Any]],
    *,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> list[NDArray[Any]]:
    """Return new tensors, then their accumulated squared gradients.

    tensors: tensors, gradients, accumulated squares.
    """
    initial, updates = _scalars("adagrad", rate, count)
    factor = np.float64(initial) / (1 + updates * decay_factor)

    def step(x: NDArray[Any], gradient: NDArray[Any], squares: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        total_gradient = norm_coefficient * x + gradient
        total = squares + total_gradient * total_gradient
        return x - factor * total_gradient / (np.sqrt(total) + epsilon), total

    return _update_tensors("adagrad", tensors, 3, step)


def adam(
    rate: NDArray[Any],
    count: NDArray[Any],
    tensors: Sequence[NDArray[Any]],
    *,
    alpha: float = 0.9,
    beta: float = 0.999,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
    norm_coefficient_post: float = 0.0,
) -> list[NDArray[Any]]:
    """Return new tensors, then averages of gradients and of their squares.

    tensors: tensors, gradients, averages of gradients, averages of squares.
    """
    factor, updates = _scalars("adam", rate, count)
    if updates > 0:
        bias_correction = np.float64(1) - np.float64(alpha) ** updates
        factor = float(factor * np.sqrt(np.float64(1) - np.float64(beta) ** updates) / bias_correction)

    def step(
        x: NDArray[Any], gradient: NDArray[Any], mean: NDArray[Any], squares: NDArray[Any]
    ) -> tuple[NDArray[Any], ...]:
        total_gradient = norm_coefficient * x + gradient
        mean = alpha * mean + (1 - alpha) * total_gradient
        squares = beta * squares + (1 - beta) * total_gradient * total_gradient
        new_value = x - factor * mean / (np.sqrt(squares) + epsilon)
        return (1 - norm_coefficient_post) * new_value, mean, squares

    return _update_tensors("adam", tensors, 4, step)


def momentum_optimizer(
    rate: NDArray[Any],
    count: NDArray[Any],
    tensors: Sequence[NDArray[Any]],
    *,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> list[NDArray[Any]]:
    """Return new tensors, then their momenta.

    tensors: tensors, gradients, momenta. mode: standard, nesterov.
    """
    factor, updates = _scalars("momentum_optimizer", rate, count)
    if mode not in {"standard", "nesterov"}:
        raise InputError(f"momentum_optimizer: expected mode standard or nesterov, found {mode!r:.40}")
    scale = beta if updates > 0 else 1.0

    def step(x: NDArray[Any], gradient: NDArray[Any], momentum: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        total_gradient = norm_coefficient * x + gradient
        momentum = alpha * momentum + scale * total_gradient
        return x - factor * (momentum if mode == "standard" else total_gradient + alpha * momentum), momentum

    return _update_tensors("momentum_optimizer", tensors, 3, step)
