"""Integer convolution and matmul of 8-bit numbers, exact or requantized.

DirectML CONVOLUTION_INTEGER, MATRIX_MULTIPLY_INTEGER, MATRIX_MULTIPLY_INTEGER_TO_FLOAT,
QUANTIZED_LINEAR_AVERAGE_POOLING, QUANTIZED_LINEAR_CONVOLUTION, QUANTIZED_LINEAR_MATRIX_MULTIPLY; ONNX ConvInteger,
MatMulInteger, QLinearConv, QLinearMatMul.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.conv import convolution, convolve
from specgate.execution.kernels.elementwise import ignore_warnings, mask_undefined, require_integers, store_as
from specgate.execution.kernels.matmul import multiply_matrices
from specgate.execution.kernels.pool import average_pool

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

#: Up to this many products of two 8-bit numbers less zero points sum below 2**24, where float32 is exact.
_EXACT: Final = 256


def matmul_integer(
    a: NDArray[Any], b: NDArray[Any], a_zero: NDArray[Any] | None = None, b_zero: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return (a - a_zero) @ (b - b_zero) in wrapping int32.

    A vector is a row or a column, dropped from the result; leading dimensions are broadcast. a_zero: one, one per row,
    or of the rank of `a` with last size 1; b_zero: one, one per column, or likewise.
    """
    with ignore_warnings():
        return (
            _multiply_exactly(_subtract_zero_point(a, a_zero, rows=True), _subtract_zero_point(b, b_zero, rows=False))
            .astype(np.int64)
            .astype("i4")
        )


def qlinear_matmul(
    a: NDArray[Any],
    a_scale: NDArray[Any],
    a_zero: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    b_zero: NDArray[Any],
    scale: NDArray[Any],
    zero: NDArray[Any],
) -> NDArray[Any]:
    """Return `matmul_integer` requantized by the scales, plus `zero`.

    The factor is a_scale * b_scale / scale. Rounded half to even and clamped to the type of `zero`. Scales have the
    shapes of their zero points.
    """
    for factors, zeros in ((a_scale, a_zero), (b_scale, b_zero), (scale, zero)):
        if factors.size != zeros.size:
            raise InputError(f"multiply: {factors.size} scales do not match {zeros.size} zero points")
    if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        raise NoKernel("multiply: it is unspecified how products of narrow floats are rounded")
    with ignore_warnings():
        total = _multiply_exactly(
            _subtract_zero_point(a, a_zero, rows=True), _subtract_zero_point(b, b_zero, rows=False)
        )
        left, right = _broadcast_parameters(a, a_scale, rows=True), _broadcast_parameters(b, b_scale, rows=False)
        left = left[..., 0] if b.ndim == 1 and left.ndim else left
        right = right[..., 0, :] if a.ndim == 1 and right.ndim > 1 else right
        factor = (
            left.astype(np.float32)
            * right.astype(np.float32)
            / _broadcast_parameters(total, scale, rows=True).astype(np.float32)
        )
        return _quantize_total(total, factor, _broadcast_parameters(total, zero, rows=True), zero.dtype)


def conv_integer(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    zero: NDArray[Any] | None = None,
    filter_zero: NDArray[Any] | None = None,
    **slide: Any,
) -> NDArray[Any]:
    """Return the convolution of integers less zero points, in wrapping int32.

    Padding is the zero point. zero: one element. filter_zero: one, or one per output channel. slide: strides,
    dilations, pads, auto_pad, groups and window of `convolve`.
    """
    return _convolve_integers(inputs, filters, zero, filter_zero, slide).astype(np.int64).astype(np.int32)


