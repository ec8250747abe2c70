"""Where the elements of a resized axis lie on the old one, and what the elements around such a place weigh."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["WEIGHTS", "places_of", "rounded_places"]

_ROUNDED: Final[dict[str, Callable[[NDArray[Any]], NDArray[Any]]]] = {
    "round_prefer_floor": lambda x: np.ceil(x - 0.5),
    "round_prefer_ceil": lambda x: np.floor(x + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def places_of(name: str, new: int, old: int, scale: float, length: float, part: tuple[float, float]) -> NDArray[Any]:
    """Return the place on an axis of `old` elements of each of `new` elements, rounded to float32.

    name: how they are found. length: the new size before it is rounded down, which the outermost places follow. part:
    where the wanted part of the axis begins and ends, from 0 to 1.
    """
    i = np.arange(new, dtype=np.float64)
    half = (i + 0.5) / scale - 0.5
    if name == "half_pixel":
        at = half
    elif name == "pytorch_half_pixel":
        at = half if length > 1 else np.zeros(new)
    elif name == "half_pixel_symmetric":
        at = half + old / 2 * (1 - new / (scale * old)) if new else half
    elif name == "align_corners":
        at = i * (old - 1) / (length - 1) if length > 1 else np.zeros(new)
    elif name == "asymmetric":
        at = i / scale
    elif name == "tf_half_pixel_for_nn":
        at = (i + 0.5) / scale
    elif name == "tf_crop_and_resize":
        begin, end = part
        step = (end - begin) * (old - 1) / (length - 1) if length > 1 else 0.0
        at = begin * (old - 1) + i * step if length > 1 else np.full(new, 0.5 * (begin + end) * (old - 1))
    else:
        raise InputError(f"resize: unknown coordinate transformation {name!r:.40}")
    return at.astype(np.float32).astype(np.float64)


def rounded_places(at: NDArray[Any], size: int, how: str) -> NDArray[np.int64]:
    """Return the elements that places are rounded to, the outermost ones for those outside."""
    if how not in _ROUNDED:
        raise InputError(f"resize: unknown rounding {how!r:.40}")
    held: NDArray[Any] = np.clip(np.nan_to_num(_ROUNDED[how](at)), 0, size - 1)
    return held.astype(np.int64)


def _around(at: NDArray[Any], reach: float) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the elements [places, taps] that are less than `reach` away, and how far each is."""
    begin = floor(-reach) + 1
    low = np.floor(np.clip(np.nan_to_num(at), -(2.0**40), 2.0**40))
    memory.hold((len(at), 2 - 2 * begin), np.dtype(np.float64))
    taps = low[:, None] + np.arange(begin, 2 - begin)
    return taps.astype(np.int64), taps - at[:, None]


def _linear(at: NDArray[Any], width: float, _cube: float) -> tuple[NDArray[np.int64], NDArray[Any]]:
    taps, far = _around(at, 1 / width)
    weights = np.maximum(0.0, 1 - np.abs(far) * width)
    return taps, weights / weights.sum(axis=1, keepdims=True) if width < 1 else weights


def _cubic(at: NDArray[Any], width: float, cube: float) -> tuple[NDArray[np.int64], NDArray[Any]]:
    taps, far = _around(at, 2 / width)
    x = np.abs(far) * width
    near = ((cube + 2) * x - (cube + 3)) * x * x + 1
    away = ((cube * x - 5 * cube) * x + 8 * cube) * x - 4 * cube
    weights = np.where(x <= 1, near, np.where(x < 2, away, 0.0))
    return taps, weights / weights.sum(axis=1, keepdims=True) if width < 1 else weights


#: By mode: what elements around places weigh, for a width of the curve that is 1 or less.
WEIGHTS: Final[dict[str, Callable[[NDArray[Any], float, float], tuple[NDArray[np.int64], NDArray[Any]]]]] = {
    "linear": _linear,
    "cubic": _cubic,
}
