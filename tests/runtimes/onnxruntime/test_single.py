"""check of one node for a runtime agrees with place and lint on its model."""

from __future__ import annotations

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import specgate
from specgate.generate.cases import cases_of
from specgate.linting.input_source import InputSource
from specgate.runtimes.onnxruntime.conform.cases import levels, one_node
from specgate.spec.tables import dialect
from tests.runtimes.onnxruntime.agreement import drawn_node

CPU = "onnxruntime:1.32.0"
NEWEST = 28
OPERATORS = sorted(name for name in dialect("onnx").tables.operators if "." not in name)


def of_shape(operator, *shapes, kind="FLOAT", **attributes):
    inputs = [{"elem_type": kind, "shape": list(shape)} for shape in shapes]
    return {"op_type": operator, "inputs": inputs, "attributes": attributes}


def find_ids(node, target=CPU):
    verdict = specgate.check(node, target=target)
    return verdict.accepted, [(f.id, f.severity) for f in verdict.findings]


def test_nodes_without_a_kernel_are_rejected():
    lstm = of_shape("LSTM", (2, 3, 4), (1, 20, 4), (1, 20, 5), hidden_size=5, layout=1)
    assert specgate.check(lstm, target="onnx:22").accepted
    assert find_ids(lstm) == (False, [("onnxruntime/placement/session-fails", "error")])
    assert find_ids(of_shape("Relu", (2,), kind="BFLOAT16"))[0] is False, "the CPU has no such kernel"


def test_functions_with_a_node_without_kernel_are_rejected():
    onnx_model = of_shape("RMSNormalization", (2, 3, 4), (3, 4), kind="BFLOAT16", axis=1)
    onnx_model["outputs"] = [{"elem_type": "BFLOAT16", "shape": [2, 3, 4]}]
    assert specgate.check(onnx_model, target="onnx:28").accepted
    assert find_ids(onnx_model) == (False, [("onnxruntime/placement/no-kernel", "error")])


def test_an_undecided_body_node_leaves_the_call_undecided():
    verdict = specgate.check(of_shape("Range", *[(1,)] * 3, kind="BFLOAT16"), target=CPU)
    assert verdict.accepted is None
    assert {finding.id for finding in verdict.undecided} == {"onnxruntime/placement/undecided"}


@pytest.mark.parametrize("target", [CPU, "onnxruntime-directml:1.24.4"])
@pytest.mark.parametrize("operator", ["Relu", "Gelu"])
def test_an_unknown_type_is_undecided_and_not_missing(operator, target):
    verdict = specgate.check(of_shape(operator, (2,), kind=None), target=target)
    assert verdict.accepted is None
    assert not [result for result in verdict.findings if result.severity == "error"]


def test_rules_that_the_runtime_does_not_enforce_are_warnings():
    clip = of_shape("Clip", (2,), (1,))
    accepted, findings = find_ids(clip, "onnxruntime:1.20.1")
    assert not specgate.check(clip, target="onnx:21").accepted
    assert accepted
    assert findings == [("onnx/Clip/min-scalar", "warning")]
    assert find_ids(of_shape("Clip", (2,), (2,)), "onnxruntime:1.20.1")[0] is False, "two numbers fail at every run"


def test_onnx_targets_do_not_check_kernels():
    assert specgate.check(of_shape("Relu", (2,), kind="BFLOAT16"), target="onnx:22").accepted


@pytest.mark.slow
@given(operator=st.sampled_from(OPERATORS), data=st.data())
def test_check_agrees_with_place(operator: str, data: st.DataObject) -> None:
    newest = levels(operator, NEWEST)[-1]
    if newest not in {case.level for case in cases_of("onnx", operator)}:
        reject()
    onnx_model = drawn_node(data, operator, newest)
    questions = one_node(onnx_model, newest, NEWEST)
    if questions is None or any(type(value).__name__ == "GraphDesc" for value in onnx_model.fields.values()):
        reject()
    placement = specgate.place(InputSource(questions[1], "onnx", "model"), CPU)
    # The file states an output's wrong type there; the node states it here.
    stated = any("/stated-" in result.id for node in placement for result in node.findings)
    if stated or placement.refusals or questions[0] != str(NEWEST):  # about the file around the node
        reject()
    assert (specgate.check(onnx_model, target=CPU).accepted is False) == (placement.session == "fails")


@pytest.mark.parametrize("target", ["onnxruntime-directml:1.24.4", "onnxruntime:1.20.1"])
def test_graph_attributes_are_checked_by_inputs_and_outputs(target):
    branch = {"outputs": [{"elem_type": "FLOAT", "shape": [2]}]}
    onnx_model = {"op_type": "If", "inputs": [{"elem_type": "BOOL", "shape": []}], "outputs": branch["outputs"]}
    assert specgate.check(
        {**onnx_model, "attributes": {"then_branch": branch, "else_branch": branch}}, target=target
    ).accepted
    wrong = {"then_branch": branch, "else_branch": {"outputs": []}}
    assert specgate.check({**onnx_model, "attributes": wrong}, target=target).accepted is False
