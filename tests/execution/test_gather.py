"""Gather: documented examples, loops over every axis, negative and invalid indices."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.gather import gather, gather_elements, gather_nd


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_index_dimension_on_every_axis(axis):
    array = np.arange(24).reshape(2, 3, 4)
    indices = np.array([1, 0, -1, 1], np.int32).reshape(1, 1, 4)
    result = gather(array, indices, axis=axis, index_dimensions=1)
    assert np.array_equal(result, np.take(array, indices.reshape(-1), axis))


def test_several_index_dimensions_replace_leading_dimensions():
    array = np.arange(6).reshape(1, 1, 2, 3)
    indices = np.array([[0, 2], [1, 1]], np.uint32).reshape(1, 1, 2, 2)
    result = gather(array, indices, axis=3, index_dimensions=2)
    assert result.tolist() == [[[[0, 2], [1, 1]], [[3, 5], [4, 4]]]]


def test_zero_index_dimensions_drop_the_axis():
    array = np.arange(6).reshape(2, 3)
    result = gather(array, np.array([[1]], np.int64), axis=0, index_dimensions=0)
    assert result.tolist() == [[3, 4, 5]]


def test_indices_outside_are_masked():
    array = np.array([[1, 2, 3]], np.float32)
    result = gather(array, np.array([[0, 3, -3, -4]], np.int32), axis=1, index_dimensions=1)
    assert np.ma.getmaskarray(result).tolist() == [[False, True, False, True]]
    assert result.data[0, 0] == 1
    assert result.data[0, 2] == 1
    huge = gather(array, np.array([[2**64 - 1, 2**63, 1]], np.uint64), axis=1, index_dimensions=1)
    assert np.ma.getmaskarray(huge).tolist() == [[True, True, False]]


@pytest.mark.parametrize(
    ("shape", "indices", "axis", "count"),
    [
        ((2, 3), (1, 2), 2, 1), ((2, 3), (2, 2), 0, 1), ((2, 3), (1, 2), 0, 3), ((2, 3), (2, 2), 1, 2),
        ((2, 3), (2,), 0, 1),
    ],
)  # fmt: skip
def test_gather_rejects(shape, indices, axis, count):
    with pytest.raises(InputError):
        gather(np.zeros(shape), np.zeros(indices, np.int32), axis=axis, index_dimensions=count)


def test_gather_rejects_floats_and_huge_results():
    with pytest.raises(InputError, match="integers"):
        gather(np.zeros((2, 3)), np.zeros((1, 1)), axis=0, index_dimensions=1)
    with memory.limit(1000), pytest.raises(InputError, match="limit"):
        gather(np.zeros((1, 100)), np.zeros((1, 100), np.int32), axis=0, index_dimensions=1)


def test_elements():
    array = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
    indices = np.array([[2, 0], [-1, -3]], np.int64)
    assert gather_elements(array, indices, axis=0).tolist() == [[5, 2], [5, 2]]
    assert gather_elements(array, np.array([[1], [0], [-2]]), axis=1).tolist() == [[2], [3], [5]]
    masked = gather_elements(array, np.array([[1], [2], [-3]]), axis=1)
    assert np.ma.getmaskarray(masked).tolist() == [[False], [True], [True]]


@pytest.mark.parametrize(("indices", "axis"), [((2, 2), 1), ((3, 2, 1), 1), ((3, 2), 2)])
def test_elements_reject(indices, axis):
    with pytest.raises(InputError, match="gather_elements"):
        gather_elements(np.zeros((3, 2)), np.zeros(indices, np.int32), axis=axis)


def test_documented_gather_nd_examples():
    array = np.array([[0, 1], [2, 3]], np.float32)
    both = {"input_dimensions": 2, "index_dimensions": 2}
    assert gather_nd(array, np.array([[0, 0], [1, 1]]), **both).tolist() == [[0, 3]]
    assert gather_nd(array, np.array([[1], [0]]), **both).tolist() == [[2, 3], [0, 1]]


def test_documented_gather_nd_batch_examples():
    array = np.arange(12, dtype=np.float32).reshape(1, 3, 2, 2)
    indices = np.array([[[[0, 0], [1, 1]], [[1, 1], [0, 0]], [[0, 1], [1, 0]]]], np.uint32)
    result = gather_nd(array, indices, input_dimensions=3, index_dimensions=3, batch_dimensions=1)
    assert result.tolist() == [[[[0, 3], [7, 4], [9, 10]]]]


def test_two_batch_dimensions_and_blocks():
    rng = np.random.default_rng(5)
    array, indices = rng.integers(0, 99, (2, 3, 4, 5)), rng.integers(-4, 4, (2, 3, 2, 1))
    result = gather_nd(array, indices, input_dimensions=4, index_dimensions=4, batch_dimensions=2)
    for i, j, k in np.ndindex(2, 3, 2):
        assert np.array_equal(result[i, j, k], array[i, j, indices[i, j, k, 0]])


def test_a_single_tuple():
    array = np.arange(4).reshape(2, 2)
    numbers_by_name = {"input_dimensions": 2, "index_dimensions": 1}
    assert gather_nd(array, np.array([[1, 0]]), **numbers_by_name).tolist() == [[2]]
    assert np.ma.getmaskarray(gather_nd(array, np.array([[1, 5]]), **numbers_by_name)).tolist() == [[True]]


def test_tuples_outside_are_masked():
    array = np.arange(4).reshape(2, 2)
    result = gather_nd(array, np.array([[2], [-2]]), input_dimensions=2, index_dimensions=2)
    assert np.ma.getmaskarray(result).tolist() == [[True, True], [False, False]]
    assert result[1].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("shape", "indices", "counts", "batch"),
    [
        ((1, 3, 2), (1, 2, 3), (2, 2), 0),  # a tuple longer than the rank of the input
        ((2, 3, 2), (1, 2, 1), (2, 2), 0),  # an ignored tensor with another size than 1
        ((1, 3, 2), (1, 2, 1), (4, 2), 0),
        ((1, 3, 2), (1, 2, 1), (2, 0), 0),
        ((1, 3, 2), (1, 2, 1), (2, 2), 1),  # batches of 3 and 2
        ((1, 3, 2), (1, 2, 1), (2, 2), 2),
        ((2, 2, 2), (2, 2, 1), (3, 3), 0),  # a result of 4 dimensions
        ((2, 2), (2, 2, 1), (2, 2), 0),
    ],
)
def test_mismatched_index_tuples_are_rejected(shape, indices, counts, batch):
    with pytest.raises(InputError):
        gather_nd(
            np.zeros(shape), np.zeros(indices, np.int32),
            input_dimensions=counts[0], index_dimensions=counts[1], batch_dimensions=batch,
        )  # fmt: skip
