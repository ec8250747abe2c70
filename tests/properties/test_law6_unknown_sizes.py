"""Making a size unknown never turns accepted into rejected or the reverse: only into undecided."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from specgate.descriptors.core import TensorDesc
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproducing, with_unknown_sizes
from specgate.validate.check import accepts
from tests.properties.support import chosen_cases

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Basis

BASES: tuple[Basis, ...] = ("documented", "observed", "both")


def without_lost_constants(descriptor: Descriptor, vague: Descriptor) -> Descriptor:
    """Return `descriptor` without the constants that `vague` does not know: then only sizes are the difference."""
    fields = dict(descriptor.fields)
    for name, value in vague.fields.items():
        if isinstance(value, TensorDesc) and value.value is None:
            fields[name] = fields[name]._replace(value=None)
    return replace(descriptor, fields=fields, plain=False)


def holds(descriptor: Descriptor, vague: Descriptor, level: str) -> None:
    known = without_lost_constants(descriptor, vague)
    for basis in BASES:
        before, after = accepts(known, level, basis), accepts(vague, level, basis)
        assert after is None or after is before, basis


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_accepted_never_becomes_rejected(case: Case, data: st.DataObject) -> None:
    descriptor = data.draw(descriptors(*case))
    vague = data.draw(with_unknown_sizes(descriptor))
    with reproducing(vague, case.target):
        note(f"before: {descriptor}")
        holds(descriptor, vague, case.level)


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_rejected_never_becomes_accepted(case: Case, data: st.DataObject) -> None:
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(near | near | any_descriptors(case.dialect, case.operator))
    vague = data.draw(with_unknown_sizes(descriptor))
    with reproducing(vague, case.target):
        note(f"before: {descriptor}")
        holds(descriptor, vague, case.level)
        # And step by step: what is vaguer still is decided no differently.
        vaguer = data.draw(with_unknown_sizes(vague))
        holds(vague, vaguer, case.level)
