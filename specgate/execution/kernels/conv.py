"""Convolution and transposed convolution, grouped, with bias.

DirectML CONVOLUTION; ONNX Conv, ConvTranspose; OpenVINO BinaryConvolution, Convolution, ConvolutionBackpropData.
"""

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
from specgate.execution.kernels.matmul import multiply_matrices
from specgate.execution.kernels.narrow_types import widen_array
from specgate.execution.kernels.window_products import Tap, multiply_windows
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_ALL: Final[tuple[Any, ...]] = (slice(None),) * 3


class _Step(NamedTuple):
    """Mapping of filter elements to input positions along one dimension."""

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
    """Return the (transposed) convolution of [batch, channels, spatial…].

    The result has the type of `inputs`. filters: [output channels, input channels / groups, spatial…]; transposed:
    [input channels, output channels / groups, spatial…]. flipped: every spatial dimension of the filters is reversed
    (true convolution). Padding, and the gaps that a stride leaves in a transposed convolution, multiply as zeros: an
    infinite or nan filter element gives nan there, unless zeros_meet is False. bias: [1, output channels, 1…].
    output_padding: number of zeros appended to each spatial dimension, to which the activation applies and the bias
    does not. sizes: output sizes; if transposed or sizes_decide, they determine the output instead of the end padding,
    with zeros where nothing was written. activation: function of a float32 array.
    """
    rank = inputs.ndim - 2
    if rank < 1 or filters.ndim != inputs.ndim or filters.dtype != inputs.dtype:
        raise InputError(
            f"convolution: expected filters of {inputs.dtype} and rank {inputs.ndim}, at least 3, found "
            f"{filters.dtype} and {filters.ndim}"
        )
    paddings = {"start paddings": start_padding, "end paddings": end_padding, "output paddings": output_padding}
    same_length("convolution", rank, strides=strides, dilations=dilations, **paddings)
    channels = _channels(inputs, filters, groups, transposed=transposed)
    steps = [_Step(*axis_numbers) for axis_numbers in zip(strides, dilations, start_padding, strict=True)]
    places = [
        _output_size(size, window, step, end, transposed=transposed)
        for size, window, step, end in zip(inputs.shape[2:], filters.shape[2:], steps, end_padding, strict=True)
    ]
    sizes = sizes if transposed or sizes_decide else None
    if sizes is not None:
        same_length("convolution", inputs.ndim, sizes=sizes)
        places = [max(size - output_pad, 0) for size, output_pad in zip(sizes[2:], output_padding, strict=True)]
        output_padding = [size - place for size, place in zip(sizes[2:], places, strict=True)]
    if sizes is not None and 0 in places:
        shape = shape_of("convolution", (inputs.shape[0], channels, *sizes[2:]))[:2] + tuple(places)
    else:
        shape = shape_of("convolution", (inputs.shape[0], channels, *places))
    if bias is not None:
        require_shape("convolution", f"a bias of type {inputs.dtype}", bias.shape if bias.dtype == inputs.dtype else (),
            (1, channels, *(1,) * rank))  # fmt: skip
    kernel = np.flip(filters, tuple(range(2, filters.ndim))) if flipped else filters
    with memory.ignore_warnings():
        result = None
        finite = bool(np.isfinite(to_float32(kernel, kernel.dtype)).all())
        if finite and is_float(inputs.dtype) and not transposed and 0 not in shape:
            tap_slices = _overlapping_taps(kernel.shape[2:], shape[2:], inputs.shape[2:], steps)
            result = multiply_windows(inputs, kernel, bias, shape, tap_slices, groups)
        if result is None:
            result = _result(inputs, kernel, shape, steps, groups, transposed, zeros_meet and not finite)
            result = result if bias is None else result + to_float64(bias)
        rounded = _pad_input(to_float32(result, inputs.dtype), output_padding)
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
    """Return the sums, in float64 for floats.

    zeros_meet: zero padding times a non-finite filter element gives nan.
    """
    if 0 in shape:  # the whole output lies after the results
        return np.zeros(shape, to_float64(inputs).dtype)
    result = _sum_taps(to_float64(inputs), to_float64(filters), shape, steps, groups, transposed=transposed)
    if zeros_meet:
        result[_find_zero_overlaps(inputs.shape, filters, shape, steps, groups, transposed=transposed)] = np.nan
    return result


