"""Matrix multiplication (matmul, gemm) in blocks within the time budget.

DirectML GEMM; ONNX Gemm, MatMul; OpenVINO GroupedMatMul, MatMul.
"""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float32, to_float64

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "batch_of", "gemm", "matrix_product", "multiply_groups", "multiply_matrices", "multiply_rounded",
    "scaled_matrix_product",
]  # fmt: skip

#: Multiplications between two checks of the time: a fraction of a second, also for integers.
_BLOCK: Final = 2**28
#: Matrix elements converted per block, so that they are still cached when multiplied; also the size of the largest of
#: several matrices up to which scratch memory is reused.
_CONVERTED, _TOGETHER = 2**20, 2**15


def multiply_matrices(left: NDArray[Any], right: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return ``left @ right``, at least 2-D, with broadcast batch dimensions.

    The result is written to `out` if given. Raises InputError once the time budget is exceeded.
    """
    batch = batch_of(left, right)
    shape = (*batch, left.shape[-2], right.shape[-1])
    if prod(shape) * left.shape[-1] <= _BLOCK:
        return np.matmul(left, right, out=out)
    result = memory.empty(shape, np.result_type(left, right)) if out is None else out
    lefts = np.broadcast_to(left, (*batch, *left.shape[-2:]))
    rights = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    rows = max(1, _BLOCK // max(1, left.shape[-1] * right.shape[-1]))
    for place in memory.in_time(np.ndindex(batch)):
        for top in memory.in_time(range(0, left.shape[-2], rows)):
            np.matmul(lefts[place][top : top + rows], rights[place], out=result[place][top : top + rows])
    return result


def batch_of(left: NDArray[Any], right: NDArray[Any]) -> tuple[int, ...]:
    """Return the batch shape of a product; raise ValueError if incompatible."""
    one, other = left.shape[:-2], right.shape[:-2]
    return one if one == other or not other else np.broadcast_shapes(one, other)


def multiply_rounded(left: NDArray[Any], right: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return ``left @ right`` of floats in float64, rounded to `dtype`.

    Batches and time are handled as in `multiply_matrices`.
    """
    shape = (*batch_of(left, right), left.shape[-2], right.shape[-1])
    if dtype == np.float64 or (left.shape[:-2] != right.shape[:-2] and right.ndim > 2):
        product = memory.empty(shape, np.dtype(np.float64))
        multiply_matrices(to_float64(left), to_float64(right), product)
        return round_to(product, dtype)
    result = memory.empty(shape, dtype)
    if result.size:
        if right.ndim == 2:
            rows = prod(shape[:-1])
            _multiply_by_columns(left.reshape(rows, left.shape[-1]), right, result.reshape(rows, shape[-1]))
        else:
            lists = (each.reshape(prod(shape[:-2]), *each.shape[-2:]) for each in (left, right, result))
            _multiply_lists(*lists)
    return result


def _multiply_by_columns(left: NDArray[Any], right: NDArray[Any], result: NDArray[Any]) -> None:
    """Write the product of two matrices, some columns at a time."""
    wide = left.astype(np.float64)
    (rows, inner), count = left.shape, right.shape[1]
    each = min(count, max(16, _CONVERTED // max(1, rows, inner) // 16 * 16))
    rooms = np.empty(inner * each), np.empty(rows * each)  # reused: fresh memory is slower
    for first in memory.in_time(range(0, count, each)):
        columns = slice(first, min(first + each, count))
        many = columns.stop - first
        part, array = (room[: size * many].reshape(size, many) for room, size in zip(rooms, left.T.shape, strict=True))
        part[...] = right[:, columns]
        result[:, columns] = _rounded(multiply_matrices(wide, part, array), result.dtype)


def _multiply_lists(left: NDArray[Any], right: NDArray[Any], result: NDArray[Any]) -> None:
    """Write products of [count, rows, columns], some matrices at a time."""
    arrays = left, right, result
    many = min(len(result), max(1, _TOGETHER // max(1, *(prod(each.shape[1:]) for each in arrays))))
    rooms = [np.empty((many, *each.shape[1:])) for each in arrays]
    for first in memory.in_time(range(0, len(result), many)):
        some = slice(first, min(first + many, len(result)))
        one, other, array = (room[: some.stop - first] for room in rooms)
        one[...], other[...] = left[some], right[some]
        result[some] = _rounded(multiply_matrices(one, other, array), result.dtype)


def _rounded(wide: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an array to be rounded to `dtype`: float32 for narrower types."""
    return wide if dtype.itemsize >= 4 else to_float32(wide, dtype)


def gemm(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any] | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    activation: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """Return activation(alpha * a @ b + beta * c), of the type of `a`.

    a: […, M, K], or […, K, M] if transposed; b: […, K, N], or […, N, K]; c: of the result's shape, optional. The
    leading dimensions are equal. activation: function of a float32 array.
    """
    if a.ndim < 2 or b.ndim != a.ndim or a.dtype != b.dtype:
        raise InputError(f"gemm: expected two arrays of matrices, found {a.dtype}{a.shape} and {b.dtype}{b.shape}")
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    if left.shape[:-2] != right.shape[:-2] or left.shape[-1] != right.shape[-2]:
        raise InputError(
            f"gemm: matrices of the shapes {list(left.shape)} and {list(right.shape)} cannot be multiplied"
        )
    shape = (*left.shape[:-1], right.shape[-1])
    if c is not None:
        require_shape("gemm", f"a summand of type {a.dtype}", c.shape if c.dtype == a.dtype else (), shape)
    with memory.quiet():
        product = memory.empty(shape, np.dtype(np.float64))
        multiply_matrices(to_float64(left), to_float64(right), product)
        result = to_float64(to_float32(product, a.dtype)) * np.float32(alpha)
        if c is not None:
            result += to_float64(c) * np.float32(beta)
        result = to_float32(result, a.dtype)
        return round_to(result if activation is None else activation(result), a.dtype)


def matrix_product(
    a: NDArray[Any], b: NDArray[Any], *, transpose_a: bool = False, transpose_b: bool = False
) -> NDArray[Any]:
    """Return the matrix product of the last two dimensions, others broadcast.

    The result has the type of `a` and `b`. A 1-D `a` is a row, a 1-D `b` a column, whether transposed or not; the
    result drops that dimension. Integers wrap around.
    """
    if not a.ndim or not b.ndim or a.dtype != b.dtype:
        raise InputError(
            f"matrix product: expected arrays of one type, found {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        )
    left = a[np.newaxis] if a.ndim == 1 else np.swapaxes(a, -1, -2) if transpose_a else a
    right = b[:, np.newaxis] if b.ndim == 1 else np.swapaxes(b, -1, -2) if transpose_b else b
    try:
        if left.shape[-1] != right.shape[-2]:
            raise ValueError
        batch = batch_of(left, right)
    except ValueError:
        raise InputError(
            f"matrix product: shapes {list(left.shape)} and {list(right.shape)} cannot be multiplied"
        ) from None
    with memory.quiet():
        if is_float(a.dtype):
            result = multiply_rounded(left, right, a.dtype)
        else:
            result = memory.empty((*batch, left.shape[-2], right.shape[-1]), a.dtype)
            multiply_matrices(left, right, result)
    if b.ndim == 1:
        result = result[..., 0]
    return result[..., 0, :] if a.ndim == 1 and b.ndim > 1 else result[..., 0] if a.ndim == 1 else result


def scaled_matrix_product(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any] | None = None,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    stretch: bool = True,
) -> NDArray[Any]:
    """Return alpha * a @ b + beta * c, with c broadcast to the product.

    Integers are truncated at the end. stretch: c may have another shape than the product.
    """
    if a.ndim != 2 or b.ndim != 2 or a.dtype != b.dtype:
        raise InputError(f"gemm: expected two matrices, found {a.dtype}{a.shape} and {b.dtype}{b.shape}")
    product = matrix_product(a.T if transpose_a else a, b.T if transpose_b else b)
    if c is not None and not stretch:
        require_shape("gemm", "a summand", c.shape, product.shape)
    if c is None:
        summand = np.zeros((), a.dtype)
    elif c.dtype != a.dtype or c.ndim > 2 or any(m not in {1, n} for m, n in zip(c.shape[::-1], product.shape[::-1],
                                                                              strict=False)):  # fmt: skip
        raise InputError(f"gemm: a summand of {c.dtype}{c.shape} does not broadcast to {a.dtype}{product.shape}")
    else:
        summand = c
    with memory.quiet():
        if not is_float(a.dtype):
            if all(abs(number) < 2**63 and number == int(number) for number in (alpha, beta)):
                factors = (np.asarray(int(number)).astype(a.dtype) for number in (alpha, beta))
                return np.asarray(next(factors) * product + next(factors) * summand)
            real = np.float32(alpha) * product.astype(np.float64) + np.float32(beta) * summand.astype(np.float64)
            return np.trunc(real).astype(a.dtype)
        if a.dtype == np.float32 and c is not None and alpha == beta == 1:
            product += summand  # a sum of two float32 is rounded the same with or without float64 between
            return product
        result = to_float64(product) * np.float32(alpha) + to_float64(summand) * np.float32(beta)
        return round_to(result if c is not None else to_float64(product) * np.float32(alpha), a.dtype)


def multiply_groups(a: NDArray[Any], b: NDArray[Any], ends: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the product of each group, as in OpenVINO GroupedMatMul.

    The result has the type of `a` and `b`. a [groups, M, K] and b [groups, K, N]: [groups, M, N], without ends. a
    [rows, K] and b [groups, K, N]: [rows, N], where a group is the rows up to its end. a [K, columns] and b [columns,
    N]: [groups, K, N], where a group is that part of the columns of a and of the rows of b. ends: [groups], ascending;
    the last one is the number of rows or columns. Integers wrap around.
    """
    ranks = a.ndim, b.ndim
    if a.dtype != b.dtype or ranks not in {(3, 3), (2, 3), (2, 2)} or (ends is None) != (ranks == (3, 3)):
        raise InputError(f"groups: {a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)} cannot be multiplied")
    if a.shape[-1] != b.shape[-2]:
        raise InputError(f"groups: {a.shape[-1]} columns and {b.shape[-2]} rows cannot be multiplied")
    dtype = np.dtype(np.float64) if is_float(a.dtype) else a.dtype
    left, right = to_float64(a), to_float64(b)
    with memory.quiet():
        if ends is None:
            require_shape("groups", "matrices", b.shape[:1], a.shape[:1])
            return round_to(multiply_matrices(left, right, memory.empty((*a.shape[:2], b.shape[2]), dtype)), a.dtype)
        groups = _groups(ends, a.shape[0] if b.ndim == 3 else a.shape[1])
        if b.ndim == 3:
            require_shape("groups", "matrices", b.shape[:1], ends.shape)
        shape = (a.shape[0], b.shape[2]) if b.ndim == 3 else (len(groups), a.shape[0], b.shape[1])
        result = memory.empty(shape, dtype)
        for group, part in memory.in_time(enumerate(groups)):
            if b.ndim == 3:
                result[part] = multiply_matrices(left[part], right[group])
            else:
                result[group] = multiply_matrices(left[:, part], right[part])
        return round_to(result, a.dtype)


def _groups(ends: NDArray[Any], count: int) -> list[slice]:
    """Return the slice of each group.

    Raises InputError unless the groups cover `count` in order.
    """
    bounds = [0, *ends.reshape(-1).tolist()]
    if ends.ndim != 1 or any(end < start for start, end in pairwise(bounds)):
        raise InputError(f"groups: expected ends that do not fall, found {bounds[1:]!r:.80}")
    if bounds[-1] != count:
        raise InputError(f"groups: expected {count} as the end of the last group, found {bounds[-1]}")
    return [slice(start, end) for start, end in pairwise(bounds)]
