"""Resizing, by hand and against the documented sums over all axes at once."""

from __future__ import annotations

from itertools import product
from math import floor
from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.resize import interpolate

LINE = np.array([1, 2, 4], np.float32)


def sizes(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def scales(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ("half_pixel", [1, 1, 2, 2, 4, 4]),
        ("asymmetric", [1, 1, 2, 2, 4, 4]),
        ("align_corners", [1, 1, 2, 2, 4, 4]),
        ("tf_half_pixel_for_nn", [1, 2, 2, 4, 4, 4]),
    ],
)
def test_nearest_neighbor(places: str, expected: list[float]) -> None:
    result = interpolate(
        LINE, sizes(6), mode="nearest", shape_calculation_mode="sizes", coordinate_transformation_mode=places
    )
    assert result.tolist() == expected


@pytest.mark.parametrize(
    ("nearest", "expected"),
    [
        ("round_prefer_floor", [1, 1, 2, 2]),
        ("round_prefer_ceil", [1, 2, 2, 4]),
        ("floor", [1, 1, 2, 2]),
        ("ceil", [1, 2, 2, 4]),
        ("simple", [1, 1, 2, 2]),
    ],
)
def test_ties_are_rounded_as_documented(nearest: str, expected: list[float]) -> None:
    result: dict[str, Any] = {
        "mode": "nearest",
        "shape_calculation_mode": "scales",
        "coordinate_transformation_mode": "asymmetric",
        "nearest": nearest,
    }
    assert interpolate(LINE, None, scales(2), **result).tolist()[:4] == expected


def test_single_output_element_is_the_first_input() -> None:
    for places in ("pytorch_half_pixel", "align_corners"):
        assert interpolate(
            LINE, sizes(1), mode="nearest", shape_calculation_mode="sizes", coordinate_transformation_mode=places
        ).tolist() == [1]


def test_linear_interpolation() -> None:
    corners = interpolate(
        LINE, sizes(5), mode="straight", shape_calculation_mode="sizes", coordinate_transformation_mode="align_corners"
    )
    assert corners.tolist() == [1, 1.5, 2, 3, 4]
    assert interpolate(LINE, sizes(6), mode="straight", shape_calculation_mode="sizes").tolist() == [
        1,
        1.25,
        1.75,
        2.5,
        3.5,
        4,
    ]
    assert interpolate(LINE, sizes(6), mode="linear", shape_calculation_mode="sizes").tolist() == [
        1,
        1.25,
        1.75,
        2.5,
        3.5,
        4,
    ]


def test_antialias_averages_when_downsampling() -> None:
    data = np.array([1, 2, 3, 4, 5, 6, 7, 8], np.float64)
    array = interpolate(data, sizes(2), mode="linear", shape_calculation_mode="sizes", antialias=True)
    assert array.tolist() == pytest.approx([10.125 / 3.5, 9 - 10.125 / 3.5])
    plain = interpolate(data, sizes(2), mode="linear", shape_calculation_mode="sizes")
    assert plain.tolist() == [2.5, 6.5]


def cubic_weights(s: float, a: float) -> list[float]:
    return [
        a * (s - 1) ** 2 * s,
        ((a + 2) * s - (a + 3)) * s * s + 1,
        (((-a - 2) * s + (2 * a + 3)) * s - a) * s,
        -a * s * s * (s - 1),
    ]


def test_cubic_interpolation_is_separable() -> None:
    data = np.random.default_rng(0).random((3, 4))
    array = interpolate(data, sizes(5, 7), mode="cubic", shape_calculation_mode="sizes", cube=-0.5)
    for row, column in product(range(5), range(7)):
        at = ((row + 0.5) * 3 / 5 - 0.5, (column + 0.5) * 4 / 7 - 0.5)
        weights = [cubic_weights(x - floor(x), -0.5) for x in at]
        total = 0.0
        for i, j in product(range(4), range(4)):
            place = [min(max(floor(x) + n - 1, 0), m - 1) for x, n, m in zip(at, (i, j), (3, 4), strict=True)]
            total += weights[0][i] * weights[1][j] * data[place[0], place[1]]
        assert array[row, column] == pytest.approx(total)


def test_axes_paddings_and_scales() -> None:
    data = np.arange(6, dtype=np.int32).reshape(2, 3)
    entries: dict[str, Any] = {
        "mode": "nearest",
        "shape_calculation_mode": "scales",
        "coordinate_transformation_mode": "asymmetric",
        "nearest": "floor",
    }
    array = interpolate(data, None, scales(0.5), sizes(1), begins=[0, 1], ends=[1], **entries)
    assert array.tolist() == [[0, 1], [0, 4], [0, 0]]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"axes": sizes(1)}, InputError),
        ({"axes": sizes(0, 0)}, InputError),
        ({"sizes": sizes(1, 2)}, InputError),
        ({"sizes": sizes(-1)}, NoKernel),
        ({"mode": "area"}, NoKernel),
        ({"coordinate_transformation_mode": "elsewhere"}, InputError),
        ({"nearest": "up"}, InputError),
        ({"begins": [-1]}, InputError),
        ({"data": LINE.astype(np.int8), "mode": "cubic"}, NoKernel),
        ({"data": LINE[:0]}, NoKernel),
        (
            {
                "sizes": None,
                "shape_calculation_mode": "scales",
                "scales": scales(1e-30),
                "mode": "linear",
                "antialias": True,
            },
            None,
        ),
        ({"sizes": sizes(2**30)}, InputError),
    ],
)
def test_unsupported_resizes_are_rejected(change: dict[str, Any], error: type[Exception] | None) -> None:
    inputs: dict[str, Any] = {"data": LINE, "sizes": sizes(2), "mode": "nearest", "shape_calculation_mode": "sizes"}
    if error is None:
        assert interpolate(**inputs | change).shape == (0,)
        return
    with pytest.raises(error):
        interpolate(**inputs | change)


def test_linear_interpolation_with_aligned_corners() -> None:
    data = np.array([[0, 10, 20, 40]], np.float32)
    array = interpolate(data, np.array([7]), mode="linear", axes_attribute=[1], align_corners=True)
    assert array.tolist() == [[0, 5, 10, 15, 20, 30, 40]]
    assert interpolate(data, np.array([2]), mode="linear", axes_attribute=[1], align_corners=True).tolist() == [[0, 40]]
    both = interpolate(data, np.array([2, 3]), mode="linear", axes_attribute=[0, 1], align_corners=True)
    assert both.tolist() == [[0, 15, 40]] * 2


@pytest.mark.parametrize(
    "change",
    [
        {"mode": "nearest"},
        {"align_corners": False},
        {"antialias": True},
        {"begins": [0, 1]},
        {"sizes": np.array([1])},
        {"axes_attribute": [1, 1], "sizes": np.array([2, 2])},
    ],
)
def test_unspecified_align_corners_have_no_kernel(change: dict[str, Any]) -> None:
    options = {"sizes": np.array([7]), "mode": "linear", "axes_attribute": [1], "align_corners": True}
    with pytest.raises(NoKernel):
        interpolate(np.ones((1, 4), np.float32), **{**options, **change})
