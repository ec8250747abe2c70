"""Checks and sizes that a kernel computes itself, measured with 1.24.4.

These are sizes of outputs, windows and broadcasting.
"""

from __future__ import annotations

from typing import Any

import pytest

from specgate.runtimes.onnxruntime.lower import NotLowered
from tests.runtimes.onnxruntime.lowering.nodes import lowered

F: Any = "FLOAT"
IMAGE: Any = (F, [1, 4, 7, 9])


def rule(*arguments: Any, **attributes: Any) -> str:
    result = lowered(*arguments, **attributes)
    assert isinstance(result, NotLowered)
    assert result.kind == "refused"
    return (result.rule or "").rpartition("/")[2]


def output(onnx_model: Any) -> list[int]:
    (item,) = onnx_model
    numbers: list[int] = item["desc"]["OutputTensor"]["Sizes"]
    return numbers


def test_sizes_unknown_to_inference_come_from_the_kernel() -> None:
    unknown: Any = [(F, None)]
    assert output(lowered("MeanVarianceNormalization", [(F, [2, 3, 3, 5])], unknown, 13)) == [2, 3, 3, 5]
    pool = lowered("MaxPool", [IMAGE], unknown, 1, kernel_shape=[3, 0], pads=[1, 1, 1, 0], strides=[2, 1])
    assert output(pool) == [1, 4, 4, 11]
    joined = lowered("Concat", [(F, [3, 3]), (F, [0, 3]), (F, [5, 3])], unknown, 4, axis=-2)
    assert output(joined) == [1, 1, 8, 3]
    filters: Any = (F, [6, 2, 3, 3])
    dilated = lowered("Conv", [IMAGE, filters], unknown, 11, group=2, dilations=[0, 1], strides=[2, 1])
    assert output(dilated) == [1, 6, 4, 7]


def test_kernel_sizes_override_stated_sizes() -> None:
    tensors: Any = [("UINT8", [1, 4, 7, 9]), ("UINT8", [6, 2, 3, 3])]
    stated: Any = [("INT32", [1, 6, 4, 8])]
    more: dict[str, Any] = {"dilations": [0, 1], "group": 2, "pads": [1, 1, 1, 0], "strides": [2, 1]}
    assert output(lowered("ConvInteger", tensors, stated, 10, **more)) == [1, 6, 5, 8]


def test_a_stride_of_0_spreads_but_does_not_reach() -> None:
    tensors: Any = [IMAGE, (F, [4, 3, 3, 3])]
    assert output(lowered("ConvTranspose", tensors, [(F, None)], 11, pads=[1, 1, 1, 1], strides=[2, 0])) == [
        1,
        3,
        13,
        1,
    ]
    assert output(lowered("ConvTranspose", tensors, [(F, None)], 11, output_shape=[9, 9])) == [1, 3, 9, 9]
    assert rule("Conv", [IMAGE, (F, [3, 4, 3, 3])], [(F, None)], 11, strides=[2, 0]) == "strides-zero"


def test_a_negative_window_is_read_as_unsigned() -> None:
    for size, refused in ((0, False), (-1, True)):
        arguments: Any = "AveragePool", [IMAGE], [(F, None)], 7
        result = lowered(*arguments, kernel_shape=[3, size], pads=[1, 1, 1, 0], strides=[2, 1])
        assert isinstance(result, NotLowered) is refused


def test_pads_larger_than_the_output_are_rejected() -> None:
    tensors: Any = [IMAGE, (F, [4, 3, 3, 3])]
    assert rule("ConvTranspose", tensors, [(F, None)], 11, pads=[1, 1, 1, 20]) == "sizes-below-zero"


def test_an_empty_auto_pad_uses_pads() -> None:
    (onnx_model,) = lowered(
        "MaxPool", [IMAGE], [(F, [1, 4, 7, 9])], 8, auto_pad="", kernel_shape=[3, 3], pads=[1, 1, 1, 1]
    )
    assert (onnx_model["desc"]["StartPadding"], onnx_model["desc"]["EndPadding"]) == ([1, 1], [1, 1])


