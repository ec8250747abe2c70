"""Cases on both sides of each rule's limit, independent of specs/.

Worked out by hand from the vendors' pages. Each case: an example of the table (only its plain dict), a change, the
level, and the expected ids: none if the documentation allows it.
"""

from __future__ import annotations

from typing import Any, Final

DML, ONNX, OV = ("directml", "ONE_HOT"), ("onnx", "OneHot"), ("openvino", "OneHot")
OUT: Final = "desc.OutputTensor"
Case = tuple[tuple[str, str], str, dict[str, Any], str, set[str]]


def _directml(changes: dict[str, Any], *ids: str, at: str = "6.4") -> Case:
    return (DML, "example-1", {f"desc.{k}": v for k, v in changes.items()}, at, {f"directml/{i}" for i in ids})


def _sizes(indices: list[int], values: list[int], output: list[int], axis: int) -> dict[str, Any]:
    return {"IndicesTensor.Sizes": indices, "ValuesTensor.Sizes": values, "OutputTensor.Sizes": output, "Axis": axis}


def _onnx(changes: dict[str, Any], *ids: str, at: str = "28", of: str = "example-own-off-on") -> Case:
    return (ONNX, of, changes, at, {f"onnx/OneHot/{i}" for i in ids})


def _openvino(changes: dict[str, Any], *ids: str, at: str = "opset17") -> Case:
    return (OV, "one-hot-1-example-1", changes, at, {f"openvino/OneHot/{i}" for i in ids})


NO_OUTPUT: Final[dict[str, Any]] = {"outputs": []}
DEPTH: Final[dict[str, Any]] = {"elem_type": "INT64", "shape": []}

BOUNDARIES: Final[list[Case]] = [
    # 1 to 8 dimensions from 3.0 on; the dimension limit rejects before the row
    _directml(_sizes([1], [2], [4], 0), at="3.0"),
    _directml(_sizes([1] * 8, [1] * 7 + [2], [1] * 7 + [4], 7), at="3.0"),
    _directml(_sizes([], [], [], 0), "tensor/dimension-count", "ONE_HOT/axis-range", "ONE_HOT/two-values"),
    _directml(_sizes([1] * 9, [1] * 8 + [2], [1] * 8 + [4], 8), "tensor/dimension-count"),
    # at most 2**32 - 1 elements, logical and physical
    _directml({"OutputTensor.Sizes": [1, 1, 3, 1431655765], "Axis": 3}),
    _directml({**_sizes([1, 1, 4, 1], [1, 1, 1, 2], [1, 1, 4, 2**30], 3)}, "tensor/element-count"),
    _directml({"OutputTensor.Strides": [1, 1, 2147483645, 1]}, at="6.4"),
    _directml({**_sizes([1, 1, 2, 1], [1, 1, 1, 2], [1, 1, 2, 4], 3), "OutputTensor.Strides": [8, 8, 2**32 - 5, 1]}),
    _directml(
        {**_sizes([1, 1, 2, 1], [1, 1, 1, 2], [1, 1, 2, 4], 3), "OutputTensor.Strides": [8, 8, 2**32 - 4, 1]},
        "tensor/physical-element-count",
    ),
    # strides, total size, alignment, flags
    _directml({"OutputTensor.Strides": [12, 12, 4, 1, 1]}, "tensor/stride-count"),
    _directml({"OutputTensor.TotalTensorSizeInBytes": 48}),
    _directml({"OutputTensor.TotalTensorSizeInBytes": 44}, "tensor/total-size"),
    *[_directml({"OutputTensor.GuaranteedBaseOffsetAlignment": n}) for n in (0, 4, 16, 4096)],
    *[_directml({"OutputTensor.GuaranteedBaseOffsetAlignment": n}, "tensor/alignment") for n in (1, 2, 12, 48)],
    *[_directml({"OutputTensor.Flags": n}) for n in (0, 1)],
    *[_directml({"OutputTensor.Flags": n}, "tensor/flags") for n in (2, 3)],
    # the operator's own constraints
    _directml({"IndicesTensor.Sizes": [1, 3, 1]}, "ONE_HOT/same-rank", "ONE_HOT/axis-range"),
    _directml({"IndicesTensor.Sizes": [1, 1, 1, 3, 1]}, "ONE_HOT/same-rank", "ONE_HOT/axis-size-one"),
    _directml({"ValuesTensor.Sizes": [1, 1, 1, 1, 2]}, "ONE_HOT/values-rank"),
    _directml({"ValuesTensor.Sizes": [2]}, "ONE_HOT/values-rank"),
    _directml({"IndicesTensor.Sizes": [1, 1, 5, 1]}, "ONE_HOT/same-sizes"),
    _directml({"IndicesTensor.Sizes": [1, 1, 3, 2]}, "ONE_HOT/axis-size-one"),
    _directml({"OutputTensor.Sizes": [1, 1, 3, 1]}),
    _directml({"ValuesTensor.Sizes": [2, 1, 1, 1]}),
    # ONNX: the new axis by version
    *[_onnx({"attributes.axis": n, **NO_OUTPUT}, at=at) for n in (-1, 0, 1) for at in ("9", "10")],
    *[_onnx({"attributes.axis": n, **NO_OUTPUT}, "axis-range", at=at) for n in (-2, 2) for at in ("9", "10")],
    *[_onnx({"attributes.axis": n, **NO_OUTPUT}, at=at) for n in (-2, -1, 0, 1) for at in ("11", "12", "28")],
    *[_onnx({"attributes.axis": n, **NO_OUTPUT}, "axis-range", at=at) for n in (-3, 2) for at in ("11", "12", "28")],
    # depth: a scalar or one element, not negative, equal to the output's new dimension
    _onnx({"inputs.1.shape": [1]}),
    _onnx({"inputs.1": {**DEPTH, "shape": [1, 1]}}, "depth-one-element"),
    _onnx({"inputs.1": {**DEPTH, "shape": [0]}}, "depth-one-element"),
    _onnx({"inputs.1.value": 0, "outputs.0.shape": [3, 0]}),
    _onnx({"inputs.1.value": -1, **NO_OUTPUT}, "depth-not-negative"),
    _onnx({"outputs.0.shape": [3, 3]}, "output-depth"),
    # values: exactly two, of rank 1; the output one rank higher, with the other sizes
    _onnx({"inputs.2.shape": []}, "values-rank"),
    _onnx({"inputs.2.shape": [1]}, "two-values"),
    _onnx({"outputs.0.shape": [3]}, "output-rank"),
    _onnx({"outputs.0.shape": [4, 4]}, "output-sizes"),
    _onnx({"outputs.0.shape": [2, 4]}, "output-sizes"),
    # OpenVINO
    *[_openvino({"data.axis": n, **NO_OUTPUT}) for n in (-2, -1, 0, 1)],
    *[_openvino({"data.axis": n, **NO_OUTPUT}, "axis-range") for n in (-3, 2)],
    _openvino({"inputs.1.value": 1, "outputs.0.shape": [4, 1]}),
    _openvino({"outputs.0.shape": [4]}, "output-rank"),
    _openvino({"outputs.0.shape": [3, 3]}, "output-sizes"),
    _openvino({"outputs.0.shape": [5, 3]}, "output-sizes"),
    _openvino({"outputs.0.shape": [4, 2]}, "output-depth"),
]
