"""Scatter of elements and blocks: against loops, and unspecified cases."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.scatter import scatter_into, scatter_nd_into


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scatter_elements_along_every_axis(axis):
    rng = np.random.default_rng(axis)
    inputs = rng.normal(size=(3, 4, 5)).astype(np.float32)
    order = rng.permuted(np.indices(inputs.shape)[axis], axis=axis)
    indices = np.take(order, range(2), axis).astype(np.int32)
    updates = rng.normal(size=indices.shape).astype(np.float32)
    expected = inputs.copy()
    for place in np.ndindex(indices.shape):
        at = list(place)
        at[axis] = indices[place]
        expected[tuple(at)] = updates[place]
    negative = np.where(indices % 2 == 0, indices, indices - inputs.shape[axis]).astype(np.int64)
    for result in (scatter_into(inputs, each, updates, axis=axis) for each in (indices, negative)):
        assert not np.ma.isMaskedArray(result)
        assert np.array_equal(result, expected)


def test_elements_with_several_updates_are_masked():
    inputs = np.zeros((1, 4), np.float32)
    array = scatter_into(inputs, np.array([[2, 0, 2]]), np.array([[1, 2, 3]], np.float32), axis=1)
    assert np.ma.getmaskarray(array).tolist() == [[False, False, True, False]]
    assert array.data[0, 0] == 2


def test_out_of_range_index_masks_the_output():
    inputs = np.zeros((2, 2), np.float32)
    updates = np.ones((1, 2), np.float32)
    assert np.ma.getmaskarray(scatter_into(inputs, np.array([[0, 2]]), updates, axis=0)).all()
    assert np.ma.getmaskarray(scatter_into(inputs, np.array([[0, -3]]), updates, axis=0)).all()
    array = scatter_nd_into(
        inputs, np.array([[0, 2]]), np.array([[5]], np.float32), input_dimensions=2, index_dimensions=1
    )
    assert np.ma.getmaskarray(array).all()


def test_scatter_nd_updates_elements_and_slices():
    inputs = np.zeros((1, 2, 3), np.float32)
    indices = np.array([[[0, 2], [-1, 0]]], np.int32)
    updates = np.array([[[5, 6]]], np.float32)
    array = scatter_nd_into(inputs, indices, updates, input_dimensions=2, index_dimensions=2)
    assert array.tolist() == [[[0, 0, 5], [6, 0, 0]]]
    block = scatter_nd_into(
        inputs,
        np.array([[[1]]], np.uint32),
        np.array([[[7, 8, 9]]], np.float32),
        input_dimensions=2,
        index_dimensions=2,
    )
    assert block.tolist() == [[[0, 0, 0], [7, 8, 9]]]


@pytest.mark.parametrize(
    ("indices", "updates", "axis"),
    [((2, 2), (2, 3), 0), ((2, 3), (2, 3), 2), ((2, 2), (2, 2), 0), ((1, 2, 3), (1, 2, 3), 0)],
)
def test_mismatched_element_updates_are_rejected(indices, updates, axis):
    with pytest.raises(InputError):
        scatter_into(np.zeros((2, 3)), np.zeros(indices, np.int32), np.zeros(updates), axis=axis)


def test_mismatched_tuple_updates_are_rejected():
    inputs, array = np.zeros((1, 2, 3)), np.zeros((1, 1, 1))
    with pytest.raises(InputError, match="too long"):
        scatter_nd_into(inputs, np.zeros((1, 1, 3), np.int32), array, input_dimensions=2, index_dimensions=1)
    with pytest.raises(InputError, match="updates"):
        scatter_nd_into(
            inputs, np.zeros((1, 1, 2), np.int32), np.zeros((1, 2, 1)), input_dimensions=2, index_dimensions=1
        )
    with pytest.raises(InputError, match="type float64"):
        scatter_nd_into(
            inputs, np.zeros((1, 1, 2), np.int32), array.astype(np.float32), input_dimensions=2, index_dimensions=1
        )
