"""Convolution against nested loops, in all modes; values computed by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.conv import convolution


def run(inputs, filters, bias=None, **changes):
    rank = inputs.ndim - 2
    plain = {
        "transposed": False, "flipped": False, "strides": [1] * rank, "dilations": [1] * rank,
        "start_padding": [0] * rank, "end_padding": [0] * rank, "output_padding": [0] * rank, "groups": 1,
    }  # fmt: skip
    return convolution(inputs, filters, bias, **{**plain, **changes})


def by_loops(inputs, filters, strides, dilations, start, end, groups, *, transposed):
    """Every product of an input and a filter element, added at its output position."""
    window = filters.shape[2:]
    batch, sizes = inputs.shape[0], inputs.shape[2:]
    spans = [(w - 1) * d + 1 for w, d in zip(window, dilations, strict=True)]
    each = list(zip(sizes, spans, strides, start, end, strict=True))
    if transposed:
        out = [(n - 1) * s + span - a - b for n, span, s, a, b in each]
        channels = filters.shape[1] * groups
    else:
        out = [(n + a + b - span) // s + 1 for n, span, s, a, b in each]
        channels = filters.shape[0]
    result = np.zeros((batch, channels, *out))
    few, many = (sizes, out) if transposed else (out, sizes)
    for n, first, second in product(range(batch), range(filters.shape[0]), range(filters.shape[1])):
        group = first // (filters.shape[0] // groups)
        other = group * filters.shape[1] + second
        for tap in np.ndindex(*window):
            for at in np.ndindex(*few):
                place = tuple(
                    i * s + k * d - a for i, s, k, d, a in zip(at, strides, tap, dilations, start, strict=True)
                )
                if all(0 <= p < size for p, size in zip(place, many, strict=True)):
                    weight = float(filters[(first, second, *tap)])
                    if transposed:
                        result[(n, other, *place)] += weight * float(inputs[(n, first, *at)])
                    else:
                        result[(n, first, *at)] += weight * float(inputs[(n, other, *place)])
    return result


CASES = [
    ((7,), (3,), [2], [1], [1], [1], 1),
    ((5, 6), (3, 2), [1, 1], [1, 1], [0, 0], [0, 0], 1),
    ((5, 6), (3, 2), [2, 3], [1, 2], [1, 0], [0, 2], 2),
    ((4, 3, 5), (2, 2, 3), [1, 2, 1], [1, 1, 2], [1, 0, 1], [0, 1, 1], 2),
    ((3, 3), (3, 3), [1, 1], [1, 1], [4, 1], [1, 4], 1),
]


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("sizes", "window", "strides", "dilations", "start", "end", "groups"), CASES)
def test_convolution_matches_plain_loops(sizes, window, strides, dilations, start, end, groups, transposed):
    rng = np.random.default_rng(len(sizes) + groups)
    inputs = rng.integers(-4, 5, (2, 2 * groups, *sizes)).astype(np.float32)
    shape = (2 * groups, 3) if transposed else (3 * groups, 2)
    filters = rng.integers(-4, 5, (*shape, *window)).astype(np.float32)
    if transposed:  # padding crops here, so fewer positions fit
        start = [min(1, n) for n in start]
    expected = by_loops(inputs, filters, strides, dilations, start, end, groups, transposed=transposed)
    if min(expected.shape) < 1:
        pytest.skip("nothing is left")
    arguments = {"strides": strides, "dilations": dilations, "start_padding": start, "end_padding": end}
    outputs = run(inputs, filters, transposed=transposed, groups=groups, **arguments)
    assert np.array_equal(outputs, expected)
    turned = np.flip(filters, tuple(range(2, filters.ndim))).copy()
    assert np.array_equal(
        run(inputs, turned, transposed=transposed, groups=groups, flipped=True, **arguments), expected
    )


def test_output_padding_gets_the_activation_but_not_the_bias():
    array = np.ones((1, 1, 2), np.float32)
    outputs = run(
        array, array[:, :, :1], np.full((1, 1, 1), 5, np.float32), output_padding=[2], activation=lambda x: x + 1
    )
    assert outputs.tolist() == [[[7, 7, 1, 1]]]


def test_padding_multiplies_the_filter_by_zero():
    inputs = np.ones((2, 1, 3), np.float32)
    filters = np.array([[[np.inf, 1]], [[1, 2]]], np.float32)
    outputs = run(inputs, filters, start_padding=[1], end_padding=[1])
    assert np.array_equal(outputs[0], np.array([[np.nan, np.inf, np.inf, np.inf], [2, 3, 3, 1]]), equal_nan=True)
    assert np.array_equal(outputs[1], outputs[0], equal_nan=True)


def test_gaps_of_a_transposed_stride_are_zeros():
    inputs = np.full((1, 2, 2), -1, np.float32)
    filters = np.array([[[1, np.inf], [3, 4]], [[1, 1], [np.nan, 1]]], np.float32)
    outputs = run(inputs[:, :1], filters[:1], transposed=True, strides=[2], sizes=[1, 2, 4])
    assert np.array_equal(outputs[0], np.array([[np.nan, -np.inf, np.nan, -np.inf], [-3, -4, -3, -4]]), equal_nan=True)
    grouped = run(inputs, filters, transposed=True, strides=[2], sizes=[1, 4, 4], groups=2)
    assert np.array_equal(grouped[0, :3], np.vstack([outputs[0], [[-1, -1, -1, -1]]]), equal_nan=True)
    assert np.isnan(grouped[0, 3]).all()


def test_float16_results_are_rounded_once():
    outputs = run(
        np.full((1, 1, 3), 2048, np.float16), np.array([[[1, 1, 1]]], np.float16), np.ones((1, 1, 1), np.float16)
    )
    assert outputs.tolist() == [[[6144]]]  # 6145
    assert outputs.dtype == np.float16


@pytest.mark.parametrize(
    ("filters", "changes"),
    [
        ((2, 3, 2, 2), {}),  # channels
        ((3, 2, 2, 2), {"groups": 2}),  # 3 do not divide by 2
        ((2, 2, 2), {}),
        ((2, 2, 9, 2), {}),  # nothing left
        ((2, 2, 2, 2), {"strides": [0, 1]}),
        ((2, 2, 2, 2), {"strides": [1]}),
        ((2, 2, 2, 2), {"groups": 0}),
        ((2, 2, 2, 2), {"bias": np.zeros((1, 3, 1, 1), np.float32)}),
        ((2, 2, 2, 2), {"bias": np.zeros((1, 2, 1, 1), np.float16)}),
    ],
)
def test_invalid_arguments_are_rejected(filters, changes):
    bias = changes.pop("bias", None)
    with pytest.raises(InputError, match="convolution"):
        run(np.zeros((1, 2, 4, 4), np.float32), np.zeros(filters, np.float32), bias, **changes)


def test_a_huge_output_is_rejected():
    with pytest.raises(InputError, match="limit"):
        run(np.zeros((1, 1, 4), np.float32), np.zeros((1, 1, 1), np.float32), end_padding=[2**31])


@pytest.mark.parametrize(
    ("following", "more", "expected"),
    [
        (1, 0, [2, 13, 20, 130, 200]),  # the size that follows from EndPadding
        (0, 0, [2, 13, 20, 130, 200, 300]),
        (1, 1, [2, 13, 20, 130, 200, 300]),  # a larger output, whatever EndPadding is
        (1, 2, [2, 13, 20, 130, 200, 300, 0]),
        (1, -1, [2, 13, 20, 130]),
    ],
)
def test_output_size_crops_or_extends_a_transposed_convolution(following, more, expected):
    """The values are those of DirectML 6.4."""
    size = 7 - 1 - following + more
    result = convolution(
        np.array([1, 10, 100], np.float32).reshape(1, 1, 3), np.array([1, 2, 3], np.float32).reshape(1, 1, 3),
        transposed=True, flipped=False, strides=[2], dilations=[1], start_padding=[1], end_padding=[following],
        output_padding=[0], groups=1, sizes=(1, 1, size),
    )  # fmt: skip
    assert result.ravel().tolist() == expected


@pytest.mark.parametrize("following", [2, 3])
def test_transposed_output_beyond_all_results_is_zeros(following):
    """Output padding that is not smaller than the output leaves no result."""
    inputs, filters = np.ones((1, 2, 3), np.float32), np.ones((2, 1, 2), np.float32)
    changes = {"transposed": True, "output_padding": [following], "sizes": [1, 1, 2]}
    outputs = run(inputs, filters, np.ones((1, 1, 1), np.float32), **changes)
    assert outputs.tolist() == [[[0, 0]]]
    assert run(inputs, filters, **changes, activation=lambda x: x + 5).tolist() == [[[5, 5]]]
