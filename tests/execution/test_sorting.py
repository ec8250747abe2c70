"""The largest and smallest elements: documented examples, ties, types, nan."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.sort import top_k

FIRST = np.array([[0, 1, 10, 11], [3, 2, 9, 8], [4, 5, 6, 7]], np.float32)
EQUAL = np.array([[1, 2, 2, 3], [3, 4, 5, 5], [6, 6, 6, 6]], np.float32)


@pytest.mark.parametrize(
    ("array", "arguments", "values", "places"),
    [
        (FIRST, {"axis": 1, "k": 2}, [[11, 10], [9, 8], [7, 6]], [[3, 2], [2, 3], [3, 2]]),
        (FIRST, {"axis": 0, "k": 2}, [[4, 5, 10, 11], [3, 2, 9, 8]], [[2, 2, 0, 0], [1, 1, 1, 1]]),
        (EQUAL, {"axis": 1, "k": 3}, [[3, 2, 2], [5, 5, 4], [6, 6, 6]], [[3, 1, 2], [2, 3, 1], [0, 1, 2]]),
        (EQUAL, {"axis": 1, "k": 3, "largest": False}, [[1, 2, 2], [3, 4, 5], [6, 6, 6]], [[0, 1, 2]] * 3),
    ],
)
def test_documented_examples(array, arguments, values, places):
    result = top_k(array, index_type=np.dtype(np.uint32), **arguments)
    assert [each.tolist() for each in result] == [values, places]
    assert result[1].dtype == np.uint32


@pytest.mark.parametrize("dtype", ["f2", "i1", "u1", "i8", "u8"])
@pytest.mark.parametrize("largest", [False, True])
def test_limits_of_every_type(dtype, largest):
    limits = np.finfo(dtype) if dtype[0] == "f" else np.iinfo(dtype)
    array = np.array([3, limits.max, limits.min, 3], dtype)
    values, places = top_k(array, axis=0, k=4, largest=largest)
    assert places.tolist() == ([1, 0, 3, 2] if largest else [2, 0, 3, 1])
    assert values.tolist() == array[places].tolist()


def test_sequence_with_nan_is_masked():
    array = np.array([[1, np.nan, 2], [5, 6, 4]], np.float32)
    values, places = top_k(array, axis=1, k=2)
    for result in (values, places):
        assert np.ma.getmaskarray(result).tolist() == [[True, True], [False, False]]
    assert values[1].tolist() == [6, 5]


@pytest.mark.parametrize(("axis", "k"), [(2, 1), (1, 0), (1, 5)])
def test_invalid_arguments_are_rejected(axis, k):
    with pytest.raises(InputError, match="top_k"):
        top_k(FIRST, axis=axis, k=k)
