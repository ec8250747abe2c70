"""Every example of every table gives the stated outputs, at each of its levels."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict
from specgate.dialects import BUILT_IN
from specgate.errors import NoKernel
from specgate.execution.engine import execute_at
from specgate.execution.observed import find_differences, tolerance_of
from specgate.execution.types import numpy_type
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect

CASES = [
    (name, operator, example)
    for name in BUILT_IN
    for operator in dialect(name).operators
    for example, stated in dialect(name).operator(operator).table.examples.items()
    if stated.get("outputs") and dialect(name).operator(operator).table.recipe
]
WITHOUT_KERNEL = [
    (name, operator)
    for name in BUILT_IN
    for operator in dialect(name).operators
    if (table := dialect(name).operator(operator).table).recipe is None and table.examples
]


def test_each_dialect_has_examples():
    assert {name for name, _, _ in CASES} == set(BUILT_IN)


@pytest.mark.parametrize(("name", "operator", "example"), CASES, ids=str)
def test_example(name, operator, example):
    spec = dialect(name).operator(operator)
    stated = spec.table.examples[example]
    descriptor = read_dict(stated["descriptor"], name)
    for level in levels_of_example(spec, stated):
        outputs = execute_at(descriptor, stated.get("inputs", {}), level)
        unstated = {info.name for info in spec.outputs if info.optional} if spec.dialect.infers_outputs else set()
        assert set(stated["outputs"]) <= set(outputs) <= set(stated["outputs"]) | unstated
        for output, expected in stated["outputs"].items():
            declared = descriptor.fields[output]
            many = not isinstance(declared, TensorDesc)
            pairs = zip(outputs[output], expected, declared, strict=True) if many else [
                (outputs[output], expected, declared)
            ]  # fmt: skip
            for result, expected_value, tensor in pairs:
                values = np.array(expected_value, numpy_type(spec.dialect, tensor.type))
                wrong = find_differences(result, values.reshape(result.shape), tolerance_of(descriptor, level))
                assert not wrong.any(), (level, output, result, expected_value)


@pytest.mark.parametrize(("name", "operator"), WITHOUT_KERNEL)
def test_unsupported_operators_are_reported(name, operator):
    spec = dialect(name).operator(operator)
    descriptor = read_dict(next(iter(spec.table.examples.values()))["descriptor"], name)
    with pytest.raises(NoKernel, match=f"{name} {operator} is not implemented"):
        execute_at(descriptor, {}, list(spec.levels)[-1])
