"""The engine over columns gives each row of specs/logic.yaml, and of changes of its contexts, the compiled answer."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.rules.column_values import Column, Words, column
from specgate.rules.columns import compile_columns
from specgate.rules.compile import compile_resolved
from tests.rules.test_logic import ANSWERS, LOGIC, read_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.spec.operator_spec import OperatorSpec

_FIELDS, _VALUES = read_context(LOGIC["contexts"]["known"])
#: Operators that are fused are the same in all rows; tests/validate/test_many.py has them.
FUSED = {name for name, info in _FIELDS.items() if info["type"] in {"operator", "operator[]"}}
FIELDS = {name: info for name, info in _FIELDS.items() if name not in FUSED}
VALUES = {name: value for name, value in _VALUES.items() if name not in FUSED}
KNOWN = [
    case for case in LOGIC["cases"] if case["in"] == "known" and not any(name in case["expression"] for name in FUSED)
]
CASES = [pytest.param(case, id=case["expression"]) for case in KNOWN]
#: Besides small steps: what is neither in 32 bits nor in 64 once it is multiplied.
FAR = (0, 1, 2**31 - 1, 2**31, 2**40)
ROWS = 16


def changed(value: Any, draw: random.Random) -> Any:
    """Return a field's value with other numbers, types and words, of the same ranks and lengths."""
    if isinstance(value, bool):
        return draw.random() < 0.5
    if isinstance(value, int):
        return value if draw.random() < 0.4 else draw.choice((value + 1, value - 1, *FAR))
    if isinstance(value, float):
        return draw.choice((value, value + 0.5, -value, 0.0))
    if isinstance(value, TensorDesc):
        sizes = None if value.sizes is None else tuple(max(changed(size, draw), 0) for size in value.sizes)
        strides = None if value.strides is None else tuple(max(changed(one, draw), 0) for one in value.strides)
        held = None if value.value is None else tuple(changed(item, draw) for item in value.value)
        kind = draw.choice((value.type, value.type, "FLOAT32", "INT64", "UINT4"))
        return value._replace(type=kind, sizes=sizes, strides=strides, value=held)
    if isinstance(value, list):
        return [changed(item, draw) for item in value]
    return value


def stacked(values: list[Any], ids: dict[Any, int]) -> Any:
    """Return one value of rules for the values of all rows."""
    first = values[0]
    if all(type(value) is type(first) and value == first for value in values):
        return tuple(first) if isinstance(first, list) else first
    if isinstance(first, bool):
        return np.array(values)
    if isinstance(first, int):
        return column(np.array(values, np.int64))
    if isinstance(first, float):
        return Column(np.array(values))
    if isinstance(first, str):
        numbers = [ids.setdefault(word, len(ids)) for word in values]
        return Words(np.array(numbers), {word: ids[word] for word in values}, ids)
    if isinstance(first, TensorDesc):
        parts = {
            name: stacked([getattr(value, name) for value in values], ids)
            for name in ("type", "sizes", "strides", "value")
        }
        return first._replace(**parts)
    assert isinstance(first, list | tuple)
    return tuple(stacked(list(held), ids) for held in zip(*values, strict=True))


@pytest.fixture
def spec_of(make_spec: Callable[..., OperatorSpec]) -> Callable[[dict[str, Any]], OperatorSpec]:
    def make(case: dict[str, Any]) -> OperatorSpec:
        context = LOGIC["contexts"]["known"]
        return make_spec(FIELDS, {"case": case["expression"]}, limits=context["limits"], define=context["define"])

    return make


def answers(spec: OperatorSpec, rows: list[dict[str, Any]]) -> tuple[list[bool], list[bool], list[bool]]:
    """Return what the compiled check says of each row, what the columns say, and where that is open."""
    resolved = spec.resolve("3.0")
    assert resolved is not None
    compiled = compile_resolved(resolved)
    ids: dict[Any, int] = {}
    fields = {name: stacked([row[name] for row in rows], ids) for name in rows[0]}
    found = [np.broadcast_to(one, len(rows)).tolist() for one in compile_columns(resolved)(fields, len(rows))]
    return [compiled(row) for row in rows], found[0], found[1]


def rows_of(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the file's fields first, then changes of them."""
    draw = random.Random(case["expression"])
    return [VALUES, *({name: changed(value, draw) for name, value in VALUES.items()} for _ in range(ROWS))]


@pytest.mark.parametrize("case", CASES)
def test_each_row_has_the_answer_of_the_compiled_check(
    case: dict[str, Any], spec_of: Callable[[dict[str, Any]], OperatorSpec]
) -> None:
    spec, rows = spec_of(case), rows_of(case)
    _, (accepted,), (left,) = answers(spec, rows[:1])
    assert left or accepted is (ANSWERS[case["answer"]] in {True, None})
    wanted, found, opened = answers(spec, rows)
    assert not [
        row
        for row, *one, unsure in zip(rows, wanted, found, opened, strict=True)
        if not unsure and one[0] is not one[1]
    ]


def test_most_rows_get_an_answer(spec_of: Callable[[dict[str, Any]], OperatorSpec]) -> None:
    """An engine that left everything open would agree with all."""
    total = opened = accepting = 0
    for case in KNOWN[::5]:
        _, accepted, left = answers(spec_of(case), rows_of(case))
        total += len(left)
        opened += sum(left)
        accepting += sum(one and not other for one, other in zip(accepted, left, strict=True))
    assert opened < total / 4
    assert accepting > total / 10
