"""Activations of single elements, each step of their formulas rounded to float32; larger and lesser pass over nan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution.kernels.arithmetic import chosen, is_float, require_shape, round_to, to_float32
from specgate.execution.kernels.elementwise import called, held, in_place, paired, quiet, rounded, unary, want_float
from specgate.execution.kernels.error_function import error_function, odd_polynomial

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "celu", "celu_of_any", "elu", "exact_sigmoid", "gelu", "hard_sigmoid", "hard_swish", "leaky_relu", "linear", "mish",
    "parametric_softplus", "prelu", "relu", "relu_by_product", "relu_gradient",
    "scaled_elu", "scaled_tanh", "shrink", "sigmoid", "softplus", "softsign", "swish", "thresholded_relu",
]  # fmt: skip

_ZERO: Final = np.float32(0)
_ONE: Final = np.float32(1)
_ROOT: Final = np.sqrt(0.5)
_SLOPE: Final = np.sqrt(2 / np.pi)
#: Above, log(1 + exp(x)) is x to the last bit of a float64.
_STEEP: Final = 40
#: The share of the normal distribution below x is 1 / (1 + exp(x * P(x**2))) nearly; P's coefficients from the highest
#: on, found as those of the error function.
_ABOVE_SHARE: Final = tuple(
    map(
        np.float32,
        (-3.6864649e-09, 2.7125293e-07, -8.0232912e-06, 1.1120360e-04, 6.3468447e-05, -0.0726640746, -1.5957706),
    )
)


def _parametric(name: str, function: Callable[..., NDArray[Any]]) -> Callable[..., NDArray[Any]]:
    """Return the kernel of a function of floats and of numbers by name, which are FLOATs.

    Its of_nan: what becomes of nan, if not what is computed: itself (NAN) or 0 (ZERO).
    """

    def kernel(x: NDArray[Any], *, of_nan: str = "COMPUTED", **numbers: float) -> NDArray[Any]:
        want_float(name, x)
        values = to_float32(x, x.dtype)
        with quiet():
            read = {name: np.asarray(number).astype(values.dtype) for name, number in numbers.items()}
            result = function(values, **read)
            if of_nan != "COMPUTED":
                result = np.where(np.isnan(values), values if of_nan == "NAN" else _ZERO, result)
            return round_to(result, x.dtype)

    return called(name, kernel)


def _exp(x: NDArray[Any]) -> NDArray[Any]:
    return rounded(in_place(np.exp), x)


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
    return rounded(_logistic, x)


def _log_of_sum(x: NDArray[Any]) -> NDArray[Any]:
    """Return log(1 + exp(x)), which np.logaddexp gives too, in many times the time."""
    found = np.asarray(np.abs(x))
    np.negative(found, out=found)
    np.exp(found, out=found)
    np.log1p(found, out=found)
    found += np.maximum(x, 0)
    return found


def _stretched(x: NDArray[Any], steepness: NDArray[Any]) -> NDArray[Any]:
    """Return log(1 + exp(x * steepness)) / steepness; x itself where exp would be large, or is nan."""

    def function(v: NDArray[Any]) -> NDArray[Any]:
        steep = v * steepness
        found = _log_of_sum(steep)
        found /= steepness
        np.copyto(found, v, where=~(steep < _STEEP))
        return found

    return rounded(function, x)


def _above(x: NDArray[Any], least: np.float32) -> NDArray[Any]:
    """Return the larger one, `least` for nan; np.fmax lets a signalling nan through."""
    return chosen(x > least, x, x.dtype.type(least))


def _below(x: NDArray[Any], most: np.float32) -> NDArray[Any]:
    return chosen(x < most, x, x.dtype.type(most))


def _leaky(x: NDArray[Any], alpha: NDArray[Any]) -> NDArray[Any]:
    less = x * alpha
    if 0 < alpha <= 1:  # a larger number stays larger, so that nothing has to be compared with 0
        return np.asarray(np.maximum(x, less))
    return chosen(x >= 0, x, less)


def _unit(x: NDArray[Any]) -> NDArray[Any]:
    """Return numbers held between 0 and 1, 0 for nan."""
    held = np.asarray(np.clip(x, _ZERO, _ONE))
    if held.size and np.isnan(held.max()):
        np.copyto(held, _ZERO, where=np.isnan(held))
    held += _ZERO  # minus 0 becomes 0
    return held


def _share(x: NDArray[Any]) -> NDArray[Any]:
    """Return x times the normal distribution's share below it."""
    part = error_function(x * _ROOT)
    part += 1
    x *= 0.5
    part *= x
    return part


