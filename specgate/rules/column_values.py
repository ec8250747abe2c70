"""Values of rules over many descriptors at once: a number or word for each row, with bounds that settle most questions.

What is the same for all rows stays a plain value of Python. Integers are exact: bounds are computed without limits, and
rows whose result might not fit 64 bits are left open, to be judged one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "EXACT", "INT32", "INT64", "Broken", "Column", "Open", "Words", "both", "bounded", "choose", "column", "either",
    "exact", "fits", "flag_column", "is_column", "negation", "numeric",
]  # fmt: skip

INT32: Final = (-(2**31), 2**31 - 1)
INT64: Final = (-(2**63), 2**63 - 1)
#: Up to here float64 has every integer.
EXACT: Final = 2**53
#: So many words are looked for one after the other.
_FEW: Final = 12

Truth = Any  # bool, or an array of bool with one for each row


class Broken(Exception):
    """What all rows that are asked would fail to compute: a check refuses them."""


class Open(Exception):
    """What is not written for columns: the rows that are asked are judged one by one."""


class Column:
    """A number for each row, computed when it is first looked at: its bounds often say enough.

    low, high: bounds of integers, which are as exact as they are; None for floats. beyond: rows whose number is at
    least about 2**62, where `data` has some such number, not this one.
    """

    __slots__ = ("_compute", "_data", "beyond", "high", "low")

    def __init__(
        self,
        data: NDArray[Any] | Callable[[], NDArray[Any]],
        low: int | None,
        high: int | None,
        beyond: NDArray[np.bool_] | None = None,
    ) -> None:
        self._compute: Callable[[], NDArray[Any]] = data if callable(data) else lambda: data
        self._data: NDArray[Any] | None = None
        self.low = low
        self.high = high
        self.beyond = beyond

    @property
    def data(self) -> NDArray[Any]:
        """The numbers; integers in 32 bits where the bounds allow it, which takes half the time."""
        found = self._data
        if found is None:
            found = self._compute()
            small = self.low is not None and self.high is not None and INT32[0] <= self.low and self.high <= INT32[1]
            self._data = found = found.astype(np.int32, copy=False) if small else found
        return found


@dataclass(slots=True, eq=False)
class Words:
    """A word for each row, by its number.

    words: those that occur, with their numbers. ids: the numbers of all words of a call.
    """

    codes: NDArray[Any]
    words: dict[Any, int]
    ids: dict[Any, int]

    def among(self, test: Callable[[Any], bool]) -> Truth:
        """Return for which rows `test` says yes of the word."""
        yes = [number for word, number in self.words.items() if test(word)]
        if not yes or len(yes) == len(self.words):
            return bool(yes)
        no = [number for number in self.words.values() if number not in yes]
        found = self._one_of(min(yes, no, key=len))
        return found if len(yes) <= len(no) else ~found

    def _one_of(self, numbers: list[int]) -> NDArray[np.bool_]:
        if len(numbers) > _FEW:
            return np.isin(self.codes, numbers)
        found: NDArray[np.bool_] = self.codes == numbers[0]
        for number in numbers[1:]:
            found |= self.codes == number
        return found

    def numbers(self, values: Callable[[Any], int]) -> Any:
        """Return what `values` says of the word of each row, as a value of rules."""
        given = {number: values(word) for word, number in self.words.items()}

        def looked_up() -> NDArray[Any]:
            table = np.zeros(len(self.ids), np.int64)
            table[list(given)] = list(given.values())
            return table.take(self.codes)

        return bounded(looked_up, min(given.values()), max(given.values()))


def is_column(value: Any) -> bool:
    """Return whether a value is one for each row."""
    return value.__class__ is Column or value.__class__ is np.ndarray


def column(data: NDArray[Any]) -> Any:
    """Return the numbers of an array as a value of rules; a plain one where all are the same."""
    if data.dtype.kind == "f":
        return Column(data, None, None)
    return bounded(data, int(data.min()), int(data.max()))


def bounded(data: NDArray[Any] | Callable[[], NDArray[Any]], low: int, high: int) -> Any:
    """Return integers that lie within bounds as a value of rules."""
    return Column(data, low, high) if low < high else low


def flag_column(data: NDArray[np.bool_]) -> Truth:
    """Return an array of truth values as a value of rules."""
    return bool(data[0]) if data.all() or not data.any() else data


def numeric(value: Any) -> Column:
    if value.__class__ is Column:
        return value
    if value.__class__ is np.ndarray:
        return Column(value.astype(np.int32), 0, 1)
    if value.__class__ is float:
        return Column(np.float64(value), None, None)  # type: ignore[arg-type]
    if not isinstance(value, int):
        raise Broken
    number: Any = np.int64(value) if INT64[0] <= value <= INT64[1] else np.float64("nan")  # see `fits`
    return Column(number, value, value)


def fits(value: Column) -> bool:
    """Whether its numbers are ones that 64 bits hold."""
    return value.low is None or value.high is None or (INT64[0] <= value.low and value.high <= INT64[1])


def exact(value: Column) -> bool:
    """Whether float64 has all its numbers."""
    return value.low is None or value.high is None or (value.low >= -EXACT and value.high <= EXACT)


def both(left: Truth, right: Truth) -> Truth:
    """Return `left and right`, each known already."""
    if left is False or right is False:
        return False
    return right if left is True else left if right is True else left & right


def either(left: Truth, right: Truth) -> Truth:
    """Return `left or right`, each known already."""
    if left is True or right is True:
        return True
    return right if left is False else left if right is False else left | right


def negation(value: Truth) -> Truth:
    """Return `not value`."""
    return not value if isinstance(value, bool) else ~value


def choose(mask: NDArray[np.bool_], left: Any, right: Any) -> Any:
    """Return `left` where the mask holds, else `right`: both numbers, both words, or both truth values."""
    if left is right:
        return left
    words = next((value for value in (left, right) if value.__class__ is Words), None)
    if words is not None:
        one, other = (_worded(value, words.ids) for value in (left, right))
        return Words(np.where(mask, one.codes, other.codes), one.words | other.words, words.ids)
    if isinstance(left, bool | np.ndarray) and isinstance(right, bool | np.ndarray):
        return np.where(mask, left, right)
    if isinstance(left, str) or isinstance(right, str) or left is None or right is None:
        raise Open
    if isinstance(left, tuple) and isinstance(right, tuple) and len(left) == len(right):
        return tuple(choose(mask, a, b) for a, b in zip(left, right, strict=True))
    first, second = numeric(left), numeric(right)
    if first.low is None and second.low is None:
        return Column(np.where(mask, first.data, second.data), None, None)
    if first.low is None or first.high is None or second.low is None or second.high is None:
        raise Open  # a whole number here, a float there
    if not (fits(first) and fits(second)):
        raise Open
    low, high = min(first.low, second.low), max(first.high, second.high)
    kind = np.int32 if low >= INT32[0] and high <= INT32[1] else np.int64

    def chosen() -> NDArray[Any]:
        return np.where(mask, *(value.data.astype(kind, copy=False) for value in (first, second)))

    if first.beyond is None and second.beyond is None:
        return bounded(chosen, low, high)
    beyond = [False if value.beyond is None else value.beyond for value in (first, second)]
    return Column(chosen, low, high, np.where(mask, *beyond))


def _worded(value: Any, ids: dict[Any, int]) -> Words:
    if value.__class__ is Words:
        return value
    if not isinstance(value, str):
        raise Open
    number = ids.setdefault(value, len(ids))
    return Words(np.array(number, np.min_scalar_type(number)), {value: number}, ids)
