"""Activation functions: relu, elu, gelu, sigmoid, clip, prelu, swish.

DirectML ACTIVATION_* and ELEMENT_WISE_CLIP, ONNX Relu, LeakyRelu, PRelu, Elu, Selu, Celu, Gelu, Mish, Clip, Shrink,
HardSigmoid, HardSwish, Softplus, Softsign, OpenVINO Clamp, Swish, HSwish, HSigmoid. Each step is rounded to float32;
max and min ignore nan.
"""

from __future__ import annotations

from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.arithmetic import (
    choose_elements,
    is_float,
    order_low_halves,
    require_shape,
    round_to,
    to_float32,
)
from specgate.execution.kernels.elementwise import (
    broadcast_arrays,
    compute_rounded,
    error_function,
    ignore_warnings,
    in_place,
    odd_polynomial,
    prepare_input,
    rename_kernel,
    require_float,
    store_as,
    unary,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_ZERO: Final = np.float32(0)
_ONE: Final = np.float32(1)
_ROOT: Final = np.sqrt(0.5)
_GELU_SLOPE: Final = np.sqrt(2 / np.pi)
#: Above, log(1 + exp(x)) equals x in float64.
_SOFTPLUS_LIMIT: Final = 40
#: The normal cumulative distribution at x is nearly 1 / (1 + exp(x * P(x**2))); coefficients of P from the highest on,
#: fitted like those of the error function.
_ABOVE_SHARE: Final = tuple(
    map(
        np.float32,
        (-3.6864649e-09, 2.7125293e-07, -8.0232912e-06, 1.1120360e-04, 6.3468447e-05, -0.0726640746, -1.5957706),
    )
)


def _parametric(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Return the kernel of a function of floats and FLOAT keyword parameters.

    The argument of_nan of the kernel replaces the computed result for nan by nan (NAN) or 0 (ZERO).
    """

    def kernel(x: NDArray[Any], *, of_nan: str = "COMPUTED", **numbers: float) -> NDArray[Any]:
        require_float(name, x)
        values = to_float32(x, x.dtype)
        with ignore_warnings():
            parameters = {name: np.asarray(number).astype(values.dtype) for name, number in numbers.items()}
            result = function(values, **parameters)
            if of_nan != "COMPUTED":
                result = np.where(np.isnan(values), values if of_nan == "NAN" else _ZERO, result)
            return round_to(result, x.dtype)

    return rename_kernel(name, kernel)


def _exp(x: NDArray[Any]) -> NDArray[Any]:
    return compute_rounded(in_place(np.exp), x)


def _logistic(x: NDArray[Any]) -> NDArray[Any]:
    """Return 1 / (1 + exp(-x))."""
    np.negative(x, out=x)
    np.exp(x, out=x)
    x += 1
    return np.asarray(np.divide(1, x, out=x))


def _logistic_of_singles(x: NDArray[Any], out: NDArray[Any], _room: NDArray[Any]) -> None:
    np.negative(x, out)
    np.exp(out, out)
    np.add(out, _ONE, out)
    np.divide(_ONE, out, out)


def _sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    return compute_rounded(_logistic, x)


def _log_of_sum(x: NDArray[Any]) -> NDArray[Any]:
    """Return log(1 + exp(x)), much faster than np.logaddexp."""
    array = np.asarray(np.abs(x))
    np.negative(array, out=array)
    np.exp(array, out=array)
    np.log1p(array, out=array)
    array += np.maximum(x, 0)
    return array


def _steep_softplus(x: NDArray[Any], steepness: NDArray[Any]) -> NDArray[Any]:
    """Return the softplus of x with a steepness.

    log(1 + exp(x * steepness)) / steepness; the result is x itself where exp would be large, and for nan.
    """

    def function(v: NDArray[Any]) -> NDArray[Any]:
        steep = v * steepness
        array = _log_of_sum(steep)
        array /= steepness
        np.copyto(array, v, where=~(steep < _SOFTPLUS_LIMIT))
        return array

    return compute_rounded(function, x)


def _clamp_below(x: NDArray[Any], least: np.float32) -> NDArray[Any]:
    """Return max(x, least), `least` for nan; np.fmax propagates signaling nan."""
    return choose_elements(x > least, x, x.dtype.type(least))


def _clamp_above(x: NDArray[Any], upper_bound: np.float32) -> NDArray[Any]:
    return choose_elements(x < upper_bound, x, x.dtype.type(upper_bound))


def _leaky(x: NDArray[Any], alpha: NDArray[Any]) -> NDArray[Any]:
    scaled = x * alpha
    if 0 < alpha <= 1:  # a larger number stays larger: no comparison with 0 needed
        return np.asarray(np.maximum(x, scaled))
    return choose_elements(x >= 0, x, scaled)


def _unit(x: NDArray[Any]) -> NDArray[Any]:
    """Return numbers clamped to [0, 1], 0 for nan."""
    array = np.asarray(np.clip(x, _ZERO, _ONE))
    if array.size and np.isnan(array.max()):
        np.copyto(array, _ZERO, where=np.isnan(array))
    array += _ZERO  # -0 becomes 0
    return array


def _normal_share(x: NDArray[Any]) -> NDArray[Any]:
    """Return x times the cumulative normal distribution at x."""
    part = error_function(x * _ROOT)
    part += 1
    x *= 0.5
    part *= x
    return part


def _share_of_singles(x: NDArray[Any], out: NDArray[Any], workspace: NDArray[Any]) -> None:
    odd_polynomial(_ABOVE_SHARE, x, out, workspace)
    np.exp(out, out)
    np.add(out, _ONE, out)
    np.divide(x, out, out)


sigmoid = unary("sigmoid", _logistic, of_singles=_logistic_of_singles)
exact_sigmoid = unary("sigmoid", _logistic)
_gelu = unary("gelu", _normal_share, of_singles=_share_of_singles)
_gelu_by_tanh = unary("gelu", lambda x: 0.5 * x * (1 + np.tanh(_GELU_SLOPE * (x + 0.044715 * x * x * x))))
mish = unary("mish", lambda x: x * np.tanh(_log_of_sum(x)))
softsign = unary("softsign", lambda x: x / (_ONE + np.abs(x)), single_steps=True)
celu = _parametric(
    "celu", lambda x, alpha: _clamp_below(x, _ZERO) + _clamp_above(alpha * (_exp(x / alpha) - _ONE), _ZERO)
)
celu_of_any = _parametric(
    "celu_of_any",
    lambda x, alpha: np.maximum(x, _ZERO) + np.minimum(alpha * compute_rounded(np.expm1, x / alpha), _ZERO),
)
elu = _parametric("elu", lambda x, alpha: choose_elements(x >= 0, x, alpha * (_exp(x) - _ONE)))
hard_sigmoid = _parametric("hard_sigmoid", lambda x, alpha, beta: _unit(x * alpha + beta))
hard_swish = _parametric("hard_swish", lambda x, alpha, beta: x * _unit(x * alpha + beta))
leaky_relu = _parametric("leaky_relu", _leaky)
linear = _parametric("linear", lambda x, alpha, beta: x * alpha + beta)
parametric_softplus = _parametric(
    "parametric_softplus", lambda x, alpha, beta: compute_rounded(lambda v: alpha * _log_of_sum(v * beta), x)
)
scaled_elu = _parametric(
    "scaled_elu", lambda x, alpha, gamma: gamma * choose_elements(x >= 0, x, alpha * (_exp(x) - _ONE))
)
scaled_tanh = _parametric("scaled_tanh", lambda x, alpha, beta: alpha * compute_rounded(np.tanh, x * beta))
softplus = _parametric("softplus", _steep_softplus)
swish = _parametric("swish", lambda x, scale: x * _sigmoid(x * scale))
thresholded_relu = _parametric("thresholded_relu", lambda x, alpha: choose_elements(x <= alpha, x.dtype.type(0), x))


def gelu(
    x: NDArray[Any], *, scale_bias: tuple[float, float] | None = None, approximation: str = "none"
) -> NDArray[Any]:
    """Return the Gaussian error linear unit of x.

    That is x times the cumulative normal distribution. approximation: none, or tanh for the tanh formula.
    """
    if approximation not in {"none", "tanh"}:
        raise InputError(f"gelu: expected approximation none or tanh, found {approximation!r:.60}")
    result: NDArray[Any] = (_gelu if approximation == "none" else _gelu_by_tanh)(x, scale_bias=scale_bias)
    return result


def relu(x: NDArray[Any], *, keep_nan: bool = False) -> NDArray[Any]:
    """Return max(x, 0).

    keep_nan: nan stays nan instead of becoming 0.
    """
    zero = np.zeros((), x.dtype)
    if x.dtype.kind not in "fiu":
        return np.where(~(x <= zero) if keep_nan else x > zero, x, zero)
    if x.dtype.kind != "f":
        return np.asarray(np.maximum(x, zero))
    larger = np.asarray(np.clip(x, zero, x.dtype.type(np.inf)))  # twice as fast as np.maximum
    larger += zero  # -0 becomes 0
    if not keep_nan and larger.size and np.isnan(larger.max()):
        np.copyto(larger, zero, where=np.isnan(larger))
    return larger


def relu_by_product(x: NDArray[Any]) -> NDArray[Any]:
    """Return x where it is above 0, else x * 0: nan for nan and infinities."""
    with ignore_warnings():
        return np.where(x > 0, x, x * x.dtype.type(0))


def relu_gradient(x: NDArray[Any], gradient: NDArray[Any]) -> NDArray[Any]:
    """Return the gradient where x is above 0, else 0."""
    x, gradient = broadcast_arrays("relu_gradient", x, gradient)
    return np.where(x > 0, gradient, np.zeros((), gradient.dtype))


def slopes_of_channels(x: NDArray[Any], slope: NDArray[Any]) -> NDArray[Any]:
    """Return a list of per-channel slopes reshaped to broadcast with x.

    The list has one slope per index of the second dimension of x; other slopes are returned unchanged.
    """
    is_per_channel = slope.ndim == 1 and x.ndim > 1 and slope.shape[0] == x.shape[1]
    return slope.reshape(-1, *(1,) * (x.ndim - 2)) if is_per_channel else slope


def prelu(x: NDArray[Any], slope: NDArray[Any], *, broadcast: bool = False, of_channels: bool = False) -> NDArray[Any]:
    """Return x where it is at least 0, else slope * x.

    broadcast: broadcast the slope to the shape of x. of_channels: the slope is a single number or a list with one slope
    per channel (second dimension of x); raises NoKernel for others.
    """
    shape = x.shape
    if of_channels:
        slope, array = slope.reshape(()) if slope.size == 1 else slopes_of_channels(x, slope), slope
        if slope is array and slope.ndim:
            raise NoKernel(f"prelu: slopes of shape {list(array.shape)} do not match {list(shape)}")
    x, slope = broadcast_arrays("prelu", x, slope, broadcast=broadcast)
    require_shape("prelu", "slopes that broadcast", x.shape, shape)
    values = to_float32(x, x.dtype)
    with ignore_warnings():
        return round_to(choose_elements(values >= 0, values, to_float32(slope, x.dtype) * values), x.dtype)


def shrink(x: NDArray[Any], *, bias: float, threshold: float, exact: bool = False) -> NDArray[Any]:
    """Return x - bias above threshold, x + bias below -threshold, else 0.

    nan becomes 0. Integers are computed in float32, rounded half to even and clamped to the range of their type; exact:
    with a whole bias they are computed as integers, with any other in float64 and truncated.
    """
    if exact and not is_float(x.dtype):
        return _shrunk_integers(x, bias, threshold)
    values = to_float32(x, x.dtype) if is_float(x.dtype) else x.astype(np.float32)
    with ignore_warnings():
        shift_array, limit = (np.asarray(number).astype(values.dtype) for number in (bias, threshold))
        shifted = np.where(values > limit, values - shift_array, np.where(values < -limit, values + shift_array, _ZERO))
        return round_to(shifted, x.dtype) if is_float(x.dtype) else store_as(np.rint(shifted), x.dtype)


def _shrunk_integers(x: NDArray[Any], bias: float, threshold: float) -> NDArray[Any]:
    doubles = x.astype(np.float64)
    with ignore_warnings():
        if abs(bias) < 2**63 and bias == int(bias):
            shift_array = np.asarray(int(bias)).astype(x.dtype)
            lowered, raised_values = x - shift_array, x + shift_array
        else:
            lowered, raised_values = (
                store_as(np.trunc(shifted), x.dtype) for shifted in (doubles - bias, doubles + bias)
            )
        return np.asarray(
            np.where(doubles > threshold, lowered, np.where(doubles < -threshold, raised_values, x.dtype.type(0)))
        )


def _number(name: str, array: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    """Return a one-element array of the type of `x` as a 0-D array."""
    if array.size != 1 or array.dtype != x.dtype:
        raise InputError(f"{name}: expected one element of {x.dtype}, found {array.dtype}{list(array.shape)}")
    return array.reshape(())


def hard_sigmoid_by_tensors(x: NDArray[Any], alpha: NDArray[Any], beta: NDArray[Any]) -> NDArray[Any]:
    """Return alpha * x + beta, clamped to [0, 1]; nan stays."""
    numbers: Any = {"alpha": _number("hard_sigmoid", alpha, x), "beta": _number("hard_sigmoid", beta, x)}
    return np.asarray(hard_sigmoid(x, of_nan="NAN", **numbers))


def scaled_elu_by_tensors(x: NDArray[Any], alpha: NDArray[Any], gamma: NDArray[Any]) -> NDArray[Any]:
    """Return gamma * x, or gamma * alpha * (exp(x) - 1) where x <= 0."""
    numbers: Any = {"alpha": _number("scaled_elu", alpha, x), "gamma": _number("scaled_elu", gamma, x)}
    return np.asarray(scaled_elu(x, **numbers))


def swish_by_tensor(x: NDArray[Any], scale: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return x * sigmoid(scale * x); scale defaults to 1."""
    number: Any = 1.0 if scale is None else _number("swish", scale, x)
    return np.asarray(swish(x, scale=number))


def prelu_of_channels(x: NDArray[Any], slope: NDArray[Any]) -> NDArray[Any]:
    """Return x where it is at least 0, else slope * x.

    A list as long as the second dimension of x has one slope per channel; other slopes are broadcast.
    """
    if x.dtype.kind not in "iuf" and x.dtype.name != "bfloat16":
        raise InputError(f"prelu: expected numbers, found {x.dtype}")
    return prelu(x, slopes_of_channels(x, slope), broadcast=True)


def clamp(x: NDArray[Any], *, low: float, high: float) -> NDArray[Any]:
    """Return x clamped to [low, high]; nan stays.

    For integers the bounds are rounded inward to integers.
    """
    if not is_float(x.dtype):
        low = ceil(low) if isfinite(low) else low
        high = floor(high) if isfinite(high) else high
    return clip_between(x, low, high)


_LARGEST_BFLOAT16: Final = (2 - 2.0**-7) * 2.0**127


def _convert_bound(value: float, dtype: np.dtype[Any], *, finite: bool, nan_is_sign: bool = False) -> NDArray[Any]:
    """Return a bound in the type of computation.

    For integers it is truncated and clamped to their range. finite: a FLOAT16 bound is rounded to nearest and clamped
    to finite values; otherwise it stays float32. nan_is_sign: for integers, nan is the number with only the highest bit
    set, not 0.
    """
    if not is_float(dtype):
        if nan_is_sign and np.isnan(value):
            return np.asarray(1 << (8 * dtype.itemsize - 1), f"u{dtype.itemsize}").view(dtype)
        number = np.asarray(value)
        if number.dtype.kind == "O" or number.dtype.kind in "iu":  # Python integers of any size
            return np.asarray(min(max(int(value), np.iinfo(dtype).min), np.iinfo(dtype).max), dtype)
        return store_as(np.asarray(np.float32(value)), dtype)
    with ignore_warnings():
        number = np.asarray(value, np.float64).astype(np.float64 if dtype == np.float64 else np.float32)
        if dtype == np.float16:
            greatest_half = np.float32(np.finfo(np.float16).max)
            number = np.clip(number, -greatest_half, greatest_half) if finite else number
            return to_float32(number.astype(np.float16), dtype)
        return number


def clip(
    x: NDArray[Any],
    *,
    low: float,
    high: float,
    scale_bias: tuple[float, float] | None = None,
    finite_bounds: bool = False,
    nan_is_sign: bool = False,
    by_halves: bool = False,
) -> NDArray[Any]:
    """Return max(min(x, high), low).

    `low` wins where it exceeds `high`. nan becomes `high`; a nan bound is ignored for floats and 0 for integers. For
    integers, bounds are truncated and clamped to their range; a zero next to a bound of 0 gets the bound's sign.
    finite_bounds: FLOAT16 bounds are clamped to finite values. nan_is_sign: for integers, nan is the number with only
    the highest bit set. by_halves: INT64 are compared in the order of `order_low_halves`.
    """
    bottom, top = (
        _convert_bound(bound, x.dtype, finite=finite_bounds, nan_is_sign=nan_is_sign) for bound in (low, high)
    )
    with ignore_warnings():
        values = prepare_input(x, scale_bias)
        if by_halves:
            bottom, top, values = map(order_low_halves, (bottom, top, values))
        values = np.where(~(values < top) & (top == top), top, values)  # noqa: PLR0124
        values = np.where(~(values > bottom) & (bottom == bottom), bottom, values)  # noqa: PLR0124
        return round_to(order_low_halves(values) if by_halves else values, x.dtype)


def clip_between(
    x: NDArray[Any], low: NDArray[Any] | float | None = None, high: NDArray[Any] | float | None = None
) -> NDArray[Any]:
    """Return min(max(x, low), high).

    `high` wins where `low` exceeds it. Bounds are numbers or one-element arrays of the type of `x`; None is the lowest
    or the largest finite number of the type. nan stays.
    """
    least, upper_bound = (_cast_bound(bound, x.dtype, place) for bound, place in ((low, -1), (high, 1)))
    with ignore_warnings():
        if x.dtype.kind in "fiu":
            return np.asarray(np.clip(x, least, upper_bound))
        return np.asarray(np.minimum(np.maximum(x, least), upper_bound))


def _cast_bound(bound: NDArray[Any] | float | None, dtype: np.dtype[Any], place: int) -> NDArray[Any]:
    """Return a bound of `clip_between` in the element type.

    place: -1 for the lower bound, 1 for the upper.
    """
    if bound is None:
        if is_float(dtype):
            with ignore_warnings():
                return np.asarray((place * _largest_float(dtype)).astype(dtype))
        limits = np.iinfo(dtype)
        return np.asarray(limits.min if place < 0 else limits.max, dtype)
    if not isinstance(bound, np.ndarray):
        return _convert_bound(bound, dtype, finite=False).astype(dtype)
    if bound.dtype != dtype or bound.size != 1:
        raise InputError(f"clip: expected a bound of one {dtype}, found {bound.dtype} {list(bound.shape)}")
    return bound.reshape(())


def _largest_float(dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the largest finite float of a type as float64."""
    return np.asarray(_LARGEST_BFLOAT16 if dtype.name == "bfloat16" else np.finfo(dtype).max, np.float64)


def threshold_to(x: NDArray[Any], *, low: float, scale_bias: tuple[float, float] | None = None) -> NDArray[Any]:
    """Return max(x, low), with `low` read as in `clip`.

    nan, and a zero where `low` is 0, become `low`.
    """
    bottom = np.asarray(np.float32(low)) if is_float(x.dtype) else _convert_bound(low, x.dtype, finite=False)
    with ignore_warnings():
        values = prepare_input(x, scale_bias)
        return round_to(np.where(~(values > bottom) & (bottom == bottom), bottom, values), x.dtype)  # noqa: PLR0124


def clip_gradient(
    x: NDArray[Any],
    gradient: NDArray[Any],
    *,
    low: float,
    high: float,
    nan_is_sign: bool = False,
    by_halves: bool = False,
) -> NDArray[Any]:
    """Return the gradient where low < x < high, else 0.

    Bounds are read as in `clip`.
    """
    x, gradient = broadcast_arrays("clip_gradient", x, gradient)
    bottom, top = (_convert_bound(bound, x.dtype, finite=False, nan_is_sign=nan_is_sign) for bound in (low, high))
    values = to_float32(x, x.dtype)
    if by_halves:
        bottom, top, values = map(order_low_halves, (bottom, top, values))
    return np.where((values > bottom) & (values < top), gradient, np.zeros((), gradient.dtype))
