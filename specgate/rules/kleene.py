"""Strong Kleene logic: comparisons and decisions on unknown values."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import Symbol
from specgate.rules.language import UNKNOWN, Undefined, known, number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["COMPARISONS", "decide", "equal"]


def decide(values: Iterable[Any], *, decisive: bool) -> Any:
    """Return `decisive` if any value is, UNKNOWN if one may be, else not it."""
    unknown = False
    try:
        for value in values:
            if value is UNKNOWN:
                unknown = True
            elif value is decisive:
                return decisive
    except Undefined:
        if not unknown:
            raise
        return UNKNOWN  # when it is known, an earlier part may decide first
    return UNKNOWN if unknown else not decisive


def equal(left: Any, right: Any) -> Any:
    """Return whether two values are equal, UNKNOWN where undecided."""
    if left.__class__ is int and right.__class__ is int:  # the common case
        return left == right
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    if isinstance(left, tuple | list | range) and isinstance(right, tuple | list | range):
        if len(left) != len(right):
            return False
        parts = (equal(known(a), known(b)) for a, b in zip(left, right, strict=True))
        return decide(parts, decisive=False)
    if isinstance(left, str) != isinstance(right, str):
        return UNKNOWN  # a symbolic size compared with a number
    if isinstance(left, Symbol) or isinstance(right, Symbol):
        return True if left == right else UNKNOWN
    return left == right


def _different(left: Any, right: Any) -> Any:
    same = equal(left, right)
    return same if same is UNKNOWN else not same


def _in(left: Any, right: Any) -> Any:
    if right is UNKNOWN:
        return UNKNOWN
    return decide((equal(left, known(item)) for item in right), decisive=True)


def _not_in(left: Any, right: Any) -> Any:
    result = _in(left, right)
    return result if result is UNKNOWN else not result


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], Any]:
    def ordered(left: Any, right: Any) -> Any:
        if left.__class__ is int and right.__class__ is int:
            return compare(left, right)
        return compare(left, right) if number(left) and number(right) else UNKNOWN

    return ordered


#: The function of each comparison operator.
COMPARISONS: Final[Mapping[type[ast.cmpop], Callable[[Any, Any], Any]]] = {
    ast.Eq: equal,
    ast.NotEq: _different,
    ast.In: _in,
    ast.NotIn: _not_in,
    ast.Lt: _ordered(operator.lt),
    ast.LtE: _ordered(operator.le),
    ast.Gt: _ordered(operator.gt),
    ast.GtE: _ordered(operator.ge),
}
