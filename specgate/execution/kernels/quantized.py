"""Quantized operators (QLinear*): dequantize, compute in float, quantize.

com.microsoft GatherBlockQuantized, NhwcMaxPool, QEmbedLayerNormalization, QLinearAdd, QLinearAveragePool,
QLinearConcat, QLinearGlobalAveragePool, QLinearLeakyRelu, QLinearMul, QLinearSigmoid, QLinearSoftmax, QLinearWhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.activation import exact_sigmoid, leaky_relu
from specgate.execution.kernels.arithmetic import check_axis, round_to
from specgate.execution.kernels.elementwise import (
    broadcast_arrays,
    ignore_warnings,
    require_float,
    require_integers,
    select,
    store_as,
)
from specgate.execution.kernels.gather import places_and_outside
from specgate.execution.kernels.matmul_n_bits import unpack_numbers
from specgate.execution.kernels.narrow_types import widen_array
from specgate.execution.kernels.pool import average_pool_nd, max_pool_nd
from specgate.execution.kernels.reshape import join
from specgate.execution.kernels.skip_layer_norm import embed_layer_normalization
from specgate.execution.kernels.softmax import softmax_along
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_SINGLE: Final = np.dtype(np.float32)


def _scalar_of(noun: str, array: NDArray[Any] | None, dtype: np.dtype[Any]) -> Any:
    """Return the only element of a scale or zero point as float32, default 0."""
    if array is None:
        return np.float32(0)
    if array.size != 1 or array.ndim > 1 or array.dtype != dtype:
        raise InputError(f"quantized: expected one element of {dtype} as {noun}, found {array.size} of {array.dtype}")
    return np.float32(array.reshape(())[()])


def dequantize(x: NDArray[Any], scale: NDArray[Any], zero: NDArray[Any] | None) -> NDArray[Any]:
    """Return dequantized floats."""
    require_integers("quantized", x)
    memory.check_budget(x.shape, np.dtype(np.float64))
    factor = _scalar_of("a scale", scale, np.dtype(np.float32))
    real: NDArray[Any] = (x.astype(np.float32) - _scalar_of("a zero point", zero, x.dtype)) * factor
    return real


def _quantize_floats(
    real: NDArray[Any], scale: NDArray[Any], zero: NDArray[Any] | None, dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return floats quantized to `dtype`.

    Rounded half to even before the zero point is added.
    """
    steps = np.rint(real / _scalar_of("a scale", scale, _SINGLE))
    return _round_to_integer(steps + _scalar_of("a zero point", zero, dtype), dtype)


