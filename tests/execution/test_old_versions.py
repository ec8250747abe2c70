"""Kernels that serve versions of an operator whose tensors have another order or other names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate

onnx = pytest.importorskip("onnx")
X = np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 7
LISTS = [np.array(values, np.float32) for values in ([1, 2, 3], [0.5, 0, -1], [0, 1, 0.5], [1, 4, 0.25])]
NORMALIZED = ((X - LISTS[2][:, None]) / np.sqrt(LISTS[3] + 1e-5)[:, None]) * LISTS[0][:, None] + LISTS[1][:, None]


def batch_normalization(**attributes):
    """A NodeProto with the types of its inputs."""
    names = ["x", "s", "b", "m", "v"]
    node = onnx.helper.make_node("BatchNormalization", names, ["y"], **attributes)
    shapes = [X.shape, *[array.shape for array in LISTS]]
    return node, {
        name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in zip(names, shapes, strict=True)
    }


@pytest.mark.parametrize("opset", [6, 7, 9, 13, 14, 22])
def test_batch_normalization_as_a_node_without_opset_is_read_as_the_target_reads_it(opset):
    names = ("mean", "var") if opset < 14 else ("input_mean", "input_var")
    arrays = dict(zip(("X", "scale", "B", *names), (X, *LISTS), strict=True))
    outputs = specgate.execute(batch_normalization(), arrays, target=f"onnx:{opset}")
    assert set(outputs) >= {"Y"}
    np.testing.assert_allclose(outputs["Y"], NORMALIZED, rtol=2e-6)


def with_outputs(opset, count, **attributes):
    tensor = {"elem_type": "FLOAT"}
    shapes = [X.shape, *[array.shape for array in LISTS]]
    return {
        "op_type": "BatchNormalization",
        "opset": opset,
        "inputs": [{**tensor, "shape": list(shape)} for shape in shapes],
        "outputs": [{**tensor, "shape": list(shape)} for shape in [X.shape, *[(3,)] * (count - 1)]],
        "attributes": attributes,
    }


@pytest.mark.parametrize("opset", [6, 9, 13])
def test_five_outputs_mean_training_before_14(opset):
    node = with_outputs(opset, 5, momentum=0.75)
    assert specgate.check(node, target=f"onnx:{opset}").accepted
    names = ("X", "scale", "B", "mean", "var")
    outputs = specgate.execute(node, dict(zip(names, (X, *LISTS), strict=True)), target=f"onnx:{opset}")
    mean, variance = X.mean(axis=(0, 2)), X.var(axis=(0, 2))
    np.testing.assert_allclose(outputs["saved_mean"], mean, rtol=1e-6)
    np.testing.assert_allclose(outputs["saved_var"], variance, rtol=1e-6)
    np.testing.assert_allclose(outputs["mean_output"], 0.75 * LISTS[2] + 0.25 * mean, rtol=1e-6)
    np.testing.assert_allclose(outputs["var_output"], 0.75 * LISTS[3] + 0.25 * variance, rtol=1e-6)


def test_without_spatial_every_place_has_statistics_of_its_own():
    numbers = np.ones((3, 2), np.float32)
    tensor = {"elem_type": "FLOAT"}
    node: dict[str, Any] = {
        "op_type": "BatchNormalization",
        "opset": 8,
        "inputs": [{**tensor, "shape": [2, 3, 2]}, *[{**tensor, "shape": [3, 2]}] * 4],
        "outputs": [{**tensor, "shape": [2, 3, 2]}],
        "attributes": {"spatial": 0},
    }
    arrays = {"X": X, "scale": numbers, "B": numbers, "mean": numbers * X[0], "var": numbers}
    assert specgate.check(node, target="onnx:8").accepted
    outputs = specgate.execute(node, arrays, target="onnx:8")
    np.testing.assert_allclose(outputs["Y"][0], numbers, rtol=1e-6)
    node["inputs"][1] = {**tensor, "shape": [3]}
    assert not specgate.check(node, target="onnx:8").accepted
    with pytest.raises(specgate.InputError, match=r"expected a scale of shape \[3, 2\]"):
        specgate.execute(node, {**arrays, "scale": numbers[:, 0]}, target="onnx:8")


def transposed(opset, **attributes):
    tensor = {"elem_type": "FLOAT"}
    return {
        "op_type": "ConvTranspose",
        "opset": opset,
        "inputs": [{**tensor, "shape": [1, 1, 3]}, {**tensor, "shape": [1, 1, 2]}],
        "attributes": attributes,
    }


ARRAYS = {"X": np.array([[[1, 2, 3]]], np.float32), "W": np.array([[[10, 1]]], np.float32)}


@pytest.mark.parametrize("opset", [1, 10, 11])
@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({}, [10, 21, 32, 3]),
        ({"strides": [2], "auto_pad": "SAME_UPPER"}, [10, 1, 20, 2, 30, 3]),
        ({"output_shape": [3]}, [21, 32, 3]),
        ({"output_shape": [3], "auto_pad": "SAME_UPPER"}, [10, 21, 32]),
    ],
)
def test_transposed_convolutions_before_11(opset, attributes, expected):
    assert specgate.check(transposed(opset, **attributes), target=f"onnx:{opset}").accepted
    found = specgate.execute(transposed(opset, **attributes), ARRAYS, target=f"onnx:{opset}")["Y"]
    assert found.tolist() == [[expected]]


def test_output_padding_had_no_bound_before_11():
    node = transposed(10, output_padding=[2])
    assert specgate.check(node, target="onnx:10").accepted
    assert specgate.execute(node, ARRAYS, target="onnx:10")["Y"].tolist() == [[[10, 21, 32, 3, 0, 0]]]
    node = transposed(11, output_padding=[2])
    assert not specgate.check(node, target="onnx:11").accepted
    with pytest.raises(specgate.InputError, match="expected output paddings below"):
        specgate.execute(node, ARRAYS, target="onnx:11")


QUANTIZED = {"x": np.array([3, -600], np.float32), "y_scale": np.float32(2)}


def quantized(number, *more):
    tensor = {"elem_type": "FLOAT"}
    inputs = [{**tensor, "shape": [2]}, {**tensor, "shape": []}, *more]
    return {"op_type": "QuantizeLinear", "inputs": inputs, "attributes": {"output_dtype": number}}


@pytest.mark.parametrize(
    ("number", "dtype", "expected"), [(2, "uint8", [2, 0]), (3, "int8", [2, -128]), (5, "int16", [2, -300])]
)
def test_the_number_of_a_type_is_enough_for_the_output(number, dtype, expected):
    assert specgate.check(quantized(number), target="onnx:21").accepted
    found = specgate.execute(quantized(number), QUANTIZED, target="onnx:21")["y"]
    assert (found.dtype, found.tolist()) == (np.dtype(dtype), expected)


def test_a_number_that_contradicts_the_zero_point_or_no_type_is_refused():
    node = quantized(5, {"elem_type": "INT8", "shape": []})
    assert not specgate.check(node, target="onnx:21").accepted
    with pytest.raises(specgate.InputError, match="the zero point is int8, but the output int16"):
        specgate.execute(node, {**QUANTIZED, "y_zero_point": np.int8(0)}, target="onnx:21")
    with pytest.raises(specgate.InputError, match="output_dtype is 99"):
        specgate.execute(quantized(99), QUANTIZED, target="onnx:21")
