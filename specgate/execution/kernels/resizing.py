"""Arrays resized along axes, each of them alone: by the nearest element, by lines, or by cubic curves."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float64
from specgate.execution.kernels.attending import working
from specgate.execution.kernels.elementwise import held, quiet
from specgate.execution.kernels.resizing_places import WEIGHTS, places_of, rounded_places

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["resize"]

_MOST: Final = 2**31
_POLICIES: Final = ("stretch", "not_larger", "not_smaller")


class _Axis(NamedTuple):
    """An axis, its new size, also before it is rounded down, its scale, and the part of it, from 0 to 1, wanted."""

    axis: int
    size: int
    length: float
    scale: float
    begin: float
    end: float


def resize(
    data: NDArray[Any],
    roi: NDArray[Any] | None = None,
    scales: NDArray[Any] | None = None,
    sizes: NDArray[Any] | None = None,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest: str = "round_prefer_floor",
    antialias: int = 0,
    cube: float = -0.75,
    exclude: int = 0,
    beyond: float = 0.0,
    policy: str = "stretch",
    axes: Sequence[int] | None = None,
    stated: Sequence[float] | None = None,
) -> NDArray[Any]:
    """Return `data` with the sizes along axes (all without) multiplied by `scales`, rounded down, or with new `sizes`.

    mode: nearest, linear or cubic (with the coefficient `cube`). coordinate_transformation_mode: which place of `data`
    one of the result is; with tf_crop_and_resize inside of `roi`, the parts of axes where it begins, then where it
    ends, and `beyond` is outside of `data`. nearest: how places are rounded. antialias: what becomes smaller is
    averaged over wider curves. exclude: places outside of `data` have no weight, instead of that of the outermost.
    policy: stretch, or one scale for all sizes, so that none is larger, or smaller, than wanted. stated: the scales,
    where they are no array. Integers lose the fraction.
    """
    found = _axes(data, roi, scales if scales is None or scales.size else None, sizes, axes, stated, policy)
    shape = list(data.shape)
    for each in found:
        shape[each.axis] = each.size
    memory.hold(tuple(shape), np.dtype(np.float64))
    if not data.size:
        if 0 not in shape:
            raise NoKernel("resize: it is not said what nothing is enlarged to")
        return memory.empty(tuple(shape), data.dtype)
    if mode not in {"nearest", *WEIGHTS}:
        raise InputError(f"resize: unknown mode {mode!r:.40}")
    if mode != "nearest" and data.dtype.kind not in "fiu" and not is_float(data.dtype):
        raise NoKernel(f"resize: it is not said what is between two elements of {data.dtype}")
    if 0 in shape:  # without the places along its other dimensions, for which nothing is charged
        return memory.empty(tuple(shape), data.dtype)
    cropped = coordinate_transformation_mode == "tf_crop_and_resize"
    ats = [
        places_of(coordinate_transformation_mode, e.size, data.shape[e.axis], e.scale, e.length, (e.begin, e.end))
        for e in found
    ]
    with quiet():
        result = data if mode == "nearest" else data.astype(working(data)) if is_float(data.dtype) else to_float64(data)
        result = result.astype(np.float64) if mode != "nearest" and not is_float(data.dtype) else result
        for each, at in sorted(zip(found, ats, strict=True), key=lambda pair: pair[0].scale):
            if mode == "nearest":
                result = np.take(result, rounded_places(at, data.shape[each.axis], nearest), each.axis)
            else:
                result = _along(result, each, at, (mode, bool(antialias), bool(exclude), cube))
        if mode != "nearest":
            result = round_to(result, data.dtype) if is_float(data.dtype) else held(result, data.dtype)
        return _outside(result, data, found, ats, beyond) if cropped else result


def _axes(
    data: NDArray[Any],
    roi: NDArray[Any] | None,
    scales: NDArray[Any] | None,
    sizes: NDArray[Any] | None,
    axes: Sequence[int] | None,
    stated: Sequence[float] | None,
    policy: str,
) -> list[_Axis]:
    chosen = list(range(data.ndim)) if axes is None else [a + data.ndim if a < 0 else a for a in axes]
    if any(not 0 <= axis < data.ndim for axis in chosen) or policy not in _POLICIES:
        raise InputError(
            f"resize: {chosen!r:.60} are no axes of {data.ndim} dimensions, or {policy!r:.30} is no policy"
        )
    if len(set(chosen)) != len(chosen):
        raise NoKernel("resize: it is not said what an axis means that is there twice")
    old = [data.shape[axis] for axis in chosen]
    given = stated if stated is not None else None if scales is None else to_float64(scales.reshape(-1)).tolist()
    if (given is None) == (sizes is None) or len(sizes if given is None else given) != len(chosen):  # type: ignore[arg-type]
        raise InputError(f"resize: expected {len(chosen)} scales or sizes")
    if given is not None:
        factors = [float(np.float32(n)) for n in given]
        if any(not 0 < n < _MOST for n in factors):
            raise InputError(f"resize: expected scales above 0, found {factors!r:.60}")
        new = [floor(float(np.float32(size * n))) for n, size in zip(factors, old, strict=True)]
    else:
        new, factors = _by_sizes([int(n) for n in sizes.reshape(-1)], old, policy)  # type: ignore[union-attr]
    ends = [0.0] * len(chosen) + [1.0] * len(chosen)
    if roi is not None and roi.size:
        if roi.size != 2 * len(chosen):
            raise NoKernel(f"resize: it is not said what {roi.size} numbers are for {len(chosen)} axes")
        ends = to_float64(roi.reshape(-1)).tolist()
    lengths = [n * size for n, size in zip(factors, old, strict=True)] if given is not None else list(map(float, new))
    parts = zip(chosen, new, lengths, factors, ends[: len(chosen)], ends[len(chosen) :], strict=True)
    return [_Axis(*part) for part in parts]


def _by_sizes(wanted: list[int], old: list[int], policy: str) -> tuple[list[int], list[float]]:
    if min(wanted, default=0) < 0:
        raise NoKernel(f"resize: it is not said what the sizes {wanted!r:.60} are")
    if policy == "stretch":
        return wanted, [float(np.float32(n / size)) if size else 1.0 for n, size in zip(wanted, old, strict=True)]
    if not all(old):
        raise NoKernel("resize: nothing has no scale that keeps its proportions")
    scale = (min if policy == "not_larger" else max)(
        (n / size for n, size in zip(wanted, old, strict=True)), default=1.0
    )
    return [floor(scale * size + 0.5) for size in old], [scale] * len(old)


def _along(data: NDArray[Any], each: _Axis, at: NDArray[Any], how: tuple[str, bool, bool, float]) -> NDArray[Any]:
    """Return sums of weighted elements along an axis, for each of the places `at`."""
    mode, antialias, exclude, cube = how
    size = data.shape[each.axis]
    if not len(at):
        return data[(slice(None),) * each.axis + (slice(0),)]
    if len(at) == size and np.array_equal(at, np.arange(size)):
        return data
    width = min(each.scale, 1.0) if antialias else 1.0
    taps, weights = WEIGHTS[mode](at, width, cube)
    if exclude:
        weights = np.where((taps >= 0) & (taps < size), weights, 0.0)
        total = weights.sum(axis=1, keepdims=True)
        weights = weights / np.where(total == 0, 1.0, total)
    taps = np.clip(taps, 0, size - 1)
    shape = (*data.shape[: each.axis], len(at), *data.shape[each.axis + 1 :])
    column = [1] * data.ndim
    column[each.axis] = len(at)
    result = np.zeros(shape, data.dtype)
    for tap in memory.in_time(range(taps.shape[1])):
        factor = weights[:, tap].astype(data.dtype)
        if factor.any():
            taken = np.take(data, taps[:, tap], each.axis)
            taken *= factor.reshape(column)
            result += taken
    return result


def _outside(
    result: NDArray[Any], data: NDArray[Any], found: list[_Axis], ats: list[NDArray[Any]], beyond: float
) -> NDArray[Any]:
    """Return the result with another number where a place is outside of the data."""
    if data.dtype.kind not in "fiu" and not is_float(data.dtype):
        raise NoKernel(f"resize: it is not said what is beyond elements of {data.dtype}")
    result = result.copy()
    for each, at in zip(found, ats, strict=True):
        moved = np.moveaxis(result, each.axis, 0)
        moved[(at < 0) | (at > data.shape[each.axis] - 1)] = round_to(np.array(beyond), data.dtype)
    return result
