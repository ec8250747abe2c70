"""Fast kernels for large arrays equal the plain definition, bitwise where stated."""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.execution.kernels import arithmetic, conv, roi_align, window_products
from specgate.execution.kernels.activation import elu, gelu, leaky_relu, relu, sigmoid, swish
from specgate.execution.kernels.adaptive_pool import is_sequential_equal
from specgate.execution.kernels.arithmetic import choose_elements, to_half
from specgate.execution.kernels.conv import convolve
from specgate.execution.kernels.elementwise import cosh, erf, exp, tanh
from specgate.execution.kernels.nms import Limits, OverlapFunction, select_with_suppression, to_corners
from specgate.execution.kernels.normalization import batch_normalization, layer_normalization, lrn
from specgate.execution.kernels.pool import average_pool, max_pool, max_pool_values
from specgate.execution.kernels.reduce import cumulative
from specgate.execution.kernels.softmax import log_softmax_along, softmax_along
from specgate.execution.kernels.sort import top_k

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -3e38, 3e38], np.float32)
RANDOM = np.random.default_rng(7)
MANY = np.concatenate([SPECIAL, RANDOM.normal(size=20_001).astype(np.float32) * 3])


def same_bits(array: NDArray[Any], expected: NDArray[Any]) -> None:
    np.testing.assert_array_equal(array, expected)
    np.testing.assert_array_equal(np.signbit(array), np.signbit(expected))


def test_blocked_functions_are_bit_identical() -> None:
    with np.errstate(all="ignore"):
        same_bits(cosh(MANY), np.cosh(MANY.astype(np.float64)).astype(np.float32))


erfc: Any = np.frompyfunc(math.erfc, 1, 1)


@pytest.mark.parametrize(
    ("kernel", "exact", "near"),
    [
        (exp, np.exp, 2.2e-7),
        (tanh, np.tanh, 1e-7),
        (sigmoid, lambda x: 1 / (1 + np.exp(-x)), 1.5e-7),
        (erf, lambda x: 1 - erfc(x).astype(np.float64), 1.5e-7),
        (gelu, lambda x: x / 2 * erfc(-x * math.sqrt(0.5)).astype(np.float64), 1.5e-7),
    ],
)
def test_float32_functions_are_within_3e_7(kernel: Any, exact: Any, near: float) -> None:
    # from 2**-30 to 90, above which exp overflows and all functions are constant or linear
    sizes = np.arange(0x30800000, 0x42B40000, 499, dtype=np.uint32).view(np.float32)
    for data in (sizes, -sizes):
        with np.errstate(all="ignore"):
            expected, result = exact(data.astype(np.float64)), kernel(data)
        value = np.abs(expected) < 2.0**127
        away = np.abs(result - expected)[value] / np.maximum(1, np.abs(expected[value]))
        assert away.max() < near


@pytest.mark.parametrize("kernel", [exp, tanh, sigmoid, erf, gelu])
def test_float32_functions_match_limits_and_signs_of_float64(kernel: Any) -> None:
    data = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 3e38, -3e38, 1e19, -1e19, 100, -100], np.float32)
    with np.errstate(all="ignore"):
        result, expected = kernel(data), kernel(data.astype(np.float64)).astype(np.float32)
    tiny = float(np.finfo(np.float32).tiny)  # what is no normal number may be 0
    np.testing.assert_allclose(result, expected, rtol=0, atol=tiny)
    np.testing.assert_array_equal(np.signbit(result)[1:], np.signbit(expected)[1:])


@pytest.mark.parametrize(
    "kind", ["all exponents", "normal", "half of them 0", "small", "halfway", "one nan", "one large"]
)
def test_float16_rounding_matches_numpy(kind: str) -> None:
    normal = RANDOM.normal(size=70_001).astype(np.float32)
    codes = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    data = {
        "all exponents": RANDOM.integers(0, 2**32, 70_001, np.uint32, endpoint=False).view(np.float32),
        "normal": normal,
        "half of them 0": np.maximum(normal, np.float32(0)) * np.sign(np.roll(normal, 1)),
        "small": normal * np.float32(2.0**-15),
        "halfway": np.concatenate([s * (codes[1:] + codes[:-1]) / 2 for s in (np.float32(1), np.float32(-1))]),
        "one nan": np.concatenate([normal, SPECIAL[:1]]),
        "one large": np.concatenate([normal, np.array([65519.996], np.float32)]),
    }[kind]
    with np.errstate(all="ignore"):
        for result, whole in ((to_half(data), data), (to_half(data[::-3]), data[::-3])):
            np.testing.assert_array_equal(result.view(np.uint16), whole.astype(np.float16).view(np.uint16))


