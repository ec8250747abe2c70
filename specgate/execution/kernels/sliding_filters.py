"""Convolutions whose paddings are two lists, or follow from the sizes, and whose groups are a dimension of filters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.errors import InputError
from specgate.execution.kernels.windows import convolve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["AUTOMATIC", "slide_filters"]

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


def _flat(filters: NDArray[Any]) -> tuple[int, NDArray[Any]]:
    """Return how many groups there are, and the filters of all of them one behind the other; of none, none in one."""
    groups, each, *rest = filters.shape
    return (groups, filters.reshape(groups * each, *rest)) if groups else (1, filters.reshape(0, 0, *rest[1:]))
