"""Models with nodes added as bytes are valid, and what is read without onnx."""

from __future__ import annotations

import pytest

from specgate.runtimes.onnxruntime.oracle.marked import MARKER, MARKER_SIZE, add_markers, nodes_of

onnx = pytest.importorskip("onnx")
helper = onnx.helper


def model(*imports, nodes=None):
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "xy")
    graph = helper.make_graph(nodes or [helper.make_node("Relu", ["x"], ["y"], name="r")], "g", [x], [y])
    new_model = helper.make_model(graph, opset_imports=[helper.make_opsetid(*each) for each in imports], ir_version=8)
    return new_model.SerializeToString()


def test_a_marked_model_is_valid_and_has_two_extra_nodes():
    onnx_model = onnx.ModelProto.FromString(add_markers(model(("", 18))))
    onnx.checker.check_model(onnx_model, full_check=True)
    assert [node.name for node in onnx_model.graph.node] == ["r", f"{MARKER}Not", f"{MARKER}Identity"]
    assert {info.type.tensor_type.shape.dim[0].dim_value for info in onnx_model.graph.input[1:]} == {MARKER_SIZE}
    assert [(entry.domain, entry.version) for entry in onnx_model.opset_import] == [("", 18)]


@pytest.mark.parametrize("domain", ["", "ai.onnx"])
def test_the_default_domain_is_not_imported_twice(domain):
    onnx_model = onnx.ModelProto.FromString(add_markers(model((domain, 17), ("com.microsoft", 1))))
    assert [entry.domain for entry in onnx_model.opset_import] == [domain, "com.microsoft"]


def test_a_missing_default_domain_is_imported():
    onnx_model = onnx.ModelProto.FromString(add_markers(model(("com.microsoft", 1))))
    assert [(entry.domain, entry.version) for entry in onnx_model.opset_import] == [("com.microsoft", 1), ("", 1)]


@pytest.mark.parametrize("data", [b"garbage", b"\x3a\x7f", b"\x0b", b"\xff" * 20])
def test_invalid_models_are_returned_unchanged(data):
    assert add_markers(data) == data


def test_nodes_are_found_in_subgraphs():
    inner = helper.make_graph([helper.make_node("Neg", ["x"], ["y"], name="n")], "i", [], [])
    several = [
        helper.make_node("If", ["c"], ["y"], name="if", then_branch=inner, else_branch=inner),
        helper.make_node("Relu", ["x"], ["y"]),
    ]
    assert nodes_of(model(("", 18), nodes=several)) == [("if", "If"), ("n", "Neg"), ("n", "Neg"), ("", "Relu")]


def test_the_two_ends_of_a_marker_are_in_the_graph():
    onnx_model = onnx.ModelProto.FromString(add_markers(model(("", 18))))
    sources = [name for node in onnx_model.graph.node for name in node.input]
    assert sources == [info.name for info in onnx_model.graph.input]
    assert [name for node in onnx_model.graph.node for name in node.output] == [
        info.name for info in onnx_model.graph.output
    ]
