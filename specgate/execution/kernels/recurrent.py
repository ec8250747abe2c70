"""Recurrent networks of one layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.products import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["lstm"]

_DIRECTIONS = {"FORWARD": (False,), "BACKWARD": (True,), "BIDIRECTIONAL": (False, True)}


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

    def step(self, inputs: NDArray[Any], hidden: NDArray[Any], cell: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the next hidden state and cell, [batch, hidden size] as those before."""
        gates = multiply_matrices(inputs, self.weights.T) + multiply_matrices(hidden, self.recurrence.T) + self.bias
        to_input, to_output, to_forget, to_cell = np.split(gates, 4, axis=1)
        entering = self.activated(0, to_input + self.seen(0, cell))
        kept = 1 - entering if self.coupled else self.activated(0, to_forget + self.seen(2, cell))
        following = kept * cell + entering * self.activated(1, to_cell)
        leaving = self.activated(0, to_output + self.seen(1, following))
        return leaving * to_float64(self.functions[2](following.astype(np.float32))), following

    def seen(self, which: int, cell: NDArray[Any]) -> NDArray[Any] | float:
        """Return what the peephole adds to a gate: nothing without one, also where the cell is infinite."""
        return 0.0 if self.peephole is None else np.split(self.peephole, 3)[which] * cell

    def activated(self, which: int, values: NDArray[Any]) -> NDArray[Any]:
        # a nan is held at the lower bound
        held = values if self.clip is None else np.fmin(np.fmax(values, -self.clip), self.clip)
        return to_float64(self.functions[which](held.astype(np.float32)))


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
    if direction not in _DIRECTIONS:
        raise InputError(f"lstm: unknown direction {direction!r:.60}; known: {', '.join(_DIRECTIONS)}")
    backwards = _DIRECTIONS[direction]
    count = len(backwards)
    if inputs.ndim != 4 or weights.ndim != 4 or recurrence.ndim != 4 or len(activations) != 3 * count:
        raise InputError(f"lstm: expected arrays of 4 dimensions and {3 * count} activations, found {inputs.ndim}, "
                         f"{weights.ndim}, {recurrence.ndim} and {len(activations)}")  # fmt: skip
    _, time, batch, size = inputs.shape
    width = recurrence.shape[3]
    require_shape("lstm", "inputs", inputs.shape, (1, time, batch, size))
    _given(weights, (1, count, 4 * width, size), inputs.dtype, "weights")
    _given(recurrence, (1, count, 4 * width, width), inputs.dtype, "a recurrence")
    both = _given(bias, (1, 1, count, 8 * width), inputs.dtype, "a bias")[0, 0]
    if peephole is not None:
        peephole = _given(peephole, (1, 1, count, 3 * width), inputs.dtype, "a peephole")[0, 0]
    first = [_given(each, (1, count, batch, width), inputs.dtype, "a state")[0] for each in (hidden, cell)]
    ends = np.full(batch, time) if lengths is None else lengths.reshape(-1).astype(np.int64)
    if lengths is not None:
        require_shape("lstm", "lengths", lengths.shape, (1, 1, 1, batch))
    sequence = memory.empty((time, count, batch, width), np.dtype(np.float64))
    last = memory.empty((2, count, batch, width), np.dtype(np.float64))
    with np.errstate(all="ignore"):
        for index, reverse in enumerate(backwards):
            functions = activations[3 * index : 3 * index + 3]
            summed = both[index, : 4 * width] + both[index, 4 * width :]
            bound = float(np.float32(clip)) if clipped else None
            seen = None if peephole is None else peephole[index]
            one = _Cell(
                to_float64(weights[0, index]), to_float64(recurrence[0, index]), summed, seen, functions, bound, coupled
            )
            states = [first[0][index], first[1][index]]
            last[:, index] = _run(
                one, to_float64(inputs[0]), states, np.minimum(ends, time), sequence[:, index], reverse
            )
        outside = (ends < 1) | (ends > time)
        single, states_after = (_masked(round_to(each[np.newaxis], inputs.dtype), outside) for each in last)
        return round_to(sequence, inputs.dtype), single, states_after


def _masked(array: NDArray[Any], outside: NDArray[np.bool_]) -> NDArray[Any]:
    if not outside.any():
        return array
    return np.ma.MaskedArray(array, mask=np.broadcast_to(outside[:, np.newaxis], array.shape))


def _given(array: NDArray[Any] | None, shape: Sequence[int], dtype: np.dtype[Any], what: str) -> NDArray[Any]:
    if array is None:
        return np.zeros(shape)
    require_shape("lstm", f"{what} of {dtype}", array.shape if array.dtype == dtype else (), shape)
    return to_float64(array)


def _run(
    cell: _Cell,
    inputs: NDArray[Any],
    states: Sequence[NDArray[Any]],
    ends: NDArray[Any],
    sequence: NDArray[Any],
    reverse: bool,
) -> NDArray[Any]:
    """Fill `sequence` with one direction's states, and return the last of hidden state and cell."""
    sequence[...] = 0
    hidden, memory_cell = states
    rows = np.arange(len(ends))
    for time in memory.in_time(range(len(inputs))):
        at = np.where(time < ends, ends - 1 - time if reverse else time, 0)
        running = (time < ends)[:, np.newaxis]
        new_hidden, new_cell = cell.step(inputs[at, rows], hidden, memory_cell)
        hidden, memory_cell = np.where(running, new_hidden, hidden), np.where(running, new_cell, memory_cell)
        sequence[at[running[:, 0]], rows[running[:, 0]]] = hidden[running[:, 0]]
    return np.stack([hidden, memory_cell])
