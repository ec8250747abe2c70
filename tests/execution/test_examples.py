"""Every example of every table is executed and gives the stated outputs, at every level that has it."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.descriptors.read import read_dict
from specgate.execution.engine import execute_at
from specgate.execution.types import numpy_type
from specgate.spec.examples import levels_of_example
from specgate.spec.store import DIALECTS
from specgate.spec.tables import dialect

CASES = [
    (name, operator, example)
    for name in DIALECTS
    for operator in dialect(name).operators
    for example in dialect(name).operator(operator).raw.get("examples", {})
]


def test_each_dialect_has_examples():
    assert {name for name, _, _ in CASES} == set(DIALECTS)


@pytest.mark.parametrize(("name", "operator", "example"), CASES, ids=str)
def test_example(name, operator, example):
    spec = dialect(name).operator(operator)
    stated = spec.raw["examples"][example]
    descriptor = read_dict(stated["descriptor"], name)
    for level in levels_of_example(spec, stated):
        outputs = execute_at(descriptor, stated["inputs"], level)
        assert set(outputs) == set(stated["outputs"])
        for output, expected in stated["outputs"].items():
            dtype = numpy_type(spec.dialect, descriptor.fields[output].type)
            assert outputs[output].dtype == dtype
            tolerance = float(spec.raw["tolerance"])
            assert outputs[output].shape == np.shape(expected)
            if tolerance == 0:
                assert np.array_equal(outputs[output], np.array(expected, dtype)), (level, output)
            else:
                assert np.allclose(outputs[output], np.array(expected, dtype), rtol=0, atol=tolerance), (level, output)
