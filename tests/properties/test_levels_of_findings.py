"""A finding lists exactly the levels that accept the whole descriptor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from specgate.lowest.descriptor import find_minimum
from specgate.testing import Case, any_descriptors, descriptors, near_valid, reproducing, with_unknown_sizes
from specgate.validate.check import accepts, check_at
from specgate.validate.device import capabilities
from tests.properties.support import chosen_cases, spec_of

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.dialect_spec import Dialect
    from specgate.verdict import Basis, Finding

BASES: tuple[Basis, ...] = ("documented", "observed", "both")


def assert_levels_match(finding: Finding, accepting: list[str], table: Dialect, level: str) -> None:
    """The levels in a finding agree with the verdicts at those levels."""
    assert list(finding.levels) == accepting
    assert finding.first_level == (accepting[0] if accepting else None)
    if "accepted by" in finding.message:
        assert f"; accepted by {table.level_set(accepting)}" in finding.message
    if f"no {table.level_word} supports it" in finding.message:
        assert not accepting
    ways = (finding.fix or "").replace("use a target of ", "use ").split(" or ")
    proposed = [at for at in table.levels if f"use {table.label(at)}" in ways]
    later = [at for at in accepting if table.position[at] > table.position[level]]
    assert proposed == later[:1] or (not proposed and finding.id.endswith("/device-capability"))


def accepting_levels(descriptor: Descriptor, table: Dialect, basis: Basis, device: frozenset[str] | None) -> list[str]:
    """Return the accepting levels by the compiled functions, or in full for a device."""
    if device is None:
        return [at for at in table.levels if accepts(descriptor, at, basis)]
    return [at for at in table.levels if check_at(descriptor, at, basis, device=device).accepted]


def check_finding_levels(
    descriptor: Descriptor, case: Case, basis: Basis, device: frozenset[str] | None, *, minimum: bool
) -> None:
    table = spec_of(case).dialect
    verdict = check_at(descriptor, case.level, basis, device=device)
    assert not any(finding.levels or finding.first_level for finding in verdict.undecided)
    if not verdict.findings:
        return
    free = replace(descriptor, version=None)
    accepting = {
        False: accepting_levels(free, table, basis, device),
        True: accepting_levels(descriptor, table, basis, device),
    }
    for finding in verdict.findings:
        if finding.severity == "note":  # all builds accept what the page forbids
            assert not finding.levels
            continue
        late = finding.id.endswith("/version")  # about the version that it was written for, which then stays
        judged_at = case.level if late else descriptor.version or case.level
        assert_levels_match(finding, accepting[late], table, judged_at)
    if device is None and minimum:
        result = find_minimum(descriptor, basis)
        home = table.parent or table
        implied = [at for at in home.levels if spec_of(case).level_for(at) in accepting[False]]
        assert list(result.levels) == implied
        assert result == (implied[0] if implied else None)


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_on_valid_and_near_valid_descriptors(case: Case, data: st.DataObject) -> None:
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    descriptor = data.draw(near | near | descriptors(*case))
    if data.draw(st.booleans()):
        descriptor = data.draw(with_unknown_sizes(descriptor))
    if data.draw(st.booleans()) and case.dialect != "directml":
        at = data.draw(st.sampled_from(spec_of(case).dialect.levels))
        descriptor = replace(descriptor, version=at)
    facts = capabilities(case.dialect)
    device = data.draw(st.none() | st.sets(st.sampled_from(facts)).map(frozenset)) if facts else None
    with reproducing(descriptor, case.target):
        note(f"{descriptor} on {device}")
        minimum = data.draw(st.booleans())
        check_finding_levels(descriptor, case, data.draw(st.sampled_from(BASES)), device, minimum=minimum)


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_on_anything(case: Case, data: st.DataObject) -> None:
    descriptor = data.draw(any_descriptors(case.dialect, case.operator))
    with reproducing(descriptor, case.target):
        note(str(descriptor))
        check_finding_levels(descriptor, case, data.draw(st.sampled_from(BASES)), None, minimum=False)


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_answers_without_findings_agree_with_the_check(case: Case, data: st.DataObject) -> None:
    """Also for a version below the target, for which the compiled function is used too."""
    descriptor = data.draw(descriptors(*case) | near_valid(*case).map(lambda broken: broken.descriptor))
    spec = spec_of(case)
    descriptor = replace(descriptor, version=case.level)
    levels = spec.dialect.levels[max(0, spec.dialect.position[case.level] - 1) :]
    basis = data.draw(st.sampled_from(BASES))
    alone = check_at(replace(descriptor, version=None), case.level, basis)
    for at in levels:
        verdict = check_at(descriptor, at, basis)
        assert accepts(descriptor, at, basis) is verdict.accepted
        later = spec.dialect.position[at] >= spec.dialect.position[case.level] and at in spec.levels
        accepted = later and spec.is_written_for(case.level)  # an unfinished level has few operators
        assert verdict.accepted is (alone.accepted if accepted else False)
        assert verdict.target == f"{case.dialect}:{at}"
        if accepted:
            assert [replace(f, target=alone.target) for f in verdict.findings] == list(alone.findings)
