"""Matrix products with quantized weights, float results.

com.microsoft DynamicQuantizeMatMul, MatMulBnb4, MatMulIntegerToFloat, MatMulNBits, QGemm, QLinearConv.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import ignore_warnings, require_float, store_as
from specgate.execution.kernels.matmul import multiply_matrices
from specgate.execution.kernels.quantize import dynamic_quantize_linear
from specgate.execution.kernels.quantized_conv_matmul import matmul_integer, qlinear_conv

if TYPE_CHECKING:
    from numpy.typing import NDArray


def quantized_gemm(
    a: NDArray[Any],
    a_scale: NDArray[Any],
    a_zero: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    b_zero: NDArray[Any],
    c: NDArray[Any] | None = None,
    scale: NDArray[Any] | None = None,
    zero: NDArray[Any] | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
) -> NDArray[Any]:
    """Return alpha * a @ b + c of quantized matrices (com.microsoft QGemm).

    The result is float32, or quantized by `scale` and `zero`. a_scale, a_zero, scale, zero: one element. b_scale,
    b_zero: one, or one per column. c: int32, broadcast to the product, in units of alpha times both scales. Rounding is
    half to even.
    """
    if a.ndim != 2 or b.ndim != 2 or a_scale.size != 1 or a_zero.size != 1 or b_scale.size != b_zero.size:
        raise InputError("matrix product: expected 2-D inputs, one zero point per scale, and one scale for A")
    left, right = (a.T if transpose_a else a), (b.T if transpose_b else b)
    total = matmul_integer(left, right, a_zero, b_zero)
    with ignore_warnings():
        if c is not None:
            if c.ndim > 2 or any(n not in {1, m} for n, m in zip(c.shape[::-1], total.shape[::-1], strict=False)):
                raise InputError(
                    f"matrix product: a bias of shape {list(c.shape)} does not match the output {list(total.shape)}"
                )
            total = total + c
        factor = np.float32(alpha) * a_scale.reshape(()) * _check_columns("scales", b_scale, total.shape[1])
        if scale is None or zero is None:
            return np.asarray(total.astype(np.float32) * factor, np.float32)
        if scale.size != 1 or zero.size != 1:
            raise InputError("matrix product: expected one scale and one zero point for the output")
        result = np.rint(total.astype(np.float32) * (factor / scale.reshape(()))) + np.float32(zero.reshape(()))
        return store_as(np.where(np.isnan(result), np.float32(np.iinfo(zero.dtype).min), result), zero.dtype)


def _check_columns(noun: str, array: NDArray[Any], columns: int) -> NDArray[Any]:
    if array.size == 1:
        return array.reshape(())
    require_shape("matrix product", noun, array.shape, (columns,))
    return array


def dynamic_quantize_matmul(
    a: NDArray[Any],
    b: NDArray[Any],
    b_scale: NDArray[Any],
    b_zero: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return a @ b + bias, with a quantized dynamically by its range.

    b: quantized, with parameters per column. bias: per column. The product is 0 where a is all zeros; everything is
    masked where a has no finite range.
    """
    require_float("matrix product", a)
    numbers, scale, zero = dynamic_quantize_linear(a)
    if isinstance(numbers, np.ma.MaskedArray):
        numbers = np.zeros(a.shape, np.uint8)
        zero = np.zeros((), np.uint8)
    array = _scale_total(matmul_integer(numbers, b, zero, b_zero), scale, b_scale, b, bias)
    return array if np.isfinite(scale) else np.ma.MaskedArray(array, np.ones(array.shape, np.bool_))


