"""Element type conversion.

DirectML CAST; ONNX BitCast, Cast, CastLike; OpenVINO Convert, ConvertLike, ConvertPromoteTypes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to
from specgate.execution.kernels.narrow_types import bits_of_type, codes_of, numbers_of, round_to_narrow, widen_array
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from numpy.typing import NDArray


def cast(inputs: NDArray[Any], *, output_type: np.dtype[Any]) -> NDArray[Any]:
    """Return the elements as `output_type`.

    Floats converted to integers are truncated and clamped to the integer range; nan becomes 0. Integers keep their low
    bits in 32- and 64-bit types; for 8- and 16-bit types, their bits are first read as a 32- or 64-bit number of the
    result's signedness, which is clamped.
    """
    memory.check_budget(inputs.shape, output_type)
    if is_float(output_type):
        return round_to(inputs, output_type)
    limits = np.iinfo(output_type)
    if is_float(inputs.dtype):
        truncated = np.trunc(np.nan_to_num(inputs.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf))
        low, high = truncated < float(limits.min), truncated >= float(limits.max) + 1
        with memory.ignore_warnings():
            new_array = np.where(low | high, 0, truncated).astype(output_type)
        return np.where(low, limits.min, np.where(high, limits.max, new_array)).astype(output_type)
    if output_type.itemsize >= 4:
        return inputs.astype(output_type)
    values: NDArray[Any] = inputs.astype(f"{output_type.kind}{max(4, inputs.itemsize)}")
    array: NDArray[Any] = np.clip(values, limits.min, limits.max).astype(output_type)
    return array


def convert(inputs: NDArray[Any], like: NDArray[Any] | None = None, *, to: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return the elements in the type `to`, or in that of `like`.

    Integers keep their low bits. Floats are truncated to integers; values out of range are undefined and masked, also
    in float types without infinities. Non-zero values become true.
    """
    dtype = like.dtype if like is not None else to
    if dtype is None:
        raise InputError("convert: expected an output type, or an array of that type")
    if "O" in (inputs.dtype.kind, dtype.kind):
        raise NoKernel("strings cannot be converted")
    memory.check_budget(inputs.shape, dtype)
    if inputs.dtype == dtype:
        return inputs
    wide_values = widen_array(inputs)
    if dtype.kind == "b":
        return np.asarray(wide_values != np.zeros((), wide_values.dtype))
    if is_float(dtype):
        return round_to_narrow(wide_values, dtype) if dtype.itemsize == 1 else round_to(wide_values, dtype)
    limits = integer_range(dtype)
    if limits is None:
        raise NoKernel(f"cannot convert to {dtype}")
    truncated, array = _truncate_floats(wide_values, *limits) if is_float(wide_values.dtype) else (wide_values, None)
    # ml_dtypes integers keep the low bits of numpy integers, but numpy cannot convert all of its types to them
    new_array = (truncated.astype(np.int64) if dtype.kind == "V" else truncated).astype(dtype)
    return new_array if array is None or array.all() else np.ma.array(new_array, mask=~array)


