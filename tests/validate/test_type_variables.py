"""Fields that share an ONNX type variable have one type, by the tables alone."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.spec.rulebook import rule_reference
from specgate.spec.tables import dialect

FLOAT = {"elem_type": "FLOAT", "shape": [2, 3]}
INT64 = {"elem_type": "INT64", "shape": [2, 3]}
UNKNOWN = {"elem_type": None, "shape": [2, 3]}


def check(operator: str, inputs: list[Any], outputs: list[Any] = (), target: str = "onnx:17", **attributes: Any) -> Any:  # type: ignore[assignment]
    node = {"op_type": operator, "inputs": inputs, "outputs": list(outputs), "attributes": attributes}
    return specgate.check(node, target)


def test_two_inputs():
    (finding,) = check("Add", [FLOAT, INT64]).findings
    assert finding.id == "onnx/Add/T.same-type"
    assert finding.message == "A and B must have the same type (T): A is FLOAT and B is INT64."
    assert finding.values == {"type(A)": "FLOAT", "type(B)": "INT64"}
    assert check("Add", [FLOAT, FLOAT]).accepted


def test_stated_and_omitted_outputs():
    assert check("Add", [FLOAT, FLOAT], [FLOAT]).accepted
    (finding,) = check("Add", [FLOAT, FLOAT], [INT64]).findings
    assert finding.message.startswith("A and C must have the same type (T)")


def same_type(verdict):
    return [finding for finding in verdict.findings if finding.id.endswith(".same-type")]


def test_array_elements_share_the_type_variable():
    assert check("Concat", [FLOAT, FLOAT, FLOAT], axis=0).accepted
    (finding,) = same_type(check("Concat", [FLOAT, FLOAT, INT64], axis=0))
    assert finding.id == "onnx/Concat/T.same-type"
    assert "The tensors of inputs must have the same type (T)" in finding.message
    assert "inputs[2] is INT64" in finding.message
    (finding,) = same_type(check("Concat", [FLOAT, FLOAT], [INT64], axis=0))
    assert finding.message.startswith("inputs and concat_result must have the same type (T)")


def test_elements_that_may_differ():
    graph: dict[str, list[Any]] = {"inputs": [], "outputs": [FLOAT, INT64]}
    condition = {"elem_type": "BOOL", "shape": []}
    assert check("If", [condition], [FLOAT, INT64], then_branch=graph, else_branch=graph).accepted


def test_an_omitted_input_hides_no_mismatch():
    scalar = {"elem_type": "FLOAT", "shape": []}
    wrong = {"elem_type": "DOUBLE", "shape": []}
    assert check("Clip", [FLOAT, None, scalar]).accepted
    (finding,) = check("Clip", [FLOAT, None, wrong]).findings
    assert finding.message.startswith("input and max must have the same type (T)")


def test_an_unknown_type_is_undecided_and_hides_no_mismatch():
    verdict = check("Add", [FLOAT, UNKNOWN])
    assert (verdict.accepted, [f.id for f in verdict.undecided]) == (None, ["onnx/Add/B.type"])
    verdict = check("Add", [FLOAT, UNKNOWN], [INT64])
    assert (verdict.accepted, [f.id for f in verdict.findings]) == (False, ["onnx/Add/T.same-type"])
    assert check("Add", [UNKNOWN, UNKNOWN]).accepted is None


def test_a_type_variable_that_is_split_in_later_versions():
    mean = {"elem_type": "FLOAT", "shape": [3]}
    half = {"elem_type": "FLOAT16", "shape": [2, 3]}
    half_mean = {"elem_type": "FLOAT16", "shape": [3]}
    inputs = [half, half_mean, half_mean, mean, mean]
    assert check("BatchNormalization", inputs, target="onnx:14").accepted
    result = check("BatchNormalization", inputs, target="onnx:9").findings
    assert {f.id for f in result} == {"onnx/BatchNormalization/T.same-type"}
    assert {f.first_level for f in result} == {"14"}


def test_the_rule_has_a_reference():
    reference = rule_reference("onnx/BatchNormalization/T2.same-type")
    assert reference.says == "input_mean and input_var must have the same type (T2)"
    assert {value["levels"] for value in reference.holds} == {"15..28"}


def test_observations_may_waive_the_rule(scratch):
    scratch(
        "onnx",
        both="""\
operator: Both
summary: Takes two.
source: [{package: onnx, version: "1"}]
fields:
  A: {kind: input}
  B: {kind: input}
support:
  "7":
    type_sets: {T: [FLOAT, INT64]}
    A: {types: T}
    B: {types: T}
examples:
  one:
    source: own
    descriptor: {op_type: Both, inputs: [{elem_type: FLOAT, shape: []}, {elem_type: FLOAT, shape: []}]}
observed:
  - builds: 7..
    not_enforced: [T.same-type]
    evidence: none asks
""",
    )
    node = {"op_type": "Both", "inputs": [FLOAT, INT64]}
    assert specgate.check(node, "onnx:17", basis="observed").accepted
    assert not specgate.check(node, "onnx:17", basis="documented").accepted


def test_other_dialects_have_no_such_rules():
    table = dialect("directml")
    forms = [form for operator in table.operators for form in table.operator(operator).rule_forms]
    assert not any(form.variable for form in forms)


@pytest.mark.slow
@pytest.mark.parametrize("operator", dialect("onnx").operators)
def test_every_shared_type_variable_has_rules(operator):
    spec = dialect("onnx").operator(operator)
    for level in spec.levels:
        resolved = spec.resolve(level)
        assert resolved is not None
        ruled = {name for form in resolved.rules if form.variable for name in form.fields}
        groups: dict[str, list[str]] = {}
        for name, info in resolved.fields.items():
            cell = resolved.cells.get(name)
            if cell is not None and cell.variable is not None and not info.heterogeneous:
                groups.setdefault(cell.variable, []).extend([name] * (2 if info.type == "tensor[]" else 1))
        shared = {name for names in groups.values() if len(names) > 1 for name in names}
        assert ruled == shared
