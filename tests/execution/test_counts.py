"""The executor rejects a descriptor whose count differs from the array's length."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict
from specgate.errors import InputError
from specgate.execution.engine import execute_at
from specgate.execution.types import numpy_type
from specgate.spec.lint import change_paths, levels_of_example
from specgate.spec.tables import dialect

TABLES = dialect("directml")
COUNTS = [
    (name, field.name)
    for name in TABLES.operators
    if TABLES.operator(name).table.recipe
    for field in TABLES.operator(name).fields.values()
    if field.counts
]


def fill(descriptor):
    """Return ones for every input."""

    def one(tensor):
        return np.ones(tensor.sizes, numpy_type(TABLES, tensor.type))

    values = {info.name: descriptor.fields.get(info.name) for info in TABLES.operator(descriptor.operator).inputs}
    return {
        name: one(value) if isinstance(value, TensorDesc) else [one(each) for each in value]
        for name, value in values.items()
        if value is not None
    }


@pytest.mark.parametrize(("name", "field"), COUNTS)
@pytest.mark.parametrize("by", [-1, 1])
def test_a_count_that_contradicts_its_arrays_is_rejected(name, field, by):
    spec = TABLES.operator(name)
    tried = 0
    for example in spec.table.examples.values():
        level = levels_of_example(spec, example)[-1]
        whole = read_dict(example["descriptor"], "directml")
        if all(whole.fields.get(counted) is None for counted in spec.fields[field].counts):
            continue
        execute_at(whole, fill(whole), level)
        broken = change_paths(example["descriptor"], {f"desc.{field}": whole.fields[field] + by})
        with pytest.raises(InputError, match=rf"{field}: is .*, but \w+ has"):
            execute_at(read_dict(broken, "directml"), fill(whole), level)
        tried += 1
    assert tried


def test_every_count_rule_is_also_declared_as_data():
    """The tables state the counted arrays as a rule and as data for the executor."""
    for name in TABLES.operators:
        spec = TABLES.operator(name)
        for field in spec.fields.values():
            parts = [f"len({counted})" for counted in field.counts]
            rules = " ".join(form.require.text for form in spec.rule_forms if f"{field.name} ==" in form.require.text)
            assert all(part in rules for part in parts), (name, field.name)
            if field.name.endswith("Count") and "len(" in rules:
                assert parts, (name, field.name)


def test_an_empty_count_names_the_array_and_its_length():
    (example, *_) = TABLES.operator("JOIN").table.examples.values()
    descriptor = read_dict(change_paths(example["descriptor"], {"desc.InputCount": 0}), "directml")
    with pytest.raises(InputError, match=r"InputCount: is 0, but InputTensors has \d elements"):
        execute_at(descriptor, fill(descriptor), "6.4")
