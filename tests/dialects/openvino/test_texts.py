"""Attribute texts of undocumented forms: rejected as documented, read as builds do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import specgate
from specgate.dialects.openvino.reader import builds_read

TARGET = "openvino:opset13"


def topk(**data: Any) -> dict[str, Any]:
    inputs = [{"element_type": "f32", "shape": [2, 4]}, {"element_type": "i64", "shape": [], "value": 2}]
    attributes = {"axis": 1, "mode": "max", "sort": "value", "stable": False} | data
    return {"type": "TopK", "version": "opset11", "inputs": inputs, "outputs": [{}, {}], "data": attributes}


@pytest.mark.parametrize(
    ("kind", "raw", "read"),
    [
        ("bool", "perhaps", False),
        ("bool", "TRUE", True),
        ("bool", " true", False),
        ("bool", 7, False),
        ("int", "1x", 1),
        ("int", " 2", 2),
        ("int", "1.9", 1),
        ("int", "+1", None),
        ("int", "99999999999999999999", None),
        ("int", [3, 4], 3),
        ("float", "1.5x", 1.5),
        ("float", "abc", None),
        ("float", "1e400", None),
        ("int[]", "1.0, 2x,", [1, 2]),
        ("int[]", "1,,2", None),
        ("int[]", "[1,1]", None),
        ("int[]", 1, [1]),
        ("string", 3, "3"),
        ("int", {"a": 1}, None),
    ],
)
def test_strings_are_read_like_in_builds(kind: str, raw: Any, read: Any) -> None:
    assert builds_read(kind, raw) == read


@given(st.sampled_from(["bool", "int", "float", "string", "int[]", "float[]", "string[]"]), st.text(max_size=30))
def test_any_string_is_read_or_rejected(kind: str, text: str) -> None:
    value = builds_read(kind, text)
    assert value is None or isinstance(value, list) == kind.endswith("[]")


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"stable": "perhaps"}, "TopK/stable.wrong-kind"),
        ({"axis": "1x"}, "TopK/axis.wrong-kind"),
        ({"unheard_of": 3}, "TopK/unknown-attribute"),
        ({"mode": 3}, "TopK/mode.wrong-kind"),
    ],
)
def test_documented_basis_rejects_with_a_single_finding(change: dict[str, Any], finding: str) -> None:
    verdict = specgate.check(topk(**change), target=TARGET, basis="documented")
    assert [result.id for result in verdict.findings] == [f"openvino/{finding}"]


def test_observed_basis_checks_the_value_read_by_builds() -> None:
    assert specgate.check(topk(stable="perhaps"), target=TARGET, basis="observed").accepted
    assert specgate.check(topk(axis="1x"), target=TARGET, basis="observed").accepted
    assert specgate.check(topk(unheard_of=3), target=TARGET, basis="observed").accepted
    outside = specgate.check(topk(axis="7x"), target=TARGET, basis="observed")
    assert [finding.id for finding in outside.findings] == ["openvino/TopK/axis-range"]
    unreadable = specgate.check(topk(axis="x"), target=TARGET, basis="observed")
    assert [finding.id for finding in unreadable.findings] == ["openvino/TopK/axis.wrong-kind"]


def test_true_in_any_letter_case_is_accepted() -> None:
    assert specgate.check(topk(stable="True"), target=TARGET).accepted


def test_an_attribute_of_a_later_version_is_ignored_by_builds() -> None:
    data = {"kernel": [2, 2], "strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [9, 9]}
    layer = {
        "type": "MaxPool",
        "version": "opset1",
        "inputs": [{"element_type": "f32", "shape": [1, 2, 4, 4]}],
        "outputs": [{"element_type": "f32", "shape": [1, 2, 3, 3]}],
        "data": data,
    }
    for _ in range(12):  # compiled after some questions
        assert specgate.check(layer, target=TARGET, basis="observed").accepted
        assert not specgate.check(layer, target=TARGET, basis="documented").accepted


def test_layer_with_odd_strings_round_trips() -> None:
    layer = topk(stable="perhaps", axis="1x")
    written = specgate.descriptor(layer, dialect="openvino")
    from specgate.dialects.openvino.reader import write

    assert write(written)["data"]["stable"] == "perhaps"
    assert write(written)["data"]["axis"] == "1x"
