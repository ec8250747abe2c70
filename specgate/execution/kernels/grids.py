"""Elements at places that lie between those of a plane, and columns put back into a plane."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to, to_float64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["add_blocks", "add_columns", "cubic_weights", "reflected", "sample_at_grid"]

#: The coefficient of the cubic that goes through its places.
_CUBE = -0.75


def sample_at_grid(
    data: NDArray[Any],
    grid: NDArray[Any],
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
) -> NDArray[Any]:
    """Return `data` [batch, channels, rows, columns] at the places of `grid` [batch, H, W, 2].

    A place is a column and a row from -1 to 1, which are the centres of the outermost elements with align_corners, and
    else their outer edges. mode: bilinear, bicubic, nearest (halves to even). padding_mode: what is outside, zeros,
    border (the outermost element) or reflection. Raises NoKernel for places that are no numbers, and for integers that
    would be rounded.
    """
    if data.ndim != 4 or grid.ndim != 4 or grid.shape[3] != 2 or grid.shape[0] != data.shape[0]:
        raise InputError(f"grid_sample: {list(data.shape)} and {list(grid.shape)} do not go together")
    if mode not in {"bilinear", "bicubic", "nearest"} or padding_mode not in {"zeros", "border", "reflection"}:
        raise InputError(f"grid_sample: unknown mode {mode!r:.30} or padding {padding_mode!r:.30}")
    if mode != "nearest" and not is_float(data.dtype):
        raise NoKernel("grid_sample: it is not said how integers are rounded")
    places = to_float64(grid)
    if not (np.abs(places) < 2**31).all():
        raise NoKernel("grid_sample: it is not said what is at places that are not finite, or that far away")
    shape = (*data.shape[:2], *grid.shape[1:3])
    memory.hold(shape, np.dtype(np.float64))
    if not data.size:
        if 0 not in shape:
            raise NoKernel("grid_sample: there is nothing to take elements from")
        return np.zeros(shape, data.dtype)
    sizes = data.shape[3], data.shape[2]
    x, y = (_unnormalized(places[..., at], size, align_corners) for at, size in enumerate(sizes))
    if padding_mode == "border" and mode != "bicubic":
        x, y = (np.clip(at, 0, size - 1) for at, size in zip((x, y), sizes, strict=True))
    if mode == "nearest":
        columns, rows = np.rint(x).astype(np.int64), np.rint(y).astype(np.int64)
        return _at(data, rows, columns, padding_mode, align_corners)
    result = np.zeros(shape)
    left, top = np.floor(x), np.floor(y)
    weights = [_weights(at - first, mode) for at, first in ((x, left), (y, top))]
    steps = range(2) if mode == "bilinear" else range(-1, 3)
    with memory.quiet():
        for (i, row), (j, column) in product(enumerate(steps), enumerate(steps)):
            rows, columns = (top + row).astype(np.int64), (left + column).astype(np.int64)
            found = to_float64(_at(data, rows, columns, padding_mode, align_corners))
            result += found * (weights[1][i] * weights[0][j])[:, None]
    return round_to(result, data.dtype)


def _unnormalized(at: NDArray[Any], size: int, align_corners: bool) -> NDArray[Any]:
    return (at + 1) / 2 * (size - 1) if align_corners else ((at + 1) * size - 1) / 2


def _weights(s: NDArray[Any], mode: str) -> list[NDArray[Any]]:
    return [1 - s, s] if mode == "bilinear" else cubic_weights(s)


def cubic_weights(s: NDArray[Any]) -> list[NDArray[Any]]:
    """Return what the elements before, at, behind and two behind a place weigh, which is `s` behind the second."""
    a = _CUBE
    return [
        ((a * (s + 1) - 5 * a) * (s + 1) + 8 * a) * (s + 1) - 4 * a,
        ((a + 2) * s - (a + 3)) * s * s + 1,
        ((a + 2) * (1 - s) - (a + 3)) * (1 - s) * (1 - s) + 1,
        ((a * (2 - s) - 5 * a) * (2 - s) + 8 * a) * (2 - s) - 4 * a,
    ]


def _at(
    data: NDArray[Any],
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    padding_mode: str,
    align_corners: bool,
) -> NDArray[Any]:
    """Return the elements at rows and columns [batch, H, W], wherever they are."""
    height, width = data.shape[2:]
    inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    if padding_mode == "reflection":
        rows, columns = reflected(rows, height, align_corners), reflected(columns, width, align_corners)
    batch = np.arange(len(data))[:, None, None]
    found = data[batch, :, np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)]  # [batch, H, W, channels]
    found = np.moveaxis(found, -1, 1)
    return np.where(inside[:, None], found, np.zeros((), data.dtype)) if padding_mode == "zeros" else found


def reflected(at: NDArray[np.int64], size: int, align_corners: bool) -> NDArray[np.int64]:
    """Return places mirrored at the outermost elements, or at their outer edges, until they are inside."""
    if size == 1:
        return np.zeros_like(at)
    period = 2 * (size - 1) if align_corners else 2 * size
    at = at % period
    return np.where(at < size, at, (period if align_corners else period - 1) - at)


def add_columns(
    data: NDArray[Any],
    output_size: NDArray[Any],
    kernel_size: NDArray[Any],
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    begins: Sequence[int] | None = None,
    ends: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return planes [batch, channels, rows, columns] in which the columns of blocks add up where blocks overlap.

    data: [batch, channels * kernel rows * kernel columns, blocks]. Blocks slide over the planes with paddings, which
    are cut off. Elements of a block are `dilations` apart.
    """
    before, behind = (list(each) if each is not None else [0] * 2 for each in (begins, ends))
    if len(before) != 2 or len(behind) != 2 or output_size.size != 2:
        raise InputError("col2im: expected two sizes of everything, and data of three dimensions")
    return add_blocks(data, output_size, kernel_size, strides=strides, dilations=dilations, pads=[*before, *behind])


