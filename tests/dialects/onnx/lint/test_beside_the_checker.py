"""What onnx.checker refuses of a graph's interface is said, and nothing is said where it does not refuse."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import FLOAT, chain, checker_takes, helper, info, onnx, strict_inference_takes

MUTANTS = {
    "as it is": lambda made: None,
    "no name of the graph": lambda made: made.graph.ClearField("name"),
    "input without a type": lambda made: made.graph.input[0].ClearField("type"),
    "input without a shape": lambda made: made.graph.input[0].type.tensor_type.ClearField("shape"),
    "output without a shape": lambda made: made.graph.output[0].type.tensor_type.ClearField("shape"),
    "input without an element type": lambda made: made.graph.input[0].type.tensor_type.ClearField("elem_type"),
    "open sizes": lambda made: made.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_value"),
    "a scalar": lambda made: [
        info.type.tensor_type.shape.ClearField("dim") for info in (*made.graph.input, *made.graph.output)
    ],
    "input without a name": lambda made: made.graph.input[0].ClearField("name"),
    "no IR version": lambda made: made.ClearField("ir_version"),
    "no imports": lambda made: made.ClearField("opset_import"),
    "an unknown operator": lambda made: setattr(made.graph.node[0], "op_type", "Rleu"),
    "an unknown attribute": lambda made: made.graph.node[0].attribute.append(helper.make_attribute("alpha", 1.0)),
    "too many inputs": lambda made: made.graph.node[0].input.append("x"),
    "no outputs of a node": lambda made: made.graph.node[0].ClearField("output"),
    "an initializer without data": lambda made: made.graph.initializer.append(
        onnx.TensorProto(name="w", data_type=FLOAT, dims=[2])
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_what_the_checker_refuses_is_said(name):
    made = chain("x", "y")
    MUTANTS[name](made)
    refused = not checker_takes(made) or not strict_inference_takes(made)
    found = [f for f in specgate.lint(made, ["onnx:17"]).findings if "unused" not in f.id]
    assert bool(found) == refused, (refused, found)


def test_what_has_no_type_is_named():
    made = chain("x", "y")
    made.graph.output[0].type.tensor_type.ClearField("shape")
    (found,) = specgate.lint(made, ["onnx:17"]).findings
    assert (found.id, found.severity, found.where) == ("onnx/model/graph-types", "note", "output")
    assert found.message == "output 'y' without a shape, which onnx.checker requires"


def test_axes_of_squeeze_are_a_list_before_23_too():
    axes = helper.make_tensor("a", onnx.TensorProto.INT64, [], [0])
    body = helper.make_graph(
        [helper.make_node("Squeeze", ["x", "a"], ["y"])], "g", [info("x", (1, 3))], [info("y", (3,))], [axes]
    )
    made = helper.make_model(body, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert "onnx/Squeeze/axes-rank" in {f.id for f in specgate.lint(made, ["onnxruntime:1.24.4"]).findings}


def test_a_runtime_reads_a_file_without_names_of_its_main_graph_alone():
    made = chain("x", "y")
    made.graph.ClearField("name")
    assert {(f.id, f.severity) for f in specgate.lint(made, ["onnxruntime:1.24.4"]).findings} == {
        ("onnx/model/graph-name", "note")
    }
    branches = {
        name: helper.make_graph([helper.make_node("Identity", ["x"], [name])], name, [], [info(name, (2,))])
        for name in ("then_branch", "else_branch")
    }
    branches["then_branch"].name = ""
    node = helper.make_node("If", ["c"], ["y"], **branches)
    condition = helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, [])
    graph = helper.make_graph([node], "g", [info("x", (2,)), condition], [info("y", (2,))])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert ("onnx/model/graph-name", "error") in {
        (f.id, f.severity) for f in specgate.lint(made, ["onnxruntime:1.24.4"]).findings
    }
    assert specgate.place(made, "onnxruntime:1.24.4").session == "fails"


def test_a_runtime_reads_no_file_without_an_ir_version():
    made = chain("x", "y")
    made.ClearField("ir_version")
    assert {(f.id, f.severity) for f in specgate.lint(made, ["onnxruntime:1.24.4"]).findings} == {
        ("onnx/model/ir-version", "error")
    }