def _share_of_singles(x: NDArray[Any], out: NDArray[Any], room: NDArray[Any]) -> None:
    odd_polynomial(_ABOVE_SHARE, x, out, room)
    np.exp(out, out)
    np.add(out, _ONE, out)
    np.divide(x, out, out)


sigmoid = unary("sigmoid", _logistic, of_singles=_logistic_of_singles)
exact_sigmoid = unary("sigmoid", _logistic)
_gelu = unary("gelu", _share, of_singles=_share_of_singles)
_gelu_by_tanh = unary("gelu", lambda x: 0.5 * x * (1 + np.tanh(_SLOPE * (x + 0.044715 * x * x * x))))
mish = unary("mish", lambda x: x * np.tanh(_log_of_sum(x)))
softsign = unary("softsign", lambda x: x / (_ONE + np.abs(x)), single_steps=True)
celu = _parametric("celu", lambda x, alpha: _above(x, _ZERO) + _below(alpha * (_exp(x / alpha) - _ONE), _ZERO))
celu_of_any = _parametric(
    "celu_of_any", lambda x, alpha: np.maximum(x, _ZERO) + np.minimum(alpha * rounded(np.expm1, x / alpha), _ZERO)
)
elu = _parametric("elu", lambda x, alpha: chosen(x >= 0, x, alpha * (_exp(x) - _ONE)))
hard_sigmoid = _parametric("hard_sigmoid", lambda x, alpha, beta: _unit(x * alpha + beta))
hard_swish = _parametric("hard_swish", lambda x, alpha, beta: x * _unit(x * alpha + beta))
leaky_relu = _parametric("leaky_relu", _leaky)
linear = _parametric("linear", lambda x, alpha, beta: x * alpha + beta)
parametric_softplus = _parametric(
    "parametric_softplus", lambda x, alpha, beta: rounded(lambda v: alpha * _log_of_sum(v * beta), x)
)
scaled_elu = _parametric("scaled_elu", lambda x, alpha, gamma: gamma * chosen(x >= 0, x, alpha * (_exp(x) - _ONE)))
scaled_tanh = _parametric("scaled_tanh", lambda x, alpha, beta: alpha * rounded(np.tanh, x * beta))
softplus = _parametric("softplus", _stretched)
swish = _parametric("swish", lambda x, scale: x * _sigmoid(x * scale))
thresholded_relu = _parametric("thresholded_relu", lambda x, alpha: chosen(x <= alpha, x.dtype.type(0), x))


def gelu(
    x: NDArray[Any], *, scale_bias: tuple[float, float] | None = None, approximation: str = "none"
) -> NDArray[Any]:
    """Return x times the normal distribution's share below x. approximation: none, or tanh for one by that function."""
    if approximation not in {"none", "tanh"}:
        raise InputError(f"gelu: expected none or tanh as approximation, found {approximation!r:.60}")
    result: NDArray[Any] = (_gelu if approximation == "none" else _gelu_by_tanh)(x, scale_bias=scale_bias)
    return result


