"""Filled arrays: constants, sequences that wrap around, diagonals."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.fill import diagonal_matrix, diagonal_matrix_band, fill_constant, fill_sequence, number


def test_constants():
    array = fill_constant(sizes=[2, 1], value=7, output_type=np.dtype("i2"))
    assert (array.tolist(), array.dtype) == ([[7], [7]], np.dtype("i2"))
    assert fill_constant(sizes=[1], value=0.1, output_type=np.dtype("f4")).tolist() == [np.float32(0.1)]
    assert fill_constant(sizes=[1], value=2**64 - 1, output_type=np.dtype("u8")).tolist() == [2**64 - 1]


@pytest.mark.parametrize(
    ("dtype", "start", "delta", "expected"),
    [
        ("i4", 10, 2, [[10, 12, 14], [16, 18, 20]]), ("u1", 250, 3, [[250, 253, 0], [3, 6, 9]]),
        ("u1", 4, 254, [[4, 2, 0], [254, 252, 250]]), ("i1", 126, 1, [[126, 127, -128], [-127, -126, -125]]),
        ("f4", 1, 0.5, [[1, 1.5, 2], [2.5, 3, 3.5]]),
    ],
)  # fmt: skip
def test_sequences(dtype, start, delta, expected):
    result = fill_sequence(sizes=[2, 3], start=start, delta=delta, output_type=np.dtype(dtype))
    assert (result.tolist(), result.dtype) == (expected, np.dtype(dtype))


def test_float16_sequences_are_rounded_once():
    array = fill_sequence(sizes=[4000], start=0, delta=1, output_type=np.dtype("f2"))
    assert array[3001] == np.float16(3001)


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(0, [[5, 0, 0], [0, 5, 0]]), (1, [[0, 5, 0], [0, 0, 5]]), (-1, [[0, 0, 0], [5, 0, 0]]), (7, [[0] * 3] * 2)],
)
def test_single_diagonal(offset, expected):
    result = diagonal_matrix(sizes=[2, 2, 3], value=5.9, offset=offset, output_type=np.dtype("i8"))
    assert result.tolist() == [expected, expected]


@pytest.mark.parametrize(
    ("begin", "end", "expected"),
    [
        (0, 1, [[7, 2, 3], [4, 7, 6]]), (-1, 1, [[7, 2, 3], [7, 7, 6]]), (1, 0, [[1, 7, 7], [7, 5, 7]]),
        (1, 1, [[1, 2, 3], [4, 5, 6]]), (-9, 9, [[7, 7, 7], [7, 7, 7]]),
    ],
)  # fmt: skip
def test_band_of_diagonals(begin, end, expected):
    array = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
    result = diagonal_matrix_band(array, sizes=[2, 3], value=7, begin=begin, end=end, output_type=array.dtype)
    assert result.tolist() == expected
    bare = diagonal_matrix_band(sizes=[2, 3], value=7, begin=begin, end=end, output_type=array.dtype)
    assert bare.tolist() == [[x if x == 7 else 0 for x in row] for row in expected]


def test_a_single_dimension_is_a_row():
    assert diagonal_matrix(sizes=[3], value=1, offset=1, output_type=np.dtype("i4")).tolist() == [0, 1, 0]


def test_fill_values_outside_the_type_range():
    for value in (256, -1, 0.5, 2**70):
        with pytest.raises(InputError, match="uint8"):
            number(value, np.dtype("u1"))
    assert number(-1.5, np.dtype("u1"), integral_only=True) == 255
    assert number(70000, np.dtype("f2")) == np.inf


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("i4", [-(2**31), -(2**31), -(2**31), -(2**31), -70000]), ("i2", [0, 0, 0, 0, -4464]), ("i1", [0, 0, 0, 0, -112]),
        ("u4", [0, 0, 0, 3 * 10**9, 2**32 - 70000]), ("u2", [0, 0, 0, 0, 61072]), ("u1", [0, 0, 0, 0, 144]),
        ("i8", [-(2**63), -(2**63), -(2**63), 3 * 10**9, -70000]),
        ("u8", [2**63, 2**63, 2**63, 3 * 10**9, 2**64 - 70000]),
        ("f8", [np.inf, np.nan, float(np.float32(1e30)), 3e9, float(np.float32(-70000.7))]),
    ],
)  # fmt: skip
def test_diagonal_value_outside_the_type_range(dtype, expected):
    for value, outcome in zip([np.inf, np.nan, 1e30, 3e9, -70000.7], expected, strict=True):
        result = diagonal_matrix(sizes=[1, 1], value=value, offset=0, output_type=np.dtype(dtype)).item()
        assert np.array_equal(result, outcome, equal_nan=dtype == "f8"), (value, result)


def test_invalid_arguments_are_rejected():
    with pytest.raises(InputError, match="output sizes"):
        fill_constant(sizes=[0], value=1, output_type=np.dtype("i4"))
    with pytest.raises(InputError, match="limit"):
        fill_sequence(sizes=[2**20, 2**20], start=0, delta=1, output_type=np.dtype("i4"))
    for array in (np.zeros((2, 2)), np.zeros((2, 3), np.int32)):
        with pytest.raises(InputError, match="input"):
            diagonal_matrix_band(array, sizes=[2, 3], value=1, begin=0, end=1, output_type=np.dtype("f8"))


def test_values_declared_with_another_type():
    four = np.dtype("i4")
    with pytest.raises(InputError, match="int32"):
        fill_constant(sizes=[1], value=1, output_type=four, same_type=False)
    with pytest.raises(InputError, match="int32"):
        fill_sequence(sizes=[1], start=1, delta=1, output_type=four, same_type=False)
    with pytest.raises(InputError, match="int32"):
        diagonal_matrix_band(sizes=[1, 1], value=1, begin=0, end=1, output_type=four, same_type=False)
