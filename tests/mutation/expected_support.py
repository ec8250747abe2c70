"""The support tables, typed again from the vendors' pages, independent of specs/.

Sources: MicrosoftDocs/sdk-api, ns-directml-dml_one_hot_operator_desc.md at f88051d5c21ab188c03603f2a873ab6993fb9860;
openvinotoolkit/openvino, one-hot-1.rst and one-hot-16.rst. ONNX needs none, because `onnx.defs` is read directly.
"""

from __future__ import annotations

from typing import Final

#: (dialect, operator) -> row -> field -> (lowest rank, highest rank, types); None: undocumented.
Ranks = tuple[int, int] | None
EXPECTED: Final[dict[tuple[str, str], dict[str, dict[str, tuple[Ranks, str | None]]]]] = {
    ("directml", "ONE_HOT"): {
        "2.0": {
            "IndicesTensor": ((4, 4), "UINT32"),
            "ValuesTensor": ((4, 4), "FLOAT32 FLOAT16"),
            "OutputTensor": ((4, 4), "FLOAT32 FLOAT16"),
        },
        "2.1": {
            "IndicesTensor": ((4, 4), "UINT32"),
            "ValuesTensor": ((4, 4), "FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"),
            "OutputTensor": ((4, 4), "FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"),
        },
        "3.0": {
            "IndicesTensor": ((1, 8), "INT64 INT32 UINT64 UINT32"),
            "ValuesTensor": ((1, 8), "FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"),
            "OutputTensor": ((1, 8), "FLOAT32 FLOAT16 INT32 INT16 INT8 UINT32 UINT16 UINT8"),
        },
        "4.1": {
            "IndicesTensor": ((1, 8), "INT64 INT32 UINT64 UINT32"),
            "ValuesTensor": ((1, 8), "FLOAT64 FLOAT32 FLOAT16 INT64 INT32 INT16 INT8 UINT64 UINT32 UINT16 UINT8"),
            "OutputTensor": ((1, 8), "FLOAT64 FLOAT32 FLOAT16 INT64 INT32 INT16 INT8 UINT64 UINT32 UINT16 UINT8"),
        },
    },
    ("openvino", "OneHot"): {
        version: {
            "indices": (None, "i32 i64"),
            "depth": ((0, 0), "i32 i64"),
            "on_value": ((0, 0), None),
            "off_value": ((0, 0), None),
            "output": (None, None),
        }
        for version in ("opset1", "opset16")
    },
}
