"""Pooled regions: bin by bin, sample by sample."""

from __future__ import annotations

from math import ceil, floor

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.roi_pool import deformable_psroi_pooling, max_roi_pool, psroi_pooling

RANDOM = np.random.default_rng(5)
MAPS = RANDOM.normal(size=(2, 3, 6, 7))
#: Batch, left, top, right and bottom: inside, partly outside, outside, a point, and reversed.
REGIONS = np.array(
    [[0, 1, 1, 5, 4], [1, -3, 2, 3, 9], [0, 20, 20, 30, 30], [1, 2, 3, 2, 3], [0, 5, 4, 1, 1]], np.float64
)


def half_up(number: float) -> int:
    return floor(abs(number) + 0.5) * (1 if number >= 0 else -1)


@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_roi_max_pool_per_bin(scale: float) -> None:
    result = max_roi_pool(MAPS, REGIONS / [1, scale, scale, scale, scale], height=3, width=2, scale=scale)
    for at, (batch, *corners) in enumerate(REGIONS.tolist()):
        left, top, right, bottom = map(half_up, corners)
        high, wide = max(bottom - top + 1, 1), max(right - left + 1, 1)
        for channel, i, j in np.ndindex(3, 3, 2):
            rows = [y for y in range(6) if top + floor(i * high / 3) <= y < top + ceil((i + 1) * high / 3)]
            columns = [x for x in range(7) if left + floor(j * wide / 2) <= x < left + ceil((j + 1) * wide / 2)]
            expected = max((MAPS[int(batch), channel, y, x] for y in rows for x in columns), default=0)
            assert result[at, channel, i, j] == expected, (at, channel, i, j)


def between(plane: np.ndarray, y: float, x: float) -> float:
    """Return the bilinear value at a position, 0 outside."""
    rows, columns = plane.shape
    if not (0 <= y <= rows - 1 and 0 <= x <= columns - 1):
        return 0.0
    top, left = floor(y), floor(x)
    total = 0.0
    for row, column in ((top, left), (top, left + 1), (top + 1, left), (top + 1, left + 1)):
        weight = (1 - abs(y - row)) * (1 - abs(x - column))
        if weight:
            total += weight * float(plane[row, column])
    return total


def test_bilinear_samples_from_corner_to_corner() -> None:
    regions = np.array([[0, 0, 0, 1, 1], [1, 0.1, 0.2, 0.8, 0.7], [0, -0.5, 0.5, 1.5, 0.5]])
    array = max_roi_pool(MAPS, regions, height=3, width=2, scale=1, straight=True)
    alone = max_roi_pool(MAPS, regions, height=1, width=1, scale=1, straight=True)
    for at, (batch, x1, y1, x2, y2) in enumerate(regions.tolist()):
        for channel, i, j in np.ndindex(3, 3, 2):
            y, x = (y1 + (y2 - y1) * i / 2) * 5, (x1 + (x2 - x1) * j) * 6
            assert array[at, channel, i, j] == pytest.approx(between(MAPS[int(batch), channel], y, x), abs=1e-12)
            middle = between(MAPS[int(batch), channel], (y1 + y2) / 2 * 5, (x1 + x2) / 2 * 6)
            assert alone[at, channel, 0, 0] == pytest.approx(middle, abs=1e-12)


def test_psroi_pool_averages_a_separate_channel_per_part() -> None:
    maps = RANDOM.normal(size=(2, 2 * 9, 6, 7))
    array = psroi_pooling(maps, REGIONS, channels=2, parts=3, scale=0.5)
    for at, (batch, *corners) in enumerate(REGIONS.tolist()):
        left, top = (half_up(each) * 0.5 for each in corners[:2])
        right, bottom = ((half_up(each) + 1) * 0.5 for each in corners[2:])
        high, wide = (max(span, 0.1) / 3 for span in (bottom - top, right - left))
        for channel, i, j in np.ndindex(2, 3, 3):
            plane = maps[int(batch), channel * 9 + i * 3 + j]
            rows = [y for y in range(6) if floor(top + i * high) <= y < ceil(top + (i + 1) * high)]
            columns = [x for x in range(7) if floor(left + j * wide) <= x < ceil(left + (j + 1) * wide)]
            part = [plane[y, x] for y in rows for x in columns]
            assert array[at, channel, i, j] == pytest.approx(np.mean(part) if part else 0), (at, channel, i, j)


