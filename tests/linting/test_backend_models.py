"""No false alarms on the models of the onnx package's backend tests.

By default a sample of those that are files. ``HYPOTHESIS_PROFILE=nightly pytest tests/linting/test_backend_models.py``
checks all, including single-operator models: 2,033 models and 18,704 nodes with onnx 1.23.2, with no findings except
notes on 424 nodes, inputs, initializers and imports that are not used.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest

import specgate
from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.linting.settings import LintSettings
from tests.linting.models import onnx

ALL = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
UNUSED = {f"onnx/model/{kind}-unused" for kind in ("node", "input", "opset", "initializer")}


def backend_models():
    """Yield (name, serialized model)."""
    import onnx.backend.test as tests

    files = sorted(Path(tests.__file__).parent.glob("data/*/*/model.onnx"))
    files += sorted(Path(tests.__file__).parent.glob("data/light/*.onnx"))
    for file in files if ALL else files[::7]:
        yield f"{file.parent.parent.name}/{file.parent.name}/{file.name}", file.read_bytes()
    if ALL:
        from onnx.backend.test.loader import load_model_tests

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of numpy, to the package's own cases
            cases = load_model_tests(kind="node")
        for case in cases:
            assert case.model is not None
            yield f"node/{case.name}", case.model.SerializeToString()


def without(model, findings):
    """Remove parts that are reported as unused; the rest must not need them."""
    graph = model.graph
    nodes = {f.location.node for f in findings if f.id == "onnx/model/node-unused"}
    names = {f.values["name"] for f in findings if "name" in f.values}
    label = {index: node.name or f"{node.op_type}->{node.output[0]}" for index, node in enumerate(graph.node)}
    for index in sorted(label, reverse=True):
        if f"graph/{label[index]}" in nodes:
            del graph.node[index]
    for listed in (graph.input, graph.initializer):
        for item in [item for item in listed if item.name in names]:
            listed.remove(item)
    domains = {domain for f in findings if f.id == "onnx/model/opset-unused" for domain in f.values["domains"]}
    for item in [item for item in model.opset_import if item.domain in domains]:
        model.opset_import.remove(item)
    return model


@pytest.mark.timeout(3600 if ALL else 300)
def test_backend_models_have_findings_on_unused_entries_only(record_property):
    count = message = 0
    for name, data in backend_models():
        count += 1
        findings = onnx_units(read_model_bytes(data), LintSettings()).findings
        assert {f.id for f in findings} <= UNUSED, (name, findings)
        if findings and "light" not in name:  # whose weights are missing
            message += len(findings)
            onnx.checker.check_model(without(onnx.ModelProto.FromString(data), findings))
    record_property("models", count)
    record_property("findings", message)
    assert count > 20


def test_backend_models_are_clean_at_their_opset():
    for name, data in backend_models():
        onnx_model = onnx.ModelProto.FromString(data)
        opset = next((item.version for item in onnx_model.opset_import if item.domain in {"", "ai.onnx"}), 1)
        if not ALL and "pytorch" in name:
            assert specgate.lint(onnx_model, [f"onnx:{opset}"]).clean, name
