"""Sizes of 0: empty dimensions, and functions of no elements.

The values are those of ONNX Runtime 1.32 on the CPU, if it computes them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate
from specgate.spec.tables import dialect

f = np.float32
MS = "com.microsoft"
#: By name: the operator, its domain, its inputs, its attributes, and the first output.
COMPUTED: dict[str, tuple[str, str, dict[str, Any], dict[str, Any], Any]] = {
    "matrices": ("MatMul", "", {"A": np.ones((2, 0), f), "B": np.ones((0, 3), f)}, {}, np.zeros((2, 3))),
    "a-vector": ("MatMul", "", {"A": np.ones((2, 3, 0), f), "B": np.ones(0, f)}, {}, np.zeros((2, 3))),
    "no-matrices": ("MatMul", "", {"A": np.ones((0, 2, 3), f), "B": np.ones((0, 3, 4), f)}, {}, np.zeros((0, 2, 4))),
    "a-summand": (
        "Gemm",
        "",
        {"A": np.ones((2, 0), f), "B": np.ones((0, 3), f), "C": np.ones(3, f)},
        {"beta": 2.0},
        np.full((2, 3), 2),
    ),
    "einsum": (
        "Einsum",
        "",
        {"Inputs": [np.ones((2, 0), f), np.ones((0, 3), f)]},
        {"equation": "ij,jk->ik"},
        np.zeros((2, 3)),
    ),
    "rnn": (
        "RNN",
        "",
        {"X": np.ones((5, 0, 3), f), "W": np.ones((1, 4, 3), f), "R": np.ones((1, 4, 4), f)},
        {"hidden_size": 4},
        np.zeros((5, 1, 0, 4)),
    ),
    "gru": (
        "GRU",
        "",
        {"X": np.ones((5, 0, 3), f), "W": np.ones((1, 12, 3), f), "R": np.ones((1, 12, 4), f)},
        {"hidden_size": 4},
        np.zeros((5, 1, 0, 4)),
    ),
    "lstm": (
        "LSTM",
        "",
        {"X": np.ones((5, 0, 3), f), "W": np.ones((1, 16, 3), f), "R": np.ones((1, 16, 4), f)},
        {"hidden_size": 4, "direction": "reverse"},
        np.zeros((5, 1, 0, 4)),
    ),
    "batch-normalization": (
        "BatchNormalization",
        "",
        {"X": np.ones((1, 2, 0), f)} | dict.fromkeys(("scale", "B", "input_mean", "input_var"), np.ones(2, f)),
        {},
        np.zeros((1, 2, 0)),
    ),
    "no-channels-at-a-grid": (
        "GridSample",
        "",
        {"X": np.ones((2, 0, 4, 4), f), "grid": np.ones((2, 5, 6, 2), f)},
        {},
        np.zeros((2, 0, 5, 6)),
    ),
    "no-channels-under-moved-filters": (
        "DeformConv",
        "",
        {"X": np.ones((1, 0, 7, 9), f), "W": np.ones((3, 0, 3, 2), f), "offset": np.ones((1, 12, 5, 8), f)},
        {},
        np.zeros((1, 3, 5, 8)),
    ),
    "made-smaller-with-antialias": (
        "Resize",
        "",
        {"X": np.ones((1, 1, 4, 4), f), "sizes": np.array([1, 1, 0, 4])},
        {"antialias": 1, "mode": "linear"},
        np.zeros((1, 1, 0, 4)),
    ),
    "no-axes": ("Unsqueeze", "", {"data": np.ones(1, f), "axes": np.zeros(0, np.int64)}, {}, np.ones(1)),
    "no-keys": (
        "Attention",
        MS,
        {"input": np.ones((2, 0, 5), f), "weights": np.ones((5, 24), f), "bias": np.ones(24, f)},
        {"num_heads": 2},
        np.zeros((2, 0, 8)),
    ),
    "no-batch-with-a-mask": (
        "MultiHeadAttention",
        MS,
        dict.fromkeys(("query", "key", "value"), np.ones((0, 3, 8), f)) | {"key_padding_mask": np.ones(0, np.int32)},
        {"num_heads": 2},
        np.zeros((0, 3, 8)),
    ),
    "sum": ("ReduceSum", "", {"data": np.ones((2, 0), f), "axes": np.array([1])}, {}, np.zeros((2, 1))),
    "product": ("ReduceProd", "", {"data": np.ones((2, 0), f), "axes": np.array([1])}, {}, np.ones((2, 1))),
    "largest": ("ReduceMax", "", {"data": np.ones((2, 0), f), "axes": np.array([1])}, {}, np.full((2, 1), -np.inf)),
}


def execute_all(name: str, domain: str, arrays: dict[str, Any], attributes: dict[str, Any]) -> Any:
    """Return the first output of a node with these inputs and undeclared outputs."""
    spec = dialect("onnx").operator(f"{domain}.{name}" if domain else name)
    names = [info.name for info in spec.layout("22").inputs]
    kinds = {"float32": "FLOAT", "int64": "INT64", "int32": "INT32"}
    inputs: list[Any] = []
    for field in names:
        several = arrays[field] if isinstance(arrays.get(field), list) else [arrays.get(field)]
        inputs += [a is not None and {"elem_type": kinds[a.dtype.name], "shape": list(a.shape)} for a in several]
    while inputs and not inputs[-1]:
        inputs.pop()
    document = {
        "op_type": name,
        "domain": domain,
        "inputs": [each or None for each in inputs],
        "attributes": attributes,
    }
    assert specgate.check(document, target="onnx:22").accepted is not False
    return next(iter(specgate.execute(document, arrays, target="onnx:22").values()))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", COMPUTED)
def test_sizes_of_0_are_computed(name: str) -> None:
    operator, domain, arrays, attributes, expected = COMPUTED[name]
    result = execute_all(operator, domain, arrays, attributes)
    assert result.shape == expected.shape
    assert result.tolist() == expected.tolist()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["ReduceMean", "ReduceLogSum", "ReduceLogSumExp"])
def test_undefined_reductions_of_empty_integers_are_masked(name: str) -> None:
    result = execute_all(name, "", {"data": np.ones((2, 0), np.int32), "axes": np.array([1])}, {})
    assert np.ma.getmaskarray(result).tolist() == [[True], [True]]


def test_zero_points_for_each_row_of_the_second_matrix_are_rejected() -> None:
    """Each column of it has one; each row has one of the first matrix."""
    tensors: list[dict[str, Any]] = [
        {"elem_type": "UINT8", "shape": [4, 8]}, {"elem_type": "FLOAT", "shape": []}, {"elem_type": "UINT8", "shape": []},
        {"elem_type": "UINT8", "shape": [8, 6]}, {"elem_type": "FLOAT", "shape": [8, 1]},
        {"elem_type": "UINT8", "shape": [8, 1]}, {"elem_type": "FLOAT", "shape": []}, {"elem_type": "UINT8", "shape": []},
    ]  # fmt: skip
    names = ("a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point")
    kinds: dict[str, Any] = {"UINT8": np.uint8, "FLOAT": np.float32}
    arrays = {n: np.ones(t["shape"], kinds[t["elem_type"]]) for n, t in zip(names, tensors, strict=True)}
    with pytest.raises(specgate.InputError, match="one per column of b"):
        specgate.execute({"op_type": "QLinearMatMul", "inputs": tensors}, arrays, target="onnx:13")
