"""ml_dtypes numbers of at most 8 bits: conversion from and to numpy types.

OpenVINO FakeConvert.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float64
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The type of the powers of two from 2**-127 to 2**127.
_POWERS: Final = "float8_e8m0fnu"
#: Largest number that rounds to a finite one in a float without infinities: halfway to the next number, if that is
#: even.
_ENDS: Final = {"float8_e4m3fn": 464.0, "float4_e2m1fn": np.nextafter(7.0, 0.0)}
#: Floats of fewer than 8 bits, stored one per byte.
_NARROW_FLOAT_BITS: Final = {"float4_e2m1fn": 4, "float6_e2m3fn": 6, "float6_e3m2fn": 6}


def is_stored(dtype: np.dtype[Any]) -> bool:
    """Return whether a type is an ml_dtypes storage type of at most 8 bits.

    Such types are for weights, not for arithmetic.
    """
    return dtype.itemsize == 1 and dtype.kind in "Vf"


def zero_of(name: str, dtype: np.dtype[Any]) -> Any:
    """Return 0, or the empty string; raise NoKernel for powers of two (no 0)."""
    if dtype.name == _POWERS:
        raise NoKernel(f"{name}: {dtype} cannot represent 0")
    return "" if dtype.kind == "O" else np.zeros((), dtype)[()]


def bits_of_type(dtype: np.dtype[Any]) -> int:
    """Return the bits of an element, also for types stored in whole bytes."""
    limits = integer_range(dtype)
    if limits is not None:
        return (limits[1] - limits[0]).bit_length()
    return _NARROW_FLOAT_BITS.get(dtype.name, 8 * dtype.itemsize)


def codes_of(array: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the bits of narrow elements, in the low bits of a byte each."""
    code_array = array.astype(np.int8) if integer_range(array.dtype) is not None and array.dtype.kind == "V" else array
    codes: NDArray[np.uint8] = np.ascontiguousarray(code_array).view(np.uint8).reshape(array.shape)
    return codes & np.uint8((1 << bits_of_type(array.dtype)) - 1)


def numbers_of(codes: NDArray[np.uint8], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the elements of a narrow type that `codes_of` encodes."""
    limits = integer_range(dtype)
    if limits is None or dtype.kind != "V":
        return codes.view(dtype)
    top = np.uint8(limits[1] + 1)
    signed = codes if limits[0] == 0 else (codes ^ top) - top
    return signed.view(np.int8).astype(dtype)


def widen_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return booleans and narrow integers as int8 or uint8, floats as float32.

    Other numbers are unchanged.
    """
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    if not is_stored(array.dtype):
        return array
    limits = integer_range(array.dtype)
    if limits is None:
        return array.astype(np.float32)
    return array.astype(np.uint8 if limits[0] == 0 else np.int8)


def round_to_narrow(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers rounded to a narrow float, half to even.

    Masked where the type has no such number: overflow without infinities, nan without nan, and for powers of two what
    is not positive.
    """
    single = array.astype(np.float32)
    if dtype.name == _POWERS:
        new_array, known_array = _power_of_two(single, dtype)
    else:
        new_array = round_to(single, dtype)
        known_array = np.abs(single) <= _ENDS.get(dtype.name, np.inf)
    if dtype.name != "float4_e2m1fn":
        known_array |= np.isnan(single)
    return new_array if known_array.all() else np.ma.array(new_array, mask=~known_array)


def _power_of_two(array: NDArray[Any], dtype: np.dtype[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the nearest power from 2**-127 to 2**127, and where there is one.

    nan gives nan.
    """
    known_array = (array >= 2.0**-127) & (array < 1.5 * 2.0**127)
    fraction, exponent = np.frexp(np.where(known_array, array, 1).astype(np.float64))
    codes = exponent + 126  # of the next lower power
    codes = codes + ((fraction > 0.75) | ((fraction == 0.75) & (codes % 2 == 1)))
    codes = np.where(np.isnan(array), 255, codes)
    return codes.astype(np.uint8).view(dtype), known_array


def fake_convert(
    data: NDArray[Any],
    scale: NDArray[Any],
    shift: NDArray[Any] | None = None,
    *,
    digits: int,
    min_exponent: int,
    largest: float,
) -> NDArray[Any]:
    """Return data rounded to a narrow float, as in OpenVINO FakeConvert.

    The result is (r + shift) / scale, where r is data * scale - shift rounded to few bits; all of one float type.
    scale, shift: of one shape, broadcast to data. digits: mantissa bits. min_exponent: of the smallest normal number;
    largest: the maximum. Rounding is half to even. Masked: elements that are not representable even after rounding, and
    those whose r depends on the precision of the intermediate steps.
    """
    if not is_float(data.dtype) or any(array is not None and array.dtype != data.dtype for array in (scale, shift)):
        raise InputError(f"narrow floats: expected floats of one type, found {data.dtype} and {scale.dtype}")
    if shift is not None and shift.shape != scale.shape:
        raise InputError(
            f"narrow floats: a shift of shape {list(shift.shape)} does not match a scale of shape {list(scale.shape)}"
        )
    try:
        np.broadcast_to(scale, data.shape)
    except ValueError:
        raise InputError(
            f"narrow floats: a scale of shape {list(scale.shape)} does not broadcast to {list(data.shape)}"
        ) from None
    memory.check_budget(data.shape, np.dtype(np.float64))
    offsets = np.zeros_like(scale) if shift is None else shift
    with memory.ignore_warnings():
        factor, summand = to_float64(scale), to_float64(offsets)
        exact = _round_mantissa(to_float64(data) * factor - summand, digits, min_exponent)
        steps = to_float64(round_to(to_float64(data) * factor, data.dtype)) - summand
        left_open = _round_mantissa(to_float64(round_to(steps, data.dtype)), digits, min_exponent) != exact
        left_open |= ~(np.abs(exact) <= largest)
        result = round_to((exact + summand) / factor, data.dtype)
    return np.ma.MaskedArray(result, mask=left_open) if left_open.any() else result


def _round_mantissa(values: NDArray[Any], digits: int, least: int) -> NDArray[Any]:
    """Return float64 rounded to `digits` mantissa bits.

    The exponent is the number's own, at least that of `least`.
    """
    _, exponents = np.frexp(values)
    powers = np.maximum(exponents - 1, least) - digits
    rounded: NDArray[Any] = np.ldexp(np.rint(np.ldexp(values, -powers)), powers)
    return rounded
