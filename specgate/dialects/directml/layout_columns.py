"""Vectorized layout functions of DirectML tensors, one row each."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.rules.column_values import Column, Open, arithmetic, choose, either, equal, product, total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from specgate.rules.columns import Rows

__all__ = ["extent", "minimum_size", "overlapping"]


def extent(_rows: Rows, _bits: int, sizes: Sequence[Any], strides: Sequence[Any] | None) -> Any:
    """Return `primitives.extent` of each row."""
    if strides is None:
        return product(sizes)
    steps = [arithmetic("Mult", arithmetic("Sub", a, 1), b) for a, b in zip(sizes, strides, strict=True)]
    reach = arithmetic("Add", total(steps), 1)
    empty = _empty(sizes)
    if isinstance(empty, bool):
        return 0 if empty else reach
    length = choose(empty, 0, reach)
    if isinstance(length, Column) and length.low is not None:
        length.low = max(length.low, 0)
    return length


def minimum_size(rows: Rows, bits: Any, sizes: Sequence[Any], strides: Sequence[Any] | None) -> Any:
    """Return `vocabulary.minimum_size` of each row."""
    used_bits = arithmetic("Mult", extent(rows, 0, sizes, strides), bits)
    return arithmetic("Mult", arithmetic("FloorDiv", arithmetic("Add", used_bits, 31), 32), 4)


def _empty(sizes: Sequence[Any]) -> Any:
    return reduce(either, (equal(size, 0) for size in sizes), False)


def overlapping(rows: Rows, _bits: int, sizes: Sequence[Any], strides: Sequence[Any] | None) -> Any:
    """Return `primitives.overlapping` of each row."""
    if strides is None or not sizes or _empty(sizes) is True:
        return False
    if sum(_upper_bound(a) * _upper_bound(b) for a, b in zip(sizes, strides, strict=True)) >= 2**62:
        raise Open
    wide_columns = [
        np.stack([_broadcast_value(rows, value) for value in values], axis=1) for values in (sizes, strides)
    ]
    order = np.argsort(wide_columns[1], axis=1)
    size, stride = (np.take_along_axis(columns, order, axis=1) for columns in wide_columns)
    overlaps = np.zeros(rows.count, bool)
    reached_bits = np.zeros(rows.count, np.int64)
    for place in range(len(sizes)):
        counts = size[:, place] > 1
        overlaps |= counts & (stride[:, place] <= reached_bits)
        reached_bits += np.where(counts, (size[:, place] - 1) * stride[:, place], 0)
    return overlaps & ~(wide_columns[0] == 0).any(axis=1)


def _upper_bound(value: Any) -> int:
    """Return the upper bound of a number."""
    return value.high or 0 if isinstance(value, Column) else int(value)


def _broadcast_value(rows: Rows, value: Any) -> NDArray[np.int64]:
    data = value.data if value.__class__ is Column else np.int64(value)
    return np.broadcast_to(data, rows.count).astype(np.int64)
