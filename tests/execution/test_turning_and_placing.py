"""Reverse, roll, masked slices, scatter by position, and counting of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.fill import arange, non_zero
from specgate.execution.kernels.scatter import scatter_elements_update, scatter_nd_update
from specgate.execution.kernels.slice import reverse_axes, reverse_sequence, roll_axes, slice_scatter, strided_slice

SIX = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_reverse_by_index_and_by_mask() -> None:
    assert reverse_axes(SIX, ints(0, 1)).tolist() == [[6, 5, 4], [3, 2, 1]]
    assert reverse_axes(SIX, np.array([False, True])).tolist() == [[3, 2, 1], [6, 5, 4]]
    assert reverse_axes(SIX, ints()).tolist() == SIX.tolist()


@pytest.mark.parametrize("axes", [ints(2), ints(-1), np.array([True]), np.array(0)])
def test_reverse_axes_must_be_dimensions(axes: np.ndarray) -> None:
    with pytest.raises(InputError):
        reverse_axes(SIX, axes)


def test_roll_shifts_of_the_same_axis_add_up() -> None:
    assert roll_axes(SIX, ints(1, 1), ints(1, -1)).tolist() == [[2, 3, 1], [5, 6, 4]]
    assert roll_axes(SIX, np.array(2**62), ints(0)).tolist() == SIX.tolist()
    assert roll_axes(np.zeros((0, 2)), ints(3), ints(0)).shape == (0, 2)
    with pytest.raises(InputError, match="found 2"):
        roll_axes(SIX, ints(1, 1), ints(1))


def test_reverse_sequence_per_batch() -> None:
    assert reverse_sequence(SIX, np.array([2.0, 3.0]), time_axis=1, batch_axis=0).tolist() == [[2, 1, 3], [6, 5, 4]]
    assert reverse_sequence(SIX, ints(1, 2, 1), time_axis=0, batch_axis=1).tolist() == [[1, 5, 3], [4, 2, 6]]
    for lengths in (ints(0, 1), ints(1, 4), np.array([1.5, 1]), np.array([np.nan, 1]), ints(1)):
        with pytest.raises(InputError):
            reverse_sequence(SIX, lengths, time_axis=1, batch_axis=0)


NONE: dict[str, Any] = {"begin_mask": [], "end_mask": []}


def test_strided_slice_masks() -> None:
    data = np.arange(24).reshape(2, 3, 4)
    new = strided_slice(data, ints(0, 1), ints(0, 2), **NONE, new_axis_mask=[1])
    assert new.tolist() == data[np.newaxis, 1:2].tolist()
    shrunk = strided_slice(data, ints(1, -1), ints(1, -1), **NONE, shrink_axis_mask=[1, 1])
    assert shrunk.tolist() == data[1, -1].tolist()
    dots = strided_slice(data, ints(0, -2), ints(0, 9), **NONE, ellipsis_mask=[1, 0])
    assert dots.tolist() == data[..., -2:].tolist()
    restored = strided_slice(data, ints(7, 7), ints(0, 0), ints(-1, -2), begin_mask=[1], end_mask=[1, 1])
    assert restored.tolist() == data[::-1, ::-2].tolist()
    before = strided_slice(np.arange(4), ints(2), ints(-9), ints(-1), **NONE)
    assert before.tolist() == [2, 1, 0]
    assert strided_slice(np.arange(4), ints(0), ints(4), ints(2**63 - 1), **NONE).tolist() == [0]


@pytest.mark.parametrize(
    ("begin", "end", "masks", "error"),
    [
        (ints(0), ints(1, 1), {}, InputError),
        (ints(0, 0), ints(1, 1), {"ellipsis_mask": [1, 1]}, InputError),
        (ints(0, 0, 0), ints(1, 1, 1), {}, InputError),
        (ints(2), ints(2), {"shrink_axis_mask": [1]}, InputError),
        (ints(0), ints(1), {"new_axis_mask": [2]}, InputError),
        (ints(0), ints(1), {"new_axis_mask": [1], "shrink_axis_mask": [1]}, NoKernel),
    ],
)
def test_invalid_slices_are_rejected(begin, end, masks, error) -> None:
    with pytest.raises(error):
        strided_slice(SIX, begin, end, **NONE, **masks)


def test_slice_updates() -> None:
    array = slice_scatter(SIX, SIX[:, :2] * 10, ints(2), ints(0), ints(-1), ints(-1))
    assert array.tolist() == [[1, 20, 10], [4, 50, 40]]
    with pytest.raises(InputError, match="updates"):
        slice_scatter(SIX, SIX, ints(2), ints(0), ints(-1), ints(-1))


@pytest.mark.parametrize(
    ("reduction", "with_inputs", "expected"),
    [
        ("sum", True, [11, 2, 50]),
        ("sum", False, [10, 2, 47]),
        ("prod", True, [10, 2, 3 * 20 * 27]),
        ("min", True, [1, 2, 3]),
        ("min", False, [10, 2, 20]),
        ("max", True, [10, 2, 27]),
        ("mean", True, [5, 2, 16]),
        ("mean", False, [10, 2, 23]),
        ("none", True, [10, 2, 27]),
    ],
)
def test_updates_of_the_same_element_are_combined(reduction: str, with_inputs: bool, expected: list[int]) -> None:
    result = scatter_elements_update(
        ints(1, 2, 3), ints(2, 0, -1), ints(20, 10, 27), ints(0), reduction=reduction, with_inputs=with_inputs
    )
    assert result.tolist() == expected


def test_boolean_updates_are_combined() -> None:
    truths = np.array([True, False])
    for reduction, expected in (("sum", [True, True]), ("prod", [False, False]), ("max", [True, True])):
        array = scatter_nd_update(truths, ints(0, 1).reshape(2, 1), ~truths, reduction=reduction)
        assert array.tolist() == expected
    with pytest.raises(InputError, match="mean"):
        scatter_elements_update(truths, ints(0), truths[:1], ints(0), reduction="mean")


def test_scatter_nd_updates_slices_everything_or_an_element() -> None:
    assert scatter_nd_update(SIX, ints(1).reshape(1, 1), SIX[:1], reduction="sub").tolist() == [[1, 2, 3], [3, 3, 3]]
    assert scatter_nd_update(SIX, np.zeros(0, np.int64), SIX * 2).tolist() == (SIX * 2).tolist()
    assert scatter_nd_update(SIX, ints(0, 1), np.full((1, 1), 9, np.float32)).tolist() == [[1, 9, 3], [4, 5, 6]]
    with pytest.raises(InputError, match="negative"):
        scatter_nd_update(SIX, ints(0, -1), np.array(9, np.float32), from_start=True)


@pytest.mark.parametrize(
    ("numbers", "like", "expected"),
    [
        ((2, 23, 3), np.int32, [2, 5, 8, 11, 14, 17, 20]),
        ((23, 2, -3), np.int32, [23, 20, 17, 14, 11, 8, 5]),
        ((1.0, 2.5, 0.5), np.float32, [1, 1.5, 2]),
        ((0.9, 3.9, 1.9), np.int64, [0, 1, 2]),  # cut before they are used
        ((3, 0, 1), np.float32, []),
        ((2**63 - 3, 2**63 - 1, 1), np.int64, [2**63 - 3, 2**63 - 2]),
    ],
)
def test_range_between_bounds(numbers, like, expected) -> None:
    result = arange(*map(np.array, numbers), like=np.dtype(like))
    assert (result.tolist(), result.dtype) == (expected, np.dtype(like))


@pytest.mark.parametrize(
    "numbers", [(0, 1, 0), (0.0, np.inf, 1.0), (np.nan, 1.0, 1.0), (0, 2**62, 1), (0.0, 2.0, 0.5), (0.0, 1e300, 1e-300)]
)
def test_unbounded_ranges_are_rejected(numbers) -> None:
    with pytest.raises(InputError):
        arange(*map(np.array, numbers), like=np.dtype(np.int64))


def test_non_zero_indices() -> None:
    assert non_zero(np.array([[1, 0], [-2, np.nan]])).tolist() == [[0, 1, 1], [0, 0, 1]]
    assert non_zero(np.array(3), int32_indices=True).tolist() == [[0]]
    assert non_zero(np.array(0.0)).shape == (1, 0)
    assert non_zero(np.zeros((0, 2))).shape == (2, 0)
