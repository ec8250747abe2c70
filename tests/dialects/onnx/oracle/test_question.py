"""Descriptors as one-node models: contents, replacements, and limits."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from specgate.descriptors.core import Descriptor, Malformed
from specgate.descriptors.read import read_dict
from specgate.dialects.onnx.oracle.oracle import Attribute, Question, make_question
from specgate.spec.tables import dialect


@pytest.fixture
def changed(onnx_one_hot):
    """Read the node after a change to its dict."""

    def change(edit):
        node = copy.deepcopy(onnx_one_hot)
        edit(node)
        return read_dict(node)

    return change


def ask(descriptor, level="11"):
    question = make_question(descriptor, level)
    assert isinstance(question, Question), question
    return question


def test_node_is_converted_unchanged(onnx_one_hot):
    question = ask(read_dict(onnx_one_hot))
    assert (question.op_type, question.opset, question.ir_version) == ("OneHot", 11, 6)
    assert [(t.name, t.number, t.sizes, t.value) for t in question.inputs] == [
        ("indices", 7, (3,), None),
        ("depth", 7, (), (4,)),
        ("values", 1, (2,), None),
    ]
    assert [(t.name, t.number, t.sizes, t.stated) for t in question.outputs] == [("output", 1, (3, 4), True)]


def test_descriptor_is_queried_at_its_opset(changed):
    assert ask(changed(lambda node: node.update(opset=9)), "17").opset == 9


def test_contrib_operator_is_queried_with_the_newest_opset():
    node = {"op_type": "BiasGelu", "domain": "com.microsoft", "inputs": [{"elem_type": "FLOAT", "shape": [2, 3]}] * 2}
    question = ask(read_dict(node), "1")
    assert (question.op_type, question.domain, question.version) == ("BiasGelu", "com.microsoft", 1)
    assert question.opset == max(int(e["level"]) for e in dialect("onnx").tables.environments if e["kind"] == "runtime")
    assert [tensor.name for tensor in question.inputs] == ["A", "B"]


def test_undeclared_output_has_only_a_name(changed):
    (output,) = ask(changed(lambda node: node.update(outputs=[]))).outputs
    assert (output.name, output.number, output.sizes, output.stated) == ("output", 0, None, False)


def test_omitted_middle_input_keeps_its_position(changed):
    assert [t and t.name for t in ask(changed(lambda n: n["inputs"].__setitem__(1, None))).inputs] == [
        "indices",
        None,
        "values",
    ]
    assert len(ask(changed(lambda n: n["inputs"].__setitem__(2, None))).inputs) == 2


def test_surplus_input_and_output_are_kept(changed):
    extra = {"elem_type": "FLOAT", "shape": [1]}
    question = ask(changed(lambda node: (node["inputs"].append(extra), node["outputs"].append(extra))))
    assert [t.name for t in question.inputs] == ["indices", "depth", "values", "extra_inputs"]
    assert [t.name for t in question.outputs] == ["output", "extra_outputs"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.5, Attribute("axis", 1.5, 1)),
        ("last", Attribute("axis", "last", 3)),
        ([1, 2], Attribute("axis", [1, 2], 7)),
        ([1, 2.5], Attribute("axis", [1, 2.5], 6)),
        (["a"], Attribute("axis", ["a"], 8)),
        ([], Attribute("axis", [], 7)),
        ({}, Attribute("axis", "{}", 3)),
        (None, Attribute("axis", "{}", 3)),
    ],
)
def test_a_wrong_kind_is_an_attribute_of_another_type(changed, value, expected):
    assert ask(changed(lambda node: node.update(attributes={"axis": value}))).attributes == (expected,)


def test_an_unknown_attribute_is_written(changed):
    expected = (Attribute("axis", 0, 2), Attribute("nope", 3, 2), Attribute("yes", 1, 2))
    assert ask(changed(lambda n: n.update(attributes={"axis": 0, "nope": 3, "yes": True}))).attributes == expected


@pytest.mark.parametrize("value", [True, 2**70, [[1]], [1, "a"]])
def test_unrepresentable_attribute_value_is_a_reason(changed, value):
    reason = make_question(changed(lambda node: node.update(attributes={"axis": value})), "11")
    assert isinstance(reason, str)
    assert "unchanged in an AttributeProto" in reason


def test_reasons(onnx_one_hot):
    good = read_dict(onnx_one_hot)
    assert "directml" in make_question(Descriptor("directml", "ONE_HOT", {}), "11")
    assert "my.domain" in make_question(Descriptor("onnx", "my.domain.OneHot", {}), "11")
    assert "NoSuch" in make_question(Descriptor("onnx", "NoSuch", {}), "11")
    assert "unknown opset" in make_question(replace(good, version="999"), "11")
    descriptor = replace(good, oddities=(Malformed("unknown-field", "x", "x is no field"),))
    assert make_question(descriptor, "11") == "x is no field"
    typed = replace(good, fields={**good.fields, "values": good.fields["values"]._replace(type="FLOAT99")})
    assert "FLOAT99" in make_question(typed, "11")
    huge = replace(good, fields={**good.fields, "values": good.fields["values"]._replace(sizes=(2**63,))})
    assert "64 bits" in make_question(huge, "11")
