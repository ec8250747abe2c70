"""Region alignment: values computed by hand, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels import find_kernel

# the element at row r and column c is 10 r + c, which interpolation reproduces between elements
PLANE = np.arange(3)[:, None] * 10.0 + np.arange(4)
MAPS = PLANE[None, None].astype("f4")


def align(region, *, maps=MAPS, batch=0, **options):
    arguments = {"height": 1, "width": 1, "samples": 1, "scale": 1.0, **options}
    return find_kernel("roi_align")(maps, np.array([region], "f4"), np.array([batch]), **arguments)


def turn(region, **options):
    arguments = {"height": 1, "width": 1, "samples": 1, "scale": 1.0, **options}
    return find_kernel("roi_align_rotated")(MAPS, np.array([region], "f4"), np.array([0]), **arguments)


def test_roi_align_interpolates_the_center():
    assert align([0, 0, 3, 2]).item() == pytest.approx(11.5)
    assert align([0, 0, 6, 4], scale=0.5).item() == pytest.approx(11.5)
    assert align([1, 1, 2, 2], shift_before=0.5, shift_behind=-0.5).item() == pytest.approx(16.5)


def test_region_is_clamped_to_one_element_unless_disabled():
    assert align([1, 1, 1, 1]).item() == pytest.approx(16.5)
    assert align([1, 1, 1, 1], clamp_size=False).item() == pytest.approx(11)


def test_max_and_average_of_sampling_points():
    region, points = [0, 0, 2, 2], [5.5, 6.5, 15.5, 16.5]
    assert align(region, samples=2).item() == pytest.approx(np.mean(points))
    assert align(region, samples=2, largest=True).item() == pytest.approx(max(points))
    assert align(region, samples=0, largest=True).item() == pytest.approx(max(points))
    assert align([0, 0, 2, 2], height=2, width=2).ravel() == pytest.approx(points)


def test_sampling_points_outside_the_input():
    assert align([-1, 0, 0, 2]).item() == pytest.approx(10)  # less than one element outside: the edge
    assert align([-4, 0, -2, 2]).item() == 0


def test_region_without_sampling_points_is_masked():
    result = align([2, 2, 1, 1], samples=0, clamp_size=False)
    assert np.ma.getmaskarray(result).all()


def test_rotated_regions():
    # wide regions around the centre of the element at row 1, column 2, in two bins
    assert turn([2.5, 1.5, 2, 1, 0], width=2).ravel() == pytest.approx([11.5, 12.5])
    assert turn([2.5, 1.5, 2, 1, math.pi], width=2).ravel() == pytest.approx([12.5, 11.5], abs=1e-5)
    up, down = turn([2.5, 1.5, 2, 1, math.pi / 2], width=2).ravel()
    assert (up, down) == pytest.approx((17, 7), abs=1e-5)
    clockwise = turn([2.5, 1.5, 2, 1, math.pi / 2], width=2, clockwise=True).ravel()
    assert clockwise == pytest.approx([7, 17], abs=1e-5)


def test_invalid_arguments_are_rejected():
    with pytest.raises(InputError, match="batch"):
        align([0, 0, 1, 1], batch=1)
    with pytest.raises(InputError, match="batch"):
        align([0, 0, 1, 1], batch=-1)
    with pytest.raises(InputError, match="finite"):
        align([0, 0, 1, math.inf])
    with pytest.raises(InputError, match="shape"):
        align([0, 0, 1, 1, 1])
    with pytest.raises(InputError, match="4-D feature maps"):
        align([0, 0, 1, 1], maps=MAPS[0])
    with pytest.raises(InputError, match="more than the limit"):
        align([0, 0, 1e12, 1], samples=0)
