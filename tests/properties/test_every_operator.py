"""Random changes of every operator's examples, at the levels where it differs.

The laws in the files next to this one search for descriptors of chosen operators; this one covers all operators without
a search.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.descriptors.positional import reordered_for
from specgate.descriptors.read import read_dict, write_dict
from specgate.errors import InputError, NoKernel
from specgate.execution.engine import execute_at
from specgate.execution.types import numpy_type
from specgate.generate.moves import Mutator
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from specgate.testing import reproducing
from specgate.validate.check import accepts
from specgate.validate.facts import Facts
from specgate.validate.row import explain_at
from tests.properties.support import MAX_BYTES, carry, list_unclaimed, shown_operators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

#: Changed examples per operator and level; the number of accepted ones that are executed.
CHANGES = 40
EXECUTED = 4
SMALL = 4096
#: OpenVINO operators that limit nothing, or hardly anything; errors in port maps are found in files.
TAKES_ALL = ("Result", "Loop", "TensorIterator")


def levels_that_differ(spec: OperatorSpec) -> list[str]:
    """Return the first and the newest level, and the newest of a row in between."""
    rows = [level for level in spec.levels if level in spec.rows]
    return list(dict.fromkeys([rows[0], rows[len(rows) // 2], list(spec.levels)[-1]]))


def changed_examples(spec: OperatorSpec, level: str) -> Iterator[Descriptor]:
    random = Random(f"{spec.name} {level}")
    examples = [
        replace(as_read_at(level, spec, read_dict(example["descriptor"], spec.dialect.name)), version=None)
        for example in spec.table.examples.values()
        if level in levels_of_example(spec, example)
    ]
    assert examples or level != list(spec.levels)[-1]
    mover = Mutator(spec, random.randint, [0, 1, 2, 3, 4, 5, 8, 9, 2**31, 2**32 - 1], examples)
    for _ in range(CHANGES if examples else 0):
        descriptor = mover.mutate_descriptor(random.choice(examples), random.randrange(5))
        with suppress(InputError):  # a number that no structure holds
            yield as_read_at(level, spec, read_dict(write_dict(descriptor), spec.dialect.name))


def as_read_at(level: str, spec: OperatorSpec, descriptor: Descriptor) -> Descriptor:
    """Return the descriptor with the field order and kinds of `level`."""
    return reordered_for(descriptor, spec, level) if spec.varies else descriptor


@pytest.mark.parametrize(("name", "operator"), shown_operators())
def test_all_checks_agree_and_accepted_descriptors_execute(name: str, operator: str) -> None:
    spec = dialect(name).operator(operator)
    if not spec.table.examples:
        pytest.skip("nothing but what a package states of it")
    seen: Counter[bool | None] = Counter()
    executed = 0
    for level in levels_that_differ(spec):
        for descriptor in changed_examples(spec, level):
            with reproducing(descriptor, f"{name}:{level}"):
                round_trip = as_read_at(level, spec, read_dict(write_dict(descriptor), name))
                facts = Facts()
                for side in ("documented", "observed"):
                    resolved = spec.resolve(level, side)
                    assert resolved is not None
                    failures = explain_at(descriptor, resolved, facts)
                    explained = False if any(not f.unknown for f in failures) else None if failures else True
                    answer = accepts(descriptor, level, side)
                    assert answer is explained or (not descriptor.plain and answer is None), (side, level)
                    assert accepts(round_trip, level, side) is answer
                    seen[answer] += 1
                if name == "directml" and executed < EXECUTED and accepts(descriptor, level, "documented"):
                    executed += executes(spec, descriptor, level)
    assert seen[True] >= 10, "the examples' own changes are hardly ever taken"
    assert seen[False] >= 10 or operator in TAKES_ALL, "nothing is refused"
    assert executed >= 1 or not spec.table.recipe or name != "directml"


def tensor_shape(tensor: TensorDesc) -> tuple[int, ...]:
    return tuple(size for size in tensor.sizes or () if isinstance(size, int))


def plain_arrays(spec: OperatorSpec, descriptor: Descriptor) -> dict[str, Any]:
    """Return zeros and ones for every input."""

    def make(tensor: TensorDesc) -> NDArray[Any]:
        shape = tensor_shape(tensor)
        return np.arange(prod(shape)).reshape(shape).astype(numpy_type(spec.dialect, str(tensor.type))) % 2

    entries = {info.name: descriptor.fields.get(info.name) for info in spec.inputs}
    return {
        name: make(value) if isinstance(value, TensorDesc) else [make(tensor) for tensor in value]
        for name, value in entries.items()
        if value is not None
    }


def executes(spec: OperatorSpec, descriptor: Descriptor, level: str) -> bool:
    """Execute an accepted descriptor with small numbers and compare the outputs."""
    descriptor = list_unclaimed(descriptor)
    if not carry(descriptor) or sum(prod(tensor_shape(t)) for _, t in descriptor.tensors()) > SMALL:
        return False
    try:
        outputs = execute_at(descriptor, plain_arrays(spec, descriptor), level, max_bytes=MAX_BYTES)
    except NoKernel:
        return False
    except InputError as error:
        if "bytes" in str(error):
            return False
        raise
    for field, array in outputs.items():
        declared = descriptor.fields.get(field)
        if isinstance(declared, TensorDesc) and declared.type is not None:
            assert array.dtype == numpy_type(spec.dialect, declared.type)
            assert not declared.concrete or array.shape == declared.sizes
    return True
