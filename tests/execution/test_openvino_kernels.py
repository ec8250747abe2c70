"""OpenVINO kernels and options: documented values, identities, values by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels import find_kernel

NAN, INF = math.nan, math.inf


def mask_values(result):
    """Return values as a list, with None for masked ones."""
    return np.ma.MaskedArray(result).tolist()


# --- functions of one tensor, of integers too


def test_functions_of_integers_are_rounded_to_the_nearest():
    result = find_kernel("sqrt")(np.array([0, 4, 6, 7, 10, 12, 13], "i4"), integers=True)
    assert result.dtype == np.int32
    assert result.tolist() == [0, 2, 2, 3, 3, 3, 4]
    assert find_kernel("tan")(np.array([-2, -1, 0, 1, 2], "i4"), integers=True).tolist() == [2, -2, 0, 2, -2]


def test_unrepresentable_integer_results_are_masked():
    assert mask_values(find_kernel("arccos")(np.array([-1, 0, 1, 2], "i4"), integers=True)) == [3, 2, 0, None]
    assert mask_values(find_kernel("exp")(np.array([0, 4, 5, 127], "i1"), integers=True)) == [1, 55, None, None]
    assert mask_values(find_kernel("exp")(np.array([5, 6], "u1"), integers=True)) == [148, None]
    assert mask_values(find_kernel("exp")(np.array([43, 44], "i8"), integers=True)) == [round(math.exp(43)), None]
    assert mask_values(find_kernel("log")(np.array([0, 1, 8], "u8"), integers=True)) == [None, 0, 2]


def test_integer_results_stay_integers():
    large = np.array([2**63 - 1, -(2**63) + 1, 0], "i8")
    for name, arguments in (("ceil", {}), ("floor", {}), ("round_to_integer", {"mode": "half_to_even"})):
        result = find_kernel(name)(large, integers=True, **arguments)
        assert result.dtype == np.int64
        assert result.tolist() == large.tolist()
        assert result is not large
        with pytest.raises(InputError, match=name):
            find_kernel(name)(large, **arguments)
        with pytest.raises(InputError, match=name):
            find_kernel(name)(np.array([True]), integers=True, **arguments)


def test_integer_atanh_saturates_at_the_type_limits():
    signed = find_kernel("arctanh")(np.array([-2, -1, 0, 1, 2], "i2"), integers=True)
    assert signed.dtype == np.int16
    assert signed.tolist() == [-32768, -32768, 0, 32767, 32767]
    assert find_kernel("arctanh")(np.array([0, 1, 9], "u8"), integers=True).tolist() == [0, 2**64 - 1, 2**64 - 1]


def test_is_finite():
    for dtype in ("f2", "f4", "f8"):
        result = find_kernel("is_finite")(np.array([NAN, 2.1, INF, -INF, -0.0], dtype))
        assert result.dtype == np.bool_
        assert result.tolist() == [False, True, False, False, True]
    with pytest.raises(InputError, match="is_finite"):
        find_kernel("is_finite")(np.array([1]))


def test_special_values_of_the_inverse_error_function():
    result = find_kernel("erf_inv")(np.array([0, -0.0, 1, -1, 1.5, -2, NAN, INF]))
    assert np.array_equal(result, [0, 0, INF, -INF, NAN, NAN, NAN, NAN], equal_nan=True)
    assert np.signbit(result[:2]).tolist() == [False, True]


def test_inverse_error_function_round_trips():
    x = np.concatenate([np.linspace(-0.9999, 0.9999, 501), [1e-300, 1e-9, 0.1, 0.5, 0.0999999, 0.5000001]])
    result = find_kernel("erf_inv")(x)
    assert [math.erf(y) for y in result] == pytest.approx(x.tolist(), rel=1e-15, abs=0)
    ends = 1 - 2.0 ** -np.arange(10, 53)
    result = find_kernel("erf_inv")(ends)
    assert [math.erfc(y) for y in result] == pytest.approx((1 - ends).tolist(), rel=1e-13, abs=0)
    narrow = find_kernel("erf_inv")(np.array([0.5, -0.9], "f4"))
    assert narrow.dtype == np.float32
    assert narrow.tolist() == [np.float32(0.4769362762), np.float32(-1.1630871537)]


# --- functions of two tensors


def test_not_equal():
    result = find_kernel("not_equal")(np.array([1, NAN, 3], "f4"), np.array([1, NAN, 4], "f4"))
    assert result.tolist() == [False, True, True]
    words = np.array(["a", "b"], object)
    assert find_kernel("not_equal")(words, words[::-1].copy()).tolist() == [True, True]


@pytest.mark.parametrize(("floor", "expected"), [(True, [3, -4, -4, 3, None]), (False, [3, -3, -3, 3, None])])
def test_integer_division_floors_or_truncates(floor, expected):
    a, b = np.array([7, -7, 7, -7, 1], "i1"), np.array([2, 2, -2, -2, 0], "i1")
    assert mask_values(find_kernel("quotient")(a, b, floor=floor)) == expected
    unsigned = find_kernel("quotient")(np.array([249, 9], "u1"), np.array([2, 0], "u1"), floor=floor)
    assert mask_values(unsigned) == [124, None]
    floats = find_kernel("quotient")(np.array([-7, 1], "f4"), np.array([2, 0], "f4"), floor=floor)
    assert floats.tolist() == [-3.5, INF]


def test_remainders_by_zero_may_be_undefined():
    a, b = np.array([7, 7], "u1"), np.array([4, 0], "u1")
    for rounding in ("floor", "truncate"):
        assert mask_values(find_kernel("remainder")(a, b, rounding=rounding, by_zero="undefined")) == [3, None]
        assert mask_values(find_kernel("remainder")(a, b, rounding=rounding)) == [3, 255]
    with pytest.raises(InputError, match="expected by_zero ones or undefined"):
        find_kernel("remainder")(a, b, rounding="floor", by_zero="zero")


def test_logical_not_inverts_booleans():
    assert find_kernel("bitwise_not")(np.array([True, False])).tolist() == [False, True]


def test_undefined_shifts_are_masked():
    a, by = np.array([1, 1, 1, 64, -64, -65], "i1"), np.array([7, 8, -1, 1, 1, 1], "i1")
    assert mask_values(find_kernel("shift")(a, by, left=True, overlong="undefined")) == [
        None,
        None,
        None,
        None,
        -128,
        None,
    ]
    assert mask_values(find_kernel("shift")(a, by, left=False, overlong="undefined")) == [0, None, None, 32, -32, -33]
    unsigned = find_kernel("shift")(np.array([255, 1], "u1"), np.array([1, 8], "u1"), left=True, overlong="undefined")
    assert mask_values(unsigned) == [254, None]
    with pytest.raises(InputError, match="expected overlong sign or undefined"):
        find_kernel("shift")(a, by, left=True, overlong="zero")


# --- running sums and segments


def test_cumulative_sums_default_to_the_first_dimension():
    x = np.array([[1, 2], [3, 4]], "f4")
    assert find_kernel("cumulate")(x, backwards=False, exclusive=False).tolist() == [[1, 2], [4, 6]]
    assert find_kernel("cumulate")(x, np.array(1), backwards=False, exclusive=False).tolist() == [[1, 3], [3, 7]]


def test_segments():
    data, ids = np.array([[1, -2], [3, -4], [-5, -6], [-7, 8]], "f4"), np.array([0, 0, 2, 2], "i4")
    find = find_kernel("segment_max")
    assert find(data, ids, lowest=False).tolist() == [[3, -2], [0, 0], [-5, 8]]
    assert find(data, ids, np.array(1), lowest=False).tolist() == [[3, -2]]
    assert find(data, ids, np.array(2), lowest=False).tolist() == [[3, -2], [0, 0]]
    assert find(data, ids, np.array(5), lowest=False).tolist()[3:] == [[0, 0], [0, 0]]
    assert find(data, ids, np.array(0), lowest=False).shape == (0, 2)
    assert find(data[:0], ids[:0], lowest=False).shape == (0, 2)
    assert find(data[:0], ids[:0], np.array(2), lowest=False).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("dtype", "lowest"), [("i1", -128), ("u8", 0), ("f2", -65504), ("f4", float(np.finfo("f4").min))]
)
def test_empty_segments_are_the_lowest_value(dtype, lowest):
    result = find_kernel("segment_max")(np.array([1, 2], dtype), np.array([0, 2]), lowest=True)
    assert result.dtype == np.dtype(dtype)
    assert result.tolist() == [1, lowest, 2]


def test_lowest_value_of_bfloat16():
    bfloat16 = np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    result = find_kernel("segment_max")(np.array([1.5, 2], bfloat16), np.array([0, 2]), lowest=True)
    assert result.dtype == bfloat16
    assert result.astype("f4").tolist() == [1.5, -3.3895313892515355e38, 2]


@pytest.mark.parametrize(
    ("data", "ids", "count"),
    [
        (np.zeros(()), np.zeros(1, "i8"), None),
        (np.zeros(3), np.zeros(2, "i8"), None),
        (np.zeros(2), np.array([0, -1]), None),
        (np.zeros(3), np.array([0, 2, 1]), None),
        (np.zeros(2), np.array([0, 1]), np.array(-1)),
    ],
)
def test_segments_that_are_rejected(data, ids, count):
    with pytest.raises(InputError, match="segment_max"):
        find_kernel("segment_max")(data, ids, count, lowest=False)


def test_distant_segment_is_limited_by_the_budget():
    with memory.limit(10**6), pytest.raises(InputError, match="more than the limit"):
        find_kernel("segment_max")(np.zeros(1), np.array([2**40]), lowest=False)
