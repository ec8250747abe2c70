"""The LSTM against scalar loops: directions, lengths, peepholes, clip, coupling."""

from __future__ import annotations

from math import exp, tanh
from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.rnn import lstm

TIME, BATCH, SIZE, WIDTH = 4, 3, 2, 2


def sigmoid(x):
    return (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32)


def relu(x):
    return np.maximum(x, np.float32(0))


SCALAR = {sigmoid: lambda x: 1 / (1 + exp(-x)), np.tanh: tanh, relu: lambda x: max(x, 0.0)}


def arrays(directions, seed=1, **left_out):
    rng = np.random.default_rng(seed)
    shapes = {
        "inputs": (1, TIME, BATCH, SIZE), "weights": (1, directions, 4 * WIDTH, SIZE),
        "recurrence": (1, directions, 4 * WIDTH, WIDTH), "bias": (1, 1, directions, 8 * WIDTH),
        "hidden": (1, directions, BATCH, WIDTH), "cell": (1, directions, BATCH, WIDTH),
        "peephole": (1, 1, directions, 3 * WIDTH),
    }  # fmt: skip
    arrays_by_name = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    return {name: array for name, array in arrays_by_name.items() if not left_out.get(name)}


def by_hand(inputs, d, b, length, functions, *, reverse, clip=None, coupled=False):
    """One batch of one direction: the states by time, and the last hidden state and cell."""
    f, g, h = (SCALAR[function] for function in functions)
    zeros = {"bias": (1, 1, d + 1, 8 * WIDTH), "peephole": (1, 1, d + 1, 3 * WIDTH)}
    bias, peephole = (inputs.get(name, np.zeros(shape))[0, 0, d] for name, shape in zeros.items())
    state = [list(inputs[n][0, d, b]) if n in inputs else [0.0] * WIDTH for n in ("hidden", "cell")]
    hidden, cell = ([float(x) for x in each] for each in state)
    numbers_by_value = {}

    def hold(x):
        return x if clip is None else min(max(x, -clip), clip)

    for step in range(length):
        t = length - 1 - step if reverse else step
        x = inputs["inputs"][0, t, b]
        gates = [
            sum(float(inputs["weights"][0, d, r, k]) * float(x[k]) for k in range(SIZE))
            + sum(float(inputs["recurrence"][0, d, r, k]) * hidden[k] for k in range(WIDTH))
            + float(bias[r]) + float(bias[4 * WIDTH + r])
            for r in range(4 * WIDTH)
        ]  # fmt: skip
        new_hidden, new_cell = [], []
        for j in range(WIDTH):
            i, o, forget, c = (gates[k * WIDTH + j] for k in range(4))
            entering = f(hold(i + float(peephole[j]) * cell[j]))
            kept = 1 - entering if coupled else f(hold(forget + float(peephole[2 * WIDTH + j]) * cell[j]))
            new_cell.append(kept * cell[j] + entering * g(hold(c)))
            new_hidden.append(f(hold(o + float(peephole[WIDTH + j]) * new_cell[j])) * h(new_cell[j]))
        hidden, cell = new_hidden, new_cell
        numbers_by_value[t] = hidden
    return numbers_by_value, hidden, cell


CASES = [
    {},
    {"left_out": {"bias": True, "hidden": True, "cell": True, "peephole": True}},
    {"clip": 0.5},
    {"coupled": True},
    {"functions": (sigmoid, relu, np.tanh)},
    {"lengths": [4, 2, 1]},
]