@pytest.mark.slow
def test_float16_rounding_matches_numpy_for_every_exponent() -> None:
    near = np.arange(0, 2**32, 2**13, dtype=np.int64)[:, None] + np.array([-1, 0, 1, 2**12 - 1, 2**12, 2**12 + 1])
    data = (near.reshape(-1) % 2**32).astype(np.uint32).view(np.float32)
    finite = data[np.abs(data) < 65520]
    with np.errstate(all="ignore"):
        for each in (data, finite):
            np.testing.assert_array_equal(to_half(each).view(np.uint16), each.astype(np.float16).view(np.uint16))


@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0, 2.0, -0.5, math.nan])
def test_leaky_relu_compares_with_0(alpha: float) -> None:
    single = np.float32(alpha)
    with np.errstate(all="ignore"):
        same_bits(np.nan_to_num(leaky_relu(MANY, alpha=alpha), nan=7),
                  np.nan_to_num(np.where(MANY >= 0, MANY, MANY * single), nan=7))  # fmt: skip


@pytest.mark.parametrize("value", [np.nan, -1.0, 2.0])
def test_relu_of_an_array_without_dimensions(value: float) -> None:
    expected = 0.0 if not value > 0 else value
    assert relu(np.array(value, np.float32)) == expected


def test_functions_of_an_array_without_dimensions() -> None:
    array = np.array(1.0, np.float32)
    expected = np.float32(1 / (1 + math.exp(-2)))
    assert swish(array, scale=2.0) == expected  # its product is a scalar of numpy
    assert erf(array) == pytest.approx(math.erf(1), abs=1.5e-7)
    assert gelu(array) == pytest.approx(0.8413447)
    assert elu(-array, alpha=1.0) == pytest.approx(math.exp(-1) - 1)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.uint8])
def test_top_k_of_long_sequences_matches_a_stable_sort(dtype: Any, largest: bool) -> None:
    data = RANDOM.integers(0, 200, (3, 4000, 2)).astype(dtype)
    values, places = top_k(data, axis=1, k=20, largest=largest)
    wide = data.astype(np.int64)
    order = np.argsort(-wide if largest else wide, axis=1, kind="stable")[:, :20]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(data, order, 1))


@pytest.mark.parametrize(("dtype", "multiply"), [(np.float32, False), (np.float16, False), (np.int8, True)])
def test_cumulative_sums_of_wide_slices_match_single_elements(dtype: Any, multiply: bool) -> None:
    data = RANDOM.normal(size=(2, 9, 5, 40)).astype(np.float32).astype(dtype)
    result = cumulative(data, axis=1, backwards=False, exclusive=False, multiply=multiply)
    for at in np.ndindex(2, 1, 5, 40):
        column = data[at[0], :, at[2], at[3]]
        np.testing.assert_array_equal(
            result[at[0], :, at[2], at[3]],
            cumulative(column, axis=0, backwards=False, exclusive=False, multiply=multiply),
        )