def qlinear_conv(
    inputs: NDArray[Any],
    inputs_scale: NDArray[Any],
    inputs_zero: NDArray[Any],
    filters: NDArray[Any],
    filters_scale: NDArray[Any],
    filters_zero: NDArray[Any],
    scale: NDArray[Any],
    zero: NDArray[Any],
    bias: NDArray[Any] | None = None,
    **slide: Any,
) -> NDArray[Any]:
    """Return `conv_integer` plus bias, requantized, plus `zero`.

    The factor is inputs_scale * filters_scale / scale. Rounded half to even and clamped to the type of `zero`. bias:
    int32, per output channel.
    """
    for array in (inputs_scale, inputs_zero, scale, zero):
        if array.size != 1:
            raise InputError("convolution: expected one scale and one zero point for the input, and for the output")
    if filters_scale.size != filters_zero.size:
        raise InputError("convolution: expected the same number of scales and zero points for the filters")
    total = _convolve_integers(inputs, filters, inputs_zero, filters_zero, slide)
    column = (-1, *(1,) * (filters.ndim - 2))
    if bias is not None:
        require_shape("convolution", "a bias", bias.shape, filters.shape[:1])
        total = total + bias.reshape(column)
    single = [array.astype(np.float32) for array in (inputs_scale, filters_scale, scale)]
    with ignore_warnings():
        factor = (
            single[0].reshape(()) * single[1].reshape(column if single[1].size != 1 else ()) / single[2].reshape(())
        )
        return _quantize_total(total, factor, zero.reshape(()), zero.dtype)


def _subtract_zero_point(array: NDArray[Any], zero: NDArray[Any] | None, *, rows: bool) -> NDArray[Any]:
    singles = array.astype(np.float32)
    return singles if zero is None else singles - _broadcast_parameters(array, zero, rows=rows).astype(np.float32)


def _broadcast_parameters(array: NDArray[Any], factors: NDArray[Any], *, rows: bool) -> NDArray[Any]:
    """Return scales or zero points that broadcast to their matrices."""
    if factors.size == 1:
        return factors.reshape(())
    if factors.ndim == 1 and array.ndim >= 2:
        if factors.size == array.shape[-2 if rows else -1]:
            return factors[:, np.newaxis] if rows else factors
        if array.ndim == 2:
            raise InputError(
                f"multiply: {factors.size} scales or zero points do not match a matrix of shape {list(array.shape)}"
            )
    if factors.ndim == array.ndim and all(n in {1, size} for n, size in zip(factors.shape, array.shape, strict=True)):
        if factors.ndim < 2 or factors.shape[-1 if rows else -2] == 1:
            return factors
        raise InputError(
            f"multiply: expected one scale or zero point per {'row' if rows else 'column'}, found {list(factors.shape)}"
        )
    raise NoKernel(f"multiply: it is unspecified how scales or zero points of shape {list(factors.shape)} apply")


