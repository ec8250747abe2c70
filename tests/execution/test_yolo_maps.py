"""Outputs of one-stage detectors: activations, and Darknet's element order."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.detection import region_yolo, reorg_yolo

DATA = np.random.default_rng(3).normal(size=(2, 2 * 7, 2, 3))


def sigmoid(number: float) -> float:
    return 1 / (1 + exp(-number))


def test_coordinates_score_and_classes_of_each_region() -> None:
    array = region_yolo(DATA, coordinates=4, classes=2, regions=2).reshape(DATA.shape)
    for batch, region, row, column in np.ndindex(2, 2, 2, 3):
        inputs = DATA[batch, 7 * region : 7 * region + 7, row, column].tolist()
        likely = [exp(each) for each in inputs[5:]]
        expected = [
            *map(sigmoid, inputs[:2]),
            *inputs[2:4],
            sigmoid(inputs[4]),
            *(each / sum(likely) for each in likely),
        ]
        np.testing.assert_allclose(array[batch, 7 * region : 7 * region + 7, row, column], expected, rtol=1e-12)


def test_independent_classes_use_sigmoid() -> None:
    array = region_yolo(DATA, coordinates=4, classes=2, regions=9, mask=[3, 7], exclusive=False)
    assert array.shape == DATA.shape
    for batch, channel, row, column in np.ndindex(*DATA.shape):
        number = float(DATA[batch, channel, row, column])
        expected = number if channel % 7 in (2, 3) else sigmoid(number)
        assert array[batch, channel, row, column] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("first", "last", "shape"), [(1, 3, (2, 84)), (0, 1, (28, 2, 3)), (2, 2, (2, 14, 2, 3))])
def test_region_yolo_flattens_dimensions(first: int, last: int, shape: tuple[int, ...]) -> None:
    assert region_yolo(DATA, coordinates=4, classes=2, regions=2, first=first, last=last).shape == shape


def test_mismatched_predictions_are_rejected() -> None:
    with pytest.raises(NoKernel, match="14 channels"):
        region_yolo(DATA, coordinates=4, classes=3, regions=2)
    with pytest.raises(NoKernel, match="-2 coordinates"):
        region_yolo(DATA, coordinates=-2, classes=8, regions=2)
    with pytest.raises(InputError, match="4-D input"):
        region_yolo(DATA[0], coordinates=4, classes=2, regions=2)
    with pytest.raises(InputError, match="found 3 and 1"):
        region_yolo(DATA, coordinates=4, classes=2, regions=2, first=3, last=1)


def test_reorg_yolo_matches_darknet() -> None:
    """Darknet's loops, with planes larger than the input when written, smaller when read."""
    batch, channels, rows, columns, block = 2, 8, 4, 6, 2
    data = np.arange(batch * channels * rows * columns).reshape(batch, channels, rows, columns)
    separate = channels // block**2
    expected = np.zeros(data.size, int)
    for b, c, y, x in np.ndindex(batch, channels, rows, columns):
        plane, offset = c % separate, c // separate
        column, row = x * block + offset % block, y * block + offset // block
        source = column + columns * block * (row + rows * block * (plane + separate * b))
        expected[x + columns * (y + rows * (c + channels * b))] = data.reshape(-1)[source]
    array = reorg_yolo(data, block=block)
    assert array.shape == (batch, channels * 4, rows // 2, columns // 2)
    assert array.reshape(-1).tolist() == expected.tolist()


def test_indivisible_blocks_are_rejected() -> None:
    with pytest.raises(InputError, match="does not divide"):
        reorg_yolo(np.zeros((1, 4, 3, 2)), block=2)
    with pytest.raises(InputError, match="block size 0"):
        reorg_yolo(np.zeros((1, 4, 3, 2)), block=0)
    with pytest.raises(NoKernel, match="5 channels"):
        reorg_yolo(np.zeros((1, 5, 4, 2)), block=2)
