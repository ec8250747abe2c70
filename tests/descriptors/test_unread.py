"""A list whose elements are read later is a list to all that takes one, whatever is asked of it first."""

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
    "add": lambda one: one + [7],
    "add to another": lambda one: [7] + one,
    "extend another": lambda one: operator.iadd([7], one),
    "append": lambda one: (operator.methodcaller("append", 7)(one), list(one)),
    "assign a slice": lambda one: (operator.setitem(one, slice(1, 2), [8, 9]), list(one)),
    "compare": lambda one: (one == ELEMENTS, one == ELEMENTS, one != ELEMENTS, one < [9], one >= [9]),
    "contains": lambda one: (2 in one, 9 in one),
    "copies": lambda one: (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), one.copy()),
    "delete": lambda one: (operator.delitem(one, 0), one.pop(), list(one)),
    "element": lambda one: (one[0], one[-1], one[1:3]),
    "functions": lambda one: (max(one), sum(one), sorted(one), tuple(one), [*one], bytes(one), any(one), set(one)),
    "index and count": lambda one: (one.index(2), one.count(1)),
    "json": json.dumps,
    "length": len,
    "reversed": lambda one: list(reversed(one)),
    "shown": format_value,
    "sort": lambda one: (operator.methodcaller("sort", key=lambda item: -item)(one), list(one)),
    "times": lambda one: (one * 2, 2 * one),
}


@pytest.mark.parametrize("name", ASKED)
def test_it_answers_as_a_list_does(name: str) -> None:
    assert ASKED[name](unread()) == ASKED[name](list(ELEMENTS))
    read = unread()
    assert read[0] == 3
    assert ASKED[name](read) == ASKED[name](list(ELEMENTS))


def test_no_method_sees_that_there_are_no_elements_yet() -> None:
    of_all = {name for name in dir(object) if name not in {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}}
    inherited = {name for name in dir(list) if getattr(UnreadList, name) is getattr(list, name)} - of_all
    assert inherited <= {"__class_getitem__"}


def test_its_length_and_its_bytes_are_known_without_its_elements() -> None:
    one = UnreadList("int", b"bytes", 4, never)
    assert len(one) == 4
    assert one
    assert Descriptor("d", "A", {"x": one}).plain
    assert list(Descriptor("d", "A", {"x": one}).tensors()) == []
    assert key_of(one) == key_of(UnreadList("int", b"bytes", 4, never))
    for other in (UnreadList("float", b"bytes", 4, never), UnreadList("int", b"other", 4, never)):
        assert key_of(one) != key_of(other)
    assert "b'bytes'" not in repr(key_of(one))  # they may be many, and keys are kept


def test_its_elements_are_read_once() -> None:
    numbers = iter(range(9))
    one = UnreadList("int", b"", 2, lambda: [next(numbers), 5])
    assert [one[0], one[1], *one] == [0, 5, 0, 5]
    assert next(numbers) == 1
    assert one.__class__ is FileList
