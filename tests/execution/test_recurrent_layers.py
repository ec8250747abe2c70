"""RNN and GRU against their equations as scalar loops."""

from __future__ import annotations

from math import exp, tanh
from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.rnn import gru, rnn

TIME, BATCH, SIZE, WIDTH = 4, 3, 2, 2


def sigmoid(x):
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)


def arrays(gates, directions, **left_out):
    rng = np.random.default_rng(gates)
    shapes = {
        "inputs": (1, TIME, BATCH, SIZE), "weights": (1, directions, gates * WIDTH, SIZE),
        "recurrence": (1, directions, gates * WIDTH, WIDTH), "bias": (1, 1, directions, 2 * gates * WIDTH),
        "hidden": (1, directions, BATCH, WIDTH),
    }  # fmt: skip
    arrays_by_name = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return {name: array for name, array in arrays_by_name.items() if not left_out.get(name)}


def gate(inputs, d, which, x, state, *, seen=None):
    """Return a gate's preactivation: sums over inputs and state, each with a bias."""
    gates = inputs["weights"].shape[2] // WIDTH
    bias = inputs.get("bias", np.zeros((1, 1, d + 1, 2 * gates * WIDTH)))[0, 0, d]
    out = []
    for unit in range(WIDTH):
        row = which * WIDTH + unit
        entering = sum(inputs["weights"][0, d, row, i] * x[i] for i in range(SIZE)) + bias[row]
        factors = state if seen is None else [s * r for s, r in zip(state, seen, strict=True)]
        returning = sum(inputs["recurrence"][0, d, row, i] * factors[i] for i in range(WIDTH))
        out.append((entering, returning + bias[gates * WIDTH + row]))
    return out


def gru_cell(inputs, d, x, state, *, linear):
    def logistic(v):
        return 1 / (1 + exp(-v))

    update = [logistic(a + b) for a, b in gate(inputs, d, 0, x, state)]
    reset = [logistic(a + b) for a, b in gate(inputs, d, 1, x, state)]
    if linear:
        proposed = [tanh(a + r * b) for (a, b), r in zip(gate(inputs, d, 2, x, state), reset, strict=True)]
    else:
        proposed = [tanh(a + b) for a, b in gate(inputs, d, 2, x, state, seen=reset)]
    return [(1 - z) * p + z * s for z, p, s in zip(update, proposed, state, strict=True)]


def rnn_cell(inputs, d, x, state, *, linear):
    return [tanh(a + b) for a, b in gate(inputs, d, 0, x, state)]


def by_hand(inputs, step, direction, lengths, *, linear=False):
    backwards = {"FORWARD": (False,), "BACKWARD": (True,), "BIDIRECTIONAL": (False, True)}[direction]
    every = np.zeros((TIME, len(backwards), BATCH, WIDTH))
    last = np.zeros((1, len(backwards), BATCH, WIDTH))
    for d, reverse in enumerate(backwards):
        for b in range(BATCH):
            state = list(inputs["hidden"][0, d, b]) if "hidden" in inputs else [0.0] * WIDTH
            places = range(lengths[b])
            for time in reversed(places) if reverse else places:
                state = step(inputs, d, inputs["inputs"][0, time, b], state, linear=linear)
                every[time, d, b] = state
            last[0, d, b] = state
    return every, last


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD", "BIDIRECTIONAL"])
@pytest.mark.parametrize("left_out", [{}, {"bias": True}, {"hidden": True}])
@pytest.mark.parametrize("linear", [False, True])
def test_gru(direction, left_out, linear):
    directions = 1 + (direction == "BIDIRECTIONAL")
    inputs: dict[str, Any] = arrays(3, directions, **left_out)
    lengths = np.array([4, 2, 1], np.uint32).reshape(1, 1, 1, BATCH)
    result = gru(
        **inputs, lengths=lengths, direction=direction, activations=[sigmoid, np.tanh] * directions,
        linear_before_reset=linear,
    )  # fmt: skip
    for outcome, expected in zip(result, by_hand(inputs, gru_cell, direction, [4, 2, 1], linear=linear), strict=True):
        assert np.allclose(outcome, expected, atol=1e-6)


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD", "BIDIRECTIONAL"])
@pytest.mark.parametrize("left_out", [{}, {"bias": True, "hidden": True}])
def test_rnn(direction, left_out):
    directions = 1 + (direction == "BIDIRECTIONAL")
    inputs: dict[str, Any] = arrays(1, directions, **left_out)
    result = rnn(**inputs, direction=direction, activations=[np.tanh] * directions)
    for outcome, expected in zip(result, by_hand(inputs, rnn_cell, direction, [TIME] * BATCH), strict=True):
        assert np.allclose(outcome, expected, atol=1e-6)


def test_absent_state_skips_recurrence_in_the_first_step():
    inputs: dict[str, Any] = arrays(3, 1, hidden=True)
    inputs["recurrence"][...] = np.inf
    more: dict[str, Any] = {"direction": "FORWARD", "activations": [sigmoid, np.tanh], "linear_before_reset": False}
    every, _ = gru(**inputs, **more)
    assert np.isfinite(every[0]).all()
    every, _ = gru(**inputs, hidden=np.zeros((1, 1, BATCH, WIDTH), np.float32), **more)
    assert np.isnan(every[0]).all()


def test_activation_inputs_can_be_limited_to_finite_values():
    inputs: dict[str, Any] = arrays(1, 1)
    inputs["inputs"][0, 0, 0] = np.nan, 0
    assert np.isnan(rnn(**inputs, direction="FORWARD", activations=[np.tanh])[0][0, 0, 0]).all()
    assert (rnn(**inputs, direction="FORWARD", activations=[np.tanh], finite=True)[0][0, 0, 0] == -1).all()


@pytest.mark.parametrize("name", ["inputs", "weights", "recurrence", "bias", "hidden"])
def test_mismatched_arrays_are_rejected(name):
    inputs: dict[str, Any] = arrays(3, 1)
    inputs[name] = inputs[name][..., :-1] if name != "inputs" else inputs[name][0]
    with pytest.raises(InputError):
        gru(**inputs, direction="FORWARD", activations=[sigmoid, np.tanh], linear_before_reset=False)
    with pytest.raises(InputError, match="direction"):
        gru(**arrays(3, 1), direction="UP", activations=[sigmoid, np.tanh], linear_before_reset=False)
