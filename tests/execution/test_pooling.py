"""Pooling against loops over every window, with padding and dilation."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.pool import average_pool, lp_pool, max_pool, max_pool_values

CASES = [
    ((5, 6), [3, 2], [1, 1], [0, 0], [0, 0], None),
    ((5, 6), [3, 2], [2, 3], [1, 0], [0, 1], None),
    ((4, 5, 6), [2, 3, 2], [1, 2, 3], [1, 0, 1], [1, 1, 0], [2, 1, 3]),
    ((7, 6), [3, 2], [2, 1], [1, 2], [1, 0], [2, 3]),
    ((3, 3), [2, 2], [1, 1], [3, 0], [0, 3], None),
]


def windows(array, window, strides, start, end, dilations):
    """Yield per output element the coordinates of `array` under its window."""
    steps = dilations or [1] * len(window)
    sizes = array.shape[2:]
    each = zip(sizes, window, strides, start, end, steps, strict=True)
    counts = [(n + a + b - d * (w - 1) - 1) // s + 1 for n, w, s, a, b, d in each]
    for at in product(range(array.shape[0]), range(array.shape[1]), *map(range, counts)):
        places = [
            [i * s - a + k * d for k in range(w) if 0 <= i * s - a + k * d < n]
            for i, n, w, s, a, d in zip(at[2:], sizes, window, strides, start, steps, strict=True)
        ]
        yield at, [(at[0], at[1], *place) for place in product(*places)]


def options(window, strides, start, end, dilations):
    return {"window": window, "strides": strides, "start_padding": start, "end_padding": end, "dilations": dilations}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_average(case):
    sizes, window, strides, start, end, dilations = case
    array = np.random.default_rng(1).integers(-9, 10, (2, 3, *sizes)).astype(np.float32)
    every = average_pool(array, include_padding=True, **options(*case[1:]))
    alone = average_pool(array, include_padding=False, **options(*case[1:]))
    for at, places in windows(array, window, strides, start, end, dilations):
        total = sum(float(array[place]) for place in places)
        assert every[at] == np.float32(total / np.prod(window)), at
        assert alone[at] == np.float32(total / len(places)) if places else np.isnan(alone[at]), at


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_norm(case, p):
    sizes, window, strides, start, end, dilations = case
    array = np.random.default_rng(2).integers(-9, 10, (1, 2, *sizes)).astype(np.float32)
    result = lp_pool(array, p=p, **options(*case[1:]))
    for at, places in windows(array, window, strides, start, end, dilations):
        exact = sum(abs(float(array[place])) ** p for place in places) ** (1 / p)
        assert result[at] == pytest.approx(exact, rel=1e-6), at


@pytest.mark.parametrize("dtype", ["f4", "f2", "i1", "u8"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_max_pool_returns_the_first_index_of_the_maximum(case, dtype):
    sizes, window, strides, start, end, dilations = case
    array = np.random.default_rng(3).integers(0, 5, (2, 3, *sizes)).astype(dtype)
    values, places = max_pool(array, index_type=np.dtype(np.uint32), **options(*case[1:]))
    assert values.dtype == array.dtype
    assert places.dtype == np.uint32
    lowest = np.finfo(dtype).min if array.dtype.kind == "f" else np.iinfo(dtype).min
    for at, under in windows(array, window, strides, start, end, dilations):
        if not under:
            assert (values[at], places[at]) == (lowest, 0)
            continue
        best = max(under, key=lambda place: array[place])  # the first of equals
        assert values[at] == array[best], at
        assert places[at] == np.ravel_multi_index(best, array.shape), at


def test_documented_gradient_example():
    array = np.array([[[[1, 2, 3], [2, 4, 2], [5, 6, 7]]]], np.float32)
    plain = options([2, 2], [1, 1], [0, 0], [0, 0], None)
    values, places = max_pool(array, **plain)
    assert values.tolist() == [[[[4, 4], [6, 7]]]]
    assert places.tolist() == [[[[4, 4], [7, 8]]]]
    del plain["dilations"]
    assert max_pool_values(array, **plain).tolist() == values.tolist()


def test_max_pool_ignores_minus_infinity_and_nan():
    array = np.array([[[np.nan, -np.inf, 3, np.nan, -np.inf]]], np.float32)
    values, places = max_pool(array, **options([2], [1], [0], [0], None))
    lowest = np.finfo(np.float32).min
    assert values.tolist() == [[[lowest, 3, 3, lowest]]]
    assert places.tolist() == [[[0, 2, 2, 3]]]


def test_zero_dilation_counts_an_element_repeatedly():
    array = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    same = options([3], [1], [1], [0], [0])
    assert average_pool(array, include_padding=True, **same).tolist() == [[[0, 0, 1, 2, 3]]]
    assert lp_pool(array, p=1, **same).tolist() == [[[0, 0, 3, 6, 9]]]


def test_float16_sums_are_wide():
    array = np.full((1, 1, 3), 60000, np.float16)
    assert average_pool(array, include_padding=True, **options([3], [1], [0], [0], None)).tolist() == [[[60000]]]


@pytest.mark.parametrize(
    "changes",
    [
        {"window": [5]}, {"strides": [0]}, {"strides": [1, 1]}, {"window": [2, 2]}, {"start_padding": [-1]},
        {"end_padding": [2**40]}, {"dilations": [4]},
    ],
)  # fmt: skip
def test_invalid_arguments_are_rejected(changes):
    plain = options([2], [1], [0], [0], [1])
    with pytest.raises(InputError, match="pooling"):
        max_pool(np.zeros((1, 1, 4), np.float32), **{**plain, **changes})


def test_huge_paddings_are_cheap_or_rejected():
    array = np.ones((1, 1, 4), np.float32)
    few = options([2**31], [2**31], [2**31], [2**31 - 4], None)
    assert average_pool(array, include_padding=False, **few).shape == (1, 1, 2)
    with pytest.raises(InputError, match="limit"):
        average_pool(array, include_padding=False, **options([1], [1], [2**31], [0], None))