def relu(x: NDArray[Any], *, keep_nan: bool = False) -> NDArray[Any]:
    """Return the larger of 0 and every element. keep_nan: nan stays, instead of becoming 0."""
    zero = np.zeros((), x.dtype)
    if x.dtype.kind not in "fiu":
        return np.where(~(x <= zero) if keep_nan else x > zero, x, zero)
    if x.dtype.kind != "f":
        return np.asarray(np.maximum(x, zero))
    larger = np.asarray(np.clip(x, zero, x.dtype.type(np.inf)))  # in half the time of np.maximum
    larger += zero  # minus 0 becomes 0
    if not keep_nan and larger.size and np.isnan(larger.max()):
        np.copyto(larger, zero, where=np.isnan(larger))
    return larger


def relu_by_product(x: NDArray[Any]) -> NDArray[Any]:
    """Return every element above 0, and the product with 0 of every other, which is nan of nan and infinities."""
    with quiet():
        return np.where(x > 0, x, x * x.dtype.type(0))


def relu_gradient(x: NDArray[Any], gradient: NDArray[Any]) -> NDArray[Any]:
    """Return the gradient where x is above 0, else 0."""
    x, gradient = paired("relu_gradient", x, gradient)
    return np.where(x > 0, gradient, np.zeros((), gradient.dtype))


def slopes_of_channels(x: NDArray[Any], slope: NDArray[Any]) -> NDArray[Any]:
    """Return a list with a slope for each place of the second dimension of x so that they meet; others as they are."""
    listed = slope.ndim == 1 and x.ndim > 1 and slope.shape[0] == x.shape[1]
    return slope.reshape(-1, *(1,) * (x.ndim - 2)) if listed else slope


def prelu(x: NDArray[Any], slope: NDArray[Any], *, broadcast: bool = False, of_channels: bool = False) -> NDArray[Any]:
    """Return x where it is at least 0, else its slope times x. broadcast: the slope is repeated to the shape of x.

    of_channels: it is one for all of x, or a list with one for each place of its second dimension; raises NoKernel for
    others.
    """
    shape = x.shape
    if of_channels:
        slope, given = slope.reshape(()) if slope.size == 1 else slopes_of_channels(x, slope), slope
        if slope is given and slope.ndim:
            raise NoKernel(f"prelu: how slopes of shape {list(given.shape)} go with {list(shape)} is not said")
    x, slope = paired("prelu", x, slope, broadcast=broadcast)
    require_shape("prelu", "slopes that broadcast", x.shape, shape)
    values = to_float32(x, x.dtype)
    with quiet():
        return round_to(chosen(values >= 0, values, to_float32(slope, x.dtype) * values), x.dtype)


def shrink(x: NDArray[Any], *, bias: float, threshold: float, exact: bool = False) -> NDArray[Any]:
    """Return x - bias above the threshold, x + bias below minus the threshold, else 0; nan becomes 0.

    Integers are computed in float32, rounded (halves to the even neighbour) and held in the range of their type; exact:
    of a bias that is a whole number they are computed as integers, of another in float64 and truncated.
    """
    if exact and not is_float(x.dtype):
        return _shrunk_integers(x, bias, threshold)
    values = to_float32(x, x.dtype) if is_float(x.dtype) else x.astype(np.float32)
    with quiet():
        by, limit = (np.asarray(number).astype(values.dtype) for number in (bias, threshold))
        moved = np.where(values > limit, values - by, np.where(values < -limit, values + by, _ZERO))
        return round_to(moved, x.dtype) if is_float(x.dtype) else held(np.rint(moved), x.dtype)


def _shrunk_integers(x: NDArray[Any], bias: float, threshold: float) -> NDArray[Any]:
    wide = x.astype(np.float64)
    with quiet():
        if abs(bias) < 2**63 and bias == int(bias):
            by = np.asarray(int(bias)).astype(x.dtype)
            less, more = x - by, x + by
        else:
            less, more = (held(np.trunc(moved), x.dtype) for moved in (wide - bias, wide + bias))
        return np.asarray(np.where(wide > threshold, less, np.where(wide < -threshold, more, x.dtype.type(0))))
