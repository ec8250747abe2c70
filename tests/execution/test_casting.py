"""Casts: truncation, saturation, wrapping of integers, rounding."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.cast import cast

HUGE = 3e38


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("i4", [1, -1, 0, 300, -300, 2**31 - 1, -(2**31), 0]),
        ("i2", [1, -1, 0, 300, -300, 32767, -32768, 0]),
        ("i1", [1, -1, 0, 127, -128, 127, -128, 0]),
        ("u4", [1, 0, 0, 300, 0, 2**32 - 1, 0, 0]),
        ("u1", [1, 0, 0, 255, 0, 255, 0, 0]),
        ("i8", [1, -1, 0, 300, -300, 2**63 - 1, -(2**63), 0]),
        ("u8", [1, 0, 0, 300, 0, 2**64 - 1, 0, 0]),
    ],
)
def test_floats_are_truncated_and_saturated(target, expected):
    array = np.array([1.9, -1.9, -0.5, 300.7, -300.7, HUGE, -np.inf, np.nan], np.float32)
    result = cast(array, output_type=np.dtype(target))
    assert result.dtype == np.dtype(target)
    assert result.tolist() == expected


@pytest.mark.parametrize(
    ("source", "target", "values", "expected"),
    [
        ("i4", "u4", [-1, 5], [2**32 - 1, 5]),
        ("u4", "i4", [2**32 - 1], [-1]),
        ("i8", "i4", [2**32 + 7, -(2**31) - 1], [7, 2**31 - 1]),
        ("i1", "u8", [-1], [2**64 - 1]),
        ("i4", "i1", [300, -300, 5], [127, -128, 5]),
        ("i2", "u1", [-1, 300, 5], [255, 255, 5]),
        ("i1", "u2", [-1], [65535]),
        ("u4", "i2", [2**31, 40000, 5], [-32768, 32767, 5]),  # the bits are read as signed first
        ("u1", "i1", [200], [127]),
        ("u8", "u1", [2**64 - 1], [255]),
    ],
)
def test_integers(source, target, values, expected):
    assert cast(np.array(values, source), output_type=np.dtype(target)).tolist() == expected


def test_to_floats():
    assert cast(np.array([2**24 + 1], np.int32), output_type=np.dtype("f4")).tolist() == [2**24]
    assert cast(np.array([2049, 70000], np.int32), output_type=np.dtype("f2")).tolist() == [2048, np.inf]
    exact = cast(np.array([0.1], np.float64), output_type=np.dtype("f8"))
    assert exact.tolist() == [0.1]


def test_huge_output_is_rejected():
    with memory.limit(64), pytest.raises(InputError, match="limit"):
        cast(np.zeros(100, np.int8), output_type=np.dtype("i8"))
