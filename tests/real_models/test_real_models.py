"""Models as exporters, quantizers, optimizers and converters write them: sound ones get no false alarm."""

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

#: Beyond this opset ONNX Runtime 1.31 opens no model, and onnx.reference computes it instead.
NEWEST_OPSET = 26
#: Where ONNX Runtime is wrong: a mask whose rows are to be repeated is broadcastable, as the text asks.
NOT_TAKEN = ("encoder-dynamo-23",)
QUANTIZED = ("qdq", "qoperator", "dynamic")


def run(path, model, inputs):
    """The outputs of a model by name, by a runtime or by the reference."""
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
def test_a_model_is_sound(name, models):
    """The checker takes it, and it computes what its network computes."""
    path = models / f"{name}.onnx"
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    with np.load(models / f"{name.partition('-')[0]}.npz") as samples:
        given = {info.name: samples[f"in.{info.name}"] for info in model.graph.input}
        wanted = {info.name: samples[f"out.{info.name}"] for info in model.graph.output}
    computed = run(path, model, given)
    if not any(way in name for way in QUANTIZED):
        for output, array in wanted.items():
            np.testing.assert_allclose(computed[output], array, rtol=1e-4, atol=1e-5, err_msg=output)


@pytest.mark.parametrize("name", files())
def test_lint_says_what_is_so_and_nothing_else(name, models):
    """At the model's own opset, at an older release and at the newest one."""
    path = models / f"{name}.onnx"
    model = onnx.load(path)
    targets = (own_target(model), release("1.10"), release("1.23"))
    wanted = expected(model, targets)
    for (rule, severity), count in REFUSED.get(name, {}).items():
        wanted.update({(rule, severity, target.name): count for target in targets})
    report = specgate.lint(path, [target.name for target in targets])
    found = Counter((finding.id, finding.severity, finding.target) for finding in report.findings)
    for target in targets:
        for operator, lacking in differing(model, target).items():
            told = [key for key in found if key[0].startswith(f"onnx/{operator}/") and key[2] == target.name]
            assert not lacking or (f"onnx/{operator}/level", "error", target.name) in told
            above = ("onnx/model/opset-import", "error", target.name) in wanted
            for key in set(told) - set(wanted):
                assert above or (key[0].endswith("/changed") and found[key] == 1)
                del found[key]
    assert found == wanted
    known = dialect("onnx").tables.operators
    judged = [n for n in nodes(model.graph) if n.domain != "com.microsoft" or f"{n.domain}.{n.op_type}" in known]
    assert report.nodes == len(targets) * len(judged)
    assert all(str(node.location.operator).startswith("com.microsoft.") for node in report.no_table)
