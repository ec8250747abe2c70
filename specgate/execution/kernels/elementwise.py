"""Element-wise operators: Add, Mul, Exp, Erf, comparisons, logic.

DirectML ELEMENT_WISE_*, ACTIVATION_IDENTITY, ACTIVATION_TANH; ONNX and OpenVINO Add, Sub (Subtract), Mul (Multiply),
Div (Divide), Mod, Pow (Power), Abs, Neg, Reciprocal, Exp, Log, Sqrt, Erf, Ceil, Floor, Round, Sign, Sin, Cos, Tan,
Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Equal, Greater, Less, And, Or, Xor, Not, Bitwise*, BitShift,
Where, Select, Max, Min, Sum, Mean, IsNaN, IsInf, IsFinite.

FLOAT16 is computed in float32 and rounded once. Functions other than arithmetic are computed in float64 and rounded, so
that results are machine-independent, except the most common ones (`of_singles`), which stay within the tables'
tolerance in float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import (
    BLOCK,
    choose_elements,
    is_float,
    round_to,
    row_function,
    singles_by,
    to_float32,
)
from specgate.execution.memory import ignore_warnings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    Function = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]

__all__ = [
    "Broadcast",
    "absolute",
    "add",
    "arccos",
    "arccosh",
    "arccosh_from_logarithm",
    "arcsin",
    "arcsinh",
    "arcsinh_from_logarithm",
    "arctan",
    "arctan2",
    "arctan_of_nan_as_one",
    "arctanh",
    "average",
    "bit_count",
    "bits_of",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast_arrays",
    "cast",
    "ceil",
    "compute_rounded",
    "cos",
    "cosh",
    "cosh_from_exponentials",
    "divide",
    "equal",
    "erf",
    "erf_inv",
    "error_function",
    "error_function_of_singles",
    "exp",
    "floor",
    "fused_add",
    "greater",
    "greater_equal",
    "identity",
    "ignore_warnings",
    "in_place",
    "is_finite",
    "is_infinite",
    "is_not_a_number",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "mask_undefined",
    "maximum",
    "maximum_of_all",
    "mean_of_all",
    "minimum",
    "minimum_of_all",
    "multiply",
    "negative",
    "not_equal",
    "odd_polynomial",
    "power",
    "power_by_logarithm",
    "power_to_constant",
    "prepare_input",
    "quotient",
    "reciprocal",
    "remainder",
    "rename_kernel",
    "require_float",
    "require_integers",
    "right_shift",
    "round_to_integer",
    "select",
    "shift",
    "sign",
    "sin",
    "sinh",
    "sinh_from_exponentials",
    "sqrt",
    "squared_difference",
    "store_as",
    "subtract",
    "sum_of_all",
    "tan",
    "tanh",
    "unary",
]  # fmt: skip

#: numpy's iterator supports at most this many arrays.
_MAX_ITERATOR_ARRAYS: Final = 32
_FLOAT64: Final = np.dtype(np.float64)


class Broadcast(TypedDict, total=False):
    """Broadcasting rules, as accepted by `paired`; no broadcasting by default."""

    broadcast: bool
    to_first: bool
    axis: int | None


def rename_kernel(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the kernel, renamed to its name in the tables."""
    kernel.__name__ = kernel.__qualname__ = name
    return kernel


