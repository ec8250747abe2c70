"""Gradient kernels against finite differences of their functions."""

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.normalization import (
    batch_normalization_gradient,
    batch_normalization_training,
    local_response_normalization,
    local_response_normalization_gradient,
    normalize_by,
)
from specgate.execution.kernels.pool import (
    average_pool,
    average_pool_gradient,
    max_pool,
    max_pool_gradient,
    max_unpooling,
)
from specgate.execution.kernels.resize import resample, resample_gradient
from specgate.execution.kernels.roi_align import roi_align_by_samples, roi_align_gradient
from specgate.execution.kernels.slice import slice_gradient, slice_window

RANDOM = np.random.default_rng(7)
WINDOW: dict[str, Any] = {"strides": [2, 1], "window": [3, 2], "start_padding": [1, 0], "end_padding": [1, 1]}


def numbers(*shape):
    return RANDOM.integers(-64, 65, shape) / 16


def differences(function, at, incoming, by=1e-5):
    """Return the gradient of sum(incoming * function) with respect to `at`."""
    array = np.zeros(at.shape)
    for place in np.ndindex(at.shape):
        step = np.zeros(at.shape)
        step[place] = by
        array[place] = ((function(at + step) - function(at - step)) * incoming).sum() / (2 * by)
    return array


def test_batch_normalization():
    x, g = numbers(3, 2, 4), numbers(3, 2, 4)
    mean, variance, scale, bias = numbers(1, 2, 1), np.abs(numbers(1, 2, 1)) + 1, numbers(1, 2, 1), numbers(1, 2, 1)
    arrays = batch_normalization_gradient(x, g, mean, variance, scale, epsilon=0.5, own=False)
    parts = [
        differences(lambda at: normalize_by(at, mean, variance, scale, bias, epsilon=0.5), x, g),
        differences(lambda at: normalize_by(x, mean, variance, at, bias, epsilon=0.5), scale, g),
        differences(lambda at: normalize_by(x, mean, variance, scale, at, epsilon=0.5), bias, g),
    ]
    for ours, theirs in zip(arrays, parts, strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_batch_normalization_by_batch_statistics():
    x, g, scale, bias = numbers(3, 2, 4), numbers(3, 2, 4), numbers(1, 2, 1), numbers(1, 2, 1)
    _, mean, variance = batch_normalization_training(x, scale, bias, epsilon=0.5)
    array = batch_normalization_gradient(x, g, mean, variance, scale, epsilon=0.5, own=True)[0]
    expected = differences(lambda at: batch_normalization_training(at, scale, bias, epsilon=0.5)[0], x, g)
    np.testing.assert_allclose(array, expected, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_lrn_gradient(size):
    x, g = numbers(1, 5, 2, 3), numbers(1, 5, 2, 3)
    options: dict[str, Any] = {"axes": [1], "size": size, "alpha": 0.5, "beta": 0.75, "bias": 2.0}
    expected = differences(lambda at: local_response_normalization(at, **options), x, g)
    np.testing.assert_allclose(local_response_normalization_gradient(x, g, **options), expected, atol=1e-6)


def test_even_lrn_size_includes_one_more_following_channel():
    x = np.array([1.0, 2, 3, 4]).reshape(1, 4, 1, 1)
    array = local_response_normalization(x, axes=[1], size=2, alpha=2.0, beta=-1.0, bias=0.0)
    assert array.ravel().tolist() == [5, 26, 75, 64]


@pytest.mark.parametrize("include", [True, False])
def test_pooling(include):
    x = numbers(1, 2, 5, 4)
    g = numbers(*average_pool(x, **WINDOW, include_padding=include).shape)
    expected = differences(lambda at: average_pool(at, **WINDOW, include_padding=include), x, g)
    result = average_pool_gradient(g, sizes=x.shape, **WINDOW, include_padding=include)
    np.testing.assert_allclose(result, expected, atol=1e-6)
    separate = RANDOM.permutation(x.size).reshape(x.shape).astype(float)  # no two are equal
    options: dict[str, Any] = {**WINDOW, "dilations": [1, 2]}
    g = numbers(*max_pool(separate, **options)[0].shape)
    expected = differences(lambda at: max_pool(at, **options)[0], separate, g)
    np.testing.assert_allclose(max_pool_gradient(separate, g, **options), expected, atol=1e-6)


def windows(random: np.random.Generator, size: int) -> tuple[int, int, int, int, int]:
    """Return stride, window, start padding, end padding and number of windows.

    At least one window fits.
    """
    stride, window = random.integers(1, [4, 5]).tolist()
    start, end = random.integers(0, 4, 2).tolist()
    end += max(0, window - size - start - end)
    return stride, window, start, end, (size + start + end - window) // stride + 1


@pytest.mark.parametrize("include", [True, False])
def test_average_pool_gradient_matches_plain_loops(include):
    """Windows in the padding overlap at the first element, also with stride 1."""
    random = np.random.default_rng(3)
    for _ in range(60):
        sizes = random.integers(1, 6, 2).tolist()
        drawn = [windows(random, size) for size in sizes]
        (s0, w0, a0, _, n0), (s1, w1, a1, _, n1) = drawn
        gradient = random.integers(-16, 17, (1, 1, n0, n1)).astype(np.float64)
        expected = np.zeros((1, 1, *sizes))
        for i, j in np.ndindex(n0, n1):
            rows = [r for r in range(i * s0 - a0, i * s0 - a0 + w0) if 0 <= r < sizes[0]]
            columns = [c for c in range(j * s1 - a1, j * s1 - a1 + w1) if 0 <= c < sizes[1]]
            for r in rows:
                for c in columns:
                    expected[0, 0, r, c] += gradient[0, 0, i, j] / (w0 * w1 if include else len(rows) * len(columns))
        strides, window, start, end, _ = map(list, zip(*drawn, strict=True))
        result = average_pool_gradient(
            gradient, sizes=[1, 1, *sizes], strides=strides, window=window, start_padding=start, end_padding=end,
            include_padding=include,
        )  # fmt: skip
        np.testing.assert_allclose(result, expected, atol=1e-9)


def test_max_pool_gradient_matches_plain_loops():
    random = np.random.default_rng(4)
    for _ in range(60):
        sizes = random.integers(1, 6, 2).tolist()
        drawn = [windows(random, size) for size in sizes]
        (s0, w0, a0, _, n0), (s1, w1, a1, _, n1) = drawn
        inputs = random.permutation(sizes[0] * sizes[1]).reshape(1, 1, *sizes).astype(np.float64)
        gradient = random.integers(-16, 17, (1, 1, n0, n1)).astype(np.float64)
        expected = np.zeros(inputs.shape)
        for i, j in np.ndindex(n0, n1):
            rows = [r for r in range(i * s0 - a0, i * s0 - a0 + w0) if 0 <= r < sizes[0]]
            columns = [c for c in range(j * s1 - a1, j * s1 - a1 + w1) if 0 <= c < sizes[1]]
            places = [(inputs[0, 0, r, c], r, c) for r in rows for c in columns]
            if places:
                expected[(0, 0, *max(places)[1:])] += gradient[0, 0, i, j]
        strides, window, start, end, _ = map(list, zip(*drawn, strict=True))
        array = max_pool_gradient(
            inputs, gradient, strides=strides, window=window, start_padding=start, end_padding=end, dilations=[1, 1]
        )
        np.testing.assert_allclose(array, expected, atol=1e-9)


@pytest.mark.parametrize("higher", [True, False])
def test_nearest_gradient_uses_the_elements_of_the_forward_pass(higher):
    random = np.random.default_rng(5)
    for _ in range(60):
        size, count = random.integers(1, 8, 2).tolist()
        options: dict[str, Any] = {"scales": [random.choice([0.5, 1, 1.5, 2, 4])], "linear": False, "higher": higher}
        options |= {"input_offsets": [random.choice([0, 0.5])], "output_offsets": [random.choice([0, -0.5])]}
        gradient = random.integers(-16, 17, count).astype(np.float64)
        expected = np.zeros(size)
        for place, source in enumerate(resample(np.arange(size, dtype=np.float64), sizes=[count], **options)):
            expected[int(source)] += gradient[place]
        np.testing.assert_array_equal(resample_gradient(gradient, sizes=[size], **options), expected)


def test_windows_in_the_padding_add_no_gradient():
    x = np.ones((1, 1, 1, 1))
    options: dict[str, Any] = {"strides": [1, 1], "window": [1, 1]}
    array = max_pool_gradient(
        x, np.arange(9.0).reshape(1, 1, 3, 3), **options, start_padding=[1, 1], end_padding=[1, 1], dilations=[1, 1]
    )
    assert array.tolist() == [[[[4]]]]


def test_unpooling():
    indices = np.array([[[[0, 5], [5, 99]]]], np.uint32)
    array = max_unpooling(np.array([[[[1.0, 2], [3, 4]]]]), indices, sizes=[1, 1, 2, 3])
    assert array[0, 0].tolist() == [[1, 0, 0], [0, 0, None]]  # two names: either one


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("upwards", [None, True, False])
def test_resampling(linear, upwards):
    x, g = numbers(4, 5), numbers(6, 3)
    options: dict[str, Any] = {"scales": [1.5, 0.6], "linear": linear, "upwards": upwards}
    options |= {"input_offsets": [0.5, 0.25], "output_offsets": [-0.5, 0.0]}
    forward = (resample(x, sizes=g.shape, **options) * g).sum()
    restored = (resample_gradient(g, sizes=x.shape, **options) * x).sum()
    assert forward == pytest.approx(restored)


@pytest.mark.parametrize("steps", [(2, 1), (-2, -1), (3, 2)])
def test_slices(steps):
    x, g = numbers(6, 5), numbers(2, 2)
    options: dict[str, Any] = {"offsets": [1, 0], "sizes": [4, 4], "steps": steps}
    forward = (slice_window(x, **options, counts=g.shape) * g).sum()
    assert forward == (slice_gradient(g, shape=x.shape, **options) * x).sum()
    with pytest.raises(InputError):
        slice_gradient(numbers(2, 5), shape=x.shape, **options)


@pytest.mark.slow
@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("to_corners", [True, False])
def test_crops(linear, largest, to_corners):
    """The gradient with respect to the maps; distinct points keep the maximum unique."""
    maps = RANDOM.permutation(2 * 2 * 4 * 6).reshape(2, 2, 4, 6) - 40.5
    regions = np.array([[0.3, 0.2, 5.1, 3.3], [4.2, 3.1, 1.3, 0.4], [-3.0, -2.0, 2.1, 1.2]])
    batches, g = np.array([1, 0, 1], np.uint32), numbers(3, 2, 2, 3)
    options: dict[str, Any] = {
        "linear": linear,
        "largest": largest,
        "scale_y": 1.0,
        "scale_x": 1.0,
        "min_samples": 1,
        "max_samples": 2,
    }
    options |= {"before": 0.5, "behind": -0.5, "to_corners": to_corners}

    def forward(at):
        return roi_align_by_samples(at, regions, batches, height=2, width=3, outside=0.0, **options)

    result, _ = roi_align_gradient(g, regions, batches, maps, sizes=maps.shape, **options)
    np.testing.assert_allclose(result, differences(forward, maps, g), atol=1e-5)


def test_float16_lrn_gradient_matches_a_build():
    """DirectML 6.4 on a device that rounds FLOAT16 toward zero."""
    x, g = (np.array([[[row]]], np.float16) for row in ([0.5, -1.25, 2, 0.75, 3], [1, 2, -3, 0.5, 30]))
    options: Any = {"axes": [2, 3], "size": 3, "alpha": 0.0001, "beta": 0.75, "bias": 0.0, "by_logarithm": True}
    built = np.array([1354, 406.25, 724, -3646, -5232])
    stepwise = local_response_normalization_gradient(x, g, **options, stepwise=True, toward_zero=True).ravel()
    np.testing.assert_allclose(stepwise, built, rtol=2**-10)
    assert np.abs(local_response_normalization_gradient(x, g, **options).ravel() - built).max() == 12
