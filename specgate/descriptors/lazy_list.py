"""Lists that know their length and read their elements on first access."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.core import FileList

if TYPE_CHECKING:
    from collections.abc import Callable


class UnreadList(FileList):
    """A list that reads its elements on first access, then a `FileList`.

    It is accepted wherever lists are. Each method except ``__len__`` reads the elements first. C functions that bypass
    the methods do so only for objects of the exact class `list`.
    """

    __slots__ = ()

    def __init__(self, kind: str, data: bytes, length: int, elements: Callable[[], list[Any]]) -> None:
        super().__init__()
        self.kind = kind
        self.data = data
        self._length = length
        self._elements = elements

    def read(self) -> None:
        """Read the elements."""
        list.__setitem__(self, slice(None), self._elements())  # concurrent first accesses repeat the read
        self.__class__ = FileList  # type: ignore[assignment]  # its methods do not read

    def __len__(self) -> int:
        return self._length

    def __radd__(self, other: list[Any]) -> list[Any]:
        return [*other, *self]


_METHODS: Final = (
    "__add__", "__contains__", "__delitem__", "__eq__", "__ge__", "__getitem__", "__gt__", "__iadd__", "__imul__",
    "__iter__", "__le__", "__lt__", "__mul__", "__ne__", "__repr__", "__reversed__", "__rmul__", "__setitem__",
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort",
)  # fmt: skip


def _reading(name: str) -> Any:
    method = getattr(list, name)

    def reading(self: UnreadList, *items: Any, **keywords: Any) -> Any:
        self.read()
        return method(self, *items, **keywords)

    return reading


for _name in _METHODS:
    setattr(UnreadList, _name, _reading(_name))
