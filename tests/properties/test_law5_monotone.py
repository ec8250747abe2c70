"""Raising the level never turns accepted into rejected, except where a table says that something was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specgate.spec.tables import dialect
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproducing
from specgate.validate.check import accepts
from tests.properties.support import chosen_cases, chosen_operators, spec_of

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Basis


def removals(spec: OperatorSpec) -> set[str]:
    """Return the levels at which the table itself takes something away."""
    levels = {spec.table.removed} if spec.table.removed else set()
    levels |= {info.until for info in spec.fields.values() if info.until}
    levels |= {
        form.since for info in spec.fields.values() for form in info.forms[1:] if form.since
    }  # required from then
    # A rule that begins later than the operator forbids what was legal before.
    first = spec.dialect.position[spec.rows[0]]
    successors = {form.until for form in spec.rule_forms if form.until}
    for form in (*spec.rule_forms, *spec.dialect.tensor_rules):
        if form.since and spec.dialect.position[form.since] > first and form.since not in successors:
            levels.add(form.since)
    return levels


def losses(spec: OperatorSpec, descriptor: Descriptor, basis: Basis) -> set[str]:
    """Return the levels that reject a descriptor which the level before accepted."""
    order = spec.dialect.levels
    answers = [accepts(descriptor, level, basis) for level in order]
    pairs = zip(order, order[1:], answers, answers[1:], strict=False)
    return {after for _, after, was, now in pairs if was and not now}


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_a_later_level_takes_what_an_earlier_one_took(case: Case, data: st.DataObject) -> None:
    spec = spec_of(case)
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(descriptors(*case) | near)
    with reproducing(descriptor, case.target):
        assert losses(spec, descriptor, "documented") <= removals(spec)


@pytest.mark.parametrize(("name", "operator"), chosen_operators())
@given(data=st.data())
def test_whatever_the_descriptor_is(name: str, operator: str, data: st.DataObject) -> None:
    spec = dialect(name).operator(operator)
    descriptor = data.draw(any_descriptors(name, operator))
    with reproducing(descriptor, f"{name}:{spec.rows[0]}"):
        assert losses(spec, descriptor, "documented") <= removals(spec)
