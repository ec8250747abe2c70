"""Fused operators: matrix product, convolution or bias plus activation.

com.microsoft BiasGelu, FastGelu, FusedConv, FusedGemm, FusedMatMul.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels import activation as activation_kernels
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float32, to_float64
from specgate.execution.kernels.conv import convolve
from specgate.execution.kernels.elementwise import require_float, tanh
from specgate.execution.kernels.matmul import matmul, scaled_matrix_product

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


class _Activation(NamedTuple):
    """An activation, its parameter names, and its constant parameters."""

    function: Callable[..., NDArray[Any]]
    takes: tuple[str, ...] = ()
    fixed: tuple[tuple[str, Any], ...] = ()


def _clamp_values(x: NDArray[Any], *, low: float, high: float) -> NDArray[Any]:
    return np.asarray(np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high)))


def _bounded_line(x: NDArray[Any], *, alpha: float, beta: float) -> NDArray[Any]:
    """Return `hard_sigmoid` that propagates nan; activation.py ignores nan."""
    return _clamp_values(x * x.dtype.type(alpha) + x.dtype.type(beta), low=0.0, high=1.0)


_ACTIVATIONS: Final = {
    "Relu": _Activation(activation_kernels.relu, (), (("keep_nan", True),)),
    "Sigmoid": _Activation(activation_kernels.sigmoid),
    "Tanh": _Activation(tanh),
    "LeakyRelu": _Activation(activation_kernels.leaky_relu, ("alpha",)),
    "HardSigmoid": _Activation(_bounded_line, ("alpha", "beta")),
    "HardSwish": _Activation(activation_kernels.hard_swish, (), (("alpha", 1 / 6), ("beta", 0.5))),
    "Clip": _Activation(_clamp_values, ("low", "high")),
    "Celu": _Activation(activation_kernels.celu_of_any, ("alpha",)),
    "Elu": _Activation(activation_kernels.elu, ("alpha",)),
    "Selu": _Activation(activation_kernels.scaled_elu, ("alpha", "gamma")),
    "Softplus": _Activation(activation_kernels.softplus, (), (("steepness", 1.0),)),
    "Softsign": _Activation(activation_kernels.softsign),
    "ThresholdedRelu": _Activation(activation_kernels.thresholded_relu, ("alpha",)),
}


def bias_gelu(
    x: NDArray[Any], bias: NDArray[Any] | None = None, *, approximation: str = "none", of_one_row: bool = True
) -> NDArray[Any]:
    """Return `gelu` of x plus an optional bias for the last dimension.

    The sum of narrower types is not rounded in between. of_one_row: x has at least one dimension.
    """
    require_float("gelu", x)
    if bias is not None:
        if not of_one_row or bias.dtype != x.dtype:
            raise InputError(f"gelu: a bias of {bias.dtype} does not match {x.dtype}{list(x.shape)}")
        require_shape("gelu", "a bias", bias.shape, x.shape[-1:] if x.ndim else (0,))
    total = to_float32(x, x.dtype)
    with memory.ignore_warnings():
        total = total if bias is None else total + to_float32(bias, x.dtype)
        return round_to(activation_kernels.gelu(total, approximation=approximation), x.dtype)


def fused_matmul(
    a: NDArray[Any],
    b: NDArray[Any],
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    batches_inside_a: bool = False,
    batches_inside_b: bool = False,
    alpha: float = 1.0,
) -> NDArray[Any]:
    """Return alpha * a @ b, as in com.microsoft FusedMatMul.

    batches_inside_a, batches_inside_b: first move the leading dimension after the batch dimensions.
    """
    left, right = (
        _batches_out(operand, batches_inside)
        for operand, batches_inside in ((a, batches_inside_a), (b, batches_inside_b))
    )
    if a.dtype != b.dtype or not is_float(a.dtype):
        raise InputError(f"matrix product: expected floats of one type, found {a.dtype} and {b.dtype}")
    double = np.dtype(np.float64)  # so that the product is rounded once, after the factor
    array = matmul(left.astype(double), right.astype(double), transpose_a=transpose_a, transpose_b=transpose_b)
    with memory.ignore_warnings():
        return round_to(array * np.float32(alpha), a.dtype)


def _batches_out(array: NDArray[Any], activation_parameters: bool) -> NDArray[Any]:
    if not activation_parameters:
        return array
    if array.ndim < 3:
        raise InputError(f"matrix product: {list(array.shape)} does not have batch dimensions to transpose")
    return np.moveaxis(array, 0, -2)


def fused_gemm(
    a: NDArray[Any],
    b: NDArray[Any],
    c: NDArray[Any] | None = None,
    *,
    activation: str | None = None,
    activation_alpha: float | None = None,
    activation_beta: float | None = None,
    activation_gamma: float | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
) -> NDArray[Any]:
    """Return `scaled_matrix_product` with an optional activation.

    activation_*: the activation's parameters.
    """
    array = scaled_matrix_product(a, b, c, transpose_a=transpose_a, transpose_b=transpose_b, alpha=alpha, beta=beta)
    has_same_type = {"alpha": activation_alpha, "beta": activation_beta, "gamma": activation_gamma}
    if activation is None:
        return array
    function = _get_activation(activation)
    return _apply_activation(activation, function, array, [has_same_type.get(name) for name in function.takes])


def fused_conv(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    bias: NDArray[Any] | None = None,
    summand: NDArray[Any] | None = None,
    *,
    activation: str | None = None,
    parameters: Sequence[float] | None = None,
    **slide: Any,
) -> NDArray[Any]:
    """Return an activation of `convolve` plus a summand of the same shape.

    `slide` are arguments of `convolve`. parameters: of the activation, in order. Both sums are rounded like the
    convolution.
    """
    array = convolve(inputs, filters, bias, **slide)
    if summand is not None:
        same = summand.dtype == array.dtype
        require_shape("convolution", f"an addend of type {array.dtype}", summand.shape if same else (), array.shape)
        with memory.ignore_warnings():
            array = round_to(to_float64(array) + to_float64(summand), array.dtype)
    if activation is None:
        return array
    function = _get_activation(activation)
    return _apply_activation(activation, function, array, list(parameters or ()) if function.takes else [])


def _get_activation(name: str) -> _Activation:
    if name not in _ACTIVATIONS:
        raise InputError(f"activation: unknown function {name!r:.60}; known: {', '.join(_ACTIVATIONS)}")
    return _ACTIVATIONS[name]


def _apply_activation(
    name: str, activation: _Activation, x: NDArray[Any], numbers: Sequence[float | None]
) -> NDArray[Any]:
    if len(numbers) != len(activation.takes) or any(number is None for number in numbers):
        raise InputError(f"activation: {name} requires {', '.join(activation.takes)}, found {len(numbers)} numbers")
    values = to_float32(x, x.dtype)
    arguments = {**dict(zip(activation.takes, numbers, strict=True)), **dict(activation.fixed)}
    with memory.ignore_warnings():
        return round_to(activation.function(values, **arguments), x.dtype)