def _multiply_exactly(left: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """Return the exact product of integers in float64, like numpy's matmul."""
    matrix = left[np.newaxis] if left.ndim == 1 else left
    other = right[:, np.newaxis] if right.ndim == 1 else right
    if not left.ndim or not right.ndim or matrix.shape[-1] != other.shape[-2]:
        raise InputError(
            f"multiply: matrices of shapes {list(left.shape)} and {list(right.shape)} cannot be multiplied"
        )
    try:
        batch = np.broadcast_shapes(matrix.shape[:-2], other.shape[:-2])
    except ValueError:
        raise InputError(
            f"multiply: matrices of shapes {list(left.shape)} and {list(right.shape)} cannot be multiplied"
        ) from None
    total = memory.empty((*batch, matrix.shape[-2], other.shape[-1]), np.dtype(np.float64))
    total[...] = 0
    for first in memory.within_time_limit(range(0, matrix.shape[-1], _EXACT)):
        part = slice(first, first + _EXACT)
        total += multiply_matrices(matrix[..., part], other[..., part, :])
    total = total[..., 0] if right.ndim == 1 else total
    return total[..., 0, :] if left.ndim == 1 and right.ndim > 1 else total[..., 0] if left.ndim == 1 else total


def _convolve_integers(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    zero: NDArray[Any] | None,
    filter_zero: NDArray[Any] | None,
    slide: dict[str, Any],
) -> NDArray[Any]:
    if zero is not None and zero.size != 1:
        raise InputError(f"convolution: expected one zero point for the input, found {zero.size}")
    if inputs.ndim < 3 or filters.ndim != inputs.ndim:
        raise InputError(
            f"convolution: filters of shape {list(filters.shape)} do not match an input of shape {list(inputs.shape)}"
        )
    data = to_float64(inputs.astype(np.float64)) - (0 if zero is None else float(zero.reshape(())))
    weights = filters.astype(np.float64)
    if filter_zero is not None:
        if filter_zero.size != 1:
            require_shape("convolution", "zero points", filter_zero.shape, filters.shape[:1])
        column = (-1, *(1,) * (filters.ndim - 1)) if filter_zero.size != 1 else ()
        weights = weights - filter_zero.astype(np.float64).reshape(column)
    return convolve(data, weights, **slide)


def _quantize_total(
    total: NDArray[Any], factor: NDArray[Any], zero: NDArray[Any], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return integers times a float32 factor, rounded, plus a zero point.

    Clamped to an integer type.
    """
    limits = np.iinfo(dtype)
    scaled = np.rint(total.astype(np.float32) * factor) + zero.astype(np.float32)
    array: NDArray[Any] = np.clip(scaled, limits.min, limits.max)
    is_undefined = np.isnan(array)
    if not is_undefined.any():
        return array.astype(dtype)
    return np.ma.MaskedArray(np.where(is_undefined, 0, array).astype(dtype), mask=is_undefined)


def convolution_integer(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    input_zero_point: NDArray[Any] | None = None,
    filter_zero_point: NDArray[Any] | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    groups: int,
    sizes: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return the convolution less zero points, in wrapping int32.

    inputs: [batch, channels, spatial…]. filters: [output channels, channels / groups, spatial…]. Padding counts as the
    zero point. Zero points hold one number, that of the filters alternatively one per output channel along the second
    dimension; default 0. sizes: of the result, regardless of the end paddings; None to infer them.
    """
    require_integers("convolution", inputs)
    require_integers("convolution", filters)
    filter_count = filters.shape[0]
    left = _center_integers(inputs, _broadcast_numbers("the input's zero point", input_zero_point, 1, 1, inputs.ndim))
    point = _broadcast_numbers("the filters' zero points", filter_zero_point, filter_count, 1, filters.ndim)
    right = _center_integers(filters, point if point is None else np.swapaxes(point, 0, 1))
    array = convolution(
        left, right, transposed=False, flipped=False, strides=strides, dilations=dilations,
        start_padding=start_padding, end_padding=end_padding, output_padding=(0,) * (inputs.ndim - 2), groups=groups,
        sizes=sizes, sizes_decide=True,
    )  # fmt: skip
    return _wrap_to_int32(array)


def quantized_convolution(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    input_scale: NDArray[Any],
    filter_scale: NDArray[Any],
    output_scale: NDArray[Any],
    input_zero_point: NDArray[Any] | None = None,
    filter_zero_point: NDArray[Any] | None = None,
    output_zero_point: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    groups: int,
    dtype: np.dtype[Any],
    point_wraps: bool = False,
    sizes: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return `convolution_integer` plus bias, requantized to `dtype`.

    bias: [1, output channels, 1…], in units of the product of both scales. Scales have the shapes of their zero points.
    nan, from scales that are 0 or infinite, is masked. point_wraps: as for `quantized_matrix_multiply`.
    """
    array = convolution_integer(
        inputs, filters, input_zero_point, filter_zero_point, strides=strides, dilations=dilations,
        start_padding=start_padding, end_padding=end_padding, groups=groups, sizes=sizes,
    )  # fmt: skip
    if bias is not None:
        require_shape("convolution", "a bias", bias.shape, (1, array.shape[1], *(1,) * (array.ndim - 2)))
        array = array + bias.astype(np.int32)
    scale = _factor("the input's scale", input_scale, 1, 1, array.ndim)
    scale = scale * _factor("filters' scales", filter_scale, array.shape[1], 1, array.ndim)
    with memory.ignore_warnings():
        return _requantize_array(
            array.astype(np.float32), scale, output_scale, output_zero_point, 1, 1, dtype, point_wraps
        )


def matrix_multiply_integer(
    a: NDArray[Any],
    b: NDArray[Any],
    a_zero_point: NDArray[Any] | None = None,
    b_zero_point: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the matrix product less zero points, in wrapping int32.

    a: […, M, K]; b: […, K, N], with equal leading dimensions. Zero points hold one number, or one per row of a, along
    the second-last dimension, and per column of b, along the last; default 0.
    """
    return _wrap_to_int32(_product(a, b, a_zero_point, b_zero_point))


def quantized_matrix_multiply(
    a: NDArray[Any],
    b: NDArray[Any],
    a_scale: NDArray[Any],
    b_scale: NDArray[Any],
    output_scale: NDArray[Any],
    a_zero_point: NDArray[Any] | None = None,
    b_zero_point: NDArray[Any] | None = None,
    output_zero_point: NDArray[Any] | None = None,
    *,
    dtype: np.dtype[Any],
    point_wraps: bool = False,
) -> NDArray[Any]:
    """Return `matrix_multiply_integer` requantized to `dtype`.

    Scales have the shapes of their zero points; those of the output are one, or one per row. nan is masked.
    point_wraps: the quotient is clamped to 32 bits, and adding the zero point wraps around there.
    """
    array = matrix_multiply_integer(a, b, a_zero_point, b_zero_point)
    rows = _factor("row scales", a_scale, a.shape[-2], -2, 2)
    with memory.ignore_warnings():
        scale = rows * _factor("column scales", b_scale, b.shape[-1], -1, 2)
        return _requantize_array(
            array.astype(np.float32), scale, output_scale, output_zero_point, a.shape[-2], -2, dtype, point_wraps
        )


def matrix_multiply_integer_to_float(
    a: NDArray[Any],
    b: NDArray[Any],
    a_scale: NDArray[Any],
    b_scale: NDArray[Any],
    a_zero_point: NDArray[Any] | None = None,
    b_zero_point: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    *,
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Return the dequantized matrix product plus bias, as floats of `dtype`.

    Arguments are those of `quantized_matrix_multiply`. bias: of the shape and type of the result.
    """
    rows = _factor("row scales", a_scale, a.shape[-2], -2, 2)
    columns = _factor("column scales", b_scale, b.shape[-1], -1, 2)
    with memory.ignore_warnings():
        array = _product(a, b, a_zero_point, b_zero_point, rows, columns)
        if bias is not None:
            require_shape(
                "matrix product", f"a bias of {dtype}", bias.shape if bias.dtype == dtype else (), array.shape
            )
            array += bias
        return round_to(array, dtype)


def quantized_average_pool(
    inputs: NDArray[Any],
    input_scale: NDArray[Any],
    output_scale: NDArray[Any],
    input_zero_point: NDArray[Any] | None = None,
    output_zero_point: NDArray[Any] | None = None,
    *,
    strides: Sequence[int],
    window: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    dilations: Sequence[int],
    include_padding: bool,
    dtype: np.dtype[Any],
    sizes: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return average pooling of quantized inputs, requantized to `dtype`.

    inputs: [batch, channels, spatial…]. Padding counts as the zero point; other arguments are as for `average_pool`.
    Scales and zero points hold one number, or one per channel, along the second dimension.
    """
    require_integers("pooling", inputs)
    channel_count = inputs.shape[1]
    left = _center_integers(
        inputs, _broadcast_numbers("the input's zero points", input_zero_point, channel_count, 1, inputs.ndim)
    )
    with memory.ignore_warnings():
        left = left.astype(np.float32) * _factor("the input's scales", input_scale, channel_count, 1, inputs.ndim)
    array = average_pool(
        left, strides=strides, window=window, start_padding=start_padding, end_padding=end_padding,
        include_padding=include_padding, dilations=dilations, sizes=sizes,
    )  # fmt: skip
    return _requantize_array(array, None, output_scale, output_zero_point, channel_count, 1, dtype)


def _product(
    a: NDArray[Any],
    b: NDArray[Any],
    a_zero_point: NDArray[Any] | None,
    b_zero_point: NDArray[Any] | None,
    a_scale: NDArray[Any] | None = None,
    b_scale: NDArray[Any] | None = None,
) -> NDArray[np.float64]:
    require_integers("matrix product", a)
    require_integers("matrix product", b)
    if a.ndim < 2 or a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise InputError(f"matrix product: shapes {list(a.shape)} and {list(b.shape)} cannot be multiplied")
    left = _center_integers(a, _broadcast_numbers("row zero points", a_zero_point, a.shape[-2], -2, 2))
    right = _center_integers(b, _broadcast_numbers("column zero points", b_zero_point, b.shape[-1], -1, 2))
    if a_scale is not None and b_scale is not None:
        left, right = left * a_scale, right * b_scale
    result = memory.empty((*a.shape[:-1], b.shape[-1]), np.dtype(np.float64))
    multiply_matrices(left, right, result)
    return result


def _broadcast_numbers(noun: str, array: NDArray[Any] | None, count: int, axis: int, rank: int) -> NDArray[Any] | None:
    """Return one number, or `count` along `axis`, in `rank` dimensions.

    None stays None.
    """
    if array is None:
        return None
    shape = [1] * rank
    if array.size != 1:
        result = array.shape[axis] if -array.ndim <= axis < array.ndim else 0
        if array.size != count or result != count:
            raise InputError(f"expected {noun} of one element, or {count} along one axis, found {list(array.shape)}")
        shape[axis] = count
    return array.reshape(shape)


def _factor(noun: str, array: NDArray[Any], count: int, axis: int, rank: int) -> NDArray[Any]:
    """Return scales, one or `count` along `axis`, as float32."""
    return np.asarray(_broadcast_numbers(noun, array, count, axis, rank), np.float32)


def _center_integers(array: NDArray[Any], zero_point: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return integers less zero points.

    32-bit differences, and sums of 8-bit products, are exact.
    """
    wide_values = array.astype(np.float64)
    if zero_point is not None:
        require_integers("a zero point", zero_point)
        wide_values -= zero_point
    return wide_values


def _wrap_to_int32(array: NDArray[np.float64]) -> NDArray[np.int32]:
    return array.astype(np.int64).astype(np.int32)


def _requantize_array(
    array: NDArray[Any],
    factor: NDArray[Any] | None,
    scale: NDArray[Any],
    zero_point: NDArray[Any] | None,
    count: int,
    axis: int,
    dtype: np.dtype[Any],
    point_wraps: bool = False,
) -> NDArray[Any]:
    """Return rint(array * (factor / scale)) + zero point, clamped to `dtype`.

    Computed in float32. Without a factor, the array is divided. nan is masked. count, axis: of scales and zero points
    with more than one element.
    """
    if zero_point is not None and zero_point.dtype != dtype:
        raise InputError(f"expected an output zero point of {dtype}, found {zero_point.dtype}")
    point = _broadcast_numbers("the output's zero points", zero_point, count, axis, array.ndim)
    with memory.ignore_warnings():
        divisor = _factor("the output's scales", scale, count, axis, array.ndim)
        result = np.rint(array / divisor if factor is None else array * (factor / divisor))
        if point_wraps and point is not None:
            total: NDArray[Any] = (store_as(result, np.dtype(np.int32)).astype(np.int64) + point).astype(np.int32)
        else:
            total = result if point is None else result + point.astype(np.float32)
        return mask_undefined(store_as(total, dtype), np.isnan(result))
