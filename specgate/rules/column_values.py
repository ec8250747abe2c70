"""Columnar values of rules: one number or word per row.

A value common to all rows stays a plain Python value. Integers are exact. Their bounds are computed without limits, and
integers that may exceed 64 bits are arrays of Python integers. Bounds often decide a comparison.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

__all__ = [
    "EXACT", "INT64", "Column", "Open", "Words", "among", "arithmetic", "both", "bounded_column", "choose", "column",
    "compare", "either", "equal", "is_column", "is_sequence", "negation", "product", "total", "within",
]  # fmt: skip

INT32: Final = (-(2**31), 2**31 - 1)
INT64: Final = (-(2**63), 2**63 - 1)
#: The largest integer range that float64 represents exactly.
EXACT: Final = 2**53
#: Up to this many words are compared one by one.
_FEW: Final = 12
_COMPUTE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "FloorDiv": operator.floordiv, "Mod": operator.mod,
}  # fmt: skip
_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "Eq": operator.eq, "Lt": operator.lt, "LtE": operator.le, "Gt": operator.gt, "GtE": operator.ge,
}  # fmt: skip

Truth = Any  # a bool, or an array with one bool per row


class Open(Exception):
    """Raised for rows that need evaluation one by one."""


class Column:
    """One number per row, computed when it is first needed.

    Often the bounds suffice. low, high: bounds of integers; None where some values may be floats.
    """

    __slots__ = ("_compute", "_data", "high", "low")

    def __init__(
        self, data: NDArray[Any] | Callable[[], NDArray[Any]], low: int | None = None, high: int | None = None
    ) -> None:
        self._compute: Callable[[], NDArray[Any]] = data if callable(data) else lambda: data
        self._data: NDArray[Any] | None = None
        self.low = low
        self.high = high

    @property
    def data(self) -> NDArray[Any]:
        """The numbers, in 32 bits where the bounds allow, which is twice as fast."""
        if self._data is None:
            data = self._compute()
            kind = _kind_of(self.low, self.high)
            self._data = data if kind is None else data.astype(kind, copy=False)
        return self._data


@dataclass(slots=True, eq=False)
class Words:
    """One word per row, as an index.

    words: those that occur, with their indices. ids: the indices of all words of a call.
    """

    codes: NDArray[Any]
    words: dict[Any, int]
    ids: dict[Any, int]

    def among(self, test: Callable[[Any], bool]) -> Truth:
        """Return for which rows `test` accepts the word."""
        yes = [number for word, number in self.words.items() if test(word)]
        if not yes or len(yes) == len(self.words):
            return bool(yes)
        no = [number for number in self.words.values() if number not in yes]
        fewer = min(yes, no, key=len)
        parts = (self.codes == number for number in fewer)
        rows = np.isin(self.codes, fewer) if len(fewer) > _FEW else reduce(np.logical_or, parts)
        return rows if fewer is yes else ~rows

    def numbers(self, value_of: Callable[[Any], int]) -> Any:
        """Return one number per row, computed from its word."""
        values = {number: value_of(word) for word, number in self.words.items()}

        def look_up() -> NDArray[Any]:
            table = np.zeros(len(self.ids), np.int64)
            table[list(values)] = list(values.values())
            return table.take(self.codes)

        return bounded_column(look_up, min(values.values()), max(values.values()))


def _kind_of(low: int | None, high: int | None) -> type[Any] | None:
    """Return an array type for integers within bounds, None for floats."""
    if low is None or high is None:
        return None
    return next((kind for kind, (least, most) in _KINDS if least <= low and high <= most), object)


_KINDS: Final[tuple[tuple[type[Any], tuple[int, int]], ...]] = ((np.int32, INT32), (np.int64, INT64))


def is_column(value: Any) -> bool:
    """Return whether a value is a number or truth value per row."""
    return value.__class__ is Column or value.__class__ is np.ndarray


def is_sequence(value: Any) -> bool:
    """Return whether a value is a sequence."""
    return isinstance(value, tuple | list | range)


def column(data: NDArray[Any]) -> Any:
    """Return an array as a rule's value, plain where all rows are equal.

    Only integers and truth values become plain values.
    """
    if data.dtype.kind == "f":
        return Column(data)
    if data.dtype.kind == "b":
        return bool(data[0]) if data.all() or not data.any() else data
    return bounded_column(data, int(data.min()), int(data.max()))


def bounded_column(data: NDArray[Any] | Callable[[], NDArray[Any]], low: int, high: int) -> Any:
    """Return integers with known bounds as a rule's value."""
    return Column(data, low, high) if low < high else low


