"""The executor rejects structural violations without asking the validator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, note, reject
from hypothesis import strategies as st

from specgate.errors import InputError, NoKernel
from specgate.execution.engine import execute_at
from specgate.testing import Case, any_descriptors, arrays, finding_ids, near_valid, reproducing
from specgate.validate import check, judge, row
from specgate.validate.row import explain_at
from tests.properties.support import MAX_BYTES, carry, executed_cases, fuses_without_kernel, resolved_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor


def structural_ids(case: Case) -> list[str]:
    """Return the findings of near-valid descriptors that only structural rules give."""
    resolved = resolved_of(case)
    loose = {form.name for form in (*resolved.rules, *resolved.tensor_rules) if not form.structural}
    cells = ("type", "rank", "value", "operator")
    texts = finding_ids(*case)
    return [i for i in texts if i.split("/")[-1] not in loose and i.rpartition(".")[2] not in cells]


def structurally_wrong(descriptor: Descriptor, case: Case) -> bool:
    return any(f.structural and not f.unknown for f in explain_at(descriptor, resolved_of(case)))


def assert_execution_rejects(descriptor: Descriptor, given_arrays: Mapping[str, Any], level: str) -> None:
    """Assert that execution rejects the descriptor while the validator is disabled."""

    def close_all(*_args: Any, **_kwargs: Any) -> None:
        raise AssertionError("the executor asked the validator")

    with pytest.MonkeyPatch.context() as patch:
        for module, name in (
            (check, "check_at"),
            (check, "accepts"),
            (judge, "verdict_with_reasons"),
            (row, "explain_at"),
        ):
            patch.setattr(module, name, close_all)
        with pytest.raises((InputError, NoKernel)):  # no kernel computes undocumented cases
            execute_at(descriptor, given_arrays, level, max_bytes=MAX_BYTES)


@pytest.mark.parametrize("case", executed_cases(), ids=str)
@given(data=st.data())
def test_near_valid_and_structurally_wrong_is_rejected(case: Case, data: st.DataObject) -> None:
    broken = data.draw(near_valid(*case, breaks=data.draw(st.sampled_from(structural_ids(case)))))
    note(broken.how)
    assume(carry(broken.descriptor))
    with reproducing(broken.descriptor, case.target):
        assert structurally_wrong(broken.descriptor, case)
        try:
            strategy = arrays(broken.descriptor, case.level)
        except InputError:  # too large
            reject()
        assert_execution_rejects(broken.descriptor, data.draw(strategy), case.level)


@pytest.mark.parametrize("case", executed_cases(), ids=str)
@given(data=st.data())
def test_anything_structurally_wrong_is_rejected(case: Case, data: st.DataObject) -> None:
    descriptor = data.draw(any_descriptors(case.dialect, case.operator))
    if not structurally_wrong(descriptor, case) or fuses_without_kernel(descriptor):
        return
    with reproducing(descriptor, case.target):
        try:
            strategy = arrays(descriptor, case.level)
        except (InputError, NoKernel):  # too large, or of a type that numpy lacks
            return
        assert_execution_rejects(descriptor, data.draw(strategy), case.level)
