"""Slices, tiles, reversed prefixes, depth and space: by hand, against indexing."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.slice import (
    depth_to_space,
    reverse_subsequences,
    slice_counted,
    slice_window,
    space_to_depth,
    tile,
)

GRID = np.arange(1, 17, dtype=np.float32).reshape(4, 4)


def test_documented_slice_examples():
    assert slice_counted(GRID, first=[1, 2], counts=[3, 2], steps=[1, 1]).tolist() == [[7, 8], [11, 12], [15, 16]]
    assert slice_counted(GRID, first=[1, 0], counts=[2, 2], steps=[2, 3]).tolist() == [[5, 8], [13, 16]]
    window = {"offsets": [0, 1], "sizes": [4, 3], "counts": [2, 2]}
    assert slice_window(GRID, steps=[2, 2], **window).tolist() == [[2, 4], [10, 12]]
    assert slice_window(GRID, steps=[-2, 2], **window).tolist() == [[14, 16], [6, 8]]


def test_a_step_of_zero_repeats_an_element():
    assert slice_counted(GRID, first=[0, 1], counts=[1, 3], steps=[5, 0]).tolist() == [[2, 2, 2]]


def test_slices_of_any_memory_order_are_copies():
    turned = GRID.T
    array = slice_counted(turned, first=[0, 1], counts=[2, 2], steps=[2, 2])
    assert array.tolist() == turned[0:4:2, 1:4:2].tolist()
    array[...] = 0
    assert GRID.sum() == 136


@pytest.mark.parametrize(
    "changes",
    [{"first": [4, 0]}, {"counts": [3, 2]}, {"counts": [0, 1]}, {"steps": [-1, 1]}, {"first": [0]}, {"steps": [1] * 3}],
)
def test_slices_outside(changes):
    plain = {"first": [0, 0], "counts": [2, 2], "steps": [2, 3]}
    with pytest.raises(InputError, match="slice"):
        slice_counted(GRID, **{**plain, **changes})


@pytest.mark.parametrize(
    "changes", [{"offsets": [0, 2]}, {"sizes": [0, 3]}, {"steps": [2, 0]}, {"counts": [3, 2]}, {"counts": [2]}]
)
def test_windows_outside(changes):
    plain = {"offsets": [0, 1], "sizes": [4, 3], "steps": [2, 2], "counts": [2, 2]}
    with pytest.raises(InputError, match="slice"):
        slice_window(GRID, **{**plain, **changes})


def test_a_huge_slice_is_rejected():
    with pytest.raises(InputError, match="limit"):
        slice_counted(GRID, first=[0, 0], counts=[2**31, 2], steps=[0, 1])


def test_tiles():
    array = np.array([[1, 2]], np.int8)
    assert tile(array, repeats=[2, 3]).tolist() == [[1, 2, 1, 2, 1, 2]] * 2
    big = np.arange(24).reshape(2, 3, 4)
    assert np.array_equal(tile(big, repeats=[2, 1, 3]), np.tile(big, (2, 1, 3)))
    for repeats in ([1], [0, 1]):
        with pytest.raises(InputError, match="tile"):
            tile(array, repeats=repeats)
    with memory.limit(100), pytest.raises(InputError, match="limit"):
        tile(array, repeats=[1, 1000])


def test_reverse_subsequences():
    array = np.array([[1, 2, 3, 4]] * 4)
    result = reverse_subsequences(array, np.array([[0], [2], [4], [9]], np.uint32), axis=1)
    assert result.tolist() == [[1, 2, 3, 4], [2, 1, 3, 4], [4, 3, 2, 1], [4, 3, 2, 1]]
    column = reverse_subsequences(array[:3, :2] * [[1], [10], [100]], np.array([[2, 3]], np.uint32), axis=0)
    assert column.tolist() == [[10, 200], [1, 20], [100, 2]]
    with pytest.raises(InputError, match="lengths"):
        reverse_subsequences(array, np.zeros((4, 4), np.uint32), axis=1)
    with pytest.raises(InputError, match="axis"):
        reverse_subsequences(array, np.zeros((4, 1), np.uint32), axis=2)


def test_depth_and_space():
    deep = np.arange(8).reshape(1, 8, 1, 1)
    assert depth_to_space(deep, block=2).tolist() == [[[[0, 2], [4, 6]], [[1, 3], [5, 7]]]]
    assert depth_to_space(deep, block=2, channel_first=True).tolist() == [[[[0, 1], [2, 3]], [[4, 5], [6, 7]]]]


@pytest.mark.parametrize("channel_first", [False, True])
def test_space_to_depth_and_depth_to_space_are_inverse(channel_first):
    array = np.arange(2 * 3 * 4 * 6).reshape(2, 3, 4, 6)
    deep = space_to_depth(array, block=2, channel_first=channel_first)
    assert deep.shape == (2, 12, 2, 3)
    assert np.array_equal(depth_to_space(deep, block=2, channel_first=channel_first), array)


@pytest.mark.parametrize(("shape", "block"), [((1, 6, 2, 2), 2), ((4, 2, 2), 2), ((1, 4, 2, 2), 0)])
def test_indivisible_depths_are_rejected(shape, block):
    with pytest.raises(InputError):
        depth_to_space(np.zeros(shape), block=block)


@pytest.mark.parametrize("shape", [(1, 1, 3, 4), (1, 1, 4, 3), (4, 4)])
def test_indivisible_spaces_are_rejected(shape):
    with pytest.raises(InputError):
        space_to_depth(np.zeros(shape), block=2)
