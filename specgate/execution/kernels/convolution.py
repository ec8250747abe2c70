"""Convolution and its transpose, in groups, with a bias and an activation."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import (
    is_float,
    require_shape,
    round_to,
    same_length,
    shape_of,
    to_float32,
    to_float64,
)
from specgate.execution.kernels.products import multiply_matrices
from specgate.execution.kernels.window_products import Tap, multiply_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["convolution"]


_ALL: Final[tuple[Any, ...]] = (slice(None),) * 3  # batch or group, group or channels, channels


class _Step(NamedTuple):
    """Along one dimension: how the filter's elements go with places of the side that it slides over."""

    stride: int
    dilation: int
    start: int


def convolution(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    bias: NDArray[Any] | None = None,
    *,
    transposed: bool,
    flipped: bool,
    strides: Sequence[int],
    dilations: Sequence[int],
    start_padding: Sequence[int],
    end_padding: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
    sizes: Sequence[int] | None = None,
    zeros_meet: bool = True,
    sizes_decide: bool = False,
    activation: Callable[[NDArray[Any]], NDArray[Any]] | None = None,
) -> NDArray[Any]:
    """Return the convolution of `inputs` [batch, channels, spatial…], of their type.

    filters: [output channels, input channels / groups, spatial…]. transposed: [input channels, output channels /
    groups, spatial…], and what a convolution would read from is written to. flipped: every spatial dimension of the
    filters runs backwards. Padding, and what a stride of the transposed leaves open, counts as zeros under the filter:
    an infinite or nan element of it gives nan there, unless zeros_meet is False. bias: [1, output channels, 1…].
    output_padding: that many zeros behind the end of each spatial dimension, which the activation reaches and the bias
    does not. sizes: of the output; when transposed or where sizes_decide, they say how much of it there is, whatever
    the end paddings, with zeros where nothing was written. activation: of a float32 array.
    """
    rank = inputs.ndim - 2
    if rank < 1 or filters.ndim != inputs.ndim or filters.dtype != inputs.dtype:
        raise InputError(
            f"convolution: expected filters of {inputs.dtype} and {inputs.ndim} dimensions, at least 3, found "
            f"{filters.dtype} and {filters.ndim}"
        )
    paddings = {"start paddings": start_padding, "end paddings": end_padding, "output paddings": output_padding}
    same_length("convolution", rank, strides=strides, dilations=dilations, **paddings)
    channels = _channels(inputs, filters, groups, transposed=transposed)
    steps = [_Step(*each) for each in zip(strides, dilations, start_padding, strict=True)]
    places = [
        _output_size(size, window, step, end, transposed=transposed)
        for size, window, step, end in zip(inputs.shape[2:], filters.shape[2:], steps, end_padding, strict=True)
    ]
    sizes = sizes if transposed or sizes_decide else None
    if sizes is not None:
        same_length("convolution", inputs.ndim, sizes=sizes)
        places = [max(size - behind, 0) for size, behind in zip(sizes[2:], output_padding, strict=True)]
        output_padding = [size - place for size, place in zip(sizes[2:], places, strict=True)]
    if sizes is not None and 0 in places:
        shape = shape_of("convolution", (inputs.shape[0], channels, *sizes[2:]))[:2] + tuple(places)
    else:
        shape = shape_of("convolution", (inputs.shape[0], channels, *places))
    if bias is not None:
        require_shape("convolution", f"a bias of type {inputs.dtype}", bias.shape if bias.dtype == inputs.dtype else (),
            (1, channels, *(1,) * rank))  # fmt: skip
    kernel = np.flip(filters, tuple(range(2, filters.ndim))) if flipped else filters
    with memory.quiet():
        result = None
        finite = bool(np.isfinite(to_float32(kernel, kernel.dtype)).all())
        if finite and is_float(inputs.dtype) and not transposed and 0 not in shape:
            met = _met(kernel.shape[2:], shape[2:], inputs.shape[2:], steps)
            result = multiply_windows(inputs, kernel, bias, shape, met, groups)
        if result is None:
            result = _result(inputs, kernel, shape, steps, groups, transposed, zeros_meet and not finite)
            result = result if bias is None else result + to_float64(bias)
        rounded = _padded(to_float32(result, inputs.dtype), output_padding)
        return round_to(rounded if activation is None else activation(rounded), inputs.dtype)


