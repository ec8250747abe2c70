"""DirectML 6.4's undocumented values, which entries of the tables compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate
from specgate.errors import InputError

NAN, INF = np.nan, np.inf


def tensor(*sizes: int, of: str = "FLOAT32") -> dict[str, Any]:
    return {"DataType": of, "Sizes": list(sizes)}


def compute(operator: str, arrays: dict[str, Any], outputs: dict[str, Any], attributes: dict[str, Any], basis: Any):
    desc = {**{name: tensor(*array.shape, of=array.dtype.name.upper()) for name, array in arrays.items()}, **outputs}
    descriptor = {"type": f"DML_OPERATOR_{operator}", "desc": {**desc, **attributes}}
    result = specgate.execute(descriptor, arrays, "directml:6.4", basis=basis)
    return [result[name].ravel().tolist() for name in outputs]


def row(*numbers: float, of: Any = np.float32, rank: int = 4) -> np.ndarray:
    return np.array(numbers, of).reshape((1,) * (rank - 1) + (-1,))


RELU = {"FusedActivation": {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}}
ATAN2 = {"ATensor": row(NAN, NAN, 2, NAN, 1), "BTensor": row(2, -2, NAN, NAN, -INF)}
LOW = 2**31
PAIR = {"ATensor": row(1, LOW, LOW, of=np.int64), "BTensor": row(LOW, 1, 2**32, of=np.int64)}
POINT = {"CrossChannel": False, "LocalSize": 3, "Alpha": 1.0, "Beta": 1.0, "Bias": 1.0}
CLIP = {"ClipThreshold": 1.0, "UseClipThreshold": True, "CoupleInputForget": False}


def steps(*activations: str, direction: str) -> dict[str, Any]:
    """Return the attributes of a recurrent layer."""
    records = [{"type": f"DML_OPERATOR_ACTIVATION_{name}", "desc": {}} for name in activations]
    return {"ActivationDescCount": len(records), "ActivationDescs": records, "Direction": direction}


#: Backward layers over two steps, with sequences of two steps and of one.
SHORT: list[Any] = [
    ("RNN", 1, ["TANH"], {}, [1, NAN, 0.7616, 0], [1, -1, 0.7616, 0]),
    ("GRU", 3, ["SIGMOID", "TANH"], {"LinearBeforeReset": False}, *[[0.2048, NAN, 0.2048, 0]] * 2),
    ("LSTM", 4, ["SIGMOID", "TANH", "TANH"], CLIP, *[[0.5453, 0.1477, 0.3696, 0]] * 2),
]
CASES: list[Any] = [
    (
        "ELEMENT_WISE_ADD1",
        {"ATensor": row(NAN, -INF, 2), "BTensor": row(0, 0, 0)},
        {"OutputTensor": tensor(1, 1, 1, 3)},
        RELU,
        [[0, 0, 2]],
        [[NAN, NAN, 2]],
    ),
    (
        "GEMM",
        {"ATensor": row(NAN, -INF, 2).reshape(1, 1, 3, 1), "BTensor": row(1)},
        {"OutputTensor": tensor(1, 1, 3, 1)},
        {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.0, **RELU},
        [[0, 0, 2]],
        [[NAN, NAN, 2]],
    ),
    (
        "GEMM",
        {"ATensor": row(NAN, -INF, 2).reshape(1, 1, 3, 1), "BTensor": row(1)},
        {"OutputTensor": tensor(1, 1, 3, 1)},
        {"TransA": "NONE", "TransB": "NONE", "Alpha": 2.0, "Beta": 0.0, **RELU},
        [[0, 0, 4]],
        [[0, 0, 4]],
    ),
    (
        "GEMM",
        {"ATensor": row(NAN, 2).reshape(2, 1, 1, 1), "BTensor": row(1, 1).reshape(2, 1, 1, 1)},
        {"OutputTensor": tensor(2, 1, 1, 1)},
        {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.0, **RELU},
        [[0, 2]],
        [[0, 2]],
    ),
    (
        "ELEMENT_WISE_ATAN",
        {"InputTensor": row(NAN, 0)},
        {"OutputTensor": tensor(1, 1, 1, 2)},
        {},
        [[NAN, 0]],
        [[0.7854, 0]],
    ),
    (
        "ELEMENT_WISE_ATAN_YX",
        ATAN2,
        {"OutputTensor": tensor(1, 1, 1, 5)},
        {},
        [[NAN, NAN, NAN, NAN, 3.1416]],
        [[0.7854, -2.3562, 0.7854, NAN, 3.1416]],
    ),
    (
        "ELEMENT_WISE_MAX",
        PAIR,
        {"OutputTensor": tensor(1, 1, 1, 3, of="INT64")},
        {},
        [[LOW, LOW, 2**32]],
        [[1, 1, 2**32]],
    ),
    (
        "ELEMENT_WISE_LOGICAL_LESS_THAN",
        PAIR,
        {"OutputTensor": tensor(1, 1, 1, 3, of="UINT8")},
        {},
        [[1, 0, 1]],
        [[0, 1, 1]],
    ),
    *(
        (
            "REDUCE",
            {"InputTensor": row(1, LOW, 2, of=np.int64)},
            {"OutputTensor": tensor(1, 1, 1, 1, of=kind)},
            {"Function": function, "AxisCount": 1, "Axes": [3]},
            [[page]],
            [[builds]],
        )
        for function, kind, page, builds in (("MAX", "INT64", LOW, 2), ("ARGMAX", "UINT32", 1, 2))
    ),
    (
        "TOP_K",
        {"InputTensor": row(1, LOW, 2, of=np.int64)},
        {"OutputValueTensor": tensor(1, 1, 1, 2, of="INT64"), "OutputIndexTensor": tensor(1, 1, 1, 2, of="UINT32")},
        {"Axis": 3, "K": 2},
        [[LOW, 2], [1, 2]],
        [[2, 1], [2, 0]],
    ),
    (
        "MAX_POOLING",
        {"InputTensor": row(1, LOW, of=np.int64)},
        {"OutputTensor": tensor(1, 1, 1, 1, of="INT64")},
        {
            "DimensionCount": 2,
            "Strides": [1, 1],
            "WindowSize": [1, 2],
            "StartPadding": [0, 0],
            "EndPadding": [0, 0],
        },
        [[LOW]],
        [[1]],
    ),
    (
        "LOCAL_RESPONSE_NORMALIZATION",
        {"InputTensor": row(INF, 1)},
        {"OutputTensor": tensor(1, 1, 1, 2)},
        {**POINT, "LocalSize": 1, "Beta": 0.0},
        [[INF, 1]],
        [[NAN, 1]],
    ),
    (
        "ELEMENT_WISE_ATAN_YX",
        {"ATensor": row(1.4e-45, -1e-40, NAN, 1.1e-38), "BTensor": row(NAN, NAN, -1.4e-45, NAN)},
        {"OutputTensor": tensor(1, 1, 1, 4)},
        {},
        [[NAN, NAN, NAN, NAN]],
        [[INF, INF, INF, 0.7854096]],
    ),
    (
        "ELEMENT_WISE_POW",
        {"InputTensor": row(65504, 65505, -65536, 300), "ExponentTensor": row(1, 1, 1, 2, of=np.int8)},
        {"OutputTensor": tensor(1, 1, 1, 4)},
        {},
        [[65504, 65505, -65536, 90000]],
        [[65504, INF, -INF, INF]],
    ),
    (
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        {"InputTensor": row(0.5, 1, 2, 1), "InputGradientTensor": row(INF, 1, 1, 1)},
        {"OutputGradientTensor": tensor(1, 1, 1, 4)},
        POINT,
        [[NAN, -INF, -0.3268, 0.1331]],
        [[INF, -INF, -0.3268, 0.1331]],
    ),
    (
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        {"InputTensor": row(1, 2), "InputGradientTensor": row(1, 0.5)},
        {"OutputGradientTensor": tensor(1, 1, 1, 2)},
        {"CrossChannel": False, "LocalSize": 1, "Alpha": 0.0001, "Beta": 2.0, "Bias": -1.0},
        [[1.0006, 0.5012013]],
        [[1.0006, 0.5012013]],
    ),
    (
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        {"InputTensor": row(1, 2), "InputGradientTensor": row(1, 0.5)},
        {"OutputGradientTensor": tensor(1, 1, 1, 2)},
        {"CrossChannel": False, "LocalSize": 1, "Alpha": 0.0001, "Beta": 1.0, "Bias": -1.0},
        [[-1.0003, -0.5006004]],
        [[-1.0003, -0.5006004]],
    ),
    (
        "LOCAL_RESPONSE_NORMALIZATION_GRAD",
        {"InputTensor": row(1, 2), "InputGradientTensor": row(1, 0.5)},
        {"OutputGradientTensor": tensor(1, 1, 1, 2)},
        {"CrossChannel": False, "LocalSize": 1, "Alpha": 0.0001, "Beta": 0.5, "Bias": -1.0},
        [[NAN, NAN]],
        [[NAN, NAN]],
    ),
    (
        "FOLD",
        {"InputTensor": row(1, 2, 3, rank=3)},
        {"OutputTensor": tensor(1, 1, 3)},
        {
            "DimensionCount": 1,
            "WindowSizes": [1],
            "Strides": [1],
            "Dilations": [0],
            "StartPadding": [0],
            "EndPadding": [0],
        },
        [[1, 2, 3]],
        [[0, 0, 0]],
    ),
    (
        "RESAMPLE3",
        {"InputTensor": row(1, 0, 0, 0, 0, 0, 0, 0, 0, rank=2)},
        {"OutputTensor": tensor(1, 3)},
        {
            "InterpolationMode": "LINEAR",
            "RoundingDirection": "DECREASING",
            "DimensionCount": 2,
            "Scales": [1.0, 0.3],
            "InputPixelOffsets": [0.5, 0.5],
            "OutputPixelOffsets": [-0.5, -0.5],
            "Antialiased": True,
        },
        [[0.2203, 0, 0]],
        [[0.3906, 0, 0]],
    ),
    (
        "REVERSE_SUBSEQUENCES",
        {"InputTensor": row(1, 2, 3), "SequenceLengthsTensor": row(5, of=np.uint32)},
        {"OutputTensor": tensor(1, 1, 1, 3)},
        {"Axis": 3},
        [[3, 2, 1]],
        [[3, 3, 3]],
    ),
    (
        "ELEMENT_WISE_CLIP",
        {"InputTensor": row(-(2**32) + 1, LOW, of=np.int64)},
        {"OutputTensor": tensor(1, 1, 1, 2, of="INT64")},
        {"Min": -1.0, "Max": 1.0},
        [[-1, 1]],
        [[-(2**32) + 1, LOW]],
    ),
    (
        "ELEMENT_WISE_CLIP",
        {"InputTensor": row(-5, 7, of=np.int32)},
        {"OutputTensor": tensor(1, 1, 1, 2, of="INT32")},
        {"Min": NAN, "Max": 1.0},
        [[0, 1]],
        [[-5, 1]],
    ),
    (
        "MEAN_VARIANCE_NORMALIZATION1",
        {"InputTensor": row(-2, -0.25, 3), "BiasTensor": row(1)},
        {"OutputTensor": tensor(1, 1, 1, 3)},
        {"AxisCount": 1, "Axes": [1], "NormalizeVariance": True, "Epsilon": 0.5},
        [[1, 1, 1]],
        [[NAN, 1, 1]],
    ),
    (
        "MAX_UNPOOLING",
        {"InputTensor": row(5, of=np.float32), "IndicesTensor": row(2**32 + 1, of=np.uint64)},
        {"OutputTensor": tensor(1, 1, 1, 2)},
        {},
        [[0, 0]],
        [[0, 5]],
    ),
    *(
        (
            "LSTM",
            {
                "InputTensor": row(1, of=np.float16),
                "WeightTensor": row(1, 1, 1, weight, of=np.float16).reshape(1, 1, 4, 1),
                "RecurrenceTensor": row(first, 1, 1, 1, of=np.float16).reshape(1, 1, 4, 1),
            },
            {"OutputSingleTensor": tensor(1, 1, 1, 1, of="FLOAT16")},
            {**steps("SIGMOID", "TANH", "TANH", direction="FORWARD"), **CLIP, "UseClipThreshold": False},
            [[page]],
            [[builds]],
        )
        for weight, first, page, builds in ((NAN, 1, NAN, -0.4560), (1, INF, 0.3696, 0.3696))
    ),
    *(
        (
            operator,
            {
                "InputTensor": row(1, 1, 1, 1).reshape(1, 2, 2, 1),
                "WeightTensor": np.ones((1, 1, gates, 1), np.float32),
                "RecurrenceTensor": row(INF, *[1] * (gates - 1)).reshape(1, 1, gates, 1),
                "SequenceLengthsTensor": row(2, 1, of=np.uint32),
            },
            {"OutputSequenceTensor": tensor(2, 1, 2, 1)},
            {**steps(*activations, direction="BACKWARD"), **attributes},
            [page],
            [builds],
        )
        for operator, gates, activations, attributes, page, builds in SHORT
    ),
    *(
        (
            "BATCH_NORMALIZATION",
            {
                "InputTensor": np.full((2, 1, 1, 1), 2, np.float32),
                **{f"{name}Tensor": row(value) for name, value in (("Mean", 1), ("Variance", 1), ("Scale", -INF))},
                "BiasTensor": bias,
            },
            {"OutputTensor": tensor(2, 1, 1, 1)},
            {"Spatial": True, "Epsilon": 1e-5},
            [[-INF, -INF]],
            [[builds, builds]],
        )
        for bias, builds in ((row(1), NAN), (np.ones((2, 1, 1, 1), np.float32), -INF))
    ),
    (
        "RESAMPLE1",
        {"InputTensor": np.array([[2, 6, 3]], np.float32)},
        {"OutputTensor": tensor(1, 3)},
        {
            "InterpolationMode": "LINEAR",
            "DimensionCount": 2,
            "Scales": [1.0, 0.6],
            "InputPixelOffsets": [0.0, -1.0],
            "OutputPixelOffsets": [0.0, 0.0],
        },
        [[6, 3, 3]],
        [[6, 1, 3]],
    ),
    (
        "RESAMPLE1",
        {"InputTensor": np.array([[1, INF, 3]], np.float32)},
        {"OutputTensor": tensor(1, 3)},
        {
            "InterpolationMode": "LINEAR",
            "DimensionCount": 2,
            "Scales": [1.0, 1.0],
            "InputPixelOffsets": [0.0, 0.0],
            "OutputPixelOffsets": [0.0, 0.0],
        },
        [[NAN, NAN, 3]],
        [[1, NAN, 3]],
    ),
    (
        "RESAMPLE1",
        {"InputTensor": np.array([[0, 0, 0, 3, 0]], np.int8)},
        {"OutputTensor": tensor(1, 8, of="INT8")},
        {
            "InterpolationMode": "LINEAR",
            "DimensionCount": 2,
            "Scales": [1.0, 1.5],
            "InputPixelOffsets": [0.0, 0.0],
            "OutputPixelOffsets": [0.0, 0.0],
        },
        [[0, 0, 0, 0, 2, 2, 0, 0]],
        [[0, 0, 0, 0, 2, 1, 0, 0]],
    ),
]
#: Accepted by builds only: sizes that differ from the documented formula, and strides of 0.
WINDOWS: dict[str, Any] = {"DimensionCount": 2, "Strides": [1, 1], "WindowSize": [1, 2]}
WINDOWS |= {"StartPadding": [0, 0], "EndPadding": [0, 0]}
FILTERS: dict[str, Any] = {"DimensionCount": 2, "Strides": [1, 1], "Dilations": [1, 1], "GroupCount": 1}
FILTERS |= {"StartPadding": [0, 0], "EndPadding": [0, 0]}
SIZES: list[Any] = [
    (
        "AVERAGE_POOLING",
        {"InputTensor": row(1, 2, 4)},
        {"OutputTensor": tensor(1, 1, 1, 3)},
        {**WINDOWS, "IncludePadding": True},
        [[1.5, 3, 2]],
    ),
    (
        "MAX_POOLING1",
        {"InputTensor": row(1, 2, 4)},
        {"OutputTensor": tensor(1, 1, 1, 2), "OutputIndicesTensor": tensor(1, 1, 1, 2, of="UINT32")},
        {**WINDOWS, "Strides": [1, 0]},
        [[2, 2], [1, 1]],
    ),
    (
        "LP_POOLING",
        {"InputTensor": row(3, 4, 0)},
        {"OutputTensor": tensor(1, 1, 1, 1)},
        {**WINDOWS, "P": 2},
        [[5]],
    ),
    (
        "AVERAGE_POOLING_GRAD",
        {"InputGradientTensor": row(1, 2, 4)},
        {"OutputGradientTensor": tensor(1, 1, 1, 3)},
        {**WINDOWS, "IncludePadding": True},
        [[0.5, 1.5, 5]],
    ),
    (
        "MAX_POOLING_GRAD",
        {"InputTensor": row(1, 2), "InputGradientTensor": row(3)},
        {"OutputGradientTensor": tensor(1, 1, 1, 2)},
        {**WINDOWS, "WindowSize": [1, 4], "Dilations": [1, 1]},
        [[0, 3]],
    ),
    (
        "CONVOLUTION",
        {"InputTensor": row(1, 2, 4), "FilterTensor": row(1, 10)},
        {"OutputTensor": tensor(1, 1, 1, 3)},
        {**FILTERS, "Mode": "CROSS_CORRELATION", "Direction": "FORWARD", "OutputPadding": [0, 0]},
        [[21, 42, 4]],
    ),
    (
        "CONVOLUTION_INTEGER",
        {"InputTensor": row(1, 2, 4, of=np.uint8), "FilterTensor": row(1, 10, of=np.uint8)},
        {"OutputTensor": tensor(1, 1, 1, 1, of="INT32")},
        FILTERS,
        [[21]],
    ),
]


@pytest.mark.parametrize(
    ("operator", "arrays", "outputs", "attributes", "page", "builds"), CASES, ids=[each[0] for each in CASES]
)
def test_values_depend_on_the_basis(operator, arrays, outputs, attributes, page, builds):
    for basis, expected in (("documented", page), ("observed", builds)):
        result = compute(operator, arrays, outputs, attributes, basis)
        for mine, theirs in zip(result, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-4)


@pytest.mark.parametrize(("operator", "arrays", "outputs", "attributes", "builds"), SIZES, ids=[s[0] for s in SIZES])
def test_output_sizes_decide_where_builds_accept_any(operator, arrays, outputs, attributes, builds):
    assert compute(operator, arrays, outputs, attributes, "observed") == builds
    with pytest.raises(InputError):
        compute(operator, arrays, outputs, attributes, "documented")
