"""Matrix multiplication in batches, with a scaled summand and an activation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float32, to_float64
from specgate.execution.kernels.products import batch_of, multiply_matrices, multiply_rounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["gemm", "matrix_product", "scaled_matrix_product"]


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
    """Return activation(alpha * a @ b + beta * c) for each matrix of the leading dimensions, of the type of `a`.

    a: […, M, K], or […, K, M] if transposed; b: […, K, N], or […, N, K]; c: the shape of the result, absent for none.
    The leading dimensions are equal. activation: of a float32 array.
    """
    if a.ndim < 2 or b.ndim != a.ndim or a.dtype != b.dtype:
        raise InputError(f"gemm: expected two arrays of matrices, found {a.dtype}{a.shape} and {b.dtype}{b.shape}")
    left = np.swapaxes(a, -1, -2) if transpose_a else a
    right = np.swapaxes(b, -1, -2) if transpose_b else b
    if left.shape[:-2] != right.shape[:-2] or left.shape[-1] != right.shape[-2]:
        raise InputError(f"gemm: matrices of the shapes {list(left.shape)} and {list(right.shape)} have no product")
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
    """Return the matrix product of the last two dimensions, the others broadcast, of the type of `a` and `b`.

    A single dimension is a row of `a` or a column of `b`, whether transposed or not, and none of the result. Integers
    wrap around.
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
        raise InputError(f"matrix product: the shapes {list(left.shape)} and {list(right.shape)} have none") from None
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
    """Return alpha * a @ b + beta * c of matrices; c is broadcast to it. Integers lose a fraction at the end.

    stretch: whether c may have another shape than the product at all.
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
