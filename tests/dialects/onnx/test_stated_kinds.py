"""An attribute of a kind other than declared is wrong at every level."""

from __future__ import annotations

import pytest

import specgate
from specgate.descriptors.positional import reordered_for
from specgate.dialects.onnx.protos import from_node_proto
from specgate.spec.tables import dialect

onnx = pytest.importorskip("onnx")
CASES = {"Selu": "gamma", "GRU": "clip", "LSTM": "clip", "BatchNormalization": "epsilon", "Elu": "alpha"}


def node_of(op_type, attribute, kind="INT"):
    """Return a node with one attribute of 1, as INT or FLOAT."""
    node = onnx.helper.make_node(op_type, ["x"], ["y"], name="it")
    number = {"INT": 1, "FLOAT": 1.0}[kind]
    node.attribute.append(onnx.helper.make_attribute(attribute, number, attr_type=getattr(onnx.AttributeProto, kind)))
    return node


@pytest.mark.parametrize("op_type", CASES)
def test_a_float_stored_as_an_integer_is_a_finding_at_every_level(op_type):
    node = node_of(op_type, CASES[op_type])
    for level in ("6", "9", "17", "28"):
        result = {f.id for f in specgate.check(node, target=f"onnx:{level}").findings}
        assert f"onnx/{op_type}/{CASES[op_type]}.wrong-kind" in result
        right = node_of(op_type, CASES[op_type], "FLOAT")
        result = {f.id for f in specgate.check(right, target=f"onnx:{level}").findings}
        assert f"onnx/{op_type}/{CASES[op_type]}.wrong-kind" not in result


def test_rereading_at_another_level_keeps_the_stated_kind():
    spec = dialect("onnx").operator("Selu")
    descriptor = from_node_proto(node_of("Selu", "gamma"))
    repeated = reordered_for(descriptor, spec, "1")
    assert [(o.code, o.where, o.stated) for o in repeated.oddities] == [("wrong-kind", "gamma", "int")]
    assert [o.stated for o in reordered_for(repeated, spec, "28").oddities] == ["int"]


def test_json_numbers_match_any_attribute_kind():
    node = {"op_type": "Selu", "inputs": [{"elem_type": "FLOAT", "shape": [2]}], "attributes": {"gamma": 1}}
    assert specgate.check(node, target="onnx:17").accepted


def test_wrong_attribute_kind_in_a_model_is_not_executed(tmp_path):
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph([node_of("Selu", "gamma")], "g", [info("x", 1, [2])], [info("y", 1, [2])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    report = specgate.lint(model, targets=["onnx:28"])
    assert [f.id for f in report.findings if f.severity == "error"] == ["onnx/Selu/gamma.wrong-kind"]
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    with pytest.raises(specgate.InputError, match="it is stored as int, and float is expected"):
        specgate.execute(str(path), {"x": [1.0, 2.0]})
