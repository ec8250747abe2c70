"""Real models executed: every output is what ONNX Runtime computes, and what the network computed that they come from."""

from __future__ import annotations

import numpy as np
import pytest

import specgate
from specgate.errors import InputError
from tests.real_models.plan import files

onnx = pytest.importorskip(
    "onnx", reason="THE REAL MODELS ARE NOT EXECUTED: pip install onnx (it is in the test extra)"
)

from tests.real_models.expected import own_target  # noqa: E402 - needs onnx
from tests.real_models.test_real_models import NEWEST_OPSET, NOT_TAKEN, QUANTIZED  # noqa: E402

pytestmark = [pytest.mark.timeout(3600), pytest.mark.oracle]

#: Models that ONNX Runtime 1.31 does not open, beside those of newer opsets: a Loop carries a sequence, which its opset
#: does not have.
NOT_OPENED = ("smoothing-trace-11",)
#: What no opset defines: an Upsample by less than 1.
NOT_DEFINED = {"vision-trace-9": "scales must be at least 1"}


@pytest.mark.parametrize("name", files())
def test_a_model_computes_what_others_compute(name, models):
    path = models / f"{name}.onnx"
    model = onnx.load(path)
    with np.load(models / f"{name.partition('-')[0]}.npz") as samples:
        given = {info.name: samples[f"in.{info.name}"] for info in model.graph.input if f"in.{info.name}" in samples}
        wanted = {key.removeprefix("out."): samples[key] for key in samples if key.startswith("out.")}
    if name in NOT_DEFINED:
        with pytest.raises(InputError, match=NOT_DEFINED[name]):
            specgate.execute(path, given)
        return
    ours = specgate.execute(path, given)
    if not any(way in name for way in QUANTIZED):
        for output, array in wanted.items():
            if output in ours:
                np.testing.assert_allclose(ours[output], array, rtol=1e-3, atol=1e-4, err_msg=output)
    if own_target(model).domains[""] > NEWEST_OPSET or name in {*NOT_TAKEN, *NOT_OPENED}:
        return
    for output, array in opened(path, given).items():
        if any(way in name for way in QUANTIZED) and array.dtype.kind == "f":
            span = float(np.ptp(array)) if array.size else 0.0
            assert array.size == 0 or float(np.abs(ours[output] - array).max()) <= span / 64, "four steps of 8 bits"
        elif array.dtype.kind == "f":
            np.testing.assert_allclose(ours[output], array, rtol=1e-3, atol=1e-4, err_msg=output)
        else:
            assert np.array_equal(ours[output], array), output


def opened(path, given):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, given), strict=True))
