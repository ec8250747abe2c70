"""Numbers of at most 8 bits, which ml_dtypes has: as numbers that numpy computes with, and made of those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution.kernels.arithmetic import is_float, round_to
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["rounded", "widened"]

#: What is rounded to 0 or to numbers of the type, and no further: from what on a float without infinities has none.
_ENDS: Final = {"float8_e4m3fn": 464.0, "float4_e2m1fn": np.nextafter(7.0, 0.0)}


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """Return truth values and narrow integers as int8 or uint8, narrow floats as float32; other numbers as they are."""
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if array.dtype.itemsize > 1 or array.dtype.kind in "iu":
        return array
    limits = integer_range(array.dtype)
    if limits is None:
        return array.astype(np.float32) if is_float(array.dtype) else array
    return array.astype(np.uint8 if limits[0] == 0 else np.int8)


def rounded(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers of numpy rounded to a narrow float, halves to the even one.

    Masked where the type has no such number: beyond its largest one if it has no infinities, nan if it has none, and in
    a type of powers of two (float8_e8m0fnu) what is not positive.
    """
    single = array.astype(np.float32)
    if dtype.name == "float8_e8m0fnu":
        made, held = _power_of_two(single, dtype)
    else:
        made = round_to(single, dtype)
        held = np.abs(single) <= _ENDS.get(dtype.name, np.inf)
    if dtype.name != "float4_e2m1fn":
        held |= np.isnan(single)
    return made if held.all() else np.ma.array(made, mask=~held)


def _power_of_two(array: NDArray[Any], dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the nearest of the powers from 2**-127 to 2**127, and where there is one; of nan there is nan."""
    held = (array >= 2.0**-127) & (array < 1.5 * 2.0**127)
    fraction, exponent = np.frexp(np.where(held, array, 1).astype(np.float64))
    codes = exponent + 126  # of the power below
    codes = codes + ((fraction > 0.75) | ((fraction == 0.75) & (codes % 2 == 1)))
    codes = np.where(np.isnan(array), 255, codes)
    return codes.astype(np.uint8).view(dtype), held