@pytest.mark.parametrize(("mode", "inferred"), [(1, 3), (2, 3), (2, 2)])
def test_a_ceil_mode_other_than_0_or_1(mode: int, inferred: int) -> None:
    arguments: Any = "MaxPool", [(F, [1, 2, 6])], [(F, [1, 2, inferred])], 12
    more: dict[str, Any] = {"ceil_mode": mode, "kernel_shape": [3], "strides": [2]}
    if inferred == 2:
        assert rule(*arguments, **more) == "ceil-mode"
    else:
        assert output(lowered(*arguments, **more))[-1] == 3


def test_tensors_must_fit_the_output() -> None:
    for operator in ("Mean", "Sum"):
        assert rule(operator, [(F, [2, 4]), (F, [2, 3])], [(F, [2, 4])], 6) == "broadcast"
    assert rule("GreaterOrEqual", [(F, [2, 3]), (F, [4])], [("BOOL", None)], 12) == "broadcast"
    assert rule("LessOrEqual", [(F, [2, 3]), (F, [3])], [("BOOL", [1, 2, 3])], 12) == "stated-sizes"
    assert output(lowered("LessOrEqual", [(F, [2, 1]), (F, [3])], [("BOOL", None)], 12)) == [1, 1, 2, 3]
    assert rule("Einsum", [(F, [2, 3]), (F, [5, 4])], [(F, [2, 4])], 12, equation="ij,jk->ik") == "inner-size"


def test_a_negative_keepdims_keeps_dimensions() -> None:
    assert output(lowered("ReduceMin", [("INT64", [1, 3, 4])], [("INT64", [1, 1, 1])], 12, keepdims=-1)) == [1, 1, 1]
    assert rule("ReduceMin", [("INT64", [1, 3, 4])], [("INT64", [])], 12, keepdims=-1) == "keepdims"


def test_a_negative_select_last_index_is_rejected() -> None:
    for index, direction in ((0, "INCREASING"), (1, "DECREASING")):
        (onnx_model,) = lowered("ArgMax", [IMAGE], [("INT64", [1, 1, 7, 9])], 13, axis=1, select_last_index=index)
        assert onnx_model["desc"]["AxisDirection"] == direction
    assert rule("ArgMax", [IMAGE], [("INT64", [1, 1, 7, 9])], 13, axis=1, select_last_index=-1) == "direction"


@pytest.mark.parametrize(("operator", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize("direction", ["sideways", "Forward", ""])
def test_recurrent_kernels_support_three_directions(operator: str, gates: int, direction: str) -> None:
    tensors: Any = [(F, [3, 1, 2]), (F, [1, gates * 2, 2]), (F, [1, gates * 2, 2])]
    assert rule(operator, tensors, [(F, [3, 1, 1, 2])], 14, hidden_size=2, direction=direction) == "direction"


def test_roi_align_supports_two_transformations() -> None:
    tensors: Any = [(F, [1, 1, 4, 4]), (F, [2, 4]), ("INT64", [2])]
    word = "asymmetric"
    assert rule("RoiAlign", tensors, [(F, [2, 1, 1, 1])], 16, coordinate_transformation_mode=word) == "transformation"


@pytest.mark.parametrize(("kind", "questions"), [("INT4", 1), ("INT8", 1), ("UINT4", 2), ("UINT8", 2)])
def test_omitted_zero_points_from_opset_21_on(kind: str, questions: int) -> None:
    few: Any = [(kind, [2, 4]), (F, [])]
    onnx_model = lowered("DequantizeLinear", few, [(F, [2, 4])], 21)
    assert len(onnx_model) == questions
    if questions == 2:
        assert onnx_model[0]["desc"]["ValueDataType"] == "UINT8"
    onnx_model = lowered("QuantizeLinear", [(F, [2, 4]), (F, [])], [(kind, [2, 4])], 21)
    assert len(onnx_model) == questions
