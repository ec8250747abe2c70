"""Convolutions whose paddings are a list of begins and ends, or follow from the sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import require_shape, same_length, to_float64
from specgate.execution.kernels.convolution import convolution

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Slide", "convolve", "convolve_transposed", "slide_over"]

_LIMIT = 2**31
_AUTOMATIC = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


class Slide(NamedTuple):
    """How windows slide along each spatial dimension, and how many there are."""

    strides: list[int]
    dilations: list[int]
    start: list[int]
    end: list[int]
    counts: list[int]


def slide_over(
    name: str,
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int] | None,
    dilations: Sequence[int] | None,
    pads: Sequence[int] | None,
    auto_pad: str,
    *,
    ceil: bool = False,
    least_dilation: int = 1,
) -> Slide:
    """Return the paddings that `auto_pad` asks for, and how many windows begin in the input or what is before it.

    With VALID there are none but those that fit, whatever `ceil` says. With a dilation of 0, where that is the least,
    all elements of a window lie at one place.
    """
    rank = len(sizes)
    steps = list(strides) if strides is not None else [1] * rank
    apart = list(dilations) if dilations is not None else [1] * rank
    around = list(pads) if pads is not None else [0] * (2 * rank)
    same_length(name, rank, strides=steps, dilations=apart, windows=window)
    same_length(name, 2 * rank, pads=around)
    if rank < 1 or any(n < 1 for n in (*steps, *window)) or any(n < least_dilation for n in apart):
        raise InputError(
            f"{name}: expected spatial dimensions, windows and strides above 0, dilations from {least_dilation} on"
        )
    if auto_pad not in _AUTOMATIC or any(not 0 <= n < _LIMIT for n in around):
        raise InputError(f"{name}: expected pads of 0 or more, and one of {', '.join(_AUTOMATIC)}")
    if auto_pad != "NOTSET" and pads is not None:
        raise InputError(f"{name}: pads and auto_pad do not go together")
    found = Slide(steps, apart, around[:rank], around[rank:], [])
    for axis, (size, length, step, gap) in enumerate(zip(sizes, window, steps, apart, strict=True)):
        span = (length - 1) * gap + 1
        if auto_pad.startswith("SAME"):
            whole = max(0, (-(-size // step) - 1) * step + span - size)
            found.start[axis] = whole // 2 if auto_pad == "SAME_UPPER" else whole - whole // 2
            found.end[axis] = whole - found.start[axis]
        before, behind = found.start[axis], found.end[axis]
        left = size + before + behind - span
        count = (-(-left // step) if ceil else left // step) + 1
        if ceil and auto_pad == "VALID" and count >= 0:
            count = max(0, left // step + 1)
        elif ceil and (count - 1) * step >= size + before:
            count -= 1
        if count < 0:  # one that is less than a stride too large has no place, but is none too many
            raise InputError(f"{name}: a window of {span} does not fit into {size + before + behind} places")
        if count and length >= _LIMIT:
            raise InputError(f"{name}: expected windows below {_LIMIT}, found {length}")
        found.counts.append(count)
        if count <= 1:  # whatever they are, and they may be more than an array's arithmetic holds
            steps[axis] = min(step, _LIMIT)
        if length == 1:
            apart[axis] = 1
    return found


def convolve(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    groups: int = 1,
    window: Sequence[int] | None = None,
    least_dilation: int = 1,
) -> NDArray[Any]:
    """Return the convolution of `inputs` [batch, channels, spatial…] as `convolution` does; bias: [output channels].

    pads: the paddings before each spatial dimension, then those behind. auto_pad: NOTSET, VALID (none), SAME_UPPER or
    SAME_LOWER (as many as make the output the input divided by the strides, the odd one behind or before). window: the
    filters' own sizes, if said again. least_dilation: 0 where all elements of the filters may meet one place.
    """
    _hold_window(filters, window)
    spatial, window = inputs.shape[2:], filters.shape[2:]
    slide = slide_over(
        "convolution", spatial, window, strides, dilations, pads, auto_pad, least_dilation=least_dilation
    )
    if not inputs.size or not filters.size or 0 in slide.counts:
        shape = (*inputs.shape[:1], *filters.shape[:1], *slide.counts)
        _hold_groups(inputs, filters, groups, filters.shape[1] * groups)
        result = _of_nothing(shape, bias, inputs.dtype)
        endless = ~np.isfinite(to_float64(filters)).all(axis=tuple(range(1, filters.ndim)))
        if endless.any():  # never of integers
            result[:, endless] = np.nan  # all that it meets is zeros of the padding
        return result
    rank = inputs.ndim - 2
    return convolution(
        inputs,
        filters,
        _column(bias, filters.shape[0], rank),
        transposed=False,
        flipped=False,
        strides=slide.strides,
        dilations=slide.dilations,
        start_padding=slide.start,
        end_padding=slide.end,
        output_padding=[0] * rank,
        groups=groups,
    )


def convolve_transposed(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    groups: int = 1,
    window: Sequence[int] | None = None,
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    any_output_padding: bool = False,
) -> NDArray[Any]:
    """Return the transposed convolution; filters: [input channels, output channels / groups, spatial…].

    output_padding: so many more places at the end, below the stride or the dilation unless any_output_padding.
    output_shape: the spatial sizes, which then say the paddings; with SAME_UPPER and SAME_LOWER they are the input's
    times the strides.
    """
    _hold_window(filters, window)
    rank = inputs.ndim - 2
    if any(n >= _LIMIT for n in (*(strides or ()), *(dilations or ()))):
        raise InputError(f"convolution: expected strides and dilations below {_LIMIT}")
    # with NOTSET the windows need not fit into the small side, so only the numbers are taken from here
    large = [size + 2 * _LIMIT for size in inputs.shape[2:]]
    slide = slide_over("convolution", large, filters.shape[2:], strides, dilations, pads, "NOTSET")
    more = list(output_padding) if output_padding is not None else [0] * rank
    same_length("convolution", rank, **{"output paddings": more})
    if auto_pad not in _AUTOMATIC or (auto_pad != "NOTSET" and pads is not None):
        raise InputError(f"convolution: expected pads or auto_pad, one of {', '.join(_AUTOMATIC)}")
    bounds = [_LIMIT if any_output_padding else max(pair) for pair in zip(slide.strides, slide.dilations, strict=True)]
    if any(not 0 <= n < bound for n, bound in zip(more, bounds, strict=True)):
        raise InputError(f"convolution: expected output paddings below {bounds}, found {more}")
    wanted = output_shape
    if wanted is None and auto_pad.startswith("SAME"):
        wanted = [size * step for size, step in zip(inputs.shape[2:], slide.strides, strict=True)]
    if wanted is not None:
        same_length("convolution", rank, **{"output sizes": wanted})
    for axis, (size, length) in enumerate(zip(inputs.shape[2:], filters.shape[2:], strict=True)):
        if wanted is not None:
            span = (length - 1) * slide.dilations[axis] + 1
            whole = slide.strides[axis] * (size - 1) + more[axis] + span - wanted[axis]
            slide.start[axis] = whole // 2 if auto_pad == "SAME_UPPER" else whole - whole // 2
            slide.end[axis] = whole - slide.start[axis]
        slide.end[axis] -= more[axis]
    if not inputs.size or not filters.size:
        _hold_groups(inputs, filters, groups, filters.shape[0])
        each = zip(inputs.shape[2:], filters.shape[2:], *slide[:4], strict=True)
        places = [(size - 1) * step + (n - 1) * gap + 1 - start - end for size, n, step, gap, start, end in each]
        if min(places) < 0:
            raise InputError(f"convolution: no output has the sizes {places}")
        return _of_nothing((inputs.shape[0], filters.shape[1] * groups, *places), bias, inputs.dtype)
    return convolution(
        inputs,
        filters,
        _column(bias, filters.shape[1] * groups, rank),
        transposed=True,
        flipped=False,
        zeros_meet=False,
        strides=slide.strides,
        dilations=slide.dilations,
        start_padding=slide.start,
        end_padding=slide.end,
        output_padding=[0] * rank,
        groups=groups,
    )


def _hold_groups(inputs: NDArray[Any], filters: NDArray[Any], groups: int, channels: int) -> None:
    """Raise InputError where `convolution` would, had there been something to convolve."""
    if groups < 1 or filters.shape[0] % groups or inputs.shape[1] != channels or filters.dtype != inputs.dtype:
        raise InputError(f"convolution: {groups} groups of filters {list(filters.shape)} do not fit {inputs.shape}")


def _hold_window(filters: NDArray[Any], window: Sequence[int] | None) -> None:
    if window is not None:
        require_shape("convolution", "filters", filters.shape[2:], window)


def _column(bias: NDArray[Any] | None, channels: int, rank: int) -> NDArray[Any] | None:
    if bias is None:
        return None
    require_shape("convolution", "a bias", bias.shape, (channels,))
    return bias.reshape(1, channels, *(1,) * rank)


def _of_nothing(shape: tuple[int, ...], bias: NDArray[Any] | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the sum of no products, to which a bias is still added."""
    result = memory.empty(shape, dtype)
    column = _column(bias, shape[1], len(shape) - 2)
    result[...] = 0 if column is None else column
    return result
