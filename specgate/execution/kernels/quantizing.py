"""Quantization with a scale that the numbers themselves give, or with one for each block of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to
from specgate.execution.kernels.arithmetic import quiet as with_quiet_nans
from specgate.execution.kernels.elementwise import held, quiet, want_float, whole
from specgate.execution.kernels.row_blocks import BLOCK, blocks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["dequantize_in_blocks", "quantize_by_range", "quantize_in_blocks", "quantize_over_range"]


def quantize_by_range(
    x: NDArray[Any], *, dtype: np.dtype[Any], scale_sizes: Sequence[int], zero_point_sizes: Sequence[int]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return x quantized to the integers `dtype`, the scale in float32 and the zero point.

    The range is that of the numbers and of 0, and nan is no number: scale = range * (1 / (greatest - least of dtype)),
    zero point = least of dtype - least of x / scale. Halves go to the even neighbour; what is nan becomes the least.
    scale_sizes, zero_point_sizes: their shapes, of one element and the rank of x.
    """
    want_float("dynamic quantization", x)
    for what, sizes in (("a scale", scale_sizes), ("a zero point", zero_point_sizes)):
        require_shape("dynamic quantization", what, sizes, (1,) * x.ndim)
    limits = np.iinfo(dtype)
    values = with_quiet_nans(x.astype(np.float32))
    with quiet():
        low = np.fmin.reduce(values, axis=None, initial=np.float32(0))
        high = np.fmax.reduce(values, axis=None, initial=np.float32(0))
        scale = np.float32(high - low) * np.float32(1 / (int(limits.max) - int(limits.min)))
        point = _held(np.rint(np.float32(limits.min) - low / scale), dtype)
        result = _held(np.rint(values / scale) + point.astype(np.float32), dtype)
    return result, np.full(tuple(scale_sizes), scale, np.float32), np.full(tuple(zero_point_sizes), point, dtype)