def test_psroi_pool_bilinear_averages_a_separate_channel_per_bin() -> None:
    maps = RANDOM.normal(size=(1, 6 * 2, 5, 5))
    regions = np.array([[0, 0.1, 0.2, 0.9, 0.7]])
    array = psroi_pooling(maps, regions, channels=2, parts=3, scale=1, straight=True, bins_across=3, bins_down=2)
    for channel, i, j in np.ndindex(2, 3, 3):
        total = 0.0
        for down, across in np.ndindex(2, 3):
            y1, x1 = 0.2 + 0.25 * down, 0.1 + 0.8 / 3 * across
            y, x = (y1 + 0.25 * i / 2) * 4, (x1 + 0.8 / 3 * j / 2) * 4
            total += between(maps[0, (down * 3 + across) * 2 + channel], y, x)
        assert array[0, channel, i, j] == pytest.approx(total / 6)


@pytest.mark.parametrize("classes", [None, 1, 2])
def test_deformable_psroi_pool_with_offsets(classes: int | None) -> None:
    parts, channels = 2, 4
    maps = RANDOM.normal(size=(2, channels * parts * parts, 6, 7))
    regions = REGIONS[:4]
    offsets = None if classes is None else RANDOM.uniform(-1, 1, (len(regions), 2 * classes, parts, parts))
    options = {"channels": channels, "parts": parts, "scale": 0.5, "spread": 0.3, "bins_across": 2, "bins_down": 3}
    result = deformable_psroi_pooling(maps, regions, offsets, **options)  # type: ignore[arg-type]
    for at, (batch, *corners) in enumerate(regions.tolist()):
        left, top = (half_up(each) * 0.5 - 0.5 for each in corners[:2])
        right, bottom = ((half_up(each) + 1) * 0.5 - 0.5 for each in corners[2:])
        wide, high = max(right - left, 0.1), max(bottom - top, 0.1)
        for channel, i, j in np.ndindex(channels, parts, parts):
            own = channel // (channels // (classes or 1))
            right_by, down_by = (0.0, 0.0) if offsets is None else offsets[at, 2 * own : 2 * own + 2, i, j].tolist()
            plane, numbers = maps[int(batch), (channel * parts + i) * parts + j], []
            for down, across in np.ndindex(3, 2):
                y = top + high * (i + down / 3) / parts + down_by * 0.3 * high
                x = left + wide * (j + across / 2) / parts + right_by * 0.3 * wide
                if -0.5 <= y <= 5.5 and -0.5 <= x <= 6.5:
                    numbers.append(between(plane, min(max(y, 0), 5), min(max(x, 0), 6)))
            expected = sum(numbers) / len(numbers) if numbers else 0
            assert result[at, channel, i, j] == pytest.approx(expected, abs=1e-9), (at, channel, i, j)


def test_nan_regions_and_offsets_are_masked() -> None:
    """A nan used to end in numpy's IndexError."""
    regions = np.array([[0, 1, 1, np.nan, 4], [0, 1, 1, 3, 3]])
    assert np.ma.getmaskarray(max_roi_pool(MAPS, regions, height=1, width=1, scale=1))[:, 0, 0, 0].tolist() == [
        True,
        False,
    ]
    offsets = np.zeros((1, 2, 2, 2))
    offsets[0, 1, 0, 1] = np.nan
    array = deformable_psroi_pooling(
        RANDOM.normal(size=(1, 4, 5, 5)), regions[1:], offsets, channels=1, parts=2, scale=1
    )
    assert np.ma.getmaskarray(array).tolist() == [[[[False, True], [False, False]]]]


def test_mismatched_arrays_are_rejected() -> None:
    with pytest.raises(InputError, match="batch size 2"):
        max_roi_pool(MAPS, np.array([[2.0, 0, 0, 1, 1]]), height=1, width=1, scale=1)
    with pytest.raises(InputError, match="five numbers"):
        max_roi_pool(MAPS, np.zeros((1, 4)), height=1, width=1, scale=1)
    with pytest.raises(InputError, match="output sizes of at least 0"):
        max_roi_pool(MAPS, REGIONS, height=-1, width=1, scale=1)
    with pytest.raises(NoKernel, match="8 channels, found 3"):
        psroi_pooling(MAPS, REGIONS, channels=2, parts=2, scale=1)
    with pytest.raises(InputError, match="expected 8 channels"):
        deformable_psroi_pooling(MAPS, REGIONS, channels=2, parts=2, scale=1)
    with pytest.raises(NoKernel, match="2 classes"):
        deformable_psroi_pooling(MAPS, REGIONS, np.zeros((5, 4, 1, 1)), channels=3, parts=1, scale=1)
