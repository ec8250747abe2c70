"""`specgate run --compare cpu`: layers of an IR held one by one against OpenVINO's CPU plugin."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.cli import main
from specgate.dialects.openvino.comparing import compare_model
from specgate.errors import InputError
from specgate.execution.kernels import elementwise as elementwise_unary
from specgate.execution.memory import budget_of

from .test_run import BIAS, NET, X

pytest.importorskip("openvino", reason="THE COMPARISONS ARE NOT RUN: pip install 'specgate-ml[oracles]'")
pytestmark = pytest.mark.oracle


@pytest.fixture
def path(tmp_path):
    (tmp_path / "sums.bin").write_bytes(bytes(4) + BIAS.tobytes())
    made = tmp_path / "sums.xml"
    made.write_text(NET, encoding="utf-8")
    np.save(tmp_path / "x.npy", X)
    return made


def test_no_layer_differs(path):
    found = compare_model(str(path), {"pixels": X}, "cpu", None, budget=budget_of())
    assert (found.count, found.missing, list(found.found)) == (2, 0, [])
    assert np.array_equal(found.outputs["sum_of_sizes"], abs(X) + BIAS)


def test_only_the_layer_that_differs_is_named(path, monkeypatch, capsys):
    monkeypatch.setattr(elementwise_unary, "absolute", lambda x: abs(x) + np.float32(1))
    assert main(["run", str(path), "-i", f"x={path.parent / 'x.npy'}", "--compare", "cpu"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("of 2 values 1 differ")
    assert lines[1:] == ["size (Abs), output 0: 6 of 6 elements, first 2.0 here and 1.0 there at [0, 0]"]


def test_what_cannot_be_compared(path):
    with pytest.raises(InputError, match="unknown implementation 'onnxruntime'; expected cpu"):
        compare_model(str(path), {"x": X}, "onnxruntime", None, budget=budget_of())
    with pytest.raises(InputError, match="cpu does not run the model"):
        compare_model(str(path), {"x": X[:, :2]}, "cpu", None, budget=budget_of())
