"""Arithmetic of two tensors: integers wrap around, the larger and the lesser pass over nan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float32
from specgate.execution.kernels.elementwise import called, paired, quiet, rounded, undefined, want_float, whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Unpack

    from numpy.typing import NDArray

    from specgate.execution.kernels.elementwise import Broadcast

    Function = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]

__all__ = [
    "add", "add_activated", "arctan2", "average", "difference_squared", "divide", "maximum", "minimum", "multiply",
    "quotient", "remainder", "subtract",
]  # fmt: skip

_SINGLE: Final = np.dtype(np.float32)


def _binary(name: str, floats: Function, integers: Function) -> Callable[..., NDArray[Any]]:
    """Return a kernel from what it does with float32 (or float64), and with integers of one type.

    floats: they may get arrays that broadcast.
    """

    def kernel(a: NDArray[Any], b: NDArray[Any], **how: Unpack[Broadcast]) -> NDArray[Any]:
        single = a.dtype == _SINGLE
        floating = single or is_float(a.dtype)
        a, b = paired(name, a, b, repeat=not floating, **how)
        with quiet():
            if single:
                return floats(a, b)
            if floating:
                return round_to(floats(to_float32(a, a.dtype), to_float32(b, b.dtype)), a.dtype)
            whole(name, a)
            return integers(a, b)

    return called(name, kernel)


def _larger(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.where((b > a) | (a != a), b, a)  # noqa: PLR0124  # nan; of equal ones, as -0 and 0, the first


def _lesser(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.where((b < a) | (a != a), b, a)  # noqa: PLR0124


def _quotient(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Truncated; the least integer divided by -1 is itself. Division by 0: all bits set, undefined for signed ones."""
    ones = np.ones((), a.dtype)
    by = np.where(b == 0, ones, b)
    if a.dtype.kind == "u":
        return np.where(b == 0, ~np.zeros((), a.dtype), a // by)
    return undefined(_cut(a, by), b == 0)


def _cut(a: NDArray[Any], by: NDArray[Any]) -> NDArray[Any]:
    # floor division, raised by one where it went below a quotient that is not whole
    low = a // by
    exact = low * by == a
    negative = (a < 0) != (by < 0)
    return np.asarray(np.where(exact | ~negative, low, low + np.ones((), a.dtype)))


def _average(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(_quotient(a + b, np.full((), 2, a.dtype)))


add = _binary("add", np.add, np.add)
subtract = _binary("subtract", np.subtract, np.subtract)
multiply = _binary("multiply", np.multiply, np.multiply)
divide = _binary("divide", np.divide, _quotient)
maximum = _binary("maximum", _larger, np.maximum)
minimum = _binary("minimum", _lesser, np.minimum)
average = _binary("average", lambda a, b: (a + b) / a.dtype.type(2), _average)
difference_squared = _binary("difference_squared", lambda a, b: (a - b) * (a - b), lambda a, b: (a - b) * (a - b))


def quotient(a: NDArray[Any], b: NDArray[Any], *, floor: bool, **how: Unpack[Broadcast]) -> NDArray[Any]:
    """Return quotients; those of integers are rounded down (floor) or cut, and undefined (masked) by 0."""

    def integers(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        by = np.where(b == 0, np.ones((), a.dtype), b)
        return undefined(np.asarray(a // by) if floor else _cut(a, by), b == 0)

    result: NDArray[Any] = _binary("quotient", np.divide, integers)(a, b, **how)
    return result


def add_activated(
    a: NDArray[Any], b: NDArray[Any], *, activation: Callable[[NDArray[Any]], NDArray[Any]] | None = None
) -> NDArray[Any]:
    """Return sums, rounded to their type, to which `activation` is applied if there is one."""
    total: NDArray[Any] = add(a, b)
    return total if activation is None else activation(total)


def arctan2(a: NDArray[Any], b: NDArray[Any], *, nan_as_one: bool = False) -> NDArray[Any]:
    """Return the angle of the point with a above the origin and b beside it, undefined (masked) at the origin.

    nan_as_one: where one of the two is nan and the other a finite number but 0, their quotient counts as 1.
    """
    a, b = paired("arctan2", a, b)
    want_float("arctan2", a)
    origin = (a == 0) & (b == 0)
    if nan_as_one:
        of_a, of_b = (np.isnan(one) & np.isfinite(two) & (two != 0) for one, two in ((a, b), (b, a)))
        a, b = np.where(of_a, b, np.where(of_b, np.abs(a), a)), np.where(of_b, np.abs(a), b)
    return undefined(rounded(np.arctan2, a, b), origin)


def remainder(
    a: NDArray[Any],
    b: NDArray[Any],
    *,
    rounding: str,
    raised_quotient: bool = False,
    exact: bool = False,
    by_zero: str = "ones",
    **how: Unpack[Broadcast],
) -> NDArray[Any]:
    """Return a - b * q, where q is the quotient of a and b, rounded.

    rounding: floor (the result has the sign of b) or truncate (that of a). raised_quotient: for floats, round the next
    float up, or away from zero, instead of the quotient itself, so that one just below a whole number counts as whole.
    exact: for floats, the remainder of the exact quotient, not of a rounded one.
    A remainder of unsigned integers by 0 has all bits set, or is undefined (masked) if by_zero says undefined; that of
    signed ones is undefined.
    """
    if by_zero not in {"ones", "undefined"}:
        raise InputError(f"remainder: expected ones or undefined, found {by_zero!r:.60}")
    if rounding not in {"floor", "truncate"}:
        raise InputError(f"remainder: expected floor or truncate, found {rounding!r:.60}")
    floor = rounding == "floor"

    def floats(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        if exact:
            return np.asarray(np.mod(a, b) if floor else np.fmod(a, b))
        q = a / b
        if raised_quotient:
            up = np.asarray(np.inf, q.dtype)
            q = np.where(np.isinf(q) | (q == 0), q, np.nextafter(q, up if floor else np.copysign(up, q)))
        left: NDArray[Any] = a - b * (np.floor(q) if floor else np.trunc(q))
        return left

    def integers(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        by = np.where(b == 0, np.ones((), a.dtype), b)
        result: NDArray[Any] = np.mod(a, by) if floor else np.fmod(a, by)
        if a.dtype.kind == "u" and by_zero == "ones":
            return np.where(b == 0, ~np.zeros((), a.dtype), result)
        return undefined(result, b == 0)

    result: NDArray[Any] = _binary("remainder", floats, integers)(a, b, **how)
    return result