def quantize_over_range(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return `x` as uint8 by a scale and a zero point that make the most of it, these two scalars behind it.

    The scale is the distance between the least and the greatest element, or 0, divided by 255. Where it is 0, nan or
    infinite, numbers and zero point are masked.
    """
    ends = (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)  # nan where there is one
    with quiet():
        low, high = (
            np.float32(np.nan if np.isnan(end) else limit(0.0, end))
            for limit, end in zip((min, max), ends, strict=True)
        )
        scale = np.array((high - low) / np.float32(255), np.float32)
        memory.hold(x.shape, np.dtype(np.float32))
        if not np.isfinite(scale) or scale == 0:
            point = np.ma.MaskedArray(np.array(0, np.uint8), mask=True)
            return np.ma.MaskedArray(np.zeros(x.shape, np.uint8), mask=np.ones(x.shape, np.bool_)), scale, point
        zero = np.array(np.rint(np.clip(np.float32(0) - low / scale, 0, 255)), np.uint8)
        return _filling(x, ends, scale, zero), scale, zero


def _filling(x: NDArray[Any], ends: tuple[float, float], scale: NDArray[Any], zero: NDArray[Any]) -> NDArray[np.uint8]:
    """Return round(x / scale) + zero of finite numbers, halves to even, held from 0 to 255, some of them at a time.

    ends: the least and the greatest of `x`. What becomes of other elements lies between what becomes of these, so that
    nothing has to be held where they need not be.
    """
    result = np.empty(x.shape, np.uint8)
    flat, made = np.ascontiguousarray(x).reshape(-1), result.reshape(-1)
    room = np.empty(min(BLOCK, flat.size), np.promote_types(x.dtype, np.float32))
    point = zero.astype(np.float32)
    least, greatest = np.rint(np.array(ends, x.dtype) / scale) + point
    beyond = not (least >= 0 and greatest <= 255)
    for some in blocks_of(flat.size, 1):
        scaled = np.divide(flat[some], scale, out=room[: some.stop - some.start])
        np.rint(scaled, out=scaled)
        scaled += point
        if beyond:
            np.clip(scaled, 0, 255, out=scaled)
        made[some] = scaled
    return result


def quantize_in_blocks(
    x: NDArray[Any], parameters: Sequence[NDArray[Any]], *, with_zero_points: bool, bits: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return rint(x / scale) + zero point, held in the range of so many bits of the integers `dtype`.

    parameters: scales of the type of x, and zero points of `dtype` if there are any, each of the rank of x and for
    blocks of equal size; an absent zero point is 0, or the middle of a range that begins with 0. Halves go to the even
    neighbour; what is nan becomes the least. Masked where sizes of a parameter do not divide those of x.
    """
    scale, point = _parameters(x, parameters, with_zero_points)
    low, high = _range(dtype, bits)
    if scale.dtype != x.dtype or (point is not None and point.dtype != dtype):
        raise InputError(f"quantize: expected scales of {x.dtype} and zero points of {dtype}")
    (factors, points), fit = _repeated(x.shape, scale, point)
    with quiet():
        found = np.rint(x.astype(np.float32) / factors.astype(np.float32))
        found = found + (np.float32(_middle(dtype, bits)) if points is None else points.astype(np.float32))
        result = np.clip(np.where(np.isnan(found), low, found), low, high).astype(dtype)
    return result if fit else np.ma.MaskedArray(result, np.ones(x.shape, np.bool_))


def dequantize_in_blocks(
    x: NDArray[Any], parameters: Sequence[NDArray[Any]], *, with_zero_points: bool, bits: int, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return (x - zero point) * scale of integers of so many bits, as floats of `dtype`.

    parameters: as for `quantize_in_blocks`, scales of `dtype` and zero points of the type of x.
    """
    scale, point = _parameters(x, parameters, with_zero_points)
    whole("dequantize", x)
    if scale.dtype != dtype or (point is not None and point.dtype != x.dtype):
        raise InputError(f"dequantize: expected scales of {dtype} and zero points of {x.dtype}")
    (factors, points), fit = _repeated(x.shape, scale, point)
    with quiet():
        less = np.float32(_middle(x.dtype, bits)) if points is None else points.astype(np.float32)
        result = round_to((x.astype(np.float32) - less) * factors.astype(np.float32), dtype)
    return result if fit else np.ma.MaskedArray(result, np.ones(x.shape, np.bool_))


def _parameters(
    x: NDArray[Any], parameters: Sequence[NDArray[Any]], with_zero_points: bool
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    if len(parameters) != 1 + with_zero_points or any(each.ndim != x.ndim for each in parameters):
        raise InputError(
            f"quantize: expected {1 + with_zero_points} parameters of {x.ndim} dimensions, found shapes of "
            f"{', '.join(str(list(each.shape)) for each in parameters) or 'none'}"
        )
    if not is_float(parameters[0].dtype):
        raise InputError(f"quantize: expected scales, found {parameters[0].dtype}")
    return parameters[0], parameters[1] if with_zero_points else None


def _repeated(shape: tuple[int, ...], *arrays: NDArray[Any] | None) -> tuple[list[Any], bool]:
    """Return arrays of blocks repeated to a shape, and whether their sizes divide it; where not, it is any of them."""
    found: list[Any] = []
    fit = True
    for array in arrays:
        if array is None:
            found.append(None)
            continue
        made = array
        for axis, (size, count) in enumerate(zip(shape, array.shape, strict=True)):
            fit = fit and size % count == 0
            places = np.minimum(np.arange(size) // max(1, size // count), count - 1)
            made = made if count == 1 else np.take(made, places, axis)
        found.append(made)
    return found, fit


def _range(dtype: np.dtype[Any], bits: int) -> tuple[int, int]:
    if dtype.kind not in "iu" or not 1 < bits <= 8 * dtype.itemsize:
        raise InputError(f"quantize: expected integers of {bits} bits, found {dtype}")
    return (0, 2**bits - 1) if dtype.kind == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _middle(dtype: np.dtype[Any], bits: int) -> int:
    return 2 ** (bits - 1) if dtype.kind == "u" else 0


def _held(x: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers as integers of `dtype`, held in its range, nan as the least."""
    return held(np.where(np.isnan(x), np.float32(np.iinfo(dtype).min), x), dtype)
