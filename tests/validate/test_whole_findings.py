"""Every member of findings that no rule or cell gives, and stored values."""

from __future__ import annotations

from dataclasses import replace

import pytest

import specgate
from specgate.descriptors.core import UNKNOWN
from specgate.descriptors.read import read_dict
from specgate.validate.failures import PRINTABLE, bound_value, plain_value
from specgate.validate.row import explain_at
from specgate.verdict import Finding
from tests.spec.conftest import REDUCE


def identity(kind: str) -> dict[str, object]:
    tensor = {"DataType": kind, "Sizes": [1, 1, 2, 3]}
    return {"type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": tensor, "OutputTensor": tensor}}


def test_missing_device_capabilities() -> None:
    verdict = specgate.check(identity("UINT8"), "directml:5.0", device="none")
    assert verdict.accepted is False
    need = "a device with TypedUAVLoadAdditionalFormats"
    assert verdict.findings[1] == Finding(
        id="directml/tensor/device-capability",
        severity="error",
        message=f"OutputTensor is UINT8, which requires {need}; this device lacks it; not required at 6.2..6.4",
        where="OutputTensor.DataType",
        values={"OutputTensor.DataType": "UINT8", "device": []},
        first_level="6.2",
        levels=("6.2", "6.3", "6.4"),
        fix=f"use {need}, or another type for OutputTensor",
        basis="documented",
        target="directml:5.0",
    )


@pytest.mark.parametrize(("basis", "message"), [("both", "documented"), ("observed", "observed")])
def test_device_capabilities_missing_at_every_level(basis, message) -> None:
    (first, _) = specgate.check(identity("FLOAT64"), "directml:5.0", basis, device="none").findings
    assert first.message.endswith("requires a device with DoublePrecisionFloatShaderOps; this device lacks it")
    assert (first.basis, first.levels) == (message, ())


def test_an_operator_of_a_later_level(onnx_one_hot) -> None:
    (finding,) = specgate.check({**onnx_one_hot, "opset": 8}, "onnx:17").findings
    assert finding == Finding(
        id="onnx/OneHot/level",
        severity="error",
        message="OneHot does not exist at opset 8; it exists from 9 on",
        where="",
        values={"level": "8", "operator": "OneHot"},
        first_level=finding.levels[0],
        levels=finding.levels,
        fix="use opset 9",
        target="onnx:17",
    )
    assert finding.levels[0] == "9"


def test_an_operator_whose_version_was_withdrawn() -> None:
    node = {"op_type": "GroupNormalization", "inputs": [{"elem_type": "FLOAT", "shape": [1, 2, 3]}] * 3}
    message = next(f.message for f in specgate.check(node, "onnx:18").findings if f.id.endswith("/level"))
    assert message == (
        "GroupNormalization does not exist at opset 18; its version 18 was withdrawn, and it exists from 21 on"
    )


def test_an_operator_of_a_domain_added_later() -> None:
    node = {"op_type": "Gradient", "domain": "ai.onnx.preview.training", "inputs": [], "outputs": []}
    (finding,) = specgate.check(node, "onnx:7").findings
    name = "ai.onnx.preview.training.Gradient"
    assert finding == Finding(
        id=f"onnx/{name}/level",
        severity="error",
        message=f"{name} does not exist at opset 7: ai.onnx.preview.training exists from opset 12 on",
        where="",
        values={"level": "7", "operator": name},
        first_level=finding.first_level,
        levels=finding.levels,
        fix=finding.fix,
        target="onnx:7",
    )


def test_a_descriptor_for_a_later_level(onnx_one_hot) -> None:
    (finding,) = specgate.check({**onnx_one_hot, "opset": 13}, "onnx:11").findings
    assert (finding.severity, finding.target) == ("error", "onnx:11")
    onnx_one_hot["attributes"] = {"axis": 9}
    first = specgate.check({**onnx_one_hot, "opset": 13}, "onnx:11").findings[0]
    assert (first.id, first.levels, first.first_level, first.fix) == ("onnx/OneHot/version", (), None, None)


@pytest.mark.parametrize("turned", [False, True])
def test_the_widest_of_two_matching_cases_decides(scratch, turned) -> None:
    """Conditions should be exclusive; on the fast path too, any accepting one counts."""
    spec = scratch(reduce=REDUCE.replace("- when: Function == SUM", '- when: "Function in (ARGMAX, SUM)"')).operator(
        "REDUCE_SOME"
    )
    resolved = spec.resolve("3.0")
    resolved = replace(resolved, cases=tuple(reversed(resolved.cases)) if turned else resolved.cases)

    def answers(sizes: list[int] | None, result: str) -> list[bool]:
        tensors = {"InputTensor": {"DataType": "FLOAT32", "Sizes": sizes}}
        tensors["OutputTensor"] = {"DataType": result, "Sizes": [1, 2, 3, 4]}
        descriptor = read_dict({"type": "REDUCE_SOME", "desc": {"Function": "ARGMAX", **tensors}}, "directml")
        return [failure.unknown for failure in explain_at(descriptor, resolved)]

    assert answers([1, 2, 3, 4], "UINT32") == answers([1, 2, 3, 4], "FLOAT32") == []
    for result in ("UINT32", "FLOAT32"):
        assert set(answers(None, result)) == {True}
    assert False in answers([1, 2, 3, 4], "INT64")


def test_no_case_names_the_conditions_of_all(scratch) -> None:
    scratch(reduce=REDUCE)
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4]}
    desc = {"Function": "L1", "InputTensor": tensor, "OutputTensor": tensor}
    (finding,) = specgate.check({"type": "REDUCE_SOME", "desc": desc}, "directml:6.4", "documented").findings
    assert finding.rule == "Function in (ARGMAX, ARGMIN) or Function == SUM"


@pytest.mark.parametrize("value", [None, 1.5, 7, -7, PRINTABLE - 1, "x" * 200])
def test_short_values_are_kept(value) -> None:
    assert bound_value(value) == value
    assert plain_value(value) == value


def test_long_values_are_described() -> None:
    assert bound_value(PRINTABLE) == plain_value(PRINTABLE) == "an integer of 133 bits"
    assert bound_value("x" * 201) == "'" + "x" * 198 + "…"
    assert plain_value("x" * 201) == "'" + "x" * 58 + "…"
    assert bound_value(["x"] * 300)[-1] == "…"
    assert len(bound_value(["x"] * 300)) == 200
    assert plain_value(UNKNOWN) is None
