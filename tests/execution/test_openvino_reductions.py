"""Kernels of OpenVINO operators only: values computed by hand, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.activation import (
    clamp,
    hard_sigmoid_by_tensors,
    prelu_of_channels,
    scaled_elu_by_tensors,
    swish_by_tensor,
)
from specgate.execution.kernels.cast import convert
from specgate.execution.kernels.normalization import (
    batch_norm_inference,
    group_normalization,
    lrn,
    mvn,
    normalize_l2,
)
from specgate.execution.kernels.quantize import fake_quantize
from specgate.execution.kernels.reshape import reshape_by_pattern, squeeze_ones, tensor_shape

PAIRS = np.array([[1, 3], [5, 5]], np.float32)


def number(value, *shape):
    return np.full(shape, value, np.float32)


def indices(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("dtype", "low", "high", "expected"),
    [
        (np.int32, -1.5, 2.5, [-1, -1, 2, 2]),
        (np.int32, 0.25, 0.75, [0, 0, 0, 0]),  # no integer is between them, and the upper bound wins
        (np.uint8, -5.0, float("inf"), [0, 1, 2, 3]),
        (np.float32, -1.5, 2.5, [-1.5, -1, 2, 2.5]),
    ],
)
def test_clamp(dtype, low, high, expected):
    x = np.array([0, 1, 2, 3] if dtype == np.uint8 else [-3, -1, 2, 3], dtype)
    result = clamp(x, low=low, high=high)
    assert result.dtype == dtype
    assert result.tolist() == expected


def test_clamp_keeps_nan():
    assert np.isnan(clamp(np.array([np.nan], np.float32), low=0.0, high=1.0)).all()


def test_hard_sigmoid_by_tensors():
    x = np.array([-4, 0, 1, 4, np.nan], np.float32)
    array = hard_sigmoid_by_tensors(x, number(0.25), number(0.5))
    assert array[:4].tolist() == [0, 0.5, 0.75, 1]
    assert np.isnan(array[4])


def test_selu_accepts_single_element_lists_as_scalars():
    array = scaled_elu_by_tensors(number(2), number(5, 1), number(3, 1))
    assert (array.shape, array.tolist()) == ((), 6)


def test_swish_beta_defaults_to_one():
    x = np.array([1, -2], np.float32)
    assert swish_by_tensor(x).tolist() == swish_by_tensor(x, number(1)).tolist()
    assert swish_by_tensor(x, number(0)).tolist() == [0.5, -1]


@pytest.mark.parametrize("alpha", [number(1, 2), np.zeros(0, np.float32), np.float64(1).reshape(())])
def test_parameter_must_be_a_single_element_of_the_same_type(alpha):
    with pytest.raises(InputError, match="expected one element of float32"):
        scaled_elu_by_tensors(PAIRS, alpha, number(1))


def test_per_channel_slopes_precede_broadcasting():
    x = number(-1, 1, 2, 2)
    assert prelu_of_channels(x, np.array([2, 3], np.float32)).tolist() == [[[-2, -2], [-3, -3]]]
    assert prelu_of_channels(x, np.array([[2, 3]], np.float32)).tolist() == [[[-2, -3], [-2, -3]]]
    assert prelu_of_channels(x[0, 0], np.array([2, 3], np.float32)).tolist() == [-2, -3]


@pytest.mark.parametrize(("inside", "expected"), [(True, [[-0.5, 0.5], [0, 0]]), (False, [[-0.25, 0.25], [0, 0]])])
def test_normalize_along(inside, expected):
    assert mvn(PAIRS, indices(-1), first=0, epsilon=3.0, inside=inside).tolist() == expected


def test_normalize_along_from_a_dimension_on():
    assert mvn(PAIRS, first=1, epsilon=3.0, use_variance=False).tolist() == [[-1, 1], [0, 0]]
    assert mvn(PAIRS, first=2, epsilon=3.0).tolist() == [[0, 0], [0, 0]]
    assert mvn(PAIRS[:0], first=0, epsilon=3.0).shape == (0, 2)


def test_normalize_squares():
    x = np.array([[1, 1], [3, 4]], np.float32)
    assert normalize_l2(x, indices(1), epsilon=2.0).tolist()[0] == [0.5, 0.5]
    assert normalize_l2(x, indices(1), epsilon=4.0, largest=True).tolist() == pytest.approx(
        np.array([[0.5, 0.5], [0.6, 0.8]])
    )
    assert normalize_l2(x, indices(), epsilon=0.0).tolist() == [[1, 1], [1, 1]]


def test_normalize_groups():
    x = np.array([[1, 3, 5, 5]], np.float32)
    scale, bias = np.array([1, 2, 3, 4], np.float32), np.array([0, 1, 2, 3], np.float32)
    assert group_normalization(x, scale, bias, groups=2, epsilon=3.0).tolist() == [[-0.5, 2, 2, 3]]
    whole = group_normalization(x, scale, bias, groups=1, epsilon=0.25)
    assert whole[0, 2:].tolist() == pytest.approx([2 + 3 * 1.5 / 3**0.5, 3 + 4 * 1.5 / 3**0.5])


@pytest.mark.parametrize(("groups", "size"), [(3, 4), (0, 4), (2, 3)])
def test_indivisible_groups_are_rejected(groups, size):
    with pytest.raises(InputError, match="normalization"):
        group_normalization(number(1, 1, 4), number(1, size), number(1, size), groups=groups, epsilon=1.0)


def test_batch_norm_inference():
    lists = (np.array(values, np.float32) for values in ([1, 2], [0, 1], [1, 2], [3, 0]))
    array = batch_norm_inference(np.array([[1, 2], [3, 4]], np.float32), *lists, epsilon=1.0)
    assert array.tolist() == [[0, 1], [1, 5]]


@pytest.mark.parametrize(("size", "expected"), [(1, [1, 4, 9]), (2, [5, 14, 13]), (3, [5, 14, 13]), (5, [14, 14, 14])])
def test_lrn(size, expected):
    x = np.array([[1, 2, 3]], np.float32)
    result = lrn(x, indices(1), alpha=float(size), beta=1.0, bias=0.0, size=size)
    assert (x / result)[0].tolist() == pytest.approx(expected)


def test_lrn_over_two_dimensions():
    array = lrn(number(1, 3, 3), indices(0, -1), alpha=9.0, beta=1.0, bias=0.0, size=3)
    assert (1 / array).tolist() == pytest.approx(np.array([[4, 6, 4], [6, 9, 6], [4, 6, 4]]))


def test_lrn_requires_a_size():
    with pytest.raises(InputError, match="expected a size of at least 1, found 0"):
        lrn(PAIRS, indices(1), alpha=1.0, beta=1.0, bias=1.0, size=0)


@pytest.mark.parametrize(
    ("shape", "pattern", "copy", "expected"),
    [
        ((2, 3), (3, 2), False, (3, 2)),
        ((2, 3), (0, -1, 1), True, (2, 3, 1)),
        ((0, 3), (0, -1), True, (0, 3)),
        ((3, 0), (5, 0), True, (5, 0)),
        ((2, 0), (0, 7), False, (0, 7)),
        ((1,), (), False, ()),
    ],
)
def test_reshape_by_pattern(shape, pattern, copy, expected):
    assert reshape_by_pattern(np.zeros(shape), indices(*pattern), copy_zeros=copy).shape == expected


@pytest.mark.parametrize(
    ("shape", "pattern", "copy"),
    [
        ((2, 3), (4,), False),
        ((2, 3), (4, -1), False),
        ((2, 3), (-1, -1), False),
        ((2, 3), (0, 0, 0), True),
        ((0, 3), (0, -1), False),
        ((2, 3), (-2, -3), False),
    ],
)
def test_patterns_without_a_shape(shape, pattern, copy):
    with pytest.raises(InputError, match="reshape"):
        reshape_by_pattern(np.zeros(shape), indices(*pattern), copy_zeros=copy)


@pytest.mark.parametrize(
    ("axes", "expected"), [(None, (2,)), ((), (2,)), ((0,), (2, 1)), ((1,), (1, 2, 1)), ((1, -1), (1, 2))]
)
def test_squeeze(axes, expected):
    assert squeeze_ones(np.zeros((1, 2, 1)), None if axes is None else indices(*axes)).shape == expected


@pytest.mark.parametrize(("narrow", "dtype"), [(True, np.int32), (False, np.int64)])
def test_shape_of(narrow, dtype):
    result = tensor_shape(np.zeros((2, 0, 3)), int32_output=narrow)
    assert (result.dtype, result.tolist()) == (dtype, [2, 0, 3])
    assert tensor_shape(np.zeros(()), int32_output=narrow).shape == (0,)


def test_fake_quantize():
    x = np.array([-1, 0, 0.6, 1.6, 2, 3], np.float32)
    limits = [number(value, 1) for value in (0, 2, 10, 20)]
    assert fake_quantize(x, *limits, levels=3).tolist() == [10, 10, 15, 20, 20, 20]
    swapped = [number(value, 1) for value in (2, 0, 10, 20)]
    assert fake_quantize(x, *swapped, levels=3).tolist() == [10, 10, 15, 10, 10, 20]


def test_fake_quantize_with_2_levels():
    limits = [number(value) for value in (0.5, 0.5, -1, 1)]
    assert fake_quantize(np.array([0.25, 0.5, 0.75], np.float32), *limits, levels=2).tolist() == [-1, -1, 1]


def test_fake_quantize_rejects_1_level_and_oversized_limits():
    with pytest.raises(InputError, match="at least 2 levels, found 1"):
        fake_quantize(PAIRS, *[number(1)] * 4, levels=1)
    with pytest.raises(InputError, match="limits that broadcast"):
        fake_quantize(number(1, 1), *[number(1, 3)] * 4, levels=2)


@pytest.mark.parametrize(
    ("values", "dtype", "to", "expected"),
    [
        ([-1, 300], np.int32, np.uint8, [255, 44]),
        ([-1, 2**31], np.int64, np.int32, [-1, -(2**31)]),
        ([-1], np.int32, np.uint32, [2**32 - 1]),
        ([2.75, -2.75, 255], np.float32, np.int16, [2, -2, 255]),
        ([0, -0.0, 0.5, np.nan], np.float32, np.bool_, [False, False, True, True]),
        ([False, True], np.bool_, np.float16, [0, 1]),
        ([False, True], np.bool_, np.int8, [0, 1]),
        ([65520, 1], np.int32, np.float16, [np.inf, 1]),
    ],
)
def test_convert(values, dtype, to, expected):
    result = convert(np.array(values, dtype), to=np.dtype(to))
    assert result.tolist() == expected
    same = convert(np.array(values, dtype), result[:0])
    assert (same.dtype, same.tolist()) == (result.dtype, expected)


def test_floats_that_the_integers_cannot_hold_are_undefined():
    array = convert(np.array([300, -1, 7, np.nan, np.inf, 255.5], np.float32), to=np.dtype(np.uint8))
    assert np.ma.getmaskarray(array).tolist() == [True, True, False, True, True, False]
    assert array[[2, 5]].tolist() == [7, 255]


def test_largest_64_bit_numbers():
    array = convert(np.array([2.0**63, -(2.0**63), 2.0**63 - 1024]), to=np.dtype(np.int64))
    assert np.ma.getmaskarray(array).tolist() == [True, False, False]


def test_convert_rejects_strings():
    with pytest.raises(NoKernel, match="cannot convert to complex64"):
        convert(PAIRS, to=np.dtype(np.complex64))
    with pytest.raises(NoKernel, match="strings cannot be converted"):
        convert(np.array(["1"], object), to=np.dtype(np.float32))
    with pytest.raises(InputError, match="expected an output type"):
        convert(PAIRS)
