"""Convolutions with two padding lists, and products of transposed matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.conv import group_convolution
from specgate.execution.kernels.matmul import matmul
from specgate.execution.kernels.pool import avg_pool, max_pool_with_index

LINE: dict[str, Any] = {"strides": [1], "dilations": [1], "begins": [0], "ends": [0]}


def _line(*numbers, dtype=np.float32):
    return np.array([[numbers]], dtype)


def test_paddings_at_both_ends() -> None:
    array = group_convolution(_line(1, 2, 3), _line(1, 10), **LINE | {"begins": [1], "ends": [2]})
    assert array.tolist() == [[[10, 21, 32, 3, 0]]]


@pytest.mark.parametrize(("auto_pad", "expected"), [
    ("same_upper", [21, 32, 3]), ("same_lower", [10, 21, 32]), ("valid", [21, 32]),
])  # fmt: skip
def test_paddings_without_effect(auto_pad, expected) -> None:
    result = group_convolution(_line(1, 2, 3), _line(1, 10), **LINE | {"begins": [7], "ends": []}, auto_pad=auto_pad)
    assert result.tolist() == [[expected]]


def test_each_group_has_separate_filters() -> None:
    data = np.array([[[1, 2], [3, 4]]], np.float32)
    filters = np.array([[[[2]], [[3]]], [[[5]], [[7]]]], np.float32)
    array = group_convolution(data, filters, **LINE, grouped=True)
    assert array.tolist() == [[[2, 4], [3, 6], [15, 20], [21, 28]]]


def test_zero_groups_give_zero_channels() -> None:
    data, filters = np.ones((2, 0, 3), np.float32), np.ones((0, 4, 5, 2), np.float32)
    assert group_convolution(data, filters, **LINE, grouped=True).shape == (2, 0, 2)


def test_zero_dilation_multiplies_a_single_element() -> None:
    assert group_convolution(_line(1, 2, 3), _line(1, 10), **LINE | {"dilations": [0]}).tolist() == [[[11, 22, 33]]]
    with pytest.raises(InputError, match="dilations from 1 on"):
        group_convolution(_line(1, 2, 3), _line(1, 10), **LINE | {"dilations": [0]}, least_dilation=1)


def test_integers_wrap_around() -> None:
    array = group_convolution(_line(100, 100, dtype=np.int8), _line(1, 1, dtype=np.int8), **LINE)
    assert array.dtype == np.int8
    assert array.tolist() == [[[-56]]]
    large = 2**62 + 1
    exact = group_convolution(_line(large, 1, dtype=np.int64), _line(1, 1, dtype=np.int64), **LINE)
    assert exact.tolist() == [[[large + 1]]]


def test_windows_over_padding_alone() -> None:
    data, filters = np.ones((1, 1, 0), np.int32), np.ones((1, 1, 2), np.int32)
    assert group_convolution(data, filters, **LINE | {"begins": [1], "ends": [1]}).tolist() == [[[0]]]


@pytest.mark.parametrize("changed", [
    {"auto_pad": "SAME"}, {"begins": [1, 1]}, {"ends": [-1]}, {"strides": [0]}, {"dilations": [-1]}, {"grouped": True},
])  # fmt: skip
def test_invalid_arguments_are_rejected(changed) -> None:
    with pytest.raises(InputError):
        group_convolution(_line(1, 2, 3), _line(1, 10), **LINE | changed)


def test_transposed_matrices() -> None:
    a, b = np.array([[1, 2], [3, 4], [5, 6]]), np.array([[1, 0, -1], [2, 1, 0]])
    assert matmul(a, b, transpose_a=True, transpose_b=True).tolist() == [[-4, 5], [-4, 8]]
    assert matmul(a[:, 0], a, transpose_a=True).tolist() == [35, 44]
    with pytest.raises(InputError, match=r"\[2, 3\] and \[2, 3\]"):
        matmul(a, b, transpose_a=True)


POOL: dict[str, Any] = {"window": [2], "strides": [2], "begins": [1], "ends": [1]}


@pytest.mark.parametrize(("rounding", "expected"), [("floor", [1, 5]), ("ceil", [1, 5, 4]), ("ceil_torch", [1, 5, 4])])
def test_rounding_of_the_window_count(rounding, expected) -> None:
    values, places = max_pool_with_index(_line(1, 5, 2, 4), **POOL | {"ends": [0]}, rounding=rounding)
    assert values.tolist() == [[expected]]
    assert places.tolist() == [[[0, 1, 3][: len(expected)]]]


def test_window_that_begins_after_the_input() -> None:
    assert max_pool_with_index(_line(1, 5, 2), **POOL, rounding="ceil")[0].tolist() == [[[1, 5, None]]]
    assert max_pool_with_index(_line(1, 5, 2), **POOL, rounding="ceil_torch")[0].tolist() == [[[1, 5]]]


def test_indices_relative_to_an_axis() -> None:
    data = np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    entries: dict[str, Any] = {"window": [2], "strides": [1], "begins": [0], "ends": [0]}
    assert max_pool_with_index(data, **entries)[1].tolist() == [[[1], [3]], [[5], [7]]]
    values, places = max_pool_with_index(data, **entries, axis=-1, int32_indices=True)
    assert places.tolist() == [[[1], [1]], [[1], [1]]]
    assert places.dtype == np.int32
    assert values.tolist() == [[[1], [3]], [[5], [7]]]


@pytest.mark.parametrize(("exclude", "expected"), [(True, [1, 3, 4]), (False, [0.5, 3, 2])])
def test_average_pool_padding(exclude, expected) -> None:
    assert avg_pool(_line(1, 2, 4, 4), **POOL, exclude=exclude).tolist() == [[expected]]


def test_same_padding_with_any_strides() -> None:
    array = avg_pool(_line(1, 2, 4), **POOL | {"begins": []}, exclude=True, auto_pad="same_upper")
    assert array.tolist() == [[[1, 3, None]]]  # the last window is in the padding


def test_unspecified_rounding_has_no_kernel() -> None:
    with pytest.raises(NoKernel, match="past the padding"):
        avg_pool(_line(1, 2, 4, 4), **POOL | {"ends": [0]}, exclude=False, rounding="ceil")
    with pytest.raises(NoKernel, match="rounded here"):
        avg_pool(_line(1, 2, 4), **POOL, exclude=True, auto_pad="valid", rounding="ceil")


@pytest.mark.parametrize("changed", [
    {"auto_pad": "SAME"}, {"rounding": "up"}, {"begins": []}, {"ends": [-1]}, {"strides": [0]}, {"window": [7]},
    {"dilations": [-1]},
])  # fmt: skip
def test_rejected_windows(changed) -> None:
    with pytest.raises(InputError):
        avg_pool(_line(1, 2, 4), **POOL | {"exclude": True} | changed)
    with pytest.raises(InputError):
        max_pool_with_index(_line(1, 2, 4), **POOL | changed)
