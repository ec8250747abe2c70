"""Numbers of at most 8 bits, which ml_dtypes has: as numbers that numpy computes with, and made of those."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import NoKernel
from specgate.execution.kernels.arithmetic import round_to
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["is_stored", "rounded", "widened", "zero_of"]

#: The type whose numbers are the powers of two from 2**-127 to 2**127.
_POWERS: Final = "float8_e8m0fnu"
#: Up to what a float without infinities has a number nearby: halfway to where the next one would be, if that is even.
_ENDS: Final = {"float8_e4m3fn": 464.0, "float4_e2m1fn": np.nextafter(7.0, 0.0)}


def is_stored(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is of ml_dtypes and has at most 8 bits: for weights, not to compute with."""
    return dtype.itemsize == 1 and dtype.kind in "Vf"


def zero_of(name: str, dtype: np.dtype[Any]) -> Any:
    """Return the number 0, or the empty text; raise NoKernel for powers of two, which have no 0."""
    if dtype.name == _POWERS:
        raise NoKernel(f"{name}: {dtype} has no 0")
    return "" if dtype.kind == "O" else np.zeros((), dtype)[()]


def widened(array: NDArray[Any]) -> NDArray[Any]:
    """Return truth values and narrow integers as int8 or uint8, narrow floats as float32; other numbers as they are."""
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if not is_stored(array.dtype):
        return array
    limits = integer_range(array.dtype)
    if limits is None:
        return array.astype(np.float32)
    return array.astype(np.uint8 if limits[0] == 0 else np.int8)


def rounded(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers of numpy rounded to a narrow float, halves to the even one.

    Masked where the type has no such number: beyond its largest one if it has no infinities, nan if it has none, and in
    a type of powers of two what is not positive.
    """
    single = array.astype(np.float32)
    if dtype.name == _POWERS:
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