@pytest.mark.parametrize("direction", ["FORWARD", "BACKWARD", "BIDIRECTIONAL"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: ",".join(case) or "plain")
def test_lstm_matches_the_equations(direction, case):
    count = 2 if direction == "BIDIRECTIONAL" else 1
    inputs = arrays(count, **case.get("left_out", {}))
    functions = case.get("functions", (sigmoid, np.tanh, np.tanh))
    clip, coupled, lengths = case.get("clip"), case.get("coupled", False), case.get("lengths", [TIME] * BATCH)
    extra: dict[str, Any] = (
        {"lengths": np.array(lengths, np.uint32).reshape(1, 1, 1, BATCH)} if "lengths" in case else {}
    )
    sequence, single, cell = lstm(
        **inputs, **extra, direction=direction, activations=functions * count,
        clip=clip or 0.0, clipped=clip is not None, coupled=coupled,
    )  # fmt: skip
    assert (sequence.shape, single.shape) == ((TIME, count, BATCH, WIDTH), (1, count, BATCH, WIDTH))
    for d in range(count):
        for b in range(BATCH):
            reverse = direction == "BACKWARD" or d == 1
            states, last, inner = by_hand(
                inputs, d, b, lengths[b], functions, reverse=reverse, clip=clip, coupled=coupled
            )
            for t in range(TIME):
                assert sequence[t, d, b] == pytest.approx(states.get(t, [0, 0]), abs=2e-6)
            assert single[0, d, b] == pytest.approx(last, abs=2e-6)
            assert cell[0, d, b] == pytest.approx(inner, abs=2e-6)


def test_invalid_sequence_lengths_mask_the_last_state():
    lengths = np.array([0, 9, 2], np.uint32).reshape(1, 1, 1, 3)
    functions = (sigmoid, np.tanh, np.tanh)
    sequence, single, cell = lstm(**arrays(1), lengths=lengths, direction="FORWARD", activations=functions)
    assert not sequence[:, 0, 0].any()
    assert not np.ma.getmaskarray(sequence).any()
    for last in (single, cell):
        assert np.ma.getmaskarray(last)[0, 0].tolist() == [[True, True], [True, True], [False, False]]


def test_float16_outputs_stay_float16():
    entries = {name: array.astype(np.float16) for name, array in arrays(1).items()}
    result = lstm(**entries, direction="FORWARD", activations=(sigmoid, np.tanh, np.tanh))
    assert [each.dtype for each in result] == [np.float16] * 3


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("weights", (1, 1, 8, 3)), ("recurrence", (1, 1, 6, 2)), ("bias", (1, 1, 1, 8)), ("hidden", (1, 1, 2, 2)),
        ("cell", (1, 1, 3, 3)), ("peephole", (1, 1, 1, 8)), ("inputs", (2, 4, 3, 2)), ("lengths", (1, 1, 3, 1)),
        ("inputs", (4, 3, 2)),
    ],
)  # fmt: skip
def test_mismatched_shapes_are_rejected(name, shape):
    inputs = {**arrays(1), name: np.zeros(shape, np.uint32 if name == "lengths" else np.float32)}
    with pytest.raises(InputError, match="lstm"):
        lstm(**inputs, direction="FORWARD", activations=(sigmoid, np.tanh, np.tanh))


def test_invalid_directions_counts_and_types():
    with pytest.raises(InputError, match="SIDEWAYS"):
        lstm(**arrays(1), direction="SIDEWAYS", activations=(sigmoid,) * 3)
    with pytest.raises(InputError, match="6 activations"):
        lstm(**arrays(2), direction="BIDIRECTIONAL", activations=(sigmoid,) * 3)
    mixed = {**arrays(1), "weights": np.zeros((1, 1, 8, 2), np.float16)}
    with pytest.raises(InputError, match="float32"):
        lstm(**mixed, direction="FORWARD", activations=(sigmoid,) * 3)


def ones(**more):
    shapes = {
        "inputs": (1, 1, 1, 1), "weights": (1, 1, 4, 1), "recurrence": (1, 1, 4, 1), "hidden": (1, 1, 1, 1),
        "cell": (1, 1, 1, 1),
    }  # fmt: skip
    return {name: np.ones(shape, np.float32) for name, shape in shapes.items()} | more


def identity(x):
    return x


def test_clipped_nan_becomes_the_lower_bound():
    inputs = ones(inputs=np.full((1, 1, 1, 1), np.nan, np.float32))
    _, _, cell = lstm(**inputs, direction="FORWARD", activations=[identity] * 3, clip=0.5, clipped=True)
    assert cell.item() == -0.5 * 1 + -0.5 * -0.5


def test_absent_peephole_adds_no_nan_for_an_infinite_cell():
    inputs = ones(cell=np.full((1, 1, 1, 1), np.inf, np.float32))
    array, _, cell = lstm(**inputs, direction="FORWARD", activations=[relu] * 3)
    assert array.item() == cell.item() == np.inf
