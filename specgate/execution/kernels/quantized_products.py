"""Convolutions, matrix products and means of quantized numbers, exact in between and quantized again where asked to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to
from specgate.execution.kernels.convolution import convolution
from specgate.execution.kernels.elementwise import held, undefined, whole
from specgate.execution.kernels.pooling import average_pool
from specgate.execution.kernels.products import multiply_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = [
    "convolve_integers",
    "convolve_quantized",
    "mean_of_quantized",
    "multiply_integers",
    "multiply_quantized",
    "multiply_to_floats",
]


def convolve_integers(
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
    """Return the convolution of inputs and filters, each less its zero point, in int32, which wraps around.

    inputs: [batch, channels, spatial…]. filters: [output channels, channels / groups, spatial…]. Padding counts as the
    zero point. Zero points hold one number, that of the filters also one for each output channel, along the second
    dimension; 0 if absent. sizes: of the result, whatever the end paddings; None for what these give.
    """
    whole("convolution", inputs)
    whole("convolution", filters)
    many = filters.shape[0]
    left = _less(inputs, _spread("an input's zero point", input_zero_point, 1, 1, inputs.ndim))
    point = _spread("filters' zero points", filter_zero_point, many, 1, filters.ndim)
    right = _less(filters, point if point is None else np.swapaxes(point, 0, 1))
    found = convolution(
        left, right, transposed=False, flipped=False, strides=strides, dilations=dilations,
        start_padding=start_padding, end_padding=end_padding, output_padding=(0,) * (inputs.ndim - 2), groups=groups,
        sizes=sizes, sizes_decide=True,
    )  # fmt: skip
    return _wrapped(found)


def convolve_quantized(
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
    """Return what `convolve_integers` does, and a bias, times both scales, quantized to the integers `dtype`.

    bias: [1, output channels, 1…], in units of the product of both scales. Scales are as their zero points. What is
    nan, of scales of 0 or without bounds, is masked. point_wraps: as for `multiply_quantized`.
    """
    found = convolve_integers(
        inputs, filters, input_zero_point, filter_zero_point, strides=strides, dilations=dilations,
        start_padding=start_padding, end_padding=end_padding, groups=groups, sizes=sizes,
    )  # fmt: skip
    if bias is not None:
        require_shape("convolution", "a bias", bias.shape, (1, found.shape[1], *(1,) * (found.ndim - 2)))
        found = found + bias.astype(np.int32)
    scale = _factor("an input's scale", input_scale, 1, 1, found.ndim)
    scale = scale * _factor("filters' scales", filter_scale, found.shape[1], 1, found.ndim)
    with memory.quiet():
        return _quantized(found.astype(np.float32), scale, output_scale, output_zero_point, 1, 1, dtype, point_wraps)


def multiply_integers(
    a: NDArray[Any],
    b: NDArray[Any],
    a_zero_point: NDArray[Any] | None = None,
    b_zero_point: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the products of matrices, each less its zero point, in int32, which wraps around.

    a: […, M, K]; b: […, K, N], with the same dimensions in front. Zero points hold one number, or one for each row of
    a, along the last dimension but one, and for each column of b, along the last; 0 if absent.
    """
    return _wrapped(_product(a, b, a_zero_point, b_zero_point))


