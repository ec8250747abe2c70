"""The strategies reach what the tables say: every type, rank and word of every row, and every finding a check can raise.

Coverage over rules and rows, not over lines: a law that is never shown a rule says nothing about it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from random import Random
from typing import TYPE_CHECKING

import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import InputError
from specgate.generate.features import required_features
from specgate.generate.near_misses import broken_descriptors
from specgate.generate.repair import row_of
from specgate.generate.walk import valid_descriptors
from specgate.rules.evaluate import Context, evaluate
from specgate.testing import Case, cases
from specgate.validate.check import accepts, check_at
from tests.properties.support import ALL, chosen_cases, chosen_operators, resolved_of, spec_of, steady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.forms import Resolved
    from specgate.spec.operator_spec import OperatorSpec

#: How many draws must be enough for what an operator's rows name together, and for its optional parts; how many more for
#: each thing that rows name, since one draw has few of them: where each row is asked by itself, and where all operators
#: are asked (some take 60 types). After how many it is asked.
DRAWS = 300
FOR_EACH = 12
BATCH = 25


def example_of(spec: OperatorSpec) -> Descriptor:
    return read_dict(next(iter(spec.table.examples.values()))["descriptor"], spec.dialect.name)


def drawn_until(
    case: Case, seed: int, most: int, lacking: Callable[[list[Descriptor]], Iterator[object]]
) -> list[Descriptor]:
    """Draw valid descriptors until nothing is lacking, `most` times at most."""
    source = valid_descriptors(spec_of(case), case.level)
    pick = Random(seed).randint
    drawn: list[Descriptor] = []
    for count in range(1, most + 1):
        drawn.append(source.draw(pick))
        if count % BATCH == 0 and not any(lacking(drawn)):
            break
    return drawn


def more_draws(case: Case) -> int:
    """Return how many draws the things that the rows of a case name are worth."""
    return FOR_EACH * len(required_features(valid_descriptors(spec_of(case), case.level).sides))


def impossible(resolved: Resolved, name: str, value: object) -> bool:
    """Return whether a rule that reads this field alone refuses it whatever the others are."""
    context = Context({name: value}, resolved.numbers, resolved.spec.dialect.bits, resolved.spec.scope.defines)
    forms = [form for form in resolved.rules if form.fields == {name} and form.when is None]
    return any(evaluate(form.require, context) is False for form in forms)


def missing_in_rows(resolved: Resolved, drawn: list[Descriptor]) -> Iterator[tuple[str, object]]:
    """Yield what `missing` does of each row by itself, where rows have conditions."""
    for row in resolved.alternatives:
        yield from missing(row, [made for made in drawn if row_of(made, resolved) is row])


def missing(row: Resolved, drawn: list[Descriptor]) -> Iterator[tuple[str, object]]:
    """Yield the types and ranks of a row that no descriptor has, and those that one has beside them."""
    for name, info in row.fields.items():
        cell = row.cells.get(name)
        if not info.tensor or cell is None:
            continue
        tensors = [made.fields[name] for made in drawn if isinstance(made.fields.get(name), TensorDesc)]
        if cell.types is not None:
            yield from ((name, kind) for kind in {tensor.type for tensor in tensors} ^ set(cell.types))
        if cell.ranks is not None and cell.ranks.high is not None:
            ranks = [rank for rank in range(cell.ranks.low, cell.ranks.high + 1) if rank in cell.ranks]
            possible = {rank for rank in ranks if not impossible(row, name, TensorDesc(None, (None,) * rank))}
            yield from ((name, rank) for rank in {len(tensor.sizes or ()) for tensor in tensors} ^ possible)


def undrawn_words(resolved: Resolved, drawn: list[Descriptor]) -> Iterator[tuple[str, str]]:
    """Yield the words of attributes that no descriptor has although one could."""
    for name, info in resolved.fields.items():
        cell = resolved.cells.get(name)
        words = cell.values if cell is not None and cell.values is not None else info.words or ()
        values = [made.fields[name] for made in drawn if made.fields.get(name) is not None]
        for word in [word for word in words if word not in values]:
            others = (replace(made, fields={**made.fields, name: word}, plain=False) for made in drawn[:100])
            if any(accepts(other, resolved.level, "documented") for other in others):
                yield name, word


def never_drawn(resolved: Resolved, drawn: list[Descriptor]) -> Iterator[str]:
    """Yield the optional parts that are always there, or never."""
    spec = resolved.spec
    for name, info in resolved.fields.items():
        if info.optional or (spec.dialect.infers_outputs and info.kind == "output"):
            left_out = {made.fields.get(name) is None for made in drawn}
            yield from [] if left_out == {False} | {not impossible(resolved, name, None)} else [name]
    if spec.dialect.tensor_rules:
        tensors = [tensor for made in drawn for _, tensor in made.tensors()]
        yield from [] if any(tensor.strides is not None and 0 in tensor.strides for tensor in tensors) else ["strides"]
        yield from [] if any(tensor.size_in_bytes is not None for tensor in tensors) else ["size"]
        yield from [] if any(tensor.alignment for tensor in tensors) else ["alignment"]


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
def test_every_type_rank_and_word_of_a_row_is_drawn(case: Case) -> None:
    resolved = resolved_of(case)
    most = DRAWS + (more_draws(case) if ALL else 0)
    drawn = drawn_until(case, 0, most, lambda drawn: chain(missing(resolved, drawn), undrawn_words(resolved, drawn)))
    assert list(missing(resolved, drawn)) == []
    assert list(undrawn_words(resolved, drawn)) == []


@pytest.mark.parametrize("case", [case for case in chosen_cases() if resolved_of(case).cases], ids=str)
def test_every_type_and_rank_of_each_conditional_row_is_drawn(case: Case) -> None:
    resolved = resolved_of(case)
    most = DRAWS + more_draws(case)
    drawn = drawn_until(case, 0, most, lambda drawn: missing_in_rows(resolved, drawn))
    assert list(missing_in_rows(resolved, drawn)) == []


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
def test_optional_parts_are_drawn_and_left_out(case: Case) -> None:
    resolved = resolved_of(case)
    most = DRAWS // 2 + (more_draws(case) if ALL else 0)
    drawn = drawn_until(case, 1, most, lambda drawn: never_drawn(resolved, drawn))
    assert list(never_drawn(resolved, drawn)) == []


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
    # What an array of none breaks is not searched for; the counterexamples, which are checked, show it.
    shown = {breaks for breaks in possible if breaks.rpartition("/")[2] in spec.table.counterexamples}
    # What a dialect's reader refuses as unusable never becomes a descriptor, so no check can find it.
    unreadable = {breaks for breaks in possible if breaks.endswith(("unknown-attribute", ".wrong-kind"))}
    # What moves from an attribute to an input is not distinguished by its place.
    moved = {breaks for breaks in possible if breaks.endswith(".exists") and not steady(spec)}
    reached = set(broken_descriptors(spec, mine[0].level).ids)
    unreadable = set() if unreadable & reached else unreadable  # a reader refuses all of them or none
    for case in mine[1:]:
        source = broken_descriptors(spec, case.level)
        if set(source.aims) - reached - shown - unreadable - moved:  # finding out which can be met takes long
            reached |= set(source.ids)
    assert possible - reached - shown - unreadable - moved == set()
    if unreadable:
        data = write_dict(replace(example_of(spec), oddities=()))
        fields = next(value for value in data.values() if isinstance(value, dict))
        with pytest.raises(InputError):
            read_dict({**data, **{k: {**v, "Unknown": 1} for k, v in data.items() if v is fields}}, dialect)
    assert {spec.row_at(case.level) for case in mine} == {spec.row_at(level) for level in spec.levels}
