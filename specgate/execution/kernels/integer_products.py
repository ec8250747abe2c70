"""Products of matrices and convolutions of integers of 8 bits, exact, and quantized again where that is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, to_float64
from specgate.execution.kernels.elementwise import quiet
from specgate.execution.kernels.products import multiply_matrices
from specgate.execution.kernels.windows import convolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "integer_product",
    "integer_windows",
    "quantized_product",
    "quantized_windows",
]  # fmt: skip

#: So many products of two numbers of 8 bits less zero points add up below 2**24, which float32 holds exactly.
_EXACT: Final = 256


def integer_product(
    a: NDArray[Any], b: NDArray[Any], a_zero: NDArray[Any] | None = None, b_zero: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return the matrix product of `a` less its zero points and `b` less its own, in int32, which wraps around.

    A vector is a row or a column, which goes away again; leading dimensions are broadcast. a_zero: one, one for each
    row, or of the dimensions of `a` with its last of size 1; b_zero: one, one for each column, or likewise.
    """
    with quiet():
        return _summed(_shifted(a, a_zero, rows=True), _shifted(b, b_zero, rows=False)).astype(np.int64).astype("i4")


def quantized_product(
    a: NDArray[Any],
    a_scale: NDArray[Any],
    a_zero: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    b_zero: NDArray[Any],
    scale: NDArray[Any],
    zero: NDArray[Any],
) -> NDArray[Any]:
    """Return the product as `integer_product` does, times the scales of both divided by `scale`, plus `zero`.

    It is rounded, halves to even, and held in the type of `zero`. Scales are of the sizes of their zero points.
    """
    for one, other in ((a_scale, a_zero), (b_scale, b_zero), (scale, zero)):
        if one.size != other.size:
            raise InputError(f"multiply: {one.size} scales do not go with {other.size} zero points")
    if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        raise NoKernel("multiply: it is not said how the product of narrow floats is rounded")
    with quiet():
        total = _summed(_shifted(a, a_zero, rows=True), _shifted(b, b_zero, rows=False))
        left, right = _along(a, a_scale, rows=True), _along(b, b_scale, rows=False)
        left = left[..., 0] if b.ndim == 1 and left.ndim else left
        right = right[..., 0, :] if a.ndim == 1 and right.ndim > 1 else right
        factor = left.astype(np.float32) * right.astype(np.float32) / _along(total, scale, rows=True).astype(np.float32)
        return _quantized(total, factor, _along(total, zero, rows=True), zero.dtype)


