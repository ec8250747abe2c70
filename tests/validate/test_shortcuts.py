"""Quick answers about a descriptor equal those of the complete evaluation."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import TYPE_CHECKING

import pytest

from specgate.rules import tensor_rules
from specgate.slotted import replace
from specgate.spec.tables import dialect
from specgate.validate.facts import ChangedFacts, Facts
from specgate.validate.quick_accept import has_no_failures
from specgate.validate.row import explain_at, row_failures
from tests.drawing import shown_descriptors

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor

DIALECTS = ("directml", "onnx", "openvino")


def draw_cases(name: str, every: int) -> list[tuple[Descriptor, str]]:
    """Return examples, counterexamples and changes of some operators, at their newest level."""
    table = dialect(name)
    pairs = []
    for operator in list(table.operators)[::every]:
        level = list(table.operator(operator).levels)[-1]
        pairs += [(descriptor, level) for descriptor in shown_descriptors(table.operator(operator), level, 4)]
    return pairs


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
def test_passing_descriptors_have_no_failures(name: str) -> None:
    answers = set()
    for result, level in draw_cases(name, 9):
        for message in dialect(name).operator(result.operator).sides_at(level).values():
            answer = has_no_failures(result, message, Facts())
            assert answer is not bool(explain_at(result, message)), (result.operator, level, message.side)
            answers.add(answer)
    assert answers == {True, False}


@pytest.mark.slow
@pytest.mark.parametrize("name", DIALECTS)
def test_cached_facts_are_valid_after_a_change(name: str) -> None:
    """Each field gets the value from another descriptor of the same operator."""
    random, failing = Random(0), 0
    for result, level in random.sample(draw_cases(name, 3), 60):
        spec = dialect(name).operator(result.operator)
        others = [other for other in shown_descriptors(spec, level, 4) if other.layout == result.layout]
        for message, other in product(spec.sides_at(level).values(), random.sample(others, min(len(others), 3))):
            for field, value in other.fields.items():
                inputs = {**result.fields, field: value}
                after = replace(result, fields=inputs, plain=False, oddities=())
                before = Facts()
                row_failures(result, message, before)
                changed = ChangedFacts(before, before.context(result, message), frozenset({field}))
                expected = row_failures(after, message, Facts())
                assert list_messages(row_failures(after, message, changed)) == list_messages(expected)
                failing += len(expected)
    assert failing > 100


def list_messages(failures: list) -> list:
    return [(item, item.message, item.aspect, item.allowed) for item in failures]


@pytest.mark.parametrize("name", ["directml", "onnx"])
def test_tensors_that_pass_quickly_satisfy_every_rule(name: str, monkeypatch) -> None:
    monkeypatch.setattr(tensor_rules, "MIN_EVALUATIONS", 0)
    answers = set()
    for result, level in draw_cases(name, 5):
        for message in dialect(name).operator(result.operator).sides_at(level).values():
            facts = Facts()
            context = facts.context(result, message)
            for field, _, inner in facts.tensors(context) if message.tensor_rules else ():
                rules = message.rules_of_tensors[message.fields[field].kind]
                answer = rules.certainly_hold(inner.fields["tensor"])
                judged = all(facts.judge(form, inner) is True for form in rules.forms)
                assert judged or not answer, (result.operator, field, inner.fields)
                answers.add((judged, answer))
    assert not answers or {(True, True), (False, False)} <= answers
    assert answers or name != "directml"
