"""Matrix inverse, determinant and identity matrices.

ONNX Det; OpenVINO Eye, Inverse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["determinants", "inverse_matrices", "ones_on_diagonal"]

#: From this condition number on, a float32 matrix counts as singular.
_CONDITION = float(1 / np.finfo(np.float32).eps)


def ones_on_diagonal(
    rows: NDArray[Any],
    columns: NDArray[Any],
    diagonal: NDArray[Any],
    batch: NDArray[Any] | None = None,
    *,
    like: np.dtype[Any],
) -> NDArray[Any]:
    """Return matrices [*batch, rows, columns] with ones on one diagonal.

    diagonal: columns right of the main one. All inputs are integers, and all but `batch` are one number each. The type
    is that of `like`.
    """
    if any(array.size != 1 for array in (rows, columns, diagonal)):
        raise InputError("diagonal: expected one number of rows, of columns, and of the diagonal each")
    height, width, right = (int(array.reshape(())) for array in (rows, columns, diagonal))
    shape = (*(() if batch is None else map(int, batch.reshape(-1))), height, width)
    if min(shape) < 0:
        raise InputError(f"diagonal: the output would have the shape {list(shape)}")
    result = memory.empty(shape, like)
    if not result.size:  # only one slice of the other dimensions, for which no memory is counted
        return result
    result[...] = 0
    places = np.arange(max(0, -right), max(0, -right, min(height, width - right)))
    result[..., places, places + right] = 1
    return result


def inverse_matrices(data: NDArray[Any], *, transposed: bool = False) -> NDArray[Any]:
    """Return the inverses of matrices [..., n, n] of floats.

    They are first rounded to float32. transposed: transpose the inverses. Matrices that are singular in float32 are
    masked.
    """
    if data.ndim < 2 or data.shape[-1] != data.shape[-2] or not is_float(data.dtype):
        raise InputError(f"inverse: expected square matrices of floats, found {data.dtype} {list(data.shape)}")
    result = memory.empty(data.shape, data.dtype)
    open_ = np.zeros(data.shape, np.bool_)
    with memory.quiet():
        single = data.astype(np.float32).astype(np.float64)
        for place in memory.in_time(np.ndindex(data.shape[:-2])):
            array = _inverse(single[place])
            open_[place] = array is None
            result[place] = 0 if array is None else round_to(round_to(array, np.dtype(np.float32)), data.dtype)
    new_array = np.swapaxes(result, -1, -2) if transposed else result
    return np.ma.MaskedArray(new_array, mask=open_) if open_.any() else new_array


def determinants(data: NDArray[Any]) -> NDArray[Any]:
    """Return the determinants of matrices [..., n, n], computed in float64.

    nan in a matrix gives nan.
    """
    if data.ndim < 2 or data.shape[-1] != data.shape[-2] or not is_float(data.dtype):
        raise InputError(f"determinant: expected square matrices of floats, found {data.dtype} {list(data.shape)}")
    result = memory.empty(data.shape[:-2], np.dtype(np.float64))
    with memory.quiet():
        for place in memory.in_time(np.ndindex(data.shape[:1] if data.ndim > 2 else ())):
            result[place] = np.linalg.det(data[place].astype(np.float64))
        result[(data != data).any(axis=(-2, -1))] = np.nan  # noqa: PLR0124  # elimination may end before it is met
        return round_to(result, data.dtype)


def _inverse(matrix: NDArray[Any]) -> NDArray[Any] | None:
    if not np.isfinite(matrix).all():
        return None
    try:
        array: NDArray[Any] = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    if not matrix.size:
        return array
    condition = np.abs(matrix).sum(axis=0).max() * np.abs(array).sum(axis=0).max()
    return array if condition < _CONDITION else None
