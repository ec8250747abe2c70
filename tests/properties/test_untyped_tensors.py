"""Omitting types of inputs and outputs never turns accepted into rejected.

Outputs without a type count, and inputs of arrays; in every version of each operator.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from specgate.descriptors.core import UNSTATED, TensorDesc
from specgate.descriptors.positional import attributes_of, build, positional, reordered_for
from specgate.descriptors.read import read_dict, write_dict
from specgate.dialects import capability
from specgate.dialects.protocols import Positional
from specgate.spec.lint import levels_of_example
from specgate.spec.tables import dialect
from specgate.validate.check import accepts, check_at
from tests.properties.test_every_operator import levels_that_differ

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec

    Tensors = list[TensorDesc | None]

MOST_SUBSETS = 6
BLANK = TensorDesc(None, None)


def operators() -> list[Any]:
    return [
        pytest.param(name, operator, id=f"{name}-{operator}")
        for name in ("onnx", "openvino")
        for operator in dialect(name).operators
        if dialect(name).operator(operator).table.examples
    ]


def cases(spec: OperatorSpec) -> Iterator[tuple[str, Descriptor]]:
    """Yield an operator's examples at each level at which it differs."""
    for level in levels_that_differ(spec):
        for example in spec.table.examples.values():
            if level in levels_of_example(spec, example):
                descriptor = read_dict(example["descriptor"], spec.dialect.name)
                yield level, replace(reordered_for(descriptor, spec, level), version=level)


def rebuilt(spec: OperatorSpec, descriptor: Descriptor, inputs: Tensors, outputs: Tensors) -> Descriptor:
    return build(
        spec,
        inputs,
        outputs,
        attributes_of(descriptor, spec),
        version=descriptor.version,
        convert=capability(spec.dialect.name, Positional).attribute_value,
    )


def subsets(count: int) -> list[frozenset[int]]:
    every = [frozenset(some) for size in range(1, count + 1) for some in combinations(range(count), size)]
    return every[:MOST_SUBSETS] + every[MOST_SUBSETS:][-1:]  # the last one is of all


def make_untyped(spec: OperatorSpec, descriptor: Descriptor) -> Iterator[tuple[Descriptor, str]]:
    """Yield a node without types of some outputs or of all inputs."""
    layout = spec.layout(descriptor.version)
    inputs, outputs = positional(descriptor.fields, layout.inputs), positional(descriptor.fields, layout.outputs)
    for chosen in subsets(len(outputs)):
        for word, nothing in (("unstated", UNSTATED), ("unknown", BLANK)):
            vague = [nothing if at in chosen and t is not None else t for at, t in enumerate(outputs)]
            yield rebuilt(spec, descriptor, inputs, vague), f"{word} outputs {sorted(chosen)}"
    for at, tensor in enumerate(inputs):
        if tensor is not None:
            yield rebuilt(spec, descriptor, [*inputs[:at], BLANK, *inputs[at + 1 :]], outputs), f"unknown input {at}"
    nothing_known = [None if t is None else BLANK for t in inputs]
    yield rebuilt(spec, descriptor, nothing_known, outputs), "unknown inputs"
    yield rebuilt(spec, descriptor, nothing_known, [t and UNSTATED for t in outputs]), "nothing known"


@pytest.mark.parametrize(("name", "operator"), operators())
def test_omitting_types_never_rejects(name: str, operator: str) -> None:
    spec = dialect(name).operator(operator)
    for level, descriptor in cases(spec):
        if accepts(descriptor, level) is not True:
            continue
        for vague, what in make_untyped(spec, descriptor):
            verdict = check_at(vague, level)
            assert verdict.accepted is not False, f"{what} at {level}: {[f.message for f in verdict.findings]}"


@pytest.mark.parametrize(("name", "operator"), operators())
def test_arrays_keep_their_number(name: str, operator: str) -> None:
    """In the descriptor, and after a round trip through the dialect's dict."""
    spec = dialect(name).operator(operator)
    for level, descriptor in cases(spec):
        layout = spec.layout(level)
        ends = [positional(descriptor.fields, infos) for infos in (layout.inputs, layout.outputs)]
        outcome = rebuilt(spec, descriptor, [BLANK for _ in ends[0]], [UNSTATED for _ in ends[1]])
        left_out = rebuilt(spec, descriptor, [None for _ in ends[0]], [None for _ in ends[1]])
        for info in (*layout.inputs, *layout.outputs):
            inputs = descriptor.fields.get(info.name)
            if info.type == "tensor[]" and isinstance(inputs, list):
                round_trip = read_dict(write_dict(outcome), name)
                for result in (outcome, left_out, round_trip):
                    assert len(result.fields[info.name]) == len(inputs), (level, info.name)
                assert [t is UNSTATED for t in round_trip.fields[info.name]] == [
                    t is UNSTATED for t in outcome.fields[info.name]
                ]
