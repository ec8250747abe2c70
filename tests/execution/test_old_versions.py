"""Operator versions whose tensors have another order or other names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import specgate
from specgate.spec.tables import dialect

onnx = pytest.importorskip("onnx")
X = np.arange(12, dtype=np.float32).reshape(2, 3, 2) / 7
LISTS = [np.array(values, np.float32) for values in ([1, 2, 3], [0.5, 0, -1], [0, 1, 0.5], [1, 4, 0.25])]
NORMALIZED = ((X - LISTS[2][:, None]) / np.sqrt(LISTS[3] + 1e-5)[:, None]) * LISTS[0][:, None] + LISTS[1][:, None]


def batch_normalization(**attributes):
    """Return a NodeProto with the types of its inputs."""
    names = ["x", "s", "b", "m", "v"]
    node = onnx.helper.make_node("BatchNormalization", names, ["y"], **attributes)
    shapes = [X.shape, *[array.shape for array in LISTS]]
    return node, {
        name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in zip(names, shapes, strict=True)
    }


@pytest.mark.parametrize("opset", [6, 7, 9, 13, 14, 22])
def test_batch_normalization_without_opset_uses_the_target_opset(opset):
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
def test_batch_normalization_with_5_outputs_trains_before_14(opset):
    node = with_outputs(opset, 5, momentum=0.75)
    assert specgate.check(node, target=f"onnx:{opset}").accepted
    names = ("X", "scale", "B", "mean", "var")
    outputs = specgate.execute(node, dict(zip(names, (X, *LISTS), strict=True)), target=f"onnx:{opset}")
    mean, variance = X.mean(axis=(0, 2)), X.var(axis=(0, 2))
    np.testing.assert_allclose(outputs["saved_mean"], mean, rtol=1e-6)
    np.testing.assert_allclose(outputs["saved_var"], variance, rtol=1e-6)
    np.testing.assert_allclose(outputs["mean_output"], 0.75 * LISTS[2] + 0.25 * mean, rtol=1e-6)
    np.testing.assert_allclose(outputs["var_output"], 0.75 * LISTS[3] + 0.25 * variance, rtol=1e-6)


def test_spatial_0_normalizes_each_position_separately():
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


def transpose(opset, **attributes):
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
    assert specgate.check(transpose(opset, **attributes), target=f"onnx:{opset}").accepted
    result = specgate.execute(transpose(opset, **attributes), ARRAYS, target=f"onnx:{opset}")["Y"]
    assert result.tolist() == [[expected]]


def test_output_padding_had_no_bound_before_11():
    node = transpose(10, output_padding=[2])
    assert specgate.check(node, target="onnx:10").accepted
    assert specgate.execute(node, ARRAYS, target="onnx:10")["Y"].tolist() == [[[10, 21, 32, 3, 0, 0]]]
    node = transpose(11, output_padding=[2])
    assert not specgate.check(node, target="onnx:11").accepted
    with pytest.raises(specgate.InputError, match="expected output_padding below"):
        specgate.execute(node, ARRAYS, target="onnx:11")


QUANTIZED = {"x": np.array([3, -600], np.float32), "y_scale": np.float32(2)}


def quantize(number, *more):
    tensor = {"elem_type": "FLOAT"}
    inputs = [{**tensor, "shape": [2]}, {**tensor, "shape": []}, *more]
    return {"op_type": "QuantizeLinear", "inputs": inputs, "attributes": {"output_dtype": number}}


@pytest.mark.parametrize(
    ("number", "dtype", "expected"), [(2, "uint8", [2, 0]), (3, "int8", [2, -128]), (5, "int16", [2, -300])]
)
def test_type_number_determines_the_output_type(number, dtype, expected):
    assert specgate.check(quantize(number), target="onnx:21").accepted
    result = specgate.execute(quantize(number), QUANTIZED, target="onnx:21")["y"]
    assert (result.dtype, result.tolist()) == (np.dtype(dtype), expected)


def test_output_dtype_must_exist_and_match_the_zero_point():
    node = quantize(5, {"elem_type": "INT8", "shape": []})
    assert not specgate.check(node, target="onnx:21").accepted
    with pytest.raises(specgate.InputError, match="the zero point is int8, but the output is int16"):
        specgate.execute(node, {**QUANTIZED, "y_zero_point": np.int8(0)}, target="onnx:21")
    with pytest.raises(specgate.InputError, match="output_dtype is 99"):
        specgate.execute(quantize(99), QUANTIZED, target="onnx:21")


def old(operator, opset, inputs, *, outputs=None, **attributes) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return an operator's outputs for lists of FLOATs or booleans, by position."""
    arrays = [np.array(x, np.bool_ if operator in {"And", "Or", "Xor"} else np.float32) for x in inputs]
    tensors = [{"elem_type": "BOOL" if x.dtype == np.bool_ else "FLOAT", "shape": list(x.shape)} for x in arrays]
    node = {"op_type": operator, "opset": opset, "inputs": tensors, "attributes": attributes}
    if outputs:
        node["outputs"] = [{"elem_type": "FLOAT", "shape": shape} for shape in outputs]
    names = [info.name for info in dialect("onnx").operator(operator).layout(str(opset)).inputs]
    return node, dict(zip(names, arrays, strict=False))


