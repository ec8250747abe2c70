"""Floats rounded to 8 bits, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.errors import InputError
from specgate.execution.kernels.narrow_types import fake_convert

E4M3: dict[str, Any] = {"digits": 3, "min_exponent": -6, "largest": 448.0}
E5M2: dict[str, Any] = {"digits": 2, "min_exponent": -14, "largest": 57344.0}
ONE = np.ones((), np.float32)


@pytest.mark.parametrize(("name", "kind"), [("float8_e4m3fn", E4M3), ("float8_e5m2", E5M2)])
def test_rounding_matches_ml_dtypes(name: str, kind: dict[str, Any]) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    narrow = getattr(ml_dtypes, name)
    every = np.arange(256, dtype=np.uint8).view(narrow).astype(np.float32)
    every = np.sort(every[np.isfinite(every)])
    between = np.concatenate([every, (every[1:] + every[:-1]) / 2, np.linspace(-500, 500, 4001, dtype=np.float32)])
    expected = between.astype(narrow).astype(np.float32)
    result = fake_convert(between, ONE, **kind)
    value = np.isfinite(expected)
    assert np.array_equal(np.ma.getdata(result)[value], expected[value])
    assert np.array_equal(np.ma.getmaskarray(result), ~value)


def test_scale_and_shift_are_undone() -> None:
    data = np.array([[1, 3], [-1, 0.25]], np.float32)
    scale, shift = np.array([2, 4], np.float32), np.array([0.5, 1], np.float32)
    # 1.5, 11, -2.5, 0
    assert fake_convert(data, scale, shift, **E4M3).tolist() == [[1, 3], [-1, 0.25]]
    array = fake_convert(data, scale, shift, **E5M2)  # 11 is halfway between 10 and 12, 2.5 is representable
    assert array.tolist() == [[1, 3.25], [-1, 0.25]]


def test_unspecified_elements_are_masked() -> None:
    data = np.array([464, 465, np.inf, np.nan, -464], np.float32)
    assert np.ma.getmaskarray(fake_convert(data, ONE, **E4M3)).tolist() == [False, True, True, True, False]
    few = np.array([1 + 2**-10], np.float16)
    # the exact product is slightly above the midpoint of 1 and 1.125; in float16 it is the midpoint
    factor = np.array(1.0615234375, np.float16)
    exact = float(few[0]) * float(factor)
    assert exact > 1.0625
    assert float(np.float16(exact)) == 1.0625
    assert np.ma.getmaskarray(fake_convert(few, factor, **E4M3)).tolist() == [True]


def test_mismatched_arrays_are_rejected() -> None:
    data = np.ones((2, 3), np.float32)
    with pytest.raises(InputError, match="broadcast"):
        fake_convert(data, np.ones(2, np.float32), **E4M3)
    with pytest.raises(InputError, match="shift"):
        fake_convert(data, ONE, np.ones(1, np.float32), **E4M3)
    with pytest.raises(InputError, match="one type"):
        fake_convert(data, np.ones((), np.float64), **E4M3)
