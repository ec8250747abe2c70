"""A check's cost is linear in the descriptor; other levels are evaluated once."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.rules.evaluate import Evaluator
from specgate.validate.check import check_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

VECTOR = {"elem_type": "FLOAT", "shape": [2]}
SMALL, LARGE = 50, 500


def unknown_attributes(count: int) -> tuple[dict[str, Any], str]:
    attributes = {f"a{number}": number for number in range(count)}
    return {"op_type": "Relu", "inputs": [VECTOR], "outputs": [VECTOR], "attributes": attributes}, "onnx:17"


def inputs_of_wrong_types(count: int) -> tuple[dict[str, Any], str]:
    inputs = [{"elem_type": ("FLOAT", "INT8")[number % 2], "shape": [2, number]} for number in range(count)]
    return {"op_type": "Sum", "inputs": inputs, "outputs": [VECTOR]}, "onnx:17"


def unknown_inputs(count: int) -> tuple[dict[str, Any], str]:
    inputs = [{"elem_type": None, "shape": None}] * count
    return {"op_type": "Concat", "inputs": inputs, "outputs": [VECTOR], "attributes": {"axis": 0}}, "onnx:17"


def outputs_of_a_split(count: int) -> tuple[dict[str, Any], str]:
    whole, part = {"elem_type": "FLOAT", "shape": [2 * count + 2]}, VECTOR
    node = {"op_type": "Split", "inputs": [whole], "outputs": [part] * count, "attributes": {"num_outputs": count}}
    return node, "onnx:18"


def branches_that_differ(count: int) -> tuple[dict[str, Any], str]:
    graphs = {"then_branch": {"inputs": [], "outputs": [VECTOR] * count}, "else_branch": {"inputs": [], "outputs": []}}
    condition = {"elem_type": "BOOL", "shape": []}
    return {"op_type": "If", "inputs": [condition], "outputs": [VECTOR] * count, "attributes": graphs}, "onnx:17"


def joined_tensors(count: int) -> tuple[dict[str, Any], str]:
    inputs = [{"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2 + number], "Flags": 7} for number in range(count)]
    output = {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 1]}
    desc = {"InputCount": count, "InputTensors": inputs, "OutputTensor": output, "Axis": 3}
    return {"type": "JOIN", "desc": desc}, "directml:6.4"


LARGE_ONES = [
    unknown_attributes, inputs_of_wrong_types, unknown_inputs, outputs_of_a_split, branches_that_differ, joined_tensors,
]  # fmt: skip


def calls(function: Callable[[], Any]) -> int:
    """Return the number of function calls, including Python's own: a cost without noise."""
    count = 0

    def count_call(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("result", LARGE_ONES, ids=lambda result: result.__name__)
def test_ten_times_the_size_costs_ten_times_as_much(result) -> None:
    def cost(count: int) -> int:
        data, target = result(count)
        descriptor = specgate.descriptor(data)
        verdict = specgate.check(descriptor, target)
        assert verdict.word != "accepted"
        assert verdict.findings + verdict.undecided  # compiled and resolved
        return calls(lambda: specgate.check(descriptor, target).findings)

    assert cost(LARGE) < 12 * cost(SMALL)


def test_each_of_many_oddities_is_a_finding() -> None:
    data, target = unknown_attributes(LARGE)
    verdict = specgate.check(data, target)
    assert [f.where for f in verdict.findings] == [f"a{number}" for number in range(LARGE)]


def test_a_rule_is_checked_once_for_all_levels_and_sides(one_hot, monkeypatch) -> None:
    """A failure at the checked level is known for every level that has the rule."""
    one_hot["desc"]["Axis"] = 7
    descriptor = specgate.descriptor(one_hot)
    assert check_at(descriptor, "6.4").findings
    judged: list[int] = []
    value = Evaluator.value

    def counted(self: Evaluator, node: Any, variables: Any) -> Any:
        judged.append(id(node))
        return value(self, node, variables)

    monkeypatch.setattr(Evaluator, "value", counted)
    assert check_at(descriptor, "6.4", "documented").findings
    alone = len(judged)
    judged.clear()
    assert check_at(descriptor, "6.4", "both").findings
    assert len(judged) < 2 * alone


def test_an_accepted_node_below_the_target_is_not_explained(onnx_one_hot, monkeypatch) -> None:
    descriptor = specgate.descriptor({**onnx_one_hot, "opset": 11})
    assert descriptor.version == "11"
    monkeypatch.setattr("specgate.validate.judge.verdict_with_reasons", None)
    verdict = check_at(descriptor, "17")
    assert (verdict.accepted, verdict.target) == (True, "onnx:17")
    rejected = check_at(descriptor, "10")  # that is below its version, so there are reasons
    assert rejected.accepted is False
    with pytest.raises(TypeError):
        assert rejected.findings
