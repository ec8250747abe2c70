"""The order of the largest elements, and unspecified ties."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels import find_kernel

ROW = np.array([5, 3, 1, 2, 5, 5], np.int32)


def _make(**more):
    values, places = find_kernel("top_k_along")(ROW, 4, axis=0, **more)
    return np.ma.filled(values, -1).tolist(), np.ma.filled(places, -1).tolist()


def test_sorting_by_index_returns_ascending_indices():
    assert _make(largest=False, order="index") == ([5, 3, 1, 2], [0, 1, 2, 3])
    assert _make(order="index") == ([5, 3, 5, 5], [0, 1, 4, 5])


def test_unstable_ties_have_masked_indices():
    assert _make(stable=False) == ([5, 5, 5, 3], [-1, -1, -1, 1])
    assert _make(largest=False, stable=False) == ([1, 2, 3, 5], [2, 3, 1, -1])


def test_sorting_by_index_masks_everything_if_a_tie_is_cut():
    assert _make(largest=False, order="index", stable=False) == ([-1] * 4, [-1] * 4)
    assert _make(order="index", stable=False) == ([5, 3, 5, 5], [0, 1, 4, 5])


def test_unsorted_results_are_masked_except_a_single_value():
    assert _make(order="none") == ([-1] * 4, [-1] * 4)
    values, places = find_kernel("top_k_along")(ROW, 1, axis=0, order="none")
    assert (values.tolist(), places.tolist()) == ([5], [None])


def test_indices_are_int32_on_request():
    assert find_kernel("top_k_along")(ROW, 1, axis=0, int32_indices=True)[1].dtype == np.int32
    assert find_kernel("top_k_along")(ROW, 0, axis=0, int32_indices=True)[1].dtype == np.int32
    assert find_kernel("top_k_along")(ROW, 1, axis=0)[1].dtype == np.int64


def test_an_unknown_order_is_rejected():
    with pytest.raises(InputError, match="unknown order 'upwards'"):
        _make(order="upwards")
