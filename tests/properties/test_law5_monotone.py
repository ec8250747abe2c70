"""Raising the level never turns accepted into rejected, except where a table says that something was removed."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.descriptors.read import read_dict
from specgate.spec.dialect_spec import Dialect
from specgate.spec.tables import dialect, in_use
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproducing
from specgate.validate.check import accepts
from specgate.validate.explain import explain_at
from tests.properties.support import chosen_cases, chosen_operators, spec_of

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec


def removed_by(spec: OperatorSpec, level: str) -> set[str]:
    """Return the findings by which a level may reject what the level before accepts: what the table takes away there.

    That are fields that end at the level, are required from there on or become another kind of attribute there, with
    the rules that read them, and rules that begin there without following one of the same name. A type, rank or value
    that a row no longer has is none: rows only grow.
    """
    names = {f"{info.name}.exists" for info in spec.fields.values() if info.until == level}
    begun = ((name, form) for name, info in spec.fields.items() for form in info.forms or (info,))
    names |= {f"{name}.required" for name, form in begun if form.since == level and not form.optional}
    rules = (*spec.rule_forms, *spec.dialect.tensor_rules)
    followed = {form.name for form in rules if form.until == level}
    names |= {form.name for form in rules if form.since == level} - followed
    kinds = {name: {form.since: form.type for form in info.forms} for name, info in spec.fields.items()}
    other = {name for name, types in kinds.items() if level in types and len(set(types.values())) > 1}
    names |= {form.name for form in rules if form.fields & other}
    return names | {f"{name}.{aspect}" for name in other for aspect in ("value", "wrong-kind", "range")}


def wrongly_lost(spec: OperatorSpec, descriptor: Descriptor) -> dict[str, list[str]]:
    """Return by level the findings that reject what the level before accepted, and that no removal explains."""
    order = spec.dialect.levels
    answers = [accepts(descriptor, level, "documented") for level in order]
    lost = [after for after, was, now in zip(order[1:], answers, answers[1:], strict=False) if was and not now]
    found = {}
    for level in lost:
        resolved = spec.resolve(level)
        if resolved is None:
            unexplained = [] if spec.table.removed == level else ["level"]
        else:
            excused = removed_by(spec, level)
            unexplained = [each.rule for each in explain_at(descriptor, resolved) if each.rule not in excused]
        if unexplained:
            found[level] = unexplained
    return found


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_a_later_level_takes_what_an_earlier_one_took(case: Case, data: st.DataObject) -> None:
    spec = spec_of(case)
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(descriptors(*case) | near)
    with reproducing(descriptor, case.target):
        assert not wrongly_lost(spec, descriptor)


@pytest.mark.parametrize(("name", "operator"), chosen_operators())
@given(data=st.data())
def test_whatever_the_descriptor_is(name: str, operator: str, data: st.DataObject) -> None:
    spec = dialect(name).operator(operator)
    descriptor = data.draw(any_descriptors(name, operator))
    with reproducing(descriptor, f"{name}:{spec.rows[0]}"):
        assert not wrongly_lost(spec, descriptor)


def test_a_wrong_removal_is_seen_where_the_table_removes_something_else() -> None:
    """Reshape loses an attribute at 5; that it also loses a type there is no part of it."""
    table, reshape = dialect("onnx"), {"op_type": "Reshape", "outputs": []}
    raw = copy.deepcopy(table.tables.operators["Reshape"])
    raw["support"]["5"]["data"]["types"].remove("DOUBLE")
    entries = {**table.tables.entries, "operators": {**table.tables.operators, "Reshape": raw}, "counted": {}}
    tensor = {"elem_type": "DOUBLE", "shape": [6]}
    kept = read_dict({**reshape, "inputs": [tensor], "attributes": {"shape": [2, 3]}}, "onnx")
    with in_use(Dialect("onnx", entries)):
        assert wrongly_lost(dialect("onnx").operator("Reshape"), kept) == {"5": ["data.type"]}
    assert not wrongly_lost(table.operator("Reshape"), kept)
