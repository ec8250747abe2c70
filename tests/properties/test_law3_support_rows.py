"""After a support row's rejection, findings list exactly the levels that accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from specgate.generate.near_misses import iterate_aims
from specgate.testing import Case, finding_ids, near_valid, reproducing
from specgate.validate.check import check_at
from tests.properties.support import chosen_cases, resolved_of, spec_of, steady

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.verdict import Finding

CELLS = ("type", "rank", "value")


def cell_ids(case: Case) -> list[str]:
    return [text for text in finding_ids(*case) if text.rpartition(".")[2] in CELLS]


#: Rows with a limiting cell; whether it can fail alone needs a search.
LIMITED = [
    case for case in chosen_cases()
    if any(aim.kind in CELLS for aim in iterate_aims(spec_of(case), resolved_of(case)))
]  # fmt: skip


def findings_at(descriptor: Descriptor, level: str) -> set[tuple[str, str]]:
    return {(f.id, f.where) for f in check_at(descriptor, level, "documented").findings}


def refuses(spec: OperatorSpec, descriptor: Descriptor, level: str, finding: Finding) -> bool:
    """Return whether the level rejects the same thing, or does not have the field."""
    resolved = spec.resolve(level)
    assert resolved is not None  # a level of the operator
    field = re.split(r"[.\[]", finding.where)[0]
    if field in spec.fields and field not in resolved.fields:
        return True
    return finding.id in {name for name, where in findings_at(descriptor, level) if where == finding.where}


@pytest.mark.parametrize("case", LIMITED, ids=str)
@given(data=st.data())
def test_findings_name_exactly_the_levels_that_accept_the_value(case: Case, data: st.DataObject) -> None:
    """Return the levels that accept all, or whether any accepts this finding's part."""
    broken = data.draw(near_valid(*case, breaks=data.draw(st.sampled_from(cell_ids(case)))))
    note(broken.how)
    descriptor = broken.descriptor
    spec = spec_of(case)
    with reproducing(descriptor, case.target):
        verdict = check_at(descriptor, case.level, "documented")
        assert verdict.accepted is False
        assert broken.breaks in {f.id for f in verdict.findings}
        accepting = [level for level in spec.levels if check_at(descriptor, level, "documented").accepted]
        for finding in verdict.findings:
            assert list(finding.levels) == accepting
            assert finding.first_level == (accepting[0] if accepting else None)
            assert (f"accepted by {spec.dialect.level_set(accepting)}" in finding.message) is bool(accepting)
            nowhere = all(refuses(spec, descriptor, level, finding) for level in spec.levels)
            cell = finding.id.rpartition(".")[2] in CELLS  # a rule with the same requirement may fail with it
            assert (f"no {spec.dialect.level_word} supports it" in finding.message) is (nowhere and cell)


@pytest.mark.parametrize("case", [case for case in LIMITED if steady(spec_of(case))], ids=str)
@given(data=st.data())
def test_a_broken_row_is_accepted_at_some_level_or_missing_at_all(case: Case, data: st.DataObject) -> None:
    broken = data.draw(near_valid(*case, breaks=data.draw(st.sampled_from(cell_ids(case)))))
    note(broken.how)
    spec = spec_of(case)
    with reproducing(broken.descriptor, case.target):
        verdict = check_at(broken.descriptor, case.level, "documented")
        lifted = [
            level
            for level in spec.levels
            if not any(refuses(spec, broken.descriptor, level, f) for f in verdict.findings)
        ]
        # Without the row-bound findings, no other finding may remain.
        assert {finding.levels for finding in verdict.findings} == {tuple(lifted)}
