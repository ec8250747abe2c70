"""Kernels reject what ONNX rules reject for an attribute or the outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate


def tensor(*sizes, elem_type="FLOAT"):
    return {"elem_type": elem_type, "shape": list(sizes)}


def ones(*sizes):
    return np.ones(sizes, np.float32)


LISTS = [tensor(3)] * 4
BATCH = {"X": ones(2, 3, 4), "scale": ones(3), "B": ones(3), "input_mean": ones(3), "input_var": ones(3)}
SLICED: list[dict[str, Any]] = [
    tensor(2, 3),
    {"elem_type": "INT64", "shape": [2], "value": [0, 0]},
    {"elem_type": "INT64", "shape": [2], "value": [1, 1]},
]
SPLIT_BY_LENGTHS = [tensor(4), {"elem_type": "INT64", "shape": [2], "value": [2, 2]}]
CASES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any]]] = {
    "ReduceMax/keepdims": (
        {"op_type": "ReduceMax", "inputs": [tensor(2, 3)], "attributes": {"keepdims": 2}},
        {"data": ones(2, 3)},
        {"keepdims": 1},
    ),
    "ArgMax/keepdims": (
        {"op_type": "ArgMax", "inputs": [tensor(2, 3)], "attributes": {"keepdims": 2}},
        {"data": ones(2, 3)},
        {"keepdims": 0},
    ),
    "Split/count-of-outputs": (
        {
            "op_type": "Split",
            "inputs": [tensor(4)],
            "outputs": [tensor(2), tensor(2)],
            "attributes": {"num_outputs": 3},
        },
        {"input": ones(4)},
        {"num_outputs": 2},
    ),
    "Split/split-or-count": (
        {
            "op_type": "Split",
            "inputs": SPLIT_BY_LENGTHS,
            "outputs": [tensor(2), tensor(2)],
            "attributes": {"num_outputs": 2},
        },
        {"input": ones(4)},
        {},
    ),
    "LayerNormalization/stash-values": (
        {"op_type": "LayerNormalization", "inputs": [tensor(2, 3), tensor(3)], "attributes": {"stash_type": 10}},
        {"X": ones(2, 3), "Scale": ones(3)},
        {"stash_type": 1},
    ),
    "LayerNormalization/statistics-types": (
        {
            "op_type": "LayerNormalization",
            "inputs": [tensor(2, 3), tensor(3)],
            "outputs": [tensor(2, 3), tensor(2, 1, elem_type="BFLOAT16")],
            "attributes": {"stash_type": 1},
        },
        {"X": ones(2, 3), "Scale": ones(3)},
        {"stash_type": 16},
    ),
    "BatchNormalization/training-outputs": (
        {
            "op_type": "BatchNormalization",
            "inputs": [tensor(2, 3, 4), *LISTS],
            "outputs": [tensor(2, 3, 4), tensor(3), tensor(3)],
            "attributes": {"training_mode": 0},
        },
        BATCH,
        {"training_mode": 1},
    ),
    "Conv/pads-or-auto-pad": (
        {
            "op_type": "Conv",
            "inputs": [tensor(1, 1, 5), tensor(1, 1, 3)],
            "attributes": {"auto_pad": "SAME_UPPER", "pads": [0, 0]},
        },
        {"X": ones(1, 1, 5), "W": ones(1, 1, 3)},
        {"pads": [0, 0]},
    ),
    "ConvTranspose/pads-or-auto-pad": (
        {
            "op_type": "ConvTranspose",
            "inputs": [tensor(1, 1, 5), tensor(1, 1, 3)],
            "attributes": {"auto_pad": "VALID", "pads": [0, 0]},
        },
        {"X": ones(1, 1, 5), "W": ones(1, 1, 3)},
        {"pads": [0, 0]},
    ),
    "MaxPool/pads-or-auto-pad": (
        {
            "op_type": "MaxPool",
            "inputs": [tensor(1, 1, 5)],
            "attributes": {"kernel_shape": [3], "auto_pad": "SAME_LOWER", "pads": [0, 0]},
        },
        {"X": ones(1, 1, 5)},
        {"kernel_shape": [3], "auto_pad": "SAME_LOWER"},
    ),
}


@pytest.mark.parametrize("rule", CASES)
def test_kernels_reject_what_the_rule_rejects(rule):
    node, arrays, right = CASES[rule]
    verdict = specgate.check(node, target="onnx:21")
    assert f"onnx/{rule}" in {finding.id for finding in verdict.findings}
    with pytest.raises(specgate.InputError):
        specgate.execute(node, arrays, target="onnx:21")
    node = {**node, "attributes": right}
    assert specgate.check(node, target="onnx:21").accepted
    assert specgate.execute(node, arrays, target="onnx:21")


def test_axis_must_be_sliced_only_once():
    inputs = [*SLICED, {"elem_type": "INT64", "shape": [2], "value": [0, -2]}]
    node = {"op_type": "Slice", "inputs": inputs}
    assert [f.id for f in specgate.check(node, target="onnx:21").findings] == ["onnx/Slice/axes-distinct"]
    arrays = {"data": ones(2, 3)}
    with pytest.raises(specgate.InputError, match="expected distinct axes"):
        specgate.execute(node, arrays, target="onnx:21")
    inputs[3] = {"elem_type": "INT64", "shape": [2], "value": [0, -1]}
    assert specgate.execute(node, arrays, target="onnx:21")["output"].shape == (1, 1)


def test_incomplete_training_outputs_are_rejected():
    entries = {"Y": tensor(2, 3, 4), "running_var": tensor(3)}
    node = {
        "op_type": "BatchNormalization",
        "inputs": [tensor(2, 3, 4), *LISTS],
        "outputs": [entries["Y"], None, entries["running_var"]],
        "attributes": {"training_mode": 1},
    }
    assert "onnx/BatchNormalization/outputs-together" in {
        finding.id for finding in specgate.check(node, target="onnx:21").findings
    }
    with pytest.raises(specgate.InputError, match="all training outputs"):
        specgate.execute(node, BATCH, target="onnx:21")
