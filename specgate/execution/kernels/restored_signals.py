"""Signals restored from the Fourier transforms of their frames."""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["restore_signal"]

#: How far frames may lie from those of one signal, for a type of so many bytes, beside the largest number of them.
_NEAR: Final = {2: 0.02, 4: 1e-5, 8: 1e-12}
#: Less than this part of the window's largest weight is none: rounding would decide what is restored of it.
_LEAST: Final = 1e-3


def restore_signal(
    data: NDArray[Any],
    window: NDArray[Any],
    frame_size: NDArray[Any],
    frame_step: NDArray[Any],
    signal_length: NDArray[Any] | None = None,
    *,
    center: bool,
    normalized: bool,
) -> NDArray[Any]:
    """Return the real signals [..., length] the first halves of whose frames' transforms are data.

    data: [..., frequencies, frames, 2]. Frames of frame_size begin every frame_step, and were weighed with the window,
    which lies in their middle. normalized: data was divided by the root of frame_size. center: half a frame before the
    signal and behind it was added, and is left out. signal_length: the signal is cut, or has zeros behind it.
    Overlapping frames are weighed with the window again and divided by the sum of its squares. Masked are elements that
    no frame has a weight of, and all of a signal whose frames contradict each other.
    """
    size, step = (_number(array) for array in (frame_size, frame_step))
    if not is_float(data.dtype) or data.ndim < 3 or data.shape[-1] != 2 or window.ndim != 1 or min(size, step) < 1:
        raise InputError(f"signals: {list(data.shape)} are no transforms of frames of {size} every {step}")
    if data.shape[-3] != size // 2 + 1 or len(window) > size:
        raise InputError(f"signals: {data.shape[-3]} frequencies or {len(window)} weights do not fit frames of {size}")
    batch, count = data.shape[:-3], data.shape[-2]
    usual = (count - 1) * step + (0 if center else size)
    length = usual if signal_length is None else _number(signal_length)
    if length < 0:
        raise InputError(f"signals: {count} frames have no signal of length {length}")
    result = memory.empty((*batch, length), data.dtype)
    result[...] = 0
    mask = np.zeros(result.shape, np.bool_)
    kept = max(0, min(length, usual))
    if not count:
        mask[..., :kept] = True
    elif kept and prod(batch):
        weights = _weights(window, size)
        values = _complex(data) * (sqrt(size) if normalized else 1.0)
        with memory.quiet():
            signal, lacking = _overlapped(values, weights, step)
            lacking = lacking | ~_agrees(values, signal, weights, step, data.dtype)[..., None]
        first = size // 2 if center else 0
        result[..., :kept] = round_to(signal[..., first : first + kept], data.dtype)
        mask[..., :kept] = lacking[..., first : first + kept]
    return np.ma.MaskedArray(result, mask=mask) if mask.any() else result


def _number(array: NDArray[Any]) -> int:
    if array.size != 1:
        raise InputError(f"signals: expected one number, found {array.size}")
    return int(array.reshape(()))


def _weights(window: NDArray[Any], size: int) -> NDArray[Any]:
    left = (size - len(window)) // 2
    weights = memory.empty((size,), np.dtype(np.float64))
    weights[...] = 0
    weights[left : left + len(window)] = window.astype(np.float64)
    return weights


def _complex(data: NDArray[Any]) -> NDArray[Any]:
    """Return data [..., frequencies, frames, 2] as complex numbers [..., frames, frequencies]."""
    wide = np.ascontiguousarray(np.swapaxes(data, -2, -3).astype(np.float64))
    return wide.view(np.complex128)[..., 0]


def _overlapped(values: NDArray[Any], weights: NDArray[Any], step: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the signals before anything is cut off, and which of their elements have no weight."""
    *batch, count, _ = values.shape
    size = len(weights)
    memory.hold((*batch, count, size), np.dtype(np.float64))
    frames = np.fft.irfft(values, n=size, axis=-1) * weights
    signal = memory.empty((*batch, (count - 1) * step + size), np.dtype(np.float64))
    signal[...] = 0
    squares = np.zeros(signal.shape[-1])
    for frame in memory.in_time(range(count)):
        part = slice(frame * step, frame * step + size)
        signal[..., part] += frames[..., frame, :]
        squares[part] += weights**2
    lacking = ~(squares > (_LEAST * np.abs(weights).max()) ** 2)
    return signal / np.where(lacking, 1.0, squares), lacking


def _agrees(
    values: NDArray[Any], signal: NDArray[Any], weights: NDArray[Any], step: int, dtype: np.dtype[Any]
) -> NDArray[np.bool_]:
    """Return whether the frames of each signal have the transforms that it was made of."""
    worst = np.zeros(values.shape[:-2])
    size = len(weights)
    for frame in memory.in_time(range(values.shape[-2])):
        again = np.fft.rfft(signal[..., frame * step : frame * step + size] * weights, axis=-1)
        worst = np.maximum(worst, np.abs(again - values[..., frame, :]).max(-1))
    agrees: NDArray[np.bool_] = worst <= _NEAR[dtype.itemsize] * np.abs(values).max((-1, -2))
    return agrees
