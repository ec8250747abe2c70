"""The rows of a block while a check is made of them: which are asked, which are settled, and exact arithmetic."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.rules.column_values import (
    INT32,
    INT64,
    Broken,
    Column,
    Open,
    bounded,
    choose,
    exact,
    fits,
    is_column,
    numeric,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

__all__ = ["Rows"]

#: Up to here a product of float64 says for certain that integers do not overflow.
_SURE: Final = 2**62
_SURE_BOUND: Final = _SURE + 2**20

Truth = Any  # bool, or an array of bool with one for each row


class Rows:
    """The rows of a block while a check is made of them.

    count: how many. broken: where something could not be computed, which refuses. open: where the check says nothing.
    Both are of the rows that came so far: `conditions` says which rows a part of a rule is asked for at all.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.conditions: list[tuple[NDArray[np.bool_], bool]] = []
        self.broken: NDArray[np.bool_] | None = None
        self.open: NDArray[np.bool_] | None = None
        self.marks = 0

    def asked(self, where: Truth) -> NDArray[np.bool_]:
        """Return those of `where` that are asked."""
        found = np.full(self.count, True) if where is True else where.copy()
        for mask, negated in self.conditions:
            found &= ~mask if negated else mask
        return found

    def breaks(self, where: Truth) -> None:
        """Note rows for which there is no result."""
        self.marks += 1
        found = self.asked(where)
        self.broken = found if self.broken is None else self.broken | found

    def leaves(self, where: Truth) -> None:
        """Note rows whose result is not known to be right."""
        self.marks += 1
        found = self.asked(where)
        self.open = found if self.open is None else self.open | found

    def noted(self) -> tuple[Truth, Truth]:
        """Return which rows are broken and which are open, and forget them: a check is over."""
        found = tuple(False if rows is None else rows for rows in (self.broken, self.open))
        self.broken = self.open = None
        return found[0], found[1]

    def where(self, mask: Truth, part: Callable[[], Any], *, negated: bool = False) -> Any:
        """Return what `part` gives for the rows of `mask` (or the others); None where all of them are noted already."""
        self.conditions.append((mask, negated))
        try:
            return part()
        except Broken:
            self.breaks(True)
        except Open:
            self.leaves(True)
        finally:
            self.conditions.pop()
        return None

    def computed(self, kind: type[ast.operator], left: Any, right: Any) -> Any:
        """Return left + right and so on."""
        if not (is_column(left) or is_column(right)):
            try:
                return _PLAIN[kind](left, right)
            except (ArithmeticError, TypeError, ValueError) as error:
                raise Broken from error
        one, other = numeric(left), numeric(right)
        grows = kind in _GROWING and one.low is not None and one.low >= 0 and other.low is not None and other.low >= 0
        if not grows:
            for beyond in (one.beyond, other.beyond):
                if beyond is not None:
                    self.leaves(beyond)
        if one.low is None or other.low is None:
            return _floats(kind, one, other)
        if kind in _DIVISIONS:
            other = self._divisor(other)
            if one.low >= 0 and one.high < other.low:  # type: ignore[operator]  # integers
                return left if kind is ast.Mod else 0
        if not (fits(one) and fits(other)):
            raise Open
        low, high = _BOUNDS[kind](one, other)
        if low < INT64[0] or high > INT64[1] or (grows and (one.beyond is not None or other.beyond is not None)):
            found = self._wide(kind, one, other, grows=grows)
            found.low, found.high = max(low, -_SURE_BOUND), min(high, _SURE_BOUND)
            return found
        return bounded(lambda: _compute(kind, one, other, low, high), low, high)

    def _divisor(self, one: Column) -> Column:
        """Return it with 1 instead of 0, by which nothing is divided."""
        assert one.low is not None and one.high is not None  # integers  # noqa: S101, PT018
        if one.low > 0 or one.high < 0:
            return one
        zero = one.data == 0
        if zero.ndim == 0:
            if zero:
                raise Broken
            return one
        if zero.any():
            self.breaks(zero)
        return Column(np.where(zero, one.data.dtype.type(1), one.data), min(one.low, 1), max(one.high, 1))

    def _wide(self, kind: type[ast.operator], one: Column, other: Column, *, grows: bool) -> Column:
        """Compute what may not fit 64 bits; rows where it might not are open, or beyond where it only grows."""
        about = _UFUNCS[kind](one.data.astype(np.float64), other.data.astype(np.float64))
        data = _UFUNCS[kind](one.data.astype(np.int64), other.data.astype(np.int64))
        risky = ~(np.abs(about) < _SURE)
        if not risky.any():
            return Column(data, None, None)
        if grows:
            data[risky] = _SURE
            return Column(data, None, None, risky)
        self.leaves(risky)
        return Column(data, None, None)

    def at(self, sequence: tuple[Any, ...], index: Any) -> Any:
        """Return an element of a sequence, another one for each row where the index is a column."""
        if not isinstance(index, Column):
            if index.__class__ is not int or not 0 <= index < len(sequence):
                raise Broken
            return sequence[index]
        if index.low is None or index.high is None:
            raise Open
        if not sequence or index.high < 0 or index.low >= len(sequence):
            raise Broken
        if index.low < 0 or index.high >= len(sequence):
            self.breaks((index.data < 0) | (index.data >= len(sequence)))
        first, last = max(index.low, 0), min(index.high, len(sequence) - 1)
        found = sequence[last]
        for place in range(first, last):
            found = choose(index.data == place, sequence[place], found)
        return found


