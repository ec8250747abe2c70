"""What a node becomes, and why some become nothing: rows, checks, what is not known."""

from __future__ import annotations

from typing import Any

import pytest

from specgate.descriptors.core import tensor
from specgate.runtimes.onnxruntime.lower import NotLowered, lower, node
from specgate.runtimes.onnxruntime.lowering.store import lowering_of
from specgate.runtimes.onnxruntime.registrations import registrations
from tests.runtimes.onnxruntime.lowering.nodes import lowered

F: Any = "FLOAT"


def test_ones_come_in_front_up_to_four_dimensions() -> None:
    (made,) = lowered("Relu", [(F, [2, 3])], [(F, [2, 3])], 14)
    assert made["type"] == "DML_OPERATOR_ACTIVATION_RELU"
    assert made["desc"]["InputTensor"] == {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}


def test_a_smaller_tensor_is_broadcast_by_strides_of_zero() -> None:
    (made,) = lowered("Add", [(F, [2, 3, 4]), (F, [3, 1])], [(F, [2, 3, 4])], 14)
    assert made["desc"]["BTensor"] == {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4], "Strides": [0, 0, 1, 0]}
    assert "Strides" not in made["desc"]["ATensor"]


def test_truth_values_travel_as_uint8() -> None:
    (made,) = lowered("Greater", [(F, []), (F, [])], [("BOOL", [])], 13)
    assert made["desc"]["OutputTensor"] == {"DataType": "UINT8", "Sizes": [1, 1, 1, 1]}


@pytest.mark.parametrize(("count", "operators"), [(1, ["IDENTITY"]), (2, ["ADD"]), (4, ["ADD"])])
def test_a_sum_of_like_tensors_needs_one_operator(count: int, operators: list[str]) -> None:
    made = lowered("Sum", [(F, [3])] * count, [(F, [3])], 13)
    assert [each["type"].removeprefix("DML_OPERATOR_ELEMENT_WISE_") for each in made] == operators


def test_a_sum_of_unlike_tensors_needs_one_for_each_further() -> None:
    made = lowered("Sum", [(F, [2, 3]), (F, [3]), (F, [2, 1]), (F, [1])], [(F, [2, 3])], 13)
    assert len(made) == 3
    assert made[1]["desc"]["ATensor"]["Strides"] == [0, 0, 1, 0]


def test_a_convolution_of_one_dimension_gets_a_second() -> None:
    tensors: Any = [(F, [1, 2, 7]), (F, [4, 2, 3]), (F, [4])], [(F, [1, 4, 7])]
    (made,) = lowered("Conv", tensors[0], tensors[1], 11, pads=[1, 1])
    desc = made["desc"]
    assert desc["InputTensor"]["Sizes"] == [1, 2, 1, 7]
    assert desc["BiasTensor"]["Sizes"] == [1, 4, 1, 1]
    assert (desc["StartPadding"], desc["EndPadding"], desc["DimensionCount"]) == ([0, 1], [0, 1], 2)


@pytest.mark.parametrize(("word", "start", "end"), [("SAME_UPPER", [0, 0], [1, 1]), ("SAME_LOWER", [1, 1], [0, 0])])
def test_automatic_padding(word: str, start: list[int], end: list[int]) -> None:
    made = lowered("MaxPool", [(F, [1, 1, 4, 4])], [(F, [1, 1, 4, 4])], 12, auto_pad=word, kernel_shape=[2, 2])
    assert (made[0]["desc"]["StartPadding"], made[0]["desc"]["EndPadding"]) == (start, end)


def test_versions_choose_the_row() -> None:
    before, after = (lowered("Softmax", [(F, [2, 3, 4])], [(F, [2, 3, 4])], v, axis=1) for v in (11, 13))
    assert before[0]["desc"]["Axes"] == [2, 3]
    assert after[0]["desc"]["Axes"] == [2]


