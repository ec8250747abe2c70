"""Columns of features: chosen, compared, scaled, replaced and put beside each other."""

from __future__ import annotations

from math import floor, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.errors import InputError
from specgate.execution import memory
from specgate.execution.kernels.lookup import places_in
from specgate.execution.kernels.scores import features_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["choose_columns", "divide_rows", "exceeds", "join_columns", "replace_value", "scale_columns"]


def choose_columns(inputs: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Return the elements along the last dimension that `columns` counts, in its order; a list as one row."""
    if not inputs.ndim:
        raise InputError("choose_columns: expected at least one dimension")
    if (columns < 0).any():
        raise InputError("choose_columns: an index is negative")
    places = places_in("choose_columns", columns.reshape(-1), inputs.shape[-1])
    rows = np.atleast_2d(inputs)
    result = memory.empty((*rows.shape[:-1], places.size), inputs.dtype)
    result[...] = rows[..., places]
    return result


def exceeds(inputs: NDArray[Any], *, threshold: float = 0.0) -> NDArray[Any]:
    """Return 1 where an element is larger than the threshold, else 0, in the type of the elements."""
    if inputs.dtype.kind == "i" and not isnan(threshold):
        ends = np.iinfo(inputs.dtype)  # whole numbers are compared exactly
        low = floor(max(min(threshold, 2.0**64), -(2.0**64)))
        above = np.full(inputs.shape, low < ends.min) if not ends.min <= low <= ends.max else inputs > low
    else:
        above = inputs > threshold
    result = memory.empty(inputs.shape, inputs.dtype)
    result[...] = above
    return result


def join_columns(parts: Sequence[NDArray[Any]], *, widths: Sequence[int] | None = None) -> NDArray[np.float32]:
    """Return the columns of all parts beside each other as float32; a list is one row.

    widths: how many columns of each part, filled up with zeros or cut off; as many as it has if left out.
    """
    rows = [np.atleast_2d(part) for part in parts]
    if not rows or any(part.ndim > 2 or not part.size == len(part) * part.shape[1] for part in rows):
        raise InputError("join_columns: expected parts of one or two dimensions")
    if any(part.ndim == 0 for part in parts) or len({len(part) for part in rows}) != 1:
        raise InputError("join_columns: expected parts with as many rows each")
    wide = [part.shape[1] for part in rows] if widths is None else list(widths)
    if len(wide) != len(rows) or min(wide) < 0:
        raise InputError(f"join_columns: expected {len(rows)} widths that are not negative")
    result = memory.empty((len(rows[0]), sum(wide)), np.dtype(np.float32))
    result[...] = 0
    begin = 0
    for part, width in zip(rows, wide, strict=True):
        held = min(width, part.shape[1])
        result[:, begin : begin + held] = part[:, :held]
        begin += width
    return result


def replace_value(
    inputs: NDArray[Any],
    *,
    floats: Sequence[float] | None = None,
    integers: Sequence[int] | None = None,
    replaced_float: float = 0.0,
    replaced_integer: int = 0,
) -> NDArray[Any]:
    """Return the elements, those that equal one value replaced; a nan equals any nan.

    floats, integers: what replaces it, by the kind of the elements: one for all, or one for each place along the last
    dimension.
    """
    new: Any = floats if inputs.dtype.kind == "f" else integers
    old = replaced_float if inputs.dtype.kind == "f" else replaced_integer
    if new is None or len(new) not in {1, inputs.shape[-1] if inputs.ndim else 1}:
        raise InputError(f"replace_value: expected one value of {inputs.dtype}, or one for each feature")
    if inputs.dtype.kind == "i":
        ends = np.iinfo(inputs.dtype)
        if any(not ends.min <= number <= ends.max for number in new):
            raise InputError(f"replace_value: a value is none of {inputs.dtype}")
        at = inputs == old if ends.min <= old <= ends.max else np.zeros(inputs.shape, np.bool_)
    else:
        at = np.isnan(inputs) if isnan(old) else inputs == old
    values = np.array(new).astype(inputs.dtype)
    result = memory.empty(inputs.shape, inputs.dtype)
    result[...] = np.where(at, values if len(values) != 1 else values[0], inputs)
    return result


def scale_columns(
    inputs: NDArray[Any], *, offset: Sequence[float] | None = None, scale: Sequence[float] | None = None
) -> NDArray[np.float32]:
    """Return elements less an offset, times a scale, as float32; one of each, or one for each feature."""
    if inputs.dtype.kind not in "if" or offset is None or scale is None or len(offset) != len(scale):
        raise InputError("scale_columns: expected numbers, and as many offsets as scales")
    if len(scale) != 1 and (not 1 <= inputs.ndim <= 2 or len(scale) != inputs.shape[-1]):
        raise InputError(f"scale_columns: {len(scale)} scales do not fit {list(inputs.shape)}")
    below, times = (np.asarray(each, np.float32).astype(np.float64) for each in (offset, scale))
    result = memory.empty(inputs.shape, np.dtype(np.float32))
    result[...] = (inputs - below) * times if len(scale) != 1 else (inputs - below[0]) * times[0]
    return result


def divide_rows(inputs: NDArray[Any], *, norm: str = "MAX") -> NDArray[np.float32]:
    """Return each row divided by its norm, as float32; a row whose norm is 0 stays.

    norm: MAX, the largest element; L1, the sum of magnitudes; L2, the root of the sum of squares.
    """
    rows = features_of("divide_rows", inputs)
    if norm == "MAX":
        norms = np.fmax.reduce(rows, axis=1, keepdims=True, initial=-np.inf)
        norms = np.where(np.isneginf(norms) & np.isnan(rows).all(axis=1, keepdims=True), np.nan, norms)
    elif norm == "L1":
        norms = np.abs(rows).sum(axis=1, keepdims=True)
    elif norm == "L2":
        norms = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    else:
        raise InputError(f"divide_rows: expected MAX, L1 or L2, found {norm!r:.40}")
    result = memory.empty(inputs.shape, np.dtype(np.float32))
    result[...] = np.divide(rows, norms, out=rows.copy(), where=norms != 0).reshape(inputs.shape)
    return result
