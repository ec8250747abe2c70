"""Matrices made from numbers, and inverted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["inverse_matrices", "ones_on_diagonal"]

#: From this condition on, a matrix of float32 is no different from one that has no inverse.
_CONDITION = float(1 / np.finfo(np.float32).eps)


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


def inverse_matrices(data: NDArray[Any], *, transposed: bool = False) -> NDArray[Any]:
    """Return the inverses of matrices [..., n, n] of floats, which are rounded to float32 first.

    transposed: the inverses turned. What has no inverse in float32 is masked.
    """
    if data.ndim < 2 or data.shape[-1] != data.shape[-2] or not is_float(data.dtype):
        raise InputError(f"inverse: expected square matrices of floats, found {data.dtype} {list(data.shape)}")
    result = memory.empty(data.shape, data.dtype)
    open_ = np.zeros(data.shape, np.bool_)
    with np.errstate(all="ignore"):
        single = data.astype(np.float32).astype(np.float64)
        for place in memory.in_time(np.ndindex(data.shape[:-2])):
            found = _inverse(single[place])
            open_[place] = found is None
            result[place] = 0 if found is None else round_to(round_to(found, np.dtype(np.float32)), data.dtype)
    made = np.swapaxes(result, -1, -2) if transposed else result
    return np.ma.MaskedArray(made, mask=open_) if open_.any() else made


def _inverse(matrix: NDArray[Any]) -> NDArray[Any] | None:
    if not np.isfinite(matrix).all():
        return None
    try:
        found: NDArray[Any] = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    if not matrix.size:
        return found
    condition = np.abs(matrix).sum(axis=0).max() * np.abs(found).sum(axis=0).max()
    return found if condition < _CONDITION else None
