"""Linear quantization to small integers, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import round_to, to_float32
from specgate.execution.kernels.elementwise import held, paired, quiet, want_float, whole

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["dequantize_linear", "once", "quantize_linear", "quantized_add"]


def quantize_linear(
    x: NDArray[Any], scale: NDArray[Any], zero_point: NDArray[Any] | None = None, *, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return round(x / scale) + zero_point, halves to the even neighbour, held in the range of the integers `dtype`.

    All have one shape; x may hold integers, the scale holds floats, and the zero point is of `dtype`; 0 if absent.
    """
    x, scale = paired("quantize_linear", x, scale, same_type=False)
    want_float("quantize_linear", scale)
    point = _zero_point("quantize_linear", zero_point, x, dtype)
    with quiet():
        scaled = np.asarray(_single(x) / _single(once(scale)))
        np.rint(scaled, out=scaled)
        scaled += point
        return _held(scaled, dtype)


def _held(x: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return whole numbers in float32 as `held` does."""
    if dtype.kind not in "iu" or dtype.itemsize > 2:
        return held(x, dtype)
    limits = np.iinfo(dtype)
    np.clip(x, limits.min, limits.max, out=x)
    if x.size and np.isnan(x.max()):
        x[np.isnan(x)] = 0
    return x.astype(dtype)


def once(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array with a size of 1 along each dimension that repeats its elements, as `numpy.broadcast_to` does."""
    return array[tuple(slice(1) if step == 0 else slice(None) for step in array.strides)]


def dequantize_linear(
    x: NDArray[Any],
    scale: NDArray[Any],
    zero_point: NDArray[Any] | None = None,
    *,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return (x - zero_point) * scale in the type `dtype`, the scale's if absent; the zero point is 0 if absent.

    The difference is that of two float32, so that 32-bit integers lose their low bits before it.
    """
    x, scale = paired("dequantize_linear", x, scale, same_type=False)
    whole("dequantize_linear", x)
    want_float("dequantize_linear", scale)
    point = _zero_point("dequantize_linear", zero_point, x, x.dtype)
    with quiet():
        wide, factor = x.astype(np.float32), _single(once(scale))
        wide -= point
        return round_to(
            np.multiply(wide, factor, out=wide if factor.dtype == wide.dtype else None), dtype or scale.dtype
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
    """Return the sum of two quantized tensors of one shape, quantized again to the integers `dtype`.

    Scales and zero points hold one element each; a zero point that is absent is 0. What is nan
    becomes the least number.
    """
    a, b = paired("quantized_add", a, b, same_type=False)
    whole("quantized_add", a)
    whole("quantized_add", b)
    with quiet():
        total = _real(a, a_scale, a_zero_point) + _real(b, b_scale, b_zero_point)
        point = 0 if output_zero_point is None else int(_one("output_zero_point", output_zero_point, dtype))
        made = np.rint(total / _one("output_scale", output_scale)) + np.float32(point)
        return held(np.where(np.isnan(made), np.float32(np.iinfo(dtype).min), made), dtype)


def _real(x: NDArray[Any], scale: NDArray[Any], zero_point: NDArray[Any] | None) -> NDArray[Any]:
    point = 0 if zero_point is None else int(_one("a zero point", zero_point))
    real: NDArray[Any] = (x.astype(np.int64) - point).astype(np.float32) * _one("a scale", scale)
    return real


def _one(what: str, array: NDArray[Any], dtype: np.dtype[Any] | None = None) -> Any:
    if array.size != 1 or (dtype is not None and array.dtype != dtype):
        found = f"{array.size} of {array.dtype}"
        raise InputError(
            f"quantized_add: expected one element{f' of {dtype}' if dtype else ''} as {what}, found {found}"
        )
    return array.reshape(())[()]


def _single(x: NDArray[Any]) -> NDArray[Any]:
    return to_float32(x, x.dtype) if x.dtype.kind == "f" else x.astype(np.float32)


def _zero_point(name: str, zero_point: NDArray[Any] | None, x: NDArray[Any], dtype: np.dtype[Any]) -> Any:
    """Return the zero point as float32."""
    if zero_point is None:
        return np.float32(0)
    paired(name, x, zero_point, same_type=False)
    if zero_point.dtype != dtype:
        raise InputError(f"{name}: expected a zero point of {dtype}, found {zero_point.dtype}")
    return once(zero_point).astype(np.float32)
