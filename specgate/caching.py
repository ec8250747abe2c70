"""Values computed once, without a lock that one thread could hold while another one forks or waits for it.

What is kept from one question for the next has an end: `keep` and `shelf` begin anew where it is too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

__all__ = ["cached_property", "keep", "shelf"]

T = TypeVar("T")
Key = TypeVar("Key")
Made = TypeVar("Made")


def keep(known: dict[Key, Made], key: Key, result: Made, most: int) -> Made:
    """Keep a value by its key and return it; where there are `most` already, all of them go before."""
    if len(known) >= most:
        known.clear()
    known[key] = result
    return result


def shelf(shelves: dict[T, dict[Key, Made]], name: T, most: int) -> dict[Key, Made]:
    """Return the values under a name, to be filled; where all names together have `most`, all of them go before."""
    if sum(map(len, shelves.values())) + len(shelves) >= most:
        shelves.clear()
    return shelves.setdefault(name, {})


class cached_property(Generic[T]):  # noqa: N801  # it takes the place of functools'
    """As `functools.cached_property` of Python 3.12: that of 3.11 has one lock for all instances of a class.

    Two threads may both compute a value; each gets the one that was there first.
    """

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type[Any]) -> T: ...

    def __get__(self, instance: object | None, owner: type[Any]) -> Self | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self.name, self.function(instance))
        return value
