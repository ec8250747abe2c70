"""Caches without locks, which a fork or a waiting thread could block.

The caches are bounded: `store_item` and `get_cache` clear a cache that has grown too large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

T = TypeVar("T")
Key = TypeVar("Key")
Item = TypeVar("Item")


def store_item(cache: dict[Key, Item], key: Key, result: Item, limit: int) -> Item:
    """Store a value by its key and return it.

    If the cache already contains `limit` values, it is cleared first.
    """
    if len(cache) >= limit:
        cache.clear()
    cache[key] = result
    return result


def get_cache(caches: dict[T, dict[Key, Item]], name: T, limit: int) -> dict[Key, Item]:
    """Return the cache of a name, for the caller to fill.

    If the caches of all names together contain `limit` values, they are cleared first.
    """
    if sum(map(len, caches.values())) + len(caches) >= limit:
        caches.clear()
    return caches.setdefault(name, {})


class cached_property(Generic[T]):  # noqa: N801  # named like the class of functools that it replaces
    """`functools.cached_property` of Python 3.12, for Python 3.11.

    The version of Python 3.11 has one lock for all instances of a class. Here, two threads may both compute a value;
    both get the value that was stored first.
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
