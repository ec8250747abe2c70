"""Undocumented layers that OpenVINO 2026.4.1 constructs or rejects."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.validate.check import check_at


def layer(kind: str, version: str, inputs: list[tuple[Any, ...]], **data: Any) -> dict[str, Any]:
    tensors = [dict(zip(("element_type", "shape", "value"), entry, strict=False)) for entry in inputs]
    return {"type": kind, "version": version, "inputs": tensors, "outputs": [], "data": data}


def reverse(mode: str, *axis: Any) -> dict[str, Any]:
    return layer("Reverse", "opset1", [("f32", [2, 3]), axis], mode=mode)


def reverse_by_default(axis: list[int]) -> dict[str, Any]:
    return layer("Reverse", "opset1", [("f32", [2, 3]), ("i64", [1], axis)])


def steps(step: float, output_type: str) -> dict[str, Any]:
    inputs: list[Any] = [("i32", [], 2), ("i32", [], 23), ("f32", [], step)]
    return layer("Range", "opset4", inputs, output_type=output_type)


def patches(stride: int, columns: int, sizes: tuple[int, int] = (4, 4)) -> dict[str, Any]:
    settings = {"sizes": list(sizes), "strides": [8, stride], "rates": [1, 1], "auto_pad": "valid"}
    depth = sizes[0] * sizes[1]
    return stated(
        layer("ExtractImagePatches", "opset3", [("f32", [1, 1, 10, 10])], **settings), "f32", 1, depth, 1, columns
    )


def resized(output: list[int], **lists: list[Any]) -> dict[str, Any]:
    ((mode, values),) = lists.items()
    inputs = [("f32", [5, 7]), ("i64" if mode == "sizes" else "f32", [2], values), ("i64", [2], [1, 1])]
    return stated(layer("Interpolate", "opset11", inputs, mode="nearest", shape_calculation_mode=mode), "f32", *output)


def local(shape: list[int], count: int, *axes: list[int]) -> dict[str, Any]:
    data = {"alpha": 1.0, "beta": 1.0, "bias": 1.0, "size": 1}
    return layer("LRN", "opset1", [("f32", shape), ("i64", [count], *axes)], **data)


def stated(case: dict[str, Any], element_type: str, *shape: int) -> dict[str, Any]:
    return {**case, "outputs": [{"element_type": element_type, "shape": list(shape)}]}


def top(shape: list[int]) -> dict[str, Any]:
    return stated(layer("TopK", "opset3", [("f32", [2, 3]), ("i64", [], [1])]), "f32", *shape)


def broadcast(*mapping: Any, **data: Any) -> dict[str, Any]:
    return layer("Broadcast", "opset1", [("f32", [2]), ("i64", [2]), ("i64", *mapping)], **data)


@pytest.mark.parametrize(
    ("case", "accepted"),
    [
        (reverse("mask", "boolean", [3]), False),
        (reverse("mask", "boolean", [0]), False),
        (reverse("index", "i64", [3]), True),
        (steps(0.5, "i32"), True),
        (steps(-0.5, "u8"), True),
        (steps(0.0, "i32"), False),
        (patches(-2, 0), True),
        (patches(-2, 1), False),
        (reverse_by_default([1]), True),
        (reverse_by_default([2]), False),
        (top([1, 3]), True),
        (top([2, 1]), False),
        (stated(layer("Concat", "opset1", [("f32", [2, 3]), ("f32", [2, 3])]), "f32", 4, 3), True),
        (stated(layer("Concat", "opset1", [("f32", [2, 3]), ("f32", [2, 3])]), "f32", 2, 6), False),
        (broadcast([1]), True),
        (broadcast([2]), False),
        (broadcast([2, 3], mode="numpy"), True),
    ],
    ids=str,
)
def test_layers_constructed_by_builds(case: dict[str, Any], accepted: bool) -> None:
    assert specgate.check(case, target="openvino:opset17", basis="observed").accepted is accepted
    assert specgate.check(case, target="openvino:opset17", basis="documented").accepted is False


def pool(kind: str, version: str, size: int, **data: Any) -> dict[str, Any]:
    return layer(kind, version, [("f32", [1, 1, size])], **data)


def convolution(kind: str, size: int, kernel: int, **data: Any) -> dict[str, Any]:
    return layer(
        kind, "opset1", [("f32", [1, 1, size]), ("f32", [1] * kind.startswith("Group") + [1, 1, kernel])], **data
    )


def deformable(size: int, offsets: int, **data: Any) -> dict[str, Any]:
    inputs = [("f32", [1, 1, size, 1]), ("f32", [1, 2, offsets, 1]), ("f32", [1, 1, 1, 1])]
    return layer("DeformableConvolution", "opset8", inputs, group=1, deformable_group=1, **data)


def pad(mode: str, size: int, begin: Any, end: Any, *value: Any) -> dict[str, Any]:
    return layer("Pad", "opset12", [("f32", [size]), ("i64", [1], *begin), ("i64", [1], *end), *value], pad_mode=mode)


def strided(shape: list[int], output: list[int], *lists: Any, **masks: list[int]) -> dict[str, Any]:
    inputs = [
        ("f32", shape),
        *(("i64", [len(each)], each) if isinstance(each, list) else ("i64", [each]) for each in lists),
    ]
    begin_mask = [0] * len(masks.get("ellipsis_mask", []))
    return stated(layer("StridedSlice", "opset1", inputs, begin_mask=begin_mask, **masks), "f32", *output)


def interpolate(data: str, target: str) -> dict[str, Any]:
    return layer("Interpolate", "opset1", [(data, [1, 2]), (target, [1], [4])], axes=[1], mode="nearest")


def norm(kind: str, version: str) -> dict[str, Any]:
    vectors = [(kind, [2])] * 4
    data = [(kind, [1, 2])]
    inputs = data + vectors if version == "opset5" else vectors[:2] + data + vectors[2:]
    return layer("BatchNormInference", version, inputs, epsilon=0.1)


REGION = layer("ROIAlign", "opset3", [("f32", [1, 1, 2, 2]), ("f32", [1, 4]), ("i32", [1])], pooled_h=2, mode="avg")
STEP = [("i64", [1], [0]), ("i64", [1], [2])]
EMPTY: tuple[Any, ...] = ("string", [0], [])


@pytest.mark.parametrize(
    ("case", "accepted"),
    [
        (pool("AvgPool", "opset16", 3, kernel=[5], strides=[1], pads_end=[1], exclude_pad=False), False),
        (pool("AvgPool", "opset1", 3, kernel=[5], strides=[1], pads_begin=[2], exclude_pad=False), True),
        (pool("AvgPool", "opset1", 3, kernel=[2], strides=[1], pads_begin=[2], pads_end=[0]), False),
        (pool("MaxPool", "opset1", 3, kernel=[5], strides=[1]), False),
        (pool("AvgPool", "opset1", 2, kernel=[1], strides=[-2], auto_pad="same_lower"), False),
        (pool("AvgPool", "opset1", 2, kernel=[2], strides=[-2], auto_pad="same_lower"), True),
        (pool("AvgPool", "opset1", 2, kernel=[1], strides=[-2], auto_pad="same_lower", exclude_pad=False), True),
        (stated(pool("AvgPool", "opset1", 5, kernel=[1], strides=[-2], auto_pad="same_upper"), "f32", 1, 1, 2), False),
        (convolution("Convolution", 0, 1), False),
        (convolution("GroupConvolution", 3, 3, pads_begin=[1]), True),
        (stated(convolution("GroupConvolution", 3, 3, pads_begin=[1]), "f32", 1, 1, 1), False),
        (stated(convolution("Convolution", 3, 1, pads_begin=[-1], pads_end=[0]), "f32", 1, 1, 2), False),
        (stated(convolution("ConvolutionBackpropData", 0, 0), "f32", 1, 1, 0), False),
        (stated(convolution("ConvolutionBackpropData", 0, 0), "f32", 1, 1, 1), True),
        (deformable(3, 3), True),
        (deformable(3, 2), False),
        (deformable(3, 4, strides=[1, 1], pads_begin=[-1, 0], pads_end=[0, 0]), True),
        (pad("reflect", 2, [], [[5]]), True),
        (pad("reflect", 2, [[5]], [[0]]), False),
        (pad("edge", 2, [[1]], [[1]], ("f32", [2])), True),
        (layer("Slice", "opset8", [("f32", [2]), *STEP, ("u4", [1], [1])]), False),
        (layer("Slice", "opset8", [("f32", [2]), EMPTY, EMPTY, EMPTY]), False),
        (layer("Slice", "opset8", [("f32", [2]), *STEP, ("i64", [1], [0])]), False),
        (layer("Slice", "opset8", [("f32", [2]), *STEP, ("i64", [1], [0]), ("i64", [1], [0])]), False),
        (layer("Slice", "opset8", [("f32", [2]), ("i64", [1]), ("i64", [1]), ("i64", [1], [0])]), True),
        (layer("Reshape", "opset1", [("f32", [2]), ("i64", [2], [0, 1])]), False),
        (stated(REGION, "f32", 1, 1, 2, 0), True),
        (stated(REGION, "f32", 1, 1, 2, 1), False),
        (stated(layer("ReadValue", "opset6", [("f32", [2])], variable_id="v"), "f32", 2), True),
        (stated(layer("ReadValue", "opset6", [("f32", [2])], variable_id="v"), "f64", 2), False),
    ],
    ids=str,
)
def test_defaults_of_builds(case: dict[str, Any], accepted: bool) -> None:
    case = {**case, "data": {{"exclude_pad": "exclude-pad"}.get(name, name): v for name, v in case["data"].items()}}
    assert specgate.check(case, target="openvino:opset16", basis="observed").accepted is accepted


@pytest.mark.parametrize(
    ("case", "accepted"),
    [
        (strided([0], [0], 1, 1, ellipsis_mask=[0, 1, 0]), True),
        (strided([0], [1], 1, 1, ellipsis_mask=[0, 1, 0]), False),
        (strided([], [], 1, 1, new_axis_mask=[1, 0], ellipsis_mask=[0, 1]), False),
        (strided([3, 4, 5], [3, 4, 6], 2, 2, ellipsis_mask=[1, 0]), False),
        (strided([3, 4, 5], [3, 4, 2], [0, 1], [0, 4], [1, 2], ellipsis_mask=[1, 0]), True),
        (strided([3, 4, 5], [3, 4, 3], [0, 1], [0, 4], [1, 2], ellipsis_mask=[1, 0]), False),
        (strided([3, 4], [3, 1, 4], 2, 2, ellipsis_mask=[1, 0], new_axis_mask=[0, 1]), True),
        (strided([3, 4], [3, 4], 2, 2, ellipsis_mask=[1, 0], new_axis_mask=[0, 1]), False),
        (strided([1], [1], [-2], [-7], [-1]), True),
        (strided([1], [0], [-2], [-7], [-1]), False),
        (strided([], [], 2, 2, ellipsis_mask=[1, 0], shrink_axis_mask=[0, 1]), True),
        (stated(layer("Squeeze", "opset1", [("f32", [0, 1]), ("i64", [])]), "f32"), False),
        (stated(layer("Squeeze", "opset1", [("f32", [0, 1]), ("i64", [])]), "f32", 5), True),
        (stated(layer("Squeeze", "opset1", [("f32", [1, 2]), ("i64", [])]), "f32", 1, 2), False),
        (stated(layer("Squeeze", "opset1", [("f32", [1, 2]), ("i64", [], [1])]), "f32", 1, 2), True),
        (resized([5, 4], sizes=[3, 4]), True),
        (resized([5, 3], sizes=[3, 4]), False),
        (resized([5, 25], scales=[1.5, 2.5]), True),
        (resized([5, 17], scales=[1.5, 2.5]), False),
        (local([3], 1), False),
        (local([3], 1, [0]), True),
        (local([3, 2], 1), True),
        (patches(-1, 3, sizes=(4, 0)), False),
        (patches(-2, 1, sizes=(4, 0)), False),
        (patches(-10, 1, sizes=(4, 0)), True),
        (patches(8, 3, sizes=(4, 0)), False),
    ],
    ids=str,
)
def test_inferred_sizes(case: dict[str, Any], accepted: bool) -> None:
    verdict = check_at(specgate.descriptor(case, "openvino"), "opset17", "observed", "factory")
    assert verdict.accepted is accepted


@pytest.mark.parametrize(
    ("case", "accepted"),
    [
        (convolution("Convolution", 5, 2, dilations=[-1], strides=[1]), False),
        (convolution("Convolution", 5, 2, dilations=[-2], strides=[1]), False),
        (convolution("GroupConvolution", 5, 2, pads_begin=[0], pads_end=[-2]), False),
        (convolution("GroupConvolution", 5, 2, pads_begin=[1], pads_end=[-1]), True),
        (convolution("ConvolutionBackpropData", 5, 2, strides=[-1]), False),
        (convolution("GroupConvolutionBackpropData", 5, 0), False),
        (convolution("GroupConvolutionBackpropData", 5, 2, pads_begin=[-1], pads_end=[0]), False),
        (deformable(3, 3, strides=[1, 1], pads_begin=[-1, 0], pads_end=[0, 0], dilations=[1, 1]), False),
        (pool("MaxPool", "opset1", 5, kernel=[2], strides=[-1]), False),
        (pool("MaxPool", "opset8", 5, kernel=[2], strides=[-1], dilations=[1]), True),
        (pool("AvgPool", "opset1", 5, kernel=[2], strides=[1], pads_begin=[-2], exclude_pad=False), False),
        (layer("MaxPool", "opset8", [("bf16", [1, 1, 3])], kernel=[2], strides=[1], dilations=[1]), False),
        (layer("MaxPool", "opset1", [("bf16", [1, 1, 3])], kernel=[2], strides=[1]), True),
        (layer("BinaryConvolution", "opset1", [("i8", [1, 2, 3, 3]), ("i8", [1, 2, 1, 1])]), False),
        (interpolate("f32", "i64"), True),
        (interpolate("f32", "i8"), False),
        (interpolate("u16", "i64"), False),
        (norm("f8e5m2", "opset1"), False),
        (norm("f8e5m2", "opset5"), False),
        (norm("f32", "opset1"), True),
        (layer("BinaryConvolution", "opset1", [("i8", [1, 1, 3, 3]), ("i8", [1, 1, 1, 1])]), True),
    ],
    ids=str,
)
def test_layers_compiled_by_the_cpu_plugin(case: dict[str, Any], accepted: bool) -> None:
    case = {**case, "data": {{"exclude_pad": "exclude-pad"}.get(name, name): v for name, v in case["data"].items()}}
    verdict = check_at(specgate.descriptor(case, "openvino"), "opset17", "observed", "cpu")
    assert verdict.accepted is accepted


@pytest.mark.parametrize(
    ("first", "second", "accepted"),
    [(["N", 3], ["N"], True), (["N", 3], ["M"], None), (["N", 3], [2], None), ([2, 3], [3], False)],
)
@pytest.mark.parametrize("kind", ["Add", "Maximum", "Power", "Less", "SquaredDifference"])
def test_pdpd_with_unknown_sizes(kind: str, first: list[Any], second: list[Any], accepted: bool | None) -> None:
    case = layer(kind, "opset1", [("f32", first), ("f32", second)], auto_broadcast="pdpd")
    assert specgate.check(case, target="openvino:opset16", basis="observed").accepted is accepted
