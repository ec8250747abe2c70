"""ONNX RNN, GRU and LSTM with named activations.

ONNX GRU, LSTM, RNN; com.microsoft DynamicQuantizeLSTM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, Protocol

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import ignore_warnings, require_float
from specgate.execution.kernels.matmul import multiply_matrices
from specgate.execution.kernels.quantize import dynamic_quantize_linear
from specgate.execution.kernels.quantized_conv_matmul import matmul_integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray


def _sigmoid(x: NDArray[Any], _a: float, _b: float) -> NDArray[Any]:
    array = np.asarray(np.negative(x))
    np.exp(array, out=array)
    array += 1.0
    return np.asarray(np.divide(1.0, array, out=array))


def _tanh(x: NDArray[Any], _a: float, _b: float) -> NDArray[Any]:
    return np.asarray(np.tanh(x))


def _softplus(x: NDArray[Any], _a: float, _b: float) -> NDArray[Any]:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


#: By name: the function of x, alpha and beta, and the default coefficients; None for an unused coefficient, nan for a
#: required one without default.
_FUNCTIONS: Final[
    dict[str, tuple[Callable[[NDArray[Any], float, float], NDArray[Any]], float | None, float | None]]
] = {
    "relu": (lambda x, _a, _b: np.maximum(x, 0.0), None, None),
    "tanh": (_tanh, None, None),
    "sigmoid": (_sigmoid, None, None),
    "softsign": (lambda x, _a, _b: x / (1.0 + np.abs(x)), None, None),
    "softplus": (_softplus, None, None),
    "affine": (lambda x, a, b: a * x + b, np.nan, np.nan),
    "leakyrelu": (lambda x, a, _b: np.where(x < 0, a * x, x), 0.01, None),
    "thresholdedrelu": (lambda x, a, _b: np.where(x > a, x, 0.0), 1.0, None),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), np.nan, np.nan),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0.0, 1.0), 0.2, 0.5),
    "elu": (lambda x, a, _b: np.where(x < 0, a * np.expm1(np.minimum(x, 0.0)), x), 1.0, None),
}


def functions_of(
    names: Sequence[str] | None, defaults: Sequence[str], alphas: Sequence[float], betas: Sequence[float]
) -> list[Callable[[NDArray[Any]], NDArray[Any]]]:
    """Return one float64 function per default name.

    names: default if empty, compared case-insensitively. Each function with a coefficient uses the next one of `alphas`
    or `betas`, and after the last its default. Raises NoKernel without a default.
    """
    activation_names = list(defaults if names is None else names)
    if len(activation_names) < len(defaults):
        raise InputError(f"recurrent: expected {len(defaults)} activations, found {len(activation_names)}")
    first, second = iter(alphas), iter(betas)
    return [_get_activation(name, first, second) for name in activation_names[: len(defaults)]]


def _get_activation(
    name: str, alphas: Iterator[float], betas: Iterator[float]
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    if name.lower() not in _FUNCTIONS:
        raise InputError(f"recurrent: unknown activation {name!r:.40}; known: {', '.join(_FUNCTIONS)}")
    function, alpha, beta = _FUNCTIONS[name.lower()]
    a = 0.0 if alpha is None else float(np.float32(next(alphas, alpha)))
    b = 0.0 if beta is None else float(np.float32(next(betas, beta)))
    if (alpha is not None and np.isnan(alpha) and np.isnan(a)) or (beta is not None and np.isnan(beta) and np.isnan(b)):
        raise NoKernel(f"recurrent: the coefficients of {name} have no default")
    return lambda x: function(x, a, b)


_DIRECTIONS: Final = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}


class Matrix(Protocol):
    """Weights of one direction, whose rows are those of the gates."""

    def times(self, values: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return values [n, columns] times the selected rows, float64 [n, rows]."""
        ...


