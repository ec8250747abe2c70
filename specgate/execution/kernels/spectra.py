"""Windows, weights and discrete Fourier transforms of signals whose last dimension holds real and imaginary parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, require_shape, round_to, to_float64
from specgate.execution.kernels.elementwise import held, quiet
from specgate.execution.kernels.moving_by_tensors import one_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["cosine_window", "mel_weights", "transform_axis", "transform_steps"]

_MEL: Final = 2595.0
_CORNER: Final = 700.0
_MOST: Final = 2**40


def _one(name: str, array: NDArray[Any]) -> Any:
    if array.size != 1:
        raise InputError(f"{name}: expected one number, found {array.size}")
    return array.reshape(())[()].item()


def _typed(values: NDArray[Any], dtype: np.dtype[Any] | None) -> NDArray[Any]:
    kind = np.dtype(np.float32) if dtype is None else dtype
    return round_to(values, kind) if is_float(kind) else held(values, kind)


def cosine_window(
    size: NDArray[Any], *, coefficients: Sequence[float], periodic: bool, dtype: np.dtype[Any] | None = None
) -> NDArray[Any]:
    """Return a - b * cos(t) + c * cos(2 * t) of the three coefficients, where t goes around a circle once.

    size: how many numbers. periodic: the first number would follow the last, else it stands there again. dtype: their
    type, float32 without; integers lose the fraction.
    """
    count = int(_one("window", size))
    if count < 0:
        raise InputError(f"window: expected a size of 0 or more, found {count}")
    memory.hold((count,), np.dtype(np.float64))
    a, b, c = coefficients
    with quiet():
        around = np.arange(count) * (2 * np.pi / np.float64(count if periodic else count - 1))
        return _typed(a - b * np.cos(around) + c * np.cos(2 * around), dtype)


def mel_weights(
    bins: NDArray[Any],
    length: NDArray[Any],
    rate: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    *,
    dtype: np.dtype[Any] | None = None,
) -> NDArray[Any]:
    """Return weights [length // 2 + 1, bins] that gather a spectrum into bands whose middles are as far apart in mel.

    bins: how many bands; length: of the transform; rate: samples in a second; low, high: the edges in hertz. Each band
    is a triangle from the middle of the one before to that of the one behind. Raises NoKernel where the edges are none.
    """
    many, points, second = (int(_one("mel", array)) for array in (bins, length, rate))
    edges = [float(_one("mel", to_float64(array))) for array in (low, high)]
    if min(many, points) < 0:
        raise InputError(f"mel: expected numbers of 0 or more, found {many} bands and {points} points")
    if second < 1 or not 0 <= edges[0] <= edges[1] < _MOST:
        raise NoKernel(f"mel: it is not said what edges {edges} and {second} samples in a second mean")
    result = memory.empty((points // 2 + 1, many), np.dtype(np.float64))
    result[...] = 0
    first, last = (_MEL * np.log10(1 + edge / _CORNER) for edge in edges)
    mels = np.arange(many + 2) * ((last - first) / (many + 2)) + first
    places = np.floor((points + 1) * (_CORNER * (10 ** (mels / _MEL) - 1)) / second).astype(np.int64)
    if many and int(places.max()) > len(result):
        raise NoKernel("mel: it is not said what a band above half the samples in a second is")
    if not many:
        return _typed(result, dtype)
    at = np.arange(len(result))
    for band in memory.in_time(range(many)):
        left, middle, right = places[band : band + 3]
        rising = (at - left) / (middle - left) if middle > left else np.ones(len(at))
        falling = (right - at) / max(right - middle, 1)
        inside = (left <= at) & (at <= middle)
        result[:, band] = np.where(inside, rising, np.where((middle < at) & (at < right), falling, 0.0))
    return _typed(result, dtype)


def transform_axis(
    data: NDArray[Any],
    length: NDArray[Any] | None = None,
    axis: NDArray[Any] | None = None,
    *,
    place: int = -2,
    inverse: int = 0,
    onesided: int = 0,
) -> NDArray[Any]:
    """Return the discrete Fourier transform along an axis of numbers whose parts are in the last dimension.

    data: [..., 1] of real numbers, [..., 2] of complex ones. length: of the signal along the axis, which is cut or gets
    zeros; without it what there is. axis: an array with the axis, `place` without; negative ones count from the end.
    onesided: only the first half and one more, or with inverse made of those, which gives real numbers [..., 1].
    """
    if data.ndim < 2 or data.shape[-1] not in {1, 2} or {inverse, onesided} - {0, 1}:
        raise InputError(f"dft: expected parts of numbers in the last dimension, and flags, found {list(data.shape)}")
    if onesided and data.shape[-1] != 1 + inverse:
        raise InputError("dft: one side is that of real numbers, and the inverse of it of complex ones")
    at = one_place("dft", np.array(place, np.int64) if axis is None else axis.reshape(-1), data.ndim)
    if at == data.ndim - 1:
        raise InputError("dft: the last dimension holds the parts of numbers, it is not transformed")
    size = data.shape[at]
    count = int(_one("dft", length)) if length is not None else 2 * (size - 1) if onesided and inverse else size
    if count < 1:
        raise NoKernel(f"dft: it is not said what a transform of {count} numbers is")
    bins = count // 2 + 1 if onesided and not inverse else count
    memory.hold((*data.shape[:at], bins, *data.shape[at + 1 : -1], 2), np.dtype(np.complex128))
    with quiet():
        wide = to_float64(data)
        if onesided and inverse:
            made = np.fft.irfft(_complex(wide), count, at)
            return round_to(made[..., np.newaxis], data.dtype)
        found = np.fft.rfft(wide[..., 0], count, at) if onesided else _transformed(_complex(wide), count, at, inverse)
        return _parts(found, data.dtype)


def transform_steps(
    signal: NDArray[Any],
    step: NDArray[Any],
    window: NDArray[Any] | None = None,
    length: NDArray[Any] | None = None,
    *,
    onesided: bool,
) -> NDArray[Any]:
    """Return transforms of parts of signals, each multiplied by the window, [batch, parts, bins, 2].

    signal: [batch, time, 1] of real numbers, [batch, time, 2] of complex ones. step: from the beginning of one part to
    that of the next. length: of a part, without it that of the window, else of the time. onesided: only the first half
    of the bins and one more.
    """
    if signal.ndim != 3 or signal.shape[2] not in {1, 2}:
        raise InputError(f"stft: expected a batch of signals with the parts of numbers, found {list(signal.shape)}")
    far, time = int(_one("stft", step)), signal.shape[1]
    count = int(_one("stft", length)) if length is not None else window.size if window is not None else time
    if far < 1:
        raise InputError(f"stft: expected a step of 1 or more, found {far}")
    if window is not None:
        require_shape("stft", "a window", window.shape, (count,))
    if not 1 <= count <= time:
        raise NoKernel(f"stft: it is not said what parts of {count} of {time} numbers are")
    parts = (time - count) // far + 1
    memory.hold((len(signal), parts, count, 2), np.dtype(np.complex128))
    with quiet():
        wide = to_float64(signal)
        whole = wide[..., 0] if signal.shape[2] == 1 else _complex(wide)
        framed = np.lib.stride_tricks.sliding_window_view(whole, count, axis=1)[:, ::far]
        weighed = framed if window is None else framed * to_float64(window)
        if onesided and signal.shape[2] == 1:
            return _parts(np.fft.rfft(weighed, count, 2), signal.dtype)
        found = np.fft.fft(weighed, count, 2)
        return _parts(found[..., : count // 2 + 1] if onesided else found, signal.dtype)


def _complex(wide: NDArray[Any]) -> NDArray[Any]:
    found: NDArray[Any] = wide[..., 0].astype(np.complex128)
    if wide.shape[-1] == 2:
        found.imag = wide[..., 1]
    return found


def _transformed(numbers: NDArray[Any], count: int, at: int, inverse: int) -> NDArray[Any]:
    return np.asarray(np.fft.ifft(numbers, count, at) if inverse else np.fft.fft(numbers, count, at))


def _parts(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    return round_to(np.stack([numbers.real, numbers.imag], axis=-1), dtype)
