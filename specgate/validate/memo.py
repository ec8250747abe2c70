"""What is worth keeping from one node for the next that is equal, in this model or another: answers, by value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from specgate.caching import keep
from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, FileList, Numbered, Symbol, TensorDesc
from specgate.spec.tables import on_change

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

__all__ = ["Memo", "key_of", "keys_of"]

Made = TypeVar("Made")
#: How many answers each of them keeps: more than the largest models have nodes that differ.
_MOST: Final = 4096
_MOST_ELEMENTS: Final = 256
_MISSING: Final = object()


class NoKey(Exception):
    """A value that no key is made of, such as a graph."""


def key_of(value: Any, most: int = _MOST_ELEMENTS) -> Hashable:
    """Return what is equal for values that are alike in all that counts; raise NoKey for one that is not known here.

    Types count, and the sign of a zero. most: of the elements of a constant; the key of more costs more than most
    answers, and hardly another model has the same.
    """
    kind = value.__class__
    if kind is TensorDesc:
        if value.value is None:
            return value is UNSTATED, value  # a tensor without any type is known by identity
        return _key_of_constant(value, value.value, most)
    if kind is list or kind is tuple:
        return kind, *[key_of(one, most) for one in value]
    if kind is float:
        return kind, repr(value)
    if kind in _PLAIN or value is None or value is UNKNOWN:
        return kind, value
    if isinstance(value, FileList):
        from hashlib import blake2b  # few models have any

        return FileList, value.kind, len(value), blake2b(value.data).digest()  # the data itself would be kept
    if kind is Numbered:
        return kind, int(value), value.word
    if kind is Descriptor and not value.oddities and not value.extra:
        return kind, value.dialect, value.operator, value.version, value.layout, keys_of(value.fields.items(), most)
    raise NoKey


def _key_of_constant(tensor: TensorDesc, elements: Any, most: int) -> Hashable:
    """Return a key that tells 0.0 from -0.0, and 1 from true."""
    if len(elements) > most:
        raise NoKey
    kinds = set(map(type, elements)) if elements.__class__ is tuple else ()
    if kinds == {float}:
        from array import array  # a library of its own

        return tensor._replace(value=None), array("d", elements).tobytes()
    return tensor, kinds.pop() if len(kinds) == 1 else repr(elements)


def keys_of(items: Iterable[tuple[str, Any]], most: int = _MOST_ELEMENTS) -> tuple[Hashable, ...]:
    """Return the key of each value with its name."""
    return tuple([(name, key_of(value, most)) for name, value in items])


_PLAIN: Final = frozenset({int, bool, str, bytes, Symbol})


class Memo(Generic[Made]):
    """Answers by keys of what was asked, as long as the same tables count; all go when they are too many."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Made | object] = {}
        on_change(self._known.clear)

    def of(self, key: Callable[[], Hashable], make: Callable[[], Made]) -> Made:
        """Return the answer of `make`, or that to an equal question; make it each time where there is no key."""
        try:
            hashable = key()
        except NoKey:
            return make()
        result = self._known.get(hashable, _MISSING)
        if result is _MISSING:
            result = keep(self._known, hashable, make(), _MOST)
        return result  # type: ignore[return-value]  # it is no longer missing
