"""Fields that change over versions, and removed versions, as in ONNX's schemas."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.descriptors.read import read_dict, write_dict
from specgate.rules.language import RuleError
from specgate.spec.tables import dialect

FLOAT = {"elem_type": "FLOAT", "shape": [2, 3]}
SCALES = {"elem_type": "FLOAT", "shape": [2]}
INT64 = {"elem_type": "INT64", "shape": [2]}


def check(operator: str, inputs: list[Any], target: str, opset: int | None = None, **attributes: Any) -> Any:
    node = {"op_type": operator, "inputs": inputs, "attributes": attributes}
    return specgate.check(node if opset is None else {**node, "opset": opset}, target)


def ids(verdict: Any) -> list[str]:
    return [finding.id.partition("/")[2] for finding in verdict.findings]


def test_an_attribute_that_became_an_input():
    assert check("Clip", [FLOAT], "onnx:6", min=0.0).accepted
    (finding,) = check("Clip", [FLOAT], "onnx:11", min=0.0).findings
    assert finding.id == "onnx/Clip/min_attribute.exists"
    assert finding.message.startswith("from opset 11 on, min is an input of Clip, not an attribute; ")
    assert list(finding.levels) == [str(level) for level in range(1, 11)]
    scalar = {"elem_type": "FLOAT", "shape": []}
    assert check("Clip", [FLOAT, scalar], "onnx:11").accepted
    assert ids(check("Clip", [FLOAT, scalar], "onnx:6")) == ["Clip/too-many-inputs"]


def test_a_field_of_other_versions_is_reported_with_them():
    (finding,) = check("Reshape", [FLOAT, INT64], "onnx:9", allowzero=1).findings
    assert finding.message.startswith("allowzero is an attribute of Reshape from opset 14 on, not at opset 9; ")
    (finding,) = check("Dropout", [FLOAT], "onnx:9", is_test=1).findings
    assert finding.message.startswith("is_test is an attribute of Dropout up to opset 6, not at opset 9; ")


def test_inputs_in_a_different_order():
    for opset in (None, 10):
        assert check("Resize", [FLOAT, SCALES], "onnx:10", opset).accepted
        node = {"op_type": "Resize", "inputs": [FLOAT, FLOAT]}
        descriptor = read_dict(node if opset is None else {**node, "opset": opset})
        assert set(descriptor.fields) == {"X", "roi" if opset is None else "scales"}
        assert (
            write_dict(descriptor)["inputs"]
            == write_dict(read_dict({"op_type": "Abs", "inputs": [FLOAT]}))["inputs"] * 2
        )
    assert ids(check("Resize", [FLOAT, SCALES], "onnx:11")) == ["Resize/scales.required"]
    assert check("Resize", [FLOAT, None, SCALES], "onnx:13").accepted


def test_changed_attribute_types_and_required_attributes():
    assert check("Cast", [FLOAT], "onnx:1", to="FLOAT").accepted
    assert ids(check("Cast", [FLOAT], "onnx:1", to=1)) == ["Cast/to.wrong-kind"]
    assert check("Cast", [FLOAT], "onnx:6", to=1).accepted
    assert check("Cast", [FLOAT], "onnx:6", to="FLOAT").accepted  # the word of a number
    assert check("Concat", [FLOAT], "onnx:1").accepted
    assert ids(check("Concat", [FLOAT], "onnx:4")) == ["Concat/axis.required"]


def test_optional_inputs_and_non_empty_arrays():
    assert ids(check("Gemm", [FLOAT, FLOAT], "onnx:9", transB=1)) == ["Gemm/C.required"]
    assert check("Gemm", [FLOAT, FLOAT], "onnx:11", transB=1).accepted
    assert ids(check("Sum", [], "onnx:13")) == ["Sum/data_0.required"]


def test_attributes_of_tensors_types_and_graphs():
    value = {"elem_type": "INT64", "shape": [1], "value": [7]}
    assert check("ConstantOfShape", [INT64], "onnx:17", value=value).accepted
    assert ids(check("ConstantOfShape", [INT64], "onnx:17", value=7)) == ["ConstantOfShape/value.wrong-kind"]
    assert check("Optional", [], "onnx:17", type={"elem_type": "seq(tensor(float))"}).accepted
    sequence = {"elem_type": "seq(tensor(float))"}
    index = {"elem_type": "INT64", "shape": []}
    assert check("SequenceAt", [sequence, index], "onnx:17").accepted
    assert ids(check("SequenceAt", [FLOAT, index], "onnx:17")) == ["SequenceAt/input_sequence.type"]
    graph = {"inputs": [], "outputs": [FLOAT]}
    condition = {"elem_type": "BOOL", "shape": []}
    node = {"op_type": "If", "inputs": [condition], "attributes": {"then_branch": graph, "else_branch": graph}}
    assert write_dict(read_dict(node))["attributes"]["then_branch"]["outputs"][0]["elem_type"] == "FLOAT"
    assert specgate.check(node, "onnx:17").accepted
    node["attributes"]["else_branch"] = {"nodes": []}  # type: ignore[index]
    assert ids(specgate.check(node, "onnx:17")) == ["If/else_branch.wrong-kind"]


@pytest.mark.parametrize("kind", ["seq(float32)", "seq()", "list(tensor(float))", "map(tensor(float))", "seq(" * 9])
def test_invalid_type_names(kind):
    node = {"op_type": "Identity", "inputs": [{"elem_type": kind}]}
    assert ids(specgate.check(node, "onnx:17")) == ["Identity/input.unknown-word"]


def test_an_invalid_type_name_in_an_attribute():
    """There it is a value of a wrong kind: the attribute is not a tensor, type or graph."""
    broken = {"elem_type": "FLOAT33", "shape": [1]}
    constant = {"op_type": "Constant", "attributes": {"value": {**broken, "value": [1]}}}
    assert "Constant/value.wrong-kind" in ids(specgate.check(constant, "onnx:17"))
    graph = {"inputs": [], "outputs": [broken]}
    condition = {"elem_type": "BOOL", "shape": []}
    node = {"op_type": "If", "inputs": [condition], "attributes": {"then_branch": graph, "else_branch": graph}}
    assert ids(specgate.check(node, "onnx:17")) == ["If/then_branch.wrong-kind", "If/else_branch.wrong-kind"]


def test_removed_operators():
    (finding,) = check("Upsample", [FLOAT, SCALES], "onnx:17").findings
    assert (finding.id, finding.levels, finding.fix) == (
        "onnx/Upsample/level",
        ("9",),
        "write it as Resize with coordinate_transformation_mode asymmetric and nearest_mode floor",
    )
    assert "was removed at 10" in finding.message
    (finding,) = check("Upsample", [FLOAT, FLOAT], "onnx:17").findings
    assert (finding.first_level, finding.levels) == (None, ())
    assert check("Upsample", [FLOAT, SCALES], "onnx:9").accepted
    assert check(
        "Upsample", [FLOAT, SCALES], "onnx:17", 9
    ).accepted  # runtimes keep the versions that older models import
    channels = {"elem_type": "FLOAT", "shape": [3]}
    (finding,) = check("GroupNormalization", [FLOAT, channels, channels], "onnx:20", num_groups=1).findings
    assert finding.message.endswith("its version 18 was withdrawn, and it exists from 21 on")
    assert finding.fix == "use opset 21"
    assert check("GroupNormalization", [FLOAT, channels, channels], "onnx:21", num_groups=1).accepted


def test_an_attribute_of_unknown_value():
    from specgate.descriptors.positional import build
    from specgate.dialects.onnx.reader import attribute_value
    from specgate.rules.language import UNKNOWN

    spec = dialect("onnx").operator("OneHot")
    parts = (INT64, None, FLOAT)
    tensors = [None if t is None else read_dict({"op_type": "Abs", "inputs": [t]}).fields["X"] for t in parts]
    descriptor = build(spec, tensors, [], {"axis": UNKNOWN}, convert=attribute_value)
    assert (descriptor.plain, descriptor.fields["axis"]) == (False, UNKNOWN)
    assert "onnx/OneHot/axis-range" in [f.id for f in specgate.check(descriptor, "onnx:17").undecided]


KINDS = """\
operator: Kinds
summary: Has an attribute that changes its kind.
source: [{package: onnx, version: "1"}]
fields:
  to:
    - {kind: attribute, type: string, until: "6"}
    - {kind: attribute, type: int, since: "6"}
support:
  "1": {}
rules:
  %s
counterexamples:
  some-rule: {of: one, set: {attributes.to: 9}}
examples:
  one: {source: own, since: "6", descriptor: {op_type: Kinds, attributes: {to: 1}}}
"""


def test_a_rule_on_a_retyped_field_states_its_versions(scratch):
    scratch("onnx", kinds=KINDS % 'some-rule: {require: to < 5, since: "6"}')
    assert specgate.check({"op_type": "Kinds", "attributes": {"to": "a"}}, "onnx:1").accepted
    findings = specgate.check({"op_type": "Kinds", "attributes": {"to": 9}}, "onnx:6").findings
    assert [f.id for f in findings] == ["onnx/Kinds/some-rule"]


def test_a_rule_on_a_retyped_field_without_versions_is_rejected(scratch):
    with pytest.raises((RuleError, specgate.InputError), match="word from 1 on and a number from 6 on"):
        scratch("onnx", kinds=KINDS % "some-rule: to < 5")
