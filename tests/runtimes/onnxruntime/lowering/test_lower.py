"""Lowered nodes, and nodes that are not lowered: rows, checks, unknown facts."""

from __future__ import annotations

from typing import Any

import pytest

from specgate.descriptors.core import tensor
from specgate.runtimes.onnxruntime.lower import NotLowered, lower, node
from specgate.runtimes.onnxruntime.lowering.store import lowering_of
from specgate.runtimes.onnxruntime.registrations import registrations
from tests.runtimes.onnxruntime.lowering.nodes import lowered

F: Any = "FLOAT"


def test_sizes_are_padded_with_leading_ones_to_rank_4() -> None:
    (onnx_model,) = lowered("Relu", [(F, [2, 3])], [(F, [2, 3])], 14)
    assert onnx_model["type"] == "DML_OPERATOR_ACTIVATION_RELU"
    assert onnx_model["desc"]["InputTensor"] == {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}


def test_a_smaller_tensor_is_broadcast_by_strides_of_zero() -> None:
    (onnx_model,) = lowered("Add", [(F, [2, 3, 4]), (F, [3, 1])], [(F, [2, 3, 4])], 14)
    assert onnx_model["desc"]["BTensor"] == {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4], "Strides": [0, 0, 1, 0]}
    assert "Strides" not in onnx_model["desc"]["ATensor"]


def test_booleans_are_passed_as_uint8() -> None:
    (onnx_model,) = lowered("Greater", [(F, []), (F, [])], [("BOOL", [])], 13)
    assert onnx_model["desc"]["OutputTensor"] == {"DataType": "UINT8", "Sizes": [1, 1, 1, 1]}


@pytest.mark.parametrize(("count", "operators"), [(1, ["IDENTITY"]), (2, ["ADD"]), (4, ["ADD"])])
def test_a_sum_of_equal_shapes_needs_a_single_operator(count: int, operators: list[str]) -> None:
    onnx_model = lowered("Sum", [(F, [3])] * count, [(F, [3])], 13)
    assert [each["type"].removeprefix("DML_OPERATOR_ELEMENT_WISE_") for each in onnx_model] == operators


def test_a_sum_of_different_shapes_needs_an_add_per_input() -> None:
    onnx_model = lowered("Sum", [(F, [2, 3]), (F, [3]), (F, [2, 1]), (F, [1])], [(F, [2, 3])], 13)
    assert len(onnx_model) == 3
    assert onnx_model[1]["desc"]["ATensor"]["Strides"] == [0, 0, 1, 0]


def test_a_1d_convolution_becomes_2d() -> None:
    tensors: Any = [(F, [1, 2, 7]), (F, [4, 2, 3]), (F, [4])], [(F, [1, 4, 7])]
    (onnx_model,) = lowered("Conv", tensors[0], tensors[1], 11, pads=[1, 1])
    desc = onnx_model["desc"]
    assert desc["InputTensor"]["Sizes"] == [1, 2, 1, 7]
    assert desc["BiasTensor"]["Sizes"] == [1, 4, 1, 1]
    assert (desc["StartPadding"], desc["EndPadding"], desc["DimensionCount"]) == ([0, 1], [0, 1], 2)


@pytest.mark.parametrize(("word", "start", "end"), [("SAME_UPPER", [0, 0], [1, 1]), ("SAME_LOWER", [1, 1], [0, 0])])
def test_automatic_padding(word: str, start: list[int], end: list[int]) -> None:
    onnx_model = lowered("MaxPool", [(F, [1, 1, 4, 4])], [(F, [1, 1, 4, 4])], 12, auto_pad=word, kernel_shape=[2, 2])
    assert (onnx_model[0]["desc"]["StartPadding"], onnx_model[0]["desc"]["EndPadding"]) == (start, end)


def test_versions_choose_the_row() -> None:
    before, after = (lowered("Softmax", [(F, [2, 3, 4])], [(F, [2, 3, 4])], v, axis=1) for v in (11, 13))
    assert before[0]["desc"]["Axes"] == [2, 3]
    assert after[0]["desc"]["Axes"] == [2]


