"""Matrices made from numbers, and inverted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to, to_float64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["inverse_matrices", "ones_on_diagonal"]


def ones_on_diagonal(
    rows: NDArray[Any],
    columns: NDArray[Any],
    diagonal: NDArray[Any],
    batch: NDArray[Any] | None = None,
    *,
    like: np.dtype[Any],
) -> NDArray[Any]:
    """Return matrices [batch…, rows, columns] of zeros with ones on a diagonal, of the type `like`.

    diagonal: 0 for the main one, above 0 for those above it, below 0 for those below.
    """
    if any(each.size != 1 for each in (rows, columns, diagonal)):
        raise InputError("eye: expected one number each of rows, columns and the diagonal")
    height, width, at = (int(each.reshape(-1)[0]) for each in (rows, columns, diagonal))
    sizes = [] if batch is None else batch.reshape(-1).tolist()
    if min(height, width, *sizes) < 0:
        raise InputError(f"eye: expected sizes of 0 or more, found {[*sizes, height, width]!r:.80}")
    result = memory.empty((*sizes, height, width), like)
    result[...] = 0
    first = np.arange(max(0, -at), max(0, min(height, width - at)))
    result[..., first, first + at] = 1
    return result


def inverse_matrices(data: NDArray[Any], *, adjoint: bool = False) -> NDArray[Any]:
    """Return the inverse of each square matrix along the last two dimensions, if adjoint times its determinant.

    What has no inverse is masked.
    """
    if data.ndim < 2 or data.shape[-1] != data.shape[-2]:
        raise InputError(f"inverse: expected square matrices, found {list(data.shape)}")
    result = memory.empty(data.shape, data.dtype)
    flat, found = to_float64(data).reshape(-1, *data.shape[-2:]), result.reshape(-1, *data.shape[-2:])
    unknown = np.zeros(found.shape, np.bool_)
    with np.errstate(all="ignore"):
        for at, matrix in memory.in_time(enumerate(flat)):
            factor = np.linalg.det(matrix) if matrix.size else 1.0
            if not np.isfinite(matrix).all() or not np.isfinite(factor) or np.linalg.matrix_rank(matrix) < len(matrix):
                unknown[at] = True
                continue
            found[at] = round_to(np.linalg.inv(matrix) * (factor if adjoint else 1.0), data.dtype)
    return np.ma.array(result, mask=unknown.reshape(data.shape)) if unknown.any() else result
