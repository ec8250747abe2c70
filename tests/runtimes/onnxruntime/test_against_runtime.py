"""Placements on the CPU held against the installed ONNX Runtime: is there a kernel, is the session created.

A sample of the onnx package's backend models; ``HYPOTHESIS_PROFILE=nightly`` takes all of them.
"""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import chain, graph, helper, info, model, onnx
from tests.linting.test_backend_models import ALL, backend_models
from tests.runtimes.onnxruntime.installed import installed

runtime, TARGET = installed("PLACEMENTS ARE NOT HELD AGAINST ONNX RUNTIME")
FLOAT16 = onnx.TensorProto.FLOAT16
#: What constructors of kernels refuse, which no list of kernels has.
CONSTRUCTORS = ("Exception during initialization",)
#: Attributes and operators that the onnx package has added to an opset since the runtime was built.
NEWER_ONNX = ("Unrecognized attribute", "is not a registered function/op", "No Op registered")


def session(data):
    """Return why the runtime makes no session without optimisations, "" where it makes one."""
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    try:
        runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        return str(error)
    return ""


@pytest.mark.timeout(3600 if ALL else 300)
def test_backend_models_have_kernels_where_the_runtime_has(record_property):
    wrong, asked = [], 0
    for name, data in backend_models():
        asked += 1
        found = specgate.place(onnx.ModelProto.FromString(data), TARGET)
        error = session(data)
        known = any(text in error for text in (*CONSTRUCTORS, *NEWER_ONNX))
        if (found.unoptimised == "fails") != bool(error) and not (error and known):
            wrong.append((name, found.unoptimised, error[:200], found.refusals))
    record_property("models", asked)
    assert asked > 20
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
def test_each_reason_is_the_runtime_s_own(name):
    made, wanted = cases()[name]
    assert bool(session(made.SerializeToString())) == (wanted == "fails")
    assert specgate.place(made, TARGET).unoptimised == wanted
