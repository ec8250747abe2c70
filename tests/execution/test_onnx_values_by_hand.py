"""ONNX operators on values computed by hand, where node tests have gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.attention import attend, causal_conv_with_state
from specgate.execution.kernels.cast import bit_cast, cast_elements
from specgate.execution.kernels.fft import cosine_window, dft_along
from specgate.execution.kernels.fill import shape_between, trilu
from specgate.execution.kernels.grid_sample import grid_sample
from specgate.execution.kernels.matmul import determinant
from specgate.execution.kernels.narrow_types import codes_of, numbers_of
from specgate.execution.kernels.quantize import dequantize_by_axis, dynamic_quantize_linear, quantize_by_axis
from specgate.execution.kernels.quantized_conv_matmul import conv_integer, matmul_integer, qlinear_matmul
from specgate.execution.kernels.random import bernoulli, dropout, random_normal
from specgate.execution.kernels.resize import resize
from specgate.execution.kernels.rnn_networks import functions_of, run_gru, run_lstm, run_rnn
from specgate.execution.kernels.slice import center_crop_pad, compress, max_unpool, tensor_scatter
from specgate.execution.kernels.softmax import negative_log_likelihood_loss
from specgate.execution.kernels.sort import unique_along

ml_dtypes = pytest.importorskip("ml_dtypes", reason="NARROW TYPES ARE NOT TESTED: pip install ml-dtypes")
INT4, E4M3, E5M2 = (np.dtype(getattr(ml_dtypes, name)) for name in ("int4", "float8_e4m3fn", "float8_e5m2"))
E8M0 = np.dtype(ml_dtypes.float8_e8m0fnu)


def floats(*values: Any) -> Any:
    return np.array(values, np.float32)


def show(array: Any) -> Any:
    return np.ma.asarray(array).astype(object).tolist()


@pytest.mark.parametrize(
    ("values", "to", "saturate", "expected"),
    [
        (floats(1e6, -1e6, np.inf, 449), E4M3, 1, [448, -448, 448, 448]),
        (floats(1e6, np.inf), E5M2, 1, [57344, 57344]),
        (floats(1e6, -np.inf), E5M2, 0, [np.inf, -np.inf]),
        (floats(-9, 8, 300), INT4, 1, [7, -8, -4]),
        (floats(300, -1.5, np.nan), np.dtype("i1"), 1, [None, -1, None]),
        (np.array([300, -129]), np.dtype("i1"), 1, [44, 127]),
        (np.array([0, 3, 1e39, 2.0**-130]), E8M0, 1, [2.0**-127, 4, 2.0**127, 2.0**-127]),
        (floats(-1, 6), E8M0, 1, [None, 8]),
        (np.array([True, False]), np.dtype(object), 1, ["1", "0"]),
        (floats(1e6, 0.1, np.nan, -np.inf), np.dtype(object), 1, ["1000000", "0.1", "NaN", "-INF"]),
        (np.array(["1e-5", "+inf", "x", ""], object), np.dtype("f8"), 1, [1e-5, np.inf, None, None]),
        (np.array(["-12", "2.7", "9" * 30], object), np.dtype("i8"), 1, [-12, None, None]),
    ],
)
def test_casts(values, to, saturate, expected):
    assert show(cast_elements(values, to=to, saturate=saturate)) == expected


def test_casts_to_float8e8m0_round_by_mode_and_support_nan():
    entries = {
        options: show(cast_elements(floats(5, 6, 7), to=E8M0, rounding=options))
        for options in ("up", "down", "nearest")
    }
    assert entries == {"up": [8, 8, 8], "down": [4, 4, 4], "nearest": [4, 8, 8]}
    assert np.isnan(cast_elements(floats(0, np.inf), to=E8M0, saturate=0).astype(np.float32)).all()


def test_bitcast():
    assert bit_cast(floats(1.0), to=np.dtype("u4")).tolist() == [0x3F800000]
    assert show(bit_cast(np.array([-1, 7], INT4), to=np.dtype(ml_dtypes.uint4))) == [15, 7]
    assert show(bit_cast(np.array([0, 1, 2], "u1"), to=np.dtype(bool))) == [False, True, None]
    with pytest.raises(InputError, match="different numbers of bits"):
        bit_cast(floats(1.0), to=np.dtype("u2"))


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2", "float4_e2m1fn", "float6_e2m3fn", "float8_e5m2"])
def test_narrow_type_codes_round_trip(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    bits = int("".join(c for c in name.removeprefix("u").split("_")[0] if c.isdigit()))
    codes = np.arange(2**bits, dtype=np.uint8)
    assert codes_of(numbers_of(codes, dtype)).tolist() == codes.tolist()


def test_narrow_types_quantize_and_dequantize():
    x, array = floats(-3, 0.5, 1.5, 900, np.nan), np.array(2, np.float32)
    assert show(quantize_by_axis(x, array, np.array(1, INT4))) == [-1, 1, 2, 7, 0]
    assert show(quantize_by_axis(x[:4], array, np.array(0, E4M3))) == [-1.5, 0.25, 0.75, 448]
    assert dequantize_by_axis(np.array([-8, 7], INT4), array, np.array(1, INT4)).tolist() == [-18, 12]
    assert dequantize_by_axis(np.array([0.5, -2], E4M3), array).tolist() == [1, -4]


def test_long_integer_products_are_exact():
    a, b = np.full((1, 5000), 255, np.uint8), np.full((5000, 2), -128, np.int8)
    assert matmul_integer(a, b, b_zero=np.array([0, 127], np.int8)).tolist() == [[-163200000, -325125000]]
    rows = matmul_integer(np.array([[3], [5]], "u1"), np.array([[2]], "u1"), np.array([1, 2], "u1"))
    assert rows.tolist() == [[4], [6]]
    with pytest.raises(InputError, match="cannot be multiplied"):
        matmul_integer(a, a)
    item, none = np.array(1, np.float32), np.array(0, np.uint8)
    array = qlinear_matmul(a[:, :1], item, none, np.array([[1, 9]], "u1"), np.array(0.5, np.float32), none, item, none)
    assert array.tolist() == [[128, 255]]  # 127.5 rounds to even, and 1147.5 is clamped


def test_padding_of_integer_convolutions_is_the_zero_point():
    x, w = np.full((1, 1, 2), 7, np.uint8), np.ones((1, 1, 2), np.int8)
    assert conv_integer(x, w, np.array(5, np.uint8), pads=[1, 1]).tolist() == [[[2, 4, 2]]]


def test_dynamic_quantization_computes_scale_and_zero_point():
    y, scale, zero = dynamic_quantize_linear(floats(-1, 0, 4.1))
    assert (y.tolist(), scale.tolist(), zero.tolist()) == ([0, 50, 255], np.float32(5.1 / 255), 50)
    y, scale, zero = dynamic_quantize_linear(floats(0, 0))
    assert (show(y), scale.tolist(), np.ma.is_masked(zero)) == ([None, None], 0, True)


def test_dynamic_quantization_saturates_after_rounding():
    y, scale, zero = dynamic_quantize_linear(floats(-1.5, 0, 253.5))
    assert (y.tolist(), scale.tolist(), zero.tolist()) == ([0, 2, 255], 1, 2)  # 253.5 goes to 254, and 256 is held


def test_tensor_scatter_is_linear_or_circular():
    buffer, update = np.arange(4.0).reshape(1, 4, 1), np.array([[[7.0], [8.0]]])
    around = tensor_scatter(buffer, update, np.array([3]), axis=1, mode="circular")
    assert around.reshape(-1).tolist() == [8, 1, 2, 7]
    with pytest.raises(InputError, match="do not fit"):
        tensor_scatter(buffer, update, np.array([3]), axis=1)


def test_center_crop_pad_compress_trilu_shape_and_max_unpool():
    assert center_crop_pad(np.arange(5), np.array([2])).tolist() == [1, 2]
    assert center_crop_pad(np.arange(1, 3), np.array([5])).tolist() == [0, 1, 2, 0, 0]
    assert compress(np.arange(6).reshape(3, 2), np.array([True, False, True]), axis=0).tolist() == [[0, 1], [4, 5]]
    with pytest.raises(NoKernel, match="beyond the last slice"):
        compress(np.arange(2), np.array([False, False, True]))
    assert trilu(np.ones((2, 3)), np.array(1), upper=False).tolist() == [[1, 1, 0], [1, 1, 1]]
    assert shape_between(np.zeros((2, 3, 4)), start=-2, end=9).tolist() == [3, 4]
    placed = max_unpool(floats(9).reshape(1, 1, 1), np.array([[[1]]]), np.array([1, 1, 3]), window=[2])
    assert placed.reshape(-1).tolist() == [0, 9, 0]


def test_distinct_elements_keep_their_order_and_slices_theirs():
    values, begins, places, counts = unique_along(floats(2, 1, 1, 3, 2, -0.0, 0), in_order=False)
    assert values.tolist() == [2, 1, 3, 0]
    assert (begins.tolist(), places.tolist(), counts.tolist()) == ([0, 1, 3, 5], [0, 1, 1, 2, 0, 3, 3], [2, 2, 1, 2])
    assert unique_along(np.array([[2, 1, 2], [0, 0, 0]]), axis=-1, in_order=True)[0].tolist() == [[1, 2], [0, 0]]
    assert unique_along(np.array(["b", "a", "b"], object), in_order=True)[0].tolist() == ["a", "b"]


def test_random_numbers_match_the_documented_generator():
    state = np.random.RandomState(5)
    expected = state.standard_normal((2, 3)).astype(np.float32)
    assert (random_normal(shape=[2, 3], seed=5.9) == expected).all()
    assert bernoulli(floats(0, 1, 0, 1)).tolist() == [0, 1, 0, 1]
    result, kept = dropout(np.ones(1000, np.float32), np.array(0.75), np.array(True), seed=1)
    assert set(result.tolist()) == {0.0, 4.0}
    assert (result != 0).tolist() == kept.tolist()
    assert 200 < kept.sum() < 300


def test_rnn_respects_sequence_lengths_in_both_directions():
    x, w, r = floats(1, 2, 4, 8).reshape(2, 2, 1), floats(1).reshape(1, 1, 1), floats(1).reshape(1, 1, 1)
    affine: dict[str, Any] = {"activations": ["Affine"], "alphas": [1.0], "betas": [0.0], "size": 1}
    y, last = run_rnn(x, w, r, lengths=np.array([2, 1]), direction="forward", **affine)
    assert (y.reshape(2, 2).tolist(), last.reshape(-1).tolist()) == ([[1, 2], [5, 0]], [5, 2])
    y, last = run_rnn(x, w, r, lengths=np.array([2, 1]), direction="reverse", **affine)
    assert (y.reshape(2, 2).tolist(), last.reshape(-1).tolist()) == ([[5, 2], [4, 0]], [5, 2])
    y, last = run_rnn(x, w, r, lengths=np.array([0, 1]), **affine)
    assert show(last.reshape(-1)) == [None, 2]
    with pytest.raises(NoKernel, match="sequence length outside 0 to 2"):
        run_rnn(x, w, r, lengths=np.array([0, 3]), **affine)


def test_gru_and_lstm_gates():
    x, nothing = floats(0).reshape(1, 1, 1), np.zeros((1, 3, 1), np.float32)
    _, last = run_gru(x, nothing, nothing, hidden=floats(4).reshape(1, 1, 1))
    assert last.item() == 2  # half of the state, half of tanh(0)
    four = np.zeros((1, 4, 1), np.float32)
    _, _, cell = run_lstm(x, four, four, cell=floats(4).reshape(1, 1, 1), coupled=1)
    assert cell.item() == 2
    with pytest.raises(NoKernel, match="no default"):
        functions_of(["Affine"], ["tanh"], [1.0], [])
    assert functions_of(["LeakyRelu", "Elu"], ["tanh", "tanh"], [0.5], [])[1](np.array(-np.inf)) == -1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"scales": floats(2), "mode": "nearest"}, [0, 0, 1, 1, 2, 2]),
        ({"scales": floats(2), "mode": "linear"}, [0, 0.25, 0.75, 1.25, 1.75, 2]),
        ({"sizes": np.array([2]), "mode": "linear", "coordinate_transformation_mode": "align_corners"}, [0, 2]),
        ({"sizes": np.array([1]), "mode": "linear", "antialias": 1}, [1]),
        (
            {
                "sizes": np.array([3]),
                "roi": floats(0.5, 1.5),
                "coordinate_transformation_mode": "tf_crop_and_resize",
                "beyond": 9,
            },
            [1, 2, 9],
        ),
        ({"scales": floats(0.5), "mode": "nearest", "coordinate_transformation_mode": "asymmetric"}, [0]),
    ],
)
def test_resizing(options, expected):
    assert resize(floats(0, 1, 2), **options).tolist() == pytest.approx(expected)


def test_resize_keeps_the_aspect_ratio_on_request():
    data = np.zeros((10, 4), np.float32)
    assert resize(data, sizes=np.array([5, 5]), policy="not_larger").shape == (5, 2)
    assert resize(data, sizes=np.array([5, 5]), policy="not_smaller").shape == (13, 5)


def test_one_dimensional_grid_sample():
    data, grid = floats(1, 3).reshape(1, 1, 2), floats(-1, 0, 2).reshape(1, 3, 1)
    assert grid_sample(data, grid, align_corners=1).reshape(-1).tolist() == [1, 2, 1.5]
    assert grid_sample(data, grid, align_corners=1, padding="border").reshape(-1).tolist() == [1, 2, 3]


def test_fully_masked_queries_give_zeros():
    q = np.ones((1, 1, 2, 1), np.float32)
    v = floats(np.inf, 5).reshape(1, 1, 2, 1)
    y, _, _, scores = attend(q, q, v, np.array([[False, False], [False, True]]), mode=3)
    assert y.reshape(-1)[0] == 0
    assert scores.reshape(2, 2).tolist() == [[0, 0], [0, 1]]
    y, keys, _, _ = attend(q, q, np.ones_like(q), past_key=2 * q, past_value=3 * np.ones_like(q), causal=1, scale=0.0)
    assert keys.reshape(-1).tolist() == [2, 2, 1, 1]
    assert y.reshape(-1).tolist() == pytest.approx([7 / 3, 2])


def test_causal_convolution_keeps_past_state():
    x, w = floats(1, 2, 3).reshape(1, 1, 3), floats(1, 10).reshape(1, 1, 2)
    y, state = causal_conv_with_state(x, w, past=floats(5).reshape(1, 1, 1))
    assert (y.reshape(-1).tolist(), state.reshape(-1).tolist()) == ([15, 21, 32], [3])


def test_windows_and_transforms():
    half: dict[str, Any] = {"coefficients": (0.5, 0.5, 0.0)}
    assert cosine_window(np.array(4), periodic=True, **half).tolist() == pytest.approx([0, 0.5, 1, 0.5])
    assert cosine_window(np.array(3), periodic=False, dtype=np.dtype("i4"), **half).tolist() == [0, 1, 0]
    signal = floats(1, 2, 3, 4).reshape(4, 1)
    existing = dft_along(signal, onesided=1)
    assert existing.shape == (3, 2)
    assert dft_along(existing, np.array(4), inverse=1, onesided=1).reshape(-1).tolist() == pytest.approx([1, 2, 3, 4])


def test_the_determinant_of_a_matrix_with_nan_is_nan():
    """Also if elimination first meets a column of zeros."""
    singular = floats(0, np.nan, 0, 1).reshape(2, 2)
    array = determinant(np.stack([singular, floats(1, 2, 3, 4).reshape(2, 2)]))
    assert np.isnan(array[0])
    assert array[1] == pytest.approx(-2)
    assert np.isnan(determinant(singular))


def test_losses_skip_the_ignored_index():
    logs, weights = np.log(floats(0.5, 0.5, 0.25, 0.75).reshape(2, 2)), floats(1, 3)
    assert negative_log_likelihood_loss(logs, np.array([0, 1]), weights) == pytest.approx(
        (np.log(2) - 3 * np.log(0.75)) / 4
    )
    assert negative_log_likelihood_loss(
        logs, np.array([0, -9]), ignored=-9, reduction="none"
    ).tolist() == pytest.approx([np.log(2), 0])
    with pytest.raises(InputError, match="labels below 2"):
        negative_log_likelihood_loss(logs, np.array([0, 2]))