def matmul_integer_to_float(
    a: NDArray[Any],
    b: NDArray[Any],
    a_scale: NDArray[Any],
    b_scale: NDArray[Any],
    a_zero: NDArray[Any] | None = None,
    b_zero: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
) -> NDArray[Any]:
    """Return the dequantized a @ b + bias, of the scales' type.

    a_scale, a_zero: one, or one per column of a. b_scale, b_zero, bias: one, or one per column of b.
    """
    if a_scale.size == 1 and (a_zero is None or a_zero.size == 1):
        return _scale_total(matmul_integer(a, b, a_zero, b_zero), a_scale, b_scale, b, bias)
    if a.ndim < 1 or b.ndim < 1 or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise InputError(f"matrix product: shapes {list(a.shape)} and {list(b.shape)} cannot be multiplied")
    with ignore_warnings():
        points = np.int64(0) if a_zero is None else _check_columns("zero points", a_zero, a.shape[-1]).astype(np.int64)
        left = (a - points) * to_float64(_check_columns("scales", a_scale, a.shape[-1]))
        right = b - (0 if b_zero is None else _check_columns("zero points", b_zero, b.shape[-1]).astype(np.float64))
        total = multiply_matrices(
            left if a.ndim > 1 else left[np.newaxis], right if b.ndim > 1 else right[:, np.newaxis]
        )
        total = total if a.ndim > 1 else total[..., 0, :]
        return _scale_total(total if b.ndim > 1 else total[..., 0], np.ones((), np.float32), b_scale, b, bias)


def _scale_total(
    total: NDArray[Any], a_scale: NDArray[Any], b_scale: NDArray[Any], b: NDArray[Any], bias: NDArray[Any] | None
) -> NDArray[Any]:
    columns = b.shape[-1] if b.ndim > 1 else 1
    dtype = b_scale.dtype
    with ignore_warnings():
        factor = a_scale.astype(np.float32).reshape(()) * _check_columns("scales", b_scale, columns).astype(np.float32)
        array = total.astype(np.float32) * factor
        if bias is not None:
            require_shape("matrix product", "a bias", bias.shape, (columns,))
            array = array + bias.astype(np.float32).reshape((columns,) if b.ndim > 1 else ())
        return round_to(np.asarray(array), dtype)


