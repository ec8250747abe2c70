"""Convolutions whose paddings are two lists, or follow from the sizes, and whose groups are a dimension of filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import same_length
from specgate.execution.kernels.windows import convolve, convolve_transposed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["AUTOMATIC", "slide_filters", "slide_filters_back"]

#: Words for how paddings are found -> those of `windows`.
AUTOMATIC: Final = {"explicit": "NOTSET", "valid": "VALID", "same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER"}


def slide_filters(
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
    """Return the convolution of `data` [batch, channels, spatial…] as `convolve` does.

    filters: [output channels, channels, spatial…], or if grouped [groups, output channels of a group, channels of a
    group, spatial…]. begins, ends: the paddings, without effect unless auto_pad is explicit.
    """
    if auto_pad not in AUTOMATIC or filters.ndim < 3 + grouped or filters.ndim != data.ndim + grouped:
        raise InputError(f"convolution: {filters.ndim} dimensions do not fit {data.ndim}, or auto_pad is unknown")
    explicit = auto_pad == "explicit"
    if explicit and not len(begins) == len(ends) == data.ndim - 2:
        raise InputError(f"convolution: expected {data.ndim - 2} paddings at each end")
    groups, flat = _flat(filters) if grouped else (1, filters)
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


def slide_filters_back(
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
    """Return the transposed convolution of `data` [batch, channels, spatial…].

    filters: [channels, output channels, spatial…], or if grouped [groups, channels of a group, output channels of a
    group, spatial…]. begins, ends: what is taken away, nothing unless auto_pad is explicit. output_shape: the spatial
    sizes, which then say what is taken away: half of it at each end, the odd one at the beginning with same_upper and
    else at the end. output_padding: so many more places at the end. at_end: explicit `begins` are taken away
    also with output_shape, and the rest at the end; what it has beyond the reach of the filters comes there, too.
    """
    if auto_pad not in AUTOMATIC or filters.ndim < 3 + grouped or filters.ndim != data.ndim + grouped:
        raise InputError(f"convolution: {filters.ndim} dimensions do not fit {data.ndim}, or auto_pad is unknown")
    groups, flat = _flat(filters) if grouped else (1, filters)
    rank = data.ndim - 2
    pads = [0] * (2 * rank)
    if auto_pad == "explicit" and output_shape is None:
        same_length("convolution", rank, **{"paddings before": begins, "paddings behind": ends})
        pads = [*begins, *ends]
    sizes = None
    if output_shape is not None:
        if output_shape.ndim != 1 or output_shape.dtype.kind not in "iu":
            raise InputError("convolution: expected the output's sizes as a list of integers")
        sizes = output_shape.tolist()
    more = [0] * rank if output_padding is None else output_padding
    same_length("convolution", rank, strides=strides, dilations=dilations, **{"more places": more})
    steps = zip(data.shape[2:], flat.shape[2:], strides, dilations, more, strict=True)
    whole = [step * (size - 1) + (length - 1) * gap + 1 + extra for size, length, step, gap, extra in steps]
    places = sizes or [n - pads[i] - pads[rank + i] for i, n in enumerate(whole)]
    if 0 in places and min(places) >= 0 and len(places) == rank:
        return memory.empty((data.shape[0], flat.shape[1] * groups, *places), data.dtype)
    wider = [0] * rank
    if at_end and sizes is not None and len(sizes) == rank:
        explicit = auto_pad == "explicit"
        same_length("convolution", rank, **{"paddings before": begins})
        first = list(begins) if explicit else [0] * rank
        left = [n - before - size for n, before, size in zip(whole, first, sizes, strict=True)]
        wider = [max(0, -n) for n in left]
        pads = [*first, *(max(0, n) for n in left)]
        sizes = None if explicit else [size - n for size, n in zip(sizes, wider, strict=True)]
        memory.hold((data.shape[0], flat.shape[1] * groups, *places), data.dtype)
    found = convolve_transposed(
        data,
        flat,
        strides=strides,
        dilations=dilations,
        pads=None if sizes is not None else pads,
        # the other kernel has the odd one at the end with SAME_UPPER
        auto_pad="NOTSET" if sizes is None or auto_pad == "same_upper" else "SAME_UPPER",
        groups=groups,
        output_padding=output_padding,
        output_shape=sizes,
        any_output_padding=True,
    )
    return np.pad(found, [(0, 0), (0, 0), *((0, n) for n in wider)]) if any(wider) else found


def _flat(filters: NDArray[Any]) -> tuple[int, NDArray[Any]]:
    """Return how many groups there are, and the filters of all of them one behind the other; of none, none in one."""
    groups, each, *rest = filters.shape
    return (groups, filters.reshape(groups * each, *rest)) if groups else (1, filters.reshape(0, 0, *rest[1:]))