def _numeric(value: Any) -> Column:
    if value.__class__ is Column:
        return value
    if value.__class__ is np.ndarray:
        return Column(value, 0, 1)
    if isinstance(value, float):
        return Column(np.float64(value))  # type: ignore[arg-type]
    if not isinstance(value, int):
        raise TypeError
    return Column(np.array(value, _kind_of(value, value)), value, value)


def _align_columns(left: Column, right: Column) -> tuple[Any, Any]:
    """Return two columns as arrays that numpy compares without rounding."""
    floats = [value for value in (left, right) if value.low is None or value.high is None]
    rounding = (abs(b) > EXACT for value in (left, right) if value not in floats for b in (value.low, value.high))  # type: ignore[arg-type]
    if floats and any(rounding):
        return left.data.astype(object), right.data.astype(object)
    return left.data, right.data


def arithmetic(kind: str, left: Any, right: Any) -> Any:
    """Return left + right and so on; divisors must not be 0."""
    if not (is_column(left) or is_column(right)):
        return _COMPUTE[kind](left, right)
    first, other = _numeric(left), _numeric(right)
    if first.low is None or first.high is None or other.low is None or other.high is None:
        if kind in {"FloorDiv", "Mod"}:
            raise Open  # numpy differs from Python in corner cases
        return Column(lambda: _COMPUTE[kind](*_align_columns(first, other)))
    low, high = _bounds(kind, first.low, first.high, other.low, other.high)
    kinds = [_kind_of(*ends) for ends in ((low, high), (first.low, first.high), (other.low, other.high))]
    kind_of_all = object if object in kinds else np.int64 if np.int64 in kinds else np.int32

    def compute() -> NDArray[Any]:
        data = (value.data.astype(kind_of_all, copy=False) for value in (first, other))
        result: NDArray[Any] = _COMPUTE[kind](*data)
        return result

    return bounded_column(compute, low, high)


def _bounds(kind: str, low: int, high: int, least: int, most: int) -> tuple[int, int]:
    """Return the bounds of a result from those of both operands."""
    if kind == "Mod":
        if low >= 0 and least > 0:
            return (low, high) if high < least else (0, min(high, most - 1))
        return min(least + 1, 0), max(most - 1, 0)
    ends = [least, most, *(number for number in (-1, 1) if least < number < most)]
    corners = [_COMPUTE[kind](a, b) for a in (low, high) for b in ends if b or kind != "FloorDiv"]
    return min(corners), max(corners)


def total(numbers: Iterable[Any]) -> Any:
    """Return the sum, 0 for no numbers."""
    return reduce(lambda left, right: arithmetic("Add", left, right), numbers, 0)


def product(numbers: Iterable[Any]) -> Any:
    """Return the product, 1 for no numbers."""
    items = list(numbers)
    return reduce(lambda left, right: arithmetic("Mult", left, right), items) if items else 1


def compare(kind: str, left: Any, right: Any) -> Truth:
    """Return the result of a comparison per row."""
    if kind in {"NotEq", "NotIn"}:
        return negation(compare(kind.removeprefix("Not"), left, right))
    if kind == "In":
        return reduce(either, (equal(left, item) for item in right), False)
    return equal(left, right) if kind == "Eq" else _compare_numbers(kind, left, right)


