"""A new function of the rule language is one entry that every engine uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.descriptors.core import Descriptor, tensor
from specgate.dialects.directml.cpp.nodes import Names, Nodes
from specgate.dialects.directml.cpp.translate import Translator
from specgate.dialects.directml.cpp.values import Untranslatable, make_integer
from specgate.dialects.directml.vocabulary import Size2D
from specgate.rules.columns import Words, column, compile_columns
from specgate.rules.compile import compile_resolved
from specgate.rules.functions import FUNCTIONS
from specgate.rules.language import NUMBER, Function
from specgate.validate.row import explain_at
from tests.rules.test_engines import make

if TYPE_CHECKING:
    from specgate.spec.forms import Resolved

VALUES: dict[str, Any] = {
    "A": tensor("INT8", [2]),
    "B": tensor("INT8", [2]),
    "Axis": 6,
    "Back": 0,
    "Order": [],
    "Many": [],
    "Size": Size2D(1, 1),
    "Low": 0,
}


@pytest.fixture
def resolved(monkeypatch: pytest.MonkeyPatch) -> Resolved:
    entry = Function((NUMBER,), NUMBER, lambda number: number // 2, ("half({})", 0, 9), "half of")
    monkeypatch.setitem(FUNCTIONS, "half", entry)
    resolved = make("half(Axis) == 3")
    assert resolved is not None
    return resolved


def test_every_engine_supports_a_registered_function(resolved: Resolved) -> None:
    check, check_columns = compile_resolved(resolved), compile_columns(resolved)
    for axis, accepted in ((6, True), (8, False)):
        values = {**VALUES, "Axis": axis}
        assert (explain_at(Descriptor("scratch", "X", values), resolved) == []) is accepted
        assert check(values) is accepted
        assert check_columns(values) == (accepted, False)
    accepted, undecided = check_columns({**VALUES, "Axis": column(np.array([6, 8]))})
    assert (accepted.tolist(), undecided) == ([True, False], False)


def test_functions_of_texts_are_undecided_where_rows_differ() -> None:
    """Python raises TypeError for a text that is a column, as for an undefined value."""
    resolved = make("count(type(A), type(B)) == 1")
    assert resolved is not None
    types = Words(np.array([0, 1]), {"INT8": 0, "INT16": 1})
    assert compile_columns(resolved)({**VALUES, "B": tensor("INT8", [2])._replace(type=types)}) == (True, True)  # type: ignore[arg-type]
    assert compile_columns(resolved)(VALUES) == (True, False)


def test_messages_and_cpp_use_the_function_name(resolved: Resolved) -> None:
    [failure] = explain_at(Descriptor("scratch", "X", {**VALUES, "Axis": 8}), resolved)
    assert "half of Axis is 4" in failure.message
    translate = Translator({"Axis": make_integer("Axis", 0, 9, tight=True)}, {}, {}, None)  # type: ignore[arg-type]
    assert translate(resolved.rules[0].require.tree).code == "half(Axis) == 3"


def test_a_function_without_cpp_support_is_not_exported(resolved: Resolved) -> None:
    with pytest.raises(Untranslatable, match=r"half\(Axis\)"):
        Nodes().test(resolved.rules[0].require, Names())
