"""Outputs of real models equal those of ONNX Runtime and of the network."""

from __future__ import annotations

import numpy as np
import pytest

import specgate
from specgate.errors import InputError
from tests.real_models.plan import execute_all

onnx = pytest.importorskip(
    "onnx", reason="THE REAL MODELS ARE NOT EXECUTED: pip install onnx (it is in the test extra)"
)

pytest.importorskip("onnxruntime", reason="THE REAL MODELS ARE NOT EXECUTED: pip install onnxruntime")

from tests.real_models.expected import own_target  # noqa: E402 - needs onnx
from tests.real_models.nodewise import differences, open_part  # noqa: E402 - needs onnx and onnxruntime
from tests.real_models.test_real_models import NEWEST_OPSET, NOT_TAKEN, QUANTIZED  # noqa: E402

pytestmark = [pytest.mark.timeout(3600), pytest.mark.oracle]

#: Models that ONNX Runtime 1.31 does not open, in addition to newer opsets: a Loop carries a sequence, which its opset
#: does not have.
NOT_OPENED = ("smoothing-trace-11",)
#: Undefined in every opset: an Upsample by less than 1.
NOT_DEFINED = {"vision-trace-9": "scales must be at least 1"}
#: One node differs by one step of 8 bits, in at most this many elements; later nodes differ with it, up to
#: the class of a pixel. A mean is halfway between two numbers within float32 rounding, and ONNX Runtime treats
#: fractions of 106.8 as 106, because it adds powers as integers.
_POOL, _SOFTMAX = "com.microsoft.QLinearAveragePool", "com.microsoft.QLinearSoftmax"
ONE_STEP = {
    "vision-trace-11-qdq-extended": (_POOL, "/deep/deep.0/AveragePool", 8),
    "vision-trace-13-qdq-extended": (_POOL, "/deep/deep.0/AveragePool", 8),
    "vision-dynamo-21-qdq-extended": (_POOL, "node_avg_pool2d", 8),
    "vision-dynamo-26-qdq-extended": (_POOL, "node_avg_pool2d", 8),
    "recurrent-trace-20-qdq-extended": (_SOFTMAX, "/Softmax", 2),
    "recurrent-dynamo-22-qdq-extended": (_SOFTMAX, "node_softmax", 2),
}
#: onnxruntime.transformers fuses a Gelu approximated by tanh to an exact BiasGelu, so the model
#: no longer computes the network's values.
REWRITTEN = (
    "decoder-trace-20-gpt2",
    "decoder-dynamo-21-gpt2",
    "decoder-dynamo-24-gpt2",
    "decoder_in_parts-dynamo-20-gpt2",
)


def sample_cases(name, models, model):
    """Return the inputs and outputs of a model's network, by the model's names."""
    with np.load(models / f"{name.partition('-')[0]}.npz") as samples:
        entries = {info.name: samples[f"in.{info.name}"] for info in model.graph.input if f"in.{info.name}" in samples}
        return entries, {key.removeprefix("out."): samples[key] for key in samples if key.startswith("out.")}


def is_opened(name, model):
    return own_target(model).domains[""] <= NEWEST_OPSET and name not in {*NOT_TAKEN, *NOT_OPENED, *NOT_DEFINED}


@pytest.mark.parametrize("name", execute_all())
def test_a_model_agrees_with_its_framework(name, models):
    path = models / f"{name}.onnx"
    model = onnx.load(path)
    inputs, expected = sample_cases(name, models, model)
    if name in NOT_DEFINED:
        with pytest.raises(InputError, match=NOT_DEFINED[name]):
            specgate.execute(path, inputs)
        return
    ours = specgate.execute(path, inputs)
    if name in REWRITTEN:
        assert not np.allclose(open_part(path, inputs)["logits"], expected["logits"], rtol=1e-3, atol=1e-4)
    elif not any(way in name for way in QUANTIZED):
        for output, array in expected.items():
            if output in ours:
                np.testing.assert_allclose(ours[output], array, rtol=1e-3, atol=1e-4, err_msg=output)
    if not is_opened(name, model) or name in ONE_STEP:
        return
    for output, array in open_part(path, inputs).items():
        if any(way in name for way in QUANTIZED) and array.dtype.kind == "f":
            span = float(np.ptp(array)) if array.size else 0.0
            assert array.size == 0 or float(np.abs(ours[output] - array).max()) <= span / 64, "four steps of 8 bits"
        elif array.dtype.kind == "f":
            np.testing.assert_allclose(ours[output], array, rtol=1e-3, atol=1e-4, err_msg=output)
        else:
            assert np.array_equal(ours[output], array), output


@pytest.mark.parametrize("name", execute_all())
def test_every_node_agrees_with_the_runtime(name, models, tmp_path):
    """Each from the same inputs: floats within 1e-5, integers and quantized numbers equal."""
    path = models / f"{name}.onnx"
    model = onnx.load(path)
    if not is_opened(name, model):
        pytest.skip("ONNX Runtime does not run it: test_a_model_agrees_with_its_framework has what its network gives")
    inputs, _ = sample_cases(name, models, model)
    result = list(differences(path, inputs, tmp_path))
    if name not in ONE_STEP:
        assert result == []
        return
    operator, node, most = ONE_STEP[name]
    assert [(each.operator, each.node, each.far) for each in result] == [(operator, node, 1.0)]
    assert result[0].wrong <= most
