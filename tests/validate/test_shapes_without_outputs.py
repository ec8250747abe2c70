"""Without an output shape, the inputs of an ONNX node must still match."""

from __future__ import annotations

import pytest

import specgate
from specgate.errors import InputError


@pytest.mark.parametrize("operator", ["Sum", "Max", "Min", "Mean"])
@pytest.mark.parametrize("opset", [1, 6])
def test_inputs_require_equal_shapes_before_opset_8(operator: str, opset: int) -> None:
    def node(second: list[int]) -> dict[str, object]:
        inputs = [{"elem_type": "FLOAT", "shape": [2, 3]}, {"elem_type": "FLOAT", "shape": second}]
        return {"op_type": operator, "inputs": inputs, "outputs": []}

    assert specgate.check(node([2, 3]), target=f"onnx:{opset}").accepted
    verdict = specgate.check(node([3]), target=f"onnx:{opset}", basis="documented")
    assert [finding.id for finding in verdict.findings] == [f"onnx/{operator}/same-shape"]
    assert specgate.check(node([3]), target="onnx:8").accepted
    with pytest.raises(InputError):
        specgate.execute(node([3]), {"data_0": [[[1.0] * 3] * 2, [1.0] * 3]}, target=f"onnx:{opset}")
