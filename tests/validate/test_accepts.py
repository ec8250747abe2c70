"""`accepts` says what `check_at` says, on the compiled path and on the explaining one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.descriptors.read import read_dict
from specgate.spec.tables import dialect
from specgate.validate.check import accepts, check_at
from specgate.validate.judge import answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.verdict import Basis

#: Every so many tables.
STEP = 5


def some_examples(name: str) -> Iterator[Descriptor]:
    """Yield the first example of some tables, and it with a type that few rows take, and with sizes that are unknown."""
    table = dialect(name)
    for operator in list(table.operators)[::STEP]:
        for example in list(table.operator(operator).table.examples.values())[:1]:
            made = read_dict(example["descriptor"], name)
            yield made
            for field, tensor in made.fields.items():
                if isinstance(tensor, TensorDesc):
                    sizes = None if tensor.sizes is None else (None,) * len(tensor.sizes)
                    others = (
                        tensor._replace(type=next(reversed(table.types))),
                        tensor._replace(sizes=sizes, strides=None),
                    )
                    yield from (replace(made, fields={**made.fields, field: o}, plain=False) for o in others)
                    break


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
@pytest.mark.parametrize("basis", ["documented", "observed", "both"])
def test_both_paths_say_the_same(name: str, basis: Basis) -> None:
    seen = set()
    for made in some_examples(name):
        levels = list(dialect(name).operator(made.operator).levels)
        for level in (levels[0], levels[-1]):
            said = check_at(made, level, basis).accepted
            assert accepts(made, level, basis) is said
            assert answer(made, level, basis, None) is said
            seen.add(said)
    assert {True, False} <= seen


def test_what_is_not_known_is_neither() -> None:
    data = {
        "op_type": "Transpose",
        "inputs": [{"elem_type": "FLOAT", "shape": [None, 3]}],
        "outputs": [{"elem_type": "FLOAT", "shape": [3, 4]}],
        "attributes": {"perm": [1, 0]},
    }
    made = read_dict(data, "onnx")
    assert answer(made, "21", "documented", None) is None
    assert check_at(made, "21", "documented").accepted is None


def test_one_implementation_is_asked_for_itself() -> None:
    """What one implementation refuses is no refusal of another."""
    table = dialect("openvino")
    for operator in list(table.operators):
        spec = table.operator(operator)
        for example in spec.table.examples.values():
            made = read_dict(example["descriptor"], "openvino")
            level = made.version or table.levels[-1]
            said = {by: check_at(made, level, "observed", by).accepted for by in ("factory", "ir")}
            assert {by: answer(made, level, "observed", by) for by in said} == said
            if len(set(said.values())) > 1:
                return
    pytest.fail("no table says anything of one implementation")
