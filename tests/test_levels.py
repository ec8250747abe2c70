"""Sets of levels: exact algebra, and their ranges as text."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.errors import InputError
from specgate.levels import LevelSet
from specgate.spec.tables import dialect

AXIS = ("1.0", "2.0", "2.1", "3.0", "3.1", "4.0")
SETS = st.sets(st.sampled_from(AXIS))


def of(*members: str) -> LevelSet:
    return LevelSet.of(AXIS, members)


@given(SETS, SETS)
def test_algebra_is_that_of_sets(left: set[str], right: set[str]) -> None:
    a, b = of(*left), of(*right)
    assert set(a | b) == left | right
    assert set(a & b) == left & right
    assert set(a - b) == left - right
    assert set(a.complement()) == set(AXIS) - left
    assert (a <= b) is (left <= right)
    assert (a == b) is (left == right)
    assert len(a) == len(left)
    assert all((level in a) is (level in left) for level in AXIS)
    assert list(a) == [level for level in AXIS if level in left]
    assert a.first == min(left, key=AXIS.index, default=None)


@given(SETS)
def test_written_ranges_can_be_read_back(members: set[str]) -> None:
    read: set[str] = set()
    for part in str(of(*members)).split(", ") if members else []:
        first, _, last = part.partition("..")
        read.update(AXIS[AXIS.index(first) : AXIS.index(last or first) + 1])
    assert read == members


WRITTEN = {
    "none": ((), "none"),
    "one": (("2.1",), "2.1"),
    "all": (AXIS, "1.0..4.0"),
    "two neighbours": (("3.1", "4.0"), "3.1..4.0"),
    "apart": (("1.0", "2.1", "3.0", "4.0"), "1.0, 2.1..3.0, 4.0"),
}


@pytest.mark.parametrize(("members", "text"), WRITTEN.values(), ids=WRITTEN.keys())
def test_written(members: tuple[str, ...], text: str) -> None:
    assert str(of(*members)) == text


def test_levels_that_are_not_on_the_axis() -> None:
    assert "9.9" not in of("1.0")
    with pytest.raises(InputError, match=r"unknown level '2\.5'; expected one of 1\.0, 2\.0, 2\.1, 3\.0, 3\.1, 4\.0"):
        of("1.0", "2.5")


@pytest.mark.parametrize("operation", ["__or__", "__and__", "__sub__", "__le__"])
def test_dialects_do_not_mix(operation: str) -> None:
    with pytest.raises(ValueError, match="level sets of different dialects do not mix"):
        getattr(of("1.0"), operation)(LevelSet.of(("1", "2"), ["1"]))


READ: dict[str, tuple[Any, str]] = {
    "one": ("2.1", "2.1"),
    "range": ("2.1..4.0", "2.1..4.0"),
    "open end": ("6.3..", "6.3..6.4"),
    "open start": ("..2.0", "1.0..2.0"),
    "list": (["1.0", "3.1"], "1.0, 3.1"),
    "empty list": ([], "none"),
}


@pytest.mark.parametrize(("text", "levels"), READ.values(), ids=READ.keys())
def test_read(text: Any, levels: str) -> None:
    assert str(dialect("directml").level_set(text)) == levels


REFUSED: dict[str, tuple[Any, str]] = {
    "unknown": ("2.5", r"unknown feature level '2\.5' of directml; expected one of .*"),
    "unknown start": ("0.5..2.0", r"unknown feature level '0\.5'"),
    "unknown end": ("2.0..9.0", r"unknown feature level '9\.0'"),
    "unknown in a list": (["2.0", "9.0"], r"unknown level '9\.0'"),
    "backwards": ("3.0..2.0", r"expected levels in their order, found '3\.0\.\.2\.0'"),
    "nothing": ("", "expected levels such as"),
    "dots": ("..", "expected levels such as"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_rejected(text: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        dialect("directml").level_set(text)
