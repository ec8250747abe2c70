"""Matrix multiplication in batches, with a scaled summand and an activation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import fit, narrow, single, wide

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["gemm"]


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
        fit("gemm", f"a summand of type {a.dtype}", c.shape if c.dtype == a.dtype else (), shape)
    with np.errstate(all="ignore"):
        product = memory.empty(shape, np.dtype(np.float64))
        np.matmul(wide(left), wide(right), out=product)
        result = wide(single(product, a.dtype)) * np.float32(alpha)
        if c is not None:
            result += wide(c) * np.float32(beta)
        result = single(result, a.dtype)
        return narrow(result if activation is None else activation(result), a.dtype)
