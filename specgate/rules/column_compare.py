"""Comparisons of columns; bounds settle most of them without a look at the rows."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from specgate.rules.column_values import INT64, Broken, Column, Open, Words, both, either, exact, is_column, negation

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Below what is beyond.
_SMALLER: Final = 2**61

__all__ = ["among", "compared", "within"]


def compared(op: ast.cmpop, left: Any, right: Any) -> Any:
    """Return what one comparison says of each row."""
    kind = type(op)
    if kind is ast.Eq:
        return equal(left, right)
    if kind is ast.NotEq:
        return negation(equal(left, right))
    if kind is ast.In or kind is ast.NotIn:
        found: Any = False
        for item in _items(right):
            found = either(found, equal(left, item))
        return found if kind is ast.In else negation(found)
    return _ordered(kind, left, right)


def _items(value: Any) -> Any:
    if not _sequence(value):
        raise Broken
    return value


def _sequence(value: Any) -> bool:
    return isinstance(value, tuple | list | range)


def equal(left: Any, right: Any) -> Any:
    """Return whether two values are the same: numbers, words, truth values, or sequences of them."""
    if _sequence(left) and _sequence(right):
        if len(left) != len(right):
            return False
        found: Any = True
        for one, other in zip(left, right, strict=True):
            found = both(found, equal(one, other))
        return found
    if left.__class__ is Words or right.__class__ is Words:
        return _same_word(left, right) if left.__class__ is Words else _same_word(right, left)
    if not (is_column(left) or is_column(right)):
        return bool(left == right)
    for value in (left, right):
        if value is None or isinstance(value, str) or _sequence(value):
            return False
    return _numbers(np.equal, left, right, _apart)


def _same_word(words: Words, other: Any) -> Any:
    if other.__class__ is Words:
        return False if words.words.keys().isdisjoint(other.words) else words.codes == other.codes
    number = words.words.get(other) if isinstance(other, str) else None
    return False if number is None else words.codes == number


def _ordered(kind: type[ast.cmpop], left: Any, right: Any) -> Any:
    if not (is_column(left) or is_column(right)):
        try:
            return _PLAIN[kind](left, right)
        except TypeError as error:
            raise Broken from error
    for value in (left, right):
        if not (is_column(value) or isinstance(value, int | float)):
            raise Broken
    return _numbers(_UFUNCS[kind], left, right, _SETTLED[kind])


def _numbers(
    compare: Callable[[Any, Any], Any], left: Any, right: Any, settled: Callable[[Any, Any, Any, Any], bool | None]
) -> Any:
    lows, highs = zip(*map(_bounds, (left, right)), strict=True)
    for value, high in ((left, highs[1]), (right, highs[0])):
        if value.__class__ is Column and value.beyond is not None and (high is None or high >= _SMALLER):
            raise Open
    if None not in lows:
        known = settled(lows[0], highs[0], lows[1], highs[1])
        if known is not None:
            return known
    elif not (_exact(left) and _exact(right)):
        raise Open  # numpy would round the integers
    return compare(_data(left), _data(right))


def _exact(value: Any) -> bool:
    """Whether float64 has all numbers of a value."""
    if value.__class__ is Column:
        return exact(value)
    return not isinstance(value, int) or (abs(value) < 2**1000 and int(float(value)) == value)


def _bounds(value: Any) -> tuple[int | None, int | None]:
    if value.__class__ is Column:
        return value.low, value.high
    if value.__class__ is np.ndarray:
        return 0, 1
    return (None, None) if isinstance(value, float) else (int(value), int(value))


def _data(value: Any) -> Any:
    if value.__class__ is Column:
        return value.data
    return float(value) if value.__class__ is int and abs(value) > INT64[1] else value


def _apart(low: int, high: int, least: int, most: int) -> bool | None:
    return False if high < least or most < low else None


def _less(low: int, high: int, least: int, most: int) -> bool | None:
    return True if high < least else False if low >= most else None


def _at_most(low: int, high: int, least: int, most: int) -> bool | None:
    return True if high <= least else False if low > most else None


_PLAIN: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_UFUNCS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
}
_SETTLED: Final[Mapping[type[ast.cmpop], Callable[[Any, Any, Any, Any], bool | None]]] = {
    ast.Lt: _less,
    ast.LtE: _at_most,
    ast.Gt: lambda low, high, least, most: _less(least, most, low, high),
    ast.GtE: lambda low, high, least, most: _at_most(least, most, low, high),
}


def among(value: Any, allowed: frozenset[Any]) -> Any:
    """Return whether a value is one of those that a row lists."""
    if value.__class__ is Words:
        return value.among(allowed.__contains__)
    if not is_column(value):
        try:
            return value in allowed
        except TypeError as error:
            raise Broken from error
    found: Any = False
    for item in allowed:
        found = either(found, equal(value, item))
    return found


def within(value: Any, low: int, high: int | None, only: tuple[int, ...] | None) -> Any:
    """Return whether a value is in the range that a row allows."""
    if only is not None:
        return among(value, frozenset(only))
    least = _ordered(ast.GtE, value, low)
    return least if high is None else both(least, _ordered(ast.LtE, value, high))
