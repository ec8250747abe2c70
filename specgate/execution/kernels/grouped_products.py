"""Matrix products of groups of rows, each with a matrix of its own."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float64
from specgate.execution.kernels.products import multiply_matrices

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["multiply_groups"]


def multiply_groups(a: NDArray[Any], b: NDArray[Any], ends: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the product of each group, of the type of `a` and `b`.

    a [groups, M, K] and b [groups, K, N]: the products [groups, M, N], without ends. a [rows, K] and b [groups, K, N]:
    [rows, N], where a group is the rows from the end of the one before up to its own. a [K, columns] and b
    [columns, N]: [groups, K, N], where a group is such a part of the columns of a and of the rows of b. ends: [groups],
    rising, the last one is the number of rows or columns. Integers wrap around.
    """
    ranks = a.ndim, b.ndim
    if a.dtype != b.dtype or ranks not in {(3, 3), (2, 3), (2, 2)} or (ends is None) != (ranks == (3, 3)):
        raise InputError(f"groups: {a.dtype}{list(a.shape)} and {b.dtype}{list(b.shape)} have no products")
    if a.shape[-1] != b.shape[-2]:
        raise InputError(f"groups: {a.shape[-1]} columns and {b.shape[-2]} rows have no products")
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
    """Return the part of each group; raise InputError where they are not all of `count`, one after the other."""
    bounds = [0, *ends.reshape(-1).tolist()]
    if ends.ndim != 1 or any(end < start for start, end in pairwise(bounds)):
        raise InputError(f"groups: expected ends that do not fall, found {bounds[1:]!r:.80}")
    if bounds[-1] != count:
        raise InputError(f"groups: expected {count} as the end of the last group, found {bounds[-1]}")
    return [slice(start, end) for start, end in pairwise(bounds)]
