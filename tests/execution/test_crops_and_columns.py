"""Crop and resize, im2col, and other integer operators."""

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.normalization import lp_normalization
from specgate.execution.kernels.optimizer import adam_optimizer
from specgate.execution.kernels.resize import resample, upsample_2d
from specgate.execution.kernels.roi_align import roi_align_by_samples, roi_align_gradient
from specgate.execution.kernels.roi_pool import roi_pooling
from specgate.execution.kernels.window_products import fold_columns, unfold

ROW = np.arange(8, dtype=np.float32).reshape(1, 1, 1, 8)
FIRST = np.zeros(1, np.uint32)


def crop(start, end, width=1, **options):
    entries: dict[str, Any] = {"height": 1, "width": width, "linear": True, "largest": False, "scale_y": 1.0, "scale_x": 1.0,
             "outside": -100.0, "min_samples": 1, "max_samples": 1, **options}  # fmt: skip
    region = np.array([[start, 0, end, 1]], np.float32)
    return roi_align_by_samples(ROW, region, FIRST, **entries).ravel().tolist()


def test_region_sampling_points():
    assert crop(1, 5, 4) == [1, 2, 3, 4]
    assert crop(5, 1, 4) == [4, 3, 2, 1]
    assert crop(0, 5, max_samples=9) == [2]  # the mean of five points
    assert crop(1.5, 2.5, linear=False) == [1]
    assert crop(1.5, 2.5, linear=False, upper=True) == [2]
    assert crop(1, 3, before=0.0, behind=0.0) == [1]


def test_sampling_points_outside_the_input():
    assert crop(-0.75, 0.25) == [0]  # less than an element
    assert crop(-1, 0) == [-100]
    assert crop(7.5, 8.25) == [7]
    assert crop(8.5, 8.5) == [-100]


def test_maximum_of_nan_is_the_lowest_float():
    region = np.array([[0, 0, 1, 1]], np.float32)
    options: dict[str, Any] = {
        "height": 1,
        "width": 1,
        "linear": True,
        "largest": True,
        "scale_y": 1.0,
        "scale_x": 1.0,
        "outside": 0.0,
    }
    array = roi_align_by_samples(
        np.full((1, 1, 1, 1), np.nan, np.float32), region, FIRST, **options, min_samples=1, max_samples=1
    )
    assert array.item() == np.finfo(np.float32).min


def test_regions_with_an_invalid_batch_are_masked():
    regions = np.array([[0, 0, 1, 1], [0, 0, 1, np.inf], [0, 0, 2, 1]], np.float32)
    options: dict[str, Any] = {"linear": True, "scale_y": 1.0, "scale_x": 1.0, "min_samples": 1, "max_samples": 1}
    array = roi_align_by_samples(
        ROW, regions, np.array([7, 0, 0], np.uint32), height=1, width=1, largest=False, outside=0.0, **options
    )
    assert array.ravel().tolist() == [None, None, 0.5]


def by_corners(gradient, region, maps, **options):
    array = roi_align_gradient(gradient, region, FIRST, maps, **options)[1]
    assert array is not None
    return array.tolist()


def test_gradients_of_corners():
    """A slope of 5 at 2.3 in the squares: x1 gets all of the first part, half of the second."""
    squares = np.square(ROW)
    options: dict[str, Any] = {"linear": True, "largest": False, "scale_y": 1.0, "scale_x": 1.0, "min_samples": 1, "max_samples": 1, "before": 0.5,
           "behind": -0.5, "to_corners": False, "sizes": squares.shape}  # fmt: skip
    region = np.array([[1.2, 0, 4.4, 1]], np.float32)
    array, two = np.ones((1, 1, 1, 1), np.float32), np.array([[[[0, 1]]]], np.float32)
    assert by_corners(array, region, squares, **options) == [[40, 0, 0, 0]]
    assert by_corners(two, region, squares, **options) == [[28, 0, 28, 0]]
    whole = np.array([[1, 0, 4, 1]], np.float32)  # at 2
    assert by_corners(array, whole, squares, **options) == [[0, 0, 0, 0]]
    assert by_corners(array, whole, squares, **options, ahead=True) == [[40, 0, 0, 0]]
    assert roi_align_gradient(array, region, FIRST, **options)[1] is None


def test_parts_of_listed_regions():
    maps = np.arange(64, dtype=np.float32).reshape(1, 1, 8, 8)
    regions = [[0, 0, 0, 4, 4], [0, 10, 10, 12, 12], [0, 0.5, 0.5, 3.5, 3.5], [0, 4, 4, 2, 2], [3, 0, 0, 1, 1]]
    array = roi_pooling(maps, np.array(regions, np.float32), height=1, width=1, scale=1.0)
    assert array.ravel().tolist() == [36, 0, 36, 36, None]
    array = roi_pooling(maps, np.array([[regions[0]]], np.float32), height=2, width=2, scale=1.0)
    assert array.ravel().tolist() == [18, 20, 34, 36]


def test_im2col_columns():
    options: dict[str, Any] = {
        "window": [2],
        "strides": [1],
        "dilations": [1],
        "start_padding": [1],
        "end_padding": [0],
    }
    columns = unfold(np.array([[[1, 2, 3]]], np.int8), **options)
    assert columns.tolist() == [[[0, 1, 2], [1, 2, 3]]]
    assert fold_columns(columns, sizes=[1, 1, 3], **options).tolist() == [[[2, 4, 3]]]
    full = np.full_like(columns, 100)
    assert fold_columns(full, sizes=[1, 1, 3], **options).tolist() == [[[127, 127, 100]]]
    with pytest.raises(InputError):
        unfold(np.ones((1, 1, 1)), **{**options, "window": [9]})


def test_first_steps_of_adam():
    array = np.ones(1)
    options: dict[str, Any] = {"rate": 0.5, "beta1": 0.5, "beta2": 0.75, "epsilon": 0.0}
    moved = [
        adam_optimizer(array, array, array, array, np.array([step], np.uint32), **options)[0].item()
        for step in (0, 1, 2)
    ]
    assert moved == [0.5, 0.5, pytest.approx(1 - 0.5 * (1 - 0.75**2) ** 0.5 / 0.75)]


def test_epsilon_in_a_norm():
    array = lp_normalization(np.array([3.0, 4.0]), axis=0, p=2, epsilon=11.0)
    assert array.tolist() == [0.5, 4 / 6]


def test_upsampling():
    image = np.array([[1.0, 3.0]])
    assert upsample_2d(image, height=2, width=1, linear=False).tolist() == [[1, 3], [1, 3]]
    assert upsample_2d(image, height=1, width=2, linear=True).tolist() == [[1, 1.5, 2.5, 3]]


def test_resample_with_a_stretched_filter():
    """Of 8 elements around 3.5, those nearer than 4, with linearly decreasing weights."""
    row = np.zeros(8)
    row[1] = 1
    options: dict[str, Any] = {"sizes": [2], "scales": [0.25], "linear": True}
    assert resample(row, **options).tolist() == [0.5, 0]
    weights = np.maximum(0, 1 - np.abs(np.arange(8) - 1.5) / 4)
    assert resample(row, **options, stretched=True)[0] == pytest.approx(weights[1] / weights.sum())
