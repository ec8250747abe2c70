"""Quantize, dequantize, dynamic quantization and FakeQuantize.

DirectML DEQUANTIZE, DYNAMIC_QUANTIZE_LINEAR, ELEMENT_WISE_DEQUANTIZE_LINEAR, ELEMENT_WISE_QUANTIZED_LINEAR_ADD,
ELEMENT_WISE_QUANTIZE_LINEAR, QUANTIZE; ONNX DequantizeLinear, DynamicQuantizeLinear, QuantizeLinear; com.microsoft
DequantizeLinear, QuantizeLinear; OpenVINO FakeQuantize.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import (
    BLOCK,
    blocks_of,
    check_axis,
    is_float,
    require_shape,
    round_to,
    to_float32,
)
from specgate.execution.kernels.arithmetic import quiet_nans as with_quiet_nans
from specgate.execution.kernels.cast import cast_elements
from specgate.execution.kernels.elementwise import (
    broadcast_arrays,
    ignore_warnings,
    require_float,
    require_integers,
    store_as,
)
from specgate.execution.kernels.narrow_types import is_stored, widen_array
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def quantize_linear(
    x: NDArray[Any], scale: NDArray[Any], zero_point: NDArray[Any] | None = None, *, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return round(x / scale) + zero_point, clamped to integers of `dtype`.

    Rounding is half to even. All have one shape; x may hold integers, the scale is floating-point, and the zero point
    has type `dtype`, default 0.
    """
    x, scale = broadcast_arrays("quantize_linear", x, scale, same_type=False)
    require_float("quantize_linear", scale)
    point = _zero_point("quantize_linear", zero_point, x, dtype)
    with ignore_warnings():
        scaled = np.asarray(_to_single(x) / _to_single(drop_broadcast(scale)))
        np.rint(scaled, out=scaled)
        scaled += point
        return _clamp_to_integer(scaled, dtype)


