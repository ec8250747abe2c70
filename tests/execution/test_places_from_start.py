"""Non-negative indices of elements, tuples in batches and entries; errors."""

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels import gather

ROWS = np.array([[1, 2, 3], [4, 5, 6]], np.float32)


def test_elements():
    array = gather.gather_elements_from_start(ROWS, np.array([[2, 0, 0, 1], [0, 0, 1, 2]]), axis=1)
    assert array.tolist() == [[3, 1, 1, 2], [4, 4, 5, 6]]


@pytest.mark.parametrize("indices", [[[-1], [0]], [[3], [0]], [[0]], [0, 1]])
def test_elements_that_are_rejected(indices):
    with pytest.raises(InputError):
        gather.gather_elements_from_start(ROWS, np.array(indices), axis=1)


def test_gather_nd_with_merged_or_separate_batches():
    data = np.arange(8).reshape(2, 2, 2)
    at = np.array([[[1], [0]], [[0], [1]]])
    assert gather.gather_nd_batched(data, at, batch_dimensions=2, merged=True).tolist() == [1, 2, 4, 7]
    assert gather.gather_nd_batched(data, at, batch_dimensions=2, merged=False).tolist() == [[1, 2], [4, 7]]
    assert gather.gather_nd_batched(data, at[:, 0], batch_dimensions=1, merged=True).tolist() == [[2, 3], [4, 5]]


def test_negative_gather_nd_indices_require_separate_batches():
    assert gather.gather_nd_batched(ROWS, np.array([-1]), merged=False).tolist() == [4, 5, 6]
    with pytest.raises(InputError):
        gather.gather_nd_batched(ROWS, np.array([-1]), merged=True)


def test_scatter_replaces_entries_and_keeps_the_input():
    array = gather.scatter_update(ROWS, np.array([[0, 2]]), np.array([[[7, 8]], [[9, 10]]], np.float32), np.array(-1))
    assert array.tolist() == [[7, 2, 8], [9, 5, 10]]
    assert ROWS[0, 0] == 1


@pytest.mark.parametrize(
    ("index", "axis", "kind"), [(-1, 1, "f4"), (3, 1, "f4"), (0, 2, "f4"), (0, 0, "f4"), (0, 1, "f8")]
)
def test_entries_that_are_rejected(index, axis, kind):
    with pytest.raises(InputError):
        gather.scatter_update(ROWS, np.array([index]), np.zeros((2, 1), kind), np.array(axis))
