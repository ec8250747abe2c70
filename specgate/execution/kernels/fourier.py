"""Discrete Fourier transforms of complex numbers, whose parts are the last dimension, and of real ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["complex_transform", "half_transform", "inverse_half_transform", "transform_frames"]


def complex_transform(
    data: NDArray[Any], axes: NDArray[Any], signal_size: NDArray[Any] | None = None, *, inverse: bool
) -> NDArray[Any]:
    """Return the transform of complex data [..., 2] over some dimensions, or the inverse one, divided by their sizes.

    axes: each once, negative ones counted from the one before the parts. signal_size: how long the data is taken along
    each of them, with zeros behind it or cut; -1 as it is.
    """
    values = _joined(data)
    for axis, size in _plan(values.shape, axes, signal_size):
        values = _along(values, axis, size, inverse=inverse)
    return _parted(values, data.dtype)


def half_transform(data: NDArray[Any], axes: NDArray[Any], signal_size: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the transform of real data as complex numbers [..., 2]: along the last of the axes its first half.

    axes, signal_size: as in `complex_transform`, of all dimensions. The other half is the conjugate of this one.
    """
    values = _wide(data)
    plan = _plan(data.shape, axes, signal_size)
    if plan:
        axis, size = plan[-1]
        fitted = _fitted(values, axis, size)
        if fitted.size:
            values = np.fft.rfft(fitted, axis=axis)
        else:
            values = np.zeros([size // 2 + 1 if d == axis else n for d, n in enumerate(fitted.shape)])
    for axis, size in plan[:-1]:
        values = _along(values, axis, size, inverse=False)
    return _parted(values, data.dtype)


def inverse_half_transform(
    data: NDArray[Any], axes: NDArray[Any], signal_size: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Return the real data whose `half_transform` is the complex data [..., 2].

    axes, signal_size: as in `complex_transform`; the size along the last of the axes is that of the result, where -1 is
    two less than twice the size of the data. Where there are several axes, or the result has another size, it is
    masked: descriptions contradict each other there.
    """
    values = _joined(data)
    plan = _plan(values.shape, axes, signal_size)
    settled = len(plan) < 2
    for place, (axis, size) in enumerate(plan):
        if place < len(plan) - 1:
            values = _along(values, axis, size, inverse=True)
            continue
        whole = max(0, 2 * (values.shape[axis] - 1))
        asked = whole if signal_size is None or int(signal_size.reshape(-1)[-1]) == -1 else size
        settled = settled and asked == whole
        memory.hold(tuple(asked if d == axis else n for d, n in enumerate(values.shape)), data.dtype)
        if asked and values.size:
            values = np.fft.irfft(_fitted(values, axis, asked // 2 + 1), n=asked, axis=axis)
        else:
            values = np.zeros([asked if d == axis else n for d, n in enumerate(values.shape)])
    made = round_to(values.real, data.dtype)
    return made if settled else np.ma.MaskedArray(made, mask=np.ones(made.shape, np.bool_))


def transform_frames(
    signal: NDArray[Any],
    window: NDArray[Any],
    frame_size: NDArray[Any],
    frame_step: NDArray[Any],
    *,
    transpose_frames: bool,
) -> NDArray[Any]:
    """Return the first halves of the transforms of frames of real signals [..., length], weighed with a window.

    It has the shape [..., frames, frequencies, 2], or with `transpose_frames` [..., frequencies, frames, 2]. A window
    shorter than a frame is in its middle, and one that is longer is cut; results are masked then.
    """
    if any(array.size != 1 for array in (frame_size, frame_step)):
        raise InputError("frames: expected one number as frame_size and one as frame_step")
    size, step = int(frame_size.reshape(())), int(frame_step.reshape(()))
    length = signal.shape[-1] if signal.ndim else 0
    if not 1 <= size <= length or step < 1 or window.ndim != 1:
        raise InputError(f"frames: a signal of {length} has no frames of {size} every {step}")
    count = (length - size) // step + 1
    memory.hold((*signal.shape[:-1], count, size, 2), signal.dtype)
    frames = np.lib.stride_tricks.sliding_window_view(_wide(signal), size, axis=-1)[..., ::step, :]
    left = max(0, size - len(window)) // 2
    weights = np.zeros(size)
    weights[left : left + len(window)] = _wide(window)[:size]
    values = np.fft.rfft(frames * weights, axis=-1)
    made = _parted(np.swapaxes(values, -1, -2) if transpose_frames else values, signal.dtype)
    return made if len(window) == size else np.ma.MaskedArray(made, mask=np.ones(made.shape, np.bool_))


def _wide(data: NDArray[Any]) -> NDArray[Any]:
    if not is_float(data.dtype):
        raise InputError(f"fourier: expected floats, found {data.dtype}")
    return data.astype(np.float64)


def _joined(data: NDArray[Any]) -> NDArray[Any]:
    if not data.ndim or data.shape[-1] != 2:
        raise InputError(f"fourier: expected real and imaginary parts as last dimension, found {list(data.shape)}")
    wide = _wide(data)
    return np.ascontiguousarray(wide).view(np.complex128)[..., 0] if wide.size else wide[..., 0].astype(np.complex128)


def _parted(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    result = memory.empty((*values.shape, 2), dtype)
    result[..., 0], result[..., 1] = round_to(values.real, dtype), round_to(values.imag, dtype)
    return result


def _plan(shape: Sequence[int], axes: NDArray[Any], signal_size: NDArray[Any] | None) -> list[tuple[int, int]]:
    """Return each axis from 0 up, with the size that the data is to have along it."""
    rank = len(shape)
    given = [int(axis) for axis in axes.reshape(-1)]
    found = [axis + rank if axis < 0 else axis for axis in given]
    if len(set(found)) < len(found) or not all(0 <= axis < rank for axis in found):
        raise InputError(f"fourier: expected different axes of {rank} dimensions, found {given}")
    sizes = [-1] * len(found) if signal_size is None else [int(size) for size in signal_size.reshape(-1)]
    if len(sizes) != len(found) or any(size < 1 and size != -1 for size in sizes):
        raise InputError(f"fourier: expected a size for each of {len(found)} axes, or -1, found {sizes}")
    return [(axis, shape[axis] if size == -1 else size) for axis, size in zip(found, sizes, strict=True)]


def _along(values: NDArray[Any], axis: int, size: int, *, inverse: bool) -> NDArray[Any]:
    fitted = _fitted(values, axis, size)
    if not fitted.size:
        return fitted.astype(np.complex128)
    found: NDArray[Any] = (np.fft.ifft if inverse else np.fft.fft)(fitted, axis=axis)
    return found


def _fitted(values: NDArray[Any], axis: int, size: int) -> NDArray[Any]:
    """Return values cut to a size along an axis, or with zeros behind them."""
    kept = values[(slice(None),) * axis + (slice(size),)]
    if kept.shape[axis] == size:
        return kept
    shape = tuple(size if d == axis else n for d, n in enumerate(values.shape))
    result = memory.empty(shape, values.dtype)
    result[...] = 0
    result[(slice(None),) * axis + (slice(kept.shape[axis]),)] = kept
    return result