def _under(data: NDArray[Any], at: tuple[int, ...], slide: dict[str, Any]) -> list[tuple[int, int]]:
    """Return the indices of elements under a window of one plane."""
    rows = zip(at, slide["strides"], slide["window"], slide["start_padding"], slide["dilations"], strict=True)
    lists = [[a * s - p + k * d for k in range(w)] for a, s, w, p, d in rows]
    return [place for place in product(*lists) if all(0 <= n < m for n, m in zip(place, data.shape, strict=True))]


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize("dilations", [(1, 1), (2, 1), (0, 2)])
def test_sliced_max_pool_matches_a_search_per_window(dilations: tuple[int, int], special: bool) -> None:
    data = RANDOM.integers(0, 5, (1, 2, 11, 9)).astype(np.float32)
    data[data == 4] = SPECIAL[2] if special else 4  # -inf
    slide: dict[str, Any] = {
        "strides": (2, 3), "window": (3, 2), "start_padding": (2, 1), "end_padding": (1, 2), "dilations": dilations,
    }  # fmt: skip
    values, places = max_pool(data, **slide, finite=False)
    means = average_pool(data, **slide, include_padding=False)
    for at in np.ndindex(*values.shape):
        plane = data[at[:2]]
        under = _under(plane, at[2:], slide)
        if not under:
            assert (float(values[at]), int(places[at])) == (-math.inf, 0)
            continue
        best = max(plane[place] for place in under)
        first = next(place for place in under if plane[place] == best)
        assert values[at] == best
        assert places[at] == np.ravel_multi_index((*at[:2], *first), data.shape)
        assert means[at] == np.float32(np.mean([np.float64(plane[place]) for place in under]))
    if not special and dilations == (1, 1):
        del slide["dilations"]
        np.testing.assert_array_equal(max_pool_values(data, **slide)[values > -np.inf], values[values > -np.inf])


def test_sliced_max_pool_is_not_used_for_special_values() -> None:
    windows: list[Any] = []
    assert is_sequential_equal(np.ones((1, 1, 2), np.float32), windows, finite=False)
    assert not is_sequential_equal(np.array([[[0.0, -0.0]]], np.float32), windows, finite=False)
    assert not is_sequential_equal(np.array([[[0.0, np.inf]]], np.float32), windows, finite=True)
    values, places = max_pool(
        np.array([[[-0.0, 0.0, np.nan, 1.0]]], np.float32), strides=[2], window=[2], start_padding=[0],
        end_padding=[0], finite=False,
    )  # fmt: skip
    assert np.signbit(values[0, 0, 0])
    assert np.isnan(values[0, 0, 1])
    assert places.tolist() == [[[0, 2]]]


