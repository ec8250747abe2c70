"""The functions that recurrent networks apply, by name, with the coefficients that some of them take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["functions_of"]


def _sigmoid(x: NDArray[Any], _a: float, _b: float) -> NDArray[Any]:
    found = np.asarray(np.negative(x))
    np.exp(found, out=found)
    found += 1.0
    return np.asarray(np.divide(1.0, found, out=found))


def _tanh(x: NDArray[Any], _a: float, _b: float) -> NDArray[Any]:
    return np.asarray(np.tanh(x))


def _softplus(x: NDArray[Any], _a: float, _b: float) -> NDArray[Any]:
    return np.asarray(np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x))))


#: By name: the function of x and two coefficients, and the coefficients where none are given; None for one that is not
#: taken, nan for one without which nothing is said.
_FUNCTIONS: Final[
    dict[str, tuple[Callable[[NDArray[Any], float, float], NDArray[Any]], float | None, float | None]]
] = {
    "relu": (lambda x, _a, _b: np.maximum(x, 0.0), None, None),
    "tanh": (_tanh, None, None),
    "sigmoid": (_sigmoid, None, None),
    "softsign": (lambda x, _a, _b: x / (1.0 + np.abs(x)), None, None),
    "softplus": (_softplus, None, None),
    "affine": (lambda x, a, b: a * x + b, np.nan, np.nan),
    "leakyrelu": (lambda x, a, _b: np.where(x < 0, a * x, x), 0.01, None),
    "thresholdedrelu": (lambda x, a, _b: np.where(x > a, x, 0.0), 1.0, None),
    "scaledtanh": (lambda x, a, b: a * np.tanh(b * x), np.nan, np.nan),
    "hardsigmoid": (lambda x, a, b: np.clip(a * x + b, 0.0, 1.0), 0.2, 0.5),
    "elu": (lambda x, a, _b: np.where(x < 0, a * np.expm1(np.minimum(x, 0.0)), x), 1.0, None),
}


def functions_of(
    names: Sequence[str] | None, defaults: Sequence[str], alphas: Sequence[float], betas: Sequence[float]
) -> list[Callable[[NDArray[Any]], NDArray[Any]]]:
    """Return as many functions of float64 as there are defaults, which stand where no names are given.

    Names are compared without regard to case. Each function that takes a coefficient takes the next one of `alphas`, or
    of `betas`, and behind the last its own default. Raises NoKernel where it has none.
    """
    chosen = list(defaults if names is None else names)
    if len(chosen) < len(defaults):
        raise InputError(f"recurrent: expected {len(defaults)} functions, found {len(chosen)}")
    first, second = iter(alphas), iter(betas)
    return [_one(name, first, second) for name in chosen[: len(defaults)]]


def _one(name: str, alphas: Iterator[float], betas: Iterator[float]) -> Callable[[NDArray[Any]], NDArray[Any]]:
    if name.lower() not in _FUNCTIONS:
        raise InputError(f"recurrent: unknown function {name!r:.40}; known: {', '.join(_FUNCTIONS)}")
    function, alpha, beta = _FUNCTIONS[name.lower()]
    a = 0.0 if alpha is None else float(np.float32(next(alphas, alpha)))
    b = 0.0 if beta is None else float(np.float32(next(betas, beta)))
    if (alpha is not None and np.isnan(alpha) and np.isnan(a)) or (beta is not None and np.isnan(beta) and np.isnan(b)):
        raise NoKernel(f"recurrent: the coefficients of {name} have no default")
    return lambda x: function(x, a, b)