def _clamp_to_integer(x: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return integral float32 numbers clamped to an integer type."""
    if dtype.kind not in "iu" or dtype.itemsize > 2:
        return store_as(x, dtype)
    limits = np.iinfo(dtype)
    np.clip(x, limits.min, limits.max, out=x)
    if x.size and np.isnan(x.max()):
        x[np.isnan(x)] = 0
    return x.astype(dtype)


def drop_broadcast(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with size 1 along broadcast (stride 0) dimensions."""
    return array[tuple(slice(1) if step == 0 else slice(None) for step in array.strides)]


def dequantize_linear(
    x: NDArray[Any],
    scale: NDArray[Any],
    zero_point: NDArray[Any] | None = None,
    *,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return (x - zero_point) * scale as `dtype`, default the scale's type.

    The zero point defaults to 0. The difference is computed in float32, so 32-bit integers first lose their low bits.
    """
    x, scale = broadcast_arrays("dequantize_linear", x, scale, same_type=False)
    require_integers("dequantize_linear", x)
    require_float("dequantize_linear", scale)
    point = _zero_point("dequantize_linear", zero_point, x, x.dtype)
    with ignore_warnings():
        wide_values, factor = x.astype(np.float32), _to_single(drop_broadcast(scale))
        wide_values -= point
        return round_to(
            np.multiply(wide_values, factor, out=wide_values if factor.dtype == wide_values.dtype else None),
            dtype or scale.dtype,
        )


def quantized_add(
    a: NDArray[Any],
    a_scale: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    output_scale: NDArray[Any],
    *,
    dtype: np.dtype[Any],
    a_zero_point: NDArray[Any] | None = None,
    b_zero_point: NDArray[Any] | None = None,
    output_zero_point: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the sum of two quantized tensors, requantized to `dtype`.

    Both have one shape. Scales and zero points hold one element each; a zero point defaults to 0. nan becomes the
    minimum.
    """
    a, b = broadcast_arrays("quantized_add", a, b, same_type=False)
    require_integers("quantized_add", a)
    require_integers("quantized_add", b)
    with ignore_warnings():
        total = _dequantize(a, a_scale, a_zero_point) + _dequantize(b, b_scale, b_zero_point)
        point = 0 if output_zero_point is None else int(_scalar_of("output_zero_point", output_zero_point, dtype))
        result = np.rint(total / _scalar_of("output_scale", output_scale)) + np.float32(point)
        return store_as(np.where(np.isnan(result), np.float32(np.iinfo(dtype).min), result), dtype)


def _dequantize(x: NDArray[Any], scale: NDArray[Any], zero_point: NDArray[Any] | None) -> NDArray[Any]:
    point = 0 if zero_point is None else int(_scalar_of("a zero point", zero_point))
    real: NDArray[Any] = (x.astype(np.int64) - point).astype(np.float32) * _scalar_of("a scale", scale)
    return real


def _scalar_of(noun: str, array: NDArray[Any], dtype: np.dtype[Any] | None = None) -> Any:
    if array.size != 1 or (dtype is not None and array.dtype != dtype):
        text = f"{array.size} elements of type {array.dtype}"
        raise InputError(
            f"quantized_add: expected one element{f' of {dtype}' if dtype else ''} as {noun}, found {text}"
        )
    return array.reshape(())[()]


def _to_single(x: NDArray[Any]) -> NDArray[Any]:
    return to_float32(x, x.dtype) if x.dtype.kind == "f" else x.astype(np.float32)


def _zero_point(name: str, zero_point: NDArray[Any] | None, x: NDArray[Any], dtype: np.dtype[Any]) -> Any:
    """Return the zero point as float32."""
    if zero_point is None:
        return np.float32(0)
    broadcast_arrays(name, x, zero_point, same_type=False)
    if zero_point.dtype != dtype:
        raise InputError(f"{name}: expected a zero point of {dtype}, found {zero_point.dtype}")
    return drop_broadcast(zero_point).astype(np.float32)


def quantize_by_axis(
    x: NDArray[Any],
    scale: NDArray[Any],
    zero_point: NDArray[Any] | None = None,
    *,
    axis: int = 1,
    block: int = 0,
    type_number: int = 0,
    saturate: int = 1,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return `quantize_linear`, as in ONNX QuantizeLinear.

    The type is that of the zero point, else `dtype`, else uint8; the first two must agree. scale, zero_point: of one
    element, or 1-D along `axis`, or of the rank of `x` with one per `block` positions along `axis`. type_number: the
    output_dtype attribute, 0 if absent; `dtype` is then that type. For a narrow float the result is the quotient plus
    the zero point, cast as in `cast_elements` with `saturate`.
    """
    if zero_point is None and dtype is None and type_number:
        raise InputError(f"quantize: {type_number} is not the number of a type")
    if zero_point is not None and dtype not in {None, zero_point.dtype}:
        raise InputError(f"quantize: the zero point is {zero_point.dtype}, but the output is {dtype}")
    kind = zero_point.dtype if zero_point is not None else dtype or np.dtype(np.uint8)
    if scale.dtype.kind in "iu":
        x, scale = x.astype(np.float64), scale.astype(np.float64)
    factors, points = _fit_parameters(x, widen_array(scale), zero_point, axis, block)
    if not is_stored(kind):
        result: NDArray[Any] = quantize_linear(x, factors, points, dtype=kind)
        return result
    memory.check_budget(x.shape, np.dtype(np.float64))
    with ignore_warnings():
        quotient = x.astype(np.float32) / factors.astype(np.float32)
        zero_points = np.float32(0) if points is None else widen_array(points).astype(np.float32)
        ends = integer_range(kind)
        if ends is None:
            return cast_elements(quotient + zero_points, to=kind, saturate=saturate)
        rounded = np.clip(np.rint(quotient) + zero_points, *ends)
        return np.where(np.isnan(rounded), 0, rounded).astype(np.int8).astype(kind)


def dequantize_by_axis(
    x: NDArray[Any],
    scale: NDArray[Any],
    zero_point: NDArray[Any] | None = None,
    *,
    axis: int = 1,
    block: int = 0,
    type_number: int = 0,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return `dequantize_linear` in the scale's type, or in `dtype`.

    Other arguments are those of `quantize_by_axis`.
    """
    if dtype is None and type_number:
        raise InputError(f"quantize: {type_number} is not the number of a type")
    expected_dtype = dtype if type_number else None
    if is_stored(scale.dtype) and expected_dtype is None:
        raise InputError(f"quantize: output_dtype is required if the scale is {scale.dtype}")
    x, scale = widen_array(x), widen_array(scale)
    factors, points = _fit_parameters(x, scale, None if zero_point is None else widen_array(zero_point), axis, block)
    if not is_float(x.dtype):
        return dequantize_linear(x, factors, points, dtype=expected_dtype)
    memory.check_budget(x.shape, np.dtype(np.float64))
    with ignore_warnings():
        shifted = x if points is None else x - points
        return round_to(shifted * factors.astype(np.float32), expected_dtype or scale.dtype)


def _fit_parameters(
    x: NDArray[Any], scale: NDArray[Any], zero_point: NDArray[Any] | None, axis: int, block: int
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return scales and zero points, of one shape, broadcast to that of `x`."""
    factors = _broadcast_parameters(x, scale, axis, block)
    if zero_point is None:
        return factors, None
    if zero_point.size != 1 or scale.size != 1:
        require_shape("quantize", "a zero point", zero_point.shape, scale.shape)
    return factors, _broadcast_parameters(x, zero_point, axis, block)


def _broadcast_parameters(x: NDArray[Any], array: NDArray[Any], axis: int, block: int) -> NDArray[Any]:
    """Return scales or zero points broadcast to the shape of `x`."""
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), x.shape)
    place = axis + x.ndim if axis < 0 else axis
    if x.ndim == 1:
        place = 0
    check_axis(place, x.ndim, "quantize")
    if x.ndim == 1 and array.ndim == 1 and not block and array.shape != x.shape:
        raise NoKernel(f"quantize: it is unspecified how {array.size} scales apply to {x.size} elements")
    if array.ndim == 1 and (x.ndim > 1 or not block):
        require_shape("quantize", "per-axis scales", array.shape, (x.shape[place],))
        return np.broadcast_to(array.reshape(-1, *(1,) * (x.ndim - 1 - place)), x.shape)
    if array.ndim != x.ndim or block < 1:
        raise InputError(
            f"quantize: scales of shape {list(array.shape)} do not match an input of shape {list(x.shape)}"
        )
    blocks = -(-x.shape[place] // block)
    require_shape("quantize", "block-wise scales", array.shape, (*x.shape[:place], blocks, *x.shape[place + 1 :]))
    return np.take(np.repeat(array, block, place), range(x.shape[place]), place)


def quantize_by_range(
    x: NDArray[Any], *, dtype: np.dtype[Any], scale_sizes: Sequence[int], zero_point_sizes: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return x quantized to `dtype` by its range, scale and zero point.

    The scale is float32. The range includes 0 and ignores nan: scale = range * (1 / (maximum - minimum of dtype)), zero
    point = minimum of dtype - minimum of x / scale. Rounding is half to even; nan becomes the minimum. scale_sizes,
    zero_point_sizes: shapes with one element and the rank of x.
    """
    require_float("dynamic quantization", x)
    for noun, sizes in (("a scale", scale_sizes), ("a zero point", zero_point_sizes)):
        require_shape("dynamic quantization", noun, sizes, (1,) * x.ndim)
    limits = np.iinfo(dtype)
    values = with_quiet_nans(x.astype(np.float32))
    with ignore_warnings():
        low = np.fmin.reduce(values, axis=None, initial=np.float32(0))
        high = np.fmax.reduce(values, axis=None, initial=np.float32(0))
        scale = np.float32(high - low) * np.float32(1 / (int(limits.max) - int(limits.min)))
        point = _clamp_numbers(np.rint(np.float32(limits.min) - low / scale), dtype)
        result = _clamp_numbers(np.rint(values / scale) + point.astype(np.float32), dtype)
    return result, np.full(tuple(scale_sizes), scale, np.float32), np.full(tuple(zero_point_sizes), point, dtype)


def dynamic_quantize_linear(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return x as uint8, scale and zero point, as in DynamicQuantizeLinear.

    The scale is the range of the elements and 0, divided by 255. Where it is 0, nan or infinite, numbers and zero point
    are masked.
    """
    ends = (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)  # nan if any element is
    with ignore_warnings():
        low, high = (
            np.float32(np.nan if np.isnan(end) else limit(0.0, end))
            for limit, end in zip((min, max), ends, strict=True)
        )
        scale = np.array((high - low) / np.float32(255), np.float32)
        memory.check_budget(x.shape, np.dtype(np.float32))
        if not np.isfinite(scale) or scale == 0:
            point = np.ma.MaskedArray(np.array(0, np.uint8), mask=True)
            return np.ma.MaskedArray(np.zeros(x.shape, np.uint8), mask=np.ones(x.shape, np.bool_)), scale, point
        zero = np.array(np.rint(np.clip(np.float32(0) - low / scale, 0, 255)), np.uint8)
        return _quantize_blocks(x, ends, scale, zero), scale, zero


def _quantize_blocks(
    x: NDArray[Any], ends: tuple[float, float], scale: NDArray[Any], zero: NDArray[Any]
) -> NDArray[np.uint8]:
    """Return round(x / scale) + zero clamped to [0, 255], by blocks.

    x is finite; rounding is half to even. ends: minimum and maximum of `x`. If their results need no clamping, nothing
    does.
    """
    result = np.empty(x.shape, np.uint8)
    flat, array = np.ascontiguousarray(x).reshape(-1), result.reshape(-1)
    workspace = np.empty(min(BLOCK, flat.size), np.promote_types(x.dtype, np.float32))
    point = zero.astype(np.float32)
    least, greatest = np.rint(np.array(ends, x.dtype) / scale) + point
    is_beyond = not (least >= 0 and greatest <= 255)
    for block in blocks_of(flat.size, 1):
        scaled = np.divide(flat[block], scale, out=workspace[: block.stop - block.start])
        np.rint(scaled, out=scaled)
        scaled += point
        if is_beyond:
            np.clip(scaled, 0, 255, out=scaled)
        array[block] = scaled
    return result


def quantize_in_blocks(
    x: NDArray[Any], parameters: Sequence[NDArray[Any]], *, with_zero_points: bool, bits: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return rint(x / scale) + zero point, clamped to `bits`-bit integers.

    parameters: scales of the type of x, and zero points of `dtype` if present, each of the rank of x and for blocks of
    equal size; a zero point defaults to 0, or to the middle of a range that starts with 0. Rounding is half to even;
    nan becomes the minimum. Masked where a parameter's sizes do not divide those of x.
    """
    scale, point = _parameters(x, parameters, with_zero_points)
    low, high = _range(dtype, bits)
    if scale.dtype != x.dtype or (point is not None and point.dtype != dtype):
        raise InputError(f"quantize: expected scales of {x.dtype} and zero points of {dtype}")
    (factors, points), divides_evenly = _repeat_blocks(x.shape, scale, point)
    with ignore_warnings():
        value = np.rint(x.astype(np.float32) / factors.astype(np.float32))
        value = value + (np.float32(_default_zero_point(dtype, bits)) if points is None else points.astype(np.float32))
        result = np.clip(np.where(np.isnan(value), low, value), low, high).astype(dtype)
    return result if divides_evenly else np.ma.MaskedArray(result, np.ones(x.shape, np.bool_))


def dequantize_in_blocks(
    x: NDArray[Any], parameters: Sequence[NDArray[Any]], *, with_zero_points: bool, bits: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return (x - zero point) * scale of `bits`-bit integers, as `dtype`.

    parameters: as for `quantize_in_blocks`, scales of `dtype` and zero points of the type of x.
    """
    scale, point = _parameters(x, parameters, with_zero_points)
    require_integers("dequantize", x)
    if scale.dtype != dtype or (point is not None and point.dtype != x.dtype):
        raise InputError(f"dequantize: expected scales of {dtype} and zero points of {x.dtype}")
    (factors, points), divides_evenly = _repeat_blocks(x.shape, scale, point)
    with ignore_warnings():
        offset_array = np.float32(_default_zero_point(x.dtype, bits)) if points is None else points.astype(np.float32)
        result = round_to((x.astype(np.float32) - offset_array) * factors.astype(np.float32), dtype)
    return result if divides_evenly else np.ma.MaskedArray(result, np.ones(x.shape, np.bool_))


def _parameters(
    x: NDArray[Any], parameters: Sequence[NDArray[Any]], with_zero_points: bool
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    if len(parameters) != 1 + with_zero_points or any(parameter.ndim != x.ndim for parameter in parameters):
        raise InputError(
            f"quantize: expected {1 + with_zero_points} parameters of {x.ndim} dimensions, found shapes of "
            f"{', '.join(str(list(parameter.shape)) for parameter in parameters) or 'none'}"
        )
    if not is_float(parameters[0].dtype):
        raise InputError(f"quantize: expected floating-point scales, found {parameters[0].dtype}")
    return parameters[0], parameters[1] if with_zero_points else None


def _repeat_blocks(shape: tuple[int, ...], *arrays: NDArray[Any] | None) -> tuple[list[Any], bool]:
    """Return block parameters repeated to a shape, and whether sizes fit.

    Sizes fit if they divide those of the shape. Otherwise the repetition is arbitrary.
    """
    items: list[Any] = []
    divides_evenly = True
    for array in arrays:
        if array is None:
            items.append(None)
            continue
        new_array = array
        for axis, (size, count) in enumerate(zip(shape, array.shape, strict=True)):
            divides_evenly = divides_evenly and size % count == 0
            places = np.minimum(np.arange(size) // max(1, size // count), count - 1)
            new_array = new_array if count == 1 else np.take(new_array, places, axis)
        items.append(new_array)
    return items, divides_evenly


def _range(dtype: np.dtype[Any], bits: int) -> tuple[int, int]:
    if dtype.kind not in "iu" or not 1 < bits <= 8 * dtype.itemsize:
        raise InputError(f"quantize: expected {bits}-bit integers, found {dtype}")
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _default_zero_point(dtype: np.dtype[Any], bits: int) -> int:
    return 2 ** (bits - 1) if dtype.kind == "u" else 0


def _clamp_numbers(x: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers clamped to integers of `dtype`, nan as the minimum."""
    return store_as(np.where(np.isnan(x), np.float32(np.iinfo(dtype).min), x), dtype)


def fake_quantize(
    x: NDArray[Any],
    input_low: NDArray[Any],
    input_high: NDArray[Any],
    output_low: NDArray[Any],
    output_high: NDArray[Any],
    *,
    levels: int,
) -> NDArray[Any]:
    """Return x rounded to `levels` evenly spaced numbers in the output range.

    They represent evenly spaced numbers from input_low to input_high. x up to the lower limit becomes output_low, x
    above the higher limit output_high; rounding is half to even. Limits are broadcast to x.
    """
    require_float("fake_quantize", x)
    if levels < 2:
        raise InputError(f"fake_quantize: expected at least 2 levels, found {levels}")
    shape = x.shape
    arrays = broadcast_arrays("fake_quantize", x, input_low, input_high, output_low, output_high, broadcast=True)
    require_shape("fake_quantize", "limits that broadcast", arrays[0].shape, shape)
    with ignore_warnings():
        values, low, high, bottom, top = (array.astype(np.float64) for array in arrays)
        steps = np.float64(levels - 1)
        quantized = np.rint((values - low) / (high - low) * steps) / steps * (top - bottom) + bottom
        result = np.where(values > np.maximum(low, high), top, quantized)
        return round_to(np.where(values <= np.minimum(low, high), bottom, result), x.dtype)
