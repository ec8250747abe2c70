"""Kernels answer text elements with outputs or a specgate error."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.descriptors.core import TensorDesc
from specgate.errors import Error
from specgate.execution.engine import execute_at
from specgate.generate.seeds import examples_at
from specgate.spec.tables import dialect
from tests.properties.campaign import execute_all

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The text type of each dialect that has one, and the maximum number of elements of an input here.
TEXTS = {"openvino": "string", "onnx": "STRING"}
SMALL = 4096


def choose() -> list[tuple[str, str, str]]:
    newest = {(case.dialect, case.operator): case.level for case in execute_all(TEXTS)}
    return [(name, operator, level) for (name, operator), level in newest.items() if accepts_strings(name, operator)]


def accepts_strings(name: str, operator: str) -> bool:
    spec = dialect(name).operator(operator)
    return any(spec.support_union.supports_type(info.name, TEXTS[name]) for info in spec.inputs)


def groups(inputs: dict[str, TensorDesc]) -> Iterator[set[str]]:
    """Yield sets of inputs with texts: single ones, all of a type, all."""
    yield from ({name} for name in inputs)
    for kind in {tensor.type for tensor in inputs.values()}:
        yield {name for name, tensor in inputs.items() if tensor.type == kind}
    yield set(inputs)


def arrays(inputs: dict[str, TensorDesc], text: str) -> dict[str, Any] | None:
    """Return elements for non-constant inputs, None if too large or of unknown size."""
    entries: dict[str, Any] = {}
    for name, tensor in inputs.items():
        if tensor.value is not None:
            continue
        if not tensor.concrete or tensor.known_elements > SMALL:
            return None
        sizes: Any = tensor.sizes
        entries[name] = np.full(sizes, "a", np.object_) if tensor.type == text else np.ones(sizes)
    return entries


@pytest.mark.parametrize(("name", "operator", "level"), choose())
def test_texts_never_end_a_kernel(name, operator, level):
    spec = dialect(name).operator(operator)
    outputs = {info.name for info in spec.outputs}
    for example in examples_at(spec, level):
        inputs = {
            field: value
            for field, value in example.fields.items()
            if isinstance(value, TensorDesc) and field not in outputs
        }
        for group in groups(inputs):
            texts = {
                field: tensor._replace(type=TEXTS[name], value=None) if field in group else tensor
                for field, tensor in inputs.items()
            }
            arguments = arrays(texts, TEXTS[name])
            if arguments is None:
                continue
            kept = {field: value for field, value in example.fields.items() if field not in outputs}
            try:
                computed = execute_at(replace(example, fields={**kept, **texts}), arguments, level)
            except Error:
                continue
            assert set(computed) <= outputs