def integer_windows(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    zero: NDArray[Any] | None = None,
    filter_zero: NDArray[Any] | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    groups: int = 1,
    window: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the convolution of integers less their zero points, in int32, which wraps around; padding is the zero.

    zero: one element. filter_zero: one, or one for each output channel. Others as `convolve`.
    """
    slide = {
        "strides": strides, "dilations": dilations, "pads": pads, "auto_pad": auto_pad, "groups": groups,
        "window": window,
    }  # fmt: skip
    return _convolved(inputs, filters, zero, filter_zero, slide).astype(np.int64).astype(np.int32)


def quantized_windows(
    inputs: NDArray[Any],
    inputs_scale: NDArray[Any],
    inputs_zero: NDArray[Any],
    filters: NDArray[Any],
    filters_scale: NDArray[Any],
    filters_zero: NDArray[Any],
    scale: NDArray[Any],
    zero: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    groups: int = 1,
    window: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the convolution as `integer_windows` does, plus bias, times both scales divided by `scale`, plus `zero`.

    It is rounded, halves to even, and held in the type of `zero`. bias: int32, for each output channel.
    """
    for array in (inputs_scale, inputs_zero, scale, zero):
        if array.size != 1:
            raise InputError("convolution: expected one scale and one zero point for the input, and for the output")
    if filters_scale.size != filters_zero.size:
        raise InputError("convolution: expected as many scales as zero points for the filters")
    slide = {
        "strides": strides, "dilations": dilations, "pads": pads, "auto_pad": auto_pad, "groups": groups,
        "window": window,
    }  # fmt: skip
    total = _convolved(inputs, filters, inputs_zero, filters_zero, slide)
    column = (-1, *(1,) * (filters.ndim - 2))
    if bias is not None:
        require_shape("convolution", "a bias", bias.shape, filters.shape[:1])
        total = total + bias.reshape(column)
    single = [array.astype(np.float32) for array in (inputs_scale, filters_scale, scale)]
    with quiet():
        factor = (
            single[0].reshape(()) * single[1].reshape(column if single[1].size != 1 else ()) / single[2].reshape(())
        )
        return _quantized(total, factor, zero.reshape(()), zero.dtype)


def _shifted(array: NDArray[Any], zero: NDArray[Any] | None, *, rows: bool) -> NDArray[Any]:
    wide = array.astype(np.float32)
    return wide if zero is None else wide - _along(array, zero, rows=rows).astype(np.float32)


def _along(array: NDArray[Any], each: NDArray[Any], *, rows: bool) -> NDArray[Any]:
    """Return scales or zero points so that they broadcast to the matrices that they are for."""
    if each.size == 1:
        return each.reshape(())
    if each.ndim == 1 and array.ndim >= 2:
        if each.size == array.shape[-2 if rows else -1]:
            return each[:, np.newaxis] if rows else each
        if array.ndim == 2:
            raise InputError(f"multiply: {each.size} do not go with the matrix {list(array.shape)}")
    if each.ndim == array.ndim and all(n in {1, size} for n, size in zip(each.shape, array.shape, strict=True)):
        if each.ndim < 2 or each.shape[-1 if rows else -2] == 1:
            return each
        raise InputError(
            f"multiply: scales or zero points {list(each.shape)} are not one for each {'row' if rows else 'column'}"
        )
    raise NoKernel(f"multiply: it is not said what scales or zero points of shape {list(each.shape)} are for")


def _summed(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return the exact product of whole numbers in float64; vectors as numpy's matmul takes them."""
    one = left[np.newaxis] if left.ndim == 1 else left
    other = right[:, np.newaxis] if right.ndim == 1 else right
    if not left.ndim or not right.ndim or one.shape[-1] != other.shape[-2]:
        raise InputError(f"multiply: {list(left.shape)} and {list(right.shape)} have no product")
    try:
        batch = np.broadcast_shapes(one.shape[:-2], other.shape[:-2])
    except ValueError:
        raise InputError(f"multiply: {list(left.shape)} and {list(right.shape)} have no product") from None
    total = memory.empty((*batch, one.shape[-2], other.shape[-1]), np.dtype(np.float64))
    total[...] = 0
    for first in memory.in_time(range(0, one.shape[-1], _EXACT)):
        part = slice(first, first + _EXACT)
        total += multiply_matrices(one[..., part], other[..., part, :])
    total = total[..., 0] if right.ndim == 1 else total
    return total[..., 0, :] if left.ndim == 1 and right.ndim > 1 else total[..., 0] if left.ndim == 1 else total


def _convolved(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    zero: NDArray[Any] | None,
    filter_zero: NDArray[Any] | None,
    slide: dict[str, Any],
) -> NDArray[Any]:
    if zero is not None and zero.size != 1:
        raise InputError(f"convolution: expected one zero point for the input, found {zero.size}")
    if inputs.ndim < 3 or filters.ndim != inputs.ndim:
        raise InputError(f"convolution: filters {list(filters.shape)} do not go with {list(inputs.shape)}")
    data = to_float64(inputs.astype(np.float64)) - (0 if zero is None else float(zero.reshape(())))
    weights = filters.astype(np.float64)
    if filter_zero is not None:
        if filter_zero.size != 1:
            require_shape("convolution", "zero points", filter_zero.shape, filters.shape[:1])
        column = (-1, *(1,) * (filters.ndim - 1)) if filter_zero.size != 1 else ()
        weights = weights - filter_zero.astype(np.float64).reshape(column)
    return convolve(data, weights, **slide)


def _quantized(total: NDArray[Any], factor: NDArray[Any], zero: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return whole numbers times a factor of float32, rounded, plus a zero point, held in an integer type."""
    limits = np.iinfo(dtype)
    scaled = np.rint(total.astype(np.float32) * factor) + zero.astype(np.float32)
    made: NDArray[Any] = np.clip(scaled, limits.min, limits.max)
    undefined = np.isnan(made)
    if not undefined.any():
        return made.astype(dtype)
    return np.ma.MaskedArray(np.where(undefined, 0, made).astype(dtype), mask=undefined)