def multiply_quantized(
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
    """Return what `multiply_integers` does, times both scales, quantized to the integers `dtype`.

    Scales are as their zero points; those of the output are one, or one for each row. What is nan is masked.
    point_wraps: the quotient is held in 32 bits, and adding the zero point wraps around there.
    """
    found = multiply_integers(a, b, a_zero_point, b_zero_point)
    rows = _factor("scales of rows", a_scale, a.shape[-2], -2, 2)
    with memory.quiet():
        scale = rows * _factor("scales of columns", b_scale, b.shape[-1], -1, 2)
        return _quantized(
            found.astype(np.float32), scale, output_scale, output_zero_point, a.shape[-2], -2, dtype, point_wraps
        )


def multiply_to_floats(
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
    """Return the products of matrices, each less its zero point and times its scale, and a bias, as floats of `dtype`.

    The arguments are those of `multiply_quantized`. bias: of the shape of the result and its type.
    """
    rows = _factor("scales of rows", a_scale, a.shape[-2], -2, 2)
    columns = _factor("scales of columns", b_scale, b.shape[-1], -1, 2)
    with memory.quiet():
        found = _product(a, b, a_zero_point, b_zero_point, rows, columns)
        if bias is not None:
            require_shape(
                "matrix product", f"a bias of {dtype}", bias.shape if bias.dtype == dtype else (), found.shape
            )
            found += bias
        return round_to(found, dtype)


def mean_of_quantized(
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
    """Return the mean under each window of `inputs` [batch, channels, spatial…], quantized to the integers `dtype`.

    Padding counts as the zero point; the other arguments are as for `average_pool`. Scales and zero points hold one
    number, or one for each channel, along the second dimension.
    """
    whole("pooling", inputs)
    many = inputs.shape[1]
    left = _less(inputs, _spread("an input's zero points", input_zero_point, many, 1, inputs.ndim))
    with memory.quiet():
        left = left.astype(np.float32) * _factor("an input's scales", input_scale, many, 1, inputs.ndim)
    found = average_pool(
        left, strides=strides, window=window, start_padding=start_padding, end_padding=end_padding,
        include_padding=include_padding, dilations=dilations, sizes=sizes,
    )  # fmt: skip
    return _quantized(found, None, output_scale, output_zero_point, many, 1, dtype)


def _product(
    a: NDArray[Any],
    b: NDArray[Any],
    a_zero_point: NDArray[Any] | None,
    b_zero_point: NDArray[Any] | None,
    a_scale: NDArray[Any] | None = None,
    b_scale: NDArray[Any] | None = None,
) -> NDArray[np.float64]:
    whole("matrix product", a)
    whole("matrix product", b)
    if a.ndim < 2 or a.ndim != b.ndim or a.shape[:-2] != b.shape[:-2] or a.shape[-1] != b.shape[-2]:
        raise InputError(f"matrix product: the shapes {list(a.shape)} and {list(b.shape)} have none")
    left = _less(a, _spread("zero points of rows", a_zero_point, a.shape[-2], -2, 2))
    right = _less(b, _spread("zero points of columns", b_zero_point, b.shape[-1], -1, 2))
    if a_scale is not None and b_scale is not None:
        left, right = left * a_scale, right * b_scale
    result = memory.empty((*a.shape[:-1], b.shape[-1]), np.dtype(np.float64))
    multiply_matrices(left, right, result)
    return result


def _spread(what: str, array: NDArray[Any] | None, count: int, axis: int, rank: int) -> NDArray[Any] | None:
    """Return one number, or `count` of them along `axis`, in an array of `rank` dimensions; None stays."""
    if array is None:
        return None
    shape = [1] * rank
    if array.size != 1:
        found = array.shape[axis] if -array.ndim <= axis < array.ndim else 0
        if array.size != count or found != count:
            raise InputError(f"expected one number as {what}, or {count} along one axis, found {list(array.shape)}")
        shape[axis] = count
    return array.reshape(shape)


def _factor(what: str, array: NDArray[Any], count: int, axis: int, rank: int) -> NDArray[Any]:
    """Return scales, one or `count` of them along `axis`, as float32."""
    return np.asarray(_spread(what, array, count, axis, rank), np.float32)


def _less(array: NDArray[Any], zero_point: NDArray[Any] | None) -> NDArray[np.float64]:
    """Return integers less their zero point; differences of 32 bits, and sums of products of 8 bits, are exact."""
    wide = array.astype(np.float64)
    if zero_point is not None:
        whole("a zero point", zero_point)
        wide -= zero_point
    return wide


def _wrapped(array: NDArray[np.float64]) -> NDArray[np.int32]:
    return array.astype(np.int64).astype(np.int32)


def _quantized(
    array: NDArray[Any],
    factor: NDArray[Any] | None,
    scale: NDArray[Any],
    zero_point: NDArray[Any] | None,
    count: int,
    axis: int,
    dtype: np.dtype[Any],
    point_wraps: bool = False,
) -> NDArray[Any]:
    """Return rint(array * (factor / scale)) + zero point of float32, held in the range of the integers `dtype`.

    Without a factor, the array is divided. What is nan is masked. count, axis: of the scales and zero points, where
    they are not one.
    """
    if zero_point is not None and zero_point.dtype != dtype:
        raise InputError(f"expected an output's zero point of {dtype}, found {zero_point.dtype}")
    point = _spread("an output's zero points", zero_point, count, axis, array.ndim)
    with memory.quiet():
        divisor = _factor("an output's scales", scale, count, axis, array.ndim)
        found = np.rint(array / divisor if factor is None else array * (factor / divisor))
        if point_wraps and point is not None:
            total: NDArray[Any] = (held(found, np.dtype(np.int32)).astype(np.int64) + point).astype(np.int32)
        else:
            total = found if point is None else found + point.astype(np.float32)
        return undefined(held(total, dtype), np.isnan(found))
