"""With basis "both" one function checks the stricter of documentation and builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.descriptors.core import Descriptor, tensor
from specgate.dialects import package
from specgate.spec.fields import Bounds
from specgate.validate.check import MIN_EVALUATIONS, _common_items, _intersect_bounds, accepts

if TYPE_CHECKING:
    from specgate.verdict import Basis

PARTS = package("openvino").tensor_words


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


@pytest.mark.parametrize("basis", ["documented", "observed", "both"])
def test_an_omitted_field_may_have_a_different_default_on_each_side(basis: Basis) -> None:
    """Documentation reads an absent do_softmax as true, builds read it as false."""
    fields = {"data": tensor("f32", [2, 12, 3, 4]), "output": tensor("f32", [2, 36, 4])}
    attributes = {"axis": 1, "classes": 1, "coords": 4, "end_axis": -2, "num": 2}
    answers = [
        accepts(Descriptor("openvino", "RegionYolo", {**fields, **attributes}), "opset1", basis)
        for _ in range(MIN_EVALUATIONS + 2)
    ]
    assert answers == [basis == "documented"] * (MIN_EVALUATIONS + 2), "evaluated, then compiled"
    columns = {f"{name}.{part}": getattr(fields[name], slot) for name in fields for part, slot in PARTS.items()}
    rows = specgate.accepts_many("RegionYolo", {**columns, **attributes, "classes": [1, 1]}, "openvino:opset1", basis)
    assert rows.tolist() == answers[:2]
