"""Elements converted to another type as C++ converts them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to
from specgate.execution.kernels.narrow import rounded, widened
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["convert"]


def convert(inputs: NDArray[Any], like: NDArray[Any] | None = None, *, to: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return the elements in the type `to`, or in that of `like`.

    Integers keep their low bits. Floats lose their fraction on the way to integers; what those cannot hold is undefined
    and masked, as is what is beyond the largest number of a float without infinities. What is not 0 becomes true.
    """
    dtype = like.dtype if like is not None else to
    if dtype is None:
        raise InputError("convert: expected a type, or an array that has it")
    if "O" in (inputs.dtype.kind, dtype.kind):
        raise NoKernel("texts have no kernel that converts them")
    memory.hold(inputs.shape, dtype)
    if inputs.dtype == dtype:
        return inputs
    wide = widened(inputs)
    if dtype.kind == "b":
        return np.asarray(wide != np.zeros((), wide.dtype))
    if is_float(dtype):
        return rounded(wide, dtype) if dtype.itemsize == 1 else round_to(wide, dtype)
    limits = integer_range(dtype)
    if limits is None:
        raise NoKernel(f"no kernel converts to {dtype}")
    whole, held = _whole(wide, *limits) if is_float(wide.dtype) else (wide, None)
    # integers of ml_dtypes keep the low bits of those of numpy, but cannot be made of all of its types
    made = (whole.astype(np.int64) if dtype.kind == "V" else whole).astype(dtype)
    return made if held is None or held.all() else np.ma.array(made, mask=~held)


def _whole(array: NDArray[Any], low: int, high: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return floats without their fractions, 0 for those that are not between both, and which of them are."""
    whole = np.trunc(array.astype(np.float64))
    held = (whole >= float(low)) & (whole < float(high) + (high < 2**53))
    return np.where(held, whole, 0), held
