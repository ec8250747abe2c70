"""Reductions, cumulative sums and argmin: documented examples, values by hand."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import to_float64
from specgate.execution.kernels.quantize import quantize_by_range
from specgate.execution.kernels.reduce import arg_reduce, cumulative, reduce
from specgate.execution.kernels.roi_align import largest_of
from specgate.execution.kernels.roi_pool import roi_pooling

PAGE = np.array([[1, 2, 3], [3, 0, 4], [2, 5, 2]], np.float32)


def test_documented_sum_examples():
    array = PAGE.copy()
    array[2, 1] = 4
    assert reduce(array, function="SUM", axes=[0]).tolist() == [[6, 6, 9]]
    assert reduce(array, function="SUM", axes=[1]).tolist() == [[6], [7], [8]]
    assert reduce(array, function="SUM", axes=[0, 1]).tolist() == [[21]]


def test_documented_argmin_examples():
    for axes, expected in (([0], [[0, 1, 2]]), ([1], [[0], [1], [0]]), ([0, 1], [[4]])):
        array = arg_reduce(PAGE, axes=axes, largest=False, last=False, output_type=np.dtype(np.uint32))
        assert array.tolist() == expected
        assert array.dtype == np.uint32


ROW = [1.0, -2.0, 4.0]
FUNCTIONS = {
    "AVERAGE": 1.0, "L1": 7.0, "L2": sqrt(21), "LOG_SUM": log(3), "LOG_SUM_EXP": log(exp(1) + exp(-2) + exp(4)),
    "MAX": 4.0, "MIN": -2.0, "MULTIPLY": -8.0, "SUM": 3.0, "SUM_SQUARE": 21.0, "ARGMAX": 2, "ARGMIN": 1,
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_function(function):
    result = reduce(np.array([ROW], np.float32), function=function, axes=[1])
    assert result.shape == (1, 1)
    assert result[0, 0] == pytest.approx(FUNCTIONS[function], rel=1e-6)
    half = reduce(np.array([ROW], np.float16), function=function, axes=[1])
    assert half[0, 0] == pytest.approx(FUNCTIONS[function], rel=1e-3)


def test_empty_axes_keep_the_shape():
    assert reduce(PAGE, function="SUM", axes=[]).tolist() == PAGE.tolist()
    assert reduce(-PAGE, function="L1", axes=[]).tolist() == PAGE.tolist()


def test_integers_wrap_around():
    array = np.array([200, 100], np.uint8)
    assert reduce(array, function="SUM", axes=[0]).tolist() == [44]
    assert reduce(array, function="MULTIPLY", axes=[0]).tolist() == [20000 % 256]
    assert reduce(array, function="SUM_SQUARE", axes=[0]).tolist() == [(200 * 200 + 100 * 100) % 256]


def test_max_and_min_ignore_nan():
    array = np.array([[np.nan, 2, 1], [np.nan, np.nan, np.nan]], np.float32)
    assert reduce(array, function="MAX", axes=[1]).tolist() == [[2], [-np.inf]]
    assert reduce(array, function="MIN", axes=[1]).tolist() == [[1], [np.inf]]
    assert reduce(array, function="ARGMAX", axes=[1]).tolist() == [[0], [0]]


SIGNALLING = pytest.mark.parametrize("bits", [np.array(0x7C01, np.uint16), np.array(0x7F800001, np.uint32)])


@SIGNALLING
def test_signalling_nan_is_ignored_by_ranges_and_parts(bits):
    """As `reduce` does: np.fmax returns it, or the value after it."""
    signalling = bits.view(f"f{bits.itemsize}")
    array = np.array([7, 9, 1, 2], signalling.dtype)
    array[2] = signalling
    _, scale, point = quantize_by_range(array, dtype=np.dtype(np.uint8), scale_sizes=[1], zero_point_sizes=[1])
    assert scale == np.float32(9) * np.float32(1 / 255)
    assert point == [0]
    maps, region = array[::-1].reshape(1, 1, 2, 2), np.array([[0, 0, 0, 1, 1]], array.dtype)
    assert roi_pooling(maps, region, height=1, width=1, scale=1.0).item() == 9
    with np.errstate(invalid="ignore"):
        wide = to_float64(maps.reshape(1, 1, 2, 1, 2))
    assert largest_of(wide, array.dtype).item() == 9


@SIGNALLING
def test_signalling_nan_is_ignored(bits):
    signalling = bits.view(f"f{bits.itemsize}")
    array = np.array([7, 9, 1, 2], signalling.dtype)
    array[2] = signalling
    assert reduce(array, function="MAX", axes=[0]).tolist() == [9]
    assert reduce(array, function="MIN", axes=[0]).tolist() == [2]
    assert arg_reduce(array, axes=[0], largest=True, last=True).tolist() == [1]
    assert arg_reduce(array, axes=[0], largest=False, last=False).tolist() == [3]


@pytest.mark.parametrize(
    ("row", "first", "last"),
    [([np.nan, 1, 5], 0, 0), ([1, np.nan, 5, 5], 2, 3), ([5, np.nan, 5], 0, 2), ([-np.inf, np.nan], 0, 0)],
)
def test_leading_nan_is_kept_and_later_nan_ignored(row, first, last):
    """As builds compute it for the maximum and, with signs flipped, the minimum."""
    array = np.array(row, np.float32)
    for sign, largest in ((1, True), (-1, False)):
        result = [arg_reduce(sign * array, axes=[0], largest=largest, last=side).item() for side in (False, True)]
        assert result == [first, last]


def test_last_index_of_equal_elements():
    array = np.array([1, 2, 3, 2, 1], np.int32)
    assert arg_reduce(array, axes=[0], largest=False, last=True).tolist() == [4]
    assert arg_reduce(array, axes=[0], largest=False, last=False).tolist() == [0]


def test_argmax_indices_span_all_reduced_dimensions():
    array = np.zeros((2, 3, 4), np.float32)
    array[1, 0, 2] = array[1, 1, 3] = 1
    result = arg_reduce(array, axes=[2, 0], largest=True, last=False)
    assert result.shape == (1, 3, 1)
    assert result.reshape(-1).tolist() == [1 * 4 + 2, 1 * 4 + 3, 0]


def test_float16_sums_are_rounded_once():
    array = np.full(4096, 1, np.float16)
    assert reduce(array, function="SUM", axes=[0]).tolist() == [4096]


@pytest.mark.parametrize(
    ("backwards", "exclusive", "expected"),
    [
        (False, False, [1, 3, 6]), (False, True, [0, 1, 3]), (True, False, [6, 5, 3]), (True, True, [5, 3, 0]),
    ],
)  # fmt: skip
def test_cumulative_sums(backwards, exclusive, expected):
    array = np.array([[1, 2, 3]], np.int32)
    assert cumulative(array, axis=1, backwards=backwards, exclusive=exclusive).tolist() == [expected]


def test_cumulative_products():
    array = np.array([2, 3, 4], np.uint8)
    assert cumulative(array, axis=0, backwards=False, exclusive=True, multiply=True).tolist() == [1, 2, 6]
    assert cumulative(array, axis=0, backwards=True, exclusive=False, multiply=True).tolist() == [24, 12, 4]
    assert cumulative(array * 20, axis=0, backwards=False, exclusive=False).tolist() == [40, 100, 180]


def test_invalid_arguments_are_rejected():
    with pytest.raises(InputError, match="axis 2"):
        reduce(PAGE, function="SUM", axes=[2])
    with pytest.raises(InputError, match="MEDIAN"):
        reduce(PAGE, function="MEDIAN", axes=[0])
    with pytest.raises(InputError, match="axis"):
        arg_reduce(PAGE, axes=[5], largest=True, last=False)
    with pytest.raises(InputError, match="axis"):
        cumulative(PAGE, axis=2, backwards=False, exclusive=False)