def execute_all(*args, **kwargs):
    node, arrays = old(*args, **kwargs)
    return specgate.execute(node, arrays, target=f"onnx:{node['opset']}")


def compute(*args, **kwargs):
    node, arrays = old(*args, **kwargs)
    assert specgate.check(node, target=f"onnx:{node['opset']}").accepted
    result: Any
    (result,) = specgate.execute(node, arrays, target=f"onnx:{node['opset']}").values()
    return [part.tolist() for part in result] if isinstance(result, list) else result.tolist()


GRID = [[[1, 2], [3, 4], [5, 6]]]


@pytest.mark.parametrize("opset", [1, 6])
@pytest.mark.parametrize(
    ("second", "attributes", "expected"),
    [
        ([10, 20], {"broadcast": 1}, [[[11, 22], [13, 24], [15, 26]]]),
        ([10, 20, 30], {"broadcast": 1, "axis": 1}, [[[11, 12], [23, 24], [35, 36]]]),
        ([[10], [20], [30]], {"broadcast": 1}, [[[11, 12], [23, 24], [35, 36]]]),
        ([[[[10]]]], {"broadcast": 1}, [[[11, 12], [13, 14], [15, 16]]]),
        (10, {"broadcast": 1, "axis": -1}, [[[11, 12], [13, 14], [15, 16]]]),
        (GRID, {"axis": 7}, [[[2, 4], [6, 8], [10, 12]]]),
    ],
)
def test_broadcast_axis_before_7(opset, second, attributes, expected):
    assert compute("Add", opset, [GRID, second], **attributes) == expected


@pytest.mark.parametrize(
    ("first", "second", "attributes"),
    [
        (GRID, [10, 20], {}),
        (GRID, [10, 20, 30], {"broadcast": 1}),
        (GRID, [10, 20, 30], {"broadcast": 1, "axis": 2}),
        (GRID, [10, 20], {"broadcast": 1, "axis": 3}),
        ([1, 2], GRID, {"broadcast": 1}),
        ([[1, 2]], [[1, 2], [3, 4]], {"broadcast": 1}),
        (GRID, GRID, {"broadcast": 1, "axis": 1}),
    ],
)
@pytest.mark.parametrize("operator", ["Add", "Less", "Pow"])
def test_broadcasting_before_7_is_one_directional(operator, first, second, attributes):
    node, arrays = old(operator, 6, [first, second], **attributes)
    assert not specgate.check(node, target="onnx:6").accepted
    with pytest.raises(specgate.InputError, match=r"expected one shape|does not broadcast to"):
        specgate.execute(node, arrays, target="onnx:6")


def test_negative_broadcast_axis_before_7_has_no_kernel():
    with pytest.raises(specgate.NoKernel, match="it is unspecified what an axis of -2 means"):
        execute_all("Add", 6, [GRID, [10, 20, 30]], broadcast=1, axis=-2)


def test_square_requires_the_shape_of_the_base_before_7():
    for exponent in (2, 3):
        assert compute("Pow", 6, [[3, 4], [[exponent]]], broadcast=1) == [3**exponent, 4**exponent]
        node, arrays = old("Pow", 6, [[3, 4], [exponent]])
        assert not specgate.check(node, target="onnx:6").accepted
        with pytest.raises(specgate.InputError, match="expected one shape"):
            specgate.execute(node, arrays, target="onnx:6")


@pytest.mark.parametrize(
    ("operator", "expected"),
    [
        ("Sub", [[0, 1], [1, 2]]), ("Mul", [[1, 2], [6, 8]]), ("Div", [[1, 2], [1.5, 2]]), ("Less", [[0, 0], [0, 0]]),
        ("Greater", [[0, 1], [1, 1]]), ("Pow", [[1, 2], [9, 16]]), ("And", [[1, 1], [1, 1]]), ("Or", [[1, 1], [1, 1]]),
        ("Xor", [[0, 0], [0, 0]]),
    ],
)  # fmt: skip
def test_first_versions_of_other_operators_broadcast_equally(operator, expected):
    assert compute(operator, 6, [[[1, 2], [3, 4]], [1, 2]], broadcast=1, axis=0) == expected


