"""Pools whose paddings are a list of begins and ends, or follow from the sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError, NoKernel
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import round_to
from specgate.execution.kernels.pooling import average_pool, lp_pool, max_pool, max_pool_values
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
    shape = (*inputs.shape[:2], *slide.counts)
    if not prod(shape):
        return memory.empty(shape, inputs.dtype)
    if include_padding:
        memory.hold(
            (*inputs.shape[:2], *map(sum, zip(inputs.shape[2:], slide.start, slide.end, strict=True))), inputs.dtype
        )
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
    window: Sequence[int] | None = None,
    p: float,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil: bool = False,
) -> NDArray[Any]:
    """Return the p-norm under each window of `inputs` [batch, channel, spatial…], as `average_windows` the mean.

    Raises NoKernel where no window is given.
    """
    if window is None:
        raise NoKernel("pooling: it is not said how large a window is that is not given")
    slide = slide_over("pooling", inputs.shape[2:], window, strides, dilations, pads, auto_pad, ceil=ceil)
    shape = (*inputs.shape[:2], *slide.counts)
    if not prod(shape):
        return memory.empty(shape, inputs.dtype)
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
    places_too: bool = True,
) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Return the largest element under each window, as `average_windows` the mean, and its place in the flat inputs.

    The first of equals, and of nan, is found, and padding never: where there is no input at all, what would be found is
    masked. columns_first: places count along the first spatial dimension first. places_too: whether they are asked for.
    """
    slide = slide_over("pooling", inputs.shape[2:], window, strides, dilations, pads, auto_pad, ceil=ceil)
    shape = (*inputs.shape[:2], *slide.counts)
    if not prod(shape):
        nothing = memory.empty(shape, inputs.dtype)
        return nothing, nothing.astype(np.int64)
    if not inputs.size:
        nothing, nowhere = (memory.empty(shape, np.dtype(kind)) for kind in (inputs.dtype, np.int64))
        return np.ma.array(nothing, mask=True), np.ma.array(nowhere, mask=True)
    how: dict[str, Any] = {
        "strides": slide.strides, "window": window, "start_padding": slide.start,
        "end_padding": _ends(inputs, window, slide), "dilations": slide.dilations, "finite": False,
    }  # fmt: skip
    if not places_too:
        return max_pool_values(inputs, **how), None
    values, places = max_pool(inputs, **how)
    return values, _by_columns(places, inputs.shape[2:]) if columns_first else places


def _by_columns(places: NDArray[np.int64], spatial: tuple[int, ...]) -> NDArray[np.int64]:
    size = prod(spatial)
    at = np.unravel_index(places % size, spatial)
    return np.asarray(places // size * size + np.ravel_multi_index(at[::-1], spatial[::-1]), np.int64)


def pool_whole(inputs: NDArray[Any], *, function: str, p: float = 2) -> NDArray[Any]:
    """Return the AVERAGE, the MAX or the p-NORM of all spatial elements of `inputs` [batch, channel, spatial…]."""
    if inputs.ndim < 2:
        raise InputError(f"pooling: expected a batch and channels, found {inputs.ndim} dimensions")
    axes = range(2, inputs.ndim)
    if function == "NORM":
        with memory.quiet():
            total = np.sum(np.abs(inputs.astype(np.float64)) ** p, axis=tuple(axes), keepdims=True)
            return round_to(total ** (1.0 / p if p else np.inf), inputs.dtype)
    return reduce_dimensions(inputs, list(axes), function=function, keep=True, none_of_none=True)
