"""Levels as numbers and as texts in `specgate.testing`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

import specgate
from specgate import testing
from specgate.errors import InputError


@settings(max_examples=5, deadline=None)
@given(testing.descriptors("onnx", "Conv", 17))
def test_an_opset_is_a_number(descriptor: specgate.Descriptor) -> None:
    assert specgate.check(descriptor, "onnx:17", basis="documented")


@settings(max_examples=5, deadline=None)
@given(testing.descriptors("directml", "GEMM", 5.0))
def test_a_feature_level_is_a_number(descriptor: specgate.Descriptor) -> None:
    assert specgate.check(descriptor, "directml:5.0", basis="documented")


@pytest.mark.parametrize("level", ["5.0", 5.0, 5, "DML_FEATURE_LEVEL_5_0", "0x5000"])
def test_every_spelling_is_the_same_level(level: str | float) -> None:
    assert testing.finding_ids("directml", "GEMM", level) == testing.finding_ids("directml", "GEMM", "5.0")


def test_levels_of_other_dialects() -> None:
    assert testing.near_valid("onnx", "OneHot", 11) is not None
    descriptor = specgate.descriptor(
        {
            "op_type": "Relu",
            "inputs": [{"elem_type": "FLOAT", "shape": [2]}],
            "outputs": [{"elem_type": "FLOAT", "shape": [2]}],
        }
    )
    assert testing.arrays(descriptor, 17) is not None


@pytest.mark.parametrize("level", [99, 4.15, "99", True, None, [17]])
def test_unknown_levels_are_rejected(level: Any) -> None:
    for call in (testing.descriptors, testing.near_valid, testing.finding_ids):
        with pytest.raises(InputError, match=r"unknown opset '.+' of onnx; expected one of 1, 2, 3"):
            call("onnx", "OneHot", level)