def _result(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    shape: tuple[int, ...],
    steps: Sequence[_Step],
    groups: int,
    transposed: bool,
    zeros_meet: bool,
) -> NDArray[Any]:
    """Return the sums, in float64 for floats. zeros_meet: padding makes nan of what is not finite in the filters."""
    if 0 in shape:  # all of the output is behind the results
        return np.zeros(shape, to_float64(inputs).dtype)
    result = _summed(to_float64(inputs), to_float64(filters), shape, steps, groups, transposed=transposed)
    if zeros_meet:
        result[_meet_zeros(inputs.shape, filters, shape, steps, groups, transposed=transposed)] = np.nan
    return result


def _padded(array: NDArray[Any], padding: Sequence[int]) -> NDArray[Any]:
    if not any(padding):
        return array
    places = [size + more for size, more in zip(array.shape[2:], padding, strict=True)]
    result = memory.empty(shape_of("convolution", (*array.shape[:2], *places)), array.dtype)
    result[...] = 0
    result[tuple(slice(size) for size in array.shape)] = array
    return result


def _channels(inputs: NDArray[Any], filters: NDArray[Any], groups: int, *, transposed: bool) -> int:
    """Return the output's channels; raise InputError where filters and groups do not divide them."""
    found, (first, second) = inputs.shape[1], filters.shape[:2]
    read, written = (first, second * groups) if transposed else (second * groups, first)
    if groups < 1 or found != read or first % groups:
        raise InputError(f"convolution: {groups} groups of filters {list(filters.shape)} do not fit {found} channels")
    return int(written)


def _output_size(size: int, window: int, step: _Step, end: int, *, transposed: bool) -> int:
    if step.stride < 1:
        raise InputError(f"convolution: expected strides above 0, found {step.stride}")
    span = (window - 1) * step.dilation + 1
    if transposed:
        return (size - 1) * step.stride + span - step.start - end
    return int((size + step.start + end - span) // step.stride + 1)


def _summed(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    shape: tuple[int, ...],
    steps: Sequence[_Step],
    groups: int,
    *,
    transposed: bool,
) -> NDArray[Any]:
    """Return the sum over the filters' elements: for each, one matrix product of all places that it goes with."""
    result = memory.empty(shape, inputs.dtype)  # integers wrap around in their own type
    result[...] = 0
    batch, spatial = shape[0], shape[2:]
    grouped = result.reshape(batch, groups, shape[1] // groups, *spatial)
    read = inputs.reshape(batch, groups, inputs.shape[1] // groups, *inputs.shape[2:])
    weights = filters.reshape(groups, filters.shape[0] // groups, *filters.shape[1:])
    slid, still = (spatial, inputs.shape[2:]) if transposed else (inputs.shape[2:], spatial)
    for taps in memory.in_time(product(*_met(filters.shape[2:], still, slid, steps))):
        element, small, large = zip(*taps, strict=True)
        source, target = (small, large) if transposed else (large, small)
        matrix: NDArray[Any] = weights[_ALL + element]
        block: NDArray[Any] = read[_ALL + source]
        flat = block.reshape(*block.shape[:3], prod(block.shape[3:]))
        part = multiply_matrices(np.swapaxes(matrix, 1, 2) if transposed else matrix, flat)
        grouped[_ALL + target] += part.reshape(*part.shape[:3], *block.shape[3:])
    return result


def _meet_zeros(
    read: tuple[int, ...],
    filters: NDArray[Any],
    shape: tuple[int, ...],
    steps: Sequence[_Step],
    groups: int,
    *,
    transposed: bool,
) -> NDArray[np.bool_]:
    """Return at which places fewer of the filter's infinite and nan elements meet an input than there are."""
    endless = (~np.isfinite(to_float64(filters))).astype(np.float64)
    met = _summed(np.ones((1, *read[1:])), endless, (1, *shape[1:]), steps, groups, transposed=transposed)
    each = endless.reshape(groups, len(filters) // groups, *filters.shape[1:]).sum(1) if transposed else endless
    counts = (
        each.reshape(1, shape[1], prod(each.shape) // max(1, shape[1])).sum(-1).reshape(1, shape[1], *(1,) * len(steps))
    )
    return np.broadcast_to(met < counts, shape)


def _met(windows: Sequence[int], still: Sequence[int], slid: Sequence[int], steps: Sequence[_Step]) -> list[list[Tap]]:
    """Return along each dimension the filter's elements that meet anything, with the places on both sides."""
    dimensions = []
    for window, few, many, step in zip(windows, still, slid, steps, strict=True):
        met = []
        for k in range(window):
            offset = k * step.dilation - step.start
            first = max(0, -(offset // step.stride))
            last = min(few - 1, (many - 1 - offset) // step.stride)
            if first <= last:
                begin, end = first * step.stride + offset, last * step.stride + offset + 1
                met.append(Tap(k, slice(first, last + 1), slice(begin, end, step.stride)))
        dimensions.append(met)
    return dimensions
