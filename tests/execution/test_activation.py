"""Activations, softmax and quantization, with values of DirectML 6.4 (software)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from specgate.errors import InputError
from specgate.execution.kernels import find_kernel

NAN, INF = math.nan, math.inf
X = [NAN, -INF, -2, -0.5, -0.0, 0.5, 2, INF]


def run_kernel(name, *arrays, dtype="f4", **arguments):
    return find_kernel(name)(*(np.array(array, dtype) for array in arrays), **arguments)


@pytest.mark.parametrize(
    ("name", "numbers", "expected"),
    [
        ("linear", {"alpha": 1.5, "beta": 0.5}, [NAN, -INF, -2.5, -0.25, 0.5, 1.25, 3.5, INF]),
        ("hard_sigmoid", {"alpha": 0.5, "beta": 0.5}, [0, 0, 0, 0.25, 0.5, 0.75, 1, 1]),
        ("hard_swish", {"alpha": 0.5, "beta": 0.5}, [NAN, NAN, 0, -0.125, 0, 0.375, 2, INF]),
        ("leaky_relu", {"alpha": 0.25}, [NAN, -INF, -0.5, -0.125, 0, 0.5, 2, INF]),
        ("thresholded_relu", {"alpha": 0.5}, [NAN, 0, 0, 0, 0, 0, 2, INF]),
        ("relu", {}, [0, 0, 0, 0, 0, 0.5, 2, INF]),
        ("softsign", {}, [NAN, NAN, -2 / 3, -1 / 3, 0, 1 / 3, 2 / 3, NAN]),
        ("shrink", {"bias": 0.25, "threshold": 0.75}, [0, -INF, -1.75, 0, 0, 0, 1.75, INF]),
        ("elu", {"alpha": 2}, [NAN, -2, 2 * math.expm1(-2), 2 * math.expm1(-0.5), 0, 0.5, 2, INF]),
        ("celu", {"alpha": 2}, [0, -2, 2 * math.expm1(-1), 2 * math.expm1(-0.25), 0, 0.5, 2, INF]),
        ("scaled_elu", {"alpha": 2, "gamma": 3}, [NAN, -6, 6 * math.expm1(-2), 6 * math.expm1(-0.5), 0, 1.5, 6, INF]),
        ("scaled_tanh", {"alpha": 2, "beta": 0.5}, [NAN, -2, 2 * math.tanh(-1), 2 * math.tanh(-0.25), 0, 2 * math.tanh(0.25), 2 * math.tanh(1), 2]),
        ("sigmoid", {}, [NAN, 0, *(1 / (1 + math.exp(-x)) for x in X[2:7]), 1]),
        ("softplus", {"steepness": 2}, [NAN, 0, *(math.log1p(math.exp(2 * x)) / 2 for x in X[2:7]), INF]),
        ("parametric_softplus", {"alpha": 3, "beta": 2}, [NAN, 0, *(3 * math.log1p(math.exp(2 * x)) for x in X[2:7]), INF]),
        ("swish", {"scale": 2}, [NAN, NAN, *(x / (1 + math.exp(-2 * x)) for x in X[2:7]), INF]),
        ("gelu", {}, [NAN, NAN, *(x / 2 * (1 + math.erf(x / math.sqrt(2))) for x in X[2:7]), INF]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_activations(name, numbers, expected, dtype):
    result = run_kernel(name, X, dtype=dtype, **numbers)
    assert result.dtype == dtype
    assert np.allclose(result, expected, rtol=1e-3 if dtype == "f2" else 3e-7, atol=3e-7, equal_nan=True)


def test_a_steep_softplus_does_not_overflow():
    assert run_kernel("softplus", [3e38, 1e5], steepness=30).tolist() == [np.float32(3e38), 1e5]


def test_softplus_with_infinite_nan_and_zero_steepness():
    assert run_kernel("softplus", [1, 0, -1, INF, -2.5], steepness=INF).tolist() == [1, 0, 0, INF, 0]
    assert run_kernel("softplus", [1, 0, -1, -INF, -2.5], steepness=-INF).tolist() == [0, 0, -1, -INF, -2.5]
    assert run_kernel("softplus", [1, -INF], steepness=NAN).tolist() == [1, -INF]
    assert run_kernel("softplus", [1, INF, -INF], steepness=0).tolist() == [INF, INF, -INF]


def test_parametric_softplus_overflows_only_in_its_result():
    huge = np.float32(1.7e38)
    assert run_kernel("parametric_softplus", [huge], alpha=1e-5, beta=3.25).item() == pytest.approx(
        float(huge) * 3.25e-5
    )


def test_scaled_elu_with_infinite_numbers():
    assert run_kernel("scaled_elu", [-1, 1, -INF], alpha=-INF, gamma=-INF).tolist() == [-INF, -INF, -INF]
    assert run_kernel("scaled_elu", [-1, 0, 1], alpha=INF, gamma=2).tolist() == [-INF, 0, 2]


@pytest.mark.parametrize("bits", [0x7C01, 0xFC01, 0x7E00])
def test_activations_ignore_nan_with_any_payload(bits):
    x = np.array([bits, 0x4400, 0xC200], np.uint16).view(np.float16)  # nan, 4, -3
    assert find_kernel("celu")(x, alpha=1e-5)[0] == 0
    assert find_kernel("hard_sigmoid")(x, alpha=1, beta=0).tolist() == [0, 1, 0]
    assert np.allclose(find_kernel("log_softmax")(x, axes=[0])[1:], [46.05, 39.05], atol=0.02)


def test_parameters_are_float32():
    assert run_kernel("linear", [1], alpha=0.1, beta=0).tolist() == [np.float32(0.1)]


def test_integers():
    assert run_kernel("relu", [-128, 0, 127], dtype="i1").tolist() == [0, 0, 127]
    assert run_kernel("prelu", [-3, 3, -128], [2, 2, 2], dtype="i1").tolist() == [-6, 3, 0]
    assert run_kernel("relu_gradient", [-1, 0, 1], [5, 6, 7], dtype="i4").tolist() == [0, 0, 7]
    # halves round to even, and the result is clamped to the type
    assert run_kernel("shrink", [-128, -3, -2, 2, 3, 4, 127], dtype="i1", bias=1.5, threshold=2.5).tolist() == [
        -126, -2, 0, 0, 2, 2, 126,
    ]  # fmt: skip
    assert run_kernel("shrink", [-128, 127], dtype="i1", bias=-1.5, threshold=-2.5).tolist() == [-128, 127]
    assert run_kernel("shrink", [0, 255], dtype="u1", bias=-1.5, threshold=-2.5).tolist() == [2, 255]


def test_gradients_and_slopes_of_floats():
    assert run_kernel("relu_gradient", [NAN, -1, 0, 1], [5, 6, 7, 8]).tolist() == [0, 0, 0, 8]
    assert run_kernel("prelu", [-2, 2, -0.0], [0.5, 0.5, 3]).tolist() == [-1, 2, 0]
    assert run_kernel("prelu", [[-2, 2], [-4, 4]], [0.5], broadcast=True).tolist() == [[-1, 2], [-2, 4]]


# --- groups


@given(st.data())
def test_softmax_over_any_axes(data):
    shape = data.draw(array_shapes(min_dims=1, max_dims=4, max_side=4))
    axes = data.draw(st.lists(st.integers(0, len(shape) - 1), max_size=5))
    seed = data.draw(st.integers(0, 999))
    x = np.random.default_rng(seed).integers(-4, 4, shape).astype("f4")
    along = tuple(set(axes))
    soft, log, hard = (find_kernel(name)(x, axes=axes) for name in ("softmax", "log_softmax", "hardmax"))
    assert np.allclose(soft.sum(axis=along), 1, atol=1e-6)
    assert np.allclose(np.log(soft), log, atol=1e-5)
    assert np.array_equal(hard.sum(axis=along), np.ones_like(soft.sum(axis=along)))
    assert np.array_equal((x * hard).sum(axis=along), x.max(axis=along))
    for array in (soft, log, hard):
        assert array.shape == x.shape
        assert array.dtype == x.dtype


def test_hardmax_selects_the_first_maximum_in_row_major_order():
    x = np.array([[1, 5], [5, 1]], "f4")
    for axes in ([0, 1], [1, 0], [1, 0, 0]):
        assert find_kernel("hardmax")(x, axes=axes).tolist() == [[0, 1], [0, 0]]


def test_groups_with_nan_and_infinity():
    rows = [[NAN, 1, 2], [1, NAN, 5], [NAN] * 3, [-INF] * 3, [INF, 0, NAN]]
    assert run_kernel("hardmax", rows, axes=[1]).argmax(axis=1).tolist() == [0, 2, 0, 0, 0]
    least = -math.log(1e-20)
    result = run_kernel("log_softmax", [[NAN, 0, 1], [INF, 0, 1]], axes=[1])
    assert np.allclose(result, [[NAN, least - 1, least], [NAN, -INF, -INF]], equal_nan=True)
    assert np.isnan(run_kernel("softmax", [[NAN, 0, 1]], axes=[1])).all()


def test_huge_numbers_do_not_overflow():
    assert run_kernel("softmax", [[1e30, 1e30, 0]], axes=[1]).tolist() == [[0.5, 0.5, 0]]
    assert run_kernel("log_softmax", [[1e30, 0]], axes=[1]).tolist() == [[0, np.float32(-1e30)]]


# --- quantization


def test_quantization():
    x = np.array([0.5, 1.5, 2.5, -0.5, 300, -300, NAN, INF], "f4")
    array = np.ones(8, "f4")
    quantize = find_kernel("quantize_linear")
    assert quantize(x, array, dtype=np.dtype("i1")).tolist() == [0, 2, 2, 0, 127, -128, 0, 127]
    assert quantize(x, array, np.full(8, 3, "u1"), dtype=np.dtype("u1")).tolist() == [3, 5, 5, 3, 255, 0, 0, 255]
    wide = np.array([-(2**31), 2**31 - 1, 100], "i4")
    assert quantize(wide, np.full(3, 2, "f4"), dtype=np.dtype("i1")).tolist() == [-128, 127, 50]
    restored = find_kernel("dequantize_linear")
    assert restored(np.array([0, 255], "u1"), np.full(2, 0.5, "f2"), np.array([255, 0], "u1")).tolist() == [
        -127.5,
        127.5,
    ]
    # 32-bit integers become float32 before the zero point is subtracted
    result = restored(np.array([-610437341], "i4"), np.array([0.1], "f4"), np.array([5], "i4"))
    assert result.tolist() == [-61043732]


def test_quantized_sums():
    array = np.ones((1, 1), "f4")
    add = find_kernel("quantized_add")
    arguments = {"a_scale": array / 2, "b_scale": array / 4, "output_scale": array}
    a, b = np.array([[127, -128, 1]], "i1"), np.array([[255, 0, 4]], "u1")
    assert add(a=a, b=b, dtype=np.dtype("u1"), **arguments).tolist() == [[127, 0, 2]]
    points = {"a_zero_point": np.full((1, 1), 1, "i1"), "output_zero_point": np.full((1, 1), 5, "u1")}
    assert add(a=a, b=b, dtype=np.dtype("u1"), **arguments, **points).tolist() == [[132, 0, 6]]
    arguments["output_scale"] = array * NAN  # nan is held as the least number
    assert add(a=a, b=b, dtype=np.dtype("u1"), **arguments, **points).tolist() == [[0, 0, 0]]
    assert add(a=a, b=b, dtype=np.dtype("i1"), **arguments).tolist() == [[-128, -128, -128]]
    with pytest.raises(InputError, match="one element of uint8 as output_zero_point"):
        add(a=a, b=b, dtype=np.dtype("u1"), **arguments, output_zero_point=np.full((1, 1), 5, "i1"))


@pytest.mark.parametrize(
    ("name", "arrays", "arguments"),
    [
        ("elu", [np.zeros(2, "i4")], {"alpha": 1}),
        ("sigmoid", [np.zeros(2, "i4")], {}),
        ("prelu", [np.zeros(2, "f4"), np.zeros(1, "f4")], {}),
        ("prelu", [np.zeros(2, "f4"), np.zeros(2, "f2")], {}),
        ("relu_gradient", [np.zeros(2, "f4"), np.zeros(1, "f4")], {}),
        ("softmax", [np.zeros(2, "f4")], {"axes": [1]}),
        ("hardmax", [np.zeros(2, "f4")], {"axes": [-1]}),
        ("log_softmax", [np.zeros(2, "i4")], {"axes": [0]}),
        ("quantize_linear", [np.zeros(2, "f4"), np.zeros(1, "f4")], {"dtype": np.dtype("i1")}),
        ("quantize_linear", [np.zeros(2, "f4"), np.ones(2, "f4"), np.ones(2, "u1")], {"dtype": np.dtype("i1")}),
        ("quantize_linear", [np.zeros(2, "f4"), np.ones(2, "f4"), np.ones(1, "i1")], {"dtype": np.dtype("i1")}),
        ("dequantize_linear", [np.zeros(2, "f4"), np.ones(2, "f4")], {}),
        ("dequantize_linear", [np.zeros(2, "i1"), np.ones(2, "f4"), np.ones(2, "u1")], {}),
        ("quantized_add", [np.zeros(2, "i1"), np.ones(2, "f4"), np.zeros(2, "i1"), np.ones(1, "f4"), np.ones(1, "f4")], {"dtype": np.dtype("i1")}),
    ],
)  # fmt: skip
def test_invalid_arguments_are_rejected(name, arrays, arguments):
    with pytest.raises(InputError, match=name):
        find_kernel(name)(*arrays, **arguments)
