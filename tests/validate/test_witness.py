"""If a descriptor with numbers for unknown sizes is accepted, it is not rejected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specgate.descriptors.core import UNSTATED, Descriptor, Symbol, TensorDesc
from specgate.spec.tables import dialect
from specgate.validate.check import accepts
from specgate.validate.witness import rejecting_implementations, with_sizes
from tests.validate.test_accepts import some_examples

FLOATS = TensorDesc("FLOAT", (Symbol("N"), None, 3))


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_descriptors_with_a_witness_are_not_rejected(name: str) -> None:
    witnessed = refused = 0
    for result in some_examples(name):
        table = dialect(name).operator(result.operator)
        level = result.version or list(table.levels)[-1]
        for size in (1, 2, 3, 4):
            plain = with_sizes(result, size)
            if plain is None or result.plain:
                continue
            if accepts(plain, level, "observed") is True:
                witnessed += 1
                assert accepts(result, level, "observed") is not False
            else:
                refused += 1
    assert witnessed > 3
    assert refused > 3


def test_only_sizes_are_filled() -> None:
    result = Descriptor("onnx", "Concat", {"inputs": [FLOATS, FLOATS], "axis": 0, "concat_result": UNSTATED}, "17")
    descriptor = with_sizes(result, 2)
    assert descriptor is not None
    assert descriptor.fields == {"inputs": [TensorDesc("FLOAT", (2, 2, 3))] * 2, "axis": 0}
    for other in (TensorDesc(None, (None,)), TensorDesc("FLOAT", None)):
        assert with_sizes(replace(result, fields={"inputs": [FLOATS, other], "axis": 0})) is None


def test_implementations_are_checked_with_and_without_a_witness() -> None:
    descriptor = Descriptor("onnx", "Concat", {"inputs": [FLOATS, FLOATS], "axis": 0}, "17")
    assert list(rejecting_implementations(descriptor, "17", "observed", ("checker", "inference"))) == []
    wrong = replace(descriptor, fields={"inputs": [FLOATS, TensorDesc("INT64", (None,))], "axis": 0})
    assert list(rejecting_implementations(wrong, "17", "observed", ("checker", "inference"))) == [
        "checker",
        "inference",
    ]