def test_attributes_become_inputs_in_later_versions() -> None:
    (onnx_model,) = lowered("Clip", [(F, [3])], [(F, [3])], 6, min=-1.0, max=2.0)
    assert (onnx_model["type"], onnx_model["desc"]["Min"]) == ("DML_OPERATOR_ELEMENT_WISE_CLIP", -1.0)
    (onnx_model,) = lowered("Clip", [(F, [3]), (F, [], [-1.0]), (F, [], [2.0])], [(F, [3])], 13)
    assert (onnx_model["type"], onnx_model["desc"]["Max"]) == ("DML_OPERATOR_ELEMENT_WISE_CLIP1", 2.0)


def test_a_copy_needs_no_operator() -> None:
    assert lowered("Reshape", [(F, [2, 3]), ("INT64", [1], [6])], [(F, [6])], 21) == []


def test_a_tensor_without_elements_needs_no_operator() -> None:
    assert lowered("Add", [(F, [0, 3]), (F, [3])], [(F, [0, 3])], 14) == []


def refusal(*arguments: Any, **attributes: Any) -> str | None:
    result = lowered(*arguments, **attributes)
    assert isinstance(result, NotLowered)
    assert result.kind == "refused"
    assert result.reason
    return result.rule


def test_rules_of_kernels_reject() -> None:
    nine = [1] * 9
    assert refusal("Relu", [(F, nine)], [(F, nine)], 14) == "onnxruntime/Relu/rank"
    pool = refusal("MaxPool", [(F, [1, 2])], [(F, [1, 2])], 12, kernel_shape=[])
    assert pool == "onnxruntime/MaxPool/input-rank"
    shape = "INT64", [2], [-1, 0]
    assert refusal("Reshape", [(F, [2, 0]), shape], [(F, [0, 0])], 21, allowzero=1).endswith("inferred-with-zeros")  # type: ignore[union-attr]
    words = refusal("DepthToSpace", [(F, [1, 4, 2, 2])], [(F, [1, 1, 4, 4])], 13, blocksize=2, mode="ABC")
    assert words == "onnxruntime/DepthToSpace/mode"
    tensors: Any = [(F, [1, 1, 3]), (F, [1, 1, 3])], [(F, [1, 1, 6])]
    text = refusal("ConvTranspose", tensors[0], tensors[1], 11, output_padding=[1], strides=[2])
    assert text == "onnxruntime/ConvTranspose/output-padding-length"
    assert refusal("Cast", [(F, [2])], [("STRING", [2])], 13, to=8) == "onnxruntime/Cast/type"


def test_a_1d_scale_of_size_1_requires_an_axis() -> None:
    row: Any = [("INT32", [6]), (F, [1]), ("INT32", [])], [(F, [6])]
    assert refusal("DequantizeLinear", row[0], row[1], 13) == "onnxruntime/DequantizeLinear/axis"
    assert len(lowered("DequantizeLinear", row[0], row[1], 13, axis=0)) == 1


@pytest.mark.parametrize("operator", ["DequantizeLinear", "QuantizeLinear"])
def test_a_1d_scale_without_axis_applies_to_the_first_axis(operator: str) -> None:
    def convert(*scales: int) -> tuple[Any, Any]:
        ends = [("UINT8", [2, 3]), (F, [2, 3])]
        first, last = ends if operator == "DequantizeLinear" else reversed(ends)
        return [first, (F, list(scales)), ("UINT8", list(scales))], [last]

    assert len(lowered(operator, *convert(1), 10)) == len(lowered(operator, *convert(2), 10)) == 1
    assert refusal(operator, *convert(3), 10) == f"onnxruntime/{operator}/axis"
    assert refusal(operator, *convert(2), 13) == f"onnxruntime/{operator}/axis"


@pytest.mark.parametrize(
    ("operator", "inputs", "outputs"),
    [
        ("Add", [(F, ["N", 3]), (F, [3])], [(F, ["N", 3])]),
        ("Add", [(F, None), (F, [3])], [(F, None)]),
        ("Tile", [(F, [2]), ("INT64", [1])], [(F, [4])]),
        ("Split", [(F, [4])], [None, (F, [2])]),
        ("Relu", [(F, [2])], []),
    ],
)
def test_unknown_sizes_and_values_leave_lowering_undecided(
    operator: str, inputs: list[Any], outputs: list[Any]
) -> None:
    result = lowered(operator, inputs, outputs, 13)
    assert isinstance(result, NotLowered)
    assert result.kind == "open"
    assert result.rule is None


