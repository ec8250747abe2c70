"""OpenVINO operators move narrow types as they move floats, or explain why not."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.read import read_dict
from specgate.errors import Error
from specgate.execution.arguments import recipe_of
from specgate.execution.engine import execute_at
from specgate.execution.kernels import is_carried
from specgate.execution.types import numpy_type
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

pytest.importorskip("ml_dtypes", reason="NARROW TYPES ARE NOT TESTED: pip install ml-dtypes")

TABLES: Final = dialect("openvino")
CONVERTING: Final = {"Convert", "ConvertLike", "ConvertPromoteTypes"}
NAMES: Final = sorted(
    name for name in TABLES.tables.files if name not in CONVERTING and TABLES.operator(name).table.recipe
)
#: One of each kind, and values that all of them have.
KINDS: Final = {"i4": (0, 1, 7), "u2": (0, 1, 3), "f8e4m3": (0, 1, -2), "f8e5m2": (0, 1, 4), "f8e8m0": (1, 2, 4)}
#: Larger arrays are not created.
MOST: Final = 4096


def map_all(value: Any, item: Any) -> Any:
    if isinstance(value, TensorDesc):
        return item(value)
    return [item(each) for each in value]


def retype(descriptor: Descriptor, inputs: list[str], names: set[str], kind: str) -> Descriptor:
    """Return it with a type for some inputs, and without outputs."""

    def one(tensor: TensorDesc) -> TensorDesc:
        return tensor._replace(type=kind, value=None)

    fields = {name: descriptor.fields[name] for name in descriptor.fields if name in inputs}
    attributes = {info.name for info in TABLES.operator(descriptor.operator).attributes}
    kept = {name: value for name, value in descriptor.fields.items() if name in attributes}
    changed = {name: map_all(value, one) if name in names else value for name, value in fields.items()}
    return replace(descriptor, fields={**kept, **changed}, plain=False)


def choices(spec: OperatorSpec) -> Iterator[tuple[Descriptor, list[str], set[str], Mapping[str, Any]]]:
    """Yield examples, their inputs, inputs to change to a type, and elements.

    Either one input changes, or all of one type.
    """
    for example in spec.table.examples.values():
        try:
            descriptor = read_dict(example["descriptor"], "openvino")
        except Error:
            continue
        entries = {info.name: descriptor.fields.get(info.name) for info in spec.inputs}
        inputs = {name: value for name, value in entries.items() if value is not None and value != []}
        first = {n: v.type if isinstance(v, TensorDesc) else v[0].type for n, v in inputs.items()}
        same_kind = [{name for name, other in first.items() if other == kind} for kind in dict.fromkeys(first.values())]
        for names in [*same_kind, *({name} for name in inputs)]:
            yield descriptor, list(inputs), names, example.get("inputs", {})


def arrays_for(descriptor: Descriptor, inputs: list[str], names: set[str], kind: str, shown: Mapping[str, Any]) -> Any:
    random = np.random.default_rng(5)

    def one(tensor: TensorDesc) -> Any:
        shape = tuple(size for size in tensor.sizes or () if isinstance(size, int))
        if prod(shape) > MOST:
            return None
        drawn = random.choice(KINDS[kind], shape)
        return drawn.astype(numpy_type(TABLES, str(tensor.type)))

    entries = {name: shown[name] for name in inputs if name in shown and name not in names}
    return entries | {n: map_all(descriptor.fields[n], one) for n in inputs if n not in entries}


@pytest.mark.parametrize("name", NAMES)
def test_narrow_types_are_moved_or_rejected(name):
    spec = TABLES.operator(name)
    recipe = recipe_of(spec)
    moved = {field for argument, field in recipe["arrays"].items() if is_carried(recipe["kernel"], argument)}
    for descriptor, inputs, names, shown in choices(spec):
        level = descriptor.version or next(iter(spec.levels))
        for kind in KINDS:
            narrow = retype(descriptor, inputs, names, kind)
            try:
                ours = execute_at(narrow, arrays_for(narrow, inputs, names, kind, shown), level)
            except Error:
                continue
            assert names & moved, f"{name} computes with {sorted(names)} of {kind}"
            wide = retype(descriptor, inputs, names, "f32")
            try:
                theirs = execute_at(wide, arrays_for(wide, inputs, names, kind, shown), level)
            except Error:
                continue
            for field, array in ours.items():
                for mine, other in zip(numbers(array), numbers(theirs[field]), strict=True):
                    np.testing.assert_array_equal(mine, other)


def numbers(array: Any) -> list[Any]:
    return [np.ma.getdata(each).astype(np.float32) for each in array] if isinstance(array, list) else numbers([array])
