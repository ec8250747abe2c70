"""Unknown sizes turn a verdict into undecided, never into its opposite."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from specgate.descriptors.core import Symbol, TensorDesc
from specgate.descriptors.read import read_dict
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproducing, with_unknown_sizes
from specgate.validate.check import accepts
from tests.properties.support import chosen_cases

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.verdict import Basis

BASES: tuple[Basis, ...] = ("documented", "observed", "both")


def without_lost_constants(descriptor: Descriptor, vague: Descriptor) -> Descriptor:
    """Return `descriptor` without the constants that are unknown in `vague`."""
    fields = dict(descriptor.fields)
    for name, value in vague.fields.items():
        if isinstance(value, TensorDesc) and value.value is None:
            fields[name] = fields[name]._replace(value=None)
    return replace(descriptor, fields=fields, plain=False)


def assert_same_or_undecided(descriptor: Descriptor, vague: Descriptor, level: str) -> None:
    facts = without_lost_constants(descriptor, vague)
    for basis in BASES:
        before, after = accepts(facts, level, basis), accepts(vague, level, basis)
        assert after is None or after is before, basis


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_accepted_never_becomes_rejected(case: Case, data: st.DataObject) -> None:
    descriptor = data.draw(descriptors(*case))
    vague = data.draw(with_unknown_sizes(descriptor))
    with reproducing(vague, case.target):
        note(f"before: {descriptor}")
        assert_same_or_undecided(descriptor, vague, case.level)


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_rejected_never_becomes_accepted(case: Case, data: st.DataObject) -> None:
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(near | near | any_descriptors(case.dialect, case.operator))
    vague = data.draw(with_unknown_sizes(descriptor))
    with reproducing(vague, case.target):
        note(f"before: {descriptor}")
        assert_same_or_undecided(descriptor, vague, case.level)
        # Step by step: a more unknown descriptor does not get another decision.
        vaguer = data.draw(with_unknown_sizes(vague))
        assert_same_or_undecided(vague, vaguer, case.level)


ADD: Any = {
    "type": "Add",
    "inputs": [{"element_type": "f32", "shape": [2, 3]}, {"element_type": "f32", "shape": [3]}],
    "outputs": [],
    "data": {"auto_broadcast": "pdpd"},
}


@pytest.mark.slow
@settings(max_examples=200)
@given(data=st.data())
def test_sizes_share_a_name_only_if_equal(data: st.DataObject) -> None:
    descriptor = read_dict(ADD, "openvino")
    vague = data.draw(with_unknown_sizes(data.draw(with_unknown_sizes(descriptor))))
    sizes: dict[Symbol, set[Any]] = {}
    for name in ("a", "b"):
        pairs = zip(descriptor.fields[name].sizes, vague.fields[name].sizes or (), strict=False)
        for size, unknown in pairs:
            if isinstance(unknown, Symbol):
                sizes.setdefault(unknown, set()).add(size)
    assert all(len(each) == 1 for each in sizes.values())


@pytest.mark.slow
@settings(max_examples=200)
@given(data=st.data())
def test_new_names_differ_from_those_before(data: st.DataObject) -> None:
    vague = data.draw(with_unknown_sizes(read_dict(ADD, "openvino")))
    vaguer = data.draw(with_unknown_sizes(vague))
    before = {size for name in ("a", "b") for size in vague.fields[name].sizes or ()}
    for name in ("a", "b"):
        pairs = zip(vague.fields[name].sizes or (), vaguer.fields[name].sizes or (), strict=False)
        assert not [new for old, new in pairs if isinstance(old, int) and isinstance(new, Symbol) and new in before]
