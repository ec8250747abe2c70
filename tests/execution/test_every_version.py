"""Every operator and version runs, except those that the README names."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from specgate.conform.cases import fill
from specgate.descriptors.read import read_dict
from specgate.errors import Error
from specgate.execution.engine import execute_at
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from tests.drawing import shown_descriptors
from tests.properties.campaign import execute_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

#: Operators that run within models only, and those without a kernel.
WITHOUT_KERNEL = {
    "directml": set(),
    "onnx": {"If", "Loop", "Scan", "SequenceMap", "ai.onnx.preview.training.Gradient"},
    "openvino": {
        "Assign", "Const", "If", "Loop", "Parameter", "ReadValue", "Result", "TensorIterator",
        "Multinomial",
    },
}  # fmt: skip
#: Operators on sequences and images, which are not drawn; onnx's node tests cover them.
IN_NODE_TESTS = {"ConcatFromSequence", "ImageDecoder"}
#: Maximum elements of all tensors together: drawing more takes long.
SMALL = 2**16


def of_version(spec: OperatorSpec, level: str) -> Iterator[tuple[Descriptor, dict[str, Any] | None]]:
    """Yield examples that are valid at a level with arrays, then changes of them."""
    for example in spec.table.examples.values():
        if level in levels_of_example(spec, example):
            descriptor = read_dict(example["descriptor"], spec.dialect.name)
            yield (replace(descriptor, version=level) if descriptor.version else descriptor), example.get("inputs")
    for descriptor in shown_descriptors(spec, level, 40, "0"):
        if descriptor.version in {None, level} and accepts(descriptor, level, "documented"):
            yield descriptor, None


def is_small(descriptor: Descriptor) -> bool:
    sizes = [[size for size in tensor.sizes or () if isinstance(size, int)] for _, tensor in descriptor.tensors()]
    return sum(map(prod, sizes)) <= SMALL


def computes(spec: OperatorSpec, level: str) -> bool:
    for descriptor, entries in of_version(spec, level):
        if entries is None and not is_small(descriptor):
            continue
        try:
            execute_at(descriptor, entries or fill(descriptor, level, Random(0), tame=True), level, max_bytes=2**28)
        except Error:
            continue
        return True
    return False


@pytest.mark.slow
@pytest.mark.parametrize("name", WITHOUT_KERNEL)
def test_every_operator_is_executed_in_every_version(name: str) -> None:
    tables = dialect(name)
    specs = [tables.operator(operator) for operator in tables.operators]
    assert {spec.name for spec in specs if not spec.table.recipe} == WITHOUT_KERNEL[name]
    rows = [(spec, level) for spec in specs if spec.table.recipe for level in spec.rows if level in spec.levels]
    lacking = {(spec.name, level) for spec, level in rows if not computes(spec, level)}
    assert {operator for operator, _ in lacking} <= IN_NODE_TESTS, lacking


@pytest.mark.slow
def test_law_campaign_covers_every_operator_with_a_kernel() -> None:
    """Accepted descriptors run, structurally wrong ones are rejected.

    See `test_law_campaign`.
    """
    questions = {(case.dialect, case.operator) for case in execute_all()}
    for name in WITHOUT_KERNEL:
        tables = dialect(name)
        with_kernel = {(name, operator) for operator in tables.operators if tables.operator(operator).table.recipe}
        assert with_kernel <= questions