@pytest.mark.parametrize("block", [1, 64, 2**17])
@pytest.mark.parametrize(("groups", "channels", "outputs"), [(1, 3, 4), (2, 2, 6), (4, 1, 4), (3, 1, 6)])
@pytest.mark.parametrize(
    ("strides", "dilations", "pads"),
    [
        ((1, 1), (1, 1), (1, 1, 1, 1)),
        ((2, 1), (1, 2), (0, 2, 3, 1)),
        ((1, 1), (2, 1), (7, 0, 0, 5)),
        ((3, 2), (1, 1), (9, 9, 9, 9)),
    ],
)
def test_im2col_convolutions_sum_the_same_terms(
    monkeypatch: pytest.MonkeyPatch,
    block: int,
    groups: int,
    channels: int,
    outputs: int,
    strides: tuple[int, int],
    dilations: tuple[int, int],
    pads: tuple[int, ...],
) -> None:
    monkeypatch.setattr(window_products, "_PRODUCT_BLOCK", block)
    monkeypatch.setattr(window_products, "_MIN_WORK", 0)
    data = RANDOM.integers(-9, 9, (2, groups * channels, 9, 7)).astype(np.float32)
    data[0, 0, 4, 3], data[1, 0, 2, 2] = np.inf, np.nan
    filters = RANDOM.integers(-9, 9, (outputs, channels, 3, 2)).astype(np.float32)
    options: dict[str, Any] = {"strides": strides, "dilations": dilations, "pads": pads, "groups": groups}
    bias = np.arange(outputs, dtype=np.float32)
    result = convolve(data, filters, bias, **options)
    monkeypatch.setattr(conv, "multiply_windows", lambda *_: None)
    np.testing.assert_array_equal(result, convolve(data, filters, bias, **options))


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, np.int8, np.bool_, np.complex128])
def test_bitwise_where_matches_numpy_where(dtype: Any) -> None:
    item, other = (RANDOM.integers(0, 9, shape).astype(dtype) for shape in ((3, 1, 5), (4, 5)))
    condition = RANDOM.integers(0, 2, (3, 4, 1)).astype(bool)
    result = choose_elements(condition, item, other)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, np.where(condition, item, other))
    assert math.isnan(choose_elements(np.array(True), np.float32(np.nan), np.float32(1)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_blocked_normalization_is_bit_identical(monkeypatch: pytest.MonkeyPatch, axis: int) -> None:
    data = RANDOM.normal(size=(5, 7, 11)).astype(np.float32)
    data[2, 3, 4], data[4, 1, 2] = np.inf, np.nan
    scale, bias = RANDOM.normal(size=(2, *data.shape[axis:])).astype(np.float32)

    def both() -> list[NDArray[Any]]:
        layer = layer_normalization(data, scale, bias, axis=axis, epsilon=1e-5, statistics=np.dtype(np.float32))
        return [*layer, softmax_along(data, axis=axis)]

    whole = both()
    monkeypatch.setattr(arithmetic, "BLOCK", 13)
    for item, other in zip(both(), whole, strict=True):
        np.testing.assert_array_equal(item, other)


@pytest.mark.parametrize("middle", [0.5, 3e7, np.inf])
def test_batch_normalization_folds_into_scale_and_offset(middle: float) -> None:
    data = (RANDOM.normal(size=(2, 3, 4, 5)) + (middle if np.isfinite(middle) else 0)).astype(np.float32)
    data[0, 1, 2, 3] = np.inf
    numbers = [np.array(each, np.float32) for each in ([1, -2, 3], [0, 1, 2], [middle] * 3, [1e-3, 4, 9])]
    result = batch_normalization(data, *numbers, epsilon=1e-5, momentum=0.9, training=False)[0]
    factor, summand, mean, variance = (each.astype(np.float64).reshape(3, 1, 1) for each in numbers)
    with np.errstate(all="ignore"):
        plain = (data - mean) / np.sqrt(variance + np.float32(1e-5)) * factor + summand
        near = np.testing.assert_allclose
        near(result, plain.astype(np.float32), rtol=5e-7, atol=5e-7)  # of a tolerance of 2e-6


@pytest.mark.parametrize("epsilon", [1e-5, 0.0])
@pytest.mark.parametrize("size", [768, 3 * 4099])
def test_float32_normalization_is_within_2e_6(epsilon: float, size: int) -> None:
    normal = RANDOM.normal(size=size)
    ramp = np.linspace(-1, 1, size)
    rows = [normal, normal * 1e-18, normal * 1e-4 + 1, normal + 1e6, np.exp(normal * 3), normal * 1e19, normal * 1e37,
            ramp, np.sign(ramp), ramp * 1e-24, np.full(size, 7.0), np.where(ramp > 0.99, np.inf, 1), ramp * np.nan]  # fmt: skip
    data = np.array(rows, np.float32)
    scale, bias = RANDOM.normal(size=(2, size)).astype(np.float32)
    result = layer_normalization(data, scale, bias, axis=1, epsilon=epsilon, statistics=np.dtype(np.float32))
    wide = data.astype(np.float64)
    with np.errstate(all="ignore"):
        mean = wide.mean(axis=1, keepdims=True)
        inverse = 1 / np.sqrt(np.square(wide - mean).mean(axis=1, keepdims=True) + np.float32(epsilon))
        for item, exact in zip(result, ((wide - mean) * inverse * scale + bias, mean, inverse), strict=True):
            np.testing.assert_allclose(item, exact.astype(np.float32), rtol=1e-6, atol=1e-6)
            alone = layer_normalization(
                data[3:4], scale, bias, axis=1, epsilon=epsilon, statistics=np.dtype(np.float32)
            )
        np.testing.assert_array_equal(result[0][3:4], alone[0])


@pytest.mark.parametrize("shape", [(3, 40, 7), (2, 30, 500), (40,), (1, 1)])
def test_float32_softmax_is_within_1e_6(shape: tuple[int, ...]) -> None:
    data = (RANDOM.normal(size=shape) * 20).astype(np.float32)
    wide = data.astype(np.float64)
    for axis in range(len(shape)):
        exact = np.exp(wide - wide.max(axis=axis, keepdims=True))
        exact /= exact.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(softmax_along(data, axis=axis), exact, rtol=0, atol=4e-7)
        np.testing.assert_allclose(log_softmax_along(data, axis=axis), np.log(exact), rtol=4e-7, atol=4e-7)


@pytest.mark.parametrize(("beta", "bias"), [(0.75, 1.0), (0.5, 2.0), (1.0, 1e-3), (0.75, -1.0), (0.7, 1.0)])
@pytest.mark.parametrize("most", [1.0, 1e12, 1e25])
def test_float32_lrn_is_within_2e_6(beta: float, bias: float, most: float) -> None:
    data = (RANDOM.normal(size=(2, 7, 3, 11)) * most).astype(np.float32)
    data[0, 0, 0, 0] = 0
    result = lrn(data, [1], alpha=0.5, beta=beta, bias=bias, size=5)
    wide = data.astype(np.float64)
    padded = np.pad(np.square(wide), ((0, 0), (2, 2), (0, 0), (0, 0)))
    squares = sum(padded[:, at : at + 7] for at in range(5))
    with np.errstate(all="ignore"):
        exact = wide / (float(np.float32(bias)) + 0.1 * squares) ** float(np.float32(beta))
        np.testing.assert_allclose(result, exact.astype(np.float32), rtol=1e-6, atol=1e-6)


def test_blocked_nms_matches_sequential_selection() -> None:
    for number in range(60):
        count = int(RANDOM.integers(0, 250))
        boxes = to_corners(RANDOM.integers(0, 12, (count, 4)).astype(np.float32), centred=number % 3 == 0)
        if count:
            boxes[RANDOM.integers(0, count)] = np.nan
        scores = RANDOM.integers(0, 9, count).astype(np.float32)
        limits = Limits(int(RANDOM.integers(0, 90)), float(RANDOM.choice([0, 0.3, 0.5, np.nan])), 1.0)
        of_boxes = OverlapFunction(boxes, more=float(number % 2))
        with np.errstate(all="ignore"):
            array, kept = select_with_suppression(scores, limits, of_boxes)
            expected, others = select_with_suppression(scores, limits, of_boxes.__call__)  # without `apart`: one by one
        np.testing.assert_array_equal(array, expected)
        np.testing.assert_array_equal(kept, others)


def test_roi_align_matches_pointwise_interpolation(monkeypatch: pytest.MonkeyPatch) -> None:
    data = RANDOM.normal(size=(2, 3, 9, 13))
    places = RANDOM.uniform(-6, 20, (8, 4)).astype(np.float32)
    options: dict[str, Any] = {"height": 3, "width": 2, "samples": 0, "scale": 0.75}
    batches = np.arange(8) % 2
    array = roi_align.roi_align(data, places, batches, **options)

    def at_points(planes: Any, y: Any, x: Any) -> Any:
        return roi_align.sample_bilinear(planes, np.repeat(y, len(x)), np.tile(x, len(y)))

    def slow(planes: Any, y: Any, x: Any, grid: Any) -> Any:
        return at_points(planes, y, x).reshape(len(planes), *grid).mean((2, 4))

    monkeypatch.setattr(roi_align, "_means_on_lines", slow)
    expected = roi_align.roi_align(data, places, batches, **options)
    np.testing.assert_allclose(array, expected, rtol=0, atol=1e-14)
    endless = np.where(data > 2, np.inf, data)  # elements far away must not make nan
    with np.errstate(invalid="ignore"):
        quick = roi_align.roi_align(endless, places, batches, **options)
        monkeypatch.setattr(roi_align, "_interpolated_on_lines", at_points)
        one_by_one = roi_align.roi_align(endless, places, batches, **options)
    np.testing.assert_allclose(quick, one_by_one, rtol=0, atol=1e-14)
    assert np.isfinite(quick).any()
    assert not np.isfinite(quick).all()


def test_max_pool_values_match_max_pool_with_indices() -> None:
    data = RANDOM.integers(-3, 3, (2, 3, 8, 9)).astype(np.float32)
    data[0, 0, 0, 0], data[1, 1, 3, 3], data[0, 2] = np.nan, np.inf, -0.0
    slide: dict[str, Any] = {"strides": (2, 1), "window": (3, 2), "start_padding": (1, 1), "end_padding": (1, 0)}
    for finite in (False, True):
        same_bits(max_pool_values(data, **slide, finite=finite), max_pool(data, **slide, finite=finite)[0])
