"""Inverse STFT: round trips, and unspecified cases."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.fft import istft

RANDOM = np.random.default_rng(5)
WINDOW = np.array([0.5, 1, 2, 1])


def one(number: int) -> np.ndarray:
    return np.array(number, np.int64)


def frames_of(signal: np.ndarray, weights: np.ndarray, step: int) -> np.ndarray:
    """Return transforms of windowed frames by definition, [..., frequencies, frames, 2]."""
    size = len(weights)
    starts = range(0, signal.shape[-1] - size + 1, step)
    frames = np.stack([signal[..., start : start + size] * weights for start in starts], axis=-1)
    powers = np.exp(-2j * np.pi * np.outer(range(size // 2 + 1), range(size)) / size)
    values = np.einsum("fs,...sk->...fk", powers, frames)
    return np.stack([values.real, values.imag], axis=-1)


@pytest.mark.parametrize("size", [4, 6, 7])
@pytest.mark.parametrize("step", [1, 2, 3])
@pytest.mark.parametrize("batch", [(), (2,)])
def test_istft_restores_the_signal(size: int, step: int, batch: tuple[int, ...]) -> None:
    weights = np.abs(RANDOM.normal(size=size)) + 0.5
    signal = RANDOM.normal(size=(*batch, 4 * step + size))
    data = frames_of(signal, weights, step)
    plain = istft(data, weights, one(size), one(step), center=False, normalized=False)
    np.testing.assert_allclose(plain, signal, atol=1e-12)
    data = data / np.sqrt(size)
    middle = istft(data, weights, one(size), one(step), center=True, normalized=True)
    np.testing.assert_allclose(middle, signal[..., size // 2 : size // 2 + 4 * step], atol=1e-12)
    assert not np.ma.is_masked(middle)


def test_length_truncates_or_pads_with_zeros() -> None:
    signal = RANDOM.normal(size=8)
    data = frames_of(signal, WINDOW, 2)
    plain: dict[str, Any] = {"center": False, "normalized": False}
    longer = istft(data, WINDOW, one(4), one(2), one(10), **plain)
    np.testing.assert_allclose(longer, [*signal, 0, 0], atol=1e-12)
    np.testing.assert_allclose(istft(data, WINDOW, one(4), one(2), one(5), **plain), signal[:5], atol=1e-12)
    middle = istft(data, WINDOW, one(4), one(2), one(5), center=True, normalized=False)
    np.testing.assert_allclose(middle, [*signal[2:6], 0], atol=1e-12)


def test_elements_without_window_weight_are_masked() -> None:
    signal = RANDOM.normal(size=11)
    data = frames_of(signal, np.array([0, 1, 2, 0, 0]), 3)
    array = istft(data, np.array([1.0, 2.0]), one(5), one(3), center=False, normalized=False)
    assert np.ma.getmaskarray(array).tolist() == [True, *[False, False, True] * 3, True]
    existing = ~np.ma.getmaskarray(array)
    np.testing.assert_allclose(np.ma.getdata(array)[existing], signal[existing], atol=1e-12)


def test_contradicting_frames_are_masked() -> None:
    data = np.stack([frames_of(RANDOM.normal(size=8), WINDOW, 2)] * 2)
    data[1, 0, 1, 0] += 0.1
    array = istft(data, WINDOW, one(4), one(2), one(9), center=False, normalized=False)
    assert np.ma.getmaskarray(array).tolist() == [[False] * 9, [True] * 8 + [False]]
    data[0, 0, 0, 1] = 1  # a sum of real numbers is real
    assert np.ma.getmaskarray(istft(data, WINDOW, one(4), one(2), center=False, normalized=False)).all()
    unknown = np.where(data == data[0, 0, 0, 0], np.nan, data)
    assert np.ma.getmaskarray(istft(unknown, WINDOW, one(4), one(2), center=False, normalized=False)).all()


def test_istft_without_frames() -> None:
    none = np.zeros((3, 0, 2))
    array = istft(none, WINDOW, one(4), one(2), one(3), center=False, normalized=False)
    assert np.ma.getmaskarray(array).tolist() == [True, True, False]
    with pytest.raises(InputError, match="length"):
        istft(none, WINDOW, one(4), one(5), center=False, normalized=False)


@pytest.mark.parametrize(
    ("shape", "window", "size", "step"),
    [((2, 3, 2), 4, 4, 1), ((3, 3, 2), 5, 4, 1), ((3, 3, 2), 4, 4, 0), ((3, 3, 1), 4, 4, 1), ((3, 2), 4, 4, 1)],
)
def test_mismatched_arguments_are_rejected(shape: tuple[int, ...], window: int, size: int, step: int) -> None:
    with pytest.raises(InputError):
        istft(np.zeros(shape), np.ones(window), one(size), one(step), center=False, normalized=False)
