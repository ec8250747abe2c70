"""Grouped matrix products equal a product per group."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.matmul import grouped_matmul

RANDOM = np.random.default_rng(3)
ROWS, COLUMNS = RANDOM.normal(size=(10, 4)), RANDOM.normal(size=(10, 5))
MATRICES = RANDOM.normal(size=(4, 4, 5))
ENDS = np.array([3, 3, 8, 10])
STARTS = [0, 3, 3, 8]


def test_grouped_matmul_by_rows() -> None:
    parts = [ROWS[start:end] @ MATRICES[i] for i, (start, end) in enumerate(zip(STARTS, ENDS, strict=True))]
    np.testing.assert_allclose(grouped_matmul(ROWS, MATRICES, ENDS), np.concatenate(parts), atol=1e-14)


def test_grouped_matmul_along_the_summed_dimension() -> None:
    parts = [ROWS[start:end].T @ COLUMNS[start:end] for start, end in zip(STARTS, ENDS, strict=True)]
    np.testing.assert_allclose(grouped_matmul(ROWS.T, COLUMNS, ENDS.astype(np.int32)), np.stack(parts), atol=1e-14)


def test_batches_and_integers_that_wrap_around() -> None:
    several = RANDOM.normal(size=(4, 2, 4)).astype(np.float16)
    array = grouped_matmul(several, MATRICES.astype(np.float16))
    assert array.dtype == np.float16
    np.testing.assert_allclose(array, several.astype(np.float64) @ MATRICES.astype(np.float16), atol=1e-2)
    bytes_ = np.full((1, 2), 100, np.int8)
    assert grouped_matmul(bytes_, np.full((1, 2, 1), 2, np.int8), np.array([1])).tolist() == [[-112]]


def test_empty_groups() -> None:
    assert grouped_matmul(ROWS[:0], MATRICES[:0], np.array([], np.int64)).shape == (0, 5)
    assert not grouped_matmul(ROWS.T[:, :0], COLUMNS[:0], np.array([0, 0])).any()


@pytest.mark.parametrize("ends", [[3, 2, 8, 10], [-1, 3, 8, 10], [3, 3, 8, 9], [3, 3, 8, 11], [3, 10]])
def test_mismatched_offsets_are_rejected(ends: list[int]) -> None:
    with pytest.raises(InputError):
        grouped_matmul(ROWS, MATRICES, np.array(ends))


def test_mismatched_matrices_are_rejected() -> None:
    with pytest.raises(InputError, match="cannot be multiplied"):
        grouped_matmul(ROWS, MATRICES)
    with pytest.raises(InputError, match="cannot be multiplied"):
        grouped_matmul(ROWS, COLUMNS, ENDS)
    with pytest.raises(InputError, match="cannot be multiplied"):
        grouped_matmul(ROWS.astype(np.float32), MATRICES, ENDS)
