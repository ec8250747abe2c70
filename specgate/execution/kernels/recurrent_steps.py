"""Recurrent networks whose functions have names: one step over a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.products import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["Gru", "Lstm", "Network", "Rnn", "gru_step", "lstm_step", "network_of", "rnn_step"]


def _sigmoid(values: NDArray[Any]) -> NDArray[Any]:
    decay: NDArray[Any] = np.exp(-np.abs(values))
    return np.where(values < 0, decay, 1.0) / (1.0 + decay)


_FUNCTIONS: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "relu": lambda values: np.maximum(values, 0.0),
    "sigmoid": _sigmoid,
    "tanh": np.tanh,
}


@dataclass(slots=True)
class Network:
    """One direction, in float64. weights: [gates * hidden, input]. recurrence: [gates * hidden, hidden]. bias: [...].

    names: what is applied, by name. clip: the bound of what the gates' functions get.
    """

    gates: ClassVar[int]
    functions: ClassVar[int]
    weights: NDArray[Any]
    recurrence: NDArray[Any]
    bias: NDArray[Any]
    names: Sequence[str]
    clip: float | None
    linear: bool

    def step(self, inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the next states, [batch, hidden] as those before."""
        raise NotImplementedError

    def gate(self, which: int, values: NDArray[Any]) -> NDArray[Any]:
        held = values if self.clip is None else np.clip(values, -self.clip, self.clip)
        return _FUNCTIONS[self.names[which]](held)

    def entering(self, inputs: NDArray[Any]) -> NDArray[Any]:
        return multiply_matrices(inputs, self.weights.T)

    def returning(self, state: NDArray[Any], first: int = 0, last: int | None = None) -> NDArray[Any]:
        """Return what the state gives to the gates from `first` to before `last`."""
        size = self.recurrence.shape[1]
        rows = self.recurrence[first * size : None if last is None else last * size]
        return multiply_matrices(state, rows.T)


class Rnn(Network):
    gates: ClassVar[int] = 1
    functions: ClassVar[int] = 1

    def step(self, inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return [self.gate(0, self.entering(inputs) + self.returning(states[0]) + self.bias)]


class Gru(Network):
    gates: ClassVar[int] = 3
    functions: ClassVar[int] = 2

    def step(self, inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        (state,) = states
        size = state.shape[1]
        from_input, bias = self.entering(inputs), self.bias
        both = self.gate(0, from_input[:, : 2 * size] + self.returning(state, 0, 2) + bias[: 2 * size])
        update, reset = both[:, :size], both[:, size:]
        seen = self.seen(state, reset)
        proposed = self.gate(1, from_input[:, 2 * size :] + seen + bias[2 * size : 3 * size])
        return [(1.0 - update) * proposed + update * state]

    def seen(self, state: NDArray[Any], reset: NDArray[Any]) -> NDArray[Any]:
        """Return what the reset gate lets through to the last gate."""
        if not self.linear:
            return self.returning(reset * state, 2)
        let_through: NDArray[Any] = reset * (self.returning(state, 2) + self.bias[3 * state.shape[1] :])
        return let_through


class Lstm(Network):
    gates: ClassVar[int] = 4
    functions: ClassVar[int] = 3

    def step(self, inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        hidden, cell = states
        gates = self.entering(inputs)
        gates += self.returning(hidden)
        gates += self.bias
        forget, entering, proposed, leaving = np.split(gates, 4, axis=1)
        following = self.gate(0, forget) * cell + self.gate(0, entering) * self.gate(1, proposed)
        return [self.gate(0, leaving) * _FUNCTIONS[self.names[2]](following), following]


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


def network_of(
    kind: type[Network],
    arrays: Sequence[NDArray[Any] | None],
    sizes: tuple[int, int],
    activations: Sequence[str],
    clip: float | None,
    linear: bool,
) -> Network:
    """Return one direction, of weights, recurrence and bias or None. sizes: of the input and of the state."""
    weights, recurrence, bias = arrays
    size, width = sizes
    rows, many = kind.gates * width, kind.functions
    shape = ((4 if linear else kind.gates) * width,)
    if len(activations) != many or not _FUNCTIONS.keys() >= set(activations):
        raise InputError(f"recurrent: expected {many} of {', '.join(_FUNCTIONS)}, found {list(activations)!r:.60}")
    if clip is not None and not clip >= 0:  # builds write 0 where nothing is clipped
        raise InputError(f"recurrent: expected a positive clip, found {clip}")
    if weights is None or recurrence is None:
        raise InputError("recurrent: expected weights and recurrence")
    require_shape("recurrent", "weights", weights.shape, (rows, size))
    require_shape("recurrent", "recurrence", recurrence.shape, (rows, width))
    if bias is not None:
        require_shape("recurrent", "bias", bias.shape, shape)
    added = np.zeros(shape) if bias is None else to_float64(bias)
    return kind(to_float64(weights), to_float64(recurrence), added, activations, clip or None, linear)


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
    width = recurrence.shape[1]
    for state in states:
        require_shape("recurrent", "a state", state.shape, (inputs.shape[0], width))
    network = network_of(kind, (weights, recurrence, bias), (inputs.shape[1], width), activations, clip, linear)
    made = network.step(to_float64(inputs), [to_float64(state) for state in states])
    return [round_to(each, inputs.dtype) for each in made]
