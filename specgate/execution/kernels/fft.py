"""Discrete Fourier transforms, STFT, ISTFT, window functions, mel weights.

ONNX BlackmanWindow, DFT, HammingWindow, HannWindow, MelWeightMatrix, STFT; OpenVINO DFT, IRDFT, ISTFT, RDFT, STFT.
"""

from __future__ import annotations

from math import prod, sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import ignore_warnings, store_as
from specgate.execution.kernels.pad_transpose import one_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def dft_complex(
    data: NDArray[Any], axes: NDArray[Any], signal_size: NDArray[Any] | None = None, *, inverse: bool
) -> NDArray[Any]:
    """Return the (inverse) DFT of complex data [..., 2] over some dimensions.

    The inverse is divided by the sizes. axes: distinct; negative ones count from before the last dimension.
    signal_size: size of the data along each axis, zero-padded or truncated; -1 as it is.
    """
    values = _join_complex(data)
    for axis, size in _plan(values.shape, axes, signal_size):
        values = _transform_axis(values, axis, size, inverse=inverse)
    return _split_complex(values, data.dtype)


def rdft(data: NDArray[Any], axes: NDArray[Any], signal_size: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the DFT of real data, half of it along the last of the axes.

    The result is complex [..., 2]; the other half is its conjugate. axes, signal_size: as in `dft_complex`, over
    all dimensions.
    """
    values = _to_float64(data)
    plan = _plan(data.shape, axes, signal_size)
    if plan:
        axis, size = plan[-1]
        fitted = _fit_size(values, axis, size)
        if fitted.size:
            values = np.fft.rfft(fitted, axis=axis)
        else:
            values = np.zeros([size // 2 + 1 if d == axis else n for d, n in enumerate(fitted.shape)])
    for axis, size in plan[:-1]:
        values = _transform_axis(values, axis, size, inverse=False)
    return _split_complex(values, data.dtype)


def irdft(data: NDArray[Any], axes: NDArray[Any], signal_size: NDArray[Any] | None = None) -> NDArray[Any]:
    """Return the real data whose `rdft` is [..., 2].

    axes, signal_size: as in `dft_complex`; the size along the last of the axes is that of the result, where -1 is
    2 * (size - 1). With several axes, or another size, the result is masked because the descriptions are contradictory.
    """
    values = _join_complex(data)
    plan = _plan(values.shape, axes, signal_size)
    is_settled = len(plan) < 2
    for place, (axis, size) in enumerate(plan):
        if place < len(plan) - 1:
            values = _transform_axis(values, axis, size, inverse=True)
            continue
        full_size = max(0, 2 * (values.shape[axis] - 1))
        result = full_size if signal_size is None or int(signal_size.reshape(-1)[-1]) == -1 else size
        is_settled = is_settled and result == full_size
        memory.check_budget(tuple(result if d == axis else n for d, n in enumerate(values.shape)), data.dtype)
        if result and values.size:
            values = np.fft.irfft(_fit_size(values, axis, result // 2 + 1), n=result, axis=axis)
        else:
            values = np.zeros([result if d == axis else n for d, n in enumerate(values.shape)])
    array = round_to(values.real, data.dtype)
    return array if is_settled else np.ma.MaskedArray(array, mask=np.ones(array.shape, np.bool_))


def stft_frames(
    signal: NDArray[Any],
    window: NDArray[Any],
    frame_size: NDArray[Any],
    frame_step: NDArray[Any],
    *,
    transpose_frames: bool,
) -> NDArray[Any]:
    """Return the STFT (half spectrum) of real signals [..., length].

    The result is [..., frames, frequencies, 2], with `transpose_frames` [..., frequencies, frames, 2]. A window shorter
    than a frame is centered, a longer one is cut; results are then masked.
    """
    if any(array.size != 1 for array in (frame_size, frame_step)):
        raise InputError("frames: expected frame_size and frame_step of one element each")
    size, step = int(frame_size.reshape(())), int(frame_step.reshape(()))
    length = signal.shape[-1] if signal.ndim else 0
    if not 1 <= size <= length or step < 1 or window.ndim != 1:
        raise InputError(f"frames: a signal of length {length} cannot be split into frames of {size} with step {step}")
    count = (length - size) // step + 1
    memory.check_budget((*signal.shape[:-1], count, size, 2), signal.dtype)
    frames = np.lib.stride_tricks.sliding_window_view(_to_float64(signal), size, axis=-1)[..., ::step, :]
    left = max(0, size - len(window)) // 2
    weights = np.zeros(size)
    weights[left : left + len(window)] = _to_float64(window)[:size]
    values = np.fft.rfft(frames * weights, axis=-1)
    new_array = _split_complex(np.swapaxes(values, -1, -2) if transpose_frames else values, signal.dtype)
    return new_array if len(window) == size else np.ma.MaskedArray(new_array, mask=np.ones(new_array.shape, np.bool_))


def _to_float64(data: NDArray[Any]) -> NDArray[Any]:
    if not is_float(data.dtype):
        raise InputError(f"fourier: expected floats, found {data.dtype}")
    return data.astype(np.float64)


def _join_complex(data: NDArray[Any]) -> NDArray[Any]:
    if not data.ndim or data.shape[-1] != 2:
        raise InputError(
            f"fourier: expected a last dimension of size 2 (real and imaginary part), found {list(data.shape)}"
        )
    wide_data = _to_float64(data)
    return (
        np.ascontiguousarray(wide_data).view(np.complex128)[..., 0]
        if wide_data.size
        else wide_data[..., 0].astype(np.complex128)
    )


def _split_complex(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    result = memory.empty((*values.shape, 2), dtype)
    result[..., 0], result[..., 1] = round_to(values.real, dtype), round_to(values.imag, dtype)
    return result


def _plan(shape: Sequence[int], axes: NDArray[Any], signal_size: NDArray[Any] | None) -> list[tuple[int, int]]:
    """Return each axis as non-negative, with the transform size along it."""
    rank = len(shape)
    stated_numbers = [int(axis) for axis in axes.reshape(-1)]
    numbers = [axis + rank if axis < 0 else axis for axis in stated_numbers]
    if len(set(numbers)) < len(numbers) or not all(0 <= axis < rank for axis in numbers):
        raise InputError(f"fourier: expected distinct axes of an input of rank {rank}, found {stated_numbers}")
    sizes = [-1] * len(numbers) if signal_size is None else [int(size) for size in signal_size.reshape(-1)]
    if len(sizes) != len(numbers) or any(size < 1 and size != -1 for size in sizes):
        raise InputError(f"fourier: expected a size or -1 for each of {len(numbers)} axes, found {sizes}")
    return [(axis, shape[axis] if size == -1 else size) for axis, size in zip(numbers, sizes, strict=True)]


def _transform_axis(values: NDArray[Any], axis: int, size: int, *, inverse: bool) -> NDArray[Any]:
    fitted = _fit_size(values, axis, size)
    if not fitted.size:
        return fitted.astype(np.complex128)
    array: NDArray[Any] = (np.fft.ifft if inverse else np.fft.fft)(fitted, axis=axis)
    return array


def _fit_size(values: NDArray[Any], axis: int, size: int) -> NDArray[Any]:
    """Return values truncated or zero-padded to a size along an axis."""
    cropped = values[(slice(None),) * axis + (slice(size),)]
    if cropped.shape[axis] == size:
        return cropped
    shape = tuple(size if d == axis else n for d, n in enumerate(values.shape))
    result = memory.empty(shape, values.dtype)
    result[...] = 0
    result[(slice(None),) * axis + (slice(cropped.shape[axis]),)] = cropped
    return result


_MEL: Final = 2595.0
_CORNER: Final = 700.0
_MAX_LENGTH: Final = 2**40


def _scalar_of(name: str, array: NDArray[Any]) -> Any:
    if array.size != 1:
        raise InputError(f"{name}: expected one number, found {array.size}")
    return array.reshape(())[()].item()


def _round_result(values: NDArray[Any], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    kind = np.dtype(np.float32) if dtype is None else dtype
    return round_to(values, kind) if is_float(kind) else store_as(values, kind)


def cosine_window(
    size: NDArray[Any], *, coefficients: Sequence[float], periodic: bool, dtype: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return a window a - b * cos(t) + c * cos(2 * t), t over one period.

    coefficients: a, b, c. size: number of elements. periodic: the period is `size`; otherwise the last element equals
    the first. dtype: default float32; integers are truncated.
    """
    count = int(_scalar_of("window", size))
    if count < 0:
        raise InputError(f"window: expected a size of at least 0, found {count}")
    memory.check_budget((count,), np.dtype(np.float64))
    a, b, c = coefficients
    with ignore_warnings():
        angles = np.arange(count) * (2 * np.pi / np.float64(count if periodic else count - 1))
        return _round_result(a - b * np.cos(angles) + c * np.cos(2 * angles), dtype)


def mel_weight_matrix(
    bins: NDArray[Any],
    length: NDArray[Any],
    rate: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    *,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return mel filter bank weights [length // 2 + 1, bins].

    bins: number of bands, evenly spaced in mel; length: DFT length; rate: samples per second; low, high: band edges in
    hertz. Each band is a triangle between the centers of its neighbors. Raises NoKernel where the edges are invalid.
    """
    bin_count, points, second = (int(_scalar_of("mel", array)) for array in (bins, length, rate))
    edges = [float(_scalar_of("mel", to_float64(array))) for array in (low, high)]
    if min(bin_count, points) < 0:
        raise InputError(f"mel: expected numbers of at least 0, found {bin_count} bands and {points} points")
    if second < 1 or not 0 <= edges[0] <= edges[1] < _MAX_LENGTH:
        raise NoKernel(f"mel: it is unspecified how to handle the edge frequencies {edges} with sample rate {second}")
    result = memory.empty((points // 2 + 1, bin_count), np.dtype(np.float64))
    result[...] = 0
    first, last = (_MEL * np.log10(1 + edge / _CORNER) for edge in edges)
    mels = np.arange(bin_count + 2) * ((last - first) / (bin_count + 2)) + first
    places = np.floor((points + 1) * (_CORNER * (10 ** (mels / _MEL) - 1)) / second).astype(np.int64)
    if bin_count and int(places.max()) > len(result):
        raise NoKernel("mel: it is unspecified how to handle a band above half the sample rate")
    if not bin_count:
        return _round_result(result, dtype)
    filter_numbers = np.arange(len(result))
    for band in memory.within_time_limit(range(bin_count)):
        left, middle, right = places[band : band + 3]
        rising = (filter_numbers - left) / (middle - left) if middle > left else np.ones(len(filter_numbers))
        falling = (right - filter_numbers) / max(right - middle, 1)
        in_triangle = (left <= filter_numbers) & (filter_numbers <= middle)
        result[:, band] = np.where(
            in_triangle, rising, np.where((middle < filter_numbers) & (filter_numbers < right), falling, 0.0)
        )
    return _round_result(result, dtype)


def dft_along(
    data: NDArray[Any],
    length: NDArray[Any] | None = None,
    axis: NDArray[Any] | None = None,
    *,
    place: int = -2,
    inverse: int = 0,
    onesided: int = 0,
) -> NDArray[Any]:
    """Return the DFT along an axis, as in ONNX DFT.

    data: [..., 1] real or [..., 2] complex. length: signal length along the axis, zero-padded or truncated; default the
    size. axis: an array holding the axis; default `place`; negative ones count from the end. onesided: return only
    length
    2 + 1 bins, or with inverse read those and return real numbers [..., 1].
    """
    if data.ndim < 2 or data.shape[-1] not in {1, 2} or {inverse, onesided} - {0, 1}:
        raise InputError(
            "dft: expected onesided and inverse of 0 or 1, and a last dimension of size 1 (real) or 2 (complex), "
            f"found {list(data.shape)}"
        )
    if onesided and data.shape[-1] != 1 + inverse:
        raise InputError("dft: onesided requires real input, and with inverse complex input")
    axis_number = one_place("dft", np.array(place, np.int64) if axis is None else axis.reshape(-1), data.ndim)
    if axis_number == data.ndim - 1:
        raise InputError("dft: axis must not be the last dimension, which has the real and imaginary parts")
    size = data.shape[axis_number]
    count = int(_scalar_of("dft", length)) if length is not None else 2 * (size - 1) if onesided and inverse else size
    if count < 1:
        raise NoKernel(f"dft: it is unspecified how to transform {count} numbers")
    bins = count // 2 + 1 if onesided and not inverse else count
    memory.check_budget(
        (*data.shape[:axis_number], bins, *data.shape[axis_number + 1 : -1], 2), np.dtype(np.complex128)
    )
    with ignore_warnings():
        wide_data = to_float64(data)
        if onesided and inverse:
            new_array = np.fft.irfft(_complex(wide_data), count, axis_number)
            return round_to(new_array[..., np.newaxis], data.dtype)
        array = (
            np.fft.rfft(wide_data[..., 0], count, axis_number)
            if onesided
            else _transform_numbers(_complex(wide_data), count, axis_number, inverse)
        )
        return _parts(array, data.dtype)


def stft_steps(
    signal: NDArray[Any],
    step: NDArray[Any],
    window: NDArray[Any] | None = None,
    length: NDArray[Any] | None = None,
    *,
    onesided: bool,
) -> NDArray[Any]:
    """Return the STFT [batch, frames, bins, 2], as in ONNX STFT.

    signal: [batch, time, 1] real or [batch, time, 2] complex. step: frame step. window: factors. length: frame length,
    default that of the window, else of the signal. onesided: return only length
    2 + 1 bins.
    """
    if signal.ndim != 3 or signal.shape[2] not in {1, 2}:
        raise InputError(f"stft: expected a signal [batch, length, 1 or 2], found {list(signal.shape)}")
    frame_step, time = int(_scalar_of("stft", step)), signal.shape[1]
    count = int(_scalar_of("stft", length)) if length is not None else window.size if window is not None else time
    if frame_step < 1:
        raise InputError(f"stft: expected a step of 1 or more, found {frame_step}")
    if window is not None:
        require_shape("stft", "a window", window.shape, (count,))
    if not 1 <= count <= time:
        raise NoKernel(f"stft: it is unspecified how to split {time} numbers into frames of {count}")
    parts = (time - count) // frame_step + 1
    memory.check_budget((len(signal), parts, count, 2), np.dtype(np.complex128))
    with ignore_warnings():
        wide_signal = to_float64(signal)
        samples = wide_signal[..., 0] if signal.shape[2] == 1 else _complex(wide_signal)
        framed = np.lib.stride_tricks.sliding_window_view(samples, count, axis=1)[:, ::frame_step]
        weighed = framed if window is None else framed * to_float64(window)
        if onesided and signal.shape[2] == 1:
            return _parts(np.fft.rfft(weighed, count, 2), signal.dtype)
        array = np.fft.fft(weighed, count, 2)
        return _parts(array[..., : count // 2 + 1] if onesided else array, signal.dtype)


def _complex(wide_data: NDArray[Any]) -> NDArray[Any]:
    array: NDArray[Any] = wide_data[..., 0].astype(np.complex128)
    if wide_data.shape[-1] == 2:
        array.imag = wide_data[..., 1]
    return array


def _transform_numbers(numbers: NDArray[Any], count: int, axis_number: int, inverse: int) -> NDArray[Any]:
    return np.asarray(np.fft.ifft(numbers, count, axis_number) if inverse else np.fft.fft(numbers, count, axis_number))


def _parts(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    return round_to(np.stack([numbers.real, numbers.imag], axis=-1), dtype)


#: How far frames may differ from those of one signal, by bytes of the type and relative to its largest number.
_FRAME_TOLERANCES: Final = {2: 0.02, 4: 1e-5, 8: 1e-12}
#: A smaller fraction of the largest window weight counts as 0: rounding would dominate the restored element.
_MIN_WEIGHT_SHARE: Final = 1e-3


def istft(
    data: NDArray[Any],
    window: NDArray[Any],
    frame_size: NDArray[Any],
    frame_step: NDArray[Any],
    signal_length: NDArray[Any] | None = None,
    *,
    center: bool,
    normalized: bool,
) -> NDArray[Any]:
    """Return the ISTFT: real signals [..., length] restored from frames.

    data: [..., frequencies, frames, 2]. Frames of frame_size start every frame_step and were multiplied by the window,
    centered in the frame. normalized: data was divided by sqrt(frame_size). center: half a frame of padding at both
    ends is removed. signal_length: truncate or zero-pad the signal. Overlapping frames are multiplied by the window
    again and divided by the sum of its squares. Masked: elements without weight, and all of a signal whose frames are
    inconsistent.
    """
    size, step = (_number(array) for array in (frame_size, frame_step))
    if not is_float(data.dtype) or data.ndim < 3 or data.shape[-1] != 2 or window.ndim != 1 or min(size, step) < 1:
        raise InputError(f"signals: {list(data.shape)} is not a spectrogram of frames of {size} with step {step}")
    if data.shape[-3] != size // 2 + 1 or len(window) > size:
        raise InputError(
            f"signals: {data.shape[-3]} frequencies or a window of {len(window)} do not match frames of {size}"
        )
    batch, count = data.shape[:-3], data.shape[-2]
    usual_length = (count - 1) * step + (0 if center else size)
    length = usual_length if signal_length is None else _number(signal_length)
    if length < 0:
        raise InputError(f"signals: {count} frames cannot give a signal of length {length}")
    result = memory.empty((*batch, length), data.dtype)
    result[...] = 0
    mask = np.zeros(result.shape, np.bool_)
    kept_length = max(0, min(length, usual_length))
    if not count:
        mask[..., :kept_length] = True
    elif kept_length and prod(batch):
        weights = _weights(window, size)
        values = _complex_frames(data) * (sqrt(size) if normalized else 1.0)
        with memory.ignore_warnings():
            signal, is_uncovered = _overlap_add(values, weights, step)
            is_uncovered = is_uncovered | ~_agrees(values, signal, weights, step, data.dtype)[..., None]
        first = size // 2 if center else 0
        result[..., :kept_length] = round_to(signal[..., first : first + kept_length], data.dtype)
        mask[..., :kept_length] = is_uncovered[..., first : first + kept_length]
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


def _complex_frames(data: NDArray[Any]) -> NDArray[Any]:
    """Return data as complex numbers [..., frames, frequencies].

    data: [..., frequencies, frames, 2].
    """
    wide_data = np.ascontiguousarray(np.swapaxes(data, -2, -3).astype(np.float64))
    return wide_data.view(np.complex128)[..., 0]


def _overlap_add(values: NDArray[Any], weights: NDArray[Any], step: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the uncut signals, and which elements have no weight."""
    *batch, count, _ = values.shape
    size = len(weights)
    memory.check_budget((*batch, count, size), np.dtype(np.float64))
    frames = np.fft.irfft(values, n=size, axis=-1) * weights
    signal = memory.empty((*batch, (count - 1) * step + size), np.dtype(np.float64))
    signal[...] = 0
    squares = np.zeros(signal.shape[-1])
    for frame in memory.within_time_limit(range(count)):
        part = slice(frame * step, frame * step + size)
        signal[..., part] += frames[..., frame, :]
        squares[part] += weights**2
    is_uncovered = ~(squares > (_MIN_WEIGHT_SHARE * np.abs(weights).max()) ** 2)
    return signal / np.where(is_uncovered, 1.0, squares), is_uncovered


def _agrees(
    values: NDArray[Any], signal: NDArray[Any], weights: NDArray[Any], step: int, dtype: np.dtype[Any]
) -> NDArray[np.bool_]:
    """Return whether the frames of each signal match its own transforms."""
    worst_errors = np.zeros(values.shape[:-2])
    size = len(weights)
    for frame in memory.within_time_limit(range(values.shape[-2])):
        spectrum = np.fft.rfft(signal[..., frame * step : frame * step + size] * weights, axis=-1)
        worst_errors = np.maximum(worst_errors, np.abs(spectrum - values[..., frame, :]).max(-1))
    agrees: NDArray[np.bool_] = worst_errors <= _FRAME_TOLERANCES[dtype.itemsize] * np.abs(values).max((-1, -2))
    return agrees
