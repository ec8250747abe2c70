"""Padding: elements added around an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, same_length
from specgate.execution.kernels.fill import check_number, number
from specgate.execution.kernels.narrow import is_stored, zero_of
from specgate.execution.kernels.shapes import integers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["pad", "pad_ends"]

_ENDS = {
    "constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECTION", "symmetric": "SYMMETRIC", "wrap": "WRAP",
}  # fmt: skip
_SIGN = 2**31
_MODES = ("CONSTANT", "EDGE", "REFLECTION", "SYMMETRIC", "WRAP")


def pad(
    inputs: NDArray[Any],
    *,
    mode: str,
    start: Sequence[int],
    end: Sequence[int],
    value: float = 0.0,
    truncate_value: bool = False,
    same_type: bool = True,
    wraps: bool = False,
) -> NDArray[Any]:
    """Return `inputs` with so many elements added before and behind along each dimension.

    mode: CONSTANT (`value`), EDGE (the nearest element), REFLECTION and SYMMETRIC (mirrored without and with the edge,
    as often as needed), WRAP (repeated from the other end). truncate_value: `value` becomes an integer for integers.
    same_type: whether it is declared to be of the type of `inputs`. wraps: sums of sizes and paddings have 32 bits, so
    that a padding of 2**31 or more takes elements away; before the array CONSTANT and EDGE then find no element but the
    last.
    """
    check_number("pad", inputs.dtype, same_type=same_type)
    same_length("pad", inputs.ndim, **{"start paddings": start, "end paddings": end})
    if mode not in _MODES:
        raise InputError(f"pad: unknown mode {mode!r:.60}; known: {', '.join(_MODES)}")
    if any(count < 0 for count in (*start, *end)):
        raise InputError("pad: expected no paddings below 0")
    shape = tuple(a + n + b for a, n, b in zip(start, inputs.shape, end, strict=True))
    if wraps and any(count >= _SIGN for count in (*start, *end)):
        return _wrapped(inputs, mode, start, shape, number(value, inputs.dtype, whole=truncate_value))
    result = memory.empty(shape, inputs.dtype)
    if mode == "CONSTANT":
        result[...] = number(value, inputs.dtype, whole=truncate_value)
        result[tuple(slice(a, a + n) for a, n in zip(start, inputs.shape, strict=True))] = inputs
        return result
    if not result.size:  # without the places along its other dimensions, for which nothing is charged
        return result
    places = [
        _places(np.arange(-before, size + after, dtype=np.int64), size, mode)
        for before, size, after in zip(start, inputs.shape, end, strict=True)
    ]
    result[...] = inputs[np.ix_(*places)]
    return result


def _wrapped(inputs: NDArray[Any], mode: str, start: Sequence[int], sums: Sequence[int], value: Any) -> NDArray[Any]:
    """Return what `pad` does with `wraps`. sums: of sizes and paddings."""
    shape = tuple(size % 2**32 for size in sums)
    result = memory.empty(shape, inputs.dtype)
    if not result.size:  # without the places along its other dimensions, for which nothing is charged
        return result
    places, met = [], np.ones((), np.bool_)
    for axis, (before, size, count) in enumerate(zip(start, inputs.shape, shape, strict=True)):
        behind = np.arange(count, dtype=np.int64) - before
        if mode == "CONSTANT":
            inside = (behind >= 0) & (behind < size)
            met = met & inside.reshape(-1, *(1,) * (inputs.ndim - 1 - axis))
            places.append(np.where(inside, behind, 0))
        elif mode == "EDGE":
            places.append(np.full(count, size - 1) if before >= _SIGN else np.clip(behind, 0, size - 1))
        else:
            signed = behind + (2**32 if before >= _SIGN else 0)
            places.append(_places(signed, size, mode))
    result[...] = inputs[np.ix_(*places)]
    result[~np.broadcast_to(met, shape)] = value
    return result


def pad_ends(
    inputs: NDArray[Any],
    pads: NDArray[Any] | Sequence[int],
    axes: NDArray[Any] | None = None,
    *,
    mode: str,
    value: NDArray[Any] | float = 0.0,
) -> NDArray[Any]:
    """Return `inputs` with so many elements added before each of `axes` (all if None), then so many behind each.

    Negative numbers take elements away. mode: constant (`value`, an array of one element of the type of `inputs`),
    edge, reflect, symmetric or wrap, which read the elements that are left.
    """
    counts = integers("pad", "pads", pads)
    along = list(range(inputs.ndim)) if axes is None else integers("pad", "axes", axes)
    same_length("pad", 2 * len(along), pads=counts)
    start, end = [0] * inputs.ndim, [0] * inputs.ndim
    for axis, before, behind in zip(along, counts[: len(along)], counts[len(along) :], strict=True):
        place = axis + inputs.ndim if axis < 0 else axis
        check_axis(place, inputs.ndim, "pad")
        start[place], end[place] = before, behind
    each = list(zip(inputs.shape, start, end, strict=True))
    if mode not in _ENDS or any(size + a + b < 0 for size, a, b in each):
        raise InputError(f"pad: expected one of {', '.join(_ENDS)}, and to take away no more than there is")
    if any(size + min(a, 0) + min(b, 0) < 0 for size, a, b in each):  # what is added is taken away again
        added = [max(0, n) for n in (*start, *end)]
        whole = pad_ends(inputs, added, mode=mode, value=value)
        return pad_ends(whole, [min(0, n) for n in (*start, *end)], mode=mode, value=value)
    kept = inputs[tuple(slice(max(0, -a), size + min(b, 0)) for size, a, b in each)]
    first, last = [max(0, a) for a in start], [max(0, b) for b in end]
    if mode == "constant":
        result = memory.empty(tuple(a + n + b for a, n, b in zip(first, kept.shape, last, strict=True)), inputs.dtype)
        result[...] = _filler(value, inputs.dtype)
        result[tuple(slice(a, a + n) for a, n in zip(first, kept.shape, strict=True))] = kept
        return result
    if any(not n and a + b for n, a, b in zip(kept.shape, first, last, strict=True)):
        raise NoKernel("pad: it is not said what is repeated where there is no element")
    result = memory.empty(tuple(a + n + b for a, n, b in zip(first, kept.shape, last, strict=True)), inputs.dtype)
    if not result.size:  # without the places along its other dimensions, for which nothing is charged
        return result
    places = [
        _places(np.arange(-before, size + after, dtype=np.int64), size, _ENDS[mode]) if size else np.zeros(0, np.int64)
        for before, size, after in zip(first, kept.shape, last, strict=True)
    ]
    return np.asarray(kept[np.ix_(*places)])


def _filler(value: NDArray[Any] | float, dtype: np.dtype[Any]) -> Any:
    if not isinstance(value, np.ndarray):
        if dtype.kind == "O" or (is_stored(dtype) and value == 0):
            return zero_of("pad", dtype)
        return number(value, dtype, whole=True) if dtype.kind in "iu" else np.asarray(value).astype(dtype)
    if value.size != 1 or value.dtype != dtype:
        raise InputError(f"pad: expected one element of {dtype}, found {value.size} of {value.dtype}")
    return value.reshape(())[()]


def _places(at: NDArray[np.int64], size: int, mode: str) -> NDArray[np.int64]:
    if mode == "EDGE" or size == 1:
        return np.clip(at, 0, size - 1)
    if mode == "WRAP":
        return at % size
    period = 2 * size - 2 if mode == "REFLECTION" else 2 * size
    within = at % period
    return np.where(within < size, within, period - within - (mode == "SYMMETRIC"))
