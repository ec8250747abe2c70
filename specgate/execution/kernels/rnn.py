"""RNN, GRU and LSTM layers of DirectML and OpenVINO."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import require_float
from specgate.execution.kernels.matmul import multiply_matrices
from specgate.execution.kernels.rnn_networks import FloatWeights, Gru, Lstm, Network, Rnn, Sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Function = Callable[[NDArray[Any]], NDArray[Any]]

_MAX_SINGLE = float(np.finfo(np.float32).max)
_DIRECTIONS = {"FORWARD": (False,), "BACKWARD": (True,), "BIDIRECTIONAL": (False, True)}


class Cell(Protocol):
    """One direction's weights in float64, and its step function."""

    def step(self, inputs: NDArray[Any], states: Sequence[Any]) -> list[NDArray[Any]]:
        """Return the next states [batch, hidden size]; the first is the output.

        A state that is None is not used.
        """
        ...


def apply_float32(function: Function, values: NDArray[Any]) -> NDArray[Any]:
    """Return a float32 function of float64 values, as float64."""
    return to_float64(function(values.astype(np.float32)))


@dataclass(slots=True)
class Layer:
    """Validated arrays of a layer.

    backwards: per direction. ends: sequence lengths as given. weights, recurrence: [directions, rows, size]. bias:
    [directions, both, rows], or zeros. states: [directions, batch, hidden size] each, or None.
    """

    inputs: NDArray[Any]
    weights: NDArray[Any]
    recurrence: NDArray[Any]
    bias: NDArray[Any]
    states: list[NDArray[Any] | None]
    ends: NDArray[Any]
    backwards: tuple[bool, ...]
    activations: list[Sequence[Function]]

    def run(self, cells: Sequence[Cell]) -> list[NDArray[Any]]:
        """Return all outputs, and each last state, with one cell per direction.

        Outputs are [time, directions, batch, hidden size]. Last states are [1, directions, batch, hidden size], masked
        for lengths outside of [1, time].
        """
        time, batch = self.inputs.shape[:2]
        shape = (len(cells), batch, self.recurrence.shape[2])
        sequence = memory.empty((time, *shape), np.dtype(np.float64))
        last = [memory.empty(shape, np.dtype(np.float64)) for _ in self.states]
        inputs = to_float64(self.inputs)
        with memory.ignore_warnings():
            for index, (cell, reverse) in enumerate(zip(cells, self.backwards, strict=True)):
                begin = [None if state is None else state[index] for state in self.states]
                ends = np.minimum(self.ends, time)
                for last_state, array in zip(
                    last, _run_direction(cell, inputs, begin, ends, sequence[:, index], reverse), strict=True
                ):
                    last_state[index] = array
            dtype = self.inputs.dtype
            is_outside = (self.ends < 1) | (self.ends > time)
            singles = [_mask_outside(round_to(state[np.newaxis], dtype), is_outside) for state in last]
            return [round_to(sequence, dtype), *singles]


def layer_of(
    name: str,
    arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any]],
    bias: NDArray[Any] | None,
    states: Sequence[NDArray[Any] | None],
    lengths: NDArray[Any] | None,
    *,
    gates: int,
    functions: int,
    direction: str,
    activations: Sequence[Function],
) -> Layer:
    """Return a layer; raise InputError for inconsistent arrays.

    functions: number of activations per direction.
    """
    inputs, weights, recurrence = arrays
    if direction not in _DIRECTIONS:
        raise InputError(f"{name}: unknown direction {direction!r:.60}; known: {', '.join(_DIRECTIONS)}")
    backwards = _DIRECTIONS[direction]
    count = len(backwards)
    if inputs.ndim != 4 or weights.ndim != 4 or recurrence.ndim != 4 or len(activations) != functions * count:
        raise InputError(f"{name}: expected arrays of 4 dimensions and {functions * count} activations, found "
                         f"{inputs.ndim}, {weights.ndim}, {recurrence.ndim} and {len(activations)}")  # fmt: skip
    _, time, batch, size = inputs.shape
    width = recurrence.shape[3]
    rows = gates * width
    require_shape(name, "inputs", inputs.shape, (1, time, batch, size))

    def expect_shape(array: NDArray[Any] | None, shape: tuple[int, ...], noun: str) -> NDArray[Any]:
        if array is None:
            return np.zeros(shape)
        require_shape(name, f"{noun} of {inputs.dtype}", array.shape if array.dtype == inputs.dtype else (), shape)
        return to_float64(array)

    if lengths is not None:
        require_shape(name, "lengths", lengths.shape, (1, 1, 1, batch))
    return Layer(
        inputs[0],
        expect_shape(weights, (1, count, rows, size), "weights")[0],
        expect_shape(recurrence, (1, count, rows, width), "a recurrence")[0],
        expect_shape(bias, (1, 1, count, 2 * rows), "a bias")[0, 0].reshape(count, 2, rows),
        [None if state is None else expect_shape(state, (1, count, batch, width), "a state")[0] for state in states],
        np.full(batch, time) if lengths is None else lengths.reshape(-1).astype(np.int64),
        backwards,
        [activations[functions * index : functions * (index + 1)] for index in range(count)],
    )