class FloatWeights(NamedTuple):
    """Unquantized weights, [rows, columns], in float64."""

    numbers: NDArray[Any]

    def times(self, values: NDArray[Any], rows: slice) -> NDArray[Any]:
        return multiply_matrices(values, self.numbers[rows].T)


@dataclass(slots=True)
class Network:
    """One direction in float64.

    recurrence: of gates * hidden rows. bias, state_bias: [gates * hidden] each. peephole: [3 * hidden] of input, output
    and forget. functions: activations after the clip.
    """

    gates: ClassVar[int]
    defaults: ClassVar[tuple[str, ...]]
    recurrence: Matrix
    state_bias: NDArray[Any]
    peephole: NDArray[Any] | None
    functions: Sequence[Callable[[NDArray[Any]], NDArray[Any]]]
    clip: float | None
    linear: bool
    coupled: bool

    def step(self, gate_inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the next states; gate_inputs: inputs @ weights + bias."""
        raise NotImplementedError

    def gate(self, gate_index: int, values: NDArray[Any]) -> NDArray[Any]:
        return self.functions[gate_index](values if self.clip is None else np.clip(values, -self.clip, self.clip))

    def recurrent_sums(self, state: NDArray[Any], first: int, last: int) -> NDArray[Any]:
        size = state.shape[1]
        part = slice(first * size, last * size)
        array: NDArray[Any] = self.recurrence.times(state, part) + self.state_bias[part]
        return array


class Rnn(Network):
    gates: ClassVar[int] = 1
    defaults: ClassVar[tuple[str, ...]] = ("tanh",)

    def step(self, gate_inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return [self.gate(0, gate_inputs + self.recurrent_sums(states[0], 0, 1))]


class Gru(Network):
    gates: ClassVar[int] = 3
    defaults: ClassVar[tuple[str, ...]] = ("sigmoid", "tanh")

    def step(self, gate_inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        (state,) = states
        size = state.shape[1]
        gate_pair = self.gate(0, gate_inputs[:, : 2 * size] + self.recurrent_sums(state, 0, 2))
        update, reset = gate_pair[:, :size], gate_pair[:, size:]
        recurrent_input = (
            reset * self.recurrent_sums(state, 2, 3) if self.linear else self.recurrent_sums(reset * state, 2, 3)
        )
        proposed = self.gate(1, gate_inputs[:, 2 * size :] + recurrent_input)
        return [(1.0 - update) * proposed + update * state]


class Lstm(Network):
    """LSTM with gates input, output, forget, cell."""

    gates: ClassVar[int] = 4
    defaults: ClassVar[tuple[str, ...]] = ("sigmoid", "tanh", "tanh")

    def step(self, gate_inputs: NDArray[Any], states: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        hidden, cell = states
        gates, size = gate_inputs + self.recurrent_sums(hidden, 0, 4), cell.shape[1]
        if self.peephole is None and not self.coupled:  # three gates at once
            gate_values = self.gate(0, gates[:, : 3 * size])
            next_cell = gate_values[:, 2 * size :] * cell + gate_values[:, :size] * self.gate(1, gates[:, 3 * size :])
            return [gate_values[:, size : 2 * size] * self.functions[2](next_cell), next_cell]
        to_input, to_output, to_forget, to_cell = (gates[:, n * size : (n + 1) * size] for n in range(4))
        input_gate = self.gate(0, to_input + self.peephole_term(0, cell))
        forget_gate = 1.0 - input_gate if self.coupled else self.gate(0, to_forget + self.peephole_term(2, cell))
        next_cell = forget_gate * cell + input_gate * self.gate(1, to_cell)
        return [self.gate(0, to_output + self.peephole_term(1, next_cell)) * self.functions[2](next_cell), next_cell]

    def peephole_term(self, gate_index: int, cell: NDArray[Any]) -> NDArray[Any] | float:
        return 0.0 if self.peephole is None else np.split(self.peephole, 3)[gate_index] * cell


def run_rnn(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    **options: Any,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all states and the last state of an ONNX RNN.

    States are [time, directions, batch, hidden]; the last has no time dimension. inputs: [time, batch, input]. weights:
    [directions, gates * hidden, input]. recurrence: [directions, gates * hidden, hidden]. bias: [directions, 2 * gates
    * hidden], of the inputs and then of the state. lengths: [batch]; states beyond them are 0. hidden: initial states,
    [directions, batch, hidden]. Defaults are 0, and the whole time. options: size (hidden), direction (forward, reverse
    or bidirectional), activations (names), alphas and betas (their coefficients in order), clip (of the gate
    activations' arguments), batch_first (inputs are [batch, time, input], and states have the batch first). Raises
    NoKernel for lengths outside of the time.
    """
    arrays = Sequences(Rnn, inputs, weights, recurrence, bias, lengths, [hidden], None, options).run()
    return arrays[0], arrays[1]


def run_gru(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    **options: Any,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return `run_rnn` of a GRU with gates update, reset, hidden.

    options: also linear, with which the reset gate multiplies after the product with the state.
    """
    arrays = Sequences(Gru, inputs, weights, recurrence, bias, lengths, [hidden], None, options).run()
    return arrays[0], arrays[1]


def run_lstm(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    cell: NDArray[Any] | None = None,
    peephole: NDArray[Any] | None = None,
    **options: Any,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `run_rnn` of an LSTM, and the last cell.

    Gates are input, output, forget, cell. cell: as `hidden`. peephole: [directions, 3 * hidden], of input, output and
    forget. options: also coupled, with which the forget gate is 1 less the input gate.
    """
    arrays = Sequences(Lstm, inputs, weights, recurrence, bias, lengths, [hidden, cell], peephole, options).run()
    return arrays[0], arrays[1], arrays[2]


class Sequences:
    """A network over a batch of sequences, in each direction."""

    def __init__(
        self,
        kind: type[Network],
        inputs: NDArray[Any],
        weights: NDArray[Any],
        recurrence: NDArray[Any],
        bias: NDArray[Any] | None,
        lengths: NDArray[Any] | None,
        states: Sequence[NDArray[Any] | None],
        peephole: NDArray[Any] | None,
        options: dict[str, Any],
    ) -> None:
        self.kind, self.how, self.dtype = kind, options, inputs.dtype
        self.backwards = _DIRECTIONS.get(options.get("direction", "forward"), ())
        if (
            not self.backwards
            or inputs.ndim != 3
            or recurrence.ndim != 3
            or options.get("batch_first", 0) not in {0, 1}
        ):
            raise InputError(
                f"recurrent: expected 3-D inputs and recurrence weights, and a direction in {', '.join(_DIRECTIONS)}"
            )
        self.batch_first = bool(options.get("batch_first", 0))
        self.data = np.swapaxes(inputs, 0, 1) if self.batch_first else inputs
        direction_count, width = len(self.backwards), recurrence.shape[2]
        (time, batch, size), rows = self.data.shape, kind.gates * width
        self.width = width
        if options.get("size", width) != width:
            raise InputError(f"recurrent: the weights have hidden size {width}, but hidden_size is {options['size']}")
        require_shape("recurrent", "weights", weights.shape, (direction_count, rows, size))
        require_shape("recurrent", "recurrence", recurrence.shape, (direction_count, rows, width))
        if bias is not None:
            require_shape("recurrent", "a bias", bias.shape, (direction_count, 2 * rows))
        if peephole is not None:
            require_shape("recurrent", "peepholes", peephole.shape, (direction_count, 3 * width))
        self.arrays = weights, recurrence
        self.bias, self.peephole = bias, peephole
        shape = (batch, direction_count, width) if self.batch_first else (direction_count, batch, width)
        for state in states:
            if state is not None:
                require_shape("recurrent", "a state", state.shape, shape)
        self.states = [self._initial_state(state, (direction_count, batch, width)) for state in states]
        if lengths is not None:
            require_shape("recurrent", "lengths", lengths.shape, (batch,))
            if lengths.size and not 0 <= int(lengths.min()) <= int(lengths.max()) <= time:
                raise NoKernel(f"recurrent: it is unspecified how to handle a sequence length outside 0 to {time}")
        self.ends = np.full(batch, time) if lengths is None else lengths.astype(np.int64)
        self.functions = functions_of(
            options.get("activations"),
            kind.defaults * direction_count,
            options.get("alphas") or (),
            options.get("betas") or (),
        )

    def matrix(self, operand_index: int, direction_index: int) -> Matrix:
        """Return one direction's weights: 0 of the inputs, 1 of the state."""
        return FloatWeights(to_float64(self.arrays[operand_index][direction_index]))

    def _initial_state(self, state: NDArray[Any] | None, shape: tuple[int, ...]) -> NDArray[Any]:
        if state is None:
            return np.zeros(shape)
        return to_float64(np.swapaxes(state, 0, 1) if self.batch_first else state)

    def run(self) -> list[NDArray[Any]]:
        """Return all states and the last ones in the inputs' type and layout."""
        time, batch = self.data.shape[:2]
        states = memory.empty((time, len(self.backwards), batch, self.width), np.dtype(np.float64))
        states[...] = 0
        last = [np.empty((len(self.backwards), batch, self.width)) for _ in self.states]
        with ignore_warnings():
            for direction_index, reverse in enumerate(self.backwards):
                arrays = self._walk(direction_index, states[:, direction_index], reverse=reverse)
                for target, state in zip(last, arrays, strict=True):
                    target[direction_index] = state
            if self.batch_first:
                states, last = (
                    states.transpose(2, 0, 1, 3),
                    [np.swapaxes(final_state, 0, 1) for final_state in last],
                )
            new_arrays = [round_to(np.ascontiguousarray(final_state), self.dtype) for final_state in (states, *last)]
        return [new_arrays[0], *(self._mask_last_states(final_state) for final_state in new_arrays[1:])]

    def _mask_last_states(self, state: NDArray[Any]) -> NDArray[Any]:
        """Return last states, masked for empty sequences, where undocumented."""
        if (self.ends > 0).all():
            return state
        is_empty = (self.ends == 0)[:, None, None] if self.batch_first else (self.ends == 0)[:, None]
        return np.ma.MaskedArray(state, mask=np.broadcast_to(is_empty, state.shape))

    def _walk(self, direction_index: int, sequence: NDArray[Any], *, reverse: bool) -> list[NDArray[Any]]:
        """Fill `sequence` [time, batch, hidden]; return the last states."""
        network, gate_inputs = self._network(direction_index)
        states = [state[direction_index].copy() for state in self.states]
        time = len(gate_inputs)  # of the longest sequence
        rows, all_full = np.arange(self.data.shape[1]), bool((self.ends == time).all())
        for step in memory.within_time_limit(range(time)):
            if all_full:
                place = time - 1 - step if reverse else step
                states = network.step(gate_inputs[place], states)
                sequence[place] = states[0]
                continue
            running = rows[step < self.ends]
            places = self.ends[running] - 1 - step if reverse else np.full(len(running), step)
            next_states = network.step(gate_inputs[places, running], [state[running] for state in states])
            for state, new in zip(states, next_states, strict=True):
                state[running] = new
            sequence[places, running] = next_states[0]
        return states

    def _network(self, direction_index: int) -> tuple[Network, NDArray[Any]]:
        """Return one direction's network, and gate inputs of all steps.

        The latter are [time, batch, gates * hidden].
        """
        rows = self.kind.gates * self.width
        bias_sums = np.zeros(2 * rows) if self.bias is None else to_float64(self.bias[direction_index])
        _, batch, size = self.data.shape
        time = int(self.ends.max(initial=0))  # steps beyond the longest sequence are not read
        memory.check_budget((time, batch, rows), np.dtype(np.float64))
        flat = to_float64(self.data[:time]).reshape(time * batch, size)
        gates = self.matrix(0, direction_index).times(flat, slice(None)).reshape(time, batch, rows) + bias_sums[:rows]
        count = len(self.kind.defaults)
        network = self.kind(
            self.matrix(1, direction_index),
            bias_sums[rows:],
            None if self.peephole is None else to_float64(self.peephole[direction_index]),
            self.functions[direction_index * count : (direction_index + 1) * count],
            self.how.get("clip") or None,
            bool(self.how.get("linear", 0)),
            bool(self.how.get("coupled", 0)),
        )
        return network, gates


def dynamic_quantize_lstm(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    weights_scale: NDArray[Any],
    weights_zero: NDArray[Any],
    recurrence_scale: NDArray[Any],
    recurrence_zero: NDArray[Any],
    bias: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    cell: NDArray[Any] | None = None,
    peephole: NDArray[Any] | None = None,
    **options: Any,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `run_lstm` with dynamically quantized inputs and int8 weights.

    weights: [directions, input, 4 * hidden]. recurrence: [directions, hidden, 4 * hidden]. Scales and zero points:
    [directions], or [directions, 4 * hidden]. Inputs are quantized by the range of all steps up to the longest
    sequence, states by that of all unfinished sequences, as in `dynamic_quantize_linear`. Masked where such a range is
    not finite. Other arguments: those of `run_lstm`.
    """
    require_float("recurrent", inputs)
    if weights.ndim != 3 or recurrence.ndim != 3:
        raise InputError("recurrent: expected 3-D weights and recurrence weights")
    numbers = (weights_scale, weights_zero), (recurrence_scale, recurrence_zero)
    for pair in numbers:
        for state in pair:
            shape = (len(weights), weights.shape[2]) if state.ndim == 2 else (len(weights),)
            require_shape("recurrent", "a scale or zero point", state.shape, shape)
    transposed_weights = weights.swapaxes(1, 2), recurrence.swapaxes(1, 2)
    run = _QuantizedLstm(Lstm, inputs, *transposed_weights, bias, lengths, [hidden, cell], peephole, options)
    run.numbers = numbers
    states, last, last_cell = run.run()
    return (states, last, last_cell) if run.bounded else (_mask_nan(states), _mask_nan(last), _mask_nan(last_cell))


def _mask_nan(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with nan masked as well."""
    return np.ma.MaskedArray(array, mask=np.ma.getmaskarray(array) | np.isnan(np.ma.getdata(array)))


class _QuantizedLstm(Sequences):
    numbers: tuple[tuple[NDArray[Any], NDArray[Any]], ...]
    bounded = True

    def matrix(self, operand_index: int, direction_index: int) -> Matrix:
        scale, zero = self.numbers[operand_index]
        rows = (self.arrays[operand_index].shape[1],)
        return _QuantizedWeights(
            self,
            self.arrays[operand_index][direction_index].T,
            np.broadcast_to(scale[direction_index], rows),
            np.broadcast_to(zero[direction_index], rows),
        )


@dataclass(slots=True)
class _QuantizedWeights:
    """Quantized weights.

    numbers: [columns, rows]. scale, zero: [rows].
    """

    run: _QuantizedLstm
    numbers: NDArray[Any]
    scale: NDArray[Any]
    zero: NDArray[Any]

    def times(self, values: NDArray[Any], rows: slice) -> NDArray[Any]:
        quantized, scale, point = dynamic_quantize_linear(values.astype(np.float32))
        numbers = self.numbers[:, rows]
        if not np.isfinite(scale):
            self.run.bounded = False
            return np.full((len(values), numbers.shape[1]), np.nan)
        if scale == 0:
            return np.zeros((len(values), numbers.shape[1]))
        total = matmul_integer(quantized, numbers, point, self.zero[rows])
        array: NDArray[Any] = total.astype(np.float32) * (scale * self.scale[rows])
        return array.astype(np.float64)
