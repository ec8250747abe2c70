"""Recurrent networks whose functions have names: one step over a batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.arithmetic import require_shape
from specgate.execution.kernels.recurrent_networks import Gru, Lstm, Network, Rnn
from specgate.execution.kernels.recurrent_sequences import over_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["gru_step", "lstm_step", "rnn_step"]


def rnn_step(
    inputs: NDArray[Any],
    hidden: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    activations: Sequence[str] = ("tanh",),
    clip: float | None = None,
) -> NDArray[Any]:
    """Return the next state [batch, hidden] of a simple network: the function of all that enters.

    inputs: [batch, input]. hidden: [batch, hidden]. weights: [hidden, input]. recurrence: [hidden, hidden]. bias:
    [hidden], 0 if None. clip: the bound of what the function gets.
    """
    return _single(Rnn, inputs, [hidden], weights, recurrence, bias, activations, clip)[0]


def gru_step(
    inputs: NDArray[Any],
    hidden: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    activations: Sequence[str] = ("sigmoid", "tanh"),
    clip: float | None = None,
    linear_before_reset: bool = False,
) -> NDArray[Any]:
    """Return the next state of a gated recurrent unit. weights, recurrence: of the gates update, reset, hidden.

    bias: [3 * hidden]; with linear_before_reset [4 * hidden], where the last is that of the state alone, which the
    reset gate multiplies behind the product. Others as `rnn_step`.
    """
    return _single(Gru, inputs, [hidden], weights, recurrence, bias, activations, clip, linear_before_reset)[0]


def lstm_step(
    inputs: NDArray[Any],
    hidden: NDArray[Any],
    cell: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    activations: Sequence[str] = ("sigmoid", "tanh", "tanh"),
    clip: float | None = None,
    input_forget: bool = False,
    weights_format: str = "fico",
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the next state and cell of a long short-term memory. weights: of the gates forget, input, cell, output.

    activations: of the gates, of the cell's input, and of the cell where it leaves, which is not clipped.
    input_forget, weights_format: only as they are by default; other things are not computed. Others as `rnn_step`.
    """
    if input_forget or weights_format != "fico":
        raise NoKernel("lstm_step: computes neither input_forget nor other formats of weights than fico")
    new_hidden, new_cell = _single(Lstm, inputs, [hidden, cell], weights, recurrence, bias, activations, clip)
    return new_hidden, new_cell


def _single(
    kind: type[Network],
    inputs: NDArray[Any],
    states: list[NDArray[Any]],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None,
    activations: Sequence[str],
    clip: float | None,
    linear: bool = False,
) -> list[NDArray[Any]]:
    if inputs.ndim != 2 or recurrence.ndim != 2:
        raise InputError("recurrent: expected inputs and recurrence of 2 dimensions")
    for state in states:
        require_shape("recurrent", "a state", state.shape, (inputs.shape[0], recurrence.shape[1]))
    arrays = weights[np.newaxis], recurrence[np.newaxis], None if bias is None else bias[np.newaxis]
    made = over_time(
        kind, inputs[:, np.newaxis], [state[:, np.newaxis] for state in states], np.ones(len(inputs), np.int64), arrays,
        "forward", activations, clip, linear,
    )  # fmt: skip
    return [each[:, 0] for each in made[1:]]
