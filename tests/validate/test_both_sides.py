"""With basis "both" one function checks the stricter of documentation and builds."""

from __future__ import annotations

import pytest

from specgate.spec.fields import Bounds
from specgate.validate.check import _common_items, _intersect_bounds


@pytest.mark.parametrize(
    ("item", "other", "both"),
    [
        (Bounds(1, 4), Bounds(2, 8), Bounds(2, 4)),
        (Bounds(1, None), Bounds(0, 8), Bounds(1, 8)),
        (Bounds(1, None), Bounds(3, None), Bounds(3, None)),
        (None, Bounds(2, 3), Bounds(2, 3)),
        (Bounds(2, 3), None, Bounds(2, 3)),
        (None, None, None),
    ],
)
def test_ranges(item, other, both) -> None:
    assert _intersect_bounds(item, other) == both


@pytest.mark.parametrize("other", [Bounds(2, 6), Bounds(2, 5, (2, 3, 5))])
def test_listed_ranks(other) -> None:
    result = _intersect_bounds(Bounds(1, 5, (1, 3, 5)), other)
    assert result is not None
    assert [n for n in range(10) if n in result] == [3, 5]


def test_types() -> None:
    assert _common_items(("A", "B", "C"), ("C", "A")) == ("A", "C")
    assert _common_items(None, ("C", "A")) == ("C", "A")
    assert _common_items(("A",), ("B",)) == ()
