"""What is found quickly about a descriptor is what is found by looking at all of it."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

from specgate.conform.cases import shown_descriptors
from specgate.rules import obeying
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.facts import Changed, Facts
from specgate.validate.quick_accept import passes
from specgate.validate.row import explain_at, row_failures

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor

DIALECTS = ("directml", "onnx", "openvino")


def drawn(name: str, every: int) -> list[tuple[Descriptor, str]]:
    """Return examples, counterexamples and changed examples of every so many operators, each with its newest level."""
    table = dialect(name)
    found = []
    for operator in list(table.operators)[::every]:
        level = list(table.operator(operator).levels)[-1]
        found += [(made, level) for made in shown_descriptors(table.operator(operator), level, 4)]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
def test_what_passes_is_what_needs_no_explanation(name: str) -> None:
    answers = set()
    for made, level in drawn(name, 9):
        for said in dialect(name).operator(made.operator).sides_at(level).values():
            answer = passes(made, said, Facts())
            assert answer is not bool(explain_at(made, said)), (made.operator, level, said.side)
            answers.add(answer)
    assert answers == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
def test_what_is_known_of_a_descriptor_before_a_change_holds_after_it(name: str) -> None:
    """Each field of one descriptor is given the value that it has in another one of the same operator."""
    random, failing = Random(0), 0
    for made, level in random.sample(drawn(name, 3), 60):
        spec = dialect(name).operator(made.operator)
        others = [other for other in shown_descriptors(spec, level, 4) if other.layout == made.layout]
        for said, other in product(spec.sides_at(level).values(), random.sample(others, min(len(others), 3))):
            for field, value in other.fields.items():
                given = {**made.fields, field: value}
                after = replace(made, fields=given, plain=False, oddities=())
                before = Facts()
                row_failures(made, said, before)
                changed = Changed(before, before.context(made, said), frozenset({field}))
                expected = row_failures(after, said, Facts())
                assert told(row_failures(after, said, changed)) == told(expected)
                failing += len(expected)
    assert failing > 100


def told(failures: list) -> list:
    return [(one, one.message, one.aspect, one.allowed) for one in failures]


@pytest.mark.parametrize("name", ["directml", "onnx"])
def test_tensors_that_surely_obey_their_rules_obey_each(name: str, monkeypatch) -> None:
    monkeypatch.setattr(obeying, "WORTH", 0)
    answers = set()
    for made, level in drawn(name, 5):
        for said in dialect(name).operator(made.operator).sides_at(level).values():
            facts = Facts()
            context = facts.context(made, said)
            for field, _, inner in facts.tensors(context) if said.tensor_rules else ():
                rules = said.rules_of_tensors[said.fields[field].kind]
                answer = rules.surely_hold(inner.fields["tensor"])
                judged = all(facts.judge(form, inner) is True for form in rules.forms)
                assert judged or not answer, (made.operator, field, inner.fields)
                answers.add((judged, answer))
    assert not answers or {(True, True), (False, False)} <= answers
    assert answers or name != "directml"
