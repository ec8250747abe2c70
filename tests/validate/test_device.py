"""A capability is a note while the device is unknown, a finding if it lacks it."""

from __future__ import annotations

import pytest

import specgate
from specgate.cli import main
from specgate.errors import InputError
from specgate.validate.device import capabilities, device_of, required_capabilities


def identity(kind: str) -> dict[str, object]:
    tensor = {"DataType": kind, "Sizes": [1, 1, 2, 3]}
    return {"type": "ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": tensor, "OutputTensor": tensor}}


def find_ids(kind: str, level: str, device: str) -> list[str]:
    verdict = specgate.check(identity(kind), f"directml:{level}", device=device)
    assert verdict.accepted is not bool(verdict.findings)
    assert {f.id for f in verdict.findings} <= {"directml/tensor/device-capability"}
    return [finding.where for finding in verdict.findings]


BOTH = ["InputTensor.DataType", "OutputTensor.DataType"]


@pytest.mark.parametrize(
    ("kind", "level", "device", "expected"),
    [
        ("FLOAT32", "6.4", "none", []),
        ("FLOAT16", "6.4", "none", BOTH),
        ("FLOAT16", "6.4", "Native16BitShaderOps", []),
        ("FLOAT16", "2.1", "TypedUAVLoadAdditionalFormats", []),
        ("FLOAT64", "5.0", "Native16BitShaderOps,TypedUAVLoadAdditionalFormats", BOTH),
        ("FLOAT64", "5.0", "DoublePrecisionFloatShaderOps", []),
        ("INT8", "6.1", "Native16BitShaderOps", BOTH),
        ("INT8", "6.1", "TypedUAVLoadAdditionalFormats", []),
        ("INT8", "6.2", "none", []),
        ("INT64", "4.1", "none", []),
        ("INT64", "6.4", "all", []),
    ],
)
def test_capabilities_required_by_types(kind, level, device, expected):
    assert find_ids(kind, level, device) == expected


def test_indices_of_64_bits_before_4_1():
    descriptor = {
        "type": "GATHER",
        "desc": {
            "InputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 4]},
            "IndicesTensor": {"DataType": "INT64", "Sizes": [1, 1, 1, 3]},
            "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]},
            "Axis": 3,
            "IndexDimensions": 1,
        },
    }
    refused = specgate.check(descriptor, "directml:3.0", device="none")
    assert [f.where for f in refused.findings] == ["IndicesTensor.DataType"]
    assert refused.findings[0].first_level == "4.0"
    assert specgate.check(descriptor, "directml:3.0", device="Int64ShaderOps").accepted


def test_the_finding_names_the_capability_and_exempt_levels():
    finding = specgate.check(identity("UINT8"), "directml:5.0", device="none").findings[0]
    assert finding.message == (
        "InputTensor is UINT8, which requires a device with TypedUAVLoadAdditionalFormats; this device lacks it; "
        "not required at 6.2..6.4"
    )
    assert finding.levels == ("6.2", "6.3", "6.4")
    assert finding.values == {"InputTensor.DataType": "UINT8", "device": []}


def test_an_unknown_device_is_a_note():
    verdict = specgate.check(identity("UINT8"), "directml:5.0")
    assert verdict.accepted
    assert verdict.notes[0] == "InputTensor is UINT8, which requires a device with TypedUAVLoadAdditionalFormats"
    assert specgate.check(identity("UINT8"), "directml:6.4").notes == ()


def test_tensors_in_an_array_count_too():
    half = {"DataType": "FLOAT16", "Sizes": [1, 1, 1, 2]}
    join = {"InputTensors": [half, half], "InputCount": 2, "Axis": 3, "OutputTensor": {**half, "Sizes": [1, 1, 1, 4]}}
    verdict = specgate.check({"type": "JOIN", "desc": join}, "directml:6.4", device="none")
    assert [f.where for f in verdict.findings] == [
        "InputTensors[0].DataType", "InputTensors[1].DataType", "OutputTensor.DataType",
    ]  # fmt: skip


def test_a_rejected_descriptor_also_gets_the_finding():
    data = identity("FLOAT16")
    data["desc"] = {**data["desc"], "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}}  # type: ignore[dict-item]
    ids = [f.id for f in specgate.check(data, "directml:6.4", device="none").findings]
    assert ids == ["directml/ELEMENT_WISE_IDENTITY/same-type", "directml/tensor/device-capability"]


def test_names_of_devices():
    assert capabilities("directml") == [
        "DoublePrecisionFloatShaderOps", "Int64ShaderOps", "Native16BitShaderOps", "TypedUAVLoadAdditionalFormats",
    ]  # fmt: skip
    assert device_of("all") == frozenset(capabilities("directml"))
    assert device_of("none") == frozenset()
    assert device_of(["Int64ShaderOps", " Native16BitShaderOps "]) == frozenset(
        {"Int64ShaderOps", "Native16BitShaderOps"}
    )
    with pytest.raises(InputError, match=r"expected a device as Double.*, all or none, found 'WaveOps'"):
        device_of("WaveOps,all")
    with pytest.raises(InputError, match="expected a device"):
        device_of("")


def test_other_dialects_require_no_device_capabilities():
    assert required_capabilities("onnx", "17") == {}


def test_the_command_line_accepts_a_device(capsys):
    text = '{"type": "CAST", "desc": {"InputTensor": {"DataType": "FLOAT64", "Sizes": [1]}, "OutputTensor": '
    text += '{"DataType": "FLOAT32", "Sizes": [1]}}}'
    assert main(["check", text, "--target", "directml:5.0"]) == 0
    assert main(["check", text, "--target", "directml:5.0", "--device", "all"]) == 0
    assert main(["check", text, "--target", "directml:5.0", "--device", "none"]) == 1
    assert "directml/tensor/device-capability" in capsys.readouterr().out
    assert main(["check", text, "--device", "fast"]) == 2
    assert "expected a device as" in capsys.readouterr().err