def _truncate_floats(array: NDArray[Any], low: int, high: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return truncated floats (0 if out of range), and which are in range."""
    truncated = np.trunc(array.astype(np.float64))
    known_array = (truncated >= float(low)) & (truncated < float(high) + (high < 2**53))
    return np.where(known_array, truncated, 0), known_array


def convert_promote_types(
    first: NDArray[Any], second: NDArray[Any], *, scalars_follow: bool, widest: np.dtype[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both arrays in one common type, converted as in `convert`.

    A float wins over an integer, an integer over a boolean; of two floats or integers, the smallest type with the
    digits and the range of both. scalars_follow: of two floats or two integers, a scalar adopts the type of a
    non-scalar. widest: the type where no integer type is wide enough.
    """
    to = _common_dtype(first, second, widest, scalars_follow=scalars_follow)
    return convert(first, to=to), convert(second, to=to)


def _common_dtype(
    first: NDArray[Any], second: NDArray[Any], widest: np.dtype[Any] | None, *, scalars_follow: bool
) -> np.dtype[Any]:
    left, right = first.dtype, second.dtype
    if left == right or _kind(left) != _kind(right):
        return left if _kind(left) >= _kind(right) else right
    if scalars_follow and (first.ndim == 0) != (second.ndim == 0):
        return left if first.ndim else right
    low, high = sorted((left, right), key=_bits)
    if is_float(left):
        return high if _bits(low) < _bits(high) else np.dtype(np.float16 if _bits(high) == 8 else np.float32)
    if _is_signed(left) == _is_signed(right):
        return high
    signed, unsigned = (left, right) if _is_signed(left) else (right, left)
    if _bits(signed) >= 2 * _bits(unsigned):
        return signed
    if _bits(unsigned) < 64:
        return np.dtype(f"i{_bits(unsigned) // 4}")  # twice its bits, in bytes
    if widest is None:
        raise InputError("expected an output type for values that are not integers")
    return widest


def _kind(dtype: np.dtype[Any]) -> int:
    return 2 if is_float(dtype) else 1 if integer_range(dtype) is not None else 0


def _is_signed(dtype: np.dtype[Any]) -> bool:
    return (integer_range(dtype) or (0, 0))[0] < 0


def _bits(dtype: np.dtype[Any]) -> int:
    limits = integer_range(dtype)
    return 8 * dtype.itemsize if limits is None else (limits[1] - limits[0]).bit_length()


_POWERS: Final = "float8_e8m0fnu"
#: Exponents of the powers of two of this type, and its nan code.
_MIN_EXPONENT, _MAX_EXPONENT, _NAN = -127, 127, 255
_ROUNDINGS: Final = ("up", "down", "nearest")
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,24}")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?inf|nan", re.IGNORECASE)


def cast_elements(
    inputs: NDArray[Any],
    like: NDArray[Any] | None = None,
    *,
    to: np.dtype[Any] | None = None,
    saturate: int = 1,
    rounding: str = "up",
) -> NDArray[Any]:
    """Return the elements in the type `to`, or in that of `like`.

    Integers keep their low bits. Floats are truncated to integers: values out of range are masked, except that integers
    of less than 8 bits keep the low bits. Non-zero values become true. Floats are rounded half to even. saturate: 8-bit
    floats saturate at their largest number; otherwise they overflow to infinity or nan. rounding: to a power of two,
    up, down or nearest (halves up), for a type that holds powers of two only; negative values are masked. Strings are
    decimal numbers, masked if malformed.
    """
    dtype = like.dtype if like is not None else to
    if dtype is None or rounding not in _ROUNDINGS:
        raise InputError(
            f"cast: expected an output type and a rounding mode ({', '.join(_ROUNDINGS)}), found {rounding!r:.40}"
        )
    memory.check_budget(inputs.shape, dtype)
    if inputs.dtype == dtype:
        return inputs.copy()
    if dtype.kind == "O":
        return _texts(inputs)
    if inputs.dtype.kind != "O":
        return _numbers(widen_array(inputs), dtype, saturate, rounding)
    if dtype.kind == "b":
        raise NoKernel("cast: it is unspecified which strings convert to true")
    numbers, is_parsed = _parse_numbers(inputs, integers_only=integer_range(dtype) is not None)
    array = _numbers(numbers, dtype, saturate, rounding)
    return array if is_parsed.all() else np.ma.array(array, mask=~is_parsed | np.ma.getmaskarray(array))


def bit_cast(inputs: NDArray[Any], *, to: np.dtype[Any]) -> NDArray[Any]:
    """Return the bits of `inputs` reinterpreted as elements of the type `to`.

    Booleans other than 0 and 1 are masked.
    """
    if bits_of_type(inputs.dtype) != bits_of_type(to) or "O" in (inputs.dtype.kind, to.kind):
        raise InputError(f"bit_cast: {inputs.dtype} and {to} have different numbers of bits")
    memory.check_budget(inputs.shape, to)
    if to.itemsize > 1:
        return np.ascontiguousarray(inputs).view(to).reshape(inputs.shape).copy()
    codes = codes_of(inputs)
    if to.kind != "b":
        return numbers_of(codes, to).copy()
    result = codes == 1
    return result if (codes <= 1).all() else np.ma.array(result, mask=codes > 1)


