"""One step of an optimizer: tensors moved along their gradients, and what is remembered of these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["step_by_adagrad", "step_by_adam", "step_by_momentum"]


def _scalars(name: str, rate: NDArray[Any], count: NDArray[Any]) -> tuple[float, int]:
    if rate.size != 1 or count.ndim:
        raise InputError(f"{name}: expected the learning rate as one number, and the number of updates as a scalar")
    return float(rate.reshape(())), int(count)


def _each(
    name: str, tensors: Sequence[NDArray[Any]], parts: int, step: Callable[..., tuple[NDArray[Any], ...]]
) -> list[NDArray[Any]]:
    """Return what `step` makes of each tensor and what comes with it, all first results first.

    tensors: all first ones, then what comes with them, `parts` lists of one length. Computed in float64, rounded to the
    type of the tensor that it is a new value of.
    """
    if len(tensors) % parts:
        raise InputError(f"{name}: {len(tensors)} tensors are not {parts} of each")
    count = len(tensors) // parts
    found: list[list[NDArray[Any]]] = [[] for _ in range(parts - 1)]
    for first in range(count):
        group = [tensors[first + count * part] for part in range(parts)]
        for each in group:
            require_shape(name, "tensors that belong together", each.shape, group[0].shape)
            if not is_float(each.dtype):
                raise InputError(f"{name}: expected floats, found {each.dtype}")
        kinds = [group[0].dtype, *(each.dtype for each in group[2:])]
        for place, (result, dtype) in enumerate(zip(step(*(g.astype(np.float64) for g in group)), kinds, strict=True)):
            made = memory.empty(group[0].shape, dtype)
            made[...] = result
            found[place].append(made)
    return [array for part in found for array in part]


def step_by_adagrad(
    rate: NDArray[Any],
    count: NDArray[Any],
    tensors: Sequence[NDArray[Any]],
    *,
    decay_factor: float = 0.0,
    epsilon: float = 1e-6,
    norm_coefficient: float = 0.0,
) -> list[NDArray[Any]]:
    """Return new tensors, then their sums of squared gradients; tensors: tensors, gradients, sums so far."""
    initial, updates = _scalars("step_by_adagrad", rate, count)
    factor = np.float64(initial) / (1 + updates * decay_factor)

    def step(x: NDArray[Any], gradient: NDArray[Any], squares: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        whole = norm_coefficient * x + gradient
        total = squares + whole * whole
        return x - factor * whole / (np.sqrt(total) + epsilon), total

    return _each("step_by_adagrad", tensors, 3, step)


def step_by_adam(
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
    """Return new tensors, then averages of their gradients, then of the squares.

    tensors: tensors, gradients, averages of gradients so far, averages of squares so far.
    """
    factor, updates = _scalars("step_by_adam", rate, count)
    if updates > 0:
        lost = np.float64(1) - np.float64(alpha) ** updates
        factor = float(factor * np.sqrt(np.float64(1) - np.float64(beta) ** updates) / lost)

    def step(
        x: NDArray[Any], gradient: NDArray[Any], mean: NDArray[Any], squares: NDArray[Any]
    ) -> tuple[NDArray[Any], ...]:
        whole = norm_coefficient * x + gradient
        mean = alpha * mean + (1 - alpha) * whole
        squares = beta * squares + (1 - beta) * whole * whole
        moved = x - factor * mean / (np.sqrt(squares) + epsilon)
        return (1 - norm_coefficient_post) * moved, mean, squares

    return _each("step_by_adam", tensors, 4, step)


def step_by_momentum(
    rate: NDArray[Any],
    count: NDArray[Any],
    tensors: Sequence[NDArray[Any]],
    *,
    alpha: float,
    beta: float,
    mode: str,
    norm_coefficient: float,
) -> list[NDArray[Any]]:
    """Return new tensors, then their momenta; tensors: tensors, gradients, momenta so far. mode: standard, nesterov."""
    factor, updates = _scalars("step_by_momentum", rate, count)
    if mode not in {"standard", "nesterov"}:
        raise InputError(f"step_by_momentum: expected standard or nesterov, found {mode!r:.40}")
    scale = beta if updates > 0 else 1.0

    def step(x: NDArray[Any], gradient: NDArray[Any], momentum: NDArray[Any]) -> tuple[NDArray[Any], ...]:
        whole = norm_coefficient * x + gradient
        momentum = alpha * momentum + scale * whole
        return x - factor * (momentum if mode == "standard" else whole + alpha * momentum), momentum

    return _each("step_by_momentum", tensors, 3, step)
