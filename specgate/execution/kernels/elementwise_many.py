"""Functions of any number of tensors, element by element, broadcast against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float32
from specgate.execution.kernels.elementwise import paired, quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["maximum_of_all", "mean_of_all", "minimum_of_all", "sum_of_all"]


def _folded(
    name: str, parts: Sequence[NDArray[Any]], function: Callable[..., NDArray[Any]], *, broadcast: bool
) -> NDArray[Any]:
    """Return a function of two applied from left to right, in float32 of narrower floats."""
    if not parts:
        raise InputError(f"{name}: expected at least one array")
    first, *others = paired(name, *parts, broadcast=broadcast)
    result = to_float32(first, first.dtype)
    with quiet():
        for other in others:
            result = function(result, to_float32(other, other.dtype))
    return np.array(result)


def maximum_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the largest of the elements at each place; nan where one of them is."""
    return round_to(_folded("maximum", parts, np.maximum, broadcast=broadcast), parts[0].dtype)


def minimum_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the least of the elements at each place; nan where one of them is."""
    return round_to(_folded("minimum", parts, np.minimum, broadcast=broadcast), parts[0].dtype)


def sum_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the sum of the elements at each place, added from left to right and rounded once for narrow floats."""
    return round_to(_folded("sum", parts, np.add, broadcast=broadcast), parts[0].dtype)


def mean_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the mean of the elements at each place."""
    total = _folded("mean", parts, np.add, broadcast=broadcast)
    if not is_float(parts[0].dtype):
        raise InputError(f"mean: expected floating-point elements, found {parts[0].dtype}")
    with quiet():
        return round_to(total / total.dtype.type(len(parts)), parts[0].dtype)