def _numbers(x: NDArray[Any], dtype: np.dtype[Any], saturate: int, rounding: str) -> NDArray[Any]:
    if dtype.kind == "b":
        return np.asarray(x != np.zeros((), x.dtype))
    limits = integer_range(dtype)
    if limits is None:
        return _powers(x, dtype, saturate, rounding) if dtype.name == _POWERS else _floats(x, dtype, saturate)
    if not is_float(x.dtype):
        return (x.astype(np.int64) if dtype.kind == "V" else x).astype(dtype)
    if dtype.kind != "V" and x.dtype.kind == "f" and x.size and x.min() >= limits[0] and x.max() <= limits[1] // 2:
        return x.astype(dtype)  # fast path: all values are in range
    truncated = np.trunc(x.astype(np.float64))
    low, high = (-(2**62), 2**62) if dtype.kind == "V" else limits
    array = (truncated >= float(low)) & (truncated < float(high) + (high < 2**53))
    cut = np.where(array, truncated, 0.0)
    new_array = (cut.astype(np.int64) if dtype.kind == "V" else cut).astype(dtype)
    return new_array if array.all() else np.ma.array(new_array, mask=~array)


def _floats(x: NDArray[Any], dtype: np.dtype[Any], saturate: int) -> NDArray[Any]:
    if dtype.itemsize == 1 and saturate:
        import ml_dtypes

        greatest = np.float32(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
        x = np.clip(x.astype(np.float32), -greatest, greatest)
    return round_to(x, dtype)


def _powers(x: NDArray[Any], dtype: np.dtype[Any], saturate: int, rounding: str) -> NDArray[Any]:
    wide_values = x.astype(np.float64)
    nonempty = wide_values > 0
    fraction, exponent = np.frexp(np.where(nonempty & np.isfinite(wide_values), wide_values, 1.0))
    increments = {"up": fraction > 0.5, "down": np.zeros(wide_values.shape, np.bool_), "nearest": fraction >= 0.75}[
        rounding
    ]
    result = np.clip(exponent - 1 + increments, _MIN_EXPONENT, _MAX_EXPONENT)
    small, large = wide_values < 2.0**_MIN_EXPONENT, wide_values > 2.0**_MAX_EXPONENT
    if saturate:
        codes = np.where(small, 0, np.where(large, _MAX_EXPONENT - _MIN_EXPONENT, result - _MIN_EXPONENT))
    else:
        codes = np.where(small | large, _NAN, result - _MIN_EXPONENT)
    codes = np.where(np.isnan(wide_values), _NAN, codes)
    array = codes.astype(np.uint8).view(dtype)
    negative = np.signbit(wide_values) & ~np.isnan(wide_values)
    return np.ma.array(array, mask=negative) if negative.any() else array


def _texts(inputs: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as shortest decimals that round-trip."""
    wide_values = inputs.astype(np.uint8) if inputs.dtype.kind == "b" else widen_array(inputs)
    if is_float(wide_values.dtype) and wide_values.dtype != np.float64:
        wide_values = wide_values.astype(np.float32)
    result = np.empty(wide_values.size, object)
    if not is_float(wide_values.dtype):
        result[:] = [str(number) for number in memory.within_time_limit(wide_values.reshape(-1).tolist())]
    else:
        result[:] = [_decimals(number) for number in memory.within_time_limit(wide_values.reshape(-1))]
    return result.reshape(inputs.shape)


def _decimals(number: Any) -> str:
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else "INF" if number > 0 else "-INF"
    return np.format_float_positional(number, trim="-")


def _parse_numbers(inputs: NDArray[Any], *, integers_only: bool) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the numbers that strings spell, and which are valid.

    integers_only: parse integers of up to 64 bits and a sign.
    """
    texts = inputs.reshape(-1).tolist()
    is_parsed = np.array(
        [bool((_INTEGER if integers_only else _NUMBER).fullmatch(text)) for text in memory.within_time_limit(texts)],
        np.bool_,
    )
    numbers: Any
    if integers_only:
        exact = [int(text) if valid else 0 for text, valid in zip(texts, is_parsed, strict=True)]
        array = np.array([-(2**63) <= number < 2**64 for number in exact], np.bool_)
        is_parsed &= array
        numbers = np.array([number % 2**64 if valid else 0 for number, valid in zip(exact, array, strict=True)], "u8")
    else:
        numbers = np.array([float(text) if valid else 0.0 for text, valid in zip(texts, is_parsed, strict=True)], "f8")
    return numbers.reshape(inputs.shape), is_parsed.reshape(inputs.shape)
