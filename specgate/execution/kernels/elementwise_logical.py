"""Comparisons, truth values as numbers, and the choice between two tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import NoKernel
from specgate.execution.kernels.arithmetic import chosen
from specgate.execution.kernels.elementwise import called, cast, paired

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from numpy.typing import NDArray

    from specgate.execution.kernels.elementwise import Broadcast

__all__ = [
    "equal", "greater", "greater_equal", "less", "less_equal", "logical_and", "logical_not", "logical_or",
    "logical_xor", "not_equal", "select",
]  # fmt: skip


def _comparison(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Return a kernel whose result is 1 where the comparison holds, else 0, in `dtype` (bool if absent)."""

    def kernel(
        a: NDArray[Any], b: NDArray[Any], *, dtype: np.dtype[Any] | None = None, **how: Unpack[Broadcast]
    ) -> NDArray[Any]:
        a, b = paired(name, a, b, repeat=False, **how)
        found = function(a, b)
        return found if dtype is None else cast(found, dtype)

    return called(name, kernel)


equal = _comparison("equal", np.equal)
greater = _comparison("greater", np.greater)
greater_equal = _comparison("greater_equal", np.greater_equal)
less = _comparison("less", np.less)
less_equal = _comparison("less_equal", np.less_equal)
not_equal = _comparison("not_equal", np.not_equal)


def _logical(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Return a kernel for which any number but 0 is true, and true is 1 of the inputs' own type."""

    def kernel(a: NDArray[Any], b: NDArray[Any], **how: Unpack[Broadcast]) -> NDArray[Any]:
        a, b = paired(name, a, b, repeat=False, **how)
        return cast(function(a, b), a.dtype)

    return called(name, kernel)


logical_and = _logical("logical_and", np.logical_and)
logical_or = _logical("logical_or", np.logical_or)
logical_xor = _logical("logical_xor", np.logical_xor)


def logical_not(x: NDArray[Any]) -> NDArray[Any]:
    """Return 1 where an element is 0, else 0, in the same type."""
    return cast(x == 0, x.dtype)


def select(
    condition: NDArray[Any], a: NDArray[Any], b: NDArray[Any], *, broadcast: bool = False, one_sided: bool = False
) -> NDArray[Any]:
    """Return the element of `a` where that of `condition` is not 0, else the one of `b`.

    one_sided: how unlike shapes go together is not known; raises NoKernel for those.
    """
    if one_sided and not condition.shape == a.shape == b.shape:
        raise NoKernel("select: it is not said which of the inputs the others are aligned with")
    paired("select", a, b, broadcast=broadcast, repeat=False)
    paired("select", condition, a, b, broadcast=broadcast, same_type=False, repeat=False)
    return chosen(condition if condition.dtype == np.bool_ else condition != 0, a, b)
