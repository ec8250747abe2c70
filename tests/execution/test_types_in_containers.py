"""Types in sequences and optionals are checked and executed by onnx's rule."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

import specgate

SEQUENCE: Final = {"elem_type": "seq(tensor(float))"}
PLACE: Final = {"elem_type": "INT64", "shape": [], "value": 0}
ONES: Final = np.ones(3, np.float32)


def tensor(elem_type: str = "FLOAT", *sizes: int) -> dict[str, Any]:
    return {"elem_type": elem_type, "shape": list(sizes or (3,))}


#: Operator, inputs, attributes, values by input, the output's type and a wrong one. Empty values do not show a type.
CASES: Final[dict[str, tuple[str, list[Any], dict[str, Any], dict[str, Any], str, str]]] = {
    "construct": ("SequenceConstruct", [tensor()], {}, {"inputs": [ONES]}, "seq(tensor(float))", "seq(tensor(uint8))"),
    "empty": ("SequenceEmpty", [], {"dtype": 7}, {}, "seq(tensor(int64))", "seq(tensor(float))"),
    "empty of nothing stated": ("SequenceEmpty", [], {}, {}, "seq(tensor(float))", "seq(tensor(int64))"),
    "erase": ("SequenceErase", [SEQUENCE], {}, {"input_sequence": [ONES]}, "seq(tensor(float))", "seq(tensor(double))"),
    "insert": (
        "SequenceInsert",
        [SEQUENCE, tensor()],
        {},
        {"input_sequence": [], "tensor": ONES},
        "seq(tensor(float))",
        "seq(tensor(double))",
    ),
    "at": ("SequenceAt", [SEQUENCE, PLACE], {}, {"input_sequence": [ONES]}, "FLOAT", "DOUBLE"),
    "concat": ("ConcatFromSequence", [SEQUENCE], {"axis": 0}, {"input_sequence": [ONES]}, "FLOAT", "DOUBLE"),
    "split": (
        "SplitToSequence",
        [tensor("FLOAT", 0)],
        {},
        {"input": np.ones(0, np.float32)},
        "seq(tensor(float))",
        "seq(tensor(double))",
    ),
    "optional": ("Optional", [tensor()], {}, {"input": ONES}, "optional(tensor(float))", "optional(tensor(double))"),
    "optional of a sequence": (
        "Optional",
        [SEQUENCE],
        {},
        {"input": []},
        "optional(seq(tensor(float)))",
        "optional(tensor(float))",
    ),
    "optional of a type": (
        "Optional",
        [],
        {"type": tensor("INT64")},
        {},
        "optional(tensor(int64))",
        "optional(tensor(float))",
    ),
    "optional of a type of sequences": (
        "Optional",
        [],
        {"type": SEQUENCE},
        {},
        "optional(seq(tensor(float)))",
        "optional(seq(tensor(int64)))",
    ),
    "element": (
        "OptionalGetElement",
        [{"elem_type": "optional(seq(tensor(float)))"}],
        {},
        {"input": []},
        "seq(tensor(float))",
        "seq(tensor(double))",
    ),
    "element of tensors": (
        "OptionalGetElement",
        [{"elem_type": "optional(tensor(float))"}],
        {},
        {"input": ONES},
        "FLOAT",
        "DOUBLE",
    ),
    "identity": ("Identity", [SEQUENCE], {}, {"input": []}, "seq(tensor(float))", "seq(tensor(double))"),
}


def describe(name: str, kind: str) -> dict[str, Any]:
    operator, inputs, attributes, _, _, _ = CASES[name]
    return {"op_type": operator, "inputs": inputs, "outputs": [{"elem_type": kind}], "attributes": attributes}


@pytest.mark.parametrize("name", CASES)
def test_element_type_of_a_container_is_checked(name: str) -> None:
    *_, values, right, wrong = CASES[name]
    assert specgate.check(describe(name, right), "onnx:17").accepted
    assert specgate.execute(describe(name, right), values, target="onnx:17")
    assert specgate.check(describe(name, wrong), "onnx:17").accepted is False
    with pytest.raises(specgate.InputError, match=r"type|optional|tensors of"):
        specgate.execute(describe(name, wrong), values, target="onnx:17")


def turns(inputs: list[Any], outputs: list[Any]) -> dict[str, Any]:
    ends = [{"elem_type": "INT64", "shape": []}, {"elem_type": "BOOL", "shape": []}]
    return {"inputs": [*ends, *inputs], "outputs": [ends[1], *outputs]}


def each(*kinds: str) -> list[dict[str, Any]]:
    return [{"elem_type": kind} for kind in kinds]


FLOATS, DOUBLES = "seq(tensor(float))", "seq(tensor(double))"
#: Operator, inputs, body, outputs, the rule that fails or "".
BODIES: Final = {
    "loop": ("Loop", each(FLOATS), turns(each(FLOATS), each(FLOATS)), each(FLOATS), ""),
    "loop-out": ("Loop", each(FLOATS), turns(each(FLOATS), each(FLOATS)), each(DOUBLES), "output-types"),
    "loop-kept": ("Loop", each(FLOATS), turns(each(FLOATS), each(DOUBLES)), each(DOUBLES), "carried-kept"),
    "loop-scanned": (
        "Loop",
        each(FLOATS),
        turns(each(FLOATS), each(FLOATS, FLOATS)),
        each(FLOATS, FLOATS),
        "scanned-tensors",
    ),
    "map": ("SequenceMap", each(FLOATS), {"inputs": each("FLOAT"), "outputs": each("DOUBLE")}, each(DOUBLES), ""),
    "map-in": (
        "SequenceMap",
        each(FLOATS),
        {"inputs": each("DOUBLE"), "outputs": each("DOUBLE")},
        each(DOUBLES),
        "element-type",
    ),
    "map-more": (
        "SequenceMap",
        each(FLOATS, DOUBLES),
        {"inputs": each("FLOAT", "FLOAT"), "outputs": each("FLOAT")},
        each(FLOATS),
        "additional-types",
    ),
    "map-out": (
        "SequenceMap",
        each(FLOATS),
        {"inputs": each("FLOAT"), "outputs": each("FLOAT")},
        each(DOUBLES),
        "output-types",
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_bodies_propagate_types_in_containers(name: str) -> None:
    operator, inputs, body, outputs, rule = BODIES[name]
    counted = [{"elem_type": "INT64", "shape": []}, None] if operator == "Loop" else []
    node = {"op_type": operator, "inputs": [*counted, *inputs], "outputs": outputs, "attributes": {"body": body}}
    verdict = specgate.check(node, "onnx:17")
    assert [finding.id for finding in verdict.findings] == ([f"onnx/{operator}/{rule}"] if rule else [])
