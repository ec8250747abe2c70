"""Any node is lowered to DirectML operators, or gets a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from specgate.runtimes.onnxruntime.lower import NotLowered, lower
from specgate.runtimes.onnxruntime.lowering.store import lowering_tables
from specgate.spec.tables import dialect
from specgate.testing import any_descriptors

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor

ONNX = dialect("onnx")
OPERATORS = sorted(set(lowering_tables()["operators"]) & set(ONNX.operators))
LIGHT = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


def check_lowering(descriptor: Descriptor, version: int) -> None:
    onnx_model = lower(descriptor, version)
    if isinstance(onnx_model, NotLowered):
        assert onnx_model.reason
        assert (onnx_model.rule is not None) == (onnx_model.kind == "refused")
    else:
        assert all(each.dialect == "directml" for each in onnx_model)


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_lowering_answers(operator: str) -> None:
    @LIGHT
    @given(any_descriptors("onnx", operator), st.sampled_from([*ONNX.operator(operator).rows]))
    def holds(descriptor: Descriptor, level: str) -> None:
        check_lowering(descriptor, int(level))

    holds()
