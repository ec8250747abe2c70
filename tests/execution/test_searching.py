"""Search in sorted numbers: values by hand, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.sort import bucketize, search_sorted


@pytest.mark.parametrize(("right", "expected"), [(True, [0, 0, 1, 1, 2]), (False, [0, 1, 1, 2, 2])])
def test_bucket_intervals_include_one_boundary(right, expected):
    result = bucketize(np.array([-1, 0, 3, 5, 6]), np.array([0, 5]), right_bound=right, int32_indices=True)
    assert (result.tolist(), result.dtype) == (expected, np.dtype(np.int32))


def test_values_outside_the_boundary_type_and_nan():
    assert bucketize(np.array([2**64 - 1, 2**63], "u8"), np.array([-1, 2**63 - 1])).tolist() == [2, 2]
    assert bucketize(np.array([np.nan, 2], "f4"), np.array([1], "i4")).tolist() == [None, 1]


@pytest.mark.parametrize("boundaries", [[0, 5, 5], [5, 0], [np.nan], [[1]]])
def test_boundaries_in_another_order_are_rejected(boundaries):
    with pytest.raises(InputError, match="boundaries"):
        bucketize(np.array([1.0]), np.array(boundaries, "f8"))


def test_search_sorted_before_and_after_equal_elements():
    sequences, values = np.array([[1, 3, 3], [2, 4, 6]]), np.array([[3], [5]])
    assert search_sorted(sequences, values).tolist() == [[1], [2]]
    assert search_sorted(sequences, values, right=True).tolist() == [[3], [2]]
    assert search_sorted(sequences[0], values).tolist() == [[1], [3]]


def test_unsorted_sequences_are_masked():
    array = search_sorted(np.array([[3, 1], [1, 3]]), np.array([[2], [2]]))
    assert array.tolist() == [[None], [1]]


@pytest.mark.parametrize("shape", [(), (3, 5), (2, 1, 5)])
def test_undocumented_shapes_have_no_kernel(shape):
    with pytest.raises(NoKernel, match="equal leading dimensions"):
        search_sorted(np.zeros(shape), np.zeros((2, 3)))
