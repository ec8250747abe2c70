"""Nodes have the outputs of their subgraphs, as every implementation requires."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import passes_strict_inference

onnx = pytest.importorskip("onnx")
helper, FLOAT, INT64, BOOL = onnx.helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL


def info(name, kind=FLOAT, sizes=(2,)):
    return helper.make_tensor_value_info(name, kind, sizes)


def branch(count, kind=FLOAT):
    tensor = helper.make_tensor("v", kind, [2], [1, 2])
    nodes = [helper.make_node("Constant", [], [f"k{i}"], value=tensor) for i in range(count)]
    return helper.make_graph(nodes, "branch", [], [info(f"k{i}", kind) for i in range(count)])


def body(inputs, outputs):
    nodes = [helper.make_node("Identity", [inputs[at].name], [value.name]) for value, at in outputs]
    return helper.make_graph(nodes, "body", inputs, [value for value, _ in outputs])


def evaluate(node, inputs, outputs, opset=16):
    """Return lint's findings, and whether strict shape inference accepts the model."""
    graph = helper.make_graph([node], "g", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    accepted = passes_strict_inference(model)
    findings = specgate.lint(model, targets=["onnx:17"]).findings
    return {f.id for f in findings if f.severity == "error" and not f.id.startswith("onnx/model/")}, accepted


@pytest.mark.parametrize(("inside", "outside"), [(1, 1), (2, 2), (2, 1), (1, 2)])
def test_if_has_as_many_outputs_as_its_branches(inside, outside):
    names = [f"y{i}" for i in range(outside)]
    node = helper.make_node("If", ["c"], names, then_branch=branch(inside), else_branch=branch(inside))
    result, accepted = evaluate(node, [info("c", BOOL, ())], [info(name) for name in names])
    assert accepted is (inside == outside)
    assert result == (set() if accepted else {"onnx/If/output-count"})


def test_if_outputs_have_the_types_of_its_branches():
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch(1, INT64), else_branch=branch(1, INT64))
    assert evaluate(node, [info("c", BOOL, ())], [info("y", INT64)]) == (set(), True)
    assert evaluate(node, [info("c", BOOL, ())], [info("y", FLOAT)]) == ({"onnx/If/output-types"}, False)


@pytest.mark.parametrize("outside", [1, 2, 3])
def test_loop_and_scan_outputs_match_their_body(outside):
    names = [f"y{i}" for i in range(outside)]
    turns = [info("i", INT64, ()), info("c", BOOL, ()), info("s")]
    loop = helper.make_node(
        "Loop",
        ["m", "c0", "s0"],
        names,
        body=body(turns, [(info("c2", BOOL, ()), 1), (info("s2"), 2), (info("o"), 2)]),
    )
    scan = helper.make_node(
        "Scan",
        ["s0", "e0"],
        names,
        num_scan_inputs=1,
        body=body([info("s"), info("e")], [(info("s2"), 0), (info("o"), 1)]),
    )
    outputs = [info(name, FLOAT, (2,) if name == "y0" else (None, 2)) for name in names]
    for node, inputs in (
        (loop, [info("m", INT64, ()), info("c0", BOOL, ()), info("s0")]),
        (scan, [info("s0"), info("e0", FLOAT, (5, 2))]),
    ):
        result, accepted = evaluate(node, inputs, outputs)
        assert accepted is (outside == 2)
        assert (f"onnx/{node.op_type}/output-count" in result) is not accepted


def test_minimum_opset_of_scan_keeps_the_meaning_of_its_inputs():
    """Scan 8 has lengths as first input; the first input of version 11 is a state."""
    node = helper.make_node(
        "Scan",
        ["s0", "e0"],
        ["y", "z"],
        num_scan_inputs=1,
        body=body([info("s"), info("e")], [(info("s2"), 0), (info("o"), 1)]),
    )
    graph = helper.make_graph(
        [node], "g", [info("s0"), info("e0", FLOAT, (5, 2))], [info("y"), info("z", FLOAT, (5, 2))]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=8)
    from specgate.lowest.model import model_minimum

    (domain,) = model_minimum(model).domains
    assert domain.version == "9"
    assert "onnx/Scan/body-inputs" in {f.id for f in domain.blocked["8"][0].findings}
