"""Rows of a sparse matrix that hold nothing, filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["fill_empty_rows"]


def fill_empty_rows(
    values: NDArray[Any], dense_shape: NDArray[Any], indices: NDArray[Any], default: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return places and elements with one more at the first column of every row without any, and which rows these are.

    values: [n]; indices: [n, 2], row and column of each, by rows in rising order. dense_shape: rows and columns.
    """
    if indices.shape != (values.size, 2) or values.ndim != 1 or dense_shape.size != 2 or default.size != 1:
        raise InputError("sparse: expected as many pairs of indices as values, two sizes and one default")
    rows = int(dense_shape.reshape(-1)[0])
    if rows < 0 or (indices < 0).any() or (indices >= dense_shape).any():
        raise InputError(f"sparse: an index is outside of {dense_shape.tolist()!r:.80}")
    if (np.diff(indices[:, 0]) < 0).any():
        raise NoKernel("sparse: it is not said in which order rows come that do not rise")
    memory.hold((rows,), np.dtype(np.int64))
    empty = np.bincount(indices[:, 0], minlength=rows)[:rows] == 0 if rows else np.zeros(0, np.bool_)
    added = np.flatnonzero(empty)
    at = np.searchsorted(indices[:, 0], added)
    pairs = np.insert(indices, at, np.stack([added, np.zeros_like(added)], 1).astype(indices.dtype), axis=0)
    return pairs, np.insert(values, at, default.reshape(-1)[:1].astype(values.dtype)), empty
