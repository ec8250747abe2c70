"""Rules over columns give each row the compiled answer.

The rows are the contexts of specs/logic.yaml, and changes of them.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.rules.columns import Words, column, compile_columns
from specgate.rules.compile import compile_resolved
from tests.rules.test_logic import ANSWERS, LOGIC, read_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.spec.operator_spec import OperatorSpec

_FIELDS, _VALUES = read_context(LOGIC["contexts"]["known"])
#: Fused operators are the same in all rows; tests/validate/test_many.py covers them.
FUSED = {name for name, info in _FIELDS.items() if info["type"] in {"operator", "operator[]"}}
FIELDS = {name: info for name, info in _FIELDS.items() if name not in FUSED}
VALUES = {name: value for name, value in _VALUES.items() if name not in FUSED}
KNOWN = [
    case for case in LOGIC["cases"] if case["in"] == "known" and not any(name in case["expression"] for name in FUSED)
]
CASES = [pytest.param(case, id=case["expression"]) for case in KNOWN]
#: In addition to small steps: numbers whose multiples exceed 32 or 64 bits.
FAR = (0, 1, 2**31 - 1, 2**31, 2**40)
ROWS = 16


def change(value: Any, draw: random.Random) -> Any:
    """Return a field's value with other numbers, types and words of the same shape."""
    if isinstance(value, bool):
        return draw.random() < 0.5
    if isinstance(value, int):
        return value if draw.random() < 0.4 else draw.choice((value + 1, value - 1, *FAR))
    if isinstance(value, float):
        return draw.choice((value, value + 0.5, -value, 0.0))
    if isinstance(value, TensorDesc):
        sizes = None if value.sizes is None else tuple(max(change(size, draw), 0) for size in value.sizes)
        strides = None if value.strides is None else tuple(max(change(number, draw), 0) for number in value.strides)
        items = None if value.value is None else tuple(change(item, draw) for item in value.value)
        kind = draw.choice((value.type, value.type, "FLOAT32", "INT64", "UINT4"))
        return value._replace(type=kind, sizes=sizes, strides=strides, value=items)
    if isinstance(value, list):
        return [change(item, draw) for item in value]
    return value


def stack(values: list[Any], ids: dict[Any, int]) -> Any:
    """Return one value of rules for the values of all rows."""
    first = values[0]
    if all(type(value) is type(first) and value == first for value in values):
        return tuple(first) if isinstance(first, list) else first
    if isinstance(first, int | float):
        return column(np.array(values))
    if isinstance(first, str):
        numbers = [ids.setdefault(word, len(ids)) for word in values]
        return Words(np.array(numbers), {word: ids[word] for word in values})
    if isinstance(first, TensorDesc):
        parts = {
            name: stack([getattr(value, name) for value in values], ids)
            for name in ("type", "sizes", "strides", "value")
        }
        return first._replace(**parts)
    assert isinstance(first, list | tuple)
    return tuple(stack(list(items), ids) for items in zip(*values, strict=True))


@pytest.fixture
def spec_of(make_spec: Callable[..., OperatorSpec]) -> Callable[[dict[str, Any]], OperatorSpec]:
    def make(case: dict[str, Any]) -> OperatorSpec:
        context = LOGIC["contexts"]["known"]
        return make_spec(FIELDS, {"case": case["expression"]}, limits=context["limits"], define=context["define"])

    return make


def answers(spec: OperatorSpec, rows: list[dict[str, Any]]) -> tuple[list[bool], list[bool], list[bool]]:
    """Return the compiled answers and the columns' answers per row, and the open ones."""
    resolved = spec.resolve("3.0")
    assert resolved is not None
    compiled = compile_resolved(resolved)
    ids: dict[Any, int] = {}
    fields = {name: stack([row[name] for row in rows], ids) for name in rows[0]}
    items = [np.broadcast_to(item, len(rows)).tolist() for item in compile_columns(resolved)(fields)]
    return [compiled(row) for row in rows], items[0], items[1]


def rows_of(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the file's fields first, then changes of them."""
    draw = random.Random(case["expression"])
    return [VALUES, *({name: change(value, draw) for name, value in VALUES.items()} for _ in range(ROWS))]


@pytest.mark.parametrize("case", CASES)
def test_each_row_has_the_answer_of_the_compiled_check(
    case: dict[str, Any], spec_of: Callable[[dict[str, Any]], OperatorSpec]
) -> None:
    spec, rows = spec_of(case), rows_of(case)
    _, (accepted,), (left,) = answers(spec, rows[:1])
    assert left or accepted is (ANSWERS[case["answer"]] in {True, None})
    expected, result, opened = answers(spec, rows)
    assert not [
        row
        for row, *item, unsure in zip(rows, expected, result, opened, strict=True)
        if not unsure and item[0] is not item[1]
    ]


def test_most_rows_get_an_answer(spec_of: Callable[[dict[str, Any]], OperatorSpec]) -> None:
    """An engine that left all rows open would pass every comparison."""
    total = opened = accepting = 0
    for case in KNOWN[::5]:
        _, accepted, left = answers(spec_of(case), rows_of(case))
        total += len(left)
        opened += sum(left)
        accepting += sum(item and not other for item, other in zip(accepted, left, strict=True))
    assert opened < total / 4
    assert accepting > total / 10
