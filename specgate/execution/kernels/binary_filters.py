"""Convolutions of zeros and ones that stand for -1 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.arithmetic import is_float, round_to
from specgate.execution.kernels.narrow import widened
from specgate.execution.kernels.sliding_filters import AUTOMATIC, slide_filters
from specgate.execution.kernels.windows import slide_over
from specgate.execution.types import integer_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["slide_binary"]


def slide_binary(
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
    """Return how many bits of `data` [batch, channels, rows, columns] and of the filters agree, less those that differ.

    filters: [output channels, channels, rows, columns], integers of one bit or truth values. around: what the padding
    holds. begins, ends: the paddings, without effect unless auto_pad is explicit. Results are masked where other
    numbers than 0 and 1 meet the filters, and where the type of data does not hold them.
    """
    one_bit = filters.dtype.kind == "b" or integer_range(filters.dtype) == (0, 1)
    if data.ndim != 4 or filters.ndim != 4 or auto_pad not in AUTOMATIC or not one_bit:
        raise InputError("binary filters: expected data and bits of four dimensions, and a word for auto_pad")
    pads = [*begins, *ends] if auto_pad == "explicit" else None
    slide = slide_over(
        "binary filters", data.shape[2:], filters.shape[2:], strides, dilations, pads, AUTOMATIC[auto_pad],
        least_dilation=0,
    )  # fmt: skip
    whole = [before + n + behind for n, before, behind in zip(data.shape[2:], slide.start, slide.end, strict=True)]
    padded = memory.empty((*data.shape[:2], *whole), np.dtype(np.float64))
    padded[...] = around
    (rows, columns), (top, left) = data.shape[2:], slide.start
    padded[:, :, top : top + rows, left : left + columns] = data
    strange = (padded != 0) & (padded != 1)
    how: dict[str, Any] = {"strides": strides, "dilations": dilations, "auto_pad": "valid", "begins": (), "ends": ()}
    signs = np.where(padded == 1, 1.0, -1.0)
    with memory.quiet():
        counts = slide_filters(signs, np.where(widened(filters) == 1, 1.0, -1.0), **how)
        lacking = np.zeros(counts.shape, np.bool_)
        if not is_float(data.dtype):
            ends_of_type = np.iinfo(data.dtype)
            lacking = (counts < ends_of_type.min) | (counts > ends_of_type.max)
        if strange.any():
            lacking |= slide_filters(strange.astype(np.float64), np.ones((1, *filters.shape[1:])), **how) > 0
        whole_numbers = counts if is_float(data.dtype) else counts.astype(np.int64)
        result = round_to(whole_numbers, data.dtype)
    return np.ma.MaskedArray(result, mask=lacking) if lacking.any() else result
