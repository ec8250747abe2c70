"""Execution as in ONNX Runtime with DirectML, by the nodes' DirectML operators."""

from __future__ import annotations

import numpy as np
import pytest

import specgate
from specgate.errors import InputError
from specgate.execution import engine
from specgate.runtimes.onnxruntime import executor

onnx = pytest.importorskip("onnx", reason="THE MODEL TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
helper, numpy_helper, TensorProto = onnx.helper, onnx.numpy_helper, onnx.TensorProto

TARGET = "onnxruntime-directml:1.24.4"
RANDOM = np.random.default_rng(0)
WEIGHTS = {
    "w": RANDOM.normal(size=(4, 3, 3, 3)).astype("f4"), "k": RANDOM.normal(size=(5, 64)).astype("f4"),
    "row": np.full((1, 5), 0.2, "f4"), "column": RANDOM.normal(size=(4, 1, 1)).astype("f4"), "two": np.array([2]),
    "at": np.array([[0, -1], [3, 2]]),
}  # fmt: skip
NODES = [
    ("Conv", ["x", "w"], ["c"], {"pads": [1, 1, 1, 1]}),
    ("Relu", ["c"], ["r"], {}),
    ("MaxPool", ["r"], ["p"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("Flatten", ["p"], ["f"], {}),  # needs no operator
    ("Gemm", ["f", "k"], ["g"], {"transB": 1}),
    ("Softmax", ["g"], ["s"], {}),
    ("Greater", ["s", "row"], ["more"], {}),  # a bool that DirectML writes as UINT8
    ("ArgMax", ["s"], ["most"], {"axis": 1}),
    ("Transpose", ["x"], ["t"], {"perm": [0, 2, 3, 1]}),  # strides
    ("Add", ["c", "column"], ["sum"], {}),  # strides of 0
    ("Concat", ["c", "r"], ["both"], {"axis": 1}),  # an array of tensors as input
    ("Split", ["both"], ["one", "other"], {"axis": 1}),  # and as output
    ("TopK", ["s", "two"], ["top", "places"], {}),
    ("Gather", ["x", "at"], ["taken"], {"axis": 3}),
    ("Where", ["more", "s", "row"], ["chosen"], {}),
]
OUTPUTS = ["s", "most", "t", "sum", "one", "other", "top", "places", "taken", "chosen", "more"]
KINDS = {"more": TensorProto.BOOL, "most": TensorProto.INT64, "places": TensorProto.INT64}


@pytest.fixture
def save(tmp_path):
    def make(nodes, outputs, *, size=(1, 3, 8, 8)):
        graph = helper.make_graph(
            [helper.make_node(op, i, o, name=f"{op.lower()}", **a) for op, i, o, a in nodes],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, size)],
            [helper.make_tensor_value_info(name, KINDS.get(name, TensorProto.FLOAT), None) for name in outputs],
            [numpy_helper.from_array(array, name) for name, array in WEIGHTS.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, tmp_path / "m.onnx")
        return str(tmp_path / "m.onnx")

    return make


def test_every_node_executes_its_operators_without_differences(save):
    path, x = save(NODES, OUTPUTS), {"x": RANDOM.normal(size=(1, 3, 8, 8)).astype("f4")}
    notes: list[str] = []
    outputs = specgate.execute(path, x, TARGET, on_note=notes.append)
    assert [node.operator for node in specgate.place(path, TARGET) if len(node.lowered or ()) > 1] == ["TopK"]
    several = "1 not: no operator is needed; 1 not: the node becomes several operators"
    assert notes == [f"13 of 15 node executions use DirectML operators; {several}"]
    for name, array in specgate.execute(path, x).items():
        assert outputs[name].dtype == array.dtype
        assert np.allclose(outputs[name], array, atol=1e-5)


def test_differing_values_reach_later_nodes_and_are_reported(save, monkeypatch):
    path, x = save([("Relu", ["x"], ["r"], {}), ("Neg", ["r"], ["n"], {})], ["n"], size=[2]), np.array([4, -3], "f4")
    executed = engine.execute_at

    def halve(descriptor, *arguments, **named):
        outputs = executed(descriptor, *arguments, **named)
        return {n: array / 2 for n, array in outputs.items()} if descriptor.operator == "ACTIVATION_RELU" else outputs

    monkeypatch.setattr(executor, "execute_at", halve)
    notes: list[str] = []
    assert specgate.execute(path, {"x": x}, TARGET, on_note=notes.append)["n"].tolist() == [-2, 0]
    expected = (
        "graph/relu: ACTIVATION_RELU computes different values than Relu: 1 of 2 elements, 2.0 and not 4.0 at [0]"
    )
    assert notes[1] == expected


def test_a_model_without_a_session_is_not_executed(save):
    path = save([("Gemm", ["x", "k"], ["g"], {})], ["g"], size=[1, 1, 1, 5])
    with pytest.raises(InputError, match=r"the session is not created at onnxruntime-directml:1\.24\.4"):
        specgate.execute(path, {"x": np.ones((1, 1, 1, 5), "f4")}, TARGET)


def test_cpu_placement_computes_onnx_results(save):
    path = save([("Relu", ["x"], ["r"], {})], ["r"], size=[2])
    notes: list[str] = []
    outputs = specgate.execute(path, {"x": np.array([1, -1], "f4")}, "onnxruntime:1.24.4", on_note=notes.append)
    assert outputs["r"].tolist() == [1, 0]
    assert notes == []
