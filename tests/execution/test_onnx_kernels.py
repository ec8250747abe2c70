"""Errors of ONNX kernels, and cases without node tests: nan, empty, edges."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.execution.engine import execute_at
from specgate.execution.kernels import find_kernel
from specgate.validate.check import check_at

ROW = np.arange(3, dtype=np.float32)
MATRIX = np.arange(6, dtype=np.float32).reshape(2, 3)
NAN = np.array([1, np.nan, 3], np.float32)


@pytest.mark.parametrize(
    ("name", "arrays", "arguments", "message"),
    [
        ("gather_slices", [MATRIX, np.array([3])], {"axis": 1}, "index 3 is out of range for size 3"),
        ("gather_elements_along", [MATRIX, np.array([0])], {"axis": 0}, "do not match data"),
        ("gather_nd_slices", [MATRIX, np.zeros((1, 3), np.int64)], {}, "tuples of 3 numbers"),
        ("scatter_elements", [ROW, np.array([0]), ROW], {"axis": 0}, "updates"),
        ("scatter_nd", [ROW, np.array([[4]]), ROW[:1]], {}, "out of range for size 3"),
        ("slice_between", [ROW, [0], [1, 2]], {}, "expected 1 ends"),
        ("slice_between", [ROW, [0], [2], [0], [0]], {}, "steps other than 0"),
        ("tile_by", [ROW, np.array([-1])], {}, "repeats of at least 0"),
        ("split_along", [ROW, [1, 1]], {"axis": 0, "parts": 2}, "add up to 3"),
        ("reshape", [ROW, np.array([2, -1])], {}, "cannot have the shape"),
        ("transpose", [MATRIX], {"order": [0, 0]}, "permutation of 2 dimensions"),
        ("unsqueeze", [ROW, np.array([0, 0])], {}, "distinct axes"),
        ("expand", [ROW, np.array([2])], {}, "cannot be broadcast"),
        ("matmul", [MATRIX, MATRIX], {}, "cannot be multiplied"),
        ("scaled_matrix_product", [MATRIX, MATRIX.T, ROW], {}, "does not broadcast"),
        ("reduce_dimensions", [ROW, [1]], {"function": "SUM", "keep": True}, "axis 1 is out of range"),
        ("softmax_along", [ROW], {"axis": 1, "to_end": True}, "axis 1 is out of range"),
        ("clip_between", [ROW, np.zeros(2, np.float32)], {}, "expected a bound of one float32"),
        ("pad_ends", [ROW, [-2, -2]], {"mode": "constant"}, "at most the existing elements"),
        ("quantize_by_axis", [MATRIX, ROW[:2]], {"axis": 1}, "per-axis scales"),
        ("average_pool_nd", [MATRIX[np.newaxis]], {"window": [5]}, "exceeds the padded input size 3"),
    ],
)
def test_invalid_arguments_are_rejected(name, arrays, arguments, message):
    with pytest.raises(InputError, match=message):
        find_kernel(name)(*arrays, **arguments)


def test_nan_is_kept():
    largest, places = find_kernel("max_pool_nd")(NAN.reshape(1, 1, 3), window=[2], pads=[0, 1])
    assert np.isnan(largest[0, 0, :2]).all()
    assert places.tolist() == [[[1, 1, 2]]]
    assert np.isnan(find_kernel("relu")(NAN, keep_nan=True)).tolist() == [False, True, False]
    assert np.isnan(find_kernel("maximum_of_all")([NAN, ROW])).tolist() == [False, True, False]
    assert np.isnan(find_kernel("reduce_dimensions")(NAN, function="MAX", keep=False))
    assert np.isnan(find_kernel("softmax_along")(NAN, axis=0)).all()


def test_oversized_window_gives_an_empty_output():
    rows = np.ones((1, 2, 4), np.float32)
    for name, more in (("average_pool_nd", {}), ("max_pool_nd", {}), ("lp_pool_nd", {"p": 2})):
        onnx_model = find_kernel(name)(rows, window=[5], strides=[2], **more)
        assert (onnx_model[0] if isinstance(onnx_model, tuple) else onnx_model).shape == (1, 2, 0)
    assert find_kernel("convolve")(rows, np.ones((3, 2, 5), np.float32), strides=[2]).shape == (1, 3, 0)


def test_reductions_of_empty_dimensions():
    none = np.zeros((2, 0), np.float32)
    entries = {
        f: find_kernel("reduce_dimensions")(none, [1], function=f, keep=False).tolist() for f in ("SUM", "MULTIPLY")
    }
    assert entries == {"SUM": [0, 0], "MULTIPLY": [1, 1]}
    assert find_kernel("reduce_dimensions")(none, [1], function="MAX", keep=False).tolist() == [-np.inf, -np.inf]
    assert find_kernel("tile_by")(MATRIX, np.array([0, 2])).shape == (0, 6)
    values, places = find_kernel("top_k_along")(ROW, 0, axis=0)
    assert (values.shape, places.shape) == ((0,), (0,))


def test_ceil_windows_must_start_inside_the_input():
    result = find_kernel("average_pool_nd")(ROW.reshape(1, 1, 3), window=[2], strides=[2], pads=[0, 2], ceil=True)
    assert result.tolist() == [[[0.5, 2]]]


def test_results_for_nan():
    assert np.isnan(find_kernel("hard_sigmoid")(NAN, alpha=0.2, beta=0.5, of_nan="NAN")).tolist() == [
        False,
        True,
        False,
    ]
    assert find_kernel("thresholded_relu")(NAN, alpha=1.0, of_nan="ZERO").tolist() == [0, 0, 3]
    assert np.isnan(find_kernel("sign")(NAN, keep_nan=True)).tolist() == [False, True, False]
    assert find_kernel("sign")(NAN).tolist() == [1, 0, 1]
    assert np.isnan(find_kernel("celu_of_any")(NAN, alpha=1.0)).tolist() == [False, True, False]
    assert np.isnan(find_kernel("celu_of_any")(ROW, alpha=float("inf")))[0]


def test_celu_is_accurate_for_large_alpha():
    assert find_kernel("celu_of_any")(np.array([-1], np.float32), alpha=1e6) == pytest.approx(-1, abs=1e-6)


def test_shrink_of_integers_is_exact():
    large = np.array([2**32 + 1, -(2**32) - 1, 1, 0])
    assert find_kernel("shrink")(large, bias=1.0, threshold=2.0, exact=True).tolist() == [2**32, -(2**32), 0, 0]
    assert find_kernel("shrink")(large, bias=0.5, threshold=2.0, exact=True).tolist() == [2**32, -(2**32), 0, 0]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_omitted_bound_is_finite(kind):
    clipped = find_kernel("clip_between")(np.array([np.inf, -np.inf], kind))
    assert clipped.tolist() == [np.finfo(kind).max, np.finfo(kind).min]
    assert find_kernel("clip_between")(np.array([np.inf, -np.inf], kind), high=np.array(np.inf, kind))[0] == np.inf


@pytest.mark.parametrize(("keep", "shape"), [(True, (2, 1)), (False, (2,))])
def test_argmax_of_an_empty_dimension_is_masked(keep, shape):
    places = find_kernel("arg_reduce_dimension")(np.zeros((2, 0)), axis=1, keep=keep, largest=True)
    assert places.shape == shape
    assert np.ma.getmaskarray(places).all()


def test_integer_norm_does_not_overflow():
    large = np.array([2**16, 0], np.int32)
    assert find_kernel("reduce_dimensions")(large, function="L2", keep=False) == 2**16
    assert find_kernel("reduce_dimensions")(np.full(2, 2**30, np.int32), function="LOG_SUM", keep=False) == 21


def test_valid_padding_uses_complete_windows_only():
    rows = np.arange(16, dtype=np.float32).reshape(1, 1, 16)
    largest, _ = find_kernel("max_pool_nd")(rows, window=[3], strides=[7], auto_pad="VALID", ceil=True)
    assert largest.tolist() == [[[2, 9]]]
    least, _ = find_kernel("max_pool_nd")(rows, window=[20], strides=[5], auto_pad="VALID", ceil=True)
    assert least.shape == (1, 1, 0)


def test_positive_and_negative_pads_can_be_combined():
    assert find_kernel("pad_ends")(ROW, [2, -4], mode="constant", value=7.0).tolist() == [7]
    assert find_kernel("pad_ends")(ROW, [2, -5], mode="constant").tolist() == []


def test_transposed_convolution_gaps_add_no_nan():
    filters = np.array([[[np.inf, 1]]], np.float32)
    onnx_model = find_kernel("conv_transpose")(np.ones((1, 1, 2), np.float32), filters, strides=[3])
    assert onnx_model.tolist() == [[[np.inf, 1, 0, np.inf, 1]]]


def test_transposed_convolution_without_channels_is_the_bias():
    nothing, filters = np.zeros((1, 0, 3), np.float32), np.zeros((0, 2, 2), np.float32)
    onnx_model = find_kernel("conv_transpose")(nothing, filters, np.array([1, 2], np.float32))
    assert onnx_model.tolist() == [[[1] * 4, [2] * 4]]


def test_integers_are_scaled_by_any_number():
    ones = np.ones((1, 1), np.int32)
    for alpha in (float("inf"), 1e30):
        assert find_kernel("scaled_matrix_product")(ones, ones, alpha=alpha).shape == (1, 1)


def test_batch_statistics_of_an_empty_batch_are_nan():
    array = np.ones(1, np.float32)
    nothing = np.zeros((0, 1, 2), np.float32)
    normalized, mean, variance, *used = find_kernel("batch_normalization")(
        nothing, array, array, array, array, epsilon=0.1, momentum=0.5, training=True
    )
    assert normalized.shape == nothing.shape
    assert np.isnan([mean, variance, *used]).all()


def test_quantize_with_an_integer_scale():
    x, scale = np.array([[7, 2**31 - 1]], np.int32), np.array([2], np.int32)
    assert find_kernel("quantize_by_axis")(x, scale, dtype=np.dtype(np.uint16)).tolist() == [[4, 65535]]


@pytest.mark.parametrize(("operator", "attributes"), [("LeakyRelu", {"alpha": 1e-5}), ("Atanh", {})])
def test_numbers_are_floats_and_outputs_arrays(operator, attributes):
    tensor = {"elem_type": "DOUBLE", "shape": []}
    node = {"op_type": operator, "inputs": [tensor], "outputs": [tensor], "attributes": attributes}
    name = "X" if operator == "LeakyRelu" else "input"
    (onnx_model,) = execute_at(read_dict(node, "onnx"), {name: np.array(-0.5)}, "22").values()
    assert isinstance(onnx_model, np.ndarray)
    assert onnx_model == (np.arctanh(-0.5) if operator == "Atanh" else -0.5 * float(np.float32(1e-5)))


@pytest.mark.parametrize("huge", [2**31, 2**62])
def test_huge_strides_and_dilations_with_a_single_window(huge):
    rows = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    steps = {"strides": [huge], "dilations": [huge]}
    for name, more in (("average_pool_nd", {}), ("max_pool_nd", {}), ("lp_pool_nd", {"p": 2})):
        onnx_model = find_kernel(name)(rows + 1, window=[1], **steps, **more)
        assert np.asarray(onnx_model[0] if isinstance(onnx_model, tuple) else onnx_model).tolist() == [[[1]]]
    assert find_kernel("convolve")(rows + 1, np.ones((1, 1, 1), np.float32), **steps).tolist() == [[[1]]]


def test_convolution_of_an_empty_input_multiplies_padding():
    filters = np.array([[[1, np.inf]], [[1, 2]]], np.float32)
    onnx_model = find_kernel("convolve")(np.zeros((1, 1, 0), np.float32), filters, np.ones(2, np.float32), pads=[2, 1])
    assert np.isnan(onnx_model[0, 0]).all()
    assert onnx_model[0, 1].tolist() == [1, 1]


def test_transposed_convolution_of_an_empty_batch_has_a_shape():
    nothing, filters = np.zeros((0, 1, 3, 0), np.float32), np.ones((1, 2, 2, 3), np.float32)
    assert find_kernel("conv_transpose")(nothing, filters).shape == (0, 2, 4, 2)
    with pytest.raises(InputError, match="no input gives"):
        find_kernel("conv_transpose")(nothing, filters, pads=[0, 2, 0, 1])


def test_max_pool_windows_in_padding_are_masked():
    for result in find_kernel("max_pool_nd")(np.zeros((1, 1, 0), np.float32), window=[2], pads=[1, 2]):
        assert result.shape == (1, 1, 2)
        assert np.ma.getmaskarray(result).all()


def test_gather_nd_without_tuples_is_empty():
    result = find_kernel("gather_nd_slices")(np.zeros((0, 3)), np.zeros((0, 2, 1), np.int64), batch_dimensions=1)
    assert result.shape == (0, 2)


def test_layer_statistics_of_empty_rows_are_nan():
    _, mean, deviation = find_kernel("layer_normalization")(
        np.zeros((1, 0)), np.ones(1), axis=1, epsilon=0.1, statistics=np.dtype(np.float32)
    )
    assert np.isnan([mean, deviation]).all()


def test_huge_window_gives_an_empty_output():
    rows = np.ones((1, 1, 4), np.float32)
    onnx_model = find_kernel("average_pool_nd")(rows, window=[2**62], strides=[2**62])
    assert onnx_model.shape == (1, 1, 0)


def test_scatter_nd_with_empty_tuples_updates_everything():
    nowhere, updates = np.zeros((2, 0), np.int64), np.stack([ROW + 1, ROW + 2])
    assert find_kernel("scatter_nd")(ROW, nowhere[:1], updates[:1]).tolist() == [1, 2, 3]
    assert find_kernel("scatter_nd")(ROW, nowhere, updates, reduction="add").tolist() == [3, 6, 9]


def test_axes_may_be_a_scalar() -> None:
    assert find_kernel("unsqueeze")(ROW, np.array(-1)).shape == (3, 1)
    assert find_kernel("squeeze")(ROW.reshape(3, 1), np.array(1)).shape == (3,)


def test_a_norm_of_order_0_is_a_power_of_infinity() -> None:
    pool = {
        "op_type": "GlobalLpPool", "inputs": [{"elem_type": "FLOAT", "shape": [1, 3, 1]}], "outputs": [],
        "attributes": {"p": 0},
    }  # fmt: skip
    inputs = np.array([[[0.5], [0], [-2]]], np.float32)
    assert execute_at(read_dict(pool, "onnx"), {"X": inputs}, "22")["Y"].ravel().tolist() == [1, 1, 1]
    pool["inputs"] = [{"elem_type": "FLOAT", "shape": [1, 1, 3]}]
    assert execute_at(read_dict(pool, "onnx"), {"X": inputs.reshape(1, 1, 3)}, "22")["Y"].item() == np.inf


@pytest.mark.parametrize("counts", [[2, 3], [1, 5], [0, 2], [7, 1]])
def test_tile_matches_numpy(counts: list[int]) -> None:
    assert np.array_equal(find_kernel("tile_by")(MATRIX, np.array(counts)), np.tile(MATRIX, counts))


@pytest.mark.parametrize(("kind", "scale"), [("QuantizeLinear", [2]), ("QuantizeLinear", [2, 3])])
def test_invalid_block_scales_are_rejected_by_rule_and_kernel(kind: str, scale: list[int]) -> None:
    whole = [*scale[:-1], 5] if len(scale) > 1 else [2]
    node = {
        "op_type": kind, "inputs": [{"elem_type": "FLOAT", "shape": s} for s in (whole, scale)], "outputs": [],
        "attributes": {"axis": -1, "block_size": 2 if len(scale) == 1 else 0},
    }  # fmt: skip
    assert check_at(read_dict(node, "onnx"), "25").accepted is False
    with pytest.raises(InputError):
        execute_at(
            read_dict(node, "onnx"), {"x": np.ones(whole, np.float32), "y_scale": np.ones(scale, np.float32)}, "25"
        )
