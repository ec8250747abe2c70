"""Answers are cached by value: relevant differences and other tables miss the cache."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import UNKNOWN, UNSTATED, Descriptor, NumberedWord, Symbol, TensorDesc
from specgate.spec.tables import load_extra_specs
from specgate.validate import verdict_cache
from specgate.validate.verdict_cache import Memo, key_of

if TYPE_CHECKING:
    from collections.abc import Callable

X = TensorDesc("FLOAT", (2, 3))
APART: list[Any] = [
    None, UNKNOWN, UNSTATED, TensorDesc(None, None), X, X._replace(sizes=(2, Symbol("N"))), X._replace(sizes=None),
    X._replace(value=(0.0,)), X._replace(value=(-0.0,)), X._replace(value=(0,)), X._replace(value=(False,)),
    X._replace(value=()), X._replace(value=(0.0, 1)), X._replace(value=(0, 1.0)), X._replace(value=(0.0, 1.0)),
    X._replace(value=("0",)), X._replace(value=(b"0",)), 0, 0.0, -0.0, False, "0", b"0",
    NumberedWord(0, "ZERO"), [], [0], (0,), [[0]],
    Descriptor("d", "A", {}), Descriptor("d", "A", {}, "1"), Descriptor("d", "A", {"x": 1}), Descriptor("d", "B", {}),
    Descriptor("d", "A", {}, layout="1"),
]  # fmt: skip


def test_different_values_have_different_keys() -> None:
    for item, two in itertools.combinations(APART, 2):
        assert key_of(item) != key_of(two), (item, two)


@pytest.mark.parametrize("make", [lambda: TensorDesc("FLOAT", (2, Symbol("N"))), lambda: [1, 2.5, "a"],
                                  lambda: Descriptor("d", "A", {"x": [X], "y": NumberedWord(3, "C")}, "7")])  # fmt: skip
def test_equal_values_have_equal_keys(make: Callable[[], Any]) -> None:
    assert key_of(make()) == key_of(make())
    assert hash(key_of(make())) == hash(key_of(make()))


def test_an_answer_is_computed_once_per_key() -> None:
    kept: Memo[int] = Memo()
    answers = iter(range(10))
    ask = lambda value: kept.of(lambda: key_of(value), lambda: next(answers))  # noqa: E731
    assert [ask(1), ask(1), ask(1.0), ask(None), ask(1)] == [0, 0, 1, 2, 0]


@pytest.mark.parametrize(("count", "expected"), [(256, [0, 0]), (257, [0, 1])])
def test_constants_of_many_elements_have_no_key(count: int, expected: list[int]) -> None:
    kept: Memo[int] = Memo()
    answers = iter(range(10))
    many = X._replace(value=(1,) * count)
    assert [kept.of(lambda: key_of(many), lambda: next(answers)) for _ in range(2)] == expected


def test_values_without_a_key_are_computed_each_time() -> None:
    kept: Memo[int] = Memo()
    answers = iter(range(10))
    assert [kept.of(lambda: key_of(object()), lambda: next(answers)) for _ in range(2)] == [0, 1]


def test_the_number_of_entries_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_cache, "_MAX_ENTRIES", 3)
    kept: Memo[int] = Memo()
    for number in range(10):
        assert kept.of(lambda value=number: key_of(value), lambda value=number: value) == number  # type: ignore[misc]
        assert len(kept._items) <= 3


def test_other_tables_have_other_answers() -> None:
    kept: Memo[int] = Memo()
    assert kept.of(lambda: 1, lambda: 2) == 2
    load_extra_specs()
    assert kept.of(lambda: 1, lambda: 3) == 3