def _pad_input(array: NDArray[Any], padding: Sequence[int]) -> NDArray[Any]:
    if not any(padding):
        return array
    places = [size + extra for size, extra in zip(array.shape[2:], padding, strict=True)]
    result = memory.empty(shape_of("convolution", (*array.shape[:2], *places)), array.dtype)
    result[...] = 0
    result[tuple(slice(size) for size in array.shape)] = array
    return result


def _channels(inputs: NDArray[Any], filters: NDArray[Any], groups: int, *, transposed: bool) -> int:
    """Return the output channels.

    Raises InputError where filters and groups do not divide them.
    """
    result, (first, second) = inputs.shape[1], filters.shape[:2]
    input_shape, output_shape = (first, second * groups) if transposed else (second * groups, first)
    if groups < 1 or result != input_shape or first % groups:
        raise InputError(
            f"convolution: filters of shape {list(filters.shape)} in {groups} groups do not match {result} channels"
        )
    return int(output_shape)


def _output_size(size: int, window: int, step: _Step, end: int, *, transposed: bool) -> int:
    if step.stride < 1:
        raise InputError(f"convolution: expected strides above 0, found {step.stride}")
    span = (window - 1) * step.dilation + 1
    if transposed:
        return (size - 1) * step.stride + span - step.start - end
    return int((size + step.start + end - span) // step.stride + 1)


def _sum_taps(
    inputs: NDArray[Any],
    filters: NDArray[Any],
    shape: tuple[int, ...],
    steps: Sequence[_Step],
    groups: int,
    *,
    transposed: bool,
) -> NDArray[Any]:
    """Return the convolution as one matrix product per filter element."""
    result = memory.empty(shape, inputs.dtype)  # integers wrap around in their own type
    result[...] = 0
    batch, spatial = shape[0], shape[2:]
    grouped = result.reshape(batch, groups, shape[1] // groups, *spatial)
    grouped_inputs = inputs.reshape(batch, groups, inputs.shape[1] // groups, *inputs.shape[2:])
    weights = filters.reshape(groups, filters.shape[0] // groups, *filters.shape[1:])
    slid, still_sizes = (spatial, inputs.shape[2:]) if transposed else (inputs.shape[2:], spatial)
    for taps in memory.within_time_limit(product(*_overlapping_taps(filters.shape[2:], still_sizes, slid, steps))):
        element, small, large = zip(*taps, strict=True)
        source, target = (small, large) if transposed else (large, small)
        matrix: NDArray[Any] = weights[_ALL + element]
        block: NDArray[Any] = grouped_inputs[_ALL + source]
        flat = block.reshape(*block.shape[:3], prod(block.shape[3:]))
        part = multiply_matrices(np.swapaxes(matrix, 1, 2) if transposed else matrix, flat)
        grouped[_ALL + target] += part.reshape(*part.shape[:3], *block.shape[3:])
    return result


def _find_zero_overlaps(
    input_shape: tuple[int, ...],
    filters: NDArray[Any],
    shape: tuple[int, ...],
    steps: Sequence[_Step],
    groups: int,
    *,
    transposed: bool,
) -> NDArray[np.bool_]:
    """Return where some non-finite filter elements meet no input element."""
    endless = (~np.isfinite(to_float64(filters))).astype(np.float64)
    tap_counts = _sum_taps(
        np.ones((1, *input_shape[1:])), endless, (1, *shape[1:]), steps, groups, transposed=transposed
    )
    infinite_counts = (
        endless.reshape(groups, len(filters) // groups, *filters.shape[1:]).sum(1) if transposed else endless
    )
    counts = (
        infinite_counts.reshape(1, shape[1], prod(infinite_counts.shape) // max(1, shape[1]))
        .sum(-1)
        .reshape(1, shape[1], *(1,) * len(steps))
    )
    return np.broadcast_to(tap_counts < counts, shape)


def _overlapping_taps(
    windows: Sequence[int], still_sizes: Sequence[int], slid: Sequence[int], steps: Sequence[_Step]
) -> list[list[Tap]]:
    """Return the filter elements that meet any input, with both positions.

    The result has one entry per dimension.
    """
    dimensions = []
    for window, few, slid_length, step in zip(windows, still_sizes, slid, steps, strict=True):
        tap_slices = []
        for k in range(window):
            offset = k * step.dilation - step.start
            first = max(0, -(offset // step.stride))
            last = min(few - 1, (slid_length - 1 - offset) // step.stride)
            if first <= last:
                begin, end = first * step.stride + offset, last * step.stride + offset + 1
                tap_slices.append(Tap(k, slice(first, last + 1), slice(begin, end, step.stride)))
        dimensions.append(tap_slices)
    return dimensions


_LIMIT = 2**31
_AUTOMATIC = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


class WindowGeometry(NamedTuple):
    """Padding, stride and window count along each spatial dimension."""

    strides: list[int]
    dilations: list[int]
    start: list[int]
    end: list[int]
    counts: list[int]


def slide_over(
    name: str,
    sizes: Sequence[int],
    window: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    *,
    ceil: bool = False,
    least_dilation: int = 1,
) -> WindowGeometry:
    """Return the paddings for `auto_pad`, and the number of windows.

    Windows start in the input or in the padding before it. With VALID only windows that fit count, whatever `ceil`
    says. With a dilation of 0, if least_dilation allows it, all elements of a window lie at one position.
    """
    rank = len(sizes)
    steps = list(strides) if strides is not None else [1] * rank
    spacing = list(dilations) if dilations is not None else [1] * rank
    pad_list = list(pads) if pads is not None else [0] * (2 * rank)
    same_length(name, rank, strides=steps, dilations=spacing, windows=window)
    same_length(name, 2 * rank, pads=pad_list)
    if rank < 1 or any(n < 1 for n in (*steps, *window)) or any(n < least_dilation for n in spacing):
        raise InputError(
            f"{name}: expected spatial dimensions, windows and strides above 0, dilations from {least_dilation} on"
        )
    if auto_pad not in _AUTOMATIC or any(not 0 <= n < _LIMIT for n in pad_list):
        raise InputError(f"{name}: expected pads of at least 0, and auto_pad in {', '.join(_AUTOMATIC)}")
    if auto_pad != "NOTSET" and pads is not None:
        raise InputError(f"{name}: pads and auto_pad are mutually exclusive")
    slide = WindowGeometry(steps, spacing, pad_list[:rank], pad_list[rank:], [])
    for axis, (size, length, step, gap) in enumerate(zip(sizes, window, steps, spacing, strict=True)):
        span = (length - 1) * gap + 1
        if auto_pad.startswith("SAME"):
            total_padding = max(0, (-(-size // step) - 1) * step + span - size)
            slide.start[axis] = total_padding // 2 if auto_pad == "SAME_UPPER" else total_padding - total_padding // 2
            slide.end[axis] = total_padding - slide.start[axis]
        before, end_pad = slide.start[axis], slide.end[axis]
        left = size + before + end_pad - span
        count = (-(-left // step) if ceil else left // step) + 1
        if ceil and auto_pad == "VALID" and count >= 0:
            count = max(0, left // step + 1)
        elif ceil and (count - 1) * step >= size + before:
            count -= 1
        if count < 0:  # a window too large by less than one stride has no position, but is not an error
            raise InputError(f"{name}: a window of {span} exceeds the padded input size {size + before + end_pad}")
        if count and length >= _LIMIT:
            raise InputError(f"{name}: expected windows below {_LIMIT}, found {length}")
        slide.counts.append(count)
        if count <= 1:  # of any value, possibly beyond int64
            steps[axis] = min(step, _LIMIT)
        if length == 1:
            spacing[axis] = 1
    return slide


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
    """Return the convolution, as in ONNX Conv.

    inputs: [batch, channels, spatial…], as for `convolution`. bias: [output channels]. pads: begin paddings of all
    spatial dimensions, then end paddings. auto_pad: NOTSET, VALID (no padding), SAME_UPPER or SAME_LOWER (output =
    ceil(input / stride), the odd element at the end or at the beginning). window: kernel_shape, if given.
    least_dilation: 0 where all elements of the filters may meet one position.
    """
    _require_window(filters, window)
    spatial, window = inputs.shape[2:], filters.shape[2:]
    slide = slide_over(
        "convolution", spatial, window, strides, dilations, pads, auto_pad, least_dilation=least_dilation
    )
    if not inputs.size or not filters.size or 0 in slide.counts:
        shape = (*inputs.shape[:1], *filters.shape[:1], *slide.counts)
        _require_groups(inputs, filters, groups, filters.shape[1] * groups)
        result = _empty_sum(shape, bias, inputs.dtype)
        endless = ~np.isfinite(to_float64(filters)).all(axis=tuple(range(1, filters.ndim)))
        if endless.any():  # never for integers
            result[:, endless] = np.nan  # reads padding only
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


def conv_transpose(
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
    """Return the transposed convolution, as in ONNX ConvTranspose.

    filters: [input channels, output channels / groups, spatial…]. output_padding: extra positions at the end, fewer
    than the stride or the dilation unless any_output_padding. output_shape: the spatial sizes, from which the paddings
    follow; with SAME_UPPER and SAME_LOWER they are the input's times the strides.
    """
    _require_window(filters, window)
    rank = inputs.ndim - 2
    if any(n >= _LIMIT for n in (*(strides or ()), *(dilations or ()))):
        raise InputError(f"convolution: expected strides and dilations below {_LIMIT}")
    # with NOTSET the windows need not fit into the input side, so only the counts are used
    large = [size + 2 * _LIMIT for size in inputs.shape[2:]]
    slide = slide_over("convolution", large, filters.shape[2:], strides, dilations, pads, "NOTSET")
    output_pads = list(output_padding) if output_padding is not None else [0] * rank
    same_length("convolution", rank, **{"output paddings": output_pads})
    if auto_pad not in _AUTOMATIC or (auto_pad != "NOTSET" and pads is not None):
        raise InputError(f"convolution: expected auto_pad in {', '.join(_AUTOMATIC)}, and pads only with NOTSET")
    bounds = [_LIMIT if any_output_padding else max(pair) for pair in zip(slide.strides, slide.dilations, strict=True)]
    if any(not 0 <= n < bound for n, bound in zip(output_pads, bounds, strict=True)):
        raise InputError(f"convolution: expected output_padding below {bounds}, found {output_pads}")
    numbers = output_shape
    if numbers is None and auto_pad.startswith("SAME"):
        numbers = [size * step for size, step in zip(inputs.shape[2:], slide.strides, strict=True)]
    if numbers is not None:
        same_length("convolution", rank, **{"output sizes": numbers})
    for axis, (size, length) in enumerate(zip(inputs.shape[2:], filters.shape[2:], strict=True)):
        if numbers is not None:
            span = (length - 1) * slide.dilations[axis] + 1
            total_padding = slide.strides[axis] * (size - 1) + output_pads[axis] + span - numbers[axis]
            slide.start[axis] = total_padding // 2 if auto_pad == "SAME_UPPER" else total_padding - total_padding // 2
            slide.end[axis] = total_padding - slide.start[axis]
        slide.end[axis] -= output_pads[axis]
    if not inputs.size or not filters.size:
        _require_groups(inputs, filters, groups, filters.shape[0])
        dims = zip(inputs.shape[2:], filters.shape[2:], *slide[:4], strict=True)
        places = [(size - 1) * step + (n - 1) * gap + 1 - start - end for size, n, step, gap, start, end in dims]
        if min(places) < 0:
            raise InputError(f"convolution: no input gives an output of the sizes {places}")
        return _empty_sum((inputs.shape[0], filters.shape[1] * groups, *places), bias, inputs.dtype)
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


def _require_groups(inputs: NDArray[Any], filters: NDArray[Any], groups: int, channels: int) -> None:
    """Raise InputError for inconsistent groups even if the output is empty."""
    if groups < 1 or filters.shape[0] % groups or inputs.shape[1] != channels or filters.dtype != inputs.dtype:
        raise InputError(
            f"convolution: filters of shape {list(filters.shape)} in {groups} groups do not match the input shape "
            f"{inputs.shape}"
        )


def _require_window(filters: NDArray[Any], window: Sequence[int] | None) -> None:
    if window is not None:
        require_shape("convolution", "filters", filters.shape[2:], window)


def _column(bias: NDArray[Any] | None, channels: int, rank: int) -> NDArray[Any] | None:
    if bias is None:
        return None
    require_shape("convolution", "a bias", bias.shape, (channels,))
    return bias.reshape(1, channels, *(1,) * rank)


def _empty_sum(shape: tuple[int, ...], bias: NDArray[Any] | None, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return an empty sum plus the bias."""
    result = memory.empty(shape, dtype)
    column = _column(bias, shape[1], len(shape) - 2)
    result[...] = 0 if column is None else column
    return result


#: auto_pad of OpenVINO -> that of `windows`.
AUTOMATIC: Final = {"explicit": "NOTSET", "valid": "VALID", "same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER"}


def group_convolution(
    data: NDArray[Any],
    filters: NDArray[Any],
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    auto_pad: str = "explicit",
    grouped: bool = False,
    least_dilation: int = 0,
) -> NDArray[Any]:
    """Return the convolution of `data`, as in OpenVINO Convolution.

    data: [batch, channels, spatial…]. filters: [output channels, channels, spatial…], or if grouped [groups, output
    channels per group, channels per group, spatial…]. begins, ends: the paddings, ignored unless auto_pad is explicit.
    """
    if auto_pad not in AUTOMATIC or filters.ndim < 3 + grouped or filters.ndim != data.ndim + grouped:
        raise InputError(
            f"convolution: filters of rank {filters.ndim} do not match data of rank {data.ndim}, or auto_pad is unknown"
        )
    explicit = auto_pad == "explicit"
    if explicit and not len(begins) == len(ends) == data.ndim - 2:
        raise InputError(f"convolution: expected {data.ndim - 2} paddings at each end")
    groups, flat = _flatten_groups(filters) if grouped else (1, filters)
    return convolve(
        data,
        flat,
        strides=strides,
        dilations=dilations,
        pads=[*begins, *ends] if explicit else None,
        auto_pad=AUTOMATIC[auto_pad],
        groups=groups,
        least_dilation=least_dilation,
    )


def convolution_backprop_data(
    data: NDArray[Any],
    filters: NDArray[Any],
    output_shape: NDArray[Any] | None = None,
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    auto_pad: str = "explicit",
    output_padding: Sequence[int] | None = None,
    grouped: bool = False,
    at_end: bool = False,
) -> NDArray[Any]:
    """Return the transposed convolution (OpenVINO ConvolutionBackpropData).

    data: [batch, channels, spatial…]. filters: [channels, output channels, spatial…], or if grouped [groups, channels
    per group, output channels per group, spatial…]. begins, ends: cropped from the output if auto_pad is explicit, else
    ignored. output_shape: the spatial sizes, from which the crop follows: half at each end, the odd element at the
    beginning with same_upper and else at the end. output_padding: extra positions at the end. at_end: explicit `begins`
    are cropped also with output_shape, and the rest at the end; output beyond the reach of the filters is at the end as
    well.
    """
    if auto_pad not in AUTOMATIC or filters.ndim < 3 + grouped or filters.ndim != data.ndim + grouped:
        raise InputError(
            f"convolution: filters of rank {filters.ndim} do not match data of rank {data.ndim}, or auto_pad is unknown"
        )
    groups, flat = _flatten_groups(filters) if grouped else (1, filters)
    rank = data.ndim - 2
    pads = [0] * (2 * rank)
    if auto_pad == "explicit" and output_shape is None:
        same_length("convolution", rank, **{"start paddings": begins, "end paddings": ends})
        pads = [*begins, *ends]
    sizes = None
    if output_shape is not None:
        if output_shape.ndim != 1 or output_shape.dtype.kind not in "iu":
            raise InputError("convolution: expected the output's sizes as a list of integers")
        sizes = output_shape.tolist()
    output_pads = [0] * rank if output_padding is None else output_padding
    same_length("convolution", rank, strides=strides, dilations=dilations, **{"more places": output_pads})
    if any(n < 1 for n in (*strides, *dilations)) or any(n < 0 for n in (*pads, *output_pads)):
        raise InputError("convolution: expected strides and dilations of at least 1, and paddings of at least 0")
    steps = zip(data.shape[2:], flat.shape[2:], strides, dilations, output_pads, strict=True)
    full_sizes = [step * (size - 1) + (length - 1) * gap + 1 + extra for size, length, step, gap, extra in steps]
    places = sizes or [n - pads[i] - pads[rank + i] for i, n in enumerate(full_sizes)]
    if 0 in places and min(places) >= 0 and len(places) == rank:
        return memory.empty((data.shape[0], flat.shape[1] * groups, *places), data.dtype)
    wider = [0] * rank
    if at_end and sizes is not None and len(sizes) == rank:
        explicit = auto_pad == "explicit"
        same_length("convolution", rank, **{"start paddings": begins})
        first = list(begins) if explicit else [0] * rank
        left = [n - before - size for n, before, size in zip(full_sizes, first, sizes, strict=True)]
        wider = [max(0, -n) for n in left]
        pads = [*first, *(max(0, n) for n in left)]
        sizes = None if explicit else [size - n for size, n in zip(sizes, wider, strict=True)]
        memory.check_budget((data.shape[0], flat.shape[1] * groups, *places), data.dtype)
    array = conv_transpose(
        data,
        flat,
        strides=strides,
        dilations=dilations,
        pads=None if sizes is not None else pads,
        # the other kernel has the odd element at the end with SAME_UPPER
        auto_pad="NOTSET" if sizes is None or auto_pad == "same_upper" else "SAME_UPPER",
        groups=groups,
        output_padding=output_padding,
        output_shape=sizes,
        any_output_padding=True,
    )
    return np.pad(array, [(0, 0), (0, 0), *((0, n) for n in wider)]) if any(wider) else array


def _flatten_groups(filters: NDArray[Any]) -> tuple[int, NDArray[Any]]:
    """Return the group count and the filters of all groups concatenated.

    With 0 groups the result is one group without filters.
    """
    groups, per_group, *rest = filters.shape
    return (groups, filters.reshape(groups * per_group, *rest)) if groups else (1, filters.reshape(0, 0, *rest[1:]))


def binary_convolution(
    data: NDArray[Any],
    filters: NDArray[Any],
    *,
    strides: Sequence[int],
    dilations: Sequence[int],
    begins: Sequence[int],
    ends: Sequence[int],
    auto_pad: str = "explicit",
    around: float = 0.0,
) -> NDArray[Any]:
    """Return matching bits less differing bits, as in BinaryConvolution.

    data: [batch, channels, rows, columns]. filters: [output channels, channels, rows, columns], 1-bit integers or
    booleans. around: the padding value. begins, ends: the paddings, ignored unless auto_pad is explicit. Results are
    masked where numbers other than 0 and 1 meet the filters, and where the type of data does not hold them.
    """
    one_bit = filters.dtype.kind == "b" or integer_range(filters.dtype) == (0, 1)
    if data.ndim != 4 or filters.ndim != 4 or auto_pad not in AUTOMATIC or not one_bit:
        raise InputError("binary convolution: expected 4-D data and filters, and a known auto_pad")
    pads = [*begins, *ends] if auto_pad == "explicit" else None
    slide = slide_over(
        "binary filters", data.shape[2:], filters.shape[2:], strides, dilations, pads, AUTOMATIC[auto_pad],
        least_dilation=0,
    )  # fmt: skip
    padded_shape = [
        before + n + end_pad for n, before, end_pad in zip(data.shape[2:], slide.start, slide.end, strict=True)
    ]
    padded = memory.empty((*data.shape[:2], *padded_shape), np.dtype(np.float64))
    padded[...] = around
    (rows, columns), (top, left) = data.shape[2:], slide.start
    padded[:, :, top : top + rows, left : left + columns] = data
    strange = (padded != 0) & (padded != 1)
    options: dict[str, Any] = {
        "strides": strides,
        "dilations": dilations,
        "auto_pad": "valid",
        "begins": (),
        "ends": (),
    }
    signs = np.where(padded == 1, 1.0, -1.0)
    with memory.ignore_warnings():
        counts = group_convolution(signs, np.where(widen_array(filters) == 1, 1.0, -1.0), **options)
        missing_counts = np.zeros(counts.shape, np.bool_)
        if not is_float(data.dtype):
            ends_of_type = np.iinfo(data.dtype)
            missing_counts = (counts < ends_of_type.min) | (counts > ends_of_type.max)
        if strange.any():
            missing_counts |= (
                group_convolution(strange.astype(np.float64), np.ones((1, *filters.shape[1:])), **options) > 0
            )
        whole_numbers = counts if is_float(data.dtype) else counts.astype(np.int64)
        result = round_to(whole_numbers, data.dtype)
    return np.ma.MaskedArray(result, mask=missing_counts) if missing_counts.any() else result
