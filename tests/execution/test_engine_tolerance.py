"""Tolerances: expressions over the fields, and their effect."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from specgate.descriptors.core import Descriptor, tensor
from specgate.errors import InputError
from specgate.execution.observed import find_differences, tolerance_of
from specgate.spec.operator_spec import OperatorSpec
from specgate.spec.tables import dialect

FIELDS: dict[str, Any] = {
    "A": {"kind": "input"},
    "Out": {"kind": "output"},
    "Alpha": {"kind": "attribute", "type": "float", "optional": True},
    "Fused": {"kind": "attribute", "type": "operator", "optional": True},
}


@pytest.fixture
def operator(monkeypatch):
    tables = dialect("directml")
    operators = dict(tables._operators)
    monkeypatch.setattr(tables, "_operators", operators)

    def make(name, tolerance):
        raw: dict[str, Any] = {"operator": name, "fields": FIELDS, "support": {"1.0": {}}}
        operators[name] = OperatorSpec(tables, raw if tolerance is None else {**raw, "tolerance": tolerance})

    return make


def tolerance(name, kind="FLOAT32", **fields):
    both = {"A": tensor(kind, [1]), "Out": tensor(kind, [1])}
    return tolerance_of(Descriptor("directml", name, {**both, **fields}), "6.4")


def test_expressions(operator):
    operator("PLAIN", "0.001 if type(Out) == FLOAT16 else 4e-6")
    assert tolerance("PLAIN") == 4e-6
    assert tolerance("PLAIN", "FLOAT16") == 0.001
    operator("SCALED", "3e-7 * max((1, abs(Alpha)))")
    assert tolerance("SCALED", Alpha=-4.0) == pytest.approx(1.2e-6)
    with pytest.raises(InputError, match="must be a known number"):
        tolerance("SCALED")
    operator("TRUE", "present(Alpha)")
    with pytest.raises(InputError, match="must be a known number"):
        tolerance("TRUE")
    operator("NONE", None)
    assert tolerance("NONE") == 0


def test_fused_operator_adds_its_tolerance(operator):
    operator("OUTER", "0.5")
    operator("INNER", "0.25 if type(Out) == FLOAT16 else Alpha")
    inner = Descriptor("directml", "INNER", {"Alpha": 0.125})
    assert tolerance("OUTER", Fused=inner) == 0.625
    assert tolerance("OUTER", "FLOAT16", Fused=inner) == 0.75


@pytest.mark.parametrize(
    ("expected", "result", "allowed", "answer"),
    [
        ([1.0, 0.0], [1.0, -0.0], 0, [False, False]),
        ([1.0, 10.0], [1.1, 11.0], 0.11, [False, False]),
        ([0.1, 10.0], [0.2, 11.2], 0.11, [False, True]),
        ([np.nan, np.inf, np.inf, 1.0], [np.nan, np.inf, -np.inf, np.nan], 9, [False, False, True, True]),
        ([1.0, np.inf], [np.inf, 3e38], 9, [True, True]),
    ],
)
def test_values_within_the_tolerance_are_equal(expected, result, allowed, answer):
    assert find_differences(np.array(expected, "f4"), np.array(result, "f4"), allowed).tolist() == answer


def test_integers_and_masks():
    huge = np.array([2**63 - 1, 2**63 - 1], "i8")
    assert find_differences(huge, huge - np.array([0, 1]), 0).tolist() == [False, True]
    expected = np.ma.MaskedArray([1, 2, 3], [True, False, False])
    assert find_differences(expected, np.ma.MaskedArray([9, 2, 3], [False, False, True]), 0).tolist() == [
        False,
        False,
        True,
    ]
    assert find_differences(np.array(["a", "b"], object), np.array(["a", "c"], object), 0).tolist() == [False, True]
    with pytest.raises(InputError, match="one type and shape"):
        find_differences(np.zeros(2, "f4"), np.zeros(2, "f8"), 0)