def cast(x: NDArray[Any], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    """Return an array of another type, bool if None."""
    result: NDArray[Any] = x.astype(dtype or np.bool_, copy=False)
    return result


def compute_rounded(function: Callable[..., NDArray[Any]], *arrays: NDArray[Any]) -> NDArray[Any]:
    """Return `function` of floats, computed in float64 and rounded.

    The result has the type of the first array. The function may write into its arrays.
    """
    first = arrays[0]
    with ignore_warnings():
        if first.size <= BLOCK or any(x.shape != first.shape for x in arrays):
            return round_to(function(*(np.array(array, np.float64) for array in arrays)), first.dtype)
        flat = (np.ascontiguousarray(array).reshape(-1) for array in arrays)
        return row_function(function, *flat, dtype=first.dtype).reshape(first.shape)


def store_as(x: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers truncated and clamped to the integer type, nan as 0."""
    limits = np.iinfo(dtype)
    if not is_float(x.dtype):
        low, high = max(limits.min, np.iinfo(x.dtype).min), min(limits.max, np.iinfo(x.dtype).max)
        return cast(np.clip(x, low, high), dtype)
    cut = np.trunc(np.where(np.isnan(x), 0.0, x.astype(np.float64)))
    in_range = (cut >= float(limits.min)) & (cut < float(limits.max) + (limits.max <= 2**32))
    result = np.where(in_range, cut, 0.0).astype(dtype)
    ends = np.where(cut > 0, np.array(limits.max, dtype), np.array(limits.min, dtype))
    return np.where(in_range, result, ends)


def prepare_input(x: NDArray[Any], scale_bias: tuple[float, float] | None) -> NDArray[Any]:
    """Return float32 of FLOAT16, and x * Scale + Bias if present.

    Those are two operations in float32 (float64 for FLOAT64). For integers the result is truncated and clamped to the
    range of their type.
    """
    values = to_float32(x, x.dtype)
    if scale_bias is None:
        return values
    integer = not is_float(x.dtype)
    work = np.dtype(np.float32 if integer else values.dtype)
    scale, bias = (np.asarray(number).astype(work) for number in scale_bias)
    with ignore_warnings():
        values = values.astype(work, copy=False) * scale + bias
    return store_as(values, x.dtype) if integer else values


def require_float(name: str, *arrays: NDArray[Any]) -> None:
    """Raise InputError unless all arrays are floating-point."""
    for array in arrays:
        if not is_float(array.dtype):
            raise InputError(f"{name}: expected floating-point elements, found {array.dtype}")


def require_integers(name: str, array: NDArray[Any]) -> None:
    """Raise InputError unless an array holds integers."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{name}: expected integers, found {array.dtype}")


def broadcast_arrays(
    name: str,
    *arrays: NDArray[Any],
    broadcast: bool = False,
    to_first: bool = False,
    axis: int | None = None,
    same_type: bool = True,
    repeat_scalars: bool = True,
) -> tuple[NDArray[Any], ...]:
    """Return arrays broadcast to one shape.

    Raises InputError where shapes or types differ. broadcast: numpy broadcasting; only incompatible shapes are
    rejected. repeat_scalars: materialize the broadcast; otherwise functions broadcast themselves, which is faster.
    to_first: unidirectional broadcasting to the first array's shape. The other arrays have one element, or from
    dimension `axis` on (the last ones if None) its sizes or 1. Raises NoKernel for an axis below 0.
    """
    first = arrays[0]
    one_shape = True
    for array in arrays:
        if same_type and array.dtype != first.dtype:
            raise InputError(f"{name}: expected one type, found {', '.join(str(array.dtype) for array in arrays)}")
        one_shape = one_shape and array.shape == first.shape
    if broadcast and to_first:
        return first, *(_broadcast_from_axis(name, array, first, axis) for array in arrays[1:])
    if one_shape or (broadcast and not repeat_scalars and len(arrays) == 2 and _repeats(*arrays)):
        return arrays
    shapes = [array.shape for array in arrays]
    if not broadcast:
        raise InputError(f"{name}: expected one shape, found {_format_shapes(shapes)}")
    try:
        shape = np.broadcast(*arrays).shape if len(arrays) < _MAX_ITERATOR_ARRAYS else _broadcast_shape(name, shapes)
    except ValueError:
        shape = _broadcast_shape(name, shapes)
    memory.check_budget(shape, _FLOAT64)  # rejects results that are too large; nothing is allocated
    return tuple(np.broadcast_to(array, shape) for array in arrays) if repeat_scalars else arrays


def _repeats(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Return whether one array's shape is a suffix of the other's."""
    shorter, other = (b.shape, a.shape) if a.ndim < b.ndim else (a.shape, b.shape)
    return shorter[len(shorter) - len(other) :] == other


def _format_shapes(shapes: Iterable[tuple[int, ...]]) -> str:
    return " and ".join(str(list(shape)) for shape in shapes)


def _broadcast_shape(name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the broadcast shape, even one too large for an array."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"{name}: the shapes {_format_shapes(shapes)} cannot be broadcast") from None


def _broadcast_from_axis(name: str, array: NDArray[Any], first: NDArray[Any], axis: int | None) -> NDArray[Any]:
    """Return an array broadcast to the first one's shape from `axis` on."""
    if array.size == 1:
        return np.broadcast_to(array.reshape(()), first.shape)
    if axis is not None and axis < 0:
        raise NoKernel(f"{name}: it is unspecified what an axis of {axis} means")
    start = first.ndim - array.ndim if axis is None else axis
    trailing_axes = first.ndim - array.ndim - start
    size_pairs = zip(array.shape, first.shape[max(start, 0) :], strict=False)
    if start < 0 or trailing_axes < 0 or any(size not in {1, full_size} for size, full_size in size_pairs):
        raise InputError(
            f"{name}: the shape {list(array.shape)} does not broadcast to {list(first.shape)} from dimension {start} on"
        )
    return np.broadcast_to(array.reshape(*array.shape, *(1,) * trailing_axes), first.shape)


def bits_of(x: NDArray[Any]) -> NDArray[Any]:
    """Return the elements' bits as unsigned integers of their width."""
    return np.asarray(x, order="C").view(f"u{x.dtype.itemsize}")


def mask_undefined(result: NDArray[Any], is_undefined: NDArray[Any]) -> NDArray[Any]:
    """Return the result with elements without a defined value masked, if any."""
    return np.ma.MaskedArray(result, mask=is_undefined) if is_undefined.any() else result


def _nearest(function: Callable[[NDArray[Any]], NDArray[Any]], x: NDArray[Any]) -> NDArray[Any]:
    """Return `function` of integers, rounded to nearest, halves up.

    Masked where the type cannot hold the result.
    """
    limits = np.iinfo(x.dtype)
    with ignore_warnings():
        values = function(x.astype(np.float64))
        low = np.floor(values)
        result = np.where(values - low >= 0.5, low + 1, low)
        is_in_range = (result >= float(limits.min)) & (result < float(limits.max) + (limits.max <= 2**32))
    return mask_undefined(np.where(is_in_range, result, 0.0).astype(x.dtype), ~is_in_range)


def in_place(function: np.ufunc) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return a numpy function that writes its result into its argument."""
    return lambda x: np.asarray(function(x, out=x))


def unary(
    name: str,
    function: Callable[[NDArray[Any]], NDArray[Any]],
    *,
    single_steps: bool = False,
    of_singles: Callable[..., Any] | None = None,
    of_integers: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> Callable[..., NDArray[Any]]:
    """Return the kernel of a unary float function.

    It supports optional Scale and Bias. single_steps: `function` is arithmetic, and each step is rounded to float32;
    otherwise it is computed in float64. (A correctly rounded function such as sqrt is the same in both, and faster in
    float32.) of_singles: the float32 implementation, numpy's or one built by `singles_by`, where it is accurate enough.
    of_integers: the integer implementation, `function` rounded to nearest if None; integers are supported only where
    requested.
    """
    wide_function = in_place(function) if isinstance(function, np.ufunc) else function
    simple = of_singles if isinstance(of_singles, np.ufunc) else None

    def kernel(
        x: NDArray[Any], *, scale_bias: tuple[float, float] | None = None, integers: bool = False
    ) -> NDArray[Any]:
        if simple is not None and x.dtype == np.float32 and scale_bias is None:
            with ignore_warnings():
                return np.asarray(simple(x))
        if integers and not is_float(x.dtype):
            require_integers(name, x)
            return _nearest(function, x) if of_integers is None else of_integers(x)
        require_float(name, x)
        values = prepare_input(x, scale_bias)
        with ignore_warnings():
            if of_singles is not None and values.dtype == np.float32:
                array = singles_by(of_singles, values) if simple is None else np.asarray(simple(values))
                return round_to(array, x.dtype)
            return round_to(function(values) if single_steps else compute_rounded(wide_function, values), x.dtype)

    return rename_kernel(name, kernel)


_erf: Final = np.frompyfunc(math.erf, 1, 1)
_erfc: Final = np.frompyfunc(math.erfc, 1, 1)
_ROOT_OF_PI: Final = math.sqrt(math.pi)
_WINITZKI: Final = 0.147
#: The initial value has a relative error below 0.01, and each step triples the number of correct digits.
_STEPS: Final = 3


#: erf(x) is nearly tanh(x * P(x**2)); coefficients of P from the highest on, by least squares weighted for an even
#: error of tanh: at most 6e-8. Rounding in float32 adds as much again.
_BELOW_TANH: Final = tuple(
    map(
        np.float32,
        (1.5895042e-07, -5.9855552e-06, 8.9711924e-05, -6.2571815e-04, -1.8438503e-04, 0.102765486, 1.1283797),
    )
)


def error_function(x: NDArray[Any]) -> NDArray[Any]:
    """Return the error function of float64."""
    return np.asarray(_erf(x), np.float64)


def error_function_of_singles(x: NDArray[Any], out: NDArray[Any], workspace: NDArray[Any]) -> None:
    """Write the error function of float32 to `out`, accurate to 1.5e-7.

    workspace: scratch array of the same size.
    """
    odd_polynomial(_BELOW_TANH, x, out, workspace)
    np.tanh(out, out)


def odd_polynomial(
    coefficients: tuple[np.float32, ...], x: NDArray[Any], out: NDArray[Any], workspace: NDArray[Any]
) -> None:
    """Write x * P(x**2) to `out`.

    coefficients: of P, from the highest on. workspace: scratch array.
    """
    np.multiply(x, x, workspace)
    np.multiply(workspace, coefficients[0], out)
    for coefficient in coefficients[1:-1]:
        np.add(out, coefficient, out)
        np.multiply(out, workspace, out)
    np.add(out, coefficients[-1], out)
    np.multiply(out, x, out)


def _start(x: NDArray[Any]) -> NDArray[Any]:
    """Return Winitzki's approximation; erf is nearly linear below its range."""
    t = np.log1p(-x) + np.log1p(x)
    u = 2 / (math.pi * _WINITZKI) + t / 2
    return np.where(x < 0.1, x * (_ROOT_OF_PI / 2), np.sqrt(np.sqrt(u * u - t / _WINITZKI) - u))


def _inverse(x: NDArray[Any]) -> NDArray[Any]:
    """Return erfinv for 0 <= x < 1 by Halley's method.

    The upper half uses the complement, which is exact.
    """
    y = _start(x)
    for _ in range(_STEPS):
        refined = np.where(x < 0.5, _erf(y).astype(np.float64) - x, (1 - x) - _erfc(y).astype(np.float64))
        step = refined * (_ROOT_OF_PI / 2) * np.exp(y * y)
        y = y - step / (1 + y * step)
    return y


def _inverse_of_floats(x: NDArray[Any]) -> NDArray[Any]:
    size = np.abs(x)
    in_domain = size < 1
    result = np.where(size == 1, np.inf, np.nan)
    result[in_domain] = _inverse(size[in_domain])
    return np.asarray(np.copysign(result, x))


erf_inv = unary("erf_inv", _inverse_of_floats)


_HALF: Final = np.float32(0.5)
_ONE: Final = np.float32(1)


def _exp(x: NDArray[Any]) -> NDArray[Any]:
    return compute_rounded(in_place(np.exp), x)


def _sign_limits(x: NDArray[Any]) -> NDArray[Any]:
    """Return the type's minimum for x < 0, its maximum for x > 0, and 0 for 0."""
    limits, zero = np.iinfo(x.dtype), np.zeros((), x.dtype)
    return np.where(x > 0, x.dtype.type(limits.max), np.where(x < 0, x.dtype.type(limits.min), zero))


arccos = unary("arccos", np.arccos)
arccosh = unary("arccosh", np.arccosh)
arcsin = unary("arcsin", np.arcsin)
arcsinh = unary("arcsinh", np.arcsinh)
arctan = unary("arctan", np.arctan)
arctan_of_nan_as_one = unary("arctan_of_nan_as_one", lambda x: np.arctan(np.where(np.isnan(x), x.dtype.type(1), x)))
arctanh = unary("arctanh", np.arctanh, of_integers=_sign_limits)
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
# Computed by formulas whose steps overflow or cancel in float32, visibly in the results.
arccosh_from_logarithm = unary(
    "arccosh_from_logarithm", lambda x: compute_rounded(np.log, x + np.sqrt(x * x - _ONE)), single_steps=True
)
arcsinh_from_logarithm = unary(
    "arcsinh_from_logarithm", lambda x: compute_rounded(np.log, x + np.sqrt(x * x + _ONE)), single_steps=True
)
cosh_from_exponentials = unary("cosh_from_exponentials", lambda x: (_exp(x) + _exp(-x)) * _HALF, single_steps=True)
sinh_from_exponentials = unary("sinh_from_exponentials", lambda x: (_exp(x) - _exp(-x)) * _HALF, single_steps=True)


def identity(x: Any, *, scale_bias: tuple[float, float] | None = None) -> Any:
    """Return a copy of any elements, with Scale and Bias if present.

    A value that is not an array is returned itself.
    """
    if not isinstance(x, np.ndarray):
        return x
    return x.copy() if scale_bias is None else round_to(prepare_input(x, scale_bias), x.dtype)


def absolute(
    x: NDArray[Any], *, scale_bias: tuple[float, float] | None = None, saturate_below: int = 0
) -> NDArray[Any]:
    """Return absolute values.

    The smallest integer maps to itself, but to the maximum in types of fewer than `saturate_below` bits. With Scale and
    Bias, those are computed as integers of `saturate_below` bits and clamped.
    """
    if is_float(x.dtype):
        return round_to(np.abs(prepare_input(x, scale_bias)), x.dtype)
    if scale_bias is None or x.dtype.itemsize * 8 >= saturate_below:
        return _apply_signed(prepare_input(x, scale_bias), np.abs, saturate_below)
    with ignore_warnings():
        return store_as(np.abs(prepare_input(x.astype(f"i{saturate_below // 8}"), scale_bias)), x.dtype)


def negative(x: NDArray[Any], *, saturate_below: int = 0) -> NDArray[Any]:
    """Return negated elements; the smallest integer as in `absolute`."""
    return -x if is_float(x.dtype) else _apply_signed(x, np.negative, saturate_below)


def _apply_signed(
    x: NDArray[Any], function: Callable[[NDArray[Any]], NDArray[Any]], saturate_below: int
) -> NDArray[Any]:
    """Return `function` of integers, which wrap around.

    Types of fewer than `saturate_below` bits are computed wider and clamped.
    """
    with ignore_warnings():
        if x.dtype.itemsize * 8 < saturate_below:
            return store_as(function(x.astype(np.int64)), x.dtype)
        return function(x).astype(x.dtype, copy=False)


def sign(x: NDArray[Any], *, keep_nan: bool = False) -> NDArray[Any]:
    """Return -1, 0 or 1 by sign; 0 for -0, and for nan unless keep_nan."""
    with ignore_warnings():
        result = cast((x > 0).astype(np.int8) - (x < 0).astype(np.int8), x.dtype)
        return np.where(x == x, result, x) if keep_nan else result  # noqa: PLR0124


def _round_half_away(x: NDArray[Any]) -> NDArray[Any]:
    truncated = np.trunc(x)
    rounded = np.where(np.abs(x - truncated) >= _HALF, truncated + np.copysign(1, x), truncated)
    return np.asarray(np.where(x == 0, rounded.dtype.type(0), rounded))  # the sign is a factor, 0 for -0


def _round_half_up(x: NDArray[Any]) -> NDArray[Any]:
    single = to_float32(x, x.dtype)
    array: NDArray[Any] = np.sign(single) * np.floor(np.abs(single) + single.dtype.type(_HALF))
    return array


_ROUNDINGS: Final[Mapping[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "half_to_even": np.rint,
    "half_away_from_zero": _round_half_away,
    "toward_zero": np.trunc,
}


def round_to_integer(x: NDArray[Any], *, mode: str, integers: bool = False) -> NDArray[Any]:
    """Return floats rounded to integral values.

    mode: half_to_even, half_away_from_zero, toward_zero or half_added, which is the floor of the magnitude plus 0.5
    (rounded in float32). integers: accept integers and return them unchanged.
    """
    if mode not in {*_ROUNDINGS, "half_added"}:
        raise InputError(f"round_to_integer: expected a mode in {', '.join(_ROUNDINGS)}, found {mode!r:.60}")
    if integers and not is_float(x.dtype):
        require_integers("round_to_integer", x)
        return x.copy()
    require_float("round_to_integer", x)
    with ignore_warnings():
        if mode == "half_added":
            return round_to(_round_half_up(x), x.dtype)
        return round_to(_ROUNDINGS[mode](to_float32(x, x.dtype)), x.dtype)


def is_not_a_number(x: NDArray[Any], *, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return 1 where an element is nan, else 0.

    dtype: of the result, default bool.
    """
    require_float("is_not_a_number", x)
    return cast(np.isnan(x), dtype)


def is_finite(x: NDArray[Any]) -> NDArray[Any]:
    """Return whether each element is finite."""
    require_float("is_finite", x)
    return cast(np.isfinite(x), None)


def is_infinite(x: NDArray[Any], *, signs: str = "either", dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return 1 where an element is infinite, else 0.

    signs: either, positive, negative or neither. dtype: of the result, default bool.
    """
    require_float("is_infinite", x)
    tests: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
        "either": np.isinf,
        "positive": np.isposinf,
        "negative": np.isneginf,
        "neither": lambda values: np.zeros(values.shape, np.bool_),
    }
    if signs not in tests:
        raise InputError(f"is_infinite: expected signs in {', '.join(tests)}, found {signs!r:.60}")
    return cast(tests[signs](to_float32(x, x.dtype)), dtype)


_SINGLE: Final = np.dtype(np.float32)


def _binary(name: str, floats: Function, integers: Function) -> Callable[..., NDArray[Any]]:
    """Return a kernel from its float32 (or float64) and integer functions.

    floats: accepts arrays that broadcast. integers: of one type.
    """

    def kernel(a: NDArray[Any], b: NDArray[Any], **options: Unpack[Broadcast]) -> NDArray[Any]:
        single = a.dtype == _SINGLE
        floating = single or is_float(a.dtype)
        a, b = broadcast_arrays(name, a, b, repeat_scalars=not floating, **options)
        with ignore_warnings():
            if single:
                return floats(a, b)
            if floating:
                return round_to(floats(to_float32(a, a.dtype), to_float32(b, b.dtype)), a.dtype)
            require_integers(name, a)
            return integers(a, b)

    return rename_kernel(name, kernel)


def _maximum(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.where((b > a) | (a != a), b, a)  # noqa: PLR0124  # nan; of equal ones, as -0 and 0, the first


def _minimum(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.where((b < a) | (a != a), b, a)  # noqa: PLR0124


def _quotient(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """Return truncated quotients.

    The smallest integer divided by -1 is itself. Division by 0 has all bits set if unsigned, and is undefined if
    signed.
    """
    one_array = np.ones((), a.dtype)
    safe_divisor = np.where(b == 0, one_array, b)
    if a.dtype.kind == "u":
        return np.where(b == 0, ~np.zeros((), a.dtype), a // safe_divisor)
    return mask_undefined(_divide_truncated(a, safe_divisor), b == 0)


def _divide_truncated(a: NDArray[Any], divisor: NDArray[Any]) -> NDArray[Any]:
    # ufunc floor division, plus one where the exact quotient is fractional and negative
    low = a // divisor
    exact = low * divisor == a
    negative = (a < 0) != (divisor < 0)
    return np.asarray(np.where(exact | ~negative, low, low + np.ones((), a.dtype)))


def _average(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(_quotient(a + b, np.full((), 2, a.dtype)))


add = _binary("add", np.add, np.add)
subtract = _binary("subtract", np.subtract, np.subtract)
multiply = _binary("multiply", np.multiply, np.multiply)
divide = _binary("divide", np.divide, _quotient)
maximum = _binary("maximum", _maximum, np.maximum)
minimum = _binary("minimum", _minimum, np.minimum)
average = _binary("average", lambda a, b: (a + b) / a.dtype.type(2), _average)
squared_difference = _binary("squared_difference", lambda a, b: (a - b) * (a - b), lambda a, b: (a - b) * (a - b))


def quotient(a: NDArray[Any], b: NDArray[Any], *, floor: bool, **options: Unpack[Broadcast]) -> NDArray[Any]:
    """Return quotients; integers are floored or truncated, masked for 0."""

    def integers(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        safe_divisor = np.where(b == 0, np.ones((), a.dtype), b)
        return mask_undefined(np.asarray(a // safe_divisor) if floor else _divide_truncated(a, safe_divisor), b == 0)

    result: NDArray[Any] = _binary("quotient", np.divide, integers)(a, b, **options)
    return result


def fused_add(
    a: NDArray[Any], b: NDArray[Any], *, activation: Callable[[NDArray[Any]], NDArray[Any]] | None = None
) -> NDArray[Any]:
    """Return sums rounded to their type, with `activation` applied if present."""
    total: NDArray[Any] = add(a, b)
    return total if activation is None else activation(total)


def arctan2(a: NDArray[Any], b: NDArray[Any], *, nan_as_one: bool = False) -> NDArray[Any]:
    """Return atan2(a, b), masked at the origin.

    nan_as_one: where one operand is nan and the other finite and non-zero, their quotient counts as 1, but as infinity
    where the reciprocal of the other exceeds float32.
    """
    a, b = broadcast_arrays("arctan2", a, b)
    require_float("arctan2", a)
    origin = (a == 0) & (b == 0)
    if nan_as_one:
        of_a, of_b = (np.isnan(first) & np.isfinite(second) & (second != 0) for first, second in ((a, b), (b, a)))
        other = np.abs(np.where(of_a, b, a))
        a, b = np.where(of_a, b, np.where(of_b, other, a)), np.where(of_b, other, b)
        result = compute_rounded(np.arctan2, a, b)
        result[(of_a | of_b) & (other < 2.0**-128)] = np.inf
        return mask_undefined(result, origin)
    return mask_undefined(compute_rounded(np.arctan2, a, b), origin)


def remainder(
    a: NDArray[Any],
    b: NDArray[Any],
    *,
    rounding: str,
    raised_quotient: bool = False,
    exact: bool = False,
    by_zero: str = "ones",
    **options: Unpack[Broadcast],
) -> NDArray[Any]:
    """Return a - b * q, with q the rounded quotient of a and b.

    rounding: floor (the result has the sign of b) or truncate (that of a). raised_quotient: for floats, round the next
    float up, or away from zero, so that a quotient just below an integer counts as integral. exact: for floats, the
    remainder of the exact quotient. Unsigned remainders by 0 have all bits set, or are undefined (masked) if by_zero is
    undefined; signed ones are undefined.
    """
    if by_zero not in {"ones", "undefined"}:
        raise InputError(f"remainder: expected by_zero ones or undefined, found {by_zero!r:.60}")
    if rounding not in {"floor", "truncate"}:
        raise InputError(f"remainder: expected rounding floor or truncate, found {rounding!r:.60}")
    floor = rounding == "floor"

    def floats(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        if exact:
            return np.asarray(np.mod(a, b) if floor else np.fmod(a, b))
        q = a / b
        if raised_quotient:
            infinity = np.asarray(np.inf, q.dtype)
            q = np.where(np.isinf(q) | (q == 0), q, np.nextafter(q, infinity if floor else np.copysign(infinity, q)))
        left: NDArray[Any] = a - b * (np.floor(q) if floor else np.trunc(q))
        return left

    def integers(a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        safe_divisor = np.where(b == 0, np.ones((), a.dtype), b)
        result: NDArray[Any] = np.mod(a, safe_divisor) if floor else np.fmod(a, safe_divisor)
        if a.dtype.kind == "u" and by_zero == "ones":
            return np.where(b == 0, ~np.zeros((), a.dtype), result)
        return mask_undefined(result, b == 0)

    result: NDArray[Any] = _binary("remainder", floats, integers)(a, b, **options)
    return result


_SET_BITS: Final = np.array([n.bit_count() for n in range(256)], np.uint8)


def _bitwise(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    def kernel(a: NDArray[Any], b: NDArray[Any], **options: Unpack[Broadcast]) -> NDArray[Any]:
        a, b = broadcast_arrays(name, a, b, **options)
        return function(bits_of(a), bits_of(b)).view(a.dtype)

    return rename_kernel(name, kernel)


bitwise_and = _bitwise("bitwise_and", np.bitwise_and)
bitwise_or = _bitwise("bitwise_or", np.bitwise_or)
bitwise_xor = _bitwise("bitwise_xor", np.bitwise_xor)


def bitwise_not(x: NDArray[Any]) -> NDArray[Any]:
    """Return elements with all bits inverted; booleans negated."""
    if x.dtype == np.bool_:
        return np.asarray(np.logical_not(x))
    result: NDArray[Any] = np.invert(bits_of(x)).view(x.dtype)
    return result


def bit_count(x: NDArray[Any], *, dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return the number of set bits of each element.

    dtype: of the result, default uint8.
    """
    octets = bits_of(x).reshape(-1).view(np.uint8).reshape(*x.shape, x.dtype.itemsize)
    result: NDArray[Any] = _SET_BITS[octets].sum(axis=-1, dtype=dtype or np.uint8)
    return result


def left_shift(a: NDArray[Any], b: NDArray[Any], *, overlong: str = "zero") -> NDArray[Any]:
    """Return unsigned elements shifted left by b bits.

    overlong: result of a shift by the width or more. zero: 0. word: the shift of a machine with 32-bit words, which
    uses the lowest 5 bits of b; narrower types lose bits beyond their width, and for 64-bit types b's low word counts,
    from 32 on as 32 plus 5 bits.
    """
    return _shift("left_shift", np.left_shift, a, b, overlong)


def right_shift(a: NDArray[Any], b: NDArray[Any], *, overlong: str = "zero") -> NDArray[Any]:
    """Return unsigned elements shifted right by b bits.

    overlong: as in `left_shift`.
    """
    return _shift("right_shift", np.right_shift, a, b, overlong)


def _shift(
    name: str, function: Callable[..., NDArray[Any]], a: NDArray[Any], b: NDArray[Any], overlong: str
) -> NDArray[Any]:
    a, b = broadcast_arrays(name, a, b)
    if a.dtype.kind != "u":
        raise InputError(f"{name}: expected unsigned integers, found {a.dtype}")
    shift_counts = b.astype(np.uint64)
    if overlong == "word":
        low = shift_counts & np.uint64(0xFFFFFFFF)
        five = low & np.uint64(31)
        shift_counts = np.where(low < 32, five, five + np.uint64(32)) if a.dtype.itemsize == 8 else five
    elif overlong != "zero":
        raise InputError(f"{name}: expected overlong zero or word, found {overlong!r:.60}")
    result = function(a.astype(np.uint64), np.minimum(shift_counts, np.uint64(63)))
    return np.where(shift_counts < a.dtype.itemsize * 8, result, np.uint64(0)).astype(a.dtype)


def shift(
    a: NDArray[Any], b: NDArray[Any], *, left: bool, overlong: str = "sign", **options: Unpack[Broadcast]
) -> NDArray[Any]:
    """Return integers shifted by b bits, left or right (arithmetic if signed).

    For a negative count, or one of the width or more, a right shift leaves only the sign bits and a left shift 0.
    overlong: undefined masks these, and left shifts of signed integers that overflow.
    """
    if overlong not in {"sign", "undefined"}:
        raise InputError(f"shift: expected overlong sign or undefined, found {overlong!r:.60}")
    a, b = broadcast_arrays("shift", a, b, **options)
    require_integers("shift", a)
    bits = a.dtype.itemsize * 8
    is_overlong = (b < 0) | (b >= bits)
    shift_counts = np.where(is_overlong, np.asarray(0, b.dtype), b)
    with ignore_warnings():
        shifted = np.left_shift(a, shift_counts) if left else np.right_shift(a, shift_counts)
        sign = np.where((a < 0) & (not left), np.asarray(-1, np.int64), np.asarray(0, np.int64)).astype(a.dtype)
        has_lost_bits = (
            np.right_shift(shifted, shift_counts) != a if left and a.dtype.kind == "i" else np.zeros((), np.bool_)
        )
    if overlong == "undefined":
        return mask_undefined(shifted, is_overlong | has_lost_bits)
    return np.where(is_overlong, sign, shifted)


def _comparison(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Return a comparison kernel with results 1 or 0 in `dtype`, default bool."""

    def kernel(
        a: NDArray[Any], b: NDArray[Any], *, dtype: np.dtype[Any] | None = None, **options: Unpack[Broadcast]
    ) -> NDArray[Any]:
        a, b = broadcast_arrays(name, a, b, repeat_scalars=False, **options)
        array = function(a, b)
        return array if dtype is None else cast(array, dtype)

    return rename_kernel(name, kernel)


equal = _comparison("equal", np.equal)
greater = _comparison("greater", np.greater)
greater_equal = _comparison("greater_equal", np.greater_equal)
less = _comparison("less", np.less)
less_equal = _comparison("less_equal", np.less_equal)
not_equal = _comparison("not_equal", np.not_equal)


def _logical(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Return a logical kernel: non-zero is true.

    Results have the inputs' type.
    """

    def kernel(a: NDArray[Any], b: NDArray[Any], **options: Unpack[Broadcast]) -> NDArray[Any]:
        a, b = broadcast_arrays(name, a, b, repeat_scalars=False, **options)
        return cast(function(a, b), a.dtype)

    return rename_kernel(name, kernel)


logical_and = _logical("logical_and", np.logical_and)
logical_or = _logical("logical_or", np.logical_or)
logical_xor = _logical("logical_xor", np.logical_xor)


def logical_not(x: NDArray[Any]) -> NDArray[Any]:
    """Return 1 where an element is 0, else 0, in the same type."""
    return cast(x == 0, x.dtype)


def select(
    condition: NDArray[Any], a: NDArray[Any], b: NDArray[Any], *, broadcast: bool = False, one_sided: bool = False
) -> NDArray[Any]:
    """Return `a` where `condition` is not 0, else `b`.

    one_sided: broadcasting of unequal shapes is undocumented; raises NoKernel for those.
    """
    if one_sided and not condition.shape == a.shape == b.shape:
        raise NoKernel("select: it is unspecified which input the others are broadcast to")
    broadcast_arrays("select", a, b, broadcast=broadcast, repeat_scalars=False)
    broadcast_arrays("select", condition, a, b, broadcast=broadcast, same_type=False, repeat_scalars=False)
    return choose_elements(condition if condition.dtype == np.bool_ else condition != 0, a, b)


def _fold_left(
    name: str, parts: Sequence[NDArray[Any]], function: Callable[..., NDArray[Any]], *, broadcast: bool
) -> NDArray[Any]:
    """Return a left fold of a binary function, in float32 for narrower floats."""
    if not parts:
        raise InputError(f"{name}: expected at least one array")
    first, *other_parts = broadcast_arrays(name, *parts, broadcast=broadcast)
    result = to_float32(first, first.dtype)
    with ignore_warnings():
        for other in other_parts:
            result = function(result, to_float32(other, other.dtype))
    return np.array(result)


def maximum_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the element-wise maximum of all inputs; nan propagates."""
    return round_to(_fold_left("maximum", parts, np.maximum, broadcast=broadcast), parts[0].dtype)


def minimum_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the element-wise minimum of all inputs; nan propagates."""
    return round_to(_fold_left("minimum", parts, np.minimum, broadcast=broadcast), parts[0].dtype)


def sum_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the sum of all inputs, left to right; narrow floats round once."""
    return round_to(_fold_left("sum", parts, np.add, broadcast=broadcast), parts[0].dtype)


def mean_of_all(parts: Sequence[NDArray[Any]], *, broadcast: bool = False) -> NDArray[Any]:
    """Return the element-wise mean of all inputs."""
    total = _fold_left("mean", parts, np.add, broadcast=broadcast)
    if not is_float(parts[0].dtype):
        raise InputError(f"mean: expected floating-point elements, found {parts[0].dtype}")
    with ignore_warnings():
        return round_to(total / total.dtype.type(len(parts)), parts[0].dtype)


_WORD: Final = 32


def power(base: NDArray[Any], exponent: NDArray[Any], **options: Unpack[Broadcast]) -> NDArray[Any]:
    """Return base ** exponent in the base's type, where types may differ.

    If either is a float: computed in float64 and rounded; an integer base truncates and clamps the result. Integers:
    exact, wrapped around in the bits of the base; 0 for a negative exponent unless the base is 1 or -1.
    """
    square = exponent.size == 1 and exponent.dtype.kind == "f" and exponent.item() == 2 and base.dtype.kind == "f"
    base, exponent = broadcast_arrays(
        "power", base, exponent, same_type=False, repeat_scalars=not square or exponent.ndim > base.ndim, **options
    )
    with ignore_warnings():
        if square:
            return round_to(np.square(to_float32(base, base.dtype)), base.dtype)
        if is_float(base.dtype) or is_float(exponent.dtype):
            result = np.power(base.astype(np.float64), exponent.astype(np.float64))
            return round_to(result, base.dtype) if is_float(base.dtype) else store_as(result, base.dtype)
        require_integers("power", base)
        require_integers("power", exponent)
        return _integer_power(base, exponent).astype(base.dtype)


def power_by_logarithm(
    base: NDArray[Any],
    exponent: NDArray[Any],
    *,
    scale_bias: tuple[float, float] | None = None,
    half_range: bool = False,
) -> NDArray[Any]:
    """Return base ** exponent in the base's type, where types may differ.

    If either is a float: 2 ** (exponent * log2(abs(base))), undefined for an infinity to the power of 0; negative for a
    negative base with an odd exponent, nan with a fractional exponent; 0 for a base of 0 with any exponent. An integer
    base truncates and clamps the result. Integers: exact, wrapped around in 32 bits (64 for wider types), then clamped
    for narrower types; 0 for a negative exponent unless the base is 1 or -1. scale_bias: applied to bases and
    exponents; narrower integers become 32-bit integers. half_range: results beyond the range of float16 are infinite.
    """
    base, exponent = broadcast_arrays("power_by_logarithm", base, exponent, same_type=False)
    arrays = (base, exponent) if scale_bias is None else (_word(base), _word(exponent))
    x, y = (prepare_input(array, scale_bias) for array in arrays)
    with ignore_warnings():
        if is_float(base.dtype) or is_float(exponent.dtype):
            work = np.dtype(np.float64 if base.dtype == np.float64 else np.float32)
            result = _real_power(x.astype(work), y)
            if half_range:
                result = np.where(np.abs(result) > np.finfo(np.float16).max, np.copysign(np.inf, result), result)
            return round_to(result, base.dtype) if is_float(base.dtype) else store_as(result, base.dtype)
        require_integers("power_by_logarithm", base)
        require_integers("power_by_logarithm", exponent)
        return store_as(_integer_power(x, y), base.dtype)


def _word(x: NDArray[Any]) -> NDArray[Any]:
    """Return integers of at least 32 bits."""
    return x if is_float(x.dtype) else x.astype(f"{x.dtype.kind}{max(_WORD // 8, x.dtype.itemsize)}")


def power_to_constant(
    x: NDArray[Any], *, exponent: float, scale_bias: tuple[float, float] | None = None
) -> NDArray[Any]:
    """Return every float to a constant power, as in `power_by_logarithm`."""
    if not is_float(x.dtype):
        raise InputError(f"power_to_constant: expected floating-point elements, found {x.dtype}")
    values = prepare_input(x, scale_bias)
    with ignore_warnings():
        power = np.full(x.shape, exponent, np.float64).astype(values.dtype)
        return round_to(_real_power(values, power), x.dtype)


def _real_power(x: NDArray[Any], exponent: NDArray[Any]) -> NDArray[Any]:
    y = exponent.astype(np.float32 if exponent.dtype.itemsize < 8 else np.float64).astype(np.float64)
    size = np.exp2(y * np.log2(np.abs(x.astype(np.float64)))).astype(x.dtype)
    is_odd = np.fmod(y, 2) != 0 if is_float(exponent.dtype) else exponent % 2 != 0
    fraction = (y != np.trunc(y)) | np.isinf(y)
    signed = np.where(x < 0, np.where(fraction, np.asarray(np.nan, x.dtype), np.where(is_odd, -size, size)), size)
    return np.where(x == 0, np.zeros((), x.dtype), signed)


def _integer_power(x: NDArray[Any], exponent: NDArray[Any]) -> NDArray[Any]:
    """Return integer powers wrapped around in 32 bits, or 64 for wider types."""
    base = _word(x)
    wide_dtype = base.dtype
    left = np.where(exponent > 0, exponent, 0).astype(np.uint64)
    result, factor = np.ones(x.shape, wide_dtype), base
    while left.any():
        result = np.where(left % 2 == 1, result * factor, result)
        factor, left = factor * factor, left // 2
    unit = np.where(
        base == 1, 1, np.where((base == -1) if wide_dtype.kind == "i" else False, 1 - 2 * (exponent % 2 != 0), 0)
    )
    return np.where(exponent < 0, unit.astype(wide_dtype), result)
