"""Joining and splitting: documented examples, and errors."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.reshape import join, split


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_split_and_join_round_trip(axis):
    array = np.arange(3 * 4 * 5).reshape(3, 4, 5)
    size = array.shape[axis]
    shapes = [[n if d == axis else s for d, s in enumerate(array.shape)] for n in (1, size - 1)]
    parts = split(array, shapes=shapes, axis=axis)
    assert [list(part.shape) for part in parts] == shapes
    assert np.array_equal(join(parts, axis=axis), array)


def test_by_hand():
    assert join([np.array([[1, 2]]), np.array([[5, 6], [7, 8]])], axis=0).tolist() == [[1, 2], [5, 6], [7, 8]]
    arrays = split(np.array([[1, 2, 3]]), shapes=[[1, 2], [1, 1]], axis=1)
    assert [part.tolist() for part in arrays] == [[[1, 2]], [[3]]]


@pytest.mark.parametrize(
    "parts",
    [
        [], [np.zeros((2, 2)), np.zeros((2, 3))], [np.zeros((2, 2)), np.zeros(2)],
        [np.zeros((2, 2)), np.zeros((2, 2), np.int32)],
    ],
)  # fmt: skip
def test_mismatched_parts_are_rejected(parts):
    with pytest.raises(InputError, match="join"):
        join(parts, axis=0)


def test_part_without_the_axis_is_rejected():
    with pytest.raises(InputError, match="join"):
        join([np.zeros((2, 2)), np.zeros(2)], axis=1)


@pytest.mark.parametrize("shapes", [[], [[1, 2]], [[1, 3], [1, 0]], [[2, 1], [1, 2]], [[3], [0]], [[1], [1]]])
def test_split_sizes_must_add_up(shapes):
    with pytest.raises(InputError, match="split"):
        split(np.zeros((1, 3)), shapes=shapes, axis=1)


def test_bounds():
    with pytest.raises(InputError, match="axis"):
        join([np.zeros(2)], axis=1)
    with pytest.raises(InputError, match="axis"):
        split(np.zeros(2), shapes=[[2]], axis=1)
    with memory.limit(100), pytest.raises(InputError, match="limit"):
        join([np.zeros(10), np.zeros(10)], axis=0)
