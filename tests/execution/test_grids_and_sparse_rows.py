"""Grid sampling, col2im, and filling of sparse rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.gather import sparse_fill_empty_rows
from specgate.execution.kernels.grid_sample import col2im_columns, grid_sample_2d

PLANE = np.arange(1, 7, dtype=np.float32).reshape(1, 1, 2, 3)


def at(*places: tuple[float, float]) -> np.ndarray:
    return np.array(places, np.float32).reshape(1, 1, -1, 2)


@pytest.mark.parametrize(
    ("align", "places", "expected"),
    [
        (True, [(-1, -1), (1, 1), (0, 0), (0.5, -1)], [1, 6, 3.5, 2.5]),
        (False, [(0, 0), (-2 / 3, -0.5), (-1, -0.5), (1, 1)], [3.5, 1, 0.5, 1.5]),
    ],
)
def test_bilinear_grid_sample(align: bool, places: list[tuple[float, float]], expected: list[float]) -> None:
    result = grid_sample_2d(PLANE, at(*places), align_corners=align)
    assert result.reshape(-1).tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("padding", "expected"),
    [("zeros", [0, 0, 2]), ("border", [3, 4, 2]), ("reflection", [2, 5, 2])],
)
def test_grid_samples_outside_pixel_centers(padding: str, expected: list[float]) -> None:
    """Columns 3 and -1 of three: reflected at the outer centres they become 1."""
    result = grid_sample_2d(
        PLANE, at((2, -1), (-2, 1), (0, -1)), mode="nearest", padding_mode=padding, align_corners=True
    )
    assert result.reshape(-1).tolist() == expected


@pytest.mark.parametrize(
    ("padding", "expected"),
    [("zeros", [0, 0, 2]), ("border", [3, 1, 2]), ("reflection", [3, 1, 2])],
)
def test_grid_samples_outside_the_edges(padding: str, expected: list[float]) -> None:
    """Columns 3 and -1 of three: reflected at the outer edges they become the last ones."""
    result = grid_sample_2d(PLANE, at((4 / 3, -0.5), (-4 / 3, -0.5), (0, -0.5)), mode="nearest", padding_mode=padding)
    assert result.reshape(-1).tolist() == expected


def test_bicubic_grid_sample_reproduces_pixels() -> None:
    centres = [(x, y) for y in (-0.5, 0.5) for x in (-2 / 3, 0, 2 / 3)]
    assert np.allclose(grid_sample_2d(PLANE, at(*centres), mode="bicubic").reshape(-1), PLANE.reshape(-1), atol=1e-5)
    flat = np.ones((1, 2, 4, 4), np.float64)
    array = grid_sample_2d(flat, at((0.1, -0.3), (0.77, 0.5)), mode="bicubic", padding_mode="border")
    assert np.allclose(array, 1)


def test_unspecified_grid_samples_are_rejected() -> None:
    with pytest.raises(NoKernel, match="finite"):
        grid_sample_2d(PLANE, at((np.nan, 0)))
    with pytest.raises(NoKernel, match="integers"):
        grid_sample_2d(PLANE.astype(np.int32), at((0, 0)))
    with pytest.raises(InputError):
        grid_sample_2d(PLANE, np.zeros((2, 1, 1, 2), np.float32))
    with pytest.raises(InputError, match="mode"):
        grid_sample_2d(PLANE, at((0, 0)), mode="cubic")


def test_col2im_adds_overlapping_blocks() -> None:
    ones = np.ones((1, 4, 4), np.float32)
    array = col2im_columns(ones, np.array([3, 3]), np.array([2, 2]))
    assert array.tolist() == [[[[1, 2, 1], [2, 4, 2], [1, 2, 1]]]]


def test_col2im_counts_the_uses_of_each_element() -> None:
    """Extracting blocks from ones and adding them back counts the uses of each element."""
    entries: dict[str, Any] = {"strides": [2, 1], "dilations": [1, 2], "begins": [1, 0], "ends": [0, 1]}
    blocks = (5 + 1 - 2) // 2 + 1, (4 + 1 - 3) // 1 + 1
    array = col2im_columns(np.ones((1, 4, blocks[0] * blocks[1])), np.array([5, 4]), np.array([2, 2]), **entries)
    counts = np.zeros((6, 5))
    for row in range(blocks[0]):
        for column in range(blocks[1]):
            counts[row * 2 : row * 2 + 2, column : column + 3 : 2] += 1
    assert array[0, 0].tolist() == counts[1:, :4].tolist()
    for wrong in ({"strides": [0, 1]}, {"begins": [-1, 0]}, {"dilations": [1]}, {"ends": [3, 3]}):
        with pytest.raises(InputError):
            col2im_columns(np.ones((1, 4, 9)), np.array([5, 4]), np.array([2, 2]), **entries | wrong)


def test_empty_rows_are_filled() -> None:
    pairs, values, empty = sparse_fill_empty_rows(
        np.array([5, 6, 7]), np.array([5, 4]), np.array([[1, 2], [1, 3], [3, 0]]), np.array(-1)
    )
    assert pairs.tolist() == [[0, 0], [1, 2], [1, 3], [2, 0], [3, 0], [4, 0]]
    assert (values.tolist(), empty.tolist()) == ([-1, 5, 6, -1, 7, -1], [True, False, True, False, True])
    none = sparse_fill_empty_rows(np.zeros(0), np.array([1, 1]), np.zeros((0, 2), np.int64), np.array(3.0))
    assert [each.tolist() for each in none] == [[[0, 0]], [3.0], [True]]
    with pytest.raises(NoKernel, match="sorted by row"):
        sparse_fill_empty_rows(np.ones(2), np.array([2, 1]), np.array([[1, 0], [0, 0]]), np.array(0.0))
    with pytest.raises(InputError, match="outside"):
        sparse_fill_empty_rows(np.ones(1), np.array([2, 1]), np.array([[2, 0]]), np.array(0.0))
