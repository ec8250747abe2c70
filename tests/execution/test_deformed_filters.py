"""Deformable convolution, against an explicit sum per position."""

from __future__ import annotations

from itertools import product
from math import floor
from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.grid_sample import deformable_convolution

PLAIN: dict[str, Any] = {"strides": [1, 1], "dilations": [1, 1], "begins": [0, 0], "ends": [0, 0]}
PLANE = np.array([[1, 2], [3, 5]], np.float64).reshape(1, 1, 2, 2)
ONE = np.ones((1, 1, 1, 1))


def element(plane: np.ndarray, y: float, x: float, zeros_around: bool) -> float:
    """One plane at one position, by the documentation."""
    rows, columns = plane.shape
    if not (-1 < y < rows and -1 < x < columns):
        return 0.0
    if not zeros_around:
        y, x = min(max(y, 0), rows - 1), min(max(x, 0), columns - 1)
    total = 0.0
    for row, column in product((floor(y), floor(y) + 1), (floor(x), floor(x) + 1)):
        if 0 <= row < rows and 0 <= column < columns:
            total += plane[row, column] * (1 - abs(y - row)) * (1 - abs(x - column))
    return total


def by_hand(data, offsets, filters, mask, *, strides, dilations, begins, ends, group, offset_group, zeros_around):
    del ends
    batches, outputs, (rows, columns) = len(data), len(filters), filters.shape[2:]
    result = np.zeros((batches, outputs, *offsets.shape[2:]))
    for b, o, i, j in np.ndindex(result.shape):
        part, start = o // (outputs // offset_group), o // (outputs // group) * filters.shape[1]
        for c, k, n in np.ndindex(filters.shape[1:]):
            at = (part * rows + k) * columns + n
            y = i * strides[0] - begins[0] + k * dilations[0] + offsets[b, 2 * at, i, j]
            x = j * strides[1] - begins[1] + n * dilations[1] + offsets[b, 2 * at + 1, i, j]
            factor = 1 if mask is None else mask[b, at, i, j]
            result[b, o, i, j] += filters[o, c, k, n] * factor * element(data[b, start + c], y, x, zeros_around)
    return result


@pytest.mark.parametrize("zeros_around", [False, True])
@pytest.mark.parametrize(("group", "offset_group"), [(1, 1), (2, 2), (1, 3), (2, 3), (3, 2), (1, 6)])
def test_deformable_convolution_matches_plain_loops(zeros_around: bool, group: int, offset_group: int) -> None:
    random = np.random.default_rng(group * 10 + offset_group)
    data, filters = random.normal(size=(2, 6, 5, 6)), random.normal(size=(6, 6 // group, 2, 3))
    options: dict[str, Any] = {"strides": [2, 1], "dilations": [2, 1], "begins": [1, 0], "ends": [1, 1]}
    offsets = random.normal(size=(2, 2 * 6 * offset_group, 3, 5), scale=2)
    mask = random.normal(size=(2, 6 * offset_group, 3, 5)) if group != 2 else None
    options |= {"group": group, "offset_group": offset_group, "zeros_around": zeros_around}
    result = deformable_convolution(data, offsets, filters, mask, **options)
    np.testing.assert_allclose(result, by_hand(data, offsets, filters, mask, **options), atol=1e-12)


@pytest.mark.parametrize(
    ("zeros_around", "expected"),
    [(False, [0, 1, 1, 3, 3, 0]), (True, [0, 0.25, 1, 3, 0.75, 0])],
)
def test_sampling_next_to_the_first_and_last_row(zeros_around: bool, expected: list[float]) -> None:
    places = np.array([-1, -0.75, 0, 1, 1.75, 2])
    result = [
        deformable_convolution(PLANE, move(y), ONE, zeros_around=zeros_around, **PLAIN)[0, 0, 0, 0].item()
        for y in places
    ]
    assert result == expected


def move(y: float) -> np.ndarray:
    offsets = np.zeros((1, 2, 2, 2))
    offsets[0, 0, 0, 0] = y
    return offsets


def test_unspecified_elements_are_masked() -> None:
    array = deformable_convolution(PLANE, move(-0.5), ONE, **PLAIN)
    assert np.ma.getmaskarray(array).tolist() == [[[[True, False], [False, False]]]]
    assert not np.ma.is_masked(deformable_convolution(PLANE, move(-1), ONE, **PLAIN))
    nowhere = deformable_convolution(PLANE, move(np.nan), ONE, zeros_around=True, **PLAIN)
    assert np.ma.getmaskarray(nowhere).sum() == 1
    assert deformable_convolution(PLANE, move(np.inf), ONE, zeros_around=True, **PLAIN)[0, 0, 0, 0] == 0


def test_integers_wrap_around() -> None:
    data, filters = np.full((1, 1, 2, 2), 100, np.int8), np.full((1, 1, 1, 1), 3, np.int8)
    offsets = np.zeros((1, 2, 2, 2), np.int8)
    offsets[0, 0, 1] = 1
    assert deformable_convolution(data, offsets, filters, **PLAIN).tolist() == [[[[44, 44], [0, 0]]]]
    far = np.full((1, 2, 2, 2), np.iinfo(np.uint64).max, np.uint64)
    wide = (data.astype(np.uint64), far, filters.astype(np.uint64))
    assert not deformable_convolution(*wide, **PLAIN).any()


@pytest.mark.parametrize(
    "change",
    [
        {"offset_group": 2},
        {"group": 2},
        {"auto_pad": "round"},
        {"begins": [0]},
        {"strides": [0, 1]},
    ],
)
def test_invalid_attributes_are_rejected(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        deformable_convolution(PLANE, move(0), ONE, **{**PLAIN, **change})


def test_mismatched_arrays_are_rejected() -> None:
    with pytest.raises(InputError, match="all inputs to be"):
        deformable_convolution(PLANE, move(0).astype(np.float32), ONE, **PLAIN)
    with pytest.raises(InputError, match="a mask"):
        deformable_convolution(PLANE, move(0), ONE, np.ones((1, 2, 2, 2)), **PLAIN)
    with pytest.raises(InputError, match="4-D data"):
        deformable_convolution(PLANE[0], move(0), ONE, **PLAIN)
