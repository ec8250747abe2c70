"""Layers that once violated the law: computed although rejected, or the reverse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate
from specgate.descriptors.read import read_dict
from specgate.spec.tables import dialect
from tests.properties.law import ask


def layer(
    kind: str, version: str, inputs: list[tuple[str, list[int]]], outputs: list[Any], data: Any
) -> dict[str, Any]:
    tensors = [{"element_type": element, "shape": shape} for element, shape in inputs]
    stated = [output and {"element_type": output[0], "shape": output[1]} for output in outputs]
    return {"type": kind, "version": version, "inputs": tensors, "outputs": stated, "data": data}


def constant(entries: dict[str, Any], at: int, value: Any) -> dict[str, Any]:
    entries["inputs"][at]["value"] = value
    return entries


DETECTIONS = {
    "score_threshold": 0.05,
    "nms_threshold": 0.5,
    "num_classes": 1,
    "post_nms_count": 10,
    "max_detections_per_image": 5,
    "max_delta_log_wh": 4.0,
    "deltas_weights": [10.0, 10.0, 5.0, 5.0],
}
STRAIGHT = {"mode": "linear_onnx", "shape_calculation_mode": "sizes"}
PROPOSALS = {"min_size": 1.0, "nms_threshold": 0.5, "pre_nms_count": 10, "post_nms_count": -1}
REFUSED = {
    "deltas-of-another-number-of-classes": layer(
        "ExperimentalDetectronDetectionOutput",
        "opset6",
        [("f32", [6, 4]), ("f32", [6, 12]), ("f32", [6, 3]), ("f32", [1, 3])],
        [],
        DETECTIONS,
    ),
    "a-negative-number-of-regions": layer(
        "ExperimentalDetectronGenerateProposalsSingleImage",
        "opset6",
        [("f32", [3]), ("f32", [2, 4]), ("f32", [8, 1, 1]), ("f32", [2, 1, 1])],
        [],
        PROPOSALS,
    ),
    "sizes-that-are-floats": constant(
        constant(
            layer("Interpolate", "opset11", [("f32", [1, 2, 4, 6]), ("f32", [2]), ("i64", [2])], [], STRAIGHT),
            1,
            [8.0, 3],
        ),
        2,
        [2, 3],
    ),
    "a-mask-that-lists-axes": layer(
        "Reverse", "opset1", [("f32", [2, 3]), ("boolean", [2])], [("f32", [2, 3])], {"mode": "index"}
    ),
    "a-negative-number-of-segments": constant(
        layer("EmbeddingSegmentsSum", "opset3", [("f32", [5, 2]), ("i64", [4]), ("i64", [4]), ("i64", [])], [], {}),
        3,
        -1,
    ),
    "a-default-row-beyond-the-table": constant(
        constant(
            layer(
                "EmbeddingSegmentsSum",
                "opset3",
                [("f32", [5, 2]), ("i64", [4]), ("i64", [4]), ("i64", []), ("i64", [])],
                [],
                {},
            ),
            3,
            3,
        ),
        4,
        5,
    ),
    "a-default-row-of-bags-beyond-the-table": constant(
        layer("EmbeddingBagOffsetsSum", "opset3", [("f32", [5, 2]), ("i64", [4]), ("i64", [3]), ("i64", [])], [], {}),
        3,
        5,
    ),
    "more-cropped-than-there-is": constant(
        constant(
            layer("Pad", "opset12", [("f32", [2, 4]), ("i64", [2]), ("i64", [2])], [], {"pad_mode": "constant"}),
            1,
            [0, 0],
        ),
        2,
        [0, -5],
    ),
    "dilations-of-0-over-no-elements": layer(
        "ConvolutionBackpropData",
        "opset1",
        [("f32", [0, 20, 0, 0]), ("f32", [20, 10, 3, 3])],
        [],
        {"strides": [3, 3], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [0, 0], "output_padding": [2, 2]},
    ),
    "a-default-of-another-type": layer(
        "SparseFillEmptyRows", "opset16", [("u8", [2]), ("i32", [2]), ("i32", [2, 2]), ("f32", [])], [], {}
    ),
    "a-list-without-an-end": constant(
        layer("Range", "opset4", [("f32", []), ("f32", []), ("f32", [])], [], {"output_type": "f32"}), 1, float("inf")
    ),
    "other-sizes-than-all-inputs-have": layer(
        "Select",
        "opset1",
        [("boolean", [1, 3]), ("f32", [1, 3]), ("f32", [1, 3])],
        [("f32", [1, 4])],
        {"auto_broadcast": "pdpd"},
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_verdict_and_executor_reject_the_same_descriptors(name):
    document = REFUSED[name]
    assert specgate.check(document, target="openvino:opset17").accepted is False
    numpy_types = {"f32": np.float32, "i64": np.int64, "i32": np.int32, "u8": np.uint8, "boolean": np.bool_}
    descriptor = specgate.descriptor(document, dialect="openvino")
    inputs = [info.name for info in dialect("openvino").operator(document["type"]).inputs]
    arrays = {
        field: np.ones(tensor["shape"], numpy_types[tensor["element_type"]])
        for field, tensor in zip(inputs, document["inputs"], strict=False)
        if "value" not in tensor
    }
    with pytest.raises(specgate.InputError):
        specgate.execute(descriptor, arrays, target="openvino:opset17")


def test_an_axis_that_is_listed_twice_is_reversed_once():
    entries = constant(layer("Reverse", "opset1", [("f32", [2, 3]), ("i64", [2])], [], {"mode": "index"}), 1, [1, 1])
    assert specgate.check(entries, target="openvino:opset1").accepted
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert specgate.execute(entries, {"data": data}, target="openvino:opset1")["output"].tolist() == [
        [2, 1, 0],
        [5, 4, 3],
    ]


def test_linear_resize_ignores_axes_of_unchanged_size():
    """Torch's form of an upsampling: no axes, and scales of 1 for batches and channels."""
    inputs = [("f32", [1, 2, 4, 6]), ("f32", [4])]
    texts_by_name = {"mode": "linear_onnx", "shape_calculation_mode": "scales"}
    data = np.arange(48, dtype=np.float32).reshape(1, 2, 4, 6) ** 2
    every = constant(layer("Interpolate", "opset11", inputs, [], texts_by_name), 1, [1.0, 1.0, 0.5, 2.0])
    assert [f.id for f in specgate.check(every, target="openvino:opset17", basis="documented").findings] == [
        "openvino/Interpolate/linear-onnx-axes"
    ]
    named = layer("Interpolate", "opset11", [inputs[0], ("f32", [2]), ("i64", [2])], [], texts_by_name)
    last = constant(constant(named, 1, [0.5, 2.0]), 2, [2, 3])
    outputs, expected = (
        specgate.execute(specgate.descriptor(each, dialect="openvino"), {"data": data}, target="openvino:opset17")
        for each in (every, last)
    )
    assert outputs["output"].tolist() == expected["output"].tolist()


