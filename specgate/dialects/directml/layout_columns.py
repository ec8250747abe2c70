"""The functions of a DirectML tensor's layout over columns: of the rows of many descriptors at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from specgate.rules.column_compare import equal
from specgate.rules.column_functions import product_of, sum_of
from specgate.rules.column_values import Broken, Column, Open, choose, either

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from specgate.rules.columns import ColumnRules

__all__ = ["extent", "minimum_size", "overlapping"]


def extent(rows: ColumnRules, _bits: int, sizes: Sequence[Any], strides: Sequence[Any] | None) -> Any:
    """`primitives.extent` of each row."""
    if strides is None:
        return product_of(rows, sizes)
    if len(strides) != len(sizes):
        raise Broken
    steps = [
        rows.computed(ast.Mult, rows.computed(ast.Sub, size, 1), stride)
        for size, stride in zip(sizes, strides, strict=True)
    ]
    reach = rows.computed(ast.Add, sum_of(rows, steps), 1)
    empty = _empty(sizes)
    if isinstance(empty, bool):
        return 0 if empty else reach
    found = choose(empty, 0, reach)
    if isinstance(found, Column) and found.low is not None:
        found.low = max(found.low, 0)
    return found


def minimum_size(rows: ColumnRules, bits: Any, sizes: Sequence[Any], strides: Sequence[Any] | None) -> Any:
    """`vocabulary.minimum_size` of each row."""
    used = rows.computed(ast.Mult, extent(rows, 0, sizes, strides), bits)
    words = rows.computed(ast.FloorDiv, rows.computed(ast.Add, used, 31), 32)
    return rows.computed(ast.Mult, words, 4)


def _empty(sizes: Sequence[Any]) -> Any:
    found: Any = False
    for size in sizes:
        found = either(found, equal(size, 0))
    return found


def overlapping(rows: ColumnRules, _bits: int, sizes: Sequence[Any], strides: Sequence[Any] | None) -> Any:
    """`primitives.overlapping` of each row."""
    if strides is None or _empty(sizes) is True:
        return False
    if len(strides) != len(sizes):
        raise Broken
    bounds = [_most(value) for value in (*sizes, *strides)]
    if sum(a * b for a, b in zip(bounds[: len(sizes)], bounds[len(sizes) :], strict=True)) >= 2**62:
        raise Open
    if not sizes:
        return False
    wide = [np.stack([_spread(rows, value) for value in values], axis=1) for values in (sizes, strides)]
    order = np.argsort(wide[1], axis=1)
    size, stride = (np.take_along_axis(one, order, axis=1) for one in wide)
    found = np.zeros(rows.count, bool)
    reached = np.zeros(rows.count, np.int64)
    for place in range(len(sizes)):
        counts = size[:, place] > 1
        found |= counts & (stride[:, place] <= reached)
        reached += np.where(counts, (size[:, place] - 1) * stride[:, place], 0)
    return found & ~(wide[0] == 0).any(axis=1)


def _most(value: Any) -> int:
    """Return the greatest that a number may be."""
    return value.high or 0 if isinstance(value, Column) else int(value)


def _spread(rows: ColumnRules, value: Any) -> NDArray[np.int64]:
    data = value.data if value.__class__ is Column else np.int64(value)
    return np.broadcast_to(data, rows.count).astype(np.int64)
