"""Initializers with elements of less than 8 bits, in raw_data and int32_data."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.dialects.onnx.run.model import run_model

onnx = pytest.importorskip("onnx", reason="PACKED WEIGHTS ARE NOT TESTED: pip install onnx")

VALUES = {
    "INT4": [-8, -1, 0, 7, 3],
    "UINT4": [0, 15, 8, 1, 9],
    "INT2": [-2, -1, 0, 1, 1],
    "UINT2": [0, 1, 2, 3, 1],
    "FLOAT4E2M1": [0.5, -6, 0, 1.5, 3],
    "FLOAT8E4M3FN": [448, -0.5, 0, 1, 2],
    "FLOAT8E8M0": [0.5, 1, 2, 4, 8],
}


@pytest.mark.parametrize("name", list(VALUES))
@pytest.mark.parametrize("raw", [True, False])
def test_packed_initializers_are_read(tmp_path, name, raw):
    kind = getattr(onnx.TensorProto, name)
    tensor = onnx.numpy_helper.from_array(
        np.array(VALUES[name]).astype(onnx.helper.tensor_dtype_to_np_dtype(kind)), "weights"
    )
    if not raw:
        tensor.int32_data.extend(tensor.raw_data)
        tensor.ClearField("raw_data")
    node = onnx.helper.make_node("Cast", ["weights"], ["y"], to=onnx.TensorProto.FLOAT)
    output = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [5])
    graph = onnx.helper.make_graph([node], "g", [], [output], [tensor])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 25)]), tmp_path / "m.onnx")
    assert run_model(str(tmp_path / "m.onnx"), {})["y"].tolist() == VALUES[name]