@pytest.mark.parametrize(("mode", "expected"), [("symmetric", [2, 3, 3, 2, 1]), ("reflect", [2, 3, 2, 1, 0])], ids=str)
def test_elements_are_mirrored_before_the_other_end_is_cropped(mode, expected):
    """The values of OpenVINO 2026.4.1."""
    inputs = [("f32", [4]), ("i64", [1]), ("i64", [1])]
    result = constant(constant(layer("Pad", "opset12", inputs, [], {"pad_mode": mode}), 1, [-2]), 2, [3])
    assert specgate.check(result, target="openvino:opset17").accepted
    data = np.arange(4, dtype=np.float32)
    assert specgate.execute(result, {"data": data}, target="openvino:opset17")["output"].tolist() == expected


def test_clip_bounds_of_one_element_are_computed():
    tensors = [{"elem_type": "FLOAT", "shape": shape} for shape in ([3], [1])]
    clip = {"op_type": "Clip", "inputs": tensors, "outputs": []}
    assert specgate.check(clip, target="onnx:13").accepted is False
    arrays = {"input": np.array([-1, 0, 1], np.float32), "min": np.zeros(1, np.float32)}
    assert specgate.execute(clip, arrays, target="onnx:13")["output"].tolist() == [0, 0, 1]


@pytest.mark.parametrize(("operator", "count"), [("Adagrad", 3), ("Adam", 4), ("Momentum", 3)])
def test_optimizers_keep_the_type_of_each_tensor(operator, count):
    tensors = [{"elem_type": word, "shape": [2]} for word in ("FLOAT",) * count]
    tensors[-1] = {"elem_type": "DOUBLE", "shape": [2]}
    heads = [{"elem_type": "FLOAT", "shape": []}, {"elem_type": "INT64", "shape": []}]
    node = {
        "op_type": operator,
        "domain": "ai.onnx.preview.training",
        "inputs": [*heads, *tensors],
        "outputs": [{"elem_type": "FLOAT", "shape": [2]}] * (count - 1),
        "attributes": {"alpha": 0.9, "beta": 0.9, "mode": "standard", "norm_coefficient": 0.0}
        if operator == "Momentum"
        else {},
    }
    rejected = specgate.check(node, target="onnx:17")
    assert [finding.rule for finding in rejected.findings if "types" in finding.id]
    assert rejected.accepted is False
    node["outputs"] = [*node["outputs"][1:], tensors[-1]]
    assert specgate.check(node, target="onnx:17").accepted


def test_too_many_sampling_points_are_skipped():
    sizes = {"InputTensor": [1, 1, 4, 4], "ROITensor": [1, 4], "OutputTensor": [1, 1, 1, 3]}
    tensors: dict[str, Any] = {name: {"DataType": "FLOAT32", "Sizes": shape} for name, shape in sizes.items()}
    attributes: dict[str, Any] = {"ReductionFunction": "AVERAGE", "InterpolationMode": "NEAREST_NEIGHBOR"}
    attributes |= {"SpatialScaleX": 1.0, "SpatialScaleY": 1.0, "OutOfBoundsInputValue": 0.0}
    attributes |= {"MinimumSamplesPerOutput": 1, "MaximumSamplesPerOutput": 2**31}
    desc = {**tensors, "BatchIndicesTensor": {"DataType": "UINT32", "Sizes": [1]}, **attributes}
    descriptor = {"type": "DML_OPERATOR_ROI_ALIGN", "desc": desc}
    arrays = {name: np.zeros(sizes[name], np.float32) for name in ("InputTensor", "ROITensor")}
    arrays = {**arrays, "BatchIndicesTensor": np.zeros(1, np.uint32)}
    arrays["ROITensor"][0, 2] = 1e30
    answer = ask(dialect("directml").operator("ROI_ALIGN"), read_dict(descriptor, "directml"), arrays, "6.4")
    assert answer.kind == "skipped"