@dataclass(slots=True)
class _RnnCell:
    weights: NDArray[Any]
    recurrence: NDArray[Any]
    bias: NDArray[Any]
    function: Function
    finite: bool

    def step(self, inputs: NDArray[Any], states: Sequence[Any]) -> list[NDArray[Any]]:
        gate_inputs = multiply_matrices(inputs, self.weights.T) + self.bias
        if states[0] is not None:
            gate_inputs += multiply_matrices(states[0], self.recurrence.T)
        if self.finite:
            gate_inputs = np.fmin(np.fmax(gate_inputs, -_MAX_SINGLE), _MAX_SINGLE)
        return [apply_float32(self.function, gate_inputs)]


@dataclass(slots=True)
class _GatedCell:
    """Gated cell.

    bias: [2, rows], of weights and of recurrence. linear: the reset gate applies after the last product.
    """

    weights: NDArray[Any]
    recurrence: NDArray[Any]
    bias: NDArray[Any]
    functions: Sequence[Function]
    linear: bool

    def step(self, inputs: NDArray[Any], states: Sequence[Any]) -> list[NDArray[Any]]:
        (state,) = states
        two = 2 * self.recurrence.shape[1]
        gate_inputs = multiply_matrices(inputs, self.weights.T) + self.bias[0]
        gates = gate_inputs[:, :two] + self.bias[1, :two] + self.recurrent_sums(state, slice(two))
        update, reset = np.split(apply_float32(self.functions[0], gates), 2, axis=1)
        last = slice(two, None)
        if self.linear:
            recurrent_input = reset * (self.recurrent_sums(state, last) + self.bias[1, two:])
        else:
            recurrent_input = self.recurrent_sums(None if state is None else reset * state, last) + self.bias[1, two:]
        proposed = (1.0 - update) * apply_float32(self.functions[1], gate_inputs[:, two:] + recurrent_input)
        return [proposed if state is None else proposed + update * state]

    def recurrent_sums(self, state: NDArray[Any] | None, rows: slice) -> NDArray[Any] | float:
        return 0.0 if state is None else multiply_matrices(state, self.recurrence[rows].T)


