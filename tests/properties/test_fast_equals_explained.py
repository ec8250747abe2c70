"""The compiled checker and the explaining path agree, on every basis."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproducing, with_unknown_sizes
from specgate.validate.check import check_at, compile_check
from specgate.validate.row import explain_at
from tests.properties.support import chosen_cases, resolved_of, spec_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import SingleBasis
    from specgate.verdict import Basis

SIDES: dict[Basis, list[SingleBasis]] = {
    "documented": ["documented"],
    "observed": ["observed"],
    "both": ["documented", "observed"],
}


@cache
def fast_of(case: Case, side: SingleBasis) -> Callable[[Mapping[str, Any]], bool]:
    return compile_check(resolved_of(case, side))


def agree(descriptor: Descriptor, case: Case, explained: Basis) -> None:
    """All bases give the same answer; findings, which are slow, only for `explained`."""
    failures = {side: explain_at(descriptor, resolved_of(case, side)) for side in SIDES["both"]}
    for side, result in failures.items():
        if descriptor.plain:
            assert fast_of(case, side)(descriptor.fields) is (not result), side
    for basis, sides in SIDES.items():
        by_default = spec_of(case).sides_at(case.level, basis)  # on both sides it may follow the builds
        result = [
            failure
            for side in sides
            if side in by_default
            for failure in (explain_at(descriptor, by_default[side]) if basis == "both" else failures[side])
        ]
        expected = False if any(not f.unknown for f in result) else None if result else True
        verdict = check_at(descriptor, case.level, basis)
        assert verdict.accepted is expected, basis
        if basis != explained:
            continue
        refused = [f for f in verdict.findings if f.severity == "error"]
        assert bool(refused) is (expected is False)
        certain = {f.key for f in result if not f.unknown}
        assert {f.id.rpartition("/")[2] for f in refused} == {rule for _, rule, _ in certain}
        excused = {f.id.rpartition("/")[2] for f in verdict.findings if f.severity == "note"}
        assert excused <= {failure.rule for failure in failures["documented"]}
        assert basis == "both" or not excused


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_on_valid_and_near_valid_descriptors(case: Case, data: st.DataObject) -> None:
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(descriptors(*case) | near | descriptors(*case, basis="observed"))
    if data.draw(st.booleans()):
        descriptor = data.draw(st.just(descriptor) | with_unknown_sizes(descriptor))
    with reproducing(descriptor, case.target):
        note(str(descriptor))
        agree(descriptor, case, data.draw(st.sampled_from(list(SIDES))))


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_on_anything(case: Case, data: st.DataObject) -> None:
    descriptor = data.draw(any_descriptors(case.dialect, case.operator))
    with reproducing(descriptor, case.target):
        note(str(descriptor))
        agree(descriptor, case, data.draw(st.sampled_from(list(SIDES))))