def test_an_operator_without_a_table() -> None:
    result = lowered("Bernoulli", [(F, [2])], [(F, [2])], 22)
    assert isinstance(result, NotLowered)
    assert (result.kind, result.reason) == ("no-table", "the DirectML operators for Bernoulli are unknown")
    assert node("com.microsoft.Nonesuch", [], [], {}, 1) is None


def test_stft_frames_are_views_of_the_signal() -> None:
    tensors: Any = [(F, [2, 32, 1]), ("INT64", [], [4]), None, ("INT64", [], [8])], [(F, [2, 7, 5, 2])]
    (onnx_model,) = lowered("STFT", tensors[0], tensors[1], 17)
    assert onnx_model["desc"]["InputTensor"] == {"DataType": "FLOAT32", "Sizes": [2, 7, 8], "Strides": [32, 4, 1]}


def test_a_sequence_is_joined_at_the_first_run() -> None:
    onnx_model = lowered("ConcatFromSequence", [("seq(FLOAT)", [2, 3])], [(F, [4, 3])], 11, axis=0)
    assert isinstance(onnx_model, NotLowered)
    assert onnx_model.kind == "open"
    assert onnx_model.reason == "the tensors of a sequence are unknown before the first run"


@pytest.mark.parametrize("release", ["1.18.1", "1.24.4"])
def test_every_operator_that_the_provider_registers_has_a_table(release: str) -> None:
    """Operators of com.microsoft.dml are internal fusions, which no file contains."""
    registry = registrations("DirectML", release)
    prefixes = {"ai.onnx": "", "com.microsoft": "com.microsoft."}
    names = [prefix + operator for domain, prefix in prefixes.items() for operator in registry.operators(domain)]
    assert len(names) > 180
    # copies between devices, which only the runtime adds; one for a version without a schema
    facts = {"GroupNorm", "MemcpyFromHost", "MemcpyToHost"}
    assert {name for name in names if lowering_of(name) is None} <= facts


@pytest.mark.parametrize(
    ("release", "second"), [("1.18.0", []), ("1.20.1", []), ("1.24.4", ["CLIP1"]), (None, ["CLIP1"])]
)
def test_a_cast_to_bool_is_clipped_from_a_release_on(release: str | None, second: list[str]) -> None:
    new_node = node("Cast", [tensor("FLOAT", [3])], [tensor("BOOL", [3])], {"to": 9}, 13)
    assert new_node is not None
    result = lower(new_node, 13, release)
    assert not isinstance(result, NotLowered)
    assert [item.operator.removeprefix("ELEMENT_WISE_") for item in result] == ["CAST", *second]


@pytest.mark.parametrize(("release", "operator"), [("1.18.0", "RESAMPLE2"), ("1.20.1", "RESAMPLE3")])
def test_antialiasing_requires_a_release(release: str, operator: str) -> None:
    ours, scales = tensor("FLOAT", [1, 1, 2, 2]), tensor("FLOAT", [4], value=[1.0, 1.0, 2.0, 2.0])
    new_node = node("Resize", [ours, None, scales], [tensor("FLOAT", [1, 1, 4, 4])], {"mode": "nearest"}, 13)
    assert new_node is not None
    result = lower(new_node, 13, release)
    assert not isinstance(result, NotLowered)
    assert [item.operator for item in result] == [operator]
    assert ("Antialiased" in result[0].fields) is (operator == "RESAMPLE3")


def test_stft_needs_no_window_and_a_positive_step() -> None:
    for step, expected in ((8, []), (0, "onnxruntime/STFT/step-positive")):
        onnx_model = lowered("STFT", [(F, [2, 128, 1]), ("INT64", [], [step])], [(F, [2, 3, 5, 2])], 17)
        assert (onnx_model.rule if isinstance(onnx_model, NotLowered) else onnx_model) == expected


@pytest.mark.parametrize("depth", [0, -4])
def test_one_hot_rejects_depths_below_1(depth: int) -> None:
    accepted, refused = (
        lowered("OneHot", [("INT64", [3]), ("INT64", [], [inputs]), (F, [2])], [(F, [3, 4])], 11, axis=-1)
        for inputs in (4, depth)
    )
    assert [item["type"] for item in accepted] == ["DML_OPERATOR_ONE_HOT"]
    assert refused.rule == "onnxruntime/OneHot/depth-positive"
