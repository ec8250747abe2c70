"""Operators to fuse into others: their own attributes, drawn by their own tables."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.testing.choices import rotated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from specgate.spec.tables import OperatorSpec
    from specgate.testing.problem import Problem

__all__ = ["operator_candidates"]

_TRIES: Final = 3
_known: WeakKeyDictionary[OperatorSpec, dict[str, Problem]] = WeakKeyDictionary()


def operator_candidates(problem: Problem, name: str, pick: Callable[[int, int], int]) -> Iterator[Descriptor]:
    """Yield operators for the field `name`: ones that it takes, or that it does not where that is the goal."""
    goal = problem.goal
    wrong = goal is not None and (goal.kind, goal.name) == ("operator", name)
    fitting, strange = problem.operators(name)
    ways = rotated(pick, (0, 1, 2)) if wrong else iter((0,))
    for way in ways:
        for operator in list(rotated(pick, strange if way == 1 else fitting))[:_TRIES]:
            made = _drawn(problem, operator, pick)
            if made is not None and wrong and way != 1:
                made = _damaged(problem, made, with_tensor=way == 2)
            if made is not None:
                yield made


def _drawn(problem: Problem, operator: str, pick: Callable[[int, int], int]) -> Descriptor | None:
    from specgate.testing.solve import solve  # which comes back here for the operators inside operators

    inner = _attributes_of(problem.spec.dialect.operator(operator), problem.sides[0].level)
    return None if inner is None else solve(inner, pick, lambda made: made)


def _attributes_of(spec: OperatorSpec, level: str) -> Problem | None:
    """Return the problem of an operator's attributes alone, None where it does not exist at the level."""
    from specgate.testing.problem import Problem

    kept = _known.setdefault(spec, {})
    if level not in kept:
        resolved = spec.resolve(level)
        if resolved is None:
            return None
        row = resolved.cases[0].resolved if resolved.cases else resolved
        fields = {name: info for name, info in row.fields.items() if info.kind == "attribute"}
        rules = tuple(form for form in row.rules if form.fields <= set(fields))
        kept[level] = Problem([replace(row, fields=fields, rules=rules, tensor_rules=(), cases=())])
    return kept[level]


def _damaged(problem: Problem, made: Descriptor, *, with_tensor: bool) -> Descriptor | None:
    """Return the operator with a tensor of its own, or without an attribute that it requires."""
    spec = problem.spec.dialect.operator(made.operator)
    if with_tensor:
        tensor: Any = TensorDesc(next(iter(spec.dialect.types)), (1, 1, 1, 1))
        name = next((info.name for info in spec.inputs), None)
        return None if name is None else replace(made, fields={name: tensor, **made.fields}, plain=False)
    required = next((info.name for info in spec.attributes if not info.optional and info.default is None), None)
    if required is None or required not in made.fields:
        return None
    left = {name: value for name, value in made.fields.items() if name != required}
    return replace(made, fields=left, plain=False)
