"""Matrix multiplication: values computed by hand, transposes, C, rounding, errors."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.matmul import gemm

A = np.array([[[[1, 2, 3], [4, 5, 6]]]], np.float32)
B = np.array([[[[1, 0], [0, 1], [1, 1]]]], np.float32)


def test_by_hand():
    assert gemm(A, B).tolist() == [[[[4, 5], [10, 11]]]]


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_transposed_matrices(transpose_a, transpose_b):
    left = np.swapaxes(A, 2, 3).copy() if transpose_a else A
    right = np.swapaxes(B, 2, 3).copy() if transpose_b else B
    result = gemm(left, right, transpose_a=transpose_a, transpose_b=transpose_b)
    assert result.tolist() == [[[[4, 5], [10, 11]]]]


def test_summand_factors_and_activation():
    c = np.array([[[[1, 2], [3, -30]]]], np.float32)
    array = gemm(A, B, c, alpha=0.5, beta=2.0, activation=lambda x: np.maximum(x, np.float32(0)))
    assert array.tolist() == [[[[4, 6.5], [11, 0]]]]


def test_each_batch_is_multiplied_separately():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 3, 4, 5)).astype("f4"), rng.normal(size=(2, 3, 5, 2)).astype("f4")
    array = gemm(a, b)
    for i in range(2):
        for j in range(3):
            for m in range(4):
                for n in range(2):
                    exact = sum(float(a[i, j, m, k]) * float(b[i, j, k, n]) for k in range(5))
                    assert array[i, j, m, n] == np.float32(exact)


def test_float16_sums_are_wide_and_rounded_once():
    a = np.full((1, 2049), 1, np.float16)
    array = gemm(a, np.ones((2049, 1), np.float16))
    assert array.dtype == np.float16
    assert array.tolist() == [[2048]]  # 2049 rounds to even; FLOAT16 sums would stay at 2048 as well
    assert gemm(a[:, :2046], np.full((2046, 1), 1.5, np.float16)).tolist() == [[3068]]  # 3069, a tie to even


def test_nan_infinities_and_overflow():
    a = np.array([[np.inf, 1], [np.nan, 1], [3e38, 3e38]], np.float32)
    array = gemm(a, np.array([[0.0], [1.0]], np.float32))
    assert np.isnan(array[0, 0])
    assert np.isnan(array[1, 0])
    assert np.isposinf(gemm(a[2:], np.ones((2, 1), np.float32))[0, 0])
    c = np.full((1, 1), np.nan, np.float32)
    assert np.isnan(gemm(np.ones((1, 1), np.float32), np.ones((1, 1), np.float32), c, beta=0.0)[0, 0])


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [
        ((2, 3), (2, 3), None),
        ((1, 2, 3), (2, 3, 2), None),
        ((2, 3), (1, 3, 2), None),
        ((3,), (3,), None),
        ((2, 3), (3, 2), (1, 2)),
    ],
)
def test_mismatched_shapes_are_rejected(a, b, c):
    arrays = [np.zeros(shape, np.float32) for shape in (a, b, c) if shape is not None]
    with pytest.raises(InputError, match="gemm"):
        gemm(*arrays)


def test_types_must_agree():
    with pytest.raises(InputError, match="float16"):
        gemm(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float16))
    with pytest.raises(InputError, match="addend"):
        gemm(A, B, np.zeros((1, 1, 2, 2), np.float16))