@pytest.mark.parametrize(("slope", "expected"), [([2], [[[-2], [-4]]]), ([2, 3], [[[-2], [-6]]])])
def test_prelu_slope_before_7_is_scalar_or_per_channel(slope, expected):
    for opset in (1, 6):
        assert compute("PRelu", opset, [[[[-1], [-2]]], slope]) == expected
    with pytest.raises(specgate.NoKernel, match="do not match"):
        execute_all("PRelu", 6, [[[[-1], [-2]]], [[2], [3]]])


def test_gemm_before_7_broadcasts_c_only_on_request():
    matrix = [[1, 0], [0, 1]]
    assert compute("Gemm", 6, [matrix, matrix, [5, 7]], broadcast=1) == [[6, 7], [5, 8]]
    assert compute("Gemm", 1, [matrix, matrix, matrix]) == [[2, 0], [0, 2]]
    node, arrays = old("Gemm", 6, [matrix, matrix, [5, 7]])
    assert not specgate.check(node, target="onnx:6").accepted
    with pytest.raises(specgate.InputError, match="expected a summand of shape"):
        specgate.execute(node, arrays, target="onnx:6")


@pytest.mark.parametrize(
    ("operator", "inputs", "attributes", "expected"),
    [
        ("Pad", [[[1, 2]]], {"paddings": [0, 1, 1, 0], "value": 9.0}, [[9, 1, 2], [9, 9, 9]]),
        ("Reshape", [[[1, 2, 3], [4, 5, 6]]], {"shape": [0, -1, 1]}, [[[1], [2], [3]], [[4], [5], [6]]]),
        ("MaxPool", [[[[1, 3, 2]]]], {"kernel_shape": [2]}, [[[3, 3]]]),
        ("LpPool", [[[[1, 4, 9]]]], {"kernel_shape": [2], "p": 0.5}, [[[9, 25]]]),
        ("GlobalLpPool", [[[[1, 4, 9]]]], {"p": 0.5}, [[[36]]]),
        ("Tile", [[[1, 2]], [2], [1]], {}, [[1, 2, 1, 2]]),
        ("Tile", [[[1, 2]], 3, -2], {}, [[1, 2], [1, 2], [1, 2]]),
    ],
)
def test_first_versions_with_attributes_that_became_inputs(operator, inputs, attributes, expected):
    assert compute(operator, 1, inputs, **attributes) == expected


def test_split_1_sizes_come_from_attribute_or_input():
    shapes = [[1, 1], [1, 2]]
    assert compute("Split", 1, [[[1, 2, 3]]], outputs=shapes, axis=1, split=[1, 2]) == [[[1]], [[2, 3]]]
    assert compute("Split", 1, [[[1, 2, 3]], [1, 2]], outputs=shapes, axis=1) == [[[1]], [[2, 3]]]
    assert compute("Split", 1, [[[1, 2]]], outputs=[[1, 1]] * 2, axis=-1) == [[[1]], [[2]]]
    for attributes, why in (({"axis": 1, "split": [2, 1]}, "which of two"), ({}, "default axis")):
        node, arrays = old("Split", 1, [[[1, 2, 3]], [1, 2]], outputs=None, **attributes)
        node["outputs"] = [{"elem_type": "FLOAT"}] * 2
        with pytest.raises(specgate.NoKernel, match=why):
            specgate.execute(node, arrays, target="onnx:1")


def test_concat_1_defaults_to_the_second_dimension():
    node, _ = old("Concat", 1, [[[1], [2]], [[3], [4]]])
    arrays = {"inputs": [np.array([[1], [2]], np.float32), np.array([[3], [4]], np.float32)]}
    assert specgate.check(node, target="onnx:1").accepted
    assert specgate.execute(node, arrays, target="onnx:1")["concat_result"].tolist() == [[1, 3], [2, 4]]
    node, _ = old("Concat", 1, [[1], [2]])
    assert not specgate.check(node, target="onnx:1").accepted


@pytest.mark.parametrize(
    ("operator", "why"), [("Reshape", "the result is unspecified without a shape"), ("LpPool", "default window size")]
)
def test_unspecified_first_versions_have_no_kernel(operator, why):
    with pytest.raises(specgate.NoKernel, match=why):
        execute_all(operator, 1, [[[[1, 2]]]])
