"""Descriptors survive a round trip through dicts, also with JSON in between."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict, write_dict
from specgate.dialects import dialect_of
from specgate.spec.tables import dialect
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproduce, with_unknown_sizes
from tests.properties.support import chosen_cases

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor


def settle(descriptor: Descriptor) -> Descriptor:
    """Return it without facts that positional tensors cannot express.

    These are empty or absent lists, and source locations.
    """
    fields = descriptor.fields
    if descriptor.dialect != "directml":
        infos = dialect(descriptor.dialect).operator(descriptor.operator).fields
        fields = {name: value for name, value in fields.items() if value != [] or infos[name].type != "tensor[]"}
    return replace(descriptor, fields=fields, layout=None)


def with_layout_of(read: Descriptor, like: Descriptor) -> Descriptor:
    """Return it with its tensors in the order of another descriptor's level."""
    spec = dialect(read.dialect).operator(read.operator)
    return read if like.layout is None else reordered_for(read, spec, like.layout)


def same_after_a_trip(descriptor: Descriptor) -> None:
    written = write_dict(descriptor)
    note(str(written))
    for data in (written, json.loads(json.dumps(written))):
        assert settle(with_layout_of(read_dict(data, descriptor.dialect), descriptor)) == settle(descriptor)
    assert dialect_of(written) == descriptor.dialect
    assert write_dict(read_dict(written)) == written


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_valid_and_near_valid_descriptors(case: Case, data: st.DataObject) -> None:
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(descriptors(*case) | near)
    same_after_a_trip(descriptor)
    same_after_a_trip(data.draw(with_unknown_sizes(descriptor)))


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_any_descriptor(case: Case, data: st.DataObject) -> None:
    same_after_a_trip(data.draw(any_descriptors(case.dialect, case.operator)))


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_the_reproducing_command_contains_the_descriptor(case: Case, data: st.DataObject) -> None:
    descriptor = data.draw(descriptors(*case))
    words = shlex.split(reproduce(descriptor, case.target))
    assert words[:2] == ["specgate", "check"]
    assert words[3:] == ["--target", case.target]
    read = read_dict(json.loads(words[2]), case.dialect)
    assert settle(with_layout_of(read, descriptor)) == settle(descriptor)
