"""Tensors and types that ONNX rejects, compared with onnx.checker and ONNX Runtime."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("onnx")
import onnx
from onnx import TensorProto, checker, helper

import specgate
from specgate.dialects.onnx.file.schema import ELEM_TYPES

WEIGHT = b"\0" * 8


def model(**changes):
    """Return x + w of the type of x, with changed fields of w or of the model."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, [2], WEIGHT, raw=True)
    for name, value in changes.items():
        if name in {"dims", "float_data", "int32_data"}:
            weight.ClearField(name)
            getattr(weight, name).extend(value)
        elif name in {"data_type", "raw_data"}:
            weight.ClearField(name) if value is None else setattr(weight, name, value)
    tensors = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", tensors[:1], tensors[1:], [weight])
    proto = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=changes.get("ir_version", 8)
    )
    proto.graph.input[0].type.tensor_type.elem_type = changes.get("elem_type", 1)
    return proto


WRONG: dict[str, Any] = {
    "ir-zero": ({"ir_version": 0}, "ir-version", "has IR version 0, expected one from 1 to"),
    "ir-negative": ({"ir_version": -1}, "ir-version", "has IR version -1"),
    "ir-unknown": ({"ir_version": 999}, "ir-version", "has IR version 999"),
    "raw-short": ({"raw_data": b"1234"}, "tensor-data", "has 4 bytes in raw_data, but FLOAT of 2 needs 8"),
    "raw-long": ({"raw_data": b"1" * 12}, "tensor-data", "has 12 bytes in raw_data, but FLOAT of 2 needs 8"),
    "raw-odd": ({"raw_data": b"1" * 9}, "tensor-data", "has 9 bytes"),
    "raw-of-none": ({"dims": [0]}, "tensor-data", "has data, but FLOAT of 0 has no elements"),
    "none": ({"raw_data": None}, "tensor-data", "has its data in none, expected one field"),
    "two": ({"float_data": [1, 2]}, "tensor-data", "in float_data and raw_data, expected one field"),
    "short": ({"raw_data": None, "float_data": [1]}, "tensor-data", "has 1 entries in float_data, but FLOAT of 2"),
    "long": ({"raw_data": None, "float_data": [1] * 3}, "tensor-data", "has 3 entries in float_data"),
    "another-field": ({"raw_data": None, "int32_data": [1, 2]}, "tensor-data", "FLOAT data belongs in float_data"),
    "raw-string": ({"data_type": 8}, "tensor-data", "STRING data belongs in string_data"),
    "size": ({"dims": [-2]}, "tensor-size", "has a size of -2, which is negative"),
    "type-unknown": ({"data_type": 99}, "tensor-type", "has the unknown element type DataType(99)"),
    "type-negative": ({"data_type": -1}, "tensor-type", "DataType(-1)"),
    "type-none": ({"data_type": 0}, "tensor-type", "the initializer 'w' has no element type"),
    "elem-unknown": ({"elem_type": 99}, "type-element", "the type of 'x' has the unknown element type DataType(99)"),
    "elem-negative": ({"elem_type": -1}, "type-element", "DataType(-1)"),
    "elem-none": ({"elem_type": 0}, "type-element", "the input 'x' is a tensor without an element type"),
}


def find_ids(onnx_model):
    return {f.id.removeprefix("onnx/model/"): f for f in specgate.lint(onnx_model, targets=["onnx:17"]).findings}


def test_the_plain_model_is_clean():
    checker.check_model(model(), full_check=True)
    assert not find_ids(model())


@pytest.mark.parametrize("case", WRONG)
def test_tensors_rejected_by_onnx_are_errors(case):
    changes, rule, message = WRONG[case]
    findings = find_ids(model(**changes))
    assert findings[rule].severity == "error"
    assert message in findings[rule].message
    if case not in {"raw-long", "raw-odd", "long"}:  # only ONNX Runtime rejects surplus data
        with pytest.raises(Exception, match=r"\w"):  # of many types
            checker.check_model(model(**changes).SerializeToString(), full_check=True)


@pytest.mark.oracle
@pytest.mark.parametrize("case", ["raw-long", "raw-odd", "long", "another-field", "type-unknown", "elem-none"])
def test_onnx_runtime_rejects_the_same_tensors(case):
    runtime = pytest.importorskip("onnxruntime")
    with pytest.raises(Exception, match="ONNXRuntimeError"):
        runtime.InferenceSession(model(**WRONG[case][0]).SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("kind", [name for name in ELEM_TYPES[1:] if name != "STRING"])
@pytest.mark.parametrize("count", [0, 1, 3, 8])
def test_tensors_created_by_onnx_are_clean(kind, count):
    number = TensorProto.DataType.Value(kind)
    onnx_model = [helper.make_tensor("t", number, [count], [1] * count)]
    if not kind.startswith("FLOAT6"):  # numpy has no array type for it
        array = onnx.numpy_helper.to_array(onnx_model[0])
        onnx_model.append(onnx.numpy_helper.from_array(array, "t"))
    for tensor in onnx_model:
        checker.check_tensor(tensor)
        graph = helper.make_graph([], "g", [], [], [tensor])
        assert "tensor-data" not in find_ids(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def test_a_constant_in_a_node_and_the_parts_of_a_sparse_tensor():
    new_model = model()
    tensor = helper.make_tensor("c", 1, [2], WEIGHT, raw=True)
    tensor.raw_data += b"1234"
    new_model.graph.node.insert(0, helper.make_node("Constant", [], ["c"], value=tensor))
    sparse = helper.make_sparse_tensor(
        helper.make_tensor("s", 1, [1], [1.0]), helper.make_tensor("i", 7, [1], [0]), [4]
    )
    sparse.indices.data_type = 99
    new_model.graph.sparse_initializer.append(sparse)
    messages = [f.message for f in specgate.lint(new_model, targets=["onnx:17"]).findings if "/tensor-" in f.id]
    assert messages == [
        "the indices of the sparse initializer 's' has the unknown element type DataType(99)",
        "the attribute 'value' has 12 bytes in raw_data, but FLOAT of 2 needs 8",
    ]
