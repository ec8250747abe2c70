"""The strategies reach what the tables say: every type, rank and word of every row, and every finding a check can raise.

Coverage over rules and rows, not over lines: a law that is never shown a rule says nothing about it.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import InputError
from specgate.testing import Case, cases
from specgate.testing.broken import broken_descriptors
from specgate.testing.generate import valid_descriptors
from specgate.validate.check import check_at
from tests.properties.support import chosen_cases, chosen_operators, spec_of, steady

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.tables import OperatorSpec

DRAWS = 300


def example_of(spec: OperatorSpec) -> Descriptor:
    return read_dict(next(iter(spec.raw["examples"].values()))["descriptor"], spec.dialect.name)


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
def test_every_type_rank_and_word_of_a_row_is_drawn(case: Case) -> None:
    spec = spec_of(case)
    resolved = spec.resolve(case.level)
    assert resolved is not None
    source = valid_descriptors(spec, case.level)
    pick = Random(0).randint
    drawn = [made for made in (source.draw(pick) for _ in range(DRAWS)) if made is not None]
    assert len(drawn) > DRAWS // 2
    for name, info in resolved.fields.items():
        values = [made.fields[name] for made in drawn if made.fields.get(name) is not None]
        cell = resolved.cells.get(name)
        words = cell.values if cell is not None and cell.values is not None else info.words or ()
        for word in [word for word in words if word not in values]:
            others = [replace(made, fields={**made.fields, name: word}, plain=False) for made in drawn[:100]]
            assert not any(check_at(other, case.level, "documented").accepted for other in others), (name, word)
        if not info.tensor or cell is None:
            continue
        tensors = [value for value in values if isinstance(value, TensorDesc)]
        if cell.types is not None:
            assert {tensor.type for tensor in tensors} == set(cell.types)
        if cell.ranks is not None and cell.ranks.high is not None:
            wanted = {rank for rank in range(cell.ranks.low, cell.ranks.high + 1) if rank in cell.ranks}
            assert {len(tensor.sizes or ()) for tensor in tensors} == wanted


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
def test_optional_parts_are_drawn_and_left_out(case: Case) -> None:
    spec = spec_of(case)
    source = valid_descriptors(spec, case.level)
    pick = Random(1).randint
    drawn = [made for made in (source.draw(pick) for _ in range(DRAWS // 2)) if made is not None]
    loose = spec.dialect.unstated_outputs
    for info in spec.fields.values():
        if not spec.dialect.holds(case.level, info.since, info.until):
            continue
        if info.optional or (loose and info.kind == "output"):
            assert {made.fields.get(info.name) is None for made in drawn} == {True, False}, info.name
    if spec.dialect.tensor_rules:
        tensors = [tensor for made in drawn for _, tensor in made.tensors()]
        assert any(tensor.strides is not None and 0 in tensor.strides for tensor in tensors)
        assert any(tensor.size_in_bytes is not None for tensor in tensors)
        assert any(tensor.alignment for tensor in tensors)


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
def test_every_finding_can_be_brought_about(case: Case) -> None:
    """What no descriptor can raise alone at one level must be raised at another."""
    spec = spec_of(case)
    source = broken_descriptors(spec, case.level)
    pick = Random(2).randint
    for breaks in source.ids:
        made = next((m for m in (source.draw(breaks, pick) for _ in range(40)) if m is not None), None)
        assert made is not None, breaks
        assert breaks in {finding.id for finding in check_at(made.descriptor, case.level, "documented").findings}


@pytest.mark.parametrize(("dialect", "operator"), chosen_operators(), ids=str)
def test_every_rule_and_row_is_reached_at_some_level(dialect: str, operator: str) -> None:
    mine = [case for case in cases((dialect,)) if case.operator == operator]
    spec = spec_of(mine[0])
    possible = {breaks for case in mine for breaks in broken_descriptors(spec, case.level).aims}
    reached = {breaks for case in mine for breaks in broken_descriptors(spec, case.level).ids}
    # What an array of none breaks is not searched for; the counterexamples, which are checked, show it.
    reached |= {breaks for breaks in possible if breaks.rpartition("/")[2] in spec.raw.get("counterexamples", {})}
    # What a dialect's reader refuses as unusable never becomes a descriptor, so no check can find it.
    unreadable = {breaks for breaks in possible - reached if breaks.endswith(("unknown-attribute", ".wrong-kind"))}
    # What moves from an attribute to an input is not told apart by its place.
    moved = {breaks for breaks in possible - reached if breaks.endswith(".exists") and not steady(spec)}
    assert possible - reached == unreadable | moved
    if unreadable:
        data = write_dict(replace(example_of(spec), oddities=()))
        fields = next(value for value in data.values() if isinstance(value, dict))
        with pytest.raises(InputError):
            read_dict({**data, **{k: {**v, "Unknown": 1} for k, v in data.items() if v is fields}}, dialect)
    assert {spec.row_at(case.level) for case in mine} == set(spec.rows)
