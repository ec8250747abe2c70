"""Filters that slide over data with paddings in two lists, and products of transposed matrices."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.gemm import matrix_product
from specgate.execution.kernels.sliding_filters import slide_filters

LINE = {"strides": [1], "dilations": [1], "begins": [0], "ends": [0]}


def _line(*numbers, dtype=np.float32):
    return np.array([[numbers]], dtype)


def test_paddings_at_both_ends() -> None:
    found = slide_filters(_line(1, 2, 3), _line(1, 10), **LINE | {"begins": [1], "ends": [2]})
    assert found.tolist() == [[[10, 21, 32, 3, 0]]]


@pytest.mark.parametrize(("auto_pad", "expected"), [
    ("same_upper", [21, 32, 3]), ("same_lower", [10, 21, 32]), ("valid", [21, 32]),
])  # fmt: skip
def test_paddings_without_effect(auto_pad, expected) -> None:
    found = slide_filters(_line(1, 2, 3), _line(1, 10), **LINE | {"begins": [7], "ends": []}, auto_pad=auto_pad)
    assert found.tolist() == [[expected]]


def test_groups_have_filters_of_their_own() -> None:
    data = np.array([[[1, 2], [3, 4]]], np.float32)
    filters = np.array([[[[2]], [[3]]], [[[5]], [[7]]]], np.float32)
    found = slide_filters(data, filters, **LINE, grouped=True)
    assert found.tolist() == [[[2, 4], [3, 6], [15, 20], [21, 28]]]


def test_no_groups_give_no_channels() -> None:
    data, filters = np.ones((2, 0, 3), np.float32), np.ones((0, 4, 5, 2), np.float32)
    assert slide_filters(data, filters, **LINE, grouped=True).shape == (2, 0, 2)


def test_all_elements_meet_one_place() -> None:
    assert slide_filters(_line(1, 2, 3), _line(1, 10), **LINE | {"dilations": [0]}).tolist() == [[[11, 22, 33]]]
    with pytest.raises(InputError, match="dilations from 1 on"):
        slide_filters(_line(1, 2, 3), _line(1, 10), **LINE | {"dilations": [0]}, least_dilation=1)


def test_integers_wrap_around() -> None:
    found = slide_filters(_line(100, 100, dtype=np.int8), _line(1, 1, dtype=np.int8), **LINE)
    assert found.dtype == np.int8
    assert found.tolist() == [[[-56]]]
    large = 2**62 + 1
    exact = slide_filters(_line(large, 1, dtype=np.int64), _line(1, 1, dtype=np.int64), **LINE)
    assert exact.tolist() == [[[large + 1]]]


def test_windows_over_padding_alone() -> None:
    data, filters = np.ones((1, 1, 0), np.int32), np.ones((1, 1, 2), np.int32)
    assert slide_filters(data, filters, **LINE | {"begins": [1], "ends": [1]}).tolist() == [[[0]]]


@pytest.mark.parametrize("changed", [
    {"auto_pad": "SAME"}, {"begins": [1, 1]}, {"ends": [-1]}, {"strides": [0]}, {"dilations": [-1]}, {"grouped": True},
])  # fmt: skip
def test_refusals(changed) -> None:
    with pytest.raises(InputError):
        slide_filters(_line(1, 2, 3), _line(1, 10), **LINE | changed)


def test_transposed_matrices() -> None:
    a, b = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[1, 0, -1], [2, 1, 0]])
    assert matrix_product(a, b, transpose_a=True, transpose_b=True).tolist() == [[-4, 5], [-4, 8]]
    assert matrix_product(a[:, 0], a, transpose_a=True).tolist() == [35, 44]
    with pytest.raises(InputError, match=r"\[2, 3\] and \[2, 3\]"):
        matrix_product(a, b, transpose_a=True)
