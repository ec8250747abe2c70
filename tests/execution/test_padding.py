"""Padding: the documented rows, repeated reflection, and integer values."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.pad_transpose import pad

ROW = np.array([1, 2, 3, 4], np.float32)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("CONSTANT", [9, 9, 1, 2, 3, 4, 9, 9, 9, 9]), ("EDGE", [1, 1, 1, 2, 3, 4, 4, 4, 4, 4]),
        ("REFLECTION", [3, 2, 1, 2, 3, 4, 3, 2, 1, 2]), ("SYMMETRIC", [2, 1, 1, 2, 3, 4, 4, 3, 2, 1]),
        ("WRAP", [3, 4, 1, 2, 3, 4, 1, 2, 3, 4]),
    ],
)  # fmt: skip
def test_every_mode(mode, expected):
    assert pad(ROW, mode=mode, start=[2], end=[4], value=9).tolist() == expected


@pytest.mark.parametrize(
    ("mode", "numpy_mode"), [("REFLECTION", "reflect"), ("SYMMETRIC", "symmetric"), ("WRAP", "wrap")]
)
def test_paddings_longer_than_the_input_repeat(mode, numpy_mode):
    array = np.arange(6).reshape(2, 3)
    result = pad(array, mode=mode, start=[5, 7], end=[3, 11])
    assert np.array_equal(result, np.pad(array, ((5, 3), (7, 11)), mode=numpy_mode))


@pytest.mark.parametrize("mode", ["EDGE", "REFLECTION", "SYMMETRIC", "WRAP"])
def test_a_single_element_is_repeated(mode):
    assert pad(np.array([5]), mode=mode, start=[2], end=[1]).tolist() == [5, 5, 5, 5]


def test_constants_of_integers():
    array = np.array([1], np.int8)
    assert pad(array, mode="CONSTANT", start=[1], end=[0], value=-2.9, truncate_value=True).tolist() == [-2, 1]
    assert pad(array, mode="CONSTANT", start=[1], end=[0], value=300.5, truncate_value=True).tolist() == [44, 1]
    for value in (2.5, 300):
        with pytest.raises(InputError, match="int8"):
            pad(array, mode="CONSTANT", start=[1], end=[0], value=value)


@pytest.mark.parametrize(
    "changes", [{"mode": "MIRROR"}, {"start": [1, 1]}, {"end": [-1]}, {"end": [2**31]}, {"same_type": False}]
)
def test_invalid_arguments_are_rejected(changes):
    plain = {"mode": "EDGE", "start": [1], "end": [1]}
    with pytest.raises(InputError):
        pad(ROW, **{**plain, **changes})
