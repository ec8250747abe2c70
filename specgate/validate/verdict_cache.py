"""Verdict cache: answers by value, shared by equal nodes of any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from specgate.caching import store_item
from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, FileList, NumberedWord, Symbol, TensorDesc
from specgate.spec.tables import on_change

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

Item = TypeVar("Item")
#: Entries per cache, more than the distinct nodes of the largest models.
_MAX_ENTRIES: Final = 4096
_MAX_ELEMENTS: Final = 256
_MISSING: Final = object()


class NoKey(Exception):
    """Raised for a value that cannot be a cache key, such as a graph."""


def key_of(value: Any, max_items: int = _MAX_ELEMENTS) -> Hashable:
    """Return a hashable key of a value; raise NoKey for unsupported values.

    Keys differ for different types and for 0.0 and -0.0. max_items: the limit on elements of a constant, as longer keys
    cost more than most answers and rarely repeat.
    """
    kind = value.__class__
    if kind is TensorDesc:
        if value.value is None:
            return value is UNSTATED, value  # a tensor without a type is compared by identity
        return _key_of_constant(value, value.value, max_items)
    if kind is list or kind is tuple:
        return kind, *[key_of(item, max_items) for item in value]
    if kind is float:
        return kind, repr(value)
    if kind in _PLAIN_TYPES or value is None or value is UNKNOWN:
        return kind, value
    if isinstance(value, FileList):
        from hashlib import blake2b  # few models have any

        return FileList, value.kind, len(value), blake2b(value.data).digest()  # the key would keep the data alive
    if kind is NumberedWord:
        return kind, int(value), value.word
    if kind is Descriptor and not value.oddities and not value.extra:
        return (
            kind,
            value.dialect,
            value.operator,
            value.version,
            value.layout,
            keys_of(value.fields.items(), max_items),
        )
    raise NoKey


def _key_of_constant(tensor: TensorDesc, elements: Any, max_items: int) -> Hashable:
    """Return a key that separates 0.0 from -0.0, and 1 from true."""
    if len(elements) > max_items:
        raise NoKey
    kinds = set(map(type, elements)) if elements.__class__ is tuple else ()
    if kinds == {float}:
        from array import array  # numpy may not be installed

        return tensor._replace(value=None), array("d", elements).tobytes()
    return tensor, kinds.pop() if len(kinds) == 1 else repr(elements)


def keys_of(items: Iterable[tuple[str, Any]], max_items: int = _MAX_ELEMENTS) -> tuple[Hashable, ...]:
    """Return the key of each value with its name."""
    return tuple([(name, key_of(value, max_items)) for name, value in items])


_PLAIN_TYPES: Final = frozenset({int, bool, str, bytes, Symbol})


class Memo(Generic[Item]):
    """Cached answers by key, cleared when the tables change or it is full."""

    def __init__(self) -> None:
        self._items: dict[Hashable, Item | object] = {}
        on_change(self._items.clear)

    def of(self, key: Callable[[], Hashable], make: Callable[[], Item]) -> Item:
        """Return the cached answer of `make`; compute it without a key."""
        try:
            hashable = key()
        except NoKey:
            return make()
        result = self._items.get(hashable, _MISSING)
        if result is _MISSING:
            result = store_item(self._items, hashable, make(), _MAX_ENTRIES)
        return result  # type: ignore[return-value]  # not the missing marker
