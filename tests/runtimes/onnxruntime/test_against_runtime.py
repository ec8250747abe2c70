"""CPU placements against the installed ONNX Runtime: kernels and sessions.

A sample of the onnx package's backend models; ``HYPOTHESIS_PROFILE=nightly`` uses all of them.
"""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import chain, graph, helper, info, model, onnx
from tests.linting.test_backend_models import ALL, backend_models
from tests.runtimes.onnxruntime.installed import list_installed

runtime, TARGET = list_installed("PLACEMENTS ARE NOT COMPARED WITH ONNX RUNTIME")
FLOAT16 = onnx.TensorProto.FLOAT16
#: Rejections by kernels' constructors, which no list of kernels contains.
CONSTRUCTORS = ("Exception during initialization",)
#: Attributes and operators that the onnx package added to an opset after the runtime was built.
NEWER_ONNX = ("Unrecognized attribute", "is not a registered function/op", "No Op registered")


def session(data):
    """Return the runtime's error for a session without optimizations, else ""."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return str(error)
    return ""


@pytest.mark.timeout(3600 if ALL else 300)
def test_sessions_of_backend_models_agree_with_the_runtime(record_property):
    wrong, questions = [], 0
    for name, data in backend_models():
        questions += 1
        placement = specgate.place(onnx.ModelProto.FromString(data), TARGET)
        error = session(data)
        facts = any(text in error for text in (*CONSTRUCTORS, *NEWER_ONNX))
        if (placement.unoptimised == "fails") != bool(error) and not (error and facts):
            wrong.append((name, placement.unoptimised, error[:200], placement.refusals))
    record_property("models", questions)
    assert questions > 20
    assert wrong == []


def cases():
    foo = graph([helper.make_node("Foo", ["x"], ["y"], domain="acme")])
    half = graph([helper.make_node("Det", ["x"], ["y"])], [info("x", [2, 2], FLOAT16)], [info("y", None, FLOAT16)])
    twice = graph([helper.make_node("Relu", ["x"], ["y"], beta=1.0)])
    old = graph([helper.make_node("Relu", ["x"], ["y"])])
    text = graph([helper.make_node("Relu", ["x"], ["y"])], [info("x", kind=onnx.TensorProto.INT16)], [info("y", None)])
    stated = graph([helper.make_node("Relu", ["x"], ["y"])], outputs=[info("y", kind=onnx.TensorProto.DOUBLE)])
    return {
        "no kernel of a custom operator": (model(foo, opsets=[("", 17), ("acme", 1)]), "fails"),
        "half floats between casts": (model(half), "created"),
        "an attribute that does not exist": (model(twice), "fails"),
        "a version before the first kernel": (model(old, opsets=[("", 5)]), "fails"),
        "a type that no kernel has": (model(text), "fails"),
        "a type that the file states wrongly": (model(stated), "fails"),
        "a function without a kernel": (model(graph([helper.make_node("Mish", ["x"], ["y"])]), opsets=[("", 18)]), "created"),
        "an opset that is too new": (model(graph([helper.make_node("Relu", ["x"], ["y"])]), opsets=[("", 99)]), "fails"),
        "a plain model": (chain("x", "a", "y"), "created"),
    }  # fmt: skip


@pytest.mark.parametrize("name", cases())
def test_sessions_agree_with_the_runtime(name):
    onnx_model, expected = cases()[name]
    assert bool(session(onnx_model.SerializeToString())) == (expected == "fails")
    assert specgate.place(onnx_model, TARGET).unoptimised == expected
