"""to_json prints valid JSON that is read as the same descriptor."""

from __future__ import annotations

import ctypes
import json
import struct
from typing import TYPE_CHECKING, Any

import pytest

from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.native.unmarshal import describe_image
from specgate.dialects.directml.reader import read
from tests.export.cpp.native import place_model

if TYPE_CHECKING:
    from specgate.dialects.directml.native.marshal import Image
    from tests.export.cpp.native import Native


def tensor(kind: str = "FLOAT32", sizes: tuple[int, ...] = (1, 1, 2, 3), **more: Any) -> dict[str, Any]:
    return {"DataType": kind, "Sizes": list(sizes), **more}


def read_output(native: Native, name: str, desc: dict[str, Any]) -> dict[str, Any]:
    """Return to_json of a description, which must be read as the structures are."""
    new_image = image({"type": f"DML_OPERATOR_{name}", "desc": desc})
    document: dict[str, Any] = json.loads(native.json(place_model(new_image)))
    assert repr(read(document)) == repr(read(describe_image(new_image)))
    assert document["type"] == f"DML_OPERATOR_{name}"
    return document["desc"]  # type: ignore[no-any-return]


def test_words_flags_and_strides_are_reported(native: Native) -> None:
    filter_tensor = tensor(Flags=1, Strides=[6, 6, 3, 1], GuaranteedBaseOffsetAlignment=16)
    desc = {"InputTensor": filter_tensor, "OutputTensor": tensor(), "PaddingMode": "EDGE", "PaddingValue": 0.5}
    entries = read_output(
        native, "PADDING", {**desc, "DimensionCount": 4, "StartPadding": [0, 0, 1, 0], "EndPadding": [0] * 4}
    )
    assert entries["PaddingMode"] == "EDGE"
    assert entries["StartPadding"] == [0, 0, 1, 0]
    assert entries["InputTensor"]["Flags"] == "OWNED_BY_DML"
    assert entries["InputTensor"]["Strides"] == [6, 6, 3, 1]
    assert entries["InputTensor"]["TotalTensorSizeInBytes"] == 24


def test_omitted_fields_are_absent_and_fused_operators_present(native: Native) -> None:
    fused = {"type": "DML_OPERATOR_ACTIVATION_ELU", "desc": {"Alpha": 0.1}}
    a, b = tensor(sizes=(1, 1, 2, 3)), tensor(sizes=(1, 1, 3, 2))
    desc = {"ATensor": a, "BTensor": b, "OutputTensor": tensor(sizes=(1, 1, 2, 2)), "TransA": "NONE", "TransB": "NONE"}
    entries = read_output(native, "GEMM", {**desc, "Alpha": float("inf"), "Beta": -0.0, "FusedActivation": fused})
    assert "CTensor" not in entries
    assert entries["FusedActivation"]["type"] == "DML_OPERATOR_ACTIVATION_ELU"
    assert entries["FusedActivation"]["desc"] == {"Alpha": 0.10000000149011612}
    assert entries["Alpha"] == "inf"
    assert str(entries["Beta"]) == "-0.0"


@pytest.mark.parametrize(
    ("kind", "value"),
    [("FLOAT32", 0.1), ("FLOAT16", 1.5), ("FLOAT16", 6e-08), ("FLOAT64", 1e300), ("INT64", -(2**63)), ("UINT64", 2**64 - 1),
     ("INT8", -1), ("UINT8", 255), ("FLOAT32", "nan"), ("FLOAT16", "-inf")],
)  # fmt: skip
def test_a_scalar_is_read_by_its_type(native: Native, kind: str, value: float | str) -> None:
    read_output(native, "FILL_VALUE_CONSTANT", {"OutputTensor": tensor(kind), "ValueDataType": kind, "Value": value})


def test_pairs_and_arrays_of_tensors_are_reported(native: Native) -> None:
    entries = read_output(
        native, "JOIN", {"InputTensors": [tensor(), tensor()], "OutputTensor": tensor(sizes=(2, 1, 2, 3)), "Axis": 0}
    )
    assert len(entries["InputTensors"]) == entries["InputCount"] == 2
    clip = {
        "InputTensor": tensor(),
        "OutputTensor": tensor(),
        "ScaleBias": {"Scale": 2.0, "Bias": 1.0},
        "Min": -1.0,
        "Max": 1.0,
    }
    assert read_output(native, "ELEMENT_WISE_CLIP", clip)["ScaleBias"] == {"Scale": 2.0, "Bias": 1.0}
    upsample = {"InputTensor": tensor(), "OutputTensor": tensor(), "ScaleSize": {"Width": 2, "Height": 3}}
    entries = read_output(native, "UPSAMPLE_2D", {**upsample, "InterpolationMode": "LINEAR"})
    assert entries["ScaleSize"] == {"Width": 2, "Height": 3}


def break_all(result: Image, at: int, number: int) -> Image:
    """Return an image with another 32-bit number at an offset."""
    data = bytearray(result.data)
    struct.pack_into("<I", data, at, number)
    return result._replace(data=bytes(data))


def test_unreadable_memory_is_null_in_valid_json(native: Native) -> None:
    desc = {"InputTensors": [tensor(), tensor()], "OutputTensor": tensor(sizes=(2, 1, 2, 3)), "Axis": 0}
    new_image = image({"type": "DML_OPERATOR_JOIN", "desc": desc})
    base = struct.unpack_from("<Q", new_image.data, new_image.root + 8)[0]
    count = next(m.offset for m in abi().structure("JOIN").members if m.name == "InputCount")
    document = json.loads(native.json(place_model(break_all(new_image, base + count, 2**32 - 1))))
    assert document["desc"]["InputTensors"] is None
    assert document["desc"]["InputCount"] == 2**32 - 1
    assert json.loads(native.json(place_model(break_all(new_image, new_image.root, 60000)))) == {
        "type": 60000,
        "desc": {},
    }

    value = place_model(new_image)
    ctypes.memmove(value.root + 8, struct.pack("<Q", 0), 8)  # the description points to nothing
    assert json.loads(native.json(value)) == {"type": "DML_OPERATOR_JOIN", "desc": {}}


def test_invalid_tensors_are_reported_as_far_as_possible(native: Native) -> None:
    new_image = image({"type": "DML_OPERATOR_JOIN", "desc": {"InputTensors": [], "OutputTensor": tensor(), "Axis": 0}})
    base = struct.unpack_from("<Q", new_image.data, new_image.root + 8)[0]
    output = next(m.offset for m in abi().structure("JOIN").members if m.name == "OutputTensor")
    head = struct.unpack_from("<Q", new_image.data, base + output)[0]
    buffer = struct.unpack_from("<Q", new_image.data, head + 8)[0]
    forgotten = json.loads(native.json(place_model(break_all(new_image, head, 0))))["desc"]["OutputTensor"]
    assert forgotten["Type"] == "INVALID"
    assert forgotten["Sizes"] == [1, 1, 2, 3]
    strange = json.loads(native.json(place_model(break_all(new_image, head, 7))))["desc"]["OutputTensor"]
    assert strange == {"Type": 7, "Desc": None}
    long = json.loads(native.json(place_model(break_all(new_image, buffer + 8, 65))))["desc"]["OutputTensor"]
    assert long["Sizes"] is None
    assert (
        json.loads(native.json(place_model(break_all(new_image, buffer, 77))))["desc"]["OutputTensor"]["DataType"] == 77
    )