def _floats(kind: type[ast.operator], one: Column, other: Column) -> Column:
    """Floats are computed with as Python does it, but for quotients, where it differs in corners."""
    if not (exact(one) and exact(other)):
        raise Open
    if kind is ast.FloorDiv or (kind is ast.Mod and (other.data.ndim or not other.data)):
        raise Open
    return Column(_UFUNCS[kind](one.data.astype(np.float64), other.data.astype(np.float64)), None, None)


def _compute(kind: type[ast.operator], one: Column, other: Column, low: int, high: int) -> NDArray[Any]:
    bounds = [bound for value in (one, other) for bound in (value.low, value.high) if bound is not None]
    small = min(low, *bounds) >= INT32[0] and max(high, *bounds) <= INT32[1]
    kinds = np.int32 if small else np.int64
    left, right = one.data.astype(kinds, copy=False), other.data.astype(kinds, copy=False)
    found: NDArray[Any] = _UFUNCS[kind](left, right)
    return found


def _sums(one: Any, other: Any) -> tuple[int, int]:
    return one.low + other.low, one.high + other.high


def _differences(one: Any, other: Any) -> tuple[int, int]:
    return one.low - other.high, one.high - other.low


def _products(one: Any, other: Any) -> tuple[int, int]:
    corners = [a * b for a in (one.low, one.high) for b in (other.low, other.high)]
    return min(corners), max(corners)


def _quotients(one: Any, other: Any) -> tuple[int, int]:
    if one.low >= 0 and other.low > 0:
        return one.low // other.high, one.high // other.low
    most = max(abs(one.low), abs(one.high))
    return -most - 1, most


def _remainders(one: Any, other: Any) -> tuple[int, int]:
    if one.low >= 0 and other.low > 0:
        return 0, min(one.high, other.high - 1)
    return min(other.low + 1, 0), max(other.high - 1, 0)


_PLAIN: Final[Mapping[type[ast.operator], Callable[[Any, Any], Any]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UFUNCS: Final[Mapping[type[ast.operator], Callable[..., Any]]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.FloorDiv: np.floor_divide,
    ast.Mod: np.remainder,
}
_BOUNDS: Final[Mapping[type[ast.operator], Callable[[Any, Any], tuple[int, int]]]] = {
    ast.Add: _sums,
    ast.Sub: _differences,
    ast.Mult: _products,
    ast.FloorDiv: _quotients,
    ast.Mod: _remainders,
}
#: What makes numbers from 0 on no smaller, or 0.
_GROWING: Final = frozenset({ast.Add, ast.Mult})
_DIVISIONS: Final = frozenset({ast.FloorDiv, ast.Mod})
