"""Products with quantized matrices: block orders, and column scales of both."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.matmul_n_bits import matmul_integer_to_float, matmul_n_bits

ROWS, COLUMNS, BLOCK = 40, 3, 16


def blocks(bits: int):
    pick = np.random.default_rng(bits)
    count = -(-ROWS // BLOCK)
    packed = pick.integers(0, 256, (COLUMNS, count, BLOCK * bits // 8)).astype(np.uint8)
    spread = np.stack([packed >> shift & (2**bits - 1) for shift in range(0, 8, bits)], axis=-1)
    numbers = spread.reshape(COLUMNS, -1)[:, :ROWS].astype(np.float64)
    scales, points = (pick.standard_normal((COLUMNS, count)).astype(np.float32) for _ in range(2))
    return pick.standard_normal((2, ROWS)).astype(np.float32), packed, numbers, scales, points


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_rows_use_the_scales_of_their_blocks(bits) -> None:
    a, packed, numbers, scales, points = blocks(bits)
    sizes = {"rows": ROWS, "columns": COLUMNS, "bits": bits, "block": BLOCK}
    groups = np.random.default_rng(9).integers(0, 3, ROWS).astype(np.int32)
    result = matmul_n_bits(a, packed, scales, points, groups=groups, **sizes)
    plain = a @ ((numbers - points[:, groups]) * scales[:, groups]).T
    np.testing.assert_allclose(result, plain, rtol=1e-5, atol=1e-4)
    in_order = matmul_n_bits(a, packed, scales, groups=(np.arange(ROWS) // BLOCK).astype(np.int32), **sizes)
    assert np.array_equal(in_order, matmul_n_bits(a, packed, scales, **sizes))
    for wrong in (groups[:-1], groups + 1, groups - 1):
        with pytest.raises(InputError, match="blocks"):
            matmul_n_bits(a, packed, scales, groups=wrong, **sizes)
    with pytest.raises(NoKernel):
        matmul_n_bits(a, packed, scales, computed=False, **sizes)


@pytest.mark.parametrize(("left", "right"), [((2, 3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,))])
@pytest.mark.parametrize("own", ["scales", "points", "both"])
def test_per_column_scales_of_the_first_matrix(left, right, own) -> None:
    pick = np.random.default_rng(3)
    a, b = pick.integers(0, 256, left).astype(np.uint8), pick.integers(-128, 128, right).astype(np.int8)
    columns = right[1] if len(right) > 1 else 1
    a_scale = pick.random(4 if own != "points" else 1).astype(np.float32)
    a_zero = pick.integers(0, 256, 4 if own != "scales" else 1).astype(np.uint8)
    b_scale, b_zero = pick.random(columns).astype(np.float32), pick.integers(-128, 128, columns).astype(np.int8)
    bias = pick.random(columns).astype(np.float32)
    result = matmul_integer_to_float(a, b, a_scale, b_scale, a_zero, b_zero, bias)
    wide = (a - a_zero.astype(np.float64)) * a_scale
    other = (b - b_zero.astype(np.float64)) * b_scale
    np.testing.assert_allclose(result, wide @ other + (bias if len(right) > 1 else bias[0]), rtol=1e-5)


def test_mismatched_column_counts_are_rejected() -> None:
    a, b, array = np.zeros((3, 4), np.uint8), np.zeros((4, 5), np.uint8), np.ones((), np.float32)
    with pytest.raises(InputError):
        matmul_integer_to_float(a, b, np.ones(3, np.float32), array)
    with pytest.raises(InputError):
        matmul_integer_to_float(a, b[:3], np.ones(4, np.float32), array)
