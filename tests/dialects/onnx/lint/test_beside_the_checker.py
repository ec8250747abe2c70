"""Findings on a graph's interface equal the rejections of onnx.checker."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import FLOAT, chain, helper, info, onnx, passes_checker, passes_strict_inference

MUTANTS = {
    "as it is": lambda onnx_model: None,
    "no name of the graph": lambda onnx_model: onnx_model.graph.ClearField("name"),
    "input without a type": lambda onnx_model: onnx_model.graph.input[0].ClearField("type"),
    "input without a shape": lambda onnx_model: onnx_model.graph.input[0].type.tensor_type.ClearField("shape"),
    "output without a shape": lambda onnx_model: onnx_model.graph.output[0].type.tensor_type.ClearField("shape"),
    "input without an element type": lambda onnx_model: onnx_model.graph.input[0].type.tensor_type.ClearField(
        "elem_type"
    ),
    "open sizes": lambda onnx_model: onnx_model.graph.input[0].type.tensor_type.shape.dim[0].ClearField("dim_value"),
    "a scalar": lambda onnx_model: [
        info.type.tensor_type.shape.ClearField("dim") for info in (*onnx_model.graph.input, *onnx_model.graph.output)
    ],
    "input without a name": lambda onnx_model: onnx_model.graph.input[0].ClearField("name"),
    "no IR version": lambda onnx_model: onnx_model.ClearField("ir_version"),
    "no imports": lambda onnx_model: onnx_model.ClearField("opset_import"),
    "an unknown operator": lambda onnx_model: setattr(onnx_model.graph.node[0], "op_type", "Rleu"),
    "an unknown attribute": lambda onnx_model: onnx_model.graph.node[0].attribute.append(
        helper.make_attribute("alpha", 1.0)
    ),
    "too many inputs": lambda onnx_model: onnx_model.graph.node[0].input.append("x"),
    "no outputs of a node": lambda onnx_model: onnx_model.graph.node[0].ClearField("output"),
    "an initializer without data": lambda onnx_model: onnx_model.graph.initializer.append(
        onnx.TensorProto(name="w", data_type=FLOAT, dims=[2])
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_models_rejected_by_the_checker_have_findings(name):
    new_chain = chain("x", "y")
    MUTANTS[name](new_chain)
    refused = not passes_checker(new_chain) or not passes_strict_inference(new_chain)
    result = [f for f in specgate.lint(new_chain, ["onnx:17"]).findings if "unused" not in f.id]
    assert bool(result) == refused, (refused, result)


def test_value_without_a_shape_is_named():
    new_chain = chain("x", "y")
    new_chain.graph.output[0].type.tensor_type.ClearField("shape")
    (finding,) = specgate.lint(new_chain, ["onnx:17"]).findings
    assert (finding.id, finding.severity, finding.where) == ("onnx/model/graph-types", "note", "output")
    assert finding.message == "output 'y' without a shape, which onnx.checker requires"


def test_squeeze_axes_must_be_a_list_before_23():
    axes = helper.make_tensor("a", onnx.TensorProto.INT64, [], [0])
    body = helper.make_graph(
        [helper.make_node("Squeeze", ["x", "a"], ["y"])], "g", [info("x", (1, 3))], [info("y", (3,))], [axes]
    )
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    assert "onnx/Squeeze/axes-rank" in {f.id for f in specgate.lint(model, ["onnxruntime:1.24.4"]).findings}


def test_runtime_requires_names_of_subgraphs_only():
    model = chain("x", "y")
    model.graph.ClearField("name")
    assert {(f.id, f.severity) for f in specgate.lint(model, ["onnxruntime:1.24.4"]).findings} == {
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
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    assert ("onnx/model/graph-name", "error") in {
        (f.id, f.severity) for f in specgate.lint(model, ["onnxruntime:1.24.4"]).findings
    }
    assert specgate.place(model, "onnxruntime:1.24.4").session == "fails"


def test_runtime_requires_an_ir_version():
    new_chain = chain("x", "y")
    new_chain.ClearField("ir_version")
    assert {(f.id, f.severity) for f in specgate.lint(new_chain, ["onnxruntime:1.24.4"]).findings} == {
        ("onnx/model/ir-version", "error")
    }
