"""Prior boxes at grid points, listed one by one."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.detection import prior_box, prior_box_clustered

GRID, IMAGE = np.array([2, 3]), np.array([20, 60])
#: The points of that grid, spread over that image.
POINTS = [(x, y) for y in (5, 15) for x in (10, 30, 50)]


def shares(boxes: list[tuple[float, float, float, float]]) -> list[float]:
    """Return left, top, right and bottom pixels as fractions of the image."""
    return [each / size for box in boxes for each, size in zip(box, (60, 20, 60, 20), strict=True)]


def around(x: float, y: float, wide: float, high: float) -> tuple[float, float, float, float]:
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def sizes(**options: Any) -> np.ndarray:
    return prior_box(GRID, IMAGE, **{"offset": 0.5, **options})


def test_boxes_per_size_are_square_mean_and_ratios() -> None:
    array = sizes(min_sizes=[4, 8], max_sizes=[9, 18], ratios=[4, 1, 4], flip=True)
    shapes = []
    for size, larger in ((4, 9), (8, 18)):
        shapes += [(size, size), (sqrt(size * larger),) * 2, (size * 2, size / 2), (size / 2, size * 2)]
    expected = shares([around(x, y, *shape) for x, y in POINTS for shape in shapes])
    np.testing.assert_allclose(array[0], expected, atol=1e-6)
    assert set(array[1].tolist()) == {np.float32(0.1)}
    following = sizes(min_sizes=[4], max_sizes=[9], ratios=[4], most_first=False)[0, :12]
    expected = shares([around(10, 5, *shape) for shape in ((4, 4), (8, 2), (6, 6))])
    np.testing.assert_allclose(following, expected, atol=1e-6)


def test_steps_and_variances() -> None:
    array = sizes(min_sizes=[4], step=8, variances=[0.1, 0.2, 0.3, 0.4], offset=0.25, clip=True)
    expected = [max(each, 0) for each in shares([around(x, y, 4, 4) for y in (2, 10) for x in (2, 10, 18)])]
    np.testing.assert_allclose(array[0], expected, atol=1e-6)
    np.testing.assert_allclose(array[1].reshape(-1, 4), [[0.1, 0.2, 0.3, 0.4]] * 6)


def test_sizes_relative_to_the_image_height() -> None:
    """Each ratio gives one box of the first size, after the square of the last size."""
    array = sizes(min_sizes=[0.1, 0.5], ratios=[4], all_sizes=False)
    expected = shares([around(x, y, *shape) for x, y in POINTS for shape in ((2, 2), (10, 10), (4, 1))])
    np.testing.assert_allclose(array[0], expected, atol=1e-6)


def test_fixed_sizes_and_densities() -> None:
    """Two times two boxes, 4 apart, of each size, centred on the point and clipped."""
    array = sizes(fixed_sizes=[8], densities=[2], fixed_ratios=[1])
    boxes = [around(x + right, y + down, 8, 8) for x, y in POINTS for down in (-2, 2) for right in (-2, 2)]
    np.testing.assert_allclose(array[0], [min(max(each, 0), 1) for each in shares(boxes)], atol=1e-6)
    malformed = sizes(fixed_sizes=[7], densities=[1], fixed_ratios=[1])
    assert np.ma.getmaskarray(malformed)[0].all()
    assert not np.ma.getmaskarray(malformed)[1].any()


def test_pairs_of_widths_and_heights() -> None:
    array = prior_box_clustered(GRID, IMAGE, widths=[4, 6], heights=[2, 8], clip=False, offset=0.5)
    expected = shares([around(x, y, *shape) for x, y in POINTS for shape in ((4, 2), (6, 8))])
    np.testing.assert_allclose(array[0], expected, atol=1e-6)
    stepped = prior_box_clustered(
        GRID, IMAGE, widths=[4], heights=[2], clip=True, offset=0.5, step_across=7, step_down=3, step=99
    )
    places = [(x, y) for y in (1.5, 4.5) for x in (3.5, 10.5, 17.5)]
    np.testing.assert_allclose(stepped[0], shares([around(x, y, 4, 2) for x, y in places]), atol=1e-6)


def test_unspecified_attributes_have_no_kernel() -> None:
    with pytest.raises(NoKernel, match="boxes are declared"):
        sizes(min_sizes=[4], max_sizes=[9, 10, 11])
    with pytest.raises(NoKernel, match="without a density"):
        sizes(fixed_sizes=[8])
    with pytest.raises(NoKernel, match="without an image"):
        prior_box_clustered(GRID, offset=0.5)
    with pytest.raises(NoKernel, match="a width but no height"):
        prior_box_clustered(GRID, IMAGE, widths=[1, 2], heights=[1], offset=0.5)


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(InputError, match="the grid"):
        prior_box(np.array([-1, 2]), IMAGE, min_sizes=[4], offset=0.5)
    with pytest.raises(InputError, match="the image"):
        prior_box_clustered(GRID, np.array([1, 2, 3]), offset=0.5)
    with pytest.raises(InputError, match="a step of at least 0"):
        sizes(min_sizes=[-4])
    with pytest.raises(InputError, match="variance"):
        sizes(min_sizes=[4], variances=[0.1, 0.2])
    with pytest.raises(InputError):
        prior_box(np.array([2**40, 2**40]), IMAGE, min_sizes=[4], offset=0.5)
