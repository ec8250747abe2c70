"""Pairwise distances between the rows of two matrices.

com.microsoft CDist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to, to_float64
from specgate.execution.kernels.elementwise import quiet, want_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["distances_of_rows"]

_METRICS: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "euclidean": lambda apart: np.sqrt(np.square(apart).sum(axis=1)),
    "sqeuclidean": lambda apart: np.square(apart).sum(axis=1),
}


def distances_of_rows(a: NDArray[Any], b: NDArray[Any], *, metric: str) -> NDArray[Any]:
    """Return the distance of each row of `a` [m, n] to each of `b` [k, n].

    The result is [m, k]. metric: euclidean or sqeuclidean; NoKernel for others.
    """
    want_float("distance", a, b)
    if a.dtype != b.dtype or a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1]:
        raise InputError(f"distance: {a.dtype} {list(a.shape)} and {b.dtype} {list(b.shape)} do not match")
    if metric not in _METRICS:
        raise NoKernel(f"distance: {metric!r:.40} is not supported; known: {', '.join(_METRICS)}")
    result = memory.empty((len(a), len(b)), np.dtype(np.float64))
    wide = to_float64(b)
    with quiet():
        for at, row in enumerate(memory.in_time(to_float64(a))):
            result[at] = _METRICS[metric](wide - row)
    return round_to(result, a.dtype)
