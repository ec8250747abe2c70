"""Matrix products within the time of an execution: in blocks of rows, between which the clock is looked at."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution import memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["multiply_matrices"]

#: Multiplications between two looks at the clock: a fraction of a second, of integers too.
_BLOCK: Final = 2**28


def multiply_matrices(left: NDArray[Any], right: NDArray[Any], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return ``left @ right`` of at least two dimensions each, the leading ones broadcast, in `out` if given.

    Raises InputError once the time of the budget in force is over.
    """
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
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