def equal(left: Any, right: Any) -> Truth:
    """Return whether two values are equal.

    Values are numbers, words, truth values, or sequences of them.
    """
    if is_sequence(left) and is_sequence(right):
        if len(left) != len(right):
            return False
        return reduce(both, map(equal, left, right), True)
    if right.__class__ is Words:
        left, right = right, left
    if left.__class__ is Words:
        if right.__class__ is Words:
            return not left.words.keys().isdisjoint(right.words) and left.codes == right.codes
        number = left.words.get(right) if isinstance(right, str) else None
        return number is not None and left.codes == number
    if not (is_column(left) or is_column(right)):
        return bool(left == right)
    if any(value is None or isinstance(value, str) or is_sequence(value) for value in (left, right)):
        return False
    return _compare_numbers("Eq", left, right)


def _compare_numbers(kind: str, left: Any, right: Any) -> Truth:
    test = _COMPARE[kind]
    if not (is_column(left) or is_column(right)):
        return test(left, right)
    first, other = _numeric(left), _numeric(right)
    if first.low is not None and first.high is not None and other.low is not None and other.high is not None:
        if kind == "Eq":
            if first.high < other.low or other.high < first.low:
                return False
        elif (settled := test(first.high, other.low)) == test(first.low, other.high):
            return settled
    result = test(*_align_columns(first, other))
    return result.astype(bool) if result.dtype == object else result


def among(value: Any, allowed: frozenset[Any]) -> Truth:
    """Return whether a value is among the allowed values of a row."""
    if value.__class__ is Words:
        return value.among(allowed.__contains__)
    return compare("In", value, allowed) if is_column(value) else value in allowed


def within(value: Any, low: int, high: int | None) -> Truth:
    """Return whether a number is in the allowed range of a row."""
    least = _compare_numbers("GtE", value, low)
    return least if high is None else both(least, _compare_numbers("LtE", value, high))


def both(left: Truth, right: Truth) -> Truth:
    """Return `left and right` of evaluated operands."""
    if left is False or right is False:
        return False
    return right if left is True else left if right is True else left & right


def either(left: Truth, right: Truth) -> Truth:
    """Return `left or right` of evaluated operands."""
    if left is True or right is True:
        return True
    return right if left is False else left if right is False else left | right


def negation(value: Truth) -> Truth:
    """Return `not value`."""
    return not value if isinstance(value, bool) else ~value


def choose(mask: NDArray[np.bool_], left: Any, right: Any) -> Any:
    """Return `left` where the mask is true, else `right`.

    Both are numbers, words, or truth values.
    """
    if left is right:
        return left
    words = next((value for value in (left, right) if value.__class__ is Words), None)
    if words is not None:
        left_words, right_words = (_to_words(value, words.ids) for value in (left, right))
        return Words(
            np.where(mask, left_words.codes, right_words.codes), left_words.words | right_words.words, words.ids
        )
    if isinstance(left, bool | np.ndarray) and isinstance(right, bool | np.ndarray):
        return np.where(mask, left, right)
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        return tuple(choose(mask, a, b) for a, b in zip(left, right, strict=True))
    if any(isinstance(value, str) or value is None for value in (left, right)):
        raise Open
    first, second = _numeric(left), _numeric(right)
    if (first.low is None) is not (second.low is None):
        raise Open  # an integer on one side, a float on the other
    if first.low is None or second.low is None or first.high is None or second.high is None:
        return Column(np.where(mask, first.data, second.data))
    low, high = min(first.low, second.low), max(first.high, second.high)
    return bounded_column(lambda: np.where(mask, first.data, second.data), low, high)


def _to_words(value: Any, ids: dict[Any, int]) -> Words:
    if value.__class__ is Words:
        return value
    if not isinstance(value, str):
        raise Open
    number = ids.setdefault(value, len(ids))
    return Words(np.array(number, np.min_scalar_type(number)), {value: number}, ids)
