"""`accepts` agrees with `check_at`, on the compiled and the explaining path."""

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

#: One table out of this many.
STEP = 5


def some_examples(name: str) -> Iterator[Descriptor]:
    """Yield examples of some tables: as they are, of a rare type, of unknown sizes."""
    table = dialect(name)
    for operator in list(table.operators)[::STEP]:
        for example in list(table.operator(operator).table.examples.values())[:1]:
            descriptor = read_dict(example["descriptor"], name)
            yield descriptor
            for field, tensor in descriptor.fields.items():
                if isinstance(tensor, TensorDesc):
                    sizes = None if tensor.sizes is None else (None,) * len(tensor.sizes)
                    others = (
                        tensor._replace(type=next(reversed(table.types))),
                        tensor._replace(sizes=sizes, strides=None),
                    )
                    yield from (
                        replace(descriptor, fields={**descriptor.fields, field: o}, plain=False) for o in others
                    )
                    break


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
@pytest.mark.parametrize("basis", ["documented", "observed", "both"])
def test_fast_and_explaining_paths_agree(name: str, basis: Basis) -> None:
    seen = set()
    for result in some_examples(name):
        levels = list(dialect(name).operator(result.operator).levels)
        for level in (levels[0], levels[-1]):
            message = check_at(result, level, basis).accepted
            assert accepts(result, level, basis) is message
            assert answer(result, level, basis, None) is message
            seen.add(message)
    assert {True, False} <= seen


def test_unknown_sizes_are_neither_accepted_nor_rejected() -> None:
    data = {
        "op_type": "Transpose",
        "inputs": [{"elem_type": "FLOAT", "shape": [None, 3]}],
        "outputs": [{"elem_type": "FLOAT", "shape": [3, 4]}],
        "attributes": {"perm": [1, 0]},
    }
    descriptor = read_dict(data, "onnx")
    assert answer(descriptor, "21", "documented", None) is None
    assert check_at(descriptor, "21", "documented").accepted is None


def test_an_implementation_is_checked_separately() -> None:
    """A rejection by one implementation does not count for another."""
    table = dialect("openvino")
    for operator in list(table.operators):
        spec = table.operator(operator)
        for example in spec.table.examples.values():
            descriptor = read_dict(example["descriptor"], "openvino")
            level = descriptor.version or table.levels[-1]
            entries = {by: check_at(descriptor, level, "observed", by).accepted for by in ("factory", "ir")}
            assert {by: answer(descriptor, level, "observed", by) for by in entries} == entries
            if len(set(entries.values())) > 1:
                return
    pytest.fail("no table says anything of one implementation")