def _round_to_integer(array: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers as integers of `dtype`, half to even, nan as the minimum."""
    result = np.rint(array)
    return store_as(np.where(np.isnan(result), np.float32(np.iinfo(dtype).min), result), dtype)


def qlinear_add(
    a: NDArray[Any],
    a_scale: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    scale: NDArray[Any],
    a_zero: NDArray[Any] | None = None,
    b_zero: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the quantized sum of broadcast arrays of one type.

    Quantized to that type by `scale` and `zero`. Scales are first divided by the output scale; numbers times the
    quotients, less the combined zero points, are added in float32.
    """
    a, b = broadcast_arrays("quantized", a, b, broadcast=True)
    points = _scalar_of("a zero point", a_zero, a.dtype), _scalar_of("a zero point", b_zero, a.dtype)
    memory.check_budget(a.shape, np.dtype(np.float64))
    with ignore_warnings():
        last = _scalar_of("a scale", scale, _SINGLE)
        first, second = (
            np.float32(_scalar_of("a scale", scale_array, _SINGLE) / last) for scale_array in (a_scale, b_scale)
        )
        constant = _scalar_of("a zero point", zero, a.dtype) - (first * points[0] + second * points[1])
        result = (b.astype(np.float64) * second + constant).astype(np.float32)
        return _round_to_integer((a.astype(np.float64) * first + result).astype(np.float32), a.dtype)


def quantized_mul(
    a: NDArray[Any],
    a_scale: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    scale: NDArray[Any],
    a_zero: NDArray[Any] | None = None,
    b_zero: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the quantized product of broadcast arrays of one type.

    Quantized to that type by `scale` and `zero`. The scales are first multiplied, and divided by the output scale.
    """
    a, b = broadcast_arrays("quantized", a, b, broadcast=True)
    unit = np.ones((), np.float32)
    with ignore_warnings():
        factor = (
            _scalar_of("a scale", a_scale, _SINGLE)
            * _scalar_of("a scale", b_scale, _SINGLE)
            / _scalar_of("a scale", scale, _SINGLE)
        )
        result = dequantize(a, unit, a_zero) * dequantize(b, unit, b_zero) * factor
        return _round_to_integer(result + _scalar_of("a zero point", zero, a.dtype), a.dtype)


def quantized_where(
    condition: NDArray[Any],
    a: NDArray[Any],
    a_scale: NDArray[Any],
    a_zero: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    b_zero: NDArray[Any],
    scale: NDArray[Any],
    zero: NDArray[Any],
) -> NDArray[Any]:
    """Return `a` where the condition holds, else `b`, requantized.

    Quantized to their type by `scale` and `zero`. Elements that already have this scale and zero point are unchanged.
    """
    arrayses, parts = ((a, a_scale, a_zero), (b, b_scale, b_zero)), []
    with ignore_warnings():
        for x, own_scale, own_zero in arrayses:
            array = _quantize_floats(dequantize(x, own_scale, own_zero), scale, zero, zero.dtype)
            parts.append(x if own_scale == scale and own_zero == zero else array)
    return select(condition, *parts, broadcast=True)


def quantized_sigmoid(
    x: NDArray[Any],
    x_scale: NDArray[Any],
    scale: NDArray[Any],
    x_zero: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the sigmoid of quantized numbers, requantized to their type."""
    with ignore_warnings():
        return _quantize_floats(exact_sigmoid(dequantize(x, x_scale, x_zero)), scale, zero, x.dtype)


def quantized_leaky_relu(
    x: NDArray[Any],
    x_scale: NDArray[Any],
    scale: NDArray[Any],
    x_zero: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
    *,
    alpha: float,
) -> NDArray[Any]:
    """Return the leaky relu of quantized numbers, requantized to their type."""
    with ignore_warnings():
        return _quantize_floats(leaky_relu(dequantize(x, x_scale, x_zero), alpha=alpha), scale, zero, x.dtype)


def quantized_softmax(
    x: NDArray[Any],
    x_scale: NDArray[Any],
    scale: NDArray[Any],
    x_zero: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
    *,
    axis: int,
    to_end: bool = False,
) -> NDArray[Any]:
    """Return `softmax_along` of quantized numbers, requantized to their type."""
    with ignore_warnings():
        return _quantize_floats(
            softmax_along(dequantize(x, x_scale, x_zero), axis=axis, to_end=to_end), scale, zero, x.dtype
        )


def quantized_concat(
    parts: Sequence[NDArray[Any]], scale: NDArray[Any], zero: NDArray[Any], *, axis: int
) -> NDArray[Any]:
    """Return arrays concatenated along `axis`, each requantized.

    parts: an array, its scale and its zero point, then those of the next. Arrays that already have `scale` and `zero`
    are unchanged.
    """
    if not parts or len(parts) % 3:
        raise InputError(f"quantized: expected a scale and a zero point after each array, found {len(parts)} in all")
    arrays = []
    with ignore_warnings():
        for x, x_scale, x_zero in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
            if x.dtype != zero.dtype:
                raise InputError(f"quantized: expected inputs of type {zero.dtype}, found {x.dtype}")
            arrays.append(_quantize_floats(dequantize(x, x_scale, x_zero), scale, zero, zero.dtype))
    check_axis(axis, arrays[0].ndim, "quantized")
    return join(arrays, axis=axis)


def quantized_average_pool_nd(
    x: NDArray[Any],
    x_scale: NDArray[Any],
    scale: NDArray[Any],
    x_zero: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
    *,
    channels_last: bool = False,
    **slide: Any,
) -> NDArray[Any]:
    """Return `average_pool_nd` of quantized numbers, requantized.

    channels_last: channels of x and the result are the last dimension. Padding counts as 0. Rounding is half to even
    after the zero point is added. Other arguments are those of `average_pool_nd`.
    """
    with ignore_warnings():
        mean = average_pool_nd(_channels_moved(dequantize(x, x_scale, x_zero), channels_last), **slide)
        array = _round_to_integer(
            mean / _scalar_of("a scale", scale, _SINGLE) + _scalar_of("a zero point", zero, x.dtype), x.dtype
        )
    return np.moveaxis(array, 1, -1) if channels_last else array


def quantized_global_average_pool(
    x: NDArray[Any],
    x_scale: NDArray[Any],
    scale: NDArray[Any],
    x_zero: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
    *,
    channels_last: bool = False,
) -> NDArray[Any]:
    """Return the quantized global average per channel, spatial sizes 1."""
    if x.ndim < 3:
        raise InputError(f"quantized: expected a batch, channels and spatial dimensions, found {list(x.shape)}")
    if 0 in (x.shape[1:-1] if channels_last else x.shape[2:]):
        raise InputError(f"quantized: {list(x.shape)} has no elements to average")
    axes = tuple(range(1, x.ndim - 1)) if channels_last else tuple(range(2, x.ndim))
    with ignore_warnings():
        mean = dequantize(x, x_scale, x_zero).mean(axis=axes, keepdims=True, dtype=np.float64).astype(np.float32)
        return _quantize_floats(mean, scale, zero, x.dtype)


def nhwc_max_pool(x: NDArray[Any], **slide: Any) -> NDArray[Any]:
    """Return `max_pool_nd` of x with channels last."""
    return np.moveaxis(max_pool_nd(_channels_moved(x, channels_last=True), **slide)[0], 1, -1)


def _channels_moved(x: NDArray[Any], channels_last: bool) -> NDArray[Any]:
    if x.ndim < 3:
        raise InputError(f"pooling: expected a batch, channels and spatial dimensions, found {list(x.shape)}")
    return np.moveaxis(x, -1, 1) if channels_last else x


def gather_block_quantized(
    data: NDArray[Any],
    indices: NDArray[Any],
    scales: NDArray[Any],
    zeros: NDArray[Any] | None = None,
    *,
    gather_axis: int,
    quantize_axis: int,
    block: int,
    bits: int,
) -> NDArray[Any]:
    """Return dequantized slices along `gather_axis` selected by indices.

    data: integers or floats of at most 8 bits; if uint8, `bits`-bit numbers packed along the last dimension, lowest
    bits first. scales, zeros: one per block along `quantize_axis`, of the sizes of data along others, or 1 where data
    are floats. block: 0 for one block. Zero points of packed numbers are packed likewise; default 2**(bits - 1) for
    uint8, else 0. Negative indices count from the end; indices out of range give 0.
    """
    require_float("gather", scales)
    for axis in (gather_axis, quantize_axis):
        check_axis(axis, data.ndim, "gather")
    packed = bits if data.dtype == np.uint8 else 8
    if packed not in {2, 4, 8}:
        raise InputError(f"gather: expected 2, 4 or 8 bits, found {bits}")
    numbers = unpack_numbers(data, packed) if packed < 8 else data
    count, size = numbers.shape[quantize_axis], block or max(1, numbers.shape[quantize_axis])
    shape = (*numbers.shape[:quantize_axis], -(-count // size), *numbers.shape[quantize_axis + 1 :])
    _require_fitting("scales", scales, shape, quantize_axis, stretched=integer_range(data.dtype) is None)
    places, is_outside = places_and_outside(indices.reshape(-1), numbers.shape[gather_axis])
    result = memory.empty(_replace_dimension(numbers.shape, gather_axis, (places.size,)), scales.dtype)
    result[...] = 0
    if numbers.shape[gather_axis]:
        points = np.float32(1 << bits - 1 if data.dtype == np.uint8 else 0)
        parts = [scales] if zeros is None else [scales, _points(zeros, data, shape, packed, quantize_axis)]
        fitted = [_select_parameters(part, places, gather_axis, quantize_axis, (count, size)) for part in parts]
        with ignore_warnings():
            numbers_array = _to_single(np.take(numbers, places, gather_axis))
            shifted = numbers_array - (points if zeros is None else _to_single(fitted[1]))
            result[...] = round_to(shifted * fitted[0].astype(np.float32), scales.dtype)
        result[(slice(None),) * gather_axis + (is_outside,)] = 0
    return result.reshape(_replace_dimension(numbers.shape, gather_axis, indices.shape))


def _replace_dimension(shape: Sequence[int], axis: int, sizes: Sequence[int]) -> tuple[int, ...]:
    return (*shape[:axis], *sizes, *shape[axis + 1 :])


def _to_single(array: NDArray[Any]) -> NDArray[Any]:
    return widen_array(array).astype(np.float32)


def _require_fitting(noun: str, array: NDArray[Any], shape: Sequence[int], axis: int, *, stretched: bool) -> None:
    """Raise InputError for scales or zero points that do not match the blocks.

    stretched: along other axes they may have size 1.
    """
    pairs = enumerate(zip(array.shape, shape, strict=False))
    if array.ndim != len(shape) or any(
        n != m and (n != 1 or dimension == axis or not stretched) for dimension, (n, m) in pairs
    ):
        raise InputError(f"gather: {noun} of shape {list(array.shape)} do not match blocks of shape {list(shape)}")


def _points(zeros: NDArray[Any], data: NDArray[Any], shape: Sequence[int], packed: int, axis: int) -> NDArray[Any]:
    if zeros.dtype != data.dtype or integer_range(data.dtype) is None:
        raise InputError(f"gather: zero points of {zeros.dtype} do not match data of type {data.dtype}")
    if packed == 8:
        _require_fitting("zero points", zeros, shape, axis, stretched=False)
        return zeros
    if axis != len(shape) - 1:
        raise NoKernel(
            "gather: it is unspecified how zero points are packed unless blocks are along the last dimension"
        )
    _require_fitting("zero points", zeros, (*shape[:-1], -(-shape[-1] * packed // 8)), axis, stretched=False)
    return unpack_numbers(zeros, packed)[..., : shape[-1]]


def _select_parameters(
    array: NDArray[Any], places: NDArray[Any], gather_axis: int, quantize_axis: int, blocks: tuple[int, int]
) -> NDArray[Any]:
    """Return scales or zero points of the selected positions.

    blocks: number of positions, and positions per block.
    """
    count, size = blocks
    if gather_axis == quantize_axis:
        return np.take(array, places // size, gather_axis)
    rows = array if array.shape[gather_axis] == 1 else np.take(array, places, gather_axis)
    return np.take(rows, np.arange(count) // size, quantize_axis)


def quantized_embed_layer_normalization(
    words: NDArray[Any],
    word_table: NDArray[Any],
    place_table: NDArray[Any],
    scale: NDArray[Any],
    shift: NDArray[Any],
    segments: NDArray[Any] | None = None,
    segment_table: NDArray[Any] | None = None,
    mask: NDArray[Any] | None = None,
    *,
    epsilon: float,
    **numbers: NDArray[Any],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first two results of `embed_layer_normalization`, dequantized.

    Tables, scale and shift are quantized. numbers: the scale and zero point of each, by its name with the suffixes _by
    and _zero.
    """
    arrays_by_name = {"word_table": word_table, "place_table": place_table, "scale": scale, "shift": shift}
    if segment_table is not None:
        arrays_by_name["segment_table"] = segment_table
    missing = [name for name in arrays_by_name if f"{name}_by" not in numbers or f"{name}_zero" not in numbers]
    if missing:
        raise InputError(f"expected a scale and a zero point per table, but these are missing: {', '.join(missing)}")
    with ignore_warnings():
        tables = {
            name: dequantize(array, numbers[f"{name}_by"], numbers[f"{name}_zero"])
            for name, array in arrays_by_name.items()
        }
    result, mask_counts, _ = embed_layer_normalization(words, segments=segments, mask=mask, epsilon=epsilon, **tables)
    return result, mask_counts