def add_blocks(
    data: NDArray[Any],
    output_size: NDArray[Any],
    kernel_size: NDArray[Any],
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
) -> NDArray[Any]:
    """Return what `add_columns` does, of any number of spatial dimensions; pads: those before, then those behind."""
    sizes, window = output_size.reshape(-1).tolist(), kernel_size.reshape(-1).tolist()
    rank = len(sizes)
    steps, gaps = (list(each) if each is not None else [1] * rank for each in (strides, dilations))
    around = list(pads) if pads is not None else [0] * (2 * rank)
    if (
        any(len(each) != rank for each in (window, steps, gaps))
        or len(around) != 2 * rank
        or data.ndim != 3
        or not rank
    ):
        raise InputError("col2im: expected as many sizes of everything, and data of three dimensions")
    if min(*sizes, *window, *steps, *gaps) < 1 or min(around) < 0:
        raise InputError("col2im: expected sizes, strides and dilations above 0, and paddings of 0 or more")
    before, behind = around[:rank], around[rank:]
    whole = [size + a + b for size, a, b in zip(sizes, before, behind, strict=True)]
    counts = [(n - (k - 1) * gap - 1) // step + 1 for n, k, gap, step in zip(whole, window, gaps, steps, strict=True)]
    area = prod(window)
    if min(counts) < 1 or data.shape[1] % area or data.shape[2] != prod(counts):
        raise InputError(f"col2im: {list(data.shape)} holds no {counts} blocks of {window}")
    channels = data.shape[1] // area
    memory.hold((data.shape[0], channels, *whole), np.dtype(np.float64))
    planes = np.zeros((data.shape[0], channels, *whole), np.float64 if is_float(data.dtype) else data.dtype)
    blocks = to_float64(data).reshape(data.shape[0], channels, *window, *counts)
    every: tuple[Any, ...] = (slice(None), slice(None))
    with memory.quiet():
        for element in memory.in_time(product(*map(range, window))):
            places = tuple(
                slice(k * gap, k * gap + (count - 1) * step + 1, step)
                for k, gap, count, step in zip(element, gaps, counts, steps, strict=True)
            )
            planes[every + places] += blocks[every + element]
        kept = planes[every + tuple(slice(a, a + size) for a, size in zip(before, sizes, strict=True))]
        return round_to(np.ascontiguousarray(kept), data.dtype)
