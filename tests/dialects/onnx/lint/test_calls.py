"""A call of a model-local function types its nodes, and conflicts are found."""

from __future__ import annotations

import time

import pytest

import specgate

onnx = pytest.importorskip("onnx")
helper, FLOAT, INT64 = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
OPSET = [helper.make_opsetid("", 17)]


def function(name, inputs, outputs, nodes):
    return helper.make_function("own", name, inputs, outputs, nodes, [*OPSET, helper.make_opsetid("own", 1)])


def errors(nodes, functions, types, target="onnx:17"):
    inputs = [helper.make_tensor_value_info(name, kind, [2]) for name, kind in types.items()]
    outputs = [helper.make_tensor_value_info(name, FLOAT, None) for name in nodes[-1].output]
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    imports = [*OPSET, helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=8)
    findings = specgate.lint(model, targets=[target]).findings
    return [(f.id, f.location and f.location.node, f.message) for f in findings if f.severity == "error"]


ADD = function("Sum", ["a", "b"], ["c"], [helper.make_node("Add", ["a", "b"], ["c"])])
MIXED = "function own.Sum/Add->c: A and B must have the same type (T): A is FLOAT and B is INT64"


def call(name, inputs, outputs):
    return helper.make_node(name, inputs, outputs, domain="own", name=f"call_{name}")


def test_conflicting_types_for_a_type_variable_of_a_function():
    node = call("Sum", ["x", "i"], ["y"])
    assert errors([node], [ADD], {"x": FLOAT, "i": INT64}) == [("onnx/model/function-types", "graph/call_Sum", MIXED)]
    assert errors([call("Sum", ["x", "i"], ["y"])], [ADD], {"x": FLOAT, "i": FLOAT}) == []


def test_types_are_followed_through_nodes_and_calls():
    nodes = [
        helper.make_node("Identity", ["p"], ["q"]),
        helper.make_node("Shape", ["q"], ["s"]),
        helper.make_node("Sum", ["q", "p"], ["t"], domain="own"),
        helper.make_node("Sum", ["t", "s"], ["u"], domain="own"),
    ]
    outer = function("Outer", ["p"], ["u"], nodes)
    result = errors([call("Outer", ["x"], ["y"])], [outer, ADD], {"x": FLOAT})
    assert [(name, node) for name, node, _ in result] == [("onnx/model/function-types", "graph/call_Outer")]
    assert result[0][2].endswith(MIXED)
    assert "function own.Outer/Sum->u" in result[0][2]


def test_type_not_supported_by_a_node_of_a_function():
    inner = function("Root", ["a"], ["b"], [helper.make_node("Sqrt", ["a"], ["b"])])
    ((name, _, message),) = errors([call("Root", ["i"], ["y"])], [inner], {"i": INT64})
    assert name == "onnx/model/function-types"
    assert message.startswith("function own.Root/Sqrt->b: X is INT64")


def test_untyped_errors_are_reported_once_for_the_function():
    wrong = helper.make_node("Softmax", ["a"], ["b"], nonsense=1)
    inner = function("Wrong", ["a"], ["b"], [wrong])
    result = errors([call("Wrong", ["x"], ["y"])], [inner], {"x": FLOAT})
    assert [name for name, *_ in result] == ["onnx/Softmax/unknown-attribute"]


def test_casts_and_optional_inputs_have_no_findings():
    nodes = [
        helper.make_node("Cast", ["b"], ["c"], to=FLOAT),
        helper.make_node("Add", ["a", "c"], ["d"]),
        helper.make_node("Clip", ["d", "low"], ["e"]),
    ]
    inner = function("Held", ["a", "b", "low"], ["e"], nodes)
    assert errors([call("Held", ["x", "i"], ["y"])], [inner], {"x": FLOAT, "i": INT64}) == []


def test_nested_calls_are_checked_once():
    """Each function calls the next twice: 2**60 calls, but 60 functions."""
    twice = [
        function(f"F{n}", ["a"], ["b"], [call(f"F{n + 1}", ["a"], ["t"]), call(f"F{n + 1}", ["t"], ["b"])])
        for n in range(30)
    ]
    last = function("F30", ["a"], ["b"], [helper.make_node("Sqrt", ["a"], ["b"])])
    model_inputs = [helper.make_tensor_value_info("x", FLOAT, [2])]
    graph = helper.make_graph(
        [call("F0", ["x"], ["y"])], "g", model_inputs, [helper.make_tensor_value_info("y", FLOAT, [2])]
    )
    imports = [*OPSET, helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, functions=[*twice, last], opset_imports=imports, ir_version=8)
    begin = time.perf_counter()
    report = specgate.lint(model, targets=["onnx:17"], infer=False)
    assert not [f for f in report.findings if f.id == "onnx/model/function-types"]
    assert time.perf_counter() - begin < 20
