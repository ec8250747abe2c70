"""Long short-term memories of one layer, whose activations are functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution.kernels.arithmetic import require_shape, to_float64
from specgate.execution.kernels.products import multiply_matrices
from specgate.execution.kernels.recurrent_layers import applied, layer_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["lstm"]


@dataclass(slots=True)
class _Cell:
    """One direction's weights, in float64, and what it does between them. weights: [4 hidden, input] and so on."""

    weights: NDArray[Any]
    recurrence: NDArray[Any]
    bias: NDArray[Any]
    peephole: NDArray[Any] | None
    functions: Sequence[Callable[[NDArray[Any]], NDArray[Any]]]
    clip: float | None
    coupled: bool

    def step(self, inputs: NDArray[Any], states: Sequence[Any]) -> list[NDArray[Any]]:
        """Return the next hidden state and cell, [batch, hidden size] as those before."""
        hidden, cell = states
        gates = multiply_matrices(inputs, self.weights.T) + multiply_matrices(hidden, self.recurrence.T) + self.bias
        to_input, to_output, to_forget, to_cell = np.split(gates, 4, axis=1)
        entering = self.activated(0, to_input + self.seen(0, cell))
        kept = 1 - entering if self.coupled else self.activated(0, to_forget + self.seen(2, cell))
        following = kept * cell + entering * self.activated(1, to_cell)
        leaving = self.activated(0, to_output + self.seen(1, following))
        return [leaving * applied(self.functions[2], following), following]

    def seen(self, which: int, cell: NDArray[Any]) -> NDArray[Any] | float:
        """Return what the peephole adds to a gate: nothing without one, also where the cell is infinite."""
        return 0.0 if self.peephole is None else np.split(self.peephole, 3)[which] * cell

    def activated(self, which: int, values: NDArray[Any]) -> NDArray[Any]:
        # a nan is held at the lower bound
        held = values if self.clip is None else np.fmin(np.fmax(values, -self.clip), self.clip)
        return applied(self.functions[which], held)


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
    coupled: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return a long short-term memory's hidden states [time, directions, batch, hidden size], the last, and its cell.

    inputs: [1, time, batch, input size]. weights: [1, directions, 4 * hidden size, input size], the gates in the order
    input, output, forget, cell. recurrence: [1, directions, 4 * hidden size, hidden size]. bias: [1, 1, directions,
    8 * hidden size], that of weights and of recurrence. hidden, cell: those before, [1, directions, batch, hidden
    size]. lengths: [1, 1, 1, batch]; states behind them are 0. peephole: [1, 1, directions, 3 * hidden size], for
    input, output and forget. What is absent is 0, or the whole time. direction: FORWARD, BACKWARD or BIDIRECTIONAL.

    activations: three for each direction, of float32: for the gates, the cell's input, and its output. clip: the bound
    of the arguments of the first two, if clipped. coupled: the forget gate is 1 - the input gate. The last two results
    are [1, directions, batch, hidden size], masked for lengths that are not from 1 to the time.
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
    cells = [
        _Cell(
            layer.weights[index], layer.recurrence[index], layer.bias[index].sum(axis=0),
            None if peephole is None else to_float64(peephole[0, 0, index]), layer.activations[index], bound, coupled,
        )
        for index in range(count)
    ]  # fmt: skip
    every, last, last_cell = layer.run(cells)
    return every, last, last_cell
