"""The gradients of interpolation along each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to, same_length, shape_of, to_float64
from specgate.execution.kernels.resample import around, inside, nearest, places_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["resample_gradient"]


def resample_gradient(
    gradient: NDArray[Any],
    *,
    sizes: Sequence[int],
    scales: Sequence[float],
    linear: bool,
    input_offsets: Sequence[float],
    output_offsets: Sequence[float],
    upwards: bool | None = None,
    higher: bool = False,
    skips_zeros: bool = False,
) -> NDArray[Any]:
    """Return an array of `sizes` to which each element of `gradient` was added where `resample` reads it.

    linear: shared among two elements along every dimension, with the weights of the forward pass; skips_zeros: a weight
    of 0 adds nothing, also of an infinite gradient. The other arguments are
    those of `resample` from such an array to one of the shape of `gradient`.
    """
    rank = gradient.ndim
    offsets = {"input offsets": input_offsets, "output offsets": output_offsets}
    same_length("resample", rank, sizes=sizes, scales=scales, **offsets)
    memory.hold(shape_of("resample", sizes), gradient.dtype)
    result = to_float64(gradient)
    with memory.quiet():
        for axis, (size, *shift) in enumerate(zip(sizes, scales, input_offsets, output_offsets, strict=True)):
            places = places_of(gradient.shape[axis], *shift)
            if not linear:
                result = _added(result, axis, size, nearest(places, upwards, size, higher=higher))
                continue
            lower, weight = around(places)
            column = weight.reshape(-1, *(1,) * (rank - 1 - axis))
            shares = [result * each for each in (1 - column, column)]
            if skips_zeros:
                shares = [
                    np.where(each == 0, 0.0, share) for each, share in zip((1 - column, column), shares, strict=True)
                ]
            near = _added(shares[0], axis, size, inside(lower, size))
            result = near + _added(shares[1], axis, size, inside(lower + 1, size))
        return round_to(result, gradient.dtype)


def _added(values: NDArray[Any], axis: int, size: int, places: NDArray[np.int64]) -> NDArray[Any]:
    """Return `size` places along `axis` with the sum of the values that have each place."""
    result = memory.empty((*values.shape[:axis], size, *values.shape[axis + 1 :]), values.dtype)
    result[...] = 0
    np.add.at(np.moveaxis(result, axis, 0), places, np.moveaxis(values, axis, 0))
    return result
