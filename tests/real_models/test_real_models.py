"""No false alarms on valid models of exporters, quantizers and converters."""

from __future__ import annotations

from collections import Counter

import pytest

import specgate
from specgate.spec.tables import dialect
from tests.real_models.plan import REFUSED, files, names

onnx = pytest.importorskip("onnx", reason="THE REAL MODELS ARE NOT LINTED: pip install onnx (it is in the test extra)")
np = pytest.importorskip("numpy")

from tests.real_models.expected import differing, expected, nodes, own_target, release  # noqa: E402 - needs onnx

pytestmark = [pytest.mark.timeout(3600), pytest.mark.oracle]

#: ONNX Runtime 1.31 does not open models above this opset; onnx.reference computes them.
NEWEST_OPSET = 26
#: ONNX Runtime is wrong: a mask whose rows are repeated is broadcastable, as documented.
NOT_TAKEN = ("encoder-dynamo-23",)
QUANTIZED = ("qdq", "qoperator", "dynamic")


def run(path, model, inputs):
    """Return a model's outputs by name, from a runtime or the reference."""
    if own_target(model).domains[""] > NEWEST_OPSET or path.stem in NOT_TAKEN:
        from onnx.reference import ReferenceEvaluator

        session = ReferenceEvaluator(model)
        return dict(zip(session.output_names, session.run(None, inputs), strict=True))
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, inputs), strict=True))


@pytest.mark.parametrize("name", names())
def test_a_model_is_valid(name, models):
    """The checker accepts it, and it computes its network's values."""
    path = models / f"{name}.onnx"
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    with np.load(models / f"{name.partition('-')[0]}.npz") as samples:
        inputs = {info.name: samples[f"in.{info.name}"] for info in model.graph.input}
        expected_value = {info.name: samples[f"out.{info.name}"] for info in model.graph.output}
    computed = run(path, model, inputs)
    if not any(way in name for way in QUANTIZED):
        for output, array in expected_value.items():
            np.testing.assert_allclose(computed[output], array, rtol=1e-4, atol=1e-5, err_msg=output)


@pytest.mark.parametrize("name", files())
def test_lint_reports_exactly_the_expected_findings(name, models):
    """At the model's own opset, at an older release and at the newest one."""
    path = models / f"{name}.onnx"
    model = onnx.load(path)
    targets = (own_target(model), release("1.10"), release("1.23"))
    expected_value = expected(model, targets)
    for (rule, severity), count in REFUSED.get(name, {}).items():
        expected_value.update({(rule, severity, target.name): count for target in targets})
    report = specgate.lint(path, [target.name for target in targets])
    result = Counter((finding.id, finding.severity, finding.target) for finding in report.findings)
    for target in targets:
        for operator, lacking in differing(model, target).items():
            message = [key for key in result if key[0].startswith(f"onnx/{operator}/") and key[2] == target.name]
            assert not lacking or (f"onnx/{operator}/level", "error", target.name) in message
            above = ("onnx/model/opset-import", "error", target.name) in expected_value
            for key in set(message) - set(expected_value):
                assert above or (key[0].endswith("/changed") and result[key] == 1)
                del result[key]
    assert result == expected_value
    facts = dialect("onnx").tables.operators
    judged = [n for n in nodes(model.graph) if n.domain != "com.microsoft" or f"{n.domain}.{n.op_type}" in facts]
    assert report.nodes == len(targets) * len(judged)
    assert all(str(node.location.operator).startswith("com.microsoft.") for node in report.no_table)