def test_fields_change_their_kind_with_the_version() -> None:
    (made,) = lowered("Clip", [(F, [3])], [(F, [3])], 6, min=-1.0, max=2.0)
    assert (made["type"], made["desc"]["Min"]) == ("DML_OPERATOR_ELEMENT_WISE_CLIP", -1.0)
    (made,) = lowered("Clip", [(F, [3]), (F, [], [-1.0]), (F, [], [2.0])], [(F, [3])], 13)
    assert (made["type"], made["desc"]["Max"]) == ("DML_OPERATOR_ELEMENT_WISE_CLIP1", 2.0)


def test_a_copy_needs_no_operator() -> None:
    assert lowered("Reshape", [(F, [2, 3]), ("INT64", [1], [6])], [(F, [6])], 21) == []


def test_a_tensor_without_elements_needs_no_operator() -> None:
    assert lowered("Add", [(F, [0, 3]), (F, [3])], [(F, [0, 3])], 14) == []


def refusal(*arguments: Any, **attributes: Any) -> str | None:
    found = lowered(*arguments, **attributes)
    assert isinstance(found, NotLowered)
    assert found.kind == "refused"
    assert found.reason
    return found.rule


def test_what_the_kernel_refuses() -> None:
    nine = [1] * 9
    assert refusal("Relu", [(F, nine)], [(F, nine)], 14) == "onnxruntime/Relu/rank"
    pool = refusal("MaxPool", [(F, [1, 2])], [(F, [1, 2])], 12, kernel_shape=[])
    assert pool == "onnxruntime/MaxPool/input-rank"
    shape = "INT64", [2], [-1, 0]
    assert refusal("Reshape", [(F, [2, 0]), shape], [(F, [0, 0])], 21, allowzero=1).endswith("inferred-with-zeros")  # type: ignore[union-attr]
    words = refusal("DepthToSpace", [(F, [1, 4, 2, 2])], [(F, [1, 1, 4, 4])], 13, blocksize=2, mode="ABC")
    assert words == "onnxruntime/DepthToSpace/mode"
    tensors: Any = [(F, [1, 1, 3]), (F, [1, 1, 3])], [(F, [1, 1, 6])]
    one = refusal("ConvTranspose", tensors[0], tensors[1], 11, output_padding=[1], strides=[2])
    assert one == "onnxruntime/ConvTranspose/output-padding-length"
    assert refusal("Cast", [(F, [2])], [("STRING", [2])], 13, to=8) == "onnxruntime/Cast/type"


def test_scales_in_a_row_need_an_axis_even_where_there_is_one() -> None:
    row: Any = [("INT32", [6]), (F, [1]), ("INT32", [])], [(F, [6])]
    assert refusal("DequantizeLinear", row[0], row[1], 13) == "onnxruntime/DequantizeLinear/axis"
    assert len(lowered("DequantizeLinear", row[0], row[1], 13, axis=0)) == 1


@pytest.mark.parametrize("operator", ["DequantizeLinear", "QuantizeLinear"])
def test_scales_in_a_row_are_of_the_first_axis_where_there_is_no_other(operator: str) -> None:
    def given(*scales: int) -> tuple[Any, Any]:
        ends = [("UINT8", [2, 3]), (F, [2, 3])]
        first, last = ends if operator == "DequantizeLinear" else reversed(ends)
        return [first, (F, list(scales)), ("UINT8", list(scales))], [last]

    assert len(lowered(operator, *given(1), 10)) == len(lowered(operator, *given(2), 10)) == 1
    assert refusal(operator, *given(3), 10) == f"onnxruntime/{operator}/axis"
    assert refusal(operator, *given(2), 13) == f"onnxruntime/{operator}/axis"


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
def test_what_is_not_known_stays_open(operator: str, inputs: list[Any], outputs: list[Any]) -> None:
    found = lowered(operator, inputs, outputs, 13)
    assert isinstance(found, NotLowered)
    assert found.kind == "open"
    assert found.rule is None


def test_an_operator_without_a_table() -> None:
    found = lowered("Bernoulli", [(F, [2])], [(F, [2])], 22)
    assert isinstance(found, NotLowered)
    assert (found.kind, found.reason) == ("no-table", "the DirectML operators for Bernoulli are unknown")
    assert node("com.microsoft.Nonesuch", [], [], {}, 1) is None


