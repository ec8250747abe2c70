"""Recurrent networks whose functions have names, over batches of sequences, in one direction or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.recurrent_steps import Gru, Lstm, Network, Rnn, network_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["gru_sequences", "lstm_sequences", "rnn_sequences"]

_DIRECTIONS: Final = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


def rnn_sequences(
    inputs: NDArray[Any],
    hidden: NDArray[Any],
    lengths: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any],
    *,
    direction: str,
    activations: Sequence[str] = ("tanh",),
    clip: float | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all states of a simple network [batch, directions, time, hidden], and the last, without the time.

    inputs: [batch, time, input]. hidden: [batch, directions, hidden]. lengths: [batch]. weights, recurrence, bias: as
    in `rnn_step`, for each direction. What lies behind the end of a sequence is masked, and so is the last state of a
    sequence without elements or with more than there are. direction: forward, reverse or bidirectional.
    """
    made = _sequences(Rnn, inputs, [hidden], lengths, weights, recurrence, bias, direction, activations, clip)
    return made[0], made[1]


def gru_sequences(
    inputs: NDArray[Any],
    hidden: NDArray[Any],
    lengths: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any],
    *,
    direction: str,
    activations: Sequence[str] = ("sigmoid", "tanh"),
    clip: float | None = None,
    linear_before_reset: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return what `rnn_sequences` does, of the steps of `gru_step`."""
    made = _sequences(
        Gru, inputs, [hidden], lengths, weights, recurrence, bias, direction, activations, clip, linear_before_reset
    )
    return made[0], made[1]


def lstm_sequences(
    inputs: NDArray[Any],
    hidden: NDArray[Any],
    cell: NDArray[Any],
    lengths: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any],
    *,
    direction: str,
    activations: Sequence[str] = ("sigmoid", "tanh", "tanh"),
    clip: float | None = None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what `rnn_sequences` does, of the steps of `lstm_step`, and the last cell as the last state."""
    made = _sequences(Lstm, inputs, [hidden, cell], lengths, weights, recurrence, bias, direction, activations, clip)
    return made[0], made[1], made[2]


def _sequences(
    kind: type[Network],
    inputs: NDArray[Any],
    states: list[NDArray[Any]],
    lengths: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any],
    direction: str,
    activations: Sequence[str],
    clip: float | None,
    linear: bool = False,
) -> list[NDArray[Any]]:
    if direction not in _DIRECTIONS:
        raise InputError(f"recurrent: unknown direction {direction!r:.60}; known: {', '.join(_DIRECTIONS)}")
    backwards = _DIRECTIONS[direction]
    if inputs.ndim != 3 or recurrence.ndim != 3:
        raise InputError("recurrent: expected inputs and recurrence of 3 dimensions")
    (batch, time, size), width = inputs.shape, recurrence.shape[2]
    for name, array in (("weights", weights), ("recurrence", recurrence), ("bias", bias)):
        require_shape("recurrent", f"parts of {name}", array.shape[:1], (len(backwards),))
    for state in states:
        require_shape("recurrent", "a state", state.shape, (batch, len(backwards), width))
    require_shape("recurrent", "lengths", lengths.shape, (batch,))
    if (lengths < 0).any():
        raise InputError("recurrent: expected lengths of 0 and above")
    sequence = memory.empty((batch, len(backwards), time, width), np.dtype(np.float64))
    last = [memory.empty((batch, len(backwards), width), np.dtype(np.float64)) for _ in states]
    ends = np.minimum(lengths, time).astype(np.int64)
    for at, reverse in enumerate(backwards):
        network = network_of(kind, (weights[at], recurrence[at], bias[at]), (size, width), activations, clip, linear)
        begin = [to_float64(state[:, at]) for state in states]
        for made, whole in zip(_run(network, inputs, begin, ends, sequence[:, at], reverse), last, strict=True):
            whole[:, at] = made
    behind = np.arange(time) >= ends[:, np.newaxis]
    unknown = (lengths == 0) | (lengths > time)
    masked = [_masked(round_to(sequence, inputs.dtype), behind[:, np.newaxis, :, np.newaxis])]
    return masked + [_masked(round_to(each, inputs.dtype), unknown[:, np.newaxis, np.newaxis]) for each in last]


def _run(
    network: Network,
    inputs: NDArray[Any],
    states: list[NDArray[Any]],
    ends: NDArray[Any],
    sequence: NDArray[Any],
    reverse: bool,
) -> list[NDArray[Any]]:
    """Fill `sequence` [batch, time, hidden] with one direction's states, and return the last ones."""
    sequence[...] = 0
    rows = np.arange(len(ends))
    for time in memory.in_time(range(inputs.shape[1])):
        running = rows[time < ends]
        at = ends[running] - 1 - time if reverse else time
        following = network.step(to_float64(inputs[running, at]), [state[running] for state in states])
        for state, new in zip(states, following, strict=True):
            state[running] = new
        sequence[running, at] = following[0]
    return states


def _masked(array: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    return np.ma.MaskedArray(array, mask=np.broadcast_to(mask, array.shape)) if mask.any() else array
