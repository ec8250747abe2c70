"""Resampling: positions by hand, rounding of modes, edges, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.resize import resample

FOUR = np.array([0, 10, 20, 30], np.float32)


def test_linear_between_centres():
    array = resample(FOUR, sizes=[8], scales=[2.0], linear=True)
    assert array.tolist() == [0, 2.5, 7.5, 12.5, 17.5, 22.5, 27.5, 30]


def test_linear_between_corners():
    array = resample(FOUR, sizes=[8], scales=[2.0], linear=True, input_offsets=[0.0], output_offsets=[0.0])
    assert array.tolist() == [0, 5, 10, 15, 20, 25, 30, 30]


def test_linear_in_two_dimensions():
    array = np.array([[0, 4], [8, 12]], np.float32)
    result = resample(array, sizes=[4, 4], scales=[2.0, 2.0], linear=True)
    assert result.tolist() == [[0, 1, 3, 4], [2, 3, 5, 6], [6, 7, 9, 10], [8, 9, 11, 12]]


@pytest.mark.parametrize(
    ("upwards", "expected"),
    [(None, [0, 0, 10, 10, 20, 20, 30, 30]), (True, [0, 10, 10, 20, 20, 30, 30, 30]),
     (False, [0, 0, 0, 10, 10, 20, 20, 30])],
)  # fmt: skip
def test_resampling_of_a_single_element(upwards, expected):
    assert resample(FOUR, sizes=[8], scales=[2.0], linear=False, upwards=upwards).tolist() == expected


def test_nearest_ties_choose_the_lower():
    assert resample(FOUR, sizes=[2], scales=[0.5], linear=False).tolist() == [0, 20]


def test_documented_gradient_example():
    array = np.array([[1, 2], [3, 4]], np.float32)
    assert resample(array, sizes=[1, 3], scales=[0.5, 1.5], linear=False).tolist() == [[1, 1, 2]]


def test_integer_results_are_truncated():
    array = np.array([-3, 4], np.int8)
    result = resample(array, sizes=[4], scales=[2.0], linear=True)
    assert result.tolist() == [-3, -1, 2, 4]  # -1.25 and 2.25
    assert result.dtype == np.int8


def test_cropped_and_extended_from_the_edge():
    assert resample(FOUR, sizes=[2], scales=[1.0], linear=True).tolist() == [0, 10]
    assert resample(FOUR, sizes=[6], scales=[1.0], linear=True).tolist() == [0, 10, 20, 30, 30, 30]


@pytest.mark.parametrize(
    "changes",
    [{"scales": [1.0, 1.0]}, {"sizes": [0]}, {"sizes": [2**31]}, {"input_offsets": []}],
)
def test_invalid_arguments_are_rejected(changes):
    with pytest.raises(InputError):
        resample(FOUR, **dict({"sizes": [4], "scales": [1.0], "linear": True}, **changes))


def test_scales_that_the_documentation_allows():
    """The documentation has no lower bound for Scales; builds reject by the formula."""

    def whole(size, scale, offset=0.0):
        before, following = [0.0], [offset]
        return resample(
            FOUR,
            sizes=[size],
            scales=[scale],
            linear=False,
            upwards=False,
            input_offsets=before,
            output_offsets=following,
        ).tolist()

    assert whole(3, -1.0) == [0, 0, 0]
    assert whole(4, -1.0, 3.0) == [30, 20, 10, 0]
    assert whole(3, 0.0) == [0, 30, 30]
    assert whole(2, float("nan")) == [0, 0]


@pytest.mark.parametrize("linear", [False, True])
def test_infinite_scale_maps_all_positions_to_one_element(linear):
    offsets: dict[str, Any] = {"input_offsets": [-2.0], "output_offsets": [7.0]}
    result = resample(FOUR, sizes=[3], scales=[float("inf")], linear=linear, **offsets)
    assert result.tolist() == [FOUR[2]] * 3


def test_nan_position_is_the_first_element():
    offsets: dict[str, Any] = {"input_offsets": [float("inf")], "output_offsets": [float("-inf")]}
    assert resample(FOUR[::-1], sizes=[2], scales=[1.0], linear=False, **offsets).tolist() == [30, 30]
    assert np.isnan(resample(FOUR, sizes=[2], scales=[1.0], linear=True, **offsets)).all()


def test_interpolation_next_to_infinity_is_nan():
    """As builds do, also outside the edge: they add the weighted difference of both elements."""
    array = resample(np.array([np.inf, 1, 2, 3], np.float32), sizes=[8], scales=[2.0], linear=True)
    assert np.isnan(array[:3]).all()
    assert array[3:].tolist() == [1.25, 1.75, 2.25, 2.75, 3.0]


def test_differences_of_integers_do_not_wrap_around():
    array = resample(np.array([-128, 127], np.int8), sizes=[4], scales=[2.0], linear=True)
    assert array.tolist() == [-128, -64, 63, 127]
