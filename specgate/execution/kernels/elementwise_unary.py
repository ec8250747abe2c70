"""Functions of one tensor: elementary functions, rounding, signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float32
from specgate.execution.kernels.elementwise import (
    cast,
    held,
    in_place,
    prepared,
    quiet,
    rounded,
    unary,
    want_float,
    whole,
)
from specgate.execution.kernels.error_function import error_function, error_function_of_singles

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = [
    "absolute", "arccos", "arccosh", "arccosh_from_logarithm", "arcsin", "arcsinh", "arcsinh_from_logarithm", "arctan",
    "arctan_of_nan_as_one", "arctanh", "ceil", "cos", "cosh", "cosh_from_exponentials", "erf", "exp", "floor",
    "identity", "is_finite", "is_infinite", "is_not_a_number", "log", "negative", "reciprocal", "round_to_integer",
    "sign", "sin", "sinh", "sinh_from_exponentials", "sqrt", "tan", "tanh",
]  # fmt: skip

_HALF: Final = np.float32(0.5)
_ONE: Final = np.float32(1)


def _exp(x: NDArray[Any]) -> NDArray[Any]:
    return rounded(in_place(np.exp), x)


def _ends(x: NDArray[Any]) -> NDArray[Any]:
    """Return the least number of the type for what is below 0, the greatest for what is above, and 0 for 0."""
    limits, zero = np.iinfo(x.dtype), np.zeros((), x.dtype)
    return np.where(x > 0, x.dtype.type(limits.max), np.where(x < 0, x.dtype.type(limits.min), zero))


arccos = unary("arccos", np.arccos)
arccosh = unary("arccosh", np.arccosh)
arcsin = unary("arcsin", np.arcsin)
arcsinh = unary("arcsinh", np.arcsinh)
arctan = unary("arctan", np.arctan)
arctan_of_nan_as_one = unary("arctan_of_nan_as_one", lambda x: np.arctan(np.where(np.isnan(x), x.dtype.type(1), x)))
arctanh = unary("arctanh", np.arctanh, of_integers=_ends)
ceil = unary("ceil", np.ceil, single_steps=True, of_integers=np.copy)
cos = unary("cos", np.cos)
cosh = unary("cosh", np.cosh)
erf = unary("erf", error_function, of_singles=error_function_of_singles)
exp = unary("exp", np.exp, of_singles=np.exp)
floor = unary("floor", np.floor, single_steps=True, of_integers=np.copy)
log = unary("log", np.log)
reciprocal = unary("reciprocal", np.reciprocal, single_steps=True)
sin = unary("sin", np.sin)
sinh = unary("sinh", np.sinh)
sqrt = unary("sqrt", np.sqrt, single_steps=True)
tan = unary("tan", np.tan)
tanh = unary("tanh", np.tanh, of_singles=np.tanh)
# By formulas whose steps overflow or cancel in float32, which their results show.
arccosh_from_logarithm = unary(
    "arccosh_from_logarithm", lambda x: rounded(np.log, x + np.sqrt(x * x - _ONE)), single_steps=True
)
arcsinh_from_logarithm = unary(
    "arcsinh_from_logarithm", lambda x: rounded(np.log, x + np.sqrt(x * x + _ONE)), single_steps=True
)
cosh_from_exponentials = unary("cosh_from_exponentials", lambda x: (_exp(x) + _exp(-x)) * _HALF, single_steps=True)
sinh_from_exponentials = unary("sinh_from_exponentials", lambda x: (_exp(x) - _exp(-x)) * _HALF, single_steps=True)


def identity(x: Any, *, scale_bias: tuple[float, float] | None = None) -> Any:
    """Return a copy of any elements, scaled and shifted where there is a scale and bias; what is no array itself."""
    if not isinstance(x, np.ndarray):
        return x
    return x.copy() if scale_bias is None else round_to(prepared(x, scale_bias), x.dtype)


def absolute(
    x: NDArray[Any], *, scale_bias: tuple[float, float] | None = None, saturate_below: int = 0
) -> NDArray[Any]:
    """Return absolute values. That of the least integer is itself, but the greatest in types of less bits.

    Scaled and shifted, those of fewer bits are integers of `saturate_below` bits before they are held in their type.
    """
    if is_float(x.dtype):
        return round_to(np.abs(prepared(x, scale_bias)), x.dtype)
    if scale_bias is None or x.dtype.itemsize * 8 >= saturate_below:
        return _signed(prepared(x, scale_bias), np.abs, saturate_below)
    with quiet():
        return held(np.abs(prepared(x.astype(f"i{saturate_below // 8}"), scale_bias)), x.dtype)


def negative(x: NDArray[Any], *, saturate_below: int = 0) -> NDArray[Any]:
    """Return every element with the opposite sign; of the least integer as `absolute` does."""
    return -x if is_float(x.dtype) else _signed(x, np.negative, saturate_below)


def _signed(x: NDArray[Any], function: Callable[[NDArray[Any]], NDArray[Any]], saturate_below: int) -> NDArray[Any]:
    """Integers overflow by wrapping; those of fewer than `saturate_below` bits are computed wider, and held."""
    with quiet():
        if x.dtype.itemsize * 8 < saturate_below:
            return held(function(x.astype(np.int64)), x.dtype)
        return function(x).astype(x.dtype, copy=False)


def sign(x: NDArray[Any], *, keep_nan: bool = False) -> NDArray[Any]:
    """Return -1 of what is below 0, 1 of what is above, else 0: also of minus 0, and of nan unless that stays."""
    with quiet():
        result = cast((x > 0).astype(np.int8) - (x < 0).astype(np.int8), x.dtype)
        return np.where(x == x, result, x) if keep_nan else result  # noqa: PLR0124


def _half_away(x: NDArray[Any]) -> NDArray[Any]:
    whole = np.trunc(x)
    away = np.where(np.abs(x - whole) >= _HALF, whole + np.copysign(1, x), whole)
    return np.asarray(np.where(x == 0, away.dtype.type(0), away))  # the sign is a factor, 0 of minus 0


def _half_added(x: NDArray[Any]) -> NDArray[Any]:
    single = to_float32(x, x.dtype)
    found: NDArray[Any] = np.sign(single) * np.floor(np.abs(single) + single.dtype.type(_HALF))
    return found


_ROUNDINGS: Final[Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "half_to_even": np.rint,
    "half_away_from_zero": _half_away,
    "toward_zero": np.trunc,
}


def round_to_integer(x: NDArray[Any], *, mode: str, integers: bool = False) -> NDArray[Any]:
    """Return floats rounded to integers. mode: half_to_even, half_away_from_zero, toward_zero or half_added.

    The last one takes the floor of the magnitude and 0.5, which float32 may round. integers: they are taken too, and
    stay what they are.
    """
    if mode not in {*_ROUNDINGS, "half_added"}:
        raise InputError(f"round_to_integer: expected one of {', '.join(_ROUNDINGS)}, found {mode!r:.60}")
    if integers and not is_float(x.dtype):
        whole("round_to_integer", x)
        return x.copy()
    want_float("round_to_integer", x)
    with quiet():
        if mode == "half_added":
            return round_to(_half_added(x), x.dtype)
        return round_to(_ROUNDINGS[mode](to_float32(x, x.dtype)), x.dtype)


def is_not_a_number(x: NDArray[Any], *, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return 1 where an element is nan, else 0. dtype: of the result, bool if absent."""
    want_float("is_not_a_number", x)
    return cast(np.isnan(x), dtype)


def is_finite(x: NDArray[Any]) -> NDArray[Any]:
    """Return whether each element is neither nan nor an infinity."""
    want_float("is_finite", x)
    return cast(np.isfinite(x), None)


def is_infinite(x: NDArray[Any], *, signs: str = "either", dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return 1 where an element is an infinity, else 0. signs: which count, either, positive, negative or neither."""
    want_float("is_infinite", x)
    tests: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
        "either": np.isinf,
        "positive": np.isposinf,
        "negative": np.isneginf,
        "neither": lambda values: np.zeros(values.shape, np.bool_),
    }
    if signs not in tests:
        raise InputError(f"is_infinite: expected one of {', '.join(tests)}, found {signs!r:.60}")
    return cast(tests[signs](to_float32(x, x.dtype)), dtype)
