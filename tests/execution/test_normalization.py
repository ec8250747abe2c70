"""Normalization by mean and variance: by hand, all axes, errors."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.normalization import mean_variance_normalization, value_scale_2d

ROW = np.array([[1, 2, 3, 6]], np.float32)  # mean 3, variance 3.5, mean square 12.5


@pytest.mark.parametrize(
    ("use_mean", "use_variance", "expected"),
    [
        (True, True, [x / 2 for x in (-2, -1, 0, 3)]),  # with 0.5 added, the root is 2
        (True, False, [-2, -1, 0, 3]),
        (False, True, [x / sqrt(13) for x in (1, 2, 3, 6)]),
        (False, False, [1, 2, 3, 6]),
    ],
)
def test_by_hand(use_mean, use_variance, expected):
    result = mean_variance_normalization(ROW, axes=[1], epsilon=0.5, use_mean=use_mean, use_variance=use_variance)
    assert result[0].tolist() == pytest.approx(expected, abs=1e-7)


def test_scale_bias_and_activation():
    scale, bias = np.array([[2]], np.float32), np.array([[1, 1, 1, -9]], np.float32)
    array = mean_variance_normalization(
        ROW, scale, bias, axes=[1], epsilon=0.5, activation=lambda x: np.maximum(x, np.float32(0))
    )
    assert array.tolist() == [[0, 0, 1, 0]]


@pytest.mark.parametrize("axes", [[0], [2, 1], [0, 1, 2], []])
def test_axes(axes):
    array = np.random.default_rng(2).normal(size=(2, 3, 4)).astype(np.float32)
    result = mean_variance_normalization(array, axes=axes, epsilon=1e-3)
    wide = array.astype(np.float64)
    mean, variance = wide.mean(tuple(axes), keepdims=True), wide.var(tuple(axes), keepdims=True)
    assert result == pytest.approx((wide - mean) / np.sqrt(variance + 1e-3), abs=1e-6)


def test_float16_with_a_large_mean():
    array = np.array([[2000, 2002]], np.float16)
    assert mean_variance_normalization(array, axes=[1], epsilon=0.0).tolist() == [[-1, 1]]


@pytest.mark.parametrize("inputs", [{"scale": (1, 3)}, {"bias": (4,)}, {"axes": [2]}])
def test_invalid_arguments_are_rejected(inputs):
    scale, bias = (np.ones(inputs[name], np.float32) if name in inputs else None for name in ("scale", "bias"))
    with pytest.raises(InputError, match="normalization"):
        mean_variance_normalization(ROW, scale, bias, axes=inputs.get("axes", [1]), epsilon=1e-5)


def test_parameters_per_channel():
    array = np.arange(6, dtype=np.float32).reshape(1, 3, 1, 2)
    result = value_scale_2d(array, scale=2.0, bias=[1, 0, -1])
    assert result.tolist() == [[[[1, 3]], [[4, 6]], [[7, 9]]]]
    assert value_scale_2d(array.astype("f2"), scale=2.0, bias=[1, 0, -1]).dtype == np.float16
    for shape in ((1, 2, 1, 2), (3, 2)):
        with pytest.raises(InputError, match="channels"):
            value_scale_2d(np.zeros(shape, np.float32), scale=1.0, bias=[1, 0, -1])
