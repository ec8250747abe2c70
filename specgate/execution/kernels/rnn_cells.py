"""RNN, GRU and LSTM cells and sequences of OpenVINO.

OpenVINO GRUCell, GRUSequence, LSTMCell, LSTMSequence, RNNCell, RNNSequence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.arithmetic import require_shape
from specgate.execution.kernels.elementwise import want_float
from specgate.execution.kernels.rnn_networks import Gru, Lstm, Network, Rnn, Sequences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["gru_sequences", "gru_step", "lstm_sequences", "lstm_step", "over_time", "rnn_sequences", "rnn_step"]


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
    """Return the next state [batch, hidden] of an RNN cell.

    inputs: [batch, input]. hidden: [batch, hidden]. weights: [hidden, input]. recurrence: [hidden, hidden]. bias:
    [hidden], default 0. clip: bound of the activation's argument.
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
    """Return the next state of a GRU cell.

    weights, recurrence: gates update, reset, hidden. bias: [3 * hidden]; with linear_before_reset [4 * hidden], where
    the last part is the bias of the recurrence, which the reset gate multiplies after the product. Others as
    `rnn_step`.
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
    """Return the next state and cell of an LSTM cell.

    weights: gates forget, input, cell, output. activations: of the gates, of the cell input, and of the cell output,
    which is not clipped. input_forget, weights_format: only the default values are supported. Others as `rnn_step`.
    """
    if input_forget or weights_format != "fico":
        raise NoKernel("lstm_step: supports neither input_forget nor weight formats other than fico")
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
    new_arrays = over_time(
        kind, inputs[:, np.newaxis], [state[:, np.newaxis] for state in states], np.ones(len(inputs), np.int64), arrays,
        "forward", activations, clip, linear,
    )  # fmt: skip
    return [each[:, 0] for each in new_arrays[1:]]


_WAYS: Final = {"forward": 1, "reverse": 1, "bidirectional": 2}
_NAMES: Final = ("relu", "sigmoid", "tanh")
#: Positions of the gates input, output, forget and cell in the order forget, input, cell, output.
_GATES: Final = [1, 3, 0, 2]


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
    """Return all states and the last state of an RNN sequence.

    States are [batch, directions, time, hidden]; the last has no time dimension. inputs: [batch, time, input]. hidden:
    [batch, directions, hidden]. lengths: [batch]. weights, recurrence, bias: as in `rnn_step`, per direction. States
    beyond the end of a sequence are masked, and so is the last state of an empty sequence or of one longer than the
    time. direction: forward, reverse or bidirectional.
    """
    arrays = _sequences(Rnn, inputs, [hidden], lengths, weights, recurrence, bias, direction, activations, clip)
    return arrays[0], arrays[1]


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
    """Return `rnn_sequences` with the steps of `gru_step`."""
    arrays = _sequences(
        Gru, inputs, [hidden], lengths, weights, recurrence, bias, direction, activations, clip, linear_before_reset
    )
    return arrays[0], arrays[1]


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
    """Return `rnn_sequences` with steps of `lstm_step`, and the last cell."""
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
        raise InputError("recurrent: expected inputs and recurrence of 3 dimensions")
    batch, time = inputs.shape[:2]
    require_shape("recurrent", "lengths", lengths.shape, (batch,))
    if (lengths < 0).any():
        raise InputError("recurrent: expected lengths of 0 and above")
    ends = np.minimum(lengths, time).astype(np.int64)
    arrays = weights, recurrence, bias
    sequence, *last = over_time(kind, inputs, states, ends, arrays, direction, activations, clip, linear)
    behind = np.arange(time) >= ends[:, np.newaxis]
    unknown = (lengths == 0) | (lengths > time)
    return [
        _masked(sequence, behind[:, np.newaxis, :, np.newaxis]),
        *(_masked(each, unknown[:, np.newaxis, np.newaxis]) for each in last),
    ]


def over_time(
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
    want_float("recurrent", inputs, *states, weights, recurrence, *(() if bias is None else (bias,)))
    if direction not in _WAYS:
        raise InputError(f"recurrent: unknown direction {direction!r:.60}; known: {', '.join(_WAYS)}")
    ways, count, width = _WAYS[direction], len(kind.defaults), recurrence.shape[-1]
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
    how = {
        "direction": direction,
        "activations": [*activations] * ways,
        "clip": clip,
        "linear": linear,
        "batch_first": 1,
    }
    both, turned = _biases(kind, bias, width), (_ordered(kind, weights), _ordered(kind, recurrence))
    sequence, *last = map(np.ma.getdata, Sequences(kind, inputs, *turned, both, ends, states, None, how).run())
    return [sequence.swapaxes(1, 2), *last]


def _ordered(kind: type[Network], array: NDArray[Any]) -> NDArray[Any]:
    """Return weights or biases with LSTM gates in the order of `run_lstm`."""
    if kind is not Lstm:
        return array
    return np.concatenate([np.split(array, 4, axis=1)[at] for at in _GATES], axis=1)


def _biases(kind: type[Network], bias: NDArray[Any] | None, width: int) -> NDArray[Any] | None:
    """Return input biases followed by state biases.

    Only a linear_before_reset GRU has the latter.
    """
    if bias is None:
        return None
    rows = kind.gates * width
    own = np.zeros((len(bias), rows), bias.dtype)
    if bias.shape[1] > rows:
        own[:, rows - width :] = bias[:, rows:]
    return np.concatenate([_ordered(kind, bias[:, :rows]), own], axis=1)


def _masked(array: NDArray[Any], mask: NDArray[np.bool_]) -> NDArray[Any]:
    return np.ma.MaskedArray(array, mask=np.broadcast_to(mask, array.shape)) if mask.any() else array
