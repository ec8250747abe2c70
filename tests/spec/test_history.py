"""How an operator changes over the levels."""

from __future__ import annotations

import pytest

from specgate.spec.changes import _cell_takes_more, _wider, more_from, steps
from specgate.spec.fields import Bounds, Cell
from specgate.spec.tables import dialect


def test_steps_are_the_levels_at_which_a_table_changes():
    spec = dialect("directml").operator("GEMM")
    assert steps(spec) == {"1.0": "new"} | dict.fromkeys(["2.0", "3.0", "4.0", "5.1", "6.0", "6.1"], "changed")
    assert more_from(spec, "5.0") == ["5.1", "6.0", "6.1"]
    assert more_from(spec, "6.1") == []


def test_a_missing_operator_has_no_extensions():
    assert more_from(dialect("directml").operator("ONE_HOT"), "1.0") == []


@pytest.mark.parametrize(
    ("old", "new", "wider"),
    [
        (Bounds(4, 4), Bounds(1, 8), True),
        (Bounds(1, 8), Bounds(4, 4), False),
        (Bounds(1, 8), None, True),
        (None, Bounds(1, 8), False),
        (Bounds(1, 8), Bounds(1, None), True),
        (Bounds(1, None), Bounds(2, None), False),
        (Bounds(2, None), Bounds(1, None), True),
        (Bounds(2, 4, (2, 4)), Bounds(2, 4), True),
        (Bounds(2, 4), Bounds(2, 4, (2, 4)), False),
        (Bounds(2, 3), Bounds(2, 4, (2, 4)), True),
    ],
)
def test_wider_bounds(old, new, wider):
    assert _wider(old, new) is wider


def test_a_cell_is_wider_with_more_types_or_without_a_limit():
    assert _cell_takes_more(Cell(types=("A",)), Cell(types=("A", "B")))
    assert _cell_takes_more(Cell(types=("A",)), Cell())
    assert _cell_takes_more(Cell(types=("A",)), None)
    assert not _cell_takes_more(Cell(types=("A", "B")), Cell(types=("B",)))
    assert not _cell_takes_more(Cell(), Cell(types=("A",)))
