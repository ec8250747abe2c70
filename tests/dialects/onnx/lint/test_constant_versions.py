"""A Constant's value has a type of its version, also without a stated output."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import passes_strict_inference

onnx = pytest.importorskip("onnx")
helper, FLOAT, INT64 = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


@pytest.mark.parametrize("opset", [5, 8, 9])
def test_integer_constants_require_opset_9(opset):
    nodes = [
        helper.make_node("Constant", [], ["s"], value=helper.make_tensor("v", INT64, [1], [4])),
        helper.make_node("Reshape", ["x", "s"], ["y"]),
    ]
    info = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [info("x", FLOAT, [2, 2])], [info("y", FLOAT, [4])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    accepted = passes_strict_inference(model)
    assert accepted is (opset >= 9)
    result = [f.id for f in specgate.lint(model, targets=["onnx:17"]).findings if f.severity == "error"]
    assert result == ([] if accepted else ["onnx/Constant/value-type"])
