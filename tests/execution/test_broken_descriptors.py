"""Rejected descriptors and wrong arrays make `execute` raise specgate errors only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate

f = np.float32


def node(name: str, inputs: list[Any], domain: str = "", **attributes: Any) -> dict[str, Any]:
    tensors = [each and {"elem_type": each[0], "shape": each[1]} for each in inputs]
    return {"op_type": name, "domain": domain, "inputs": tensors, "attributes": attributes}


UNKNOWN_RANKS = {
    "type": "DML_OPERATOR_CONVOLUTION_INTEGER",
    "desc": {
        "InputTensor": {"DataType": "UINT8", "Sizes": [1, 1, 2, 2]},
        "FilterTensor": {"DataType": "UINT8", "Sizes": [1, 1, 1, 1]},
        "OutputTensor": {"DataType": "INT32", "Sizes": [1, 1, 2, 2]},
        "DimensionCount": 2,
        "Strides": [1, 1],
        "Dilations": [1, 1],
        "StartPadding": [0, 0],
        "EndPadding": [0, 0],
        "GroupCount": 1,
    },
}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a-scalar-window": (
        node("STFT", [("FLOAT", [2, 32, 1]), ("INT64", []), ("FLOAT", [])]),
        {"signal": np.ones((2, 32, 1), f), "frame_step": np.array(4), "window": np.array(3, f)},
        "window",
    ),
    "a-ragged-list-of-texts": (
        node("LabelEncoder", [("STRING", [2])], "ai.onnx.ml", keys_strings=["a"], values_int64s=[1]),
        {"X": [["a"], ["b", "c"]]},
        "expected strings",
    ),
    "an-array-of-objects": (
        node("StringNormalizer", [("STRING", [1])]),
        {"X": np.array([{"a": 1}], object)},
        "expected strings",
    ),
    "bytes-that-are-no-text": (
        node("MurmurHash3", [("STRING", [1])], "com.microsoft"),
        {"X": np.array([b"\xff"], object)},
        "UTF-8",
    ),
    "a-text-without-bytes": (
        node("MurmurHash3", [("STRING", [1])], "com.microsoft"),
        {"X": np.array(["\ud800"], object)},
        "UTF-8",
    ),
    "a-negative-number-of-bits": (
        node("GatherBlockQuantized", [("UINT8", [5, 20]), ("INT64", [2]), ("FLOAT", [5, 2])], "com.microsoft", bits=-5),
        {"data": np.ones((5, 20), np.uint8), "indices": np.array([0, 1]), "scales": np.ones((5, 2), f)},
        "bits",
    ),
    "a-block-larger-than-any-array": (
        node("SpaceToDepth", [("FLOAT", [0, 0, 0, 0])], blocksize=2**31 - 1),
        {"input": np.ones((0, 0, 0, 0), f)},
        "larger than any array",
    ),
    "sizes-larger-than-any-array": (
        node("Reshape", [("FLOAT", [0, 3]), ("INT64", [3])], allowzero=1),
        {"data": np.ones((0, 3), f), "shape": np.array([2**62, 0, 2**62])},
        "larger than any array",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_broken_descriptor_is_rejected_with_a_message(name: str) -> None:
    document, arrays, message = REFUSED[name]
    with pytest.raises(specgate.InputError, match=message):
        specgate.execute(document, arrays, target="onnx:22")


def test_bytes_are_accepted_as_strings() -> None:
    document = node("MurmurHash3", [("STRING", [1])], "com.microsoft")
    items = [specgate.execute(document, {"X": np.array([text], object)})["Y"] for text in ("\u00e9", b"\xc3\xa9")]
    assert items[0] == items[1]


def test_array_rank_is_checked_if_the_descriptor_has_none() -> None:
    descriptor = specgate.descriptor(UNKNOWN_RANKS, dialect="directml")
    unknown = specgate.descriptor(
        UNKNOWN_RANKS | {"desc": UNKNOWN_RANKS["desc"] | {"InputTensor": {"DataType": "UINT8", "Sizes": None}}},  # type: ignore[operator]
        dialect="directml",
    )
    arrays = {"InputTensor": np.ones((1, 1, 2, 2), np.uint8), "FilterTensor": np.ones((1, 1, 1, 1), np.uint8)}
    outputs = [specgate.execute(each, arrays)["OutputTensor"].tolist() for each in (descriptor, unknown, unknown)]
    assert outputs[0] == outputs[1] == outputs[2]
    with pytest.raises(specgate.InputError, match="has 0 dimensions, which no version"):
        specgate.execute(unknown, arrays | {"InputTensor": np.array(1, np.uint8)})
