"""Recurrent networks with named functions: steps by hand, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.rnn import gru_cell, gru_sequence, lstm_cell, lstm_sequence, rnn_cell, rnn_sequence


def f32(*values, shape):
    return np.array(values, np.float32).reshape(shape)


ONE = f32(1, shape=(1, 1))


def test_reset_gate_applies_before_or_after_the_product():
    inputs, hidden = f32(0, shape=(1, 1)), f32(2, shape=(1, 1))
    weights, recurrence = f32(0, 0, 0, shape=(3, 1)), f32(0, 0, 3, shape=(3, 1))
    before = gru_cell(inputs, hidden, weights, recurrence, f32(0, 0.5, 1, shape=3), activations=["relu", "relu"])
    assert before.tolist() == [[4]]  # 0.5 * 2 * 3 + 1
    following = gru_cell(
        inputs, hidden, weights, recurrence, f32(0, 0.5, 1, 4, shape=4), activations=["relu", "relu"],
        linear_before_reset=True,
    )  # fmt: skip
    assert following.tolist() == [[6]]  # 0.5 * (2 * 3 + 4) + 1


def test_clip_applies_to_gates_but_not_to_the_output_cell():
    weights, recurrence = f32(9, 9, 9, 9, shape=(4, 1)), f32(0, 0, 0, 0, shape=(4, 1))
    hidden, cell = lstm_cell(ONE, ONE, ONE * 5, weights, recurrence, activations=["relu"] * 3, clip=2.0)
    assert (cell.tolist(), hidden.tolist()) == ([[14]], [[28]])  # 2 * 5 + 2 * 2, and 2 * 14


def test_zero_clip_disables_clipping():
    weights, recurrence = f32(9, 9, 9, 9, shape=(4, 1)), f32(0, 0, 0, 0, shape=(4, 1))
    arrays = [lstm_cell(ONE, ONE, ONE, weights, recurrence, clip=clip) for clip in (0.0, None, 0.5)]
    assert np.array_equal(arrays[0], arrays[1])
    assert not np.array_equal(arrays[0], arrays[2])


def test_functions_by_default():
    zeros = np.zeros((3, 1), np.float32)
    assert gru_cell(ONE, ONE, zeros, zeros).tolist() == [[0.5]]
    assert rnn_cell(ONE, ONE, ONE, ONE * 0)[0, 0] == pytest.approx(np.tanh(1), rel=1e-7)
    zeros = np.zeros((4, 1), np.float32)
    assert lstm_cell(ONE, ONE, ONE, zeros, zeros)[1].tolist() == [[0.5]]


def test_both_directions_and_lengths():
    inputs = f32(1, 2, 4, 1, 2, 4, shape=(2, 3, 1))
    weights, hidden = f32(1, 1, shape=(2, 1, 1)), np.zeros((2, 2, 1), np.float32)
    lengths, bias = np.array([3, 2]), np.zeros((2, 1), np.float32)
    states, last = rnn_sequence(
        inputs, hidden, lengths, weights, weights, bias, direction="bidirectional", activations=["relu"]
    )
    assert states[0, :, :, 0].tolist() == [[1, 3, 7], [7, 6, 4]]
    assert states[1, :, :, 0].tolist() == [[1, 3, None], [3, 2, None]]  # None: masked
    assert last[:, :, 0].tolist() == [[7, 7], [3, 3]]


@pytest.mark.parametrize("length", [0, 4])
def test_last_state_is_masked_for_invalid_lengths(length):
    zeros = np.zeros((1, 1, 1), np.float32)
    weights = np.zeros((1, 4, 1), np.float32)
    result = lstm_sequence(
        np.zeros((1, 3, 1), np.float32), zeros, zeros, np.array([length]), weights, weights, weights[..., 0],
        direction="reverse",
    )  # fmt: skip
    assert [bool(np.ma.getmaskarray(each).all()) for each in result] == [length == 0, True, True]


def sequences(**changes):
    entries = {
        "inputs": np.zeros((2, 3, 1), np.float32), "hidden": np.zeros((2, 1, 2), np.float32),
        "lengths": np.array([3, 3]), "weights": np.zeros((1, 6, 1)), "recurrence": np.zeros((1, 6, 2)),
        "bias": np.zeros((1, 6)), "direction": "forward",
    }  # fmt: skip
    return gru_sequence(**{**entries, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lengths": np.array([3, -1])}, "lengths of at least 0"),
        ({"lengths": np.array([3])}, "lengths of shape"),
        ({"direction": "both"}, "unknown direction 'both'"),
        ({"direction": "bidirectional"}, "parts of weights"),
        ({"activations": ["elu", "tanh"]}, "expected 2 of relu"),
        ({"activations": ["tanh"]}, "expected 2 of relu"),
        ({"clip": -1.0}, "positive clip"),
        ({"weights": np.zeros((1, 6, 2))}, "weights of shape"),
        ({"bias": np.zeros((1, 8))}, "bias of shape"),
        ({"hidden": np.zeros((1, 1, 2))}, "a state of shape"),
    ],
)
def test_rejected(changes, message):
    assert sequences()[0].shape == (2, 1, 3, 2)
    with pytest.raises(InputError, match=message):
        sequences(**changes)


def test_undocumented_attributes_have_no_kernel():
    zeros = np.zeros((4, 1), np.float32)
    for changes in ({"input_forget": True}, {"weights_format": "icof"}):
        with pytest.raises(NoKernel):
            lstm_cell(ONE, ONE, ONE, zeros, zeros, **changes)
