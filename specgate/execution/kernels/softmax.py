"""Softmax, log softmax and hardmax.

DirectML ACTIVATION_HARDMAX, ACTIVATION_HARDMAX1, ACTIVATION_LOG_SOFTMAX, ACTIVATION_LOG_SOFTMAX1, ACTIVATION_SOFTMAX,
ACTIVATION_SOFTMAX1; ONNX Hardmax, LogSoftmax, Softmax; OpenVINO LogSoftmax, SoftMax.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.execution.kernels.arithmetic import check_axes, check_axis, round_to
from specgate.execution.kernels.elementwise import quiet, want_float
from specgate.execution.kernels.row_blocks import blocks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["hardmax", "hardmax_along", "log_softmax", "log_softmax_along", "softmax", "softmax_along"]

_LEAST: Final = 1e-20
#: Up to this many terms a product with ones is as precise as pairwise sums.
_FEW: Final = 2**10


def softmax(x: NDArray[Any], *, axes: Sequence[int]) -> NDArray[Any]:
    """Return the softmax over `axes`; without axes each element is a group."""
    want_float("softmax", x)
    along = check_axes(axes, x.ndim, "softmax")
    with quiet():
        shifted = np.exp(_below_largest(x, along))
        return round_to(shifted / shifted.sum(axis=along, keepdims=True), x.dtype)


def log_softmax(x: NDArray[Any], *, axes: Sequence[int]) -> NDArray[Any]:
    """Return the log softmax; a nan sum counts as 1e-20.

    Otherwise the whole group would be nan.
    """
    want_float("log_softmax", x)
    along = check_axes(axes, x.ndim, "log_softmax")
    with quiet():
        shifted = _below_largest(x, along)
        total = np.fmax(np.exp(shifted).sum(axis=along, keepdims=True), _LEAST)
        return round_to(shifted - np.log(total), x.dtype)


def _below_largest(x: NDArray[Any], along: tuple[int, ...]) -> NDArray[Any]:
    """Return float64 elements less their group's maximum, against overflow."""
    wide = x.astype(np.float64)
    # np.fmax propagates signaling nan
    below: NDArray[Any] = wide - np.where(np.isnan(wide), -np.inf, wide).max(axis=along, keepdims=True)
    return below


def hardmax(x: NDArray[Any], *, axes: Sequence[int]) -> NDArray[Any]:
    """Return 1 at the first maximum of each group, 0 elsewhere.

    The order is row-major. nan is ignored unless it comes first in its group.
    """
    want_float("hardmax", x)
    along = check_axes(axes, x.ndim, "hardmax")
    rest = tuple(axis for axis in range(x.ndim) if axis not in along)
    grouped = x.transpose(*rest, *along)
    rows = grouped.reshape(prod(x.shape[axis] for axis in rest), prod(x.shape[axis] for axis in along))
    result = np.zeros(rows.shape, x.dtype)
    if rows.size:
        largest = np.where(np.isnan(rows), -np.inf, rows).argmax(axis=1)
        result[np.arange(len(rows)), np.where(np.isnan(rows[:, 0]), 0, largest)] = 1
    return np.ascontiguousarray(result.reshape(grouped.shape).transpose(np.argsort((*rest, *along))))


def _along(x: NDArray[Any], axis: int, *, to_end: bool, past_end: bool) -> tuple[int, ...]:
    """Return the dimensions of a group: `axis`, and later ones with `to_end`."""
    place = axis + x.ndim if axis < 0 else axis
    if past_end and place == x.ndim:
        return ()
    check_axis(place, x.ndim, "softmax")
    return tuple(range(place, x.ndim)) if to_end else (place,)


def _of_groups(
    name: str, x: NDArray[Any], along: tuple[int, ...], function: Callable[[NDArray[Any]], object]
) -> NDArray[Any]:
    """Return `function` of groups less their maximum, against overflow.

    Computed in float32, which loses a few 1e-7 of sums of at most 1, or for FLOAT64 in float64. function: of dimension
    1 of [outer, group] or [outer, group, inner], which it overwrites.
    """
    want_float(name, x)
    if not x.size:
        return x.copy()
    first, behind = (along[0], along[-1] + 1) if along else (x.ndim, x.ndim)
    outer, group, inner = prod(x.shape[:first]), prod(x.shape[first:behind]), prod(x.shape[behind:])
    rows = x.reshape((outer, group, inner) if inner > 1 else (outer, group))
    with quiet():
        result = np.empty(rows.shape, np.float64 if x.dtype == np.float64 else np.float32)
        for some in blocks_of(outer, group * inner, 2):
            values = rows[some].astype(result.dtype, copy=False)
            function(np.subtract(values, values.max(axis=1, keepdims=True), out=result[some]))
        return round_to(result.reshape(x.shape), x.dtype)


def _totals(powers: NDArray[Any]) -> NDArray[Any]:
    """Return sums along dimension 1, pairwise if contiguous, else float64.

    Few float32 are multiplied by ones row by row, which is twice as fast.
    """
    if powers.ndim == 2 and powers.dtype == np.float32 and powers.shape[1] <= _FEW:
        return np.asarray(np.matmul(powers[:, np.newaxis], np.ones((powers.shape[1], 1), np.float32)))[:, 0]
    return np.asarray(powers.sum(axis=1, keepdims=True, dtype=None if powers.ndim == 2 else np.float64))


def softmax_along(x: NDArray[Any], *, axis: int, to_end: bool = False, past_end: bool = False) -> NDArray[Any]:
    """Return the softmax along `axis`; nan makes its whole group nan.

    A negative axis counts from the end; to_end: over later dimensions as well (coerced to 2-D); past_end: the axis may
    be the rank, so that each element is a group.
    """

    def shares(shifted: NDArray[Any]) -> None:
        np.exp(shifted, out=shifted)
        shifted /= _totals(shifted)

    return _of_groups("softmax", x, _along(x, axis, to_end=to_end, past_end=past_end), shares)


def log_softmax_along(x: NDArray[Any], *, axis: int, to_end: bool = False, past_end: bool = False) -> NDArray[Any]:
    """Return the natural logarithm of `softmax_along`."""

    def logarithms(shifted: NDArray[Any]) -> None:
        shifted -= np.log(_totals(np.exp(shifted)))

    return _of_groups("log_softmax", x, _along(x, axis, to_end=to_end, past_end=past_end), logarithms)


def hardmax_along(x: NDArray[Any], *, axis: int, to_end: bool = False, past_end: bool = False) -> NDArray[Any]:
    """Return 1 at the first maximum of each `softmax_along` group, else 0."""
    along = _along(x, axis, to_end=to_end, past_end=past_end)
    return hardmax(x, axes=along) if x.size else x.copy()
