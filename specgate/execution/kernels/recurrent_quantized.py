"""A long short-term memory with quantized weights, whose inputs and states are quantized by their range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution.kernels.arithmetic import require_shape
from specgate.execution.kernels.elementwise import want_float
from specgate.execution.kernels.integer_products import integer_product
from specgate.execution.kernels.quantizing import quantize_over_range
from specgate.execution.kernels.recurrent_networks import Lstm, Matrix, Sequences

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["run_quantized_lstm"]


def run_quantized_lstm(
    inputs: NDArray[Any],
    weights: NDArray[Any],
    recurrence: NDArray[Any],
    weights_scale: NDArray[Any],
    weights_zero: NDArray[Any],
    recurrence_scale: NDArray[Any],
    recurrence_zero: NDArray[Any],
    bias: NDArray[Any] | None = None,
    lengths: NDArray[Any] | None = None,
    hidden: NDArray[Any] | None = None,
    cell: NDArray[Any] | None = None,
    peephole: NDArray[Any] | None = None,
    **how: Any,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return what `run_lstm` does of quantized weights.

    weights: [directions, input, 4 * hidden]. recurrence: [directions, hidden, 4 * hidden]. Scales and zero points:
    [directions], or [directions, 4 * hidden]. Inputs are quantized by the range of all that belongs to a step of the
    longest sequence, states by that of all sequences that go on, as `quantize_over_range` does. Masked where such a
    range has no bounds. Other arguments: those of `run_lstm`.
    """
    want_float("recurrent", inputs)
    if weights.ndim != 3 or recurrence.ndim != 3:
        raise InputError("recurrent: expected weights and recurrence of 3 dimensions")
    numbers = (weights_scale, weights_zero), (recurrence_scale, recurrence_zero)
    for pair in numbers:
        for each in pair:
            shape = (len(weights), weights.shape[2]) if each.ndim == 2 else (len(weights),)
            require_shape("recurrent", "a scale or zero point", each.shape, shape)
    turned = weights.swapaxes(1, 2), recurrence.swapaxes(1, 2)
    run = _Quantized(Lstm, inputs, *turned, bias, lengths, [hidden, cell], peephole, how)
    run.numbers = numbers
    every, last, last_cell = run.run()
    return (every, last, last_cell) if run.bounded else (_masked(every), _masked(last), _masked(last_cell))


def _masked(array: NDArray[Any]) -> NDArray[Any]:
    """Return it with what is nan masked, too."""
    return np.ma.MaskedArray(array, mask=np.ma.getmaskarray(array) | np.isnan(np.ma.getdata(array)))


class _Quantized(Sequences):
    numbers: tuple[tuple[NDArray[Any], NDArray[Any]], ...]
    bounded = True

    def matrix(self, which: int, at: int) -> Matrix:
        scale, zero = self.numbers[which]
        rows = (self.arrays[which].shape[1],)
        return _Scaled(
            self, self.arrays[which][at].T, np.broadcast_to(scale[at], rows), np.broadcast_to(zero[at], rows)
        )


@dataclass(slots=True)
class _Scaled:
    """numbers: [columns, rows]. scale, zero: [rows]."""

    run: _Quantized
    numbers: NDArray[Any]
    scale: NDArray[Any]
    zero: NDArray[Any]

    def times(self, values: NDArray[Any], rows: slice) -> NDArray[Any]:
        quantized, scale, point = quantize_over_range(values.astype(np.float32))
        numbers = self.numbers[:, rows]
        if not np.isfinite(scale):
            self.run.bounded = False
            return np.full((len(values), numbers.shape[1]), np.nan)
        if scale == 0:
            return np.zeros((len(values), numbers.shape[1]))
        total = integer_product(quantized, numbers, point, self.zero[rows])
        made: NDArray[Any] = total.astype(np.float32) * (scale * self.scale[rows])
        return made.astype(np.float64)
