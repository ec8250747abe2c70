"""Linear quantization with one scale for all elements, one for each place along an axis, or for each block there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, is_float, require_shape, round_to
from specgate.execution.kernels.casting_elements import cast_elements
from specgate.execution.kernels.elementwise import quiet
from specgate.execution.kernels.narrow import is_stored, widened
from specgate.execution.kernels.quantization import dequantize_linear, quantize_linear
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["dequantize_by_axis", "quantize_by_axis"]


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
    """Return what `quantize_linear` does, in the type of the zero point, else `dtype`, else uint8; the first two agree.

    scale, zero_point: of one element, or a list along `axis`, or of the rank of `x`, each for `block` places along
    `axis`. type_number: what the output's type is asked for by, 0 for not; `dtype` is then the type of that number. In
    a narrow float it is the quotient plus the zero point, cast as `cast_elements` does with `saturate`.
    """
    if zero_point is None and dtype is None and type_number:
        raise InputError(f"quantize: {type_number} is the number of no type")
    if zero_point is not None and dtype not in {None, zero_point.dtype}:
        raise InputError(f"quantize: the zero point is {zero_point.dtype}, but the output {dtype}")
    kind = zero_point.dtype if zero_point is not None else dtype or np.dtype(np.uint8)
    if scale.dtype.kind in "iu":
        x, scale = x.astype(np.float64), scale.astype(np.float64)
    factors, points = _fitted(x, widened(scale), zero_point, axis, block)
    if not is_stored(kind):
        result: NDArray[Any] = quantize_linear(x, factors, points, dtype=kind)
        return result
    memory.hold(x.shape, np.dtype(np.float64))
    with quiet():
        quotient = x.astype(np.float32) / factors.astype(np.float32)
        moved = np.float32(0) if points is None else widened(points).astype(np.float32)
        ends = integer_range(kind)
        if ends is None:
            return cast_elements(quotient + moved, to=kind, saturate=saturate)
        whole = np.clip(np.rint(quotient) + moved, *ends)
        return np.where(np.isnan(whole), 0, whole).astype(np.int8).astype(kind)


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
    """Return what `dequantize_linear` does, in the type of the scale, or as type_number says in `dtype`.

    The other arguments are those of `quantize_by_axis`.
    """
    if dtype is None and type_number:
        raise InputError(f"quantize: {type_number} is the number of no type")
    wanted = dtype if type_number else None
    if is_stored(scale.dtype) and wanted is None:
        raise InputError(f"quantize: numbers in {scale.dtype} are scales only, they say no type for the output")
    x, scale = widened(x), widened(scale)
    factors, points = _fitted(x, scale, None if zero_point is None else widened(zero_point), axis, block)
    if not is_float(x.dtype):
        return dequantize_linear(x, factors, points, dtype=wanted)
    memory.hold(x.shape, np.dtype(np.float64))
    with quiet():
        moved = x if points is None else x - points
        return round_to(moved * factors.astype(np.float32), wanted or scale.dtype)


def _fitted(
    x: NDArray[Any], scale: NDArray[Any], zero_point: NDArray[Any] | None, axis: int, block: int
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return scales and zero points, which have one shape, repeated to that of `x`."""
    factors = _spread(x, scale, axis, block)
    if zero_point is None:
        return factors, None
    if zero_point.size != 1 or scale.size != 1:
        require_shape("quantize", "a zero point", zero_point.shape, scale.shape)
    return factors, _spread(x, zero_point, axis, block)


def _spread(x: NDArray[Any], array: NDArray[Any], axis: int, block: int) -> NDArray[Any]:
    """Return scales or zero points repeated to the shape of `x`."""
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), x.shape)
    place = axis + x.ndim if axis < 0 else axis
    if x.ndim == 1:
        place = 0
    check_axis(place, x.ndim, "quantize")
    if x.ndim == 1 and array.ndim == 1 and not block and array.shape != x.shape:
        raise NoKernel(f"quantize: it is not said what {array.size} scales are for among {x.size} elements")
    if array.ndim == 1 and (x.ndim > 1 or not block):
        require_shape("quantize", "scales along an axis", array.shape, (x.shape[place],))
        return np.broadcast_to(array.reshape(-1, *(1,) * (x.ndim - 1 - place)), x.shape)
    if array.ndim != x.ndim or block < 1:
        raise InputError(f"quantize: scales of shape {list(array.shape)} do not fit {list(x.shape)}")
    blocks = -(-x.shape[place] // block)
    require_shape("quantize", "scales of blocks", array.shape, (*x.shape[:place], blocks, *x.shape[place + 1 :]))
    return np.take(np.repeat(array, block, place), range(x.shape[place]), place)