def rnn(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    *,
    direction: str,
    activations: Sequence[Function],
    finite: bool = False,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return hidden states and the last one of a simple RNN.

    Hidden states are [time, directions, batch, hidden size]. weights: [1, directions, hidden size, input size].
    recurrence: [1, directions, hidden size, hidden size]. bias: [1, 1, directions, 2 * hidden size]. activations: one
    per direction. finite: their argument is clamped to finite numbers, and nan becomes the lowest. Other arguments are
    as for `gru`.
    """
    layer = layer_of(
        "rnn", (inputs, weights, recurrence), bias, [hidden], lengths, gates=1, functions=1, direction=direction,
        activations=activations,
    )  # fmt: skip
    parts = zip(layer.weights, layer.recurrence, layer.bias, layer.activations, strict=True)
    states, last = layer.run([_RnnCell(w, r, b.sum(axis=0), functions[0], finite) for w, r, b, functions in parts])
    return states, last


def gru(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    *,
    direction: str,
    activations: Sequence[Function],
    linear_before_reset: bool,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return hidden states and the last one of a GRU.

    Hidden states are [time, directions, batch, hidden size]. inputs: [1, time, batch, input size]. weights: [1,
    directions, 3 * hidden size, input size], gates in the order update, reset, hidden. recurrence: [1, directions, 3 *
    hidden size, hidden size]. bias: [1, 1, directions, 6 * hidden size], of weights and of recurrence. hidden: initial
    state, [1, directions, batch, hidden size]. lengths: [1, 1, 1, batch]; states beyond them are 0. Defaults are 0, and
    the whole time. direction: FORWARD, BACKWARD or BIDIRECTIONAL. activations: two per direction, functions of float32:
    of the gates, and of the hidden gate. linear_before_reset: the reset gate multiplies the output of the recurrence,
    not its input.
    """
    layer = layer_of(
        "gru", (inputs, weights, recurrence), bias, [hidden], lengths, gates=3, functions=2, direction=direction,
        activations=activations,
    )  # fmt: skip
    parts = zip(layer.weights, layer.recurrence, layer.bias, layer.activations, strict=True)
    hidden_states, last = layer.run([_GatedCell(*part, linear_before_reset) for part in parts])
    return hidden_states, last


def _mask_outside(array: NDArray[Any], is_outside: NDArray[np.bool_]) -> NDArray[Any]:
    if not is_outside.any():
        return array
    return np.ma.MaskedArray(array, mask=np.broadcast_to(is_outside[:, np.newaxis], array.shape))


def _run_direction(
    cell: Cell,
    inputs: NDArray[Any],
    states: Sequence[NDArray[Any] | None],
    ends: NDArray[Any],
    sequence: NDArray[Any],
    reverse: bool,
) -> list[NDArray[Any]]:
    """Fill `sequence` with one direction's outputs; return its last states.

    Absent initial states are skipped, except for sequences that start after the first step of all: their zeros are
    multiplied, so infinite weights give nan. The documentation leaves this open; builds compute this.
    """
    sequence[...] = 0
    rows = np.arange(len(ends))
    late = (ends < len(inputs)) & reverse
    for time in memory.within_time_limit(range(len(inputs))):
        step_index = np.where(time < ends, ends - 1 - time if reverse else time, 0)
        running = time < ends
        next_states = cell.step(inputs[step_index, rows], states)
        before = [np.zeros_like(new) if old is None else old for new, old in zip(next_states, states, strict=True)]
        if late.any() and states[0] is None:
            multiplied = cell.step(inputs[step_index, rows], before)
            next_states = [np.where(late[:, np.newaxis], a, b) for a, b in zip(multiplied, next_states, strict=True)]
        arrays = [np.where(running[:, np.newaxis], new, old) for new, old in zip(next_states, before, strict=True)]
        sequence[step_index[running], rows[running]] = arrays[0][running]
        states = arrays
    return [state for state in states if state is not None]


class _ClippedLstm(Lstm):
    """Gates whose clip maps nan to the lower bound."""

    def gate(self, gate_index: int, values: NDArray[Any]) -> NDArray[Any]:
        return self.functions[gate_index](
            values if self.clip is None else np.fmin(np.fmax(values, -self.clip), self.clip)
        )

    def recurrent_sums(self, state: NDArray[Any] | None, first: int, last: int) -> NDArray[Any]:
        return self.state_bias if state is None else super().recurrent_sums(state, first, last)


class _Cell(NamedTuple):
    """One direction's weights [4 hidden, input] and bias in float64."""

    weights: NDArray[Any]
    bias: NDArray[Any]
    network: Lstm

    def step(self, inputs: NDArray[Any], states: Sequence[Any]) -> list[NDArray[Any]]:
        """Return the next hidden state and cell, [batch, hidden size] each."""
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
    coupled: bool = False,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return hidden states, the last one and the last cell of an LSTM.

    Hidden states are [time, directions, batch, hidden size]. inputs: [1, time, batch, input size]. weights: [1,
    directions, 4 * hidden size, input size], gates in the order input, output, forget, cell. recurrence: [1,
    directions, 4 * hidden size, hidden size]. bias: [1, 1, directions, 8 * hidden size], of weights and of recurrence.
    hidden, cell: initial, [1, directions, batch, hidden size]. lengths: [1, 1, 1, batch]; states beyond them are 0.
    peephole: [1, 1, directions, 3 * hidden size], for input, output and forget. Defaults are 0, and the whole time.
    direction: FORWARD, BACKWARD or BIDIRECTIONAL.
    activations: three per direction, functions of float32: of the gates, the cell input, and the cell output. clip: the
    bound of the arguments of the first two, if clipped. coupled: the forget gate is 1 - the input gate. The last
    two results are [1, directions, batch, hidden size], masked for lengths outside of [1, time].
    """
    layer = layer_of(
        "lstm", (inputs, weights, recurrence), bias, [hidden, cell], lengths, gates=4, functions=3, direction=direction,
        activations=activations,
    )  # fmt: skip
    count, batch, width = len(layer.backwards), inputs.shape[2], recurrence.shape[3]
    layer.states[1] = np.zeros((count, batch, width)) if cell is None else layer.states[1]
    if peephole is not None:
        kind = f"peephole weights of type {inputs.dtype}"
        require_shape("lstm", kind, peephole.shape if peephole.dtype == inputs.dtype else (), (1, 1, count, 3 * width))
    bound = float(np.float32(clip)) if clipped else None
    cells = []
    for index in range(count):
        functions = [partial(apply_float32, activation) for activation in layer.activations[index]]
        input_bias, state_bias = layer.bias[index]
        peephole_weights = None if peephole is None else to_float64(peephole[0, 0, index])
        network = _ClippedLstm(
            FloatWeights(layer.recurrence[index]), state_bias, peephole_weights, functions, bound, False, coupled
        )
        cells.append(_Cell(layer.weights[index], input_bias, network))
    hidden_states, last, last_cell = layer.run(cells)
    return hidden_states, last, last_cell


def rnn_cell(
    inputs: NDArray[Any],
    hidden: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    activations: Sequence[str] = ("tanh",),
    clip: float | None = None,
) -> NDArray[Any]:
    """Return the next state [batch, hidden] of an RNN cell.

    inputs: [batch, input]. hidden: [batch, hidden]. weights: [hidden, input]. recurrence: [hidden, hidden]. bias:
    [hidden], default 0. clip: bound of the activation's argument.
    """
    return _run_single_step(Rnn, inputs, [hidden], weights, recurrence, bias, activations, clip)[0]


def gru_cell(
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
    """Return the next state of a GRU cell.

    weights, recurrence: gates update, reset, hidden. bias: [3 * hidden]; with linear_before_reset [4 * hidden], where
    the last part is the bias of the recurrence, which the reset gate multiplies after the product. Others as
    `rnn_cell`.
    """
    return _run_single_step(Gru, inputs, [hidden], weights, recurrence, bias, activations, clip, linear_before_reset)[0]


def lstm_cell(
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
    """Return the next state and cell of an LSTM cell.

    weights: gates forget, input, cell, output. activations: of the gates, of the cell input, and of the cell output,
    which is not clipped. input_forget, weights_format: only the default values are supported. Others as `rnn_cell`.
    """
    if input_forget or weights_format != "fico":
        raise NoKernel("lstm_cell: input_forget and weights_format other than fico are not supported")
    new_hidden, new_cell = _run_single_step(Lstm, inputs, [hidden, cell], weights, recurrence, bias, activations, clip)
    return new_hidden, new_cell


def _run_single_step(
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
        raise InputError("recurrent: expected 2-D inputs and recurrence weights")
    for state in states:
        require_shape("recurrent", "a state", state.shape, (inputs.shape[0], recurrence.shape[1]))
    arrays = weights[np.newaxis], recurrence[np.newaxis], None if bias is None else bias[np.newaxis]
    new_arrays = run_sequences(
        kind, inputs[:, np.newaxis], [state[:, np.newaxis] for state in states], np.ones(len(inputs), np.int64), arrays,
        "forward", activations, clip, linear,
    )  # fmt: skip
    return [new_state[:, 0] for new_state in new_arrays[1:]]


_DIRECTION_COUNTS: Final = {"forward": 1, "reverse": 1, "bidirectional": 2}
_NAMES: Final = ("relu", "sigmoid", "tanh")
#: Positions of the gates input, output, forget and cell in the order forget, input, cell, output.
_GATES: Final = [1, 3, 0, 2]


def rnn_sequence(
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
    """Return all states and the last state of an RNN sequence.

    States are [batch, directions, time, hidden]; the last has no time dimension. inputs: [batch, time, input]. hidden:
    [batch, directions, hidden]. lengths: [batch]. weights, recurrence, bias: as in `rnn_cell`, per direction. States
    beyond the end of a sequence are masked, and so is the last state of an empty sequence or of one longer than the
    time. direction: forward, reverse or bidirectional.
    """
    arrays = _sequences(Rnn, inputs, [hidden], lengths, weights, recurrence, bias, direction, activations, clip)
    return arrays[0], arrays[1]


def gru_sequence(
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
    """Return `rnn_sequence` with the steps of `gru_cell`."""
    arrays = _sequences(
        Gru, inputs, [hidden], lengths, weights, recurrence, bias, direction, activations, clip, linear_before_reset
    )
    return arrays[0], arrays[1]


def lstm_sequence(
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
    """Return `rnn_sequence` with steps of `lstm_cell`, and the last cell."""
    arrays = _sequences(Lstm, inputs, [hidden, cell], lengths, weights, recurrence, bias, direction, activations, clip)
    return arrays[0], arrays[1], arrays[2]


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
    if inputs.ndim != 3 or recurrence.ndim != 3:
        raise InputError("recurrent: expected 3-D inputs and recurrence weights")
    batch, time = inputs.shape[:2]
    require_shape("recurrent", "lengths", lengths.shape, (batch,))
    if (lengths < 0).any():
        raise InputError("recurrent: expected sequence lengths of at least 0")
    ends = np.minimum(lengths, time).astype(np.int64)
    arrays = weights, recurrence, bias
    sequence, *last = run_sequences(kind, inputs, states, ends, arrays, direction, activations, clip, linear)
    is_past_end = np.arange(time) >= ends[:, np.newaxis]
    unknown = (lengths == 0) | (lengths > time)
    return [
        _masked_steps(sequence, is_past_end[:, np.newaxis, :, np.newaxis]),
        *(_masked_steps(state, unknown[:, np.newaxis, np.newaxis]) for state in last),
    ]


def run_sequences(
    kind: type[Network],
    inputs: NDArray[Any],
    states: list[NDArray[Any]],
    ends: NDArray[Any],
    arrays: tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None],
    direction: str,
    activations: Sequence[str],
    clip: float | None,
    linear: bool,
) -> list[NDArray[Any]]:
    """Return all states and the last ones, computed by `run_rnn` and others.

    States are [batch, directions, time, hidden]. inputs: [batch, time, input]. states: [batch, directions, hidden]
    each. ends: [batch], at most the time. arrays: weights, recurrence and bias or None, per direction, an LSTM's gates
    in the order forget, input, cell, output.
    """
    weights, recurrence, bias = arrays
    require_float("recurrent", inputs, *states, weights, recurrence, *(() if bias is None else (bias,)))
    if direction not in _DIRECTION_COUNTS:
        raise InputError(f"recurrent: unknown direction {direction!r:.60}; known: {', '.join(_DIRECTION_COUNTS)}")
    ways, count, width = _DIRECTION_COUNTS[direction], len(kind.defaults), recurrence.shape[-1]
    if len(activations) != count or not {*activations} <= {*_NAMES}:
        raise InputError(f"recurrent: expected {count} of {', '.join(_NAMES)}, found {list(activations)!r:.60}")
    if clip is not None and not clip >= 0:  # builds write 0 where nothing is clipped
        raise InputError(f"recurrent: expected a positive clip, found {clip}")
    rows = kind.gates * width
    for name, array, shape in (
        ("weights", weights, (rows, inputs.shape[-1])),
        ("recurrence", recurrence, (rows, width)),
        ("bias", bias, ((4 if linear else kind.gates) * width,)),
    ):
        if array is not None:
            require_shape("recurrent", f"parts of {name}", array.shape[:1], (ways,))
            require_shape("recurrent", name, array.shape[1:], shape)
    options = {
        "direction": direction,
        "activations": [*activations] * ways,
        "clip": clip,
        "linear": linear,
        "batch_first": 1,
    }
    biases, reordered = (
        _biases(kind, bias, width),
        (_reorder_gates(kind, weights), _reorder_gates(kind, recurrence)),
    )
    sequence, *last = map(np.ma.getdata, Sequences(kind, inputs, *reordered, biases, ends, states, None, options).run())
    return [sequence.swapaxes(1, 2), *last]


def _reorder_gates(kind: type[Network], array: NDArray[Any]) -> NDArray[Any]:
    """Return weights or biases with LSTM gates in the order of `run_lstm`."""
    if kind is not Lstm:
        return array
    return np.concatenate([np.split(array, 4, axis=1)[gate_index] for gate_index in _GATES], axis=1)


def _biases(kind: type[Network], bias: NDArray[Any] | None, width: int) -> NDArray[Any] | None:
    """Return input biases followed by state biases.

    Only a linear_before_reset GRU has the latter.
    """
    if bias is None:
        return None
    rows = kind.gates * width
    bias_sums = np.zeros((len(bias), rows), bias.dtype)
    if bias.shape[1] > rows:
        bias_sums[:, rows - width :] = bias[:, rows:]
    return np.concatenate([_reorder_gates(kind, bias[:, :rows]), bias_sums], axis=1)


def _masked_steps(array: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    return np.ma.MaskedArray(array, mask=np.broadcast_to(mask, array.shape)) if mask.any() else array
