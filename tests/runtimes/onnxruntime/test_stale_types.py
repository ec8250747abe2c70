"""Stated shapes that nodes contradict: the session is created, runs use real sizes."""

from __future__ import annotations

import pytest

import specgate

pytest.importorskip("onnx", reason="NO STALE SHAPE IS TESTED: pip install onnx (it is in the test extra)")
from onnx import TensorProto, helper

CPU = "onnxruntime:1.32.0"


def transpose(stated: list[int] | None, operator: str, other: list[int]):
    """Return x [5,201,6], transposed to [201,6,5] and combined with another input.

    The file states `stated` for the intermediate value.
    """

    def value(name: str, shape: list[int] | None, kind: int = TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, shape)

    reads = ["c", "t", "w"] if operator == "Where" else ["t", "w"]
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"], perm=[1, 2, 0]),
        helper.make_node(operator, reads, ["y"], name="last"),
    ]
    inputs = [value("x", [5, 201, 6]), value("w", other)]
    inputs += [value("c", [1], TensorProto.BOOL)] if operator == "Where" else []
    infos = [] if stated is None else [value("t", stated)]
    graph = helper.make_graph(nodes, "g", inputs, [value("y", None)], value_info=infos)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


# Sessions and first runs of onnxruntime 1.32.0.
@pytest.mark.parametrize(
    ("stated", "operator", "other", "run"),
    [
        ([5, 201, 6], "Mul", [5, 201, 6], "fails"),
        ([5, 201, 6], "Max", [5, 201, 6], "fails"),
        ([5, 201, 6], "Where", [5, 201, 6], "fails"),
        ([5, 201, 6], "Mul", [6, 5], "runs"),
        ([5, 201, 6], "Mul", [1], "runs"),
        ([201, 6, 5], "Mul", [6, 5], "runs"),
        (None, "Mul", [6, 5], "runs"),
    ],
)
def test_a_run_uses_computed_sizes(stated, operator, other, run) -> None:
    onnx_model = transpose(stated, operator, other)
    failing = [node.node for node in specgate.place(onnx_model, CPU).nodes if node.fails]
    errors = [finding for finding in specgate.lint(onnx_model, [CPU]).findings if finding.severity == "error"]
    assert failing == [finding.node for finding in errors] == (["graph/last"] if run == "fails" else [])
