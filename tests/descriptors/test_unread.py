"""A lazily decoded list behaves like a list, whichever method is called first."""

from __future__ import annotations

import copy
import json
import operator
import pickle
from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import Descriptor, FileList, format_value
from specgate.descriptors.lazy_list import UnreadList
from specgate.validate.verdict_cache import key_of

if TYPE_CHECKING:
    from collections.abc import Callable

ELEMENTS = [3, 1, 2, 1]


def unread(elements: list[Any] = ELEMENTS) -> UnreadList:
    return UnreadList("int", b"bytes", len(elements), lambda: list(elements))


def never() -> list[Any]:
    raise AssertionError("an element was asked for")


ASKED: dict[str, Callable[[list[Any]], Any]] = {
    "add": lambda items: items + [7],
    "add to another": lambda items: [7] + items,
    "extend another": lambda items: operator.iadd([7], items),
    "append": lambda items: (operator.methodcaller("append", 7)(items), list(items)),
    "assign a slice": lambda items: (operator.setitem(items, slice(1, 2), [8, 9]), list(items)),
    "compare": lambda items: (items == ELEMENTS, items == ELEMENTS, items != ELEMENTS, items < [9], items >= [9]),
    "contains": lambda items: (2 in items, 9 in items),
    "copies": lambda items: (copy.copy(items), copy.deepcopy(items), pickle.loads(pickle.dumps(items)), items.copy()),
    "delete": lambda items: (operator.delitem(items, 0), items.pop(), list(items)),
    "element": lambda items: (items[0], items[-1], items[1:3]),
    "functions": lambda items: (
        max(items),
        sum(items),
        sorted(items),
        tuple(items),
        [*items],
        bytes(items),
        any(items),
        set(items),
    ),
    "index and count": lambda items: (items.index(2), items.count(1)),
    "json": json.dumps,
    "length": len,
    "reversed": lambda items: list(reversed(items)),
    "shown": format_value,
    "sort": lambda items: (operator.methodcaller("sort", key=lambda item: -item)(items), list(items)),
    "times": lambda items: (items * 2, 2 * items),
}


@pytest.mark.parametrize("name", ASKED)
def test_unread_list_behaves_like_a_list(name: str) -> None:
    assert ASKED[name](unread()) == ASKED[name](list(ELEMENTS))
    read = unread()
    assert read[0] == 3
    assert ASKED[name](read) == ASKED[name](list(ELEMENTS))


def test_no_list_method_bypasses_reading() -> None:
    of_all = {name for name in dir(object) if name not in {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}}
    inherited = {name for name in dir(list) if getattr(UnreadList, name) is getattr(list, name)} - of_all
    assert inherited <= {"__class_getitem__"}


def test_length_and_key_are_known_without_reading() -> None:
    list_ = UnreadList("int", b"bytes", 4, never)
    assert len(list_) == 4
    assert list_
    assert Descriptor("d", "A", {"x": list_}).plain
    assert list(Descriptor("d", "A", {"x": list_}).tensors()) == []
    assert key_of(list_) == key_of(UnreadList("int", b"bytes", 4, never))
    for other in (UnreadList("float", b"bytes", 4, never), UnreadList("int", b"other", 4, never)):
        assert key_of(list_) != key_of(other)
    assert "b'bytes'" not in repr(key_of(list_))  # they may be many, and keys are kept


def test_elements_are_read_once() -> None:
    numbers = iter(range(9))
    list_ = UnreadList("int", b"", 2, lambda: [next(numbers), 5])
    assert [list_[0], list_[1], *list_] == [0, 5, 0, 5]
    assert next(numbers) == 1
    assert list_.__class__ is FileList
