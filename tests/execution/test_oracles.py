"""OneHot against onnx's node tests, onnx.reference and ONNX Runtime, bitwise."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specgate.dialects.onnx.run.model import run_model

pytestmark = pytest.mark.oracle
onnx = pytest.importorskip("onnx", reason="THE ONNX ORACLES ARE NOT TESTED: pip install onnx (it is in the test extra)")
helper, TensorProto = onnx.helper, onnx.TensorProto

#: Types of (indices, depth, values) with a CPU kernel, measured with onnxruntime 1.31.1.
RUNTIME_KERNELS = [
    ("int64", "int64", "float32"),
    ("int64", "int64", "int64"),
    ("int64", "int64", "float16"),
    ("int64", "int32", "float32"),
    ("int64", "int32", "float16"),
    ("int64", "float32", "float32"),
    ("int64", "float32", "int32"),
    ("int64", "float32", "float16"),
    ("int32", "int32", "float32"),
    ("int32", "int32", "float16"),
    ("int32", "float32", "float32"),
    ("int32", "float32", "float16"),
    ("float32", "int64", "int64"),
    ("float32", "float32", "float32"),
    ("float32", "float32", "float16"),
]


def node_tests():
    """Return the OneHot cases of onnx.backend.test; importing it collects them."""
    node = importlib.import_module("onnx.backend.test.case.node")
    importlib.import_module("onnx.backend.test.case.node.onehot")
    return [case for case in node._NodeTestCases if case.name.startswith("test_onehot")]


def execute(model, inputs, tmp_path):
    onnx.save(model, tmp_path / "model.onnx")
    names = [info.name for info in model.graph.input]
    return list(run_model(str(tmp_path / "model.onnx"), dict(zip(names, inputs, strict=True))).values())


def test_the_node_tests_of_onnx(tmp_path):
    cases = node_tests()
    assert len(cases) >= 4
    for case in cases:
        for inputs, outputs in case.data_sets:
            for result, expected in zip(execute(case.model, inputs, tmp_path), outputs, strict=True):
                assert result.dtype == expected.dtype, case.name
                assert np.array_equal(result, expected), case.name


@st.composite
def cases(draw, kinds):
    shape = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    depth, axis = draw(st.integers(1, 4)), draw(st.integers(-len(shape) - 1, len(shape)))
    index_type, depth_type, value_type = draw(kinds)
    count = int(np.prod(shape))
    flat = draw(st.lists(st.integers(-depth - 2, depth + 2), min_size=count, max_size=count))
    values = draw(st.tuples(st.integers(-9, 9), st.integers(-9, 9)))
    return [np.array(flat, index_type).reshape(shape), np.array(depth, depth_type), np.array(values, value_type)], axis


def model_of(inputs, axis, opset=11):
    kinds = [helper.np_dtype_to_tensor_dtype(array.dtype) for array in inputs]
    node = helper.make_node("OneHot", ["i", "d", "v"], ["o"], axis=axis)
    infos = [
        helper.make_tensor_value_info(name, kind, array.shape)
        for name, kind, array in zip("idv", kinds, inputs, strict=True)
    ]
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("o", kinds[2], None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


ANY = st.tuples(
    st.sampled_from(["int64", "int32", "float32"]),
    st.sampled_from(["int64", "int32"]),
    st.sampled_from(["float32", "int64", "float64", "int8"]),
)


@settings(deadline=None, max_examples=60)
@given(cases(ANY))
def test_onnx_reference(tmp_path_factory, case):
    reference = pytest.importorskip("onnx.reference", reason="ONNX.REFERENCE IS NOT TESTED")
    inputs, axis = case
    model = model_of(inputs, axis)
    expected = reference.ReferenceEvaluator(model).run(None, dict(zip("idv", inputs, strict=True)))[0]
    result = execute(model, inputs, tmp_path_factory.getbasetemp())[0]
    assert result.dtype == expected.dtype
    assert np.array_equal(result, expected)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(cases(st.sampled_from(RUNTIME_KERNELS)))
def test_onnx_runtime(tmp_path_factory, case):
    runtime = pytest.importorskip("onnxruntime", reason="ONNX RUNTIME IS NOT TESTED: pip install onnxruntime")
    inputs, axis = case
    model = model_of(inputs, axis)
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, dict(zip("idv", inputs, strict=True)))[0]
    result = execute(model, inputs, tmp_path_factory.getbasetemp())[0]
    assert result.dtype == expected.dtype
    assert np.array_equal(result, expected)
