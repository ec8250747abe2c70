"""Writing a descriptor as a dict and reading it back gives the same descriptor, with JSON in between as well."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from specgate.descriptors.read import dialect_of, read_dict, write_dict
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproduce, with_unknown_sizes
from tests.properties.support import chosen_cases

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor


def same_after_a_trip(descriptor: Descriptor) -> None:
    written = write_dict(descriptor)
    note(str(written))
    assert read_dict(written, descriptor.dialect) == descriptor
    assert read_dict(json.loads(json.dumps(written)), descriptor.dialect) == descriptor
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
def test_the_line_that_reproduces_a_failure_holds_the_descriptor(case: Case, data: st.DataObject) -> None:
    descriptor = data.draw(descriptors(*case))
    words = shlex.split(reproduce(descriptor, case.target))
    assert words[:2] == ["specgate", "check"]
    assert words[3:] == ["--target", case.target]
    assert read_dict(json.loads(words[2]), case.dialect) == descriptor
