"""`accepts_many` answers each row as `accepts` does, on every basis."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import specgate
from specgate.descriptors.core import RECORDS, Descriptor, TensorDesc
from specgate.spec.tables import dialect
from specgate.targets import parse_target
from specgate.testing import Case, descriptors, near_valid
from specgate.validate import many
from specgate.validate.check import accepts
from specgate.verdict import Basis
from tests.drawing import shown_descriptors
from tests.properties.support import chosen_cases, spec_of
from tests.properties.to_columns import columns_of

if TYPE_CHECKING:
    from collections.abc import Sequence

BASES: tuple[Basis, ...] = get_args(Basis)
NUMBERS = (0, 1, 2, 3, 4, 7, 16, 63, 64, 255, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1)
FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0**64, 1e300, float("inf"), float("nan"))


def target_of(case: Case) -> str:
    """Return a target that checks an operator at a case's level."""
    spec, table = spec_of(case), dialect(case.dialect)
    return next(f"{case.dialect}:{at}" for at in table.levels if spec.level_for(at) == case.level)


def number(random: Random, value: Any, low: int) -> Any:
    if isinstance(value, bool):
        return random.random() < 0.5
    if isinstance(value, float):
        return random.choice((value, value + 1, *FLOATS))
    return max(low, value + random.choice((-1, 1, 2)) if random.random() < 0.5 else random.choice(NUMBERS))


def change(descriptor: Descriptor, random: Random) -> Descriptor:
    """Return a descriptor of the same structure with other numbers and words."""
    spec = dialect(descriptor.dialect).operator(descriptor.operator)
    fields = dict(descriptor.fields)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3)) if fields else 0):
        name = random.choice(list(fields))
        info, value = spec.fields[name], fields[name]
        low = 0 if info.type.startswith("uint") else -(2**62)
        if isinstance(value, TensorDesc):
            fields[name] = changed_tensor(value, random, list(spec.dialect.types))
        elif info.type in RECORDS:
            part = random.choice(value._fields)
            fields[name] = value._replace(**{part: number(random, getattr(value, part), 0)})
        elif isinstance(value, str):
            fields[name] = random.choice((*(info.words or ()), value, "another"))
        elif isinstance(value, list) and value:
            place = random.randrange(len(value))
            item = value[place]
            if isinstance(item, TensorDesc):
                item = changed_tensor(item, random, list(spec.dialect.types))
            elif isinstance(item, int | float):
                item = number(random, item, low)
            fields[name] = [*value[:place], item, *value[place + 1 :]]
        elif isinstance(value, int | float) and not info.type.startswith("enum:"):  # a number of a word is read as it
            fields[name] = number(random, value, low)
    return replace(descriptor, fields=fields, plain=False)


def changed_tensor(tensor: TensorDesc, random: Random, types: list[str]) -> TensorDesc:
    part = random.choice([name for name in tensor._fields if getattr(tensor, name) not in {None, ()}])
    value = getattr(tensor, part)
    if part == "type":
        return tensor._replace(type=random.choice(types))
    if isinstance(value, int):
        return tensor._replace(**{part: number(random, value, 0)})
    place = random.randrange(len(value))
    if not isinstance(value[place], int | float):
        return tensor
    other = number(random, value[place], -9 if part == "value" else 0)
    parts: dict[str, Any] = {part: (*value[:place], other, *value[place + 1 :])}
    return tensor._replace(**parts)


def agree(result: Sequence[Descriptor], level: str, target: str, basis: Basis) -> list[bool]:
    rows = [
        replace(descriptor, version=None, layout=None)
        for descriptor in result
        if descriptor.plain and descriptor.version in {None, level}
    ]
    columns = columns_of(rows) if rows else {}
    if not columns:
        return []
    array = specgate.accepts_many(rows[0].operator, columns, target, basis)
    expected = [accepts(descriptor, level, basis, parse_target(target).by) is True for descriptor in rows]
    wrong = [
        descriptor
        for descriptor, message, right in zip(rows, array.tolist(), expected, strict=True)
        if message is not right
    ]
    assert wrong == []
    return expected


@pytest.mark.parametrize("case", chosen_cases(), ids=str)
@given(data=st.data())
def test_rows_of_drawn_descriptors(case: Case, data: st.DataObject) -> None:
    target = target_of(case)
    near = near_valid(*case).map(lambda broken: broken.descriptor)
    drawn = data.draw(st.lists(descriptors(*case) | near, min_size=1, max_size=3))
    random = data.draw(st.randoms(use_true_random=False))
    result = [*drawn, *(change(item, random) for item in drawn if item.plain for _ in range(6))]
    basis = data.draw(st.sampled_from(BASES))
    note(str(result))
    agree(result, case.level, target, basis)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_rows_of_every_operator(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Changed examples and counterexamples of every operator; few need row-by-row checks."""
    questions: set[str] = set()

    def count_call(result: Descriptor, *others: Any) -> bool | None:
        questions.add(result.operator)
        return accepts(result, *others)

    monkeypatch.setattr(many, "accepts", count_call)
    seen: list[bool] = []
    for operator in dialect(name).operators:
        spec = dialect(name).operator(operator)
        level = list(spec.levels)[-1]
        target = target_of(Case(name, operator, level))
        random = Random(operator)
        shown = [item for item in shown_descriptors(spec, level, 8) if item.plain]
        result = [*shown, *(change(item, random) for item in shown[:4] for _ in range(8))]
        if result:
            seen += agree(result, level, target, random.choice(BASES))
    assert 0.1 < sum(seen) / len(seen) < 0.9
    assert len(questions) <= len(dialect(name).operators) // 10, sorted(questions)
