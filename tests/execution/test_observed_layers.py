"""OpenVINO layers that deviate from the documentation.

Expected arrays are those of OpenVINO 2026.4.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate
from specgate.execution.engine import execute_at


def layer(kind: str, version: str, inputs: list[dict[str, Any]], data: dict[str, Any], outputs: int = 1) -> Any:
    return {"type": kind, "version": version, "inputs": inputs, "outputs": [{}] * outputs, "data": data}


def port(kind: str, *shape: int) -> dict[str, Any]:
    return {"element_type": kind, "shape": list(shape)}


POOL = {"kernel": [3, 3], "strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0], "auto_pad": "same_upper"}
DATA = np.arange(36, dtype=np.float32).reshape(1, 1, 6, 6)


def test_max_pool_follows_all_builds_by_default() -> None:
    new_layer = layer("MaxPool", "opset1", [port("f32", 1, 1, 6, 6)], POOL)
    both = specgate.execute(new_layer, {"data": DATA}, target="openvino:opset1")
    assert both["output"][0, 0].tolist() == [[14, 16, 17], [26, 28, 29], [32, 34, 35]]
    assert any("follows all builds" in note for note in both.notes)
    page = specgate.execute(new_layer, {"data": DATA}, target="openvino:opset1", basis="documented")
    assert page["output"].shape == (1, 1, 6, 6)


@pytest.mark.parametrize("auto_pad", ["same_upper", "same_lower"])
def test_pool_with_ceil_and_a_stride_above_the_window(auto_pad: str) -> None:
    data = {"kernel": [1], "pads_begin": [0], "pads_end": [0], "auto_pad": auto_pad, "rounding_type": "ceil"}
    line = np.array([[[5, 6, 7, 8]]], np.float32)
    three = layer("MaxPool", "opset1", [port("f32", 1, 1, 4)], {**data, "strides": [3]})
    assert specgate.execute(three, {"data": line}, target="openvino:opset1")["output"].tolist() == [[[5, 8]]]
    two = layer("MaxPool", "opset1", [port("f32", 1, 1, 2)], {**data, "strides": [2]})
    output = specgate.execute(two, {"data": line[..., :2]}, target="openvino:opset1")["output"]
    assert output.shape == (1, 1, 2)
    assert output[0, 0, 0] == 5


@pytest.mark.parametrize(("exclude", "last"), [(True, 31.5), (False, 14.0)])
def test_average_pool_follows_all_builds_by_default(exclude: bool, last: float) -> None:
    new_layer = layer("AvgPool", "opset1", [port("f32", 1, 1, 6, 6)], {**POOL, "exclude-pad": exclude})
    result = specgate.execute(new_layer, {"data": DATA}, target="openvino:opset1")["output"]
    assert result.shape == (1, 1, 3, 3)
    assert result[0, 0, 2, 2] == last


def test_softmax_without_axis_is_along_the_first_dimension() -> None:
    new_layer = layer("SoftMax", "opset1", [port("f32", 2, 2)], {})
    data = np.array([[0, 0], [0, np.log(3)]], np.float32)
    result = specgate.execute(new_layer, {"data": data}, target="openvino:opset1", basis="observed")["output"]
    np.testing.assert_allclose(result, [[0.5, 0.25], [0.5, 0.75]], rtol=1e-6)


#: Operators with pdpd: Node.evaluate aligns with the first dimensions, the CPU plugin with the last.
ALIGNED_BY_EVALUATE = [
    ("Subtract", "f32", [[7, 7], [6, 6]], [[7, 6], [7, 6]]),
    ("Divide", "f32", [[8, 8], [4, 4]], [[8, 4], [8, 4]]),
    ("BitwiseLeftShift", "i32", [[16, 16], [32, 32]], [[16, 32], [16, 32]]),
    ("BitwiseRightShift", "i32", [[4, 4], [2, 2]], [[4, 2], [4, 2]]),
]


def pdpd(kind: str, element_type: str, shape: tuple[int, ...]) -> Any:
    version = "opset15" if kind.endswith("Shift") else "opset13" if kind.startswith("Bitwise") else "opset1"
    return layer(kind, version, [port(element_type, *shape), port(element_type, 2)], {"auto_broadcast": "pdpd"})


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        ("Add", (9, 10)), ("Multiply", (8, 16)), ("Power", (8, 64)), ("FloorMod", (0, 0)), ("Maximum", (8, 8)),
        ("Minimum", (1, 2)), ("Divide", (8, 4)), ("BitwiseLeftShift", (16, 32)),
    ],
)  # fmt: skip
def test_pdpd_aligns_with_the_first_dimensions(kind: str, rows: tuple[int, int]) -> None:
    arrays = {"a": np.full((2, 3), 8, np.int32), "b": np.array([1, 2], np.int32)}
    inputs = pdpd(kind, "i32", (2, 3))
    result = specgate.execute(inputs, arrays, target="openvino:opset15", basis="observed")["output"]
    assert result.tolist() == [[row] * 3 for row in rows]
    with pytest.raises(specgate.InputError):
        specgate.execute(inputs, arrays, target="openvino:opset15", basis="documented")


@pytest.mark.parametrize(("kind", "element_type", "first", "last"), ALIGNED_BY_EVALUATE)
def test_pdpd_of_the_cpu_plugin_aligns_with_the_last_dimensions(
    kind: str, element_type: str, first: list[list[Any]], last: list[list[Any]]
) -> None:
    kinds = {"f32": np.float32, "i32": np.int32}
    arrays = {"a": np.full((2, 2), 8, kinds[element_type]), "b": np.array([1, 2], kinds[element_type])}
    inputs = pdpd(kind, element_type, (2, 2))
    for target, expected in (("openvino:opset15", first), ("openvino-cpu:2026.4", last)):
        result = specgate.execute(inputs, arrays, target=target, basis="observed")["output"]
        assert result.tolist() == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("Greater", [[True, False], [True, False]]), ("GreaterEqual", [[True, True], [True, True]]),
        ("BitwiseAnd", [[0, 2], [0, 2]]), ("BitwiseOr", [[3, 2], [3, 2]]), ("BitwiseXor", [[3, 0], [3, 0]]),
    ],
)  # fmt: skip
def test_pdpd_of_comparisons_and_bitwise_follows_the_documentation(kind: str, expected: list[Any]) -> None:
    arrays = {"a": np.full((2, 2), 2, np.int32), "b": np.array([1, 2], np.int32)}
    inputs = pdpd(kind, "i32", (2, 2))
    for target in ("openvino:opset15", "openvino-cpu:2026.4"):
        outputs = specgate.execute(inputs, arrays, target=target, basis="observed")
        assert outputs["output"].tolist() == expected
        assert any("Node.evaluate" in note for note in outputs.notes) == kind.startswith("Greater")


def test_documented_attribute_name_applies_on_the_documented_basis() -> None:
    inputs = [port("i32", 2, 5), port("i32", 2, 3)]
    arrays = {
        "sorted_sequence": np.array([[1, 3, 5, 7, 9], [2, 4, 6, 6, 10]], np.int32),
        "values": np.array([[3, 6, 0], [6, 10, 11]], np.int32),
    }
    before, after = [[1, 3, 0], [2, 4, 5]], [[2, 3, 0], [4, 5, 5]]
    arguments = layer("SearchSorted", "opset15", inputs, {"right": True})
    for basis, expected in (("documented", after), ("observed", before)):
        outputs = specgate.execute(arguments, arrays, target="openvino:opset15", basis=basis)  # type: ignore[arg-type]
        assert outputs["output"].tolist() == expected
    with pytest.raises(specgate.InputError, match="which builds do not read"):
        specgate.execute(arguments, arrays, target="openvino:opset15", basis="both")


@pytest.mark.parametrize(
    ("shape", "target_shape", "expected"),
    [((3,), [2, 3], [[0, 1, 2], [0, 1, 2]]), ((2, 1), [2, 2], [[0, 0], [1, 1]]), ((), [2, 2], [[0, 0], [0, 0]])],
)
def test_explicit_broadcast_without_a_mapping_is_numpy_broadcast(
    shape: tuple[int, ...], target_shape: list[int], expected: list[Any]
) -> None:
    inputs = [port("f32", *shape), {**port("i64", 2), "value": target_shape}]
    arrays = {
        "data": np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape),
        "target_shape": np.array(target_shape),
    }
    arguments = layer("Broadcast", "opset1", inputs, {"mode": "explicit"})
    result = specgate.execute(arguments, arrays, target="openvino:opset1", basis="observed")["output"]
    assert result.tolist() == expected


def test_boxes_are_removed_at_an_equal_overlap() -> None:
    inputs = [port("f32", 1, 2, 4), port("f32", 1, 1, 2), {**port("i64"), "value": 2}]
    new_layer = layer("NonMaxSuppression", "opset9", inputs, {"box_encoding": "corner"}, 3)
    boxes = np.array([[[0, 0, 1, 1], [5, 5, 6, 6]]], np.float32)
    arrays = {"boxes": boxes, "scores": np.array([[[0.5, 0.75]]], np.float32)}
    for basis, rows in (("documented", [[0, 0, 1], [0, 0, 0]]), ("observed", [[0, 0, 1]])):
        outputs = specgate.execute(new_layer, arrays, target="openvino:opset9", basis=basis)  # type: ignore[arg-type]
        assert outputs["selected_indices"].tolist() == rows


def test_an_absent_ctc_merge_repeated_is_false() -> None:
    inputs = [port("f32", 1, 3, 3), port("i32", 1), port("i32", 1, 3), port("i32", 1)]
    generator = np.random.default_rng(5)
    arrays = {
        "logits": generator.normal(size=(1, 3, 3)).astype(np.float32),
        "logit_length": np.array([3], np.int32),
        "labels": np.array([[0, 0, 0]], np.int32),
        "label_length": np.array([2], np.int32),
    }
    losses = [
        specgate.execute(layer("CTCLoss", "opset4", inputs, data), arrays, target="openvino:opset4", basis="observed")
        for data in ({}, {"ctc_merge_repeated": False}, {"ctc_merge_repeated": True})
    ]
    assert losses[0]["output"] == losses[1]["output"] != losses[2]["output"]


def test_odd_strings_are_read_like_in_builds() -> None:
    inputs = [port("f32", 2, 3), {**port("i64", 1), "value": [1]}]
    new_layer = layer("ReduceSum", "opset1", inputs, {"keep_dims": "perhaps", "unheard_of": 1})
    data = {"data": np.ones((2, 3), np.float32)}
    outputs = specgate.execute(new_layer, data, target="openvino:opset1", basis="observed")
    assert outputs["output"].shape == (2,)
    with pytest.raises(specgate.InputError):
        specgate.execute(new_layer, data, target="openvino:opset1", basis="documented")


#: Layer, arrays, OpenVINO's result. The documentation rejects the first ones, or leaves them open.
OF_BUILDS: list[tuple[str, Any, dict[str, Any], Any]] = [
    (
        "nearest elements of Interpolate-1",
        layer("Interpolate", "opset1", [port("f32", 1, 1, 1, 3), port("i64", 1) | {"value": [5]}],
              {"axes": [3], "mode": "nearest", "align_corners": False}),
        {"data": [[[[1, 2, 3]]]]},
        [[[[1, 1, 2, 2, 3]]]],
    ),
    (
        "lines of Interpolate-1",
        layer("Interpolate", "opset1", [port("f32", 1, 1, 2, 3), port("i64", 2) | {"value": [3, 5]}],
              {"axes": [2, 3], "mode": "linear", "align_corners": False}),
        {"data": [[[[1, 2, 3], [4, 6, 8]]]]},
        [[[[1, 1.6, 2.2, 2.8, 3], [3, 4, 5, 6, 6.3333335], [4, 5.2, 6.4, 7.6, 8]]]],
    ),
    (
        "a transposed convolution to more than its filters reach",
        layer("ConvolutionBackpropData", "opset1",
              [port("f32", 1, 1, 2), port("f32", 1, 1, 2), port("i64", 1) | {"value": [6]}],
              {"strides": [2], "pads_begin": [0], "pads_end": [0], "dilations": [1]}),
        {"data": [[[1, 2]]], "filters": [[[1, 3]]]},
        [[[1, 3, 2, 6, 0, 0]]],
    ),
    (
        "places from the end in Gather-1",
        layer("Gather", "opset1", [port("i32", 5), port("i64", 4), port("i64") | {"value": [0]}], {}),
        {"data": [1, 2, 3, 4, 5], "indices": [0, -2, 10, -20]},
        [1, 4, 0, 0],
    ),
    (
        "pads below 0 in Pad-1",
        layer("Pad", "opset1", [port("i32", 4), port("i64", 1) | {"value": [-1]}, port("i64", 1) | {"value": [2]},
                                port("i32") | {"value": [9]}], {"pad_mode": "constant"}),
        {"data": [1, 2, 3, 4]},
        [2, 3, 4, 9, 9],
    ),
    (
        "places from the end in ScatterElementsUpdate-3",
        layer("ScatterElementsUpdate", "opset3",
              [port("i32", 4), port("i64", 2), port("i32", 2), port("i64") | {"value": [0]}], {}),
        {"data": [1, 2, 3, 4], "indices": [0, -1], "updates": [7, 8]},
        [7, 2, 3, 8],
    ),
    (
        "places from the end in ScatterNDUpdate-4",
        layer("ScatterNDUpdate", "opset4", [port("i32", 4), port("i64", 2, 1), port("i32", 2)], {}),
        {"data": [1, 2, 3, 4], "indices": [[0], [-1]], "updates": [7, 8]},
        [7, 2, 3, 8],
    ),
    (
        "places from the end in GatherND-5",
        layer("GatherND", "opset5", [port("i32", 4), port("i64", 2, 1)], {}),
        {"data": [1, 2, 3, 4], "indices": [[0], [-1]]},
        [1, 4],
    ),
    (
        "an axis from the end in MVN-1",
        layer("MVN", "opset2", [port("f32", 2, 2)],
              {"reduction_axes": [-1], "normalize_variance": False, "eps": 3.0}),
        {"data": [[1.9375, -0.359375], [-1.296875, -0.21875]]},
        [[0, 0], [0, 0]],
    ),
    (
        "largest elements below 0 in ROIAlign-3",
        layer("ROIAlign", "opset3", [port("f32", 1, 1, 2, 2), port("f32", 1, 4), port("i64", 1)],
              {"pooled_h": 1, "pooled_w": 1, "sampling_ratio": 1, "spatial_scale": 1.0, "mode": "max"}),
        {"data": [[[[-2, -2], [-2, -2]]]], "rois": [[0, 0, 1, 1]], "batch_indices": [0]},
        [[[[0]]]],
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("result", "arrays", "expected"), [each[1:] for each in OF_BUILDS], ids=[e[0] for e in OF_BUILDS]
)
def test_undocumented_values_of_builds(result: Any, arrays: dict[str, Any], expected: Any) -> None:
    outputs = specgate.execute(result, arrays, target=f"openvino:{result['version']}", basis="observed")
    np.testing.assert_allclose(outputs["output"], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("bilinear_pillow", [[1.8571428, 5.428571], [2.857143, 10.857142]]),
        ("bicubic_pillow", [[1.4836735, 5.7285714], [2.0489795, 11.567347]]),
    ],
)
def test_pillow_interpolation(mode: str, expected: Any) -> None:
    sizes = port("i64", 2) | {"value": [2, 2]}
    new_layer = layer(
        "Interpolate", "opset11", [port("f32", 2, 4), sizes, port("i64", 2) | {"value": [0, 1]}],
        {"mode": mode, "shape_calculation_mode": "sizes"},
    )  # fmt: skip
    data = np.array([[1, 2, 4, 8], [0, 4, 8, 16]], np.float32)
    result = specgate.execute(new_layer, {"data": data}, target="openvino:opset11")["output"]
    np.testing.assert_allclose(result, expected, rtol=1e-6)


def test_boxes_at_the_threshold_are_removed_in_classes() -> None:
    new_layer = layer(
        "MulticlassNms", "opset9", [port("f32", 1, 2, 4), port("f32", 1, 1, 2)], {"sort_result_type": "score"}, 3
    )
    arrays = {"boxes": [[[0, 0, 1, 1], [2, 2, 3, 3]]], "scores": [[[0.5, 0.25]]]}
    outputs = specgate.execute(new_layer, arrays, target="openvino:opset9", basis="observed")
    assert outputs["selected_outputs"].tolist() == [[0, 0.5, 0, 0, 1, 1]]
    page = specgate.execute(new_layer, arrays, target="openvino:opset9", basis="documented")
    assert len(page["selected_outputs"]) == 2


def test_output_rows_are_the_selected_boxes() -> None:
    new_layer = layer(
        "NonMaxSuppression", "opset1", [port("f32", 1, 2, 4), port("f32", 1, 2, 2), port("i64") | {"value": [2]}], {}, 0
    )
    arrays = {"boxes": [[[0, 0, 1, 1], [2, 2, 3, 3]]], "scores": [[[0.5, 0.25], [0.75, 0.125]]]}
    result = specgate.execute(new_layer, arrays, target="openvino:opset1", basis="observed")["selected_indices"]
    assert sorted(result.tolist()) == [[0, 0, 0], [0, 1, 0]]


def test_values_of_other_types_are_computed_as_floats_and_rounded() -> None:
    new_layer = layer("SoftMax", "opset1", [port("i8", 2, 3)], {"axis": 1})
    data = np.array([[0, 7, 5], [2, 1, 4]], np.int8)
    result = specgate.execute(new_layer, {"data": data}, target="openvino:opset1", basis="observed")["output"]
    assert result.dtype == np.int8
    assert result.tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.raises(specgate.NoKernel):
        specgate.execute(new_layer, {"data": data}, target="openvino:opset1", basis="documented")


#: An omitted required attribute, and OpenVINO's result with its default.
LEFT_OUT = [
    ("pad_mode", layer("Pad", "opset12", [port("i32", 2), *[port("i64", 1) | {"value": [1]}] * 2], {}), [1, 2], [0, 1, 2, 0]),
    ("special_zero", layer("Reshape", "opset1", [port("i32", 4), port("i64", 2) | {"value": [2, -1]}], {}), [1, 2, 3, 4],
     [[1, 2], [3, 4]]),
    ("mode", layer("Reverse", "opset1", [port("i32", 3), port("i64", 1) | {"value": [0]}], {}), [1, 2, 3], [3, 2, 1]),
    ("bias", layer("GRN", "opset1", [port("f32", 1, 2, 1)], {}), [[[3], [4]]], [[[0.58834835], [0.78446454]]]),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "data", "expected"), [e[1:] for e in LEFT_OUT], ids=[e[0] for e in LEFT_OUT])
def test_attributes_defaulted_by_builds(outcome: Any, data: Any, expected: Any) -> None:
    result = specgate.execute(outcome, {"data": data}, target=f"openvino:{outcome['version']}", basis="observed")[
        "output"
    ]
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    with pytest.raises(specgate.InputError, match="is required"):
        specgate.execute(outcome, {"data": data}, target=f"openvino:{outcome['version']}", basis="documented")


@pytest.mark.parametrize(("target", "expected"), [("openvino:opset1", [0, 0, 0]), ("openvino-cpu:2026.4", [0, 1, 1])])
def test_float_to_integer_conversion_depends_on_the_target(target: str, expected: list[int]) -> None:
    new_layer = layer("Sin", "opset1", [port("i32", 3)], {})
    outputs = specgate.execute(new_layer, {"data": np.array([0, 1, 2], np.int32)}, target=target, basis="observed")
    assert outputs["output"].tolist() == expected


def test_behavior_of_the_plugin_only_is_a_note() -> None:
    new_layer = layer("SoftMax", "opset8", [port("f64", 1, 2)], {"axis": 1})
    notes = specgate.execute(new_layer, {"data": np.zeros((1, 2))}, target="openvino:opset8", basis="observed").notes
    assert any("f64 is computed in f32 (the CPU plugin of OpenVINO 2026.4)" in note for note in notes)


#: Layer, arrays, and OpenVINO's results by output name.
OF_PLUGIN: list[tuple[str, Any, dict[str, Any], dict[str, Any]]] = [
    (
        "regions without a width, and boxes beyond the image",
        layer("ExperimentalDetectronDetectionOutput", "opset6",
              [port("f32", 2, 4), port("f32", 2, 8), port("f32", 2, 2), port("f32", 1, 3)],
              {"score_threshold": 0.05, "nms_threshold": 0.5, "num_classes": 2, "post_nms_count": 10,
               "max_detections_per_image": 1, "max_delta_log_wh": 4.0, "deltas_weights": [1.0, 1.0, 1.0, 1.0]}, 3),
        {"rois": [[0, 0, 9, 9], [2, 2, 2, 5]], "deltas": np.zeros((2, 8), np.float32),
         "scores": [[0.1, 0.6], [0.1, 0.9]], "image_info": [[5, 5, 1]]},
        {"boxes": [[0, 0, 9, 9]], "box_classes": [1], "box_scores": [0.6]},
    ),
    (
        "short boxes of one image",
        layer("ExperimentalDetectronGenerateProposalsSingleImage", "opset6",
              [port("f32", 3), port("f32", 2, 4), port("f32", 8, 1, 1), port("f32", 2, 1, 1)],
              {"min_size": 3.0, "nms_threshold": 0.5, "pre_nms_count": 10, "post_nms_count": 2}, 2),
        {"image_info": [20, 20, 1], "anchors": [[0, 0, 5, 5], [1, 1, 2, 2]],
         "deltas": np.zeros((8, 1, 1), np.float32), "scores": [[[0.5]], [[0.75]]]},
        {"rois": [[0, 0, 5, 5], [1, 1, 2, 2]], "roi_scores": [0.5, 0]},
    ),
    (
        "a minimum size times the scale",
        layer("GenerateProposals", "opset9",
              [port("f32", 1, 3), port("f32", 1, 1, 1, 4), port("f32", 1, 4, 1, 1), port("f32", 1, 1, 1, 1)],
              {"min_size": 3.0, "nms_threshold": 0.5, "pre_nms_count": 3, "post_nms_count": 2}, 3),
        {"im_info": [[20, 20, 0.5]], "anchors": [[[[0, 0, 2, 2]]]],
         "boxesdeltas": np.zeros((1, 4, 1, 1), np.float32), "scores": [[[[0.5]]]]},
        {"rpnrois": [[0, 0, 2, 2]], "rpnscores": [0.5], "rpnroisnum": [1]},
    ),
    (
        "a grid without flatten",
        layer("ExperimentalDetectronPriorGridGenerator", "opset6",
              [port("f32", 1, 4), port("f32", 1, 1, 1, 2), port("f32", 1, 1, 4, 8)], {}),
        {"priors": [[0, 0, 2, 2]], "feature_map": [[[[0, 0]]]], "image": np.zeros((1, 1, 4, 8), np.float32)},
        {"output": [[[[2, 2, 4, 4]], [[6, 2, 8, 4]]]]},
    ),
    (
        "rotated boxes whose score is the threshold",
        layer("NMSRotated", "opset13",
              [port("f32", 1, 2, 5), port("f32", 1, 1, 2), port("i64") | {"value": 2}, port("f32"), port("f32")],
              {}, 3),
        {"boxes": [[[0, 0, 2, 2, 0], [9, 9, 2, 2, 0]]], "scores": [[[0.5, 0.25]]], "iou_threshold": 0.5,
         "score_threshold": 0.25},
        {"selected_indices": [[0, 0, 0]], "selected_scores": [[0, 0, 0.5]], "valid_outputs": [1]},
    ),
    (
        "colors that are nan",
        layer("NV12toRGB", "opset8", [port("f32", 1, 2, 2, 1), port("f32", 1, 1, 1, 2)], {}),
        {"y": np.full((1, 2, 2, 1), np.nan, np.float32), "uv": np.zeros((1, 1, 1, 2), np.float32)},
        {"output": np.zeros((1, 2, 2, 3))},
    ),
    (
        "integers of MVN-2",
        layer("MVN", "opset2", [port("i32", 1, 1, 3)],
              {"across_channels": False, "normalize_variance": False, "eps": 1e-9}),
        {"data": [[[1, 2, 9]]]},
        {"output": [[[-3, -2, 5]]]},
    ),
    (
        "maxima of what is not a number",
        layer("ReduceMax", "opset1", [port("f32", 2, 2), port("i64", 1) | {"value": [1]}], {"keep_dims": False}),
        {"data": [[np.nan, 1], [np.nan, -np.inf]]},
        {"output": [1, np.finfo(np.float32).min]},
    ),
    (
        "quotients of short integers",
        layer("Divide", "opset1", [port("i8", 2), port("i8", 2)], {}),
        {"a": [-7, -1], "b": [2, 5]},
        {"output": [-3, 0]},
    ),
    (
        "a filter at the row -0.25",
        layer("DeformableConvolution", "opset8",
              [port("f32", 1, 1, 1, 2), port("f32", 1, 2, 1, 2), port("f32", 1, 1, 1, 1)],
              {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1], "group": 1,
               "deformable_group": 1}),
        {"data": [[[[1, 2]]]], "offsets": [[[[-0.25, 0.25]], [[0, 0.25]]]], "filters": [[[[1]]]]},
        {"output": [[[[0, 2]]]]},
    ),
    (
        "an arc sine of integers",
        layer("Asin", "opset1", [port("i32", 2)], {}),
        {"data": [1, -1]},
        {"output": [1, -1]},
    ),
    (
        "padding that removes more than there is",
        layer("Pad", "opset12", [port("f32", 3, 2), port("i64", 2), port("i64", 2)], {"pad_mode": "edge"}),
        {"data": np.zeros((3, 2), np.float32), "pads_begin": [-2, 1], "pads_end": [-2, 0]},
        {"output": np.zeros((0, 3))},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("result", "arrays", "outputs"), [e[1:] for e in OF_PLUGIN], ids=[e[0] for e in OF_PLUGIN])
def test_observed_values_match_the_plugin(result: Any, arrays: dict[str, Any], outputs: dict[str, Any]) -> None:
    values = specgate.execute(result, arrays, target=f"openvino:{result['version']}", basis="observed")
    for name, expected in outputs.items():
        assert values[name].shape == np.shape(expected)
        np.testing.assert_allclose(values[name], expected, rtol=1e-6)


def test_nms_scores_are_f32() -> None:
    inputs = [port("f16", 1, 1, 4), port("f16", 1, 1, 1), port("i64") | {"value": 1}]
    new_layer = layer("NonMaxSuppression", "opset5", inputs, {}, 3)
    arrays = {"boxes": [[[0, 0, 1, 1]]], "scores": [[[0.5]]]}
    for basis, dtype in (("documented", np.float16), ("observed", np.float32)):
        values = specgate.execute(new_layer, arrays, target="openvino:opset5", basis=basis)  # type: ignore[arg-type]
        assert values["selected_scores"].dtype == dtype


BAGS = [port("f32", 3, 2), port("i64", 2), port("i64", 2), port("i64") | {"value": 2}]
#: Layers whose values differ between runs of a build.
UNDEFINED = [
    ("no dilations", layer("MaxPool", "opset8", [port("f32", 1, 1, 2, 2)],
                           {"strides": [2, 2], "pads_begin": [0, 0], "pads_end": [0, 0], "kernel": [2, 2]}, 2),
     {"data": [[[[1, 2], [3, 4]]]]}),
    ("parts of bytes", layer("Split", "opset1", [port("u2", 2, 2), port("i64") | {"value": 1}], {"num_splits": 2}, 2),
     {"data": np.ones((2, 2), np.uint8)}),
    ("parts of gathered bytes", layer("GatherElements", "opset6", [port("u2", 2, 3), port("i64", 2, 1)], {"axis": 1}),
     {"data": np.ones((2, 3), np.uint8), "indices": [[1], [2]]}),
    ("parts of rolled bytes", layer("Roll", "opset7", [port("u2", 5), port("i64") | {"value": 1}, port("i64") | {"value": 0}], {}),
     {"data": np.ones(5, np.uint8)}),
    ("parts of shuffled bytes", layer("ShuffleChannels", "opset1", [port("u2", 1, 4, 1, 3)], {"axis": 1, "group": 2}),
     {"data": np.ones((1, 4, 1, 3), np.uint8)}),
    ("parts of blocks", layer("SpaceToDepth", "opset1", [port("u1", 1, 1, 2, 4)], {"block_size": 2, "mode": "blocks_first"}),
     {"data": np.ones((1, 1, 2, 4), np.uint8)}),
    ("a bag past the end", layer("EmbeddingBagOffsetsSum", "opset3", BAGS, {}),
     {"emb_table": np.ones((3, 2), np.float32), "indices": [0, 1], "offsets": [0, 2]}),
    ("a longer signal", layer("RDFT", "opset9", [port("f32", 1, 2), *[port("i64", 1) | {"value": [n]} for n in (0, 4)]], {}),
     {"data": [[1, 2]]}),
]  # fmt: skip


@pytest.mark.parametrize(("result", "arrays"), [each[1:] for each in UNDEFINED], ids=[each[0] for each in UNDEFINED])
def test_values_that_builds_leave_undefined_are_masked(result: Any, arrays: dict[str, Any]) -> None:
    target = f"openvino:{result['version']}"
    for output in specgate.execute(result, arrays, target=target, basis="observed").values():
        for each in output if isinstance(output, list) else [output]:
            assert np.ma.getmaskarray(each).all()
    for output in specgate.execute(result, arrays, target=target, basis="documented").values():
        assert not any(np.ma.getmaskarray(each).any() for each in (output if isinstance(output, list) else [output]))


@pytest.mark.parametrize("version", ["opset1", "opset5"])
def test_batches_of_f64_are_normalized_in_f32(version: str) -> None:
    name, vectors = {"opset1": "third", "opset5": "data"}[version], [port("f64", 1)] * 4
    inputs = [port("f64", 1, 1), *vectors] if version == "opset5" else [*vectors[:2], port("f64", 1, 1), *vectors[2:]]
    numbers = {"gamma": [-0.109375], "beta": [-1.6875], name: [[1.484375]], "mean": [1.609375], "variance": [-0.46875]}
    values = specgate.execute(
        layer("BatchNormInference", version, inputs, {"epsilon": 2.0}),
        {key: np.array(each) for key, each in numbers.items()},
        target=f"openvino:{version}",
        basis="observed",
    )
    assert values["output"].tolist() == [[-1.6764514446258545]]


def test_the_reference_truncates_interpolated_integers() -> None:
    inputs = [port("i8", 3), port("i64", 1) | {"value": [5]}, port("i64", 1) | {"value": [0]}]
    new_layer = layer("Interpolate", "opset11", inputs, {"mode": "cubic", "shape_calculation_mode": "sizes"})
    line = specgate.descriptor(new_layer, "openvino")
    numbers = {"data": np.array([10, 21, -33], np.int8)}
    for by, expected in (("evaluate", 8), ("cpu", 9)):
        values = execute_at(line, numbers, "opset11", basis="observed", by=by)
        assert values["output"].tolist() == [expected, 18, 21, -11, -38]


def test_integer_results_of_nan_are_masked() -> None:
    new_layer = layer("Log", "opset1", [port("i32", 3)], {})
    values = specgate.execute(
        new_layer, {"data": np.array([-1, 0, 5], np.int32)}, target="openvino:opset1", basis="observed"
    )
    assert values["output"].tolist() == [None, None, 1]
    new_layer = layer("Atanh", "opset4", [port("u16", 2)], {})
    values = specgate.execute(
        new_layer, {"data": np.array([0, 1], np.uint16)}, target="openvino:opset4", basis="observed"
    )
    assert values["output"].tolist() == [0, None]


@pytest.mark.parametrize("value", [-2, 3])
def test_default_index_selects_a_row(value: int) -> None:
    inputs = [
        port("f32", 3, 2),
        port("i64", 2),
        port("i64", 2),
        port("i64") | {"value": 2},
        port("i64") | {"value": value},
    ]
    new_layer = layer("EmbeddingSegmentsSum", "opset3", inputs, {})
    arrays = {"emb_table": np.ones((3, 2), np.float32), "indices": [0, 1], "segment_ids": [0, 0]}
    assert specgate.check(new_layer, target="openvino:opset3", basis="documented").accepted is False
    with pytest.raises(specgate.InputError, match="default_index must be"):
        specgate.execute(new_layer, arrays, target="openvino:opset3", basis="documented")
    values = specgate.execute(new_layer, arrays, target="openvino:opset3", basis="observed")
    assert np.ma.getmaskarray(values["output"]).all()


@pytest.mark.parametrize(("target", "expected"), [("openvino:opset1", 0.875), ("openvino-cpu:2026.4", 0.87890625)])
def test_bf16_rounding_depends_on_the_target(target: str, expected: float) -> None:
    kind = pytest.importorskip("ml_dtypes").bfloat16
    new_layer = layer("Multiply", "opset1", [port("bf16", 1), port("bf16", 1)], {})
    arrays = {"a": np.array([0.96875], kind), "b": np.array([0.90625], kind)}
    assert specgate.execute(new_layer, arrays, target=target, basis="observed")["output"] == expected


def test_an_undeclared_output_has_the_type_of_the_data() -> None:
    kind = pytest.importorskip("ml_dtypes").float8_e4m3fn
    new_layer = layer("GridSample", "opset9", [port("f8e4m3", 1, 1, 1, 1), port("f32", 1, 1, 1, 2)], {})
    arrays = {"data": np.ones((1, 1, 1, 1), kind), "grid": np.zeros((1, 1, 1, 2), np.float32)}
    assert specgate.execute(new_layer, arrays, target="openvino:opset9", basis="observed")["output"].dtype == kind


#: Undocumented layers that OpenVINO constructs and reads.
ACCEPTED = [
    layer("Squeeze", "opset1", [port("i8", 1, 2), port("i4", 1) | {"value": [0]}], {}),
    layer("AdaptiveAvgPool", "opset8", [port("f32", 2, 3, 7), port("i32", 1, 1) | {"value": [[3]]}], {}),
    layer("AdaptiveMaxPool", "opset8", [port("f32", 2, 3, 7), port("i32", 1, 1)], {}, 2),
    layer("PriorBox", "opset8", [port("i64", 2) | {"value": [2, -1]}, port("i64", 2)],
          {"min_size": [4.0], "offset": 0.5}),
]  # fmt: skip


@pytest.mark.parametrize("result", ACCEPTED, ids=[each["type"] for each in ACCEPTED])
def test_layers_accepted_by_builds_but_not_documented(result: Any) -> None:
    target = f"openvino:{result['version']}"
    assert specgate.check(result, target, basis="observed").accepted
    assert not specgate.check(result, target, basis="documented").accepted
