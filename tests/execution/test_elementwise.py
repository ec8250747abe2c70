"""Element-wise kernels, with values of DirectML 6.4 (software device); errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels import KERNELS, find_kernel

NAN, INF = math.nan, math.inf


def run_kernel(name, *arrays, dtype="f4", **arguments):
    result = find_kernel(name)(*(np.array(array, dtype) for array in arrays), **arguments)
    assert not np.ma.getmaskarray(result).any()
    return result


def same(result, expected):
    """Assert equality, with nan equal to nan and signed zeros."""
    assert np.array_equal(result, np.array(expected, result.dtype), equal_nan=result.dtype.kind == "f")
    if result.dtype.kind == "f":
        signs = [math.copysign(1, x) < 0 for x in expected]
        assert np.array_equal(np.signbit(result) | np.isnan(result), np.array(signs) | np.isnan(result))


def test_every_kernel_is_registered_by_name():
    for name in KERNELS:
        assert find_kernel(name).__name__ == name


# --- functions of one tensor


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("absolute", [0, 2.5, 1.5, INF]),
        ("ceil", [-0.0, -2, 2, INF]),
        ("floor", [-0.0, -3, 1, INF]),
        ("identity", [-0.0, -2.5, 1.5, INF]),
        ("negative", [0, 2.5, -1.5, -INF]),
        ("sign", [0, -1, 1, 1]),
        ("reciprocal", [-INF, -0.4, 1 / 1.5, 0]),
        ("sqrt", [-0.0, NAN, math.sqrt(1.5), INF]),
        ("log", [-INF, NAN, math.log(1.5), INF]),
    ],
)
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_functions(name, expected, dtype):
    result = run_kernel(name, [-0.0, -2.5, 1.5, INF], dtype=dtype)
    assert result.dtype == dtype
    with np.errstate(invalid="ignore"):
        same(
            np.abs(result) if "nan" in str(expected) else result,
            [abs(x) for x in expected] if NAN in expected else expected,
        )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("exp", [1, math.exp(-2.5), math.exp(1.5), INF]),
        ("tanh", [-0.0, math.tanh(-2.5), math.tanh(1.5), 1]),
        ("erf", [-0.0, math.erf(-2.5), math.erf(1.5), 1]),
    ],
)
def test_functions_computed_stepwise_in_float32(name, expected):
    same(run_kernel(name, [-0.0, -2.5, 1.5, INF], dtype="f2"), expected)
    result = run_kernel(name, [-0.0, -2.5, 1.5, INF])
    assert result.dtype == "f4"
    np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))
    np.testing.assert_allclose(result, expected, rtol=2e-7, atol=1.5e-7)


def test_sign_of_nan_is_zero():
    same(run_kernel("sign", [NAN, -0.0, 3]), [0, 0, 1])


def test_narrow_integers_saturate_and_32_bits_or_more_wrap():
    for name in ("absolute", "negative"):
        assert run_kernel(name, [-128, -127], dtype="i1", saturate_below=32).tolist() == [127, 127]
        assert run_kernel(name, [-(2**15)], dtype="i2", saturate_below=32).tolist() == [2**15 - 1]
        for dtype in ("i4", "i8"):
            least = np.iinfo(dtype).min
            assert run_kernel(name, [least], dtype=dtype, saturate_below=32).tolist() == [least]
        assert run_kernel(name, [-128], dtype="i1").tolist() == [-128]


def test_float32_formulas_overflow_and_cancel():
    same(run_kernel("arccosh_from_logarithm", [1, 0.5, 3e38, -INF]), [0, NAN, INF, NAN])
    same(run_kernel("arcsinh_from_logarithm", [3e38, -1e38, -INF]), [INF, INF, NAN])
    assert run_kernel("arcsinh_from_logarithm", [-3416.799]).tolist() == [np.float32(-8.317766)]  # not -8.829607
    same(run_kernel("cosh_from_exponentials", [89, -89, 0]), [INF, INF, 1])
    same(run_kernel("sinh_from_exponentials", [89, -89, 0]), [INF, -INF, 0])


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("half_to_even", [-2, -2, -0.0, 0, 2, 2, 4, 0, 8388609]),
        ("half_away_from_zero", [-3, -2, -1, 1, 2, 3, 4, 0, 8388609]),
        ("toward_zero", [-2, -1, -0.0, 0, 1, 2, 3, 0, 8388609]),
    ],
)
def test_rounding(mode, expected):
    same(
        run_kernel("round_to_integer", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 0.49999997, 8388609], mode=mode), expected
    )


def test_minus_zero_is_rounded_like_in_builds():
    same(run_kernel("round_to_integer", [-0.0, -0.25], mode="half_away_from_zero"), [0.0, -0.0])
    same(run_kernel("round_to_integer", [-0.0, -0.25], mode="half_to_even"), [-0.0, -0.0])


def test_is_nan_and_is_infinite():
    values = [NAN, INF, -INF, 1]
    assert run_kernel("is_not_a_number", values, dtype="f2").tolist() == [True, False, False, False]
    assert run_kernel("is_infinite", values, dtype=np.dtype("f2")).tolist() == [False, True, True, False]
    result = find_kernel("is_infinite")(np.array(values, "f4"), signs="positive", dtype=np.dtype("u1"))
    assert result.dtype == np.uint8
    assert result.tolist() == [0, 1, 0, 0]
    assert run_kernel("is_infinite", values, signs="negative").tolist() == [False, False, True, False]


def test_scale_and_bias_are_applied_first_in_float32():
    x = np.random.default_rng(1).normal(0, 9, 500).astype("f4")
    by, plus = np.float32(1.7), np.float32(-0.6)
    assert np.array_equal(run_kernel("identity", x, scale_bias=(1.7, -0.6)), x * by + plus)
    assert np.array_equal(run_kernel("floor", x, scale_bias=(1.7, -0.6)), np.floor(x * by + plus))
    half = x.astype("f2")
    once = (half.astype("f4") * by + plus).astype("f2")
    assert np.array_equal(run_kernel("identity", half, dtype="f2", scale_bias=(1.7, -0.6)), once)


def test_scale_and_bias_of_integers_truncate_and_saturate():
    assert run_kernel("identity", [-128, -59, 2, 35, 127], dtype="i1", scale_bias=(1.7, -0.6)).tolist() == [
        -128,
        -100,
        2,
        58,
        127,
    ]
    assert run_kernel("identity", [0, 1, 10, 130, 255], dtype="u1", scale_bias=(1.7, -0.6)).tolist() == [
        0,
        1,
        16,
        220,
        255,
    ]
    assert run_kernel("absolute", [-(2**31) + 1, 629576136], dtype="i4", scale_bias=(1.7, -0.6)).tolist() == [
        -(2**31),
        1070279424,
    ]
    assert run_kernel("absolute", [-128, -59], dtype="i1", scale_bias=(1.7, -0.6), saturate_below=32).tolist() == [
        127,
        100,
    ]
    # values outside of 32 bits become the minimum, which does not have an absolute value
    assert run_kernel("absolute", [7, 0, -1], dtype="i1", scale_bias=(-1e30, 1), saturate_below=32).tolist() == [
        -128,
        1,
        127,
    ]
    assert run_kernel("absolute", [7, -100], dtype="i2", scale_bias=(1e30, 1), saturate_below=32).tolist() == [
        32767,
        -32768,
    ]


# --- functions of two tensors


def test_float16_is_computed_in_float32_and_rounded_once():
    assert run_kernel("average", [60000], [60000], dtype="f2").tolist() == [60000]
    assert run_kernel("add", [65504], [65504], dtype="f2").tolist() == [INF]
    assert run_kernel("squared_difference", [1 + 2**-10], [0], dtype="f2").tolist() == [1 + 2**-9]


def test_maximum_and_minimum_ignore_nan():
    a, b = [NAN, 1, NAN, -0.0, 0.0, INF], [1, NAN, NAN, 0.0, -0.0, 2]
    same(run_kernel("maximum", a, b), [1, 1, NAN, -0.0, 0.0, INF])
    same(run_kernel("minimum", a, b), [1, 1, NAN, -0.0, 0.0, 2])


def test_division_by_zero():
    same(run_kernel("divide", [1, -1, 0, 1], [0, 0, 0, -0.0]), [INF, -INF, NAN, -INF])
    for dtype in ("u1", "u2", "u4", "u8"):
        assert run_kernel("divide", [7, 0], [0, 0], dtype=dtype).tolist() == [np.iinfo(dtype).max] * 2
        assert (
            run_kernel("remainder", [7, 0], [0, 0], dtype=dtype, rounding="floor").tolist() == [np.iinfo(dtype).max] * 2
        )
    for name, extra in (("divide", {}), ("remainder", {"rounding": "truncate"})):
        result = find_kernel(name)(np.array([7, -7, 7], "i4"), np.array([0, 2, 3], "i4"), **extra)
        assert np.ma.getmaskarray(result).tolist() == [True, False, False]


def test_integers_wrap_around():
    assert run_kernel("add", [127, -128], [1, -1], dtype="i1").tolist() == [-128, 127]
    assert run_kernel("subtract", [0], [1], dtype="u4").tolist() == [2**32 - 1]
    assert run_kernel("multiply", [2**31], [2], dtype="i8").tolist() == [2**32]
    assert run_kernel("multiply", [2**62], [4], dtype="i8").tolist() == [0]
    assert run_kernel("divide", [-(2**31)], [-1], dtype="i4").tolist() == [-(2**31)]
    assert run_kernel("average", [2**32 - 1], [3], dtype="u4").tolist() == [1]
    assert run_kernel("squared_difference", [2], [5], dtype="u4").tolist() == [9]


@given(st.lists(st.tuples(st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1)), min_size=1, max_size=30))
def test_integer_division_and_remainder(pairs):
    pairs = [(a, b or 1) for a, b in pairs if (a, b) != (-(2**31), -1)] or [(1, 1)]
    a, b = zip(*pairs, strict=True)
    towards_zero = [abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1) for x, y in pairs]
    assert run_kernel("divide", a, b, dtype="i4").tolist() == towards_zero
    assert run_kernel("remainder", a, b, dtype="i4", rounding="floor").tolist() == [x % y for x, y in pairs]
    left = [x - y * q for (x, y), q in zip(pairs, towards_zero, strict=True)]
    assert run_kernel("remainder", a, b, dtype="i4", rounding="truncate").tolist() == left


def test_remainders_of_floats():
    a, b = [7.0, -7, 7, -7, 5.5, 1, INF], [3.0, 3, -3, -3, 2, 0, 2]
    same(run_kernel("remainder", a, b, rounding="floor"), [1, 2, -2, -1, 1.5, NAN, NAN])
    same(run_kernel("remainder", a, b, rounding="truncate"), [1, -1, 1, -1, 1.5, NAN, NAN])
    # 0.74765 is 3 times 0.24922 except for rounding; 1e10 is an integer, and so is the next float
    a, b = [0.747651219367981, 1e10, -1e10, 6, -3], [-0.24921706318855286, 1, 1, 3, 0]
    same(run_kernel("remainder", a, b, rounding="floor", raised_quotient=True), [0, -1024, -1024, 0, NAN])
    same(run_kernel("remainder", a, b, rounding="truncate", raised_quotient=True), [0, -1024, 1024, 0, NAN])
    same(
        run_kernel("remainder", [-0.0], [4], rounding="floor", raised_quotient=True), [0.0]
    )  # a quotient of minus 0 stays it


def test_atan2_at_the_origin_is_undefined():
    result = find_kernel("arctan2")(np.array([0, -0.0, 1, 0, -1], "f4"), np.array([0, 0, 1, -1, 0], "f4"))
    assert np.ma.getmaskarray(result).tolist() == [True, True, False, False, False]
    assert result[2:].tolist() == [np.float32(math.pi / 4), np.float32(math.pi), np.float32(-math.pi / 2)]


def test_sums_are_rounded_before_an_activation():
    def activation(x):
        assert x.dtype == np.float16
        return x * 2

    result = run_kernel("fused_add", [0.0999755859375], [-2.5], dtype="f2", activation=activation)
    assert result.tolist() == [2 * np.float16(0.0999755859375 - 2.5)]
    assert run_kernel("fused_add", [1], [2]).tolist() == [3]


# --- powers


def test_powers_by_logarithm():
    base, exponent = [0, 0, 0, -2, -2, -2, 4, INF, 1, -8], [0, 2, -1, 3, 2, 0.5, 0.5, 0, INF, 1 / 3]
    same(run_kernel("power_by_logarithm", base, exponent), [0, 0, 0, -8, 4, NAN, 2, NAN, NAN, NAN])
    same(run_kernel("power_to_constant", [0, -2, 3, INF], exponent=2), [0, 4, 9, INF])
    same(run_kernel("power_to_constant", [0, -2, 3], exponent=0), [0, 1, 1])


def test_powers_of_integers_are_exact_and_wrap_in_32_bits():
    assert run_kernel("power_by_logarithm", [3, -3, 0, 5, 1, -1, -1, 2, 10], [20, 3, 0, -1, -9, -3, -2, 32, 10], dtype="i4").tolist() == [
        3**20 - 2**32 if 3**20 >= 2**31 else 3**20, -27, 1, 0, 1, -1, 1, 0, 10**10 % 2**32,
    ]  # fmt: skip
    assert run_kernel("power_by_logarithm", [15, -128, 33, -5], [2, 2, 7, 3], dtype="i1").tolist() == [
        127,
        127,
        -128,
        -125,
    ]
    assert run_kernel("power_by_logarithm", [211, 16, 15], [2, 2, 2], dtype="u1").tolist() == [255, 255, 225]


def test_powers_of_mixed_types():
    power = find_kernel("power_by_logarithm")
    result = power(np.array([15, -33, 4], "i4"), np.array([3, 1, 0.5], "f4"))
    assert result.dtype == np.int32
    assert result.tolist() == [3375, -33, 2]
    assert power(np.array([1.5, -2], "f4"), np.array([2, 3], "u1")).tolist() == [2.25, -8]
    # scale and shift treat narrow integers as 32-bit ones, and clamp the result
    wide = {"scale_bias": (100, math.inf)}
    assert power(np.array([5, -6], "i2"), np.array([-128, 3], "i1"), **wide).tolist() == [2**15 - 1, 2**15 - 1]
    assert power(np.array([-6], "i1"), np.array([127], "i1"), scale_bias=(1, 7)).tolist() == [1]
    both = power(np.array([-18.769866943359375], "f4"), np.array([3], "f4"), scale_bias=(-1.3, 0.4))
    assert both[0] == pytest.approx(1.3163418771000579e-05, rel=1e-5)  # the exponent is scaled too


# --- bounds


def test_clipping():
    x = [NAN, INF, -INF, 0.0, -0.0, 1, -5]
    same(run_kernel("clip", x, low=-2.5, high=3.5), [3.5, 3.5, -2.5, 0.0, -0.0, 1, -2.5])
    same(run_kernel("clip", x, low=5, high=-5), [5] * 7)
    same(run_kernel("clip", x, low=NAN, high=3), [3, 3, -INF, 0.0, -0.0, 1, -5])
    same(
        run_kernel("clip", x, dtype="f2", low=-1e10, high=INF, finite_bounds=True),
        [65504, 65504, -65504, 0.0, -0.0, 1, -5],
    )
    same(run_kernel("clip", x, dtype="f2", low=-INF, high=INF), [INF, INF, -INF, 0.0, -0.0, 1, -5])
    same(run_kernel("threshold_to", x, low=-2.5), [-2.5, INF, -2.5, 0.0, -0.0, 1, -2.5])
    same(run_kernel("threshold_to", x, dtype="f2", low=-1e10), [-INF, INF, -INF, 0.0, -0.0, 1, -5])


def test_integer_clip_bounds_are_truncated_and_saturated():
    assert run_kernel("clip", [-7, -2, 0, 7], dtype="i4", low=-2.5, high=3.7).tolist() == [-2, -2, 0, 3]
    assert run_kernel("clip", [-128, 127], dtype="i1", low=0.4, high=300.6).tolist() == [0, 127]
    assert run_kernel("clip", [0, 2**64 - 1], dtype="u8", low=-2.5, high=1e10).tolist() == [0, 10**10]
    assert run_kernel("clip", [-(2**63), 2**63 - 1], dtype="i8", low=-(2**63), high=2**63 - 2).tolist() == [
        -(2**63),
        2**63 - 2,
    ]
    assert run_kernel("threshold_to", [-7, 7], dtype="i1", low=300.6).tolist() == [127, 127]
    assert run_kernel("clip", [0, 1, 4], dtype="u1", low=-2.5, high=3.7, scale_bias=(1.7, -0.6)).tolist() == [0, 1, 3]


def test_gradients_of_clipping():
    same(run_kernel("clip_gradient", [-1, 0, 1, 2, NAN], [5, 6, 7, 8, 9], low=0, high=2), [0, 0, 7, 0, 0])
    assert run_kernel("clip_gradient", [1, 2, 3], [5, 6, 7], dtype="i8", low=1.9, high=3.9).tolist() == [0, 6, 0]


# --- truth values and bits


def test_comparisons_have_a_separate_output_type():
    a, b = np.array([1, 2, np.nan], "f4"), np.array([1, 1, np.nan], "f4")
    answers = {
        "equal": [1, 0, 0],
        "greater": [0, 1, 0],
        "greater_equal": [1, 1, 0],
        "less": [0, 0, 0],
        "less_equal": [1, 0, 0],
    }
    for name, answer in answers.items():
        result = find_kernel(name)(a, b, dtype=np.dtype("u4"))
        assert result.dtype == np.uint32
        assert result.tolist() == answer
        assert find_kernel(name)(a, b).dtype == np.bool_


def test_nonzero_values_are_true():
    a, b = [0, 0, 7, 255], [0, 3, 0, 9]
    assert run_kernel("logical_and", a, b, dtype="u4").tolist() == [0, 0, 0, 1]
    assert run_kernel("logical_or", a, b, dtype="u1").tolist() == [0, 1, 1, 1]
    assert run_kernel("logical_xor", a, b, dtype="u1").tolist() == [0, 1, 1, 0]
    assert run_kernel("logical_not", a, dtype="u1").tolist() == [1, 1, 0, 0]
    chosen = find_kernel("select")(np.array(a, "u1"), np.array([1, 2, 3, 4], "f2"), np.array([5, 6, 7, 8], "f2"))
    assert chosen.tolist() == [5, 6, 3, 4]


def test_bits_of_any_type():
    nan = np.array([0x7FC12345], "u4").view("f4")
    assert find_kernel("bitwise_or")(nan, np.zeros(1, "f4")).view("u4").tolist() == [0x7FC12345]
    assert find_kernel("bitwise_not")(np.array([0, 128, 42, 255], "u1")).tolist() == [255, 127, 213, 0]
    assert find_kernel("bitwise_xor")(np.array(1.0, "f8"), np.array(-1.0, "f8")).view("u8") == 2**63
    result = find_kernel("bit_count")(np.array([[0, 123], [456, 2**63]], "u8"), dtype=np.dtype("u4"))
    assert result.dtype == np.uint32
    assert result.tolist() == [[0, 6], [4, 1]]


def test_overlong_shifts():
    by = [0, 7, 8, 31, 32, 33, 255]
    assert run_kernel("left_shift", [1] * 7, by, dtype="u4", overlong="word").tolist() == [
        1,
        128,
        256,
        2**31,
        1,
        2,
        2**31,
    ]
    assert run_kernel("left_shift", [1] * 7, by, dtype="u1", overlong="word").tolist() == [1, 128, 0, 0, 1, 2, 0]
    assert run_kernel("left_shift", [1] * 7, by, dtype="u4").tolist() == [1, 128, 256, 2**31, 0, 0, 0]
    wide = [63, 64, 65, 127, 2**32, 2**32 + 5]
    result = run_kernel("left_shift", [1] * 6, wide, dtype="u8", overlong="word")
    assert [int(x).bit_length() - 1 for x in result] == [63, 32, 33, 63, 0, 5]
    assert run_kernel("right_shift", [2**63] * 6, wide, dtype="u8").tolist() == [1, 0, 0, 0, 0, 0]


# --- what is refused


@pytest.mark.parametrize(
    ("name", "arrays", "arguments"),
    [
        ("add", [np.zeros(2, "f4"), np.zeros(1, "f4")], {}),
        ("add", [np.zeros(2, "f4"), np.zeros(2, "f2")], {}),
        ("add", [np.zeros(2, "f4"), np.zeros(3, "f4")], {"broadcast": True}),
        ("add", [np.zeros(2, "b1"), np.zeros(2, "b1")], {}),
        ("equal", [np.zeros(2, "f4"), np.zeros(2, "f2")], {}),
        ("logical_or", [np.zeros(2, "u1"), np.zeros(1, "u1")], {}),
        ("bitwise_and", [np.zeros(2, "u1"), np.zeros(2, "u2")], {}),
        ("left_shift", [np.zeros(2, "i4"), np.zeros(2, "i4")], {}),
        ("left_shift", [np.zeros(2, "u4"), np.zeros(2, "u4")], {"overlong": "lost"}),
        ("select", [np.zeros(2, "u1"), np.zeros(3, "f4"), np.zeros(3, "f4")], {}),
        ("select", [np.zeros(2, "u1"), np.zeros(2, "f4"), np.zeros(2, "f2")], {}),
        ("clip_gradient", [np.zeros(2, "f4"), np.zeros(1, "f4")], {"low": 0, "high": 1}),
        ("power_by_logarithm", [np.zeros(2, "f4"), np.zeros(1, "f4")], {}),
        ("power_by_logarithm", [np.zeros(2, "b1"), np.zeros(2, "i4")], {}),
        ("power_to_constant", [np.zeros(2, "i4")], {"exponent": 2}),
        ("arctan2", [np.zeros(2, "i4"), np.zeros(2, "i4")], {}),
        ("exp", [np.zeros(2, "i4")], {}),
        ("round_to_integer", [np.zeros(2, "f4")], {"mode": "UP"}),
        ("is_infinite", [np.zeros(2, "f4")], {"signs": "none"}),
        ("remainder", [np.zeros(2, "f4"), np.ones(2, "f4")], {"rounding": "up"}),
    ],
)
def test_invalid_arguments_are_rejected(name, arrays, arguments):
    with pytest.raises(InputError, match=name):
        find_kernel(name)(*arrays, **arguments)


def test_broadcasting_is_opt_in():
    result = find_kernel("add")(np.ones((3, 1), "f4"), np.ones(4, "f4"), broadcast=True)
    assert result.shape == (3, 4)
    with memory.limit(100), pytest.raises(InputError, match="more than the limit"):
        find_kernel("add")(np.ones((3, 1), "f4"), np.ones(400, "f4"), broadcast=True)


def test_square_broadcasts_with_its_exponent():
    base = np.array([1, 2, -3], np.float32)
    result = find_kernel("power")(base, np.full((1, 1), 2, np.float32), broadcast=True)
    np.testing.assert_array_equal(result, [[1, 4, 9]])


def test_kernels_suppress_only_their_warnings(recwarn):
    array, zero = np.ones(3, np.float32), np.zeros((), np.float32)
    find_kernel("divide")(array, zero, broadcast=True)
    with memory.limit(1000):
        find_kernel("divide")(array, zero, broadcast=True)
    assert not recwarn.list
    np.divide(array, zero)
    assert [each.category for each in recwarn.list] == [RuntimeWarning]
