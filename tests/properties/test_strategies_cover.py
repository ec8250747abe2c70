"""The strategies reach every type, rank and word of every row, and every finding.

Coverage over rules and rows, not over lines: a law that never sees a rule says nothing about it.
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

#: Number of draws for everything that an operator's rows name together, and for its optional parts; further draws per
#: item that rows name, since a draw has few of them: for single rows, and for all operators (some have 60 types); and
#: the number of draws between checks.
DRAWS = 300
FOR_EACH = 12
BATCH = 25


def example_of(spec: OperatorSpec) -> Descriptor:
    return read_dict(next(iter(spec.table.examples.values()))["descriptor"], spec.dialect.name)


def drawn_until(
    case: Case, seed: int, most: int, lacking: Callable[[list[Descriptor]], Iterator[object]]
) -> list[Descriptor]:
    """Draw valid descriptors until everything is covered, at most `most` times."""
    source = valid_descriptors(spec_of(case), case.level)
    pick = Random(seed).randint
    drawn: list[Descriptor] = []
    for count in range(1, most + 1):
        drawn.append(source.draw(pick))
        if count % BATCH == 0 and not any(lacking(drawn)):
            break
    return drawn


def more_draws(case: Case) -> int:
    """Return the number of draws for the items that a case's rows name."""
    return FOR_EACH * len(required_features(valid_descriptors(spec_of(case), case.level).sides))


def impossible(resolved: Resolved, name: str, value: object) -> bool:
    """Return whether a rule that reads only this field rejects the item."""
    context = Context({name: value}, resolved.numbers, resolved.spec.dialect.bits, resolved.spec.scope.defines)
    forms = [form for form in resolved.rules if form.fields == {name} and form.when is None]
    return any(evaluate(form.require, context) is False for form in forms)


def missing_in_rows(resolved: Resolved, drawn: list[Descriptor]) -> Iterator[tuple[str, object]]:
    """Yield missing items of each row, for conditional rows."""
    for row in resolved.alternatives:
        yield from missing(row, [descriptor for descriptor in drawn if row_of(descriptor, resolved) is row])


def missing(row: Resolved, drawn: list[Descriptor]) -> Iterator[tuple[str, object]]:
    """Yield the types and ranks of a row without a descriptor, and those with one."""
    for name, info in row.fields.items():
        cell = row.cells.get(name)
        if not info.tensor or cell is None:
            continue
        tensors = [
            descriptor.fields[name] for descriptor in drawn if isinstance(descriptor.fields.get(name), TensorDesc)
        ]
        if cell.types is not None:
            yield from ((name, kind) for kind in {tensor.type for tensor in tensors} ^ set(cell.types))
        if cell.ranks is not None and cell.ranks.high is not None:
            ranks = [rank for rank in range(cell.ranks.low, cell.ranks.high + 1) if rank in cell.ranks]
            possible = {rank for rank in ranks if not impossible(row, name, TensorDesc(None, (None,) * rank))}
            yield from ((name, rank) for rank in {len(tensor.sizes or ()) for tensor in tensors} ^ possible)


def undrawn_words(resolved: Resolved, drawn: list[Descriptor]) -> Iterator[tuple[str, str]]:
    """Yield possible attribute words that no descriptor has."""
    for name, info in resolved.fields.items():
        cell = resolved.cells.get(name)
        words = cell.values if cell is not None and cell.values is not None else info.words or ()
        values = [descriptor.fields[name] for descriptor in drawn if descriptor.fields.get(name) is not None]
        for word in [word for word in words if word not in values]:
            others = (
                replace(descriptor, fields={**descriptor.fields, name: word}, plain=False) for descriptor in drawn[:100]
            )
            if any(accepts(other, resolved.level, "documented") for other in others):
                yield name, word


def uncovered_parts(resolved: Resolved, drawn: list[Descriptor]) -> Iterator[str]:
    """Yield the optional parts that are always present, or never."""
    spec = resolved.spec
    for name, info in resolved.fields.items():
        if info.optional or (spec.dialect.infers_outputs and info.kind == "output"):
            left_out = {descriptor.fields.get(name) is None for descriptor in drawn}
            yield from [] if left_out == {False} | {not impossible(resolved, name, None)} else [name]
    if spec.dialect.tensor_rules:
        tensors = [tensor for descriptor in drawn for _, tensor in descriptor.tensors()]
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
def test_optional_parts_are_drawn_and_omitted(case: Case) -> None:
    resolved = resolved_of(case)
    most = DRAWS // 2 + (more_draws(case) if ALL else 0)
    drawn = drawn_until(case, 1, most, lambda drawn: uncovered_parts(resolved, drawn))
    assert list(uncovered_parts(resolved, drawn)) == []


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
def test_every_finding_can_be_provoked(case: Case) -> None:
    """A finding that cannot occur alone at one level must occur at another."""
    spec = spec_of(case)
    source = broken_descriptors(spec, case.level)
    pick = Random(2).randint
    for breaks in source.ids:
        result = next((m for m in (source.draw(breaks, pick) for _ in range(40)) if m is not None), None)
        assert result is not None, breaks
        assert breaks in {finding.id for finding in check_at(result.descriptor, case.level, "documented").findings}


@pytest.mark.parametrize(("dialect", "operator"), chosen_operators(), ids=str)
def test_every_rule_and_row_is_reached_at_some_level(dialect: str, operator: str) -> None:
    mine = [case for case in cases((dialect,)) if case.operator == operator]
    spec = spec_of(mine[0])
    possible = {breaks for case in mine for breaks in broken_descriptors(spec, case.level).aims}
    # Errors of empty arrays are not searched for; the verified counterexamples cover them.
    shown = {breaks for breaks in possible if breaks.rpartition("/")[2] in spec.table.counterexamples}
    # Input that a dialect's reader rejects never becomes a descriptor, so no check finds it.
    unreadable = {breaks for breaks in possible if breaks.endswith(("unknown-attribute", ".wrong-kind"))}
    # The place of a tensor does not show a change from attribute to input.
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
