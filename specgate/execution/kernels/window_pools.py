"""Pools whose paddings are a list of begins and ends, or follow from the sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, narrow, single
from specgate.execution.kernels.pooling import average_pool, lp_pool
from specgate.execution.kernels.reduce_dimensions import reduce_dimensions
from specgate.execution.kernels.windows import Slide, slide_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["average_windows", "largest_of_windows", "norm_of_windows", "pool_whole"]


def average_windows(
    inputs: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil: bool = False,
    include_padding: bool = False,
) -> NDArray[Any]:
    """Return the mean under each window of `inputs` [batch, channel, spatial…]; paddings as in `convolve`.

    ceil: the last window may reach beyond the padding, but not begin there. include_padding: zeros of the padding
    count, what lies beyond does not.
    """
    slide = slide_over("pooling", inputs.shape[2:], window, strides, dilations, pads, auto_pad, ceil=ceil)
    if not prod(inputs.shape[:2]):
        return memory.empty((*inputs.shape[:2], *slide.counts), inputs.dtype)
    if include_padding:
        inputs = np.pad(inputs, [(0, 0), (0, 0), *zip(slide.start, slide.end, strict=True)])
        slide = slide._replace(start=[0] * len(window))
    return average_pool(
        inputs,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=_ends(inputs, window, slide),
        include_padding=False,
        dilations=slide.dilations,
    )


def _ends(inputs: NDArray[Any], window: Sequence[int], slide: Slide) -> list[int]:
    """Return the paddings behind that make room for exactly the windows that there are."""
    each = zip(inputs.shape[2:], window, *slide, strict=True)
    return [
        max(0, (count - 1) * step + (length - 1) * gap + 1 - size - before)
        for size, length, step, gap, before, _, count in each
    ]


def norm_of_windows(
    inputs: NDArray[Any],
    *,
    window: Sequence[int],
    p: int,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil: bool = False,
) -> NDArray[Any]:
    """Return the p-norm under each window of `inputs` [batch, channel, spatial…], as `average_windows` the mean."""
    slide = slide_over("pooling", inputs.shape[2:], window, strides, dilations, pads, auto_pad, ceil=ceil)
    if not prod(inputs.shape[:2]):
        return memory.empty((*inputs.shape[:2], *slide.counts), inputs.dtype)
    return lp_pool(
        inputs,
        strides=slide.strides,
        window=window,
        start_padding=slide.start,
        end_padding=_ends(inputs, window, slide),
        p=p,
        dilations=slide.dilations,
    )


def largest_of_windows(
    inputs: NDArray[Any],
    *,
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil: bool = False,
    columns_first: bool = False,
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the largest element under each window, as `average_windows` the mean, and its place in the flat inputs.

    The first of equals, and of nan, is found, and padding never. columns_first: places count along the first spatial
    dimension first.
    """
    slide = slide_over("pooling", inputs.shape[2:], window, strides, dilations, pads, auto_pad, ceil=ceil)
    shape = (*inputs.shape[:2], *slide.counts)
    memory.empty((*shape, prod(window)), np.dtype(np.int64))
    spatial = inputs.shape[2:]
    at = np.arange(prod(spatial), dtype=np.int64).reshape(spatial[::-1] if columns_first else spatial)
    at = at.T if columns_first else at
    base = np.arange(prod(inputs.shape[:2]), dtype=np.int64).reshape(*inputs.shape[:2], *(1,) * len(spatial))
    values = single(inputs, inputs.dtype)
    lowest: Any = -np.inf if is_float(inputs.dtype) else np.iinfo(inputs.dtype).min
    seen = _seen(values, window, slide, lowest).reshape(*shape, -1)
    places = _seen(base * prod(spatial) + at, window, slide, -1).reshape(*shape, -1)
    best = np.argmax(seen, axis=-1, keepdims=True)
    padding = np.take_along_axis(places, best, -1) < 0
    best = np.where(padding, np.argmax(places >= 0, axis=-1, keepdims=True), best)
    largest, where = (np.take_along_axis(each, best, -1)[..., 0] for each in (seen, places))
    return narrow(largest, inputs.dtype), where


def _seen(array: NDArray[Any], window: Sequence[int], slide: Slide, filler: Any) -> NDArray[Any]:
    """Return what each window sees, [batch, channel, windows…, elements…], `filler` where that is padding."""
    ends = _ends(array, window, slide)
    around = [(0, 0), (0, 0), *zip(slide.start, ends, strict=True)]
    memory.empty(tuple(n + a + b for n, (a, b) in zip(array.shape, around, strict=True)), array.dtype)
    padded = np.pad(array, around, constant_values=filler)
    spans = [(length - 1) * gap + 1 for length, gap in zip(window, slide.dilations, strict=True)]
    view = np.lib.stride_tricks.sliding_window_view(padded, spans, tuple(range(2, array.ndim)))
    begins = [slice(0, (count - 1) * step + 1, step) for count, step in zip(slide.counts, slide.strides, strict=True)]
    taken = [slice(None, None, gap) for gap in slide.dilations]
    return np.asarray(view[(slice(None), slice(None), *begins, *taken)])


def pool_whole(inputs: NDArray[Any], *, function: str, p: int = 2) -> NDArray[Any]:
    """Return the AVERAGE, the MAX or the p-NORM of all spatial elements of `inputs` [batch, channel, spatial…]."""
    if inputs.ndim < 2:
        raise InputError(f"pooling: expected a batch and channels, found {inputs.ndim} dimensions")
    axes = range(2, inputs.ndim)
    if function == "NORM":
        with np.errstate(all="ignore"):
            total = np.sum(np.abs(inputs.astype(np.float64)) ** p, axis=tuple(axes), keepdims=True)
            return narrow(total ** (1.0 / p), inputs.dtype)
    return reduce_dimensions(inputs, list(axes), function=function, keep=True, none_of_none=True)
