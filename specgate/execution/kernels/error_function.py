"""The Gauss error function and its inverse."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution.kernels.elementwise import unary

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["error_function", "error_function_of_singles", "inverse_error_function", "odd_polynomial"]

_erf: Final = np.frompyfunc(math.erf, 1, 1)
_erfc: Final = np.frompyfunc(math.erfc, 1, 1)
_ROOT_OF_PI: Final = math.sqrt(math.pi)
_WINITZKI: Final = 0.147
#: The start is wrong by less than 1 in 100, and each step triples the digits that are right.
_STEPS: Final = 3


#: erf(x) is tanh(x * P(x**2)) nearly; P's coefficients from the highest on, by least squares of weights that even out
#: what tanh shows of its faults: 6e-8 at most. Rounding in float32 adds as much again.
_BELOW_TANH: Final = tuple(
    map(
        np.float32,
        (1.5895042e-07, -5.9855552e-06, 8.9711924e-05, -6.2571815e-04, -1.8438503e-04, 0.102765486, 1.1283797),
    )
)


def error_function(x: NDArray[Any]) -> NDArray[Any]:
    """Return the error function of float64."""
    return np.asarray(_erf(x), np.float64)


def error_function_of_singles(x: NDArray[Any], out: NDArray[Any], room: NDArray[Any]) -> None:
    """Write the error function of float32 to `out`, to 1.5 in 10**7; room: of so many elements, written over."""
    odd_polynomial(_BELOW_TANH, x, out, room)
    np.tanh(out, out)


def odd_polynomial(
    coefficients: tuple[np.float32, ...], x: NDArray[Any], out: NDArray[Any], room: NDArray[Any]
) -> None:
    """Write x * P(x**2) to `out`, for a polynomial with these coefficients from the highest on; room: written over."""
    np.multiply(x, x, room)
    np.multiply(room, coefficients[0], out)
    for each in coefficients[1:-1]:
        np.add(out, each, out)
        np.multiply(out, room, out)
    np.add(out, coefficients[-1], out)
    np.multiply(out, x, out)


def _start(x: NDArray[Any]) -> NDArray[Any]:
    """Return Winitzki's approximation, where it loses no digits; below, the error function is nearly a line."""
    t = np.log1p(-x) + np.log1p(x)
    u = 2 / (math.pi * _WINITZKI) + t / 2
    return np.where(x < 0.1, x * (_ROOT_OF_PI / 2), np.sqrt(np.sqrt(u * u - t / _WINITZKI) - u))


def _inverse(x: NDArray[Any]) -> NDArray[Any]:
    """Return the function for 0 <= x < 1 by Halley's method; in the upper half by the complement, which is exact."""
    y = _start(x)
    for _ in range(_STEPS):
        above = np.where(x < 0.5, _erf(y).astype(np.float64) - x, (1 - x) - _erfc(y).astype(np.float64))
        step = above * (_ROOT_OF_PI / 2) * np.exp(y * y)
        y = y - step / (1 + y * step)
    return y


def _of_floats(x: NDArray[Any]) -> NDArray[Any]:
    size = np.abs(x)
    inside = size < 1
    result = np.where(size == 1, np.inf, np.nan)
    result[inside] = _inverse(size[inside])
    return np.asarray(np.copysign(result, x))


inverse_error_function = unary("inverse_error_function", _of_floats)
