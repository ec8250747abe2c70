"""Small ONNX models for tests of model lint."""

from __future__ import annotations

import itertools

import pytest

import specgate

onnx = pytest.importorskip("onnx", reason="THE MODEL TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
helper = onnx.helper
INT64, FLOAT, BOOL, STRING = (getattr(onnx.TensorProto, n) for n in ("INT64", "FLOAT", "BOOL", "STRING"))


def passes_checker(onnx_model) -> bool:
    try:
        onnx.checker.check_model(onnx_model)
    except onnx.checker.ValidationError:
        return False
    return True


def passes_strict_inference(onnx_model) -> bool:
    try:
        onnx.shape_inference.infer_shapes(onnx_model, check_type=True, strict_mode=True)
    except onnx.shape_inference.InferenceError:
        return False
    return True


def info(name, shape=(2,), kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def relu(source, target, **more):
    return helper.make_node("Relu", [source], [target], **more)


def weights(name, values=(1.0, 2.0)):
    return helper.make_tensor(name, FLOAT, [len(values)], list(values))


def graph(nodes, inputs=("x",), outputs=("y",), initializers=(), name="g", **more):
    """Return a graph; inputs and outputs are names or value infos."""
    onnx_model = [[item if hasattr(item, "name") else info(item) for item in items] for items in (inputs, outputs)]
    return helper.make_graph(list(nodes), name, *onnx_model, list(initializers), **more)


def model(body, *, opsets=(("", 17),), functions=(), ir=8):
    imports = [helper.make_opsetid(*pair) for pair in opsets]
    return helper.make_model(body, opset_imports=imports, functions=list(functions), ir_version=ir)


def chain(*names, **more):
    """Return a model of Relu nodes from the first name to the last."""
    nodes = [relu(a, b) for a, b in itertools.pairwise(names)]
    return model(graph(nodes, names[:1], names[-1:], **more))


def function(nodes, inputs=("a",), outputs=("b",), *, opsets=(("", 17),), name="F", **more):
    imports = [helper.make_opsetid(*pair) for pair in opsets]
    return helper.make_function("d", name, list(inputs), list(outputs), list(nodes), imports, **more)


def call(inputs=("x",), outputs=("y",), name="F", **attributes):
    return helper.make_node(name, list(inputs), list(outputs), domain="d", **attributes)


def branch(later, otherwise, source="c", target="y"):
    return helper.make_node("If", [source], [target], then_branch=later, else_branch=otherwise, name="if")


def find_ids(onnx_model, **more):
    """Return the findings on the model itself as (rule name, severity).

    Findings from inference are left out.
    """
    report = specgate.lint(onnx_model, ["onnx:28"], infer=False, **more)
    own = [f for f in report.findings if f.id.startswith("onnx/model/")]
    return [(f.id.rpartition("/")[2], f.severity) for f in own]
