"""Contrib operators that are functions, as measured in five releases, unoptimized."""

from __future__ import annotations

import pytest

from specgate.linting.input_source import InputSource
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime.place import place_model
from specgate.targets import parse_target

onnx = pytest.importorskip("onnx", reason="it writes the models")


def placed(call, kind, target="onnxruntime-directml:1.24.4", opset=17):
    imports = f'"" : {opset}, "com.microsoft" : 1'
    text = (
        f"<ir_version: 8, opset_import: [{imports}]> g ({kind}[2,3] x, {kind}[3] b) => (y) {{y = com.microsoft.{call}}}"
    )
    data = onnx.parser.parse_model(text).SerializeToString()
    return place_model(InputSource(data, "onnx", "model"), parse_target(target), None, LintSettings())


def operators(result):
    return sorted(node.operator for node in result)


def test_a_node_of_doubles_is_expanded():
    result = placed("QuickGelu(x)", "double")
    assert operators(result) == ["Mul", "Mul", "Sigmoid"]
    assert {node.provider for node in result} == {"CPU"}
    assert result.session == "created"


def test_a_node_with_a_kernel_stays():
    result = placed("QuickGelu(x)", "float")
    assert operators(result) == ["com.microsoft.QuickGelu"]
    assert operators(placed("QuickGelu(x)", "float16")) == ["com.microsoft.QuickGelu"]


def test_an_optional_bias_is_added():
    assert operators(placed("FastGelu(x, b)", "double")) == ["Add"] * 3 + ["Mul"] * 5 + ["Tanh"]
    assert operators(placed("FastGelu(x)", "double")) == ["Add"] * 2 + ["Identity"] + ["Mul"] * 5 + ["Tanh"]


def test_float16_is_computed_as_float_on_the_cpu():
    result = placed("QuickGelu(x)", "float16", "onnxruntime:1.24.4")
    assert operators(result) == ["Mul", "Mul", "Sigmoid"]
    assert result.session == "created"


def test_a_body_node_without_a_kernel_fails_the_session():
    result = placed("Gelu(x)", "double")
    assert [node.operator for node in result if not node.has_kernel] == ["Erf"]
    assert result.session == "fails"


@pytest.mark.parametrize(("release", "session"), [("1.16.3", "fails"), ("1.20.1", "fails"), ("1.24.4", "created")])
def test_fast_gelu_accepts_doubles_from_a_release_on(release, session):
    assert placed("FastGelu(x)", "double", f"onnxruntime:{release}").session == session


@pytest.mark.parametrize(("call", "number"), [("QuickGelu<alpha = -1.5>(x)", -1.5), ("QuickGelu(x)", 1.702)])
def test_the_number_of_an_attribute_is_a_constant(call, number):
    nodes = call_of(call)
    assert nodes[0].attributes["value"].value.values() == [pytest.approx(number)]


def call_of(call):
    from specgate.dialects.onnx.file.model import read_model_bytes
    from specgate.dialects.onnx.lint.graph import onnx_units
    from specgate.runtimes.onnxruntime.functions import own_function
    from specgate.runtimes.onnxruntime.graph import body_of

    text = f'<ir_version: 8, opset_import: ["" : 17, "com.microsoft" : 1]> g (double[2,3] x) => (y) {{y = com.microsoft.{call}}}'
    data = onnx.parser.parse_model(text).SerializeToString()
    body = body_of(onnx_units(read_model_bytes(data), LintSettings()).source, "1.24")
    function = own_function(body.nodes[0], "1.24")
    assert function is not None
    return function.nodes
