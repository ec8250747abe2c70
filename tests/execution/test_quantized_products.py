"""Quantized products, means and blocks, against plain loops and values of builds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.quantize import dequantize_in_blocks, quantize_by_range, quantize_in_blocks
from specgate.execution.kernels.quantized_conv_matmul import (
    convolution_integer,
    matrix_multiply_integer,
    matrix_multiply_integer_to_float,
    quantized_average_pool,
    quantized_convolution,
    quantized_matrix_multiply,
)

SLIDE: dict[str, Any] = {"strides": [1, 1], "dilations": [1, 1], "start_padding": [0, 1], "end_padding": [0, 1]}
UINT8, INT8 = np.dtype(np.uint8), np.dtype(np.int8)


def image(*numbers, dtype=np.uint8):
    return np.array(numbers, dtype).reshape(1, 1, 1, -1)


def one(number, dtype=np.float32):
    return np.full((1, 1, 1, 1), number, dtype)


def test_padding_of_a_convolution_counts_as_the_zero_point():
    x, f = image(10, 20, 30), image(1, 2, 3, dtype=np.int8)

    def find_ids(a, b):
        array = convolution_integer(x, f, one(a, np.uint8), one(b, np.int8), groups=1, **SLIDE)
        assert array.dtype == np.int32
        return array.ravel().tolist()

    assert find_ids(0, 0) == [80, 140, 80]
    assert find_ids(5, 0) == [55, 110, 65]
    assert find_ids(5, 1) == [35, 65, 25]


def test_filter_zero_points_are_per_channel():
    f = np.array([1, 2], np.int8).reshape(2, 1, 1, 1)
    points = np.array([1, -1], np.int8).reshape(1, 2, 1, 1)
    plain: dict[str, Any] = {**SLIDE, "start_padding": [0, 0], "end_padding": [0, 0]}
    array = convolution_integer(image(4, 5), f, None, points, groups=1, **plain)
    assert array[0, :, 0].tolist() == [[0, 0], [12, 15]]
    with pytest.raises(InputError, match="along one axis"):
        convolution_integer(image(4, 5), f, None, points.reshape(2, 1, 1, 1), groups=1, **plain)


def test_quantized_convolution_scales_its_bias_by_both_scales():
    plain: dict[str, Any] = {**SLIDE, "start_padding": [0, 0], "end_padding": [0, 0]}
    array = quantized_convolution(
        image(10, 20), image(3, dtype=np.int8), one(0.5), one(2), one(4), one(2, np.uint8), None, one(7, np.uint8),
        one(2, np.int32), groups=1, dtype=UINT8, **plain,
    )  # fmt: skip
    assert array.ravel().tolist() == [round((24 + 2) / 4) + 7, 14 + 7]  # 6.5 rounds to 6, 56 / 4 is 14


def test_adding_the_zero_point_may_wrap_around_in_32_bits():
    plain: dict[str, Any] = {**SLIDE, "start_padding": [0, 0], "end_padding": [0, 0]}

    def find_ids(scale, point, **more):
        return quantized_convolution(
            image(10, -10, dtype=np.int8), image(1, dtype=np.int8), one(scale), one(1), one(1), None, None,
            one(point, np.int8), groups=1, dtype=INT8, **plain, **more,
        ).ravel().tolist()  # fmt: skip

    assert find_ids(3e8, 6) == [127, -128]
    assert find_ids(3e8, 6, point_wraps=True) == [-128, -128]
    assert find_ids(3e8, -6, point_wraps=True) == [127, 127]
    assert find_ids(1, 6, point_wraps=True) == find_ids(1, 6) == [16, -4]


def test_matmul_supports_scales_and_zero_points_per_row_and_column():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 255, (2, 3, 4), np.uint8), rng.integers(-128, 127, (2, 4, 5), np.int8)
    rows: Any = np.array([[[1], [2], [3]]], np.uint8)
    columns: Any = np.array([[[1, 2, 3, 4, 5]]], np.int8)
    exact = (a.astype(np.int64) - rows) @ (b.astype(np.int64) - columns)
    assert np.array_equal(matrix_multiply_integer(a, b, rows, columns), exact)
    row_scales, column_scales = rows.astype(np.float32) / 8, columns.astype(np.float32) / 4
    bias = rng.normal(size=exact.shape).astype(np.float32)
    real: Any = exact * row_scales.astype(np.float64) * column_scales
    floats = matrix_multiply_integer_to_float(
        a, b, row_scales, column_scales, rows, columns, bias, dtype=np.dtype(np.float32)
    )
    assert np.allclose(floats, real + bias, rtol=1e-6)
    output_scales = row_scales * 500
    small = quantized_matrix_multiply(
        a, b, row_scales, column_scales, output_scales, rows, columns, rows + UINT8.type(100), dtype=UINT8
    )
    assert np.array_equal(small, np.clip(np.rint(real / output_scales) + rows + 100, 0, 255))


@pytest.mark.parametrize(("a", "b"), [((3, 4), (5, 6)), ((1, 3, 4), (4, 5)), ((2, 3, 4), (1, 4, 5)), ((4,), (4,))])
def test_matrices_without_a_product_are_rejected(a, b):
    with pytest.raises(InputError):
        matrix_multiply_integer(np.zeros(a, np.int8), np.zeros(b, np.int8))


def test_zero_points_of_another_length_or_type_are_rejected():
    a, b, scale = np.zeros((2, 3), np.int8), np.zeros((3, 4), np.int8), np.ones((1, 1), np.float32)
    for points in (np.zeros((2,), np.int8), np.zeros((1, 2), np.int8), np.zeros((3, 1), np.int8)):
        with pytest.raises(InputError, match="along one axis"):
            matrix_multiply_integer(a, b, points)
    with pytest.raises(InputError, match="zero point of int8"):
        quantized_matrix_multiply(a, b, scale, scale, scale, None, None, np.zeros((1, 1), np.uint8), dtype=INT8)


def test_quantized_average_pool_with_nan_scales():
    window = {
        "strides": [1, 1], "window": [1, 2], "start_padding": [0, 0], "end_padding": [0, 1], "dilations": [1, 1],
    }  # fmt: skip

    def find_ids(scale, *, include_padding):
        return quantized_average_pool(
            image(9, 15), one(scale), one(0.5), one(5, np.uint8), one(6, np.uint8), include_padding=include_padding,
            dtype=UINT8, **window,
        )  # fmt: skip

    assert find_ids(1, include_padding=True).ravel().tolist() == [7 * 2 + 6, 5 * 2 + 6]
    assert find_ids(1, include_padding=False).ravel().tolist() == [7 * 2 + 6, 10 * 2 + 6]
    assert np.ma.getmaskarray(find_ids(np.nan, include_padding=False)).all()


@pytest.mark.parametrize(
    ("numbers", "dtype", "expected", "scale", "point"),
    [
        ([-1, 0, 1, 2, 2.5, 3], UINT8, [0, 64, 128, 191, 223, 255], 4 / 255, 64),
        ([-0.5, 254.5, 1, 2, 0.5, 1.5], INT8, [-128, 126, -127, -126, -128, -126], 1, -128),
        ([1, 2, 3], UINT8, [85, 170, 255], 3 / 255, 0),
        ([np.nan, 1, 2, 3, 4, -5], INT8, [-128, 42, 71, 99, 127, -128], 9 / 255, 14),
        ([0, 0], INT8, [-128, -128], 0, -128),
    ],
)
def test_dynamic_quantization_of_a_range(numbers, dtype, expected, scale, point):
    result = quantize_by_range(np.array(numbers, np.float32), dtype=dtype, scale_sizes=[1], zero_point_sizes=[1])
    assert result[0].tolist() == expected
    assert result[1].tolist() == [pytest.approx(scale, rel=1e-6)]
    assert result[2].tolist() == [point]


def test_4_bit_block_quantization_round_trip():
    x = (np.arange(24) % 16).astype(np.uint8).reshape(4, 6)
    scale = np.array([[1, 10, 100], [0.5, 0.25, 2]], np.float32)
    point = np.array([[0, 1, 2], [3, 4, 15]], np.uint8)
    real = dequantize_in_blocks(x, [scale, point], with_zero_points=True, bits=4, dtype=np.dtype(np.float32))
    assert real[:, ::2].tolist() == [[0, 10, 200], [6, 70, 800], [4.5, 2.5, -30], [-0.5, 0, -18]]
    repeated = quantize_in_blocks(real, [scale, point], with_zero_points=True, bits=4, dtype=UINT8)
    assert np.array_equal(repeated, x)
    far = quantize_in_blocks(real * 100, [scale, point], with_zero_points=True, bits=4, dtype=UINT8)
    assert set(far.ravel().tolist()) <= set(range(16))


def test_default_zero_point_is_the_middle_of_the_unsigned_range():
    numbers, scale = np.array([[0, 1, 5, 7, np.nan]], np.float32), [np.full((1, 1), 2, np.float32)]

    def find_ids(dtype, bits):
        return quantize_in_blocks(numbers, scale, with_zero_points=False, bits=bits, dtype=dtype).tolist()[0]

    assert find_ids(UINT8, 8) == [128, 128, 130, 132, 0]
    assert find_ids(UINT8, 4) == [8, 8, 10, 12, 0]
    assert find_ids(INT8, 4) == [0, 0, 2, 4, -8]
    whole = np.array([[0, 1]], np.uint8)
    real = dequantize_in_blocks(whole, scale, with_zero_points=False, bits=4, dtype=np.dtype(np.float32))
    assert real.tolist() == [[-16, -14]]


def test_indivisible_blocks_mask_the_output():
    scale = [np.ones((1, 4), np.float32)]
    array = quantize_in_blocks(np.ones((1, 6), np.float32), scale, with_zero_points=False, bits=8, dtype=INT8)
    assert np.ma.getmaskarray(array).all()


@pytest.mark.parametrize("shapes", [[(1,)], [(1, 1), (1, 1)], []])
def test_mismatched_parameters_are_rejected(shapes):
    result = [np.ones(shape, np.float32) for shape in shapes]
    with pytest.raises(InputError):
        quantize_in_blocks(np.ones((1, 6), np.float32), result, with_zero_points=False, bits=8, dtype=INT8)
