"""Long short-term memories of one layer, whose activations are functions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.execution.kernels.arithmetic import require_shape, to_float64
from specgate.execution.kernels.products import multiply_matrices
from specgate.execution.kernels.recurrent_layers import applied, layer_of
from specgate.execution.kernels.recurrent_networks import Lstm, Plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["lstm"]


class _Held(Lstm):
    """Gates whose clip holds a nan at the lower bound."""

    def gate(self, which: int, values: NDArray[Any]) -> NDArray[Any]:
        return self.functions[which](values if self.clip is None else np.fmin(np.fmax(values, -self.clip), self.clip))


class _Begun:
    """Weights that the states of the first turn do not meet, so that infinite ones make no nan of zeros."""

    def __init__(self, numbers: NDArray[Any]) -> None:
        self.weights, self.begun = Plain(numbers), False

    def times(self, values: NDArray[Any], rows: slice) -> NDArray[Any]:
        begun, self.begun = self.begun, True
        return self.weights.times(values, rows) if begun else np.zeros((len(values), rows.stop - rows.start))


class _Cell(NamedTuple):
    """One direction's weights [4 hidden, input] and their bias, in float64, and what is done with the product."""

    weights: NDArray[Any]
    bias: NDArray[Any]
    network: Lstm

    def step(self, inputs: NDArray[Any], states: Sequence[Any]) -> list[NDArray[Any]]:
        """Return the next hidden state and cell, [batch, hidden size] as those before."""
        return self.network.step(multiply_matrices(inputs, self.weights.T) + self.bias, states)


def lstm(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    cell: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    peephole: NDArray[Any] | None = None,
    *,
    direction: str,
    activations: Sequence[Callable[[NDArray[Any]], NDArray[Any]]],
    clip: float = 0.0,
    clipped: bool = False,
    first_met: bool = True,
    coupled: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return a long short-term memory's hidden states [time, directions, batch, hidden size], the last, and its cell.

    inputs: [1, time, batch, input size]. weights: [1, directions, 4 * hidden size, input size], the gates in the order
    input, output, forget, cell. recurrence: [1, directions, 4 * hidden size, hidden size]. bias: [1, 1, directions,
    8 * hidden size], that of weights and of recurrence. hidden, cell: those before, [1, directions, batch, hidden
    size]. lengths: [1, 1, 1, batch]; states behind them are 0. peephole: [1, 1, directions, 3 * hidden size], for
    input, output and forget. What is absent is 0, or the whole time. direction: FORWARD, BACKWARD or BIDIRECTIONAL.

    activations: three for each direction, of float32: for the gates, the cell's input, and its output. clip: the bound
    of the arguments of the first two, if clipped. first_met: absent states of the first turn are multiplied as zeros,
    which makes nan of infinite weights; else they are left out. coupled: the forget gate is 1 - the input gate. The
    last two results are [1, directions, batch, hidden size], masked for lengths that are not from 1 to the time.
    """
    layer = layer_of(
        "lstm", (inputs, weights, recurrence), bias, [hidden, cell], lengths, gates=4, functions=3, direction=direction,
        activations=activations,
    )  # fmt: skip
    count, batch, width = len(layer.backwards), inputs.shape[2], recurrence.shape[3]
    layer.states = [np.zeros((count, batch, width)) if state is None else state for state in layer.states]
    if peephole is not None:
        kind = f"a peephole of {inputs.dtype}"
        require_shape("lstm", kind, peephole.shape if peephole.dtype == inputs.dtype else (), (1, 1, count, 3 * width))
    bound = float(np.float32(clip)) if clipped else None
    begun = _Begun if hidden is None and not first_met else Plain
    cells = []
    for index in range(count):
        functions = [partial(applied, each) for each in layer.activations[index]]
        own, state_bias = layer.bias[index]
        seen = None if peephole is None else to_float64(peephole[0, 0, index])
        network = _Held(begun(layer.recurrence[index]), state_bias, seen, functions, bound, False, coupled)
        cells.append(_Cell(layer.weights[index], own, network))
    every, last, last_cell = layer.run(cells)
    return every, last, last_cell