def test_the_shape_of_a_signal_gives_its_frames() -> None:
    tensors: Any = [(F, [2, 32, 1]), ("INT64", [], [4]), None, ("INT64", [], [8])], [(F, [2, 7, 5, 2])]
    (made,) = lowered("STFT", tensors[0], tensors[1], 17)
    assert made["desc"]["InputTensor"] == {"DataType": "FLOAT32", "Sizes": [2, 7, 8], "Strides": [32, 4, 1]}


def test_a_sequence_is_joined_at_the_first_run() -> None:
    made = lowered("ConcatFromSequence", [("seq(FLOAT)", [2, 3])], [(F, [4, 3])], 11, axis=0)
    assert isinstance(made, NotLowered)
    assert made.kind == "open"
    assert made.reason == "the tensors of a sequence are unknown before the first run"


@pytest.mark.parametrize("release", ["1.18.1", "1.24.4"])
def test_every_operator_that_the_provider_registers_has_a_table(release: str) -> None:
    """Those of com.microsoft.dml are the runtime's own fusions, which no file has."""
    registry = registrations("DirectML", release)
    prefixes = {"ai.onnx": "", "com.microsoft": "com.microsoft."}
    names = [prefix + operator for domain, prefix in prefixes.items() for operator in registry.operators(domain)]
    assert len(names) > 180
    # copies between devices, which the runtime makes and never a file; one for a version that no schema has
    known = {"GroupNorm", "MemcpyFromHost", "MemcpyToHost"}
    assert {name for name in names if lowering_of(name) is None} <= known


@pytest.mark.parametrize(
    ("release", "second"), [("1.18.0", []), ("1.20.1", []), ("1.24.4", ["CLIP1"]), (None, ["CLIP1"])]
)
def test_a_cast_to_truth_is_clipped_from_some_release_on(release: str | None, second: list[str]) -> None:
    made = node("Cast", [tensor("FLOAT", [3])], [tensor("BOOL", [3])], {"to": 9}, 13)
    assert made is not None
    found = lower(made, 13, release)
    assert not isinstance(found, NotLowered)
    assert [one.operator.removeprefix("ELEMENT_WISE_") for one in found] == ["CAST", *second]


@pytest.mark.parametrize(("release", "operator"), [("1.18.0", "RESAMPLE2"), ("1.20.1", "RESAMPLE3")])
def test_antialiasing_came_with_a_release(release: str, operator: str) -> None:
    ours, scales = tensor("FLOAT", [1, 1, 2, 2]), tensor("FLOAT", [4], value=[1.0, 1.0, 2.0, 2.0])
    made = node("Resize", [ours, None, scales], [tensor("FLOAT", [1, 1, 4, 4])], {"mode": "nearest"}, 13)
    assert made is not None
    found = lower(made, 13, release)
    assert not isinstance(found, NotLowered)
    assert [one.operator for one in found] == [operator]
    assert ("Antialiased" in found[0].fields) is (operator == "RESAMPLE3")


def test_frames_need_no_window_and_a_positive_step() -> None:
    for step, expected in ((8, []), (0, "onnxruntime/STFT/step-positive")):
        made = lowered("STFT", [(F, [2, 128, 1]), ("INT64", [], [step])], [(F, [2, 3, 5, 2])], 17)
        assert (made.rule if isinstance(made, NotLowered) else made) == expected


@pytest.mark.parametrize("depth", [0, -4])
def test_depths_that_no_one_hot_has(depth: int) -> None:
    taken, refused = (
        lowered("OneHot", [("INT64", [3]), ("INT64", [], [given]), (F, [2])], [(F, [3, 4])], 11, axis=-1)
        for given in (4, depth)
    )
    assert [one["type"] for one in taken] == ["DML_OPERATOR_ONE_HOT"]
    assert refused.rule == "onnxruntime/OneHot/depth-positive"
