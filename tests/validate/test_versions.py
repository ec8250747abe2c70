"""Nodes and layers state their opset; a target supports those up to its own."""

from __future__ import annotations

from typing import Any

import pytest

import specgate


def test_a_descriptor_is_checked_at_its_stated_opset(onnx_one_hot) -> None:
    """Axis 0 to -2 is defined from 11 on only."""
    onnx_one_hot.update({"attributes": {"axis": -2}, "outputs": []})
    assert specgate.check({**onnx_one_hot, "opset": 9}, "onnx:17").accepted is False
    assert specgate.check({**onnx_one_hot, "opset": 11}, "onnx:17").accepted is True
    assert specgate.check(onnx_one_hot, "onnx:17").accepted is True
    assert specgate.check(onnx_one_hot, "onnx:9").accepted is False


def test_a_stated_opset_above_the_target(onnx_one_hot) -> None:
    verdict = specgate.check({**onnx_one_hot, "opset": 13}, "onnx:11")
    (finding,) = verdict.findings
    assert finding.id == "onnx/OneHot/version"
    assert finding.message == "written for opset 13, but the target supports levels up to 11"
    assert (finding.where, finding.values) == ("version", {"version": "13", "level": "11"})
    assert (finding.first_level, finding.levels[0], finding.fix) == ("13", "13", "use a target of opset 13 or later")


def test_version_and_other_failures_are_both_reported(onnx_one_hot) -> None:
    onnx_one_hot["attributes"] = {"axis": 9}
    verdict = specgate.check({**onnx_one_hot, "opset": 13}, "onnx:11")
    assert [f.id for f in verdict.findings] == ["onnx/OneHot/version", "onnx/OneHot/axis-range"]


@pytest.mark.parametrize(("opset", "target", "blamed"), [(8, 17, "8"), (8, 9, "8"), (9, 8, "8"), (7, 8, "7")])
def test_an_operator_missing_at_its_stated_opset(onnx_one_hot, opset: int, target: int, blamed: str) -> None:
    verdict = specgate.check({**onnx_one_hot, "opset": opset}, f"onnx:{target}")
    result = [f for f in verdict.findings if f.id == "onnx/OneHot/level"]
    assert [f.message for f in result] == [f"OneHot does not exist at opset {blamed}; it exists from 9 on"]
    assert verdict.accepted is False


def test_the_fast_path_accepts_the_stated_opset(onnx_one_hot) -> None:
    verdict = specgate.check({**onnx_one_hot, "opset": 17}, "onnx:17")
    assert (verdict.accepted, verdict.target) == (True, "onnx:17")


@pytest.mark.parametrize(("version", "target"), [("opset1", "opset1"), ("opset1", "opset17"), ("opset16", "opset17")])
def test_layers_of_earlier_opsets(openvino_one_hot, version: str, target: str) -> None:
    openvino_one_hot["version"] = version
    verdict = specgate.check(openvino_one_hot, f"openvino:{target}")
    assert (verdict.accepted, verdict.target) == (True, f"openvino:{target}")


def test_a_layer_of_a_later_opset(openvino_one_hot) -> None:
    openvino_one_hot.update({"version": "opset16", "data": {"axis": -1, "negative_indices_mode": "normalize"}})
    verdict = specgate.check(openvino_one_hot, "openvino:opset13")
    (finding,) = verdict.findings
    assert finding.message == "written for opset16, but the target supports levels up to opset13"
    assert finding.levels == ("opset16", "opset17")


def test_an_attribute_of_a_later_opset(openvino_one_hot) -> None:
    openvino_one_hot["data"] = {"axis": -1, "negative_indices_mode": "normalize"}
    (finding,) = specgate.check(openvino_one_hot, "openvino:opset17").findings
    assert finding.id == "openvino/OneHot/negative_indices_mode.exists"
    assert finding.message.startswith(
        "negative_indices_mode is an attribute of OneHot from opset16 on, not at opset1; accepted by opset16..opset17"
    )


UNKNOWN: dict[str, tuple[Any, str]] = {
    "far away": (999, "unknown opset '999' of onnx; expected one of 1, 2, 3"),
    "zero": (0, "unknown opset '0' of onnx"),
}


@pytest.mark.parametrize(("opset", "message"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unknown_opsets(onnx_one_hot, opset: Any, message: str) -> None:
    with pytest.raises(specgate.InputError) as caught:
        specgate.check({**onnx_one_hot, "opset": opset}, "onnx:17")
    assert str(caught.value).startswith(message)


def test_unknown_versions(openvino_one_hot) -> None:
    openvino_one_hot["version"] = "opset99"
    with pytest.raises(
        specgate.InputError, match=r"unknown opset 'opset99' of openvino; expected one of .*; did you mean opset17\?"
    ):
        specgate.check(openvino_one_hot, "openvino:opset17")


def test_the_lowest_level_ignores_the_stated_opset(onnx_one_hot, openvino_one_hot) -> None:
    assert specgate.minimum({**onnx_one_hot, "opset": 17}) == "9"
    openvino_one_hot["version"] = "opset16"
    assert specgate.minimum(openvino_one_hot) == "opset1"