def matmul_n_bits(
    a: NDArray[Any],
    b: NDArray[Any],
    scales: NDArray[Any],
    zeros: NDArray[Any] | None = None,
    bias: NDArray[Any] | None = None,
    groups: NDArray[Any] | None = None,
    *,
    rows: int,
    columns: int,
    bits: int,
    block: int,
    computed: bool = True,
) -> NDArray[Any]:
    """Return a @ w.T + bias with block-quantized weights, as in MatMulNBits.

    w: [columns, rows], quantized per block along the rows. b: uint8 [columns, blocks, block * bits / 8], the first
    number in the lowest bits. scales: one per column and block. zeros: likewise, packed per column if uint8; default
    2**(bits - 1). bias: [columns]. groups: [rows], the block whose scale and zero point each row uses, default its own.
    computed: no requested feature is missing from this kernel.
    """
    if not computed:
        raise NoKernel("matrix product: weights in another layout are not supported")
    require_float("matrix product", a, scales)
    if bits not in {2, 4, 8} or block < 1 or block * bits % 8 or a.ndim < 1 or a.shape[-1] != rows:
        raise InputError(f"matrix product: {bits} bits in blocks of {block} do not match A of shape {list(a.shape)}")
    count = -(-rows // block)
    if b.shape != (columns, count, block * bits // 8) or scales.size != columns * count:
        raise InputError(f"matrix product: expected {count} blocks of {block} values per column, for {columns} columns")
    memory.check_budget((columns, count * block), np.dtype(np.float64))
    with ignore_warnings():
        numbers = unpack_numbers(b.reshape(columns, b.size // max(1, columns)), bits)[:, :rows].astype(np.float64)
        group_numbers = np.arange(rows) // block if groups is None else _groups(groups, rows, count)
        points = _points(zeros, (columns, count), bits)
        factors = to_float64(scales).reshape(columns, count)
        weights = (numbers - points[:, group_numbers]) * factors[:, group_numbers]
        array = multiply_matrices(to_float64(a).reshape(prod(a.shape[:-1]), rows), weights.T).reshape(
            *a.shape[:-1], columns
        )
        if bias is not None:
            require_shape("matrix product", "a bias", bias.shape, (columns,))
            array = array + to_float64(bias)
        return round_to(array, a.dtype)


def _groups(groups: NDArray[Any], rows: int, count: int) -> NDArray[Any]:
    """Return the block of each row; raise InputError for an invalid block."""
    require_shape("matrix product", "row blocks", groups.shape, (rows,))
    if groups.size and not 0 <= int(groups.min()) <= int(groups.max()) < count:
        raise InputError(
            f"matrix product: expected blocks below {count}, found {int(groups.min())}, {int(groups.max())}"
        )
    return groups


def unpack_numbers(data: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """Return numbers unpacked along the last dimension, lowest bits first."""
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    shifted_codes = (data[..., np.newaxis] >> shifts) & np.uint8(2**bits - 1)
    return np.asarray(shifted_codes.reshape(*data.shape[:-1], data.shape[-1] * len(shifts)), np.uint8)


def _points(zeros: NDArray[Any] | None, shape: tuple[int, int], bits: int) -> NDArray[np.float64]:
    columns, count = shape
    if zeros is None:
        return np.full(shape, float(2 ** (bits - 1)))
    packed = zeros.dtype == np.uint8
    values_per_row = -(-count * bits // 8) if packed else count
    if zeros.size != columns * values_per_row:
        raise InputError(f"matrix product: expected {columns * values_per_row} zero points, found {zeros.size}")
    table = zeros.reshape(columns, values_per_row)
    return (unpack_numbers(table, bits)[:, :count] if packed else table).astype(np.float64)


#: Values of the 4-bit codes: FP4 (sign, two exponent bits, one mantissa bit, maximum 1), and NF4, quantiles of a normal
#: distribution between -1 and 1.
_FP4: Final = (0.0, 0.0625 / 12, 8 / 12, 12 / 12, 4 / 12, 6 / 12, 2 / 12, 3 / 12)
_NF4: Final = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip
_CODES: Final = {0: np.array([*_FP4, *(-x for x in _FP4)], np.float32), 1: np.array(_NF4, np.float32)}


def matmul_bnb4(
    a: NDArray[Any],
    b: NDArray[Any],
    peaks: NDArray[Any],
    *,
    rows: int,
    columns: int,
    block: int,
    kind: int,
    transposed: bool = True,
) -> NDArray[Any]:
    """Return a @ w.T, or a @ w if not transposed, as in MatMulBnb4.

    w: [columns, rows] of 4-bit codes, scaled per block. b: uint8, two codes per byte, the first in the upper bits.
    peaks: absolute maximum per block of w in row-major order. kind: 0 for FP4, 1 for NF4.
    """
    require_float("matrix product", a, peaks)
    inner, count = (rows if transposed else columns), rows * columns
    if kind not in _CODES or block < 1 or a.ndim < 1 or a.shape[-1] != inner:
        raise InputError(f"matrix product: codes of kind {kind} in blocks of {block} do not match {list(a.shape)}")
    require_shape("matrix product", "codes", b.shape, (-(-count // 2),))
    require_shape("matrix product", "peaks", peaks.shape, (-(-count // block),))
    memory.check_budget((count,), np.dtype(np.float64))
    with ignore_warnings():
        codes = np.stack([b >> 4, b & 15], axis=1).reshape(-1)[:count]
        weights = (_CODES[kind][codes] * peaks.astype(np.float32)[np.arange(count) // block]).astype(np.float64)
        matrix = weights.reshape(columns, rows)
        array = multiply_matrices(to_float64(a).reshape(prod(a.shape[:-1]), inner), matrix.T if transposed else matrix)
        return round_to(array.reshape(*a.shape[:-1], array.shape[-1]), a.dtype)


def qlinear_conv_nhwc(inputs: NDArray[Any], *, channels_last: bool = False, **others: Any) -> NDArray[Any]:
    """Return `qlinear_conv`, with channels last if channels_last."""
    if inputs.ndim < 3:
        raise InputError(f"convolution: expected a batch, channels and spatial dimensions, found {list(inputs.shape)}")
    array = qlinear_conv(np.moveaxis(inputs, -1, 1) if channels_last else inputs, **others)
    return np.moveaxis(array, 1, -1) if channels_last else array
