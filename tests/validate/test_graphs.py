"""Rules on graphs in attributes: If, Loop and Scan compare them with tensors.

They also compare graphs with each other.
"""

from __future__ import annotations

from typing import Any

import pytest

import specgate

FLOAT: dict[str, Any] = {"elem_type": "FLOAT", "shape": []}
INT64, BOOL = FLOAT | {"elem_type": "INT64"}, FLOAT | {"elem_type": "BOOL"}


def check_node(op_type: str, inputs: list[Any], **attributes: Any) -> specgate.Verdict:
    node = {"op_type": op_type, "inputs": inputs, "outputs": [], "attributes": attributes}
    return specgate.check(node, target="onnx:17")


def loop(body_in: list[Any], body_out: list[Any], carried: list[Any]) -> specgate.Verdict:
    return check_node("Loop", [INT64, BOOL, *carried], body={"inputs": body_in, "outputs": body_out})


def test_branches_have_equal_outputs():
    assert check_node("If", [BOOL], then_branch={"outputs": [FLOAT]}, else_branch={"outputs": [FLOAT]}).accepted is True
    less = check_node("If", [BOOL], then_branch={"outputs": [FLOAT, FLOAT]}, else_branch={"outputs": [FLOAT]})
    assert [f.id for f in less.findings] == ["onnx/If/same-count"]
    assert "then_branch.outputs has 2 tensors and else_branch.outputs has 1 tensor" in less.findings[0].message
    other = check_node("If", [BOOL], then_branch={"outputs": [FLOAT]}, else_branch={"outputs": [INT64]})
    assert [f.id for f in other.findings] == ["onnx/If/same-types"]


def test_unknown_types_of_a_graph_stay_undecided():
    unknown = {"elem_type": None, "shape": None}
    verdict = check_node("If", [BOOL], then_branch={"outputs": [unknown]}, else_branch={"outputs": [FLOAT]})
    assert verdict.accepted is None
    assert [f.id for f in verdict.undecided] == ["onnx/If/same-types"]


@pytest.mark.parametrize(
    ("body_in", "body_out", "carried", "wrong"),
    [
        ([INT64, BOOL], [BOOL], [], []),
        ([INT64, BOOL, FLOAT], [BOOL, FLOAT], [FLOAT], []),
        ([INT64, BOOL, FLOAT], [BOOL, FLOAT, INT64], [FLOAT], []),  # one value is collected
        ([INT64, BOOL], [BOOL, FLOAT], [FLOAT], ["body-inputs"]),
        ([INT64, BOOL, FLOAT], [BOOL], [FLOAT], ["body-outputs"]),
        ([FLOAT, BOOL, FLOAT], [BOOL, FLOAT], [FLOAT], ["body-turn"]),
        ([INT64, BOOL, FLOAT], [INT64, FLOAT], [FLOAT], ["body-condition"]),
        ([INT64, BOOL, INT64], [BOOL, FLOAT], [FLOAT], ["carried-types"]),
    ],
)
def test_the_body_of_a_loop(body_in, body_out, carried, wrong):
    assert [f.id.rpartition("/")[2] for f in loop(body_in, body_out, carried).findings] == wrong
