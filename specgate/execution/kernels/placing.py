"""Elements chosen by a condition, centred in another size, or written into a buffer that wraps around."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import check_axis, require_shape
from specgate.execution.kernels.narrow import zero_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["centre", "choose", "place_again", "write_into_buffer"]


def choose(inputs: NDArray[Any], condition: NDArray[Any], *, axis: int | None = None) -> NDArray[Any]:
    """Return the slices along `axis`, or without one the elements in row-major order, where the condition is true.

    condition: a list of truth values, which may end before the slices do; what is behind its end is left out.
    """
    if condition.ndim != 1 or not inputs.ndim:
        raise InputError("compress: expected a list of truth values, and an input of at least one dimension")
    if axis is None:
        data, place = inputs.reshape(-1), 0
    else:
        data, place = inputs, axis + inputs.ndim if axis < 0 else axis
        check_axis(place, inputs.ndim, "compress")
    places = np.flatnonzero(condition)
    if places.size and places[-1] >= data.shape[place]:
        raise NoKernel("compress: it is not said what a true value means that no slice is for")
    memory.hold((*data.shape[:place], len(places), *data.shape[place + 1 :]), data.dtype)
    return np.take(data, places, place)


def centre(inputs: NDArray[Any], shape: NDArray[Any], *, axes: Sequence[int] | None = None) -> NDArray[Any]:
    """Return `inputs` cut, or with zeros around, to the given sizes along axes; the middle stays in the middle.

    axes: all without. Of an odd difference the larger part is behind.
    """
    chosen = list(range(inputs.ndim)) if axes is None else [a + inputs.ndim if a < 0 else a for a in axes]
    wanted = [int(size) for size in shape.reshape(-1)]
    if shape.ndim != 1 or len(wanted) != len(chosen) or len(set(chosen)) != len(chosen):
        raise InputError(f"centre: {len(wanted)} sizes do not go with the axes {chosen!r:.60}")
    if any(not 0 <= axis < inputs.ndim for axis in chosen) or min(wanted, default=0) < 0:
        raise InputError(f"centre: {wanted!r:.60} are no sizes for the axes {chosen!r:.60} of {inputs.ndim}")
    whole = list(inputs.shape)
    source, target = [slice(None)] * inputs.ndim, [slice(None)] * inputs.ndim
    for axis, size in zip(chosen, wanted, strict=True):
        old, whole[axis] = inputs.shape[axis], size
        first = abs(old - size) // 2
        (source if old > size else target)[axis] = slice(first, first + min(old, size))
    result = memory.empty(tuple(whole), inputs.dtype)
    if result.size > inputs.size or any(part != slice(None) for part in target):
        result[...] = zero_of("centre", inputs.dtype)
    result[tuple(target)] = inputs[tuple(source)]
    return result


def write_into_buffer(
    buffer: NDArray[Any],
    update: NDArray[Any],
    first: NDArray[Any] | None = None,
    *,
    axis: int,
    mode: str = "linear",
) -> NDArray[Any]:
    """Return `buffer` with `update` written along `axis`, for each batch (dimension 0) from its place in `first` on.

    first: [batch], zeros without. mode: linear, where all must fit, or circular, where what is beyond the end goes on
    at the beginning.
    """
    place = axis + buffer.ndim if axis < 0 else axis
    check_axis(place, buffer.ndim, "cache")
    if not place or mode not in {"linear", "circular"} or update.ndim != buffer.ndim or update.dtype != buffer.dtype:
        raise InputError(f"cache: expected an update as the cache is, and an axis that is no batch, found {mode!r:.30}")
    count, length = update.shape[place], buffer.shape[place]
    require_shape("cache", "an update", update.shape, (*buffer.shape[:place], count, *buffer.shape[place + 1 :]))
    if count > length:
        raise InputError(f"cache: {count} places do not fit into {length}")
    begins = np.zeros(len(buffer), np.int64) if first is None else first
    require_shape("cache", "first places", begins.shape, buffer.shape[:1])
    if mode == "circular":
        begins = begins % max(1, length)
    elif begins.size and (int(begins.min()) < 0 or int(begins.max()) + count > length):
        raise InputError(f"cache: {count} places from {int(begins.max())} on do not fit into {length}")
    result = memory.empty(buffer.shape, buffer.dtype)
    result[...] = buffer
    if not length:
        return result
    at = (begins[:, None] + np.arange(count)) % length
    moved, new = np.moveaxis(result, place, 1), np.moveaxis(update, place, 1)
    moved[np.arange(len(buffer))[:, None], at] = new
    return result


def place_again(
    inputs: NDArray[Any],
    indices: NDArray[Any],
    shape: NDArray[Any] | None = None,
    *,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return zeros with the elements of `inputs` [batch, channels, spatial…] at the places that they were pooled from.

    indices: of the shape of `inputs`, numbers of elements in row-major order of the whole array. shape: of the result;
    without it the least that pools to the inputs. Places are those of the least one, which stands at the beginning of
    one with larger spatial sizes. Of several elements at one place the last one stands.
    """
    rank = inputs.ndim - 2
    steps, around = list(strides or [1] * rank), list(pads or [0] * (2 * rank))
    require_shape("unpool", "places", indices.shape, inputs.shape)
    if rank < 1 or len(window) != rank or len(steps) != rank or len(around) != 2 * rank:
        raise InputError(f"unpool: expected {rank} windows and strides, and twice as many pads")
    if min(*window, *steps) < 1 or min(around) < 0:
        raise InputError("unpool: expected windows and strides above 0, and pads of 0 or more")
    sides = zip(inputs.shape[2:], steps, window, around[:rank], around[rank:], strict=True)
    least = (*inputs.shape[:2], *((n - 1) * step + k - a - b for n, step, k, a, b in sides))
    whole = least if shape is None else tuple(int(n) for n in shape.reshape(-1))
    if len(whole) != inputs.ndim or min(least) < 0 or min(whole) < 0:
        raise InputError(f"unpool: no output has the shape {list(whole)!r:.60}")
    result = memory.empty(least, inputs.dtype)
    if indices.size and (int(indices.min()) < 0 or int(indices.max()) >= result.size):
        raise NoKernel(f"unpool: it is not said what is at a place that is none among {result.size}")
    result[...] = 0
    result.reshape(-1)[indices.reshape(-1)] = inputs.reshape(-1)
    if whole == least:
        return result
    if any(n < m for n, m in zip(whole, least, strict=True)):
        raise NoKernel(f"unpool: it is not said how {list(whole)} holds what {list(least)} does")
    larger = memory.empty(whole, inputs.dtype)
    larger[...] = 0
    larger[tuple(slice(n) for n in least)] = result
    return larger
