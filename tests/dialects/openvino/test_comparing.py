"""`specgate run --compare cpu`: each layer of an IR against OpenVINO's CPU plugin."""

from __future__ import annotations

import numpy as np
import pytest

from specgate.cli import main
from specgate.dialects.openvino.run import compare_model
from specgate.errors import InputError
from specgate.execution.kernels import elementwise
from specgate.execution.memory import budget_of

from .test_run import BIAS, NET, X

pytest.importorskip("openvino", reason="THE COMPARISONS ARE NOT RUN: pip install 'specgate-ml[oracles]'")
pytestmark = pytest.mark.oracle


@pytest.fixture
def path(tmp_path):
    (tmp_path / "sums.bin").write_bytes(bytes(4) + BIAS.tobytes())
    result = tmp_path / "sums.xml"
    result.write_text(NET, encoding="utf-8")
    np.save(tmp_path / "x.npy", X)
    return result


def test_equal_layers_have_no_differences(path):
    compared = compare_model(str(path), {"pixels": X}, "cpu", None, budget=budget_of())
    assert (compared.count, compared.missing, list(compared.differences)) == (2, 0, [])
    assert np.array_equal(compared.outputs["sum_of_sizes"], abs(X) + BIAS)


def test_only_the_layer_that_differs_is_named(path, monkeypatch, capsys):
    monkeypatch.setattr(elementwise, "absolute", lambda x: abs(x) + np.float32(1))
    assert main(["run", str(path), "-i", f"x={path.parent / 'x.npy'}", "--compare", "cpu"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("of 2 values, 1 differ")
    assert lines[1:] == ["size (Abs), output 0: 6 of 6 elements, first 2.0 here and 1.0 there at [0, 0]"]


def test_unsupported_comparisons_are_rejected(path):
    with pytest.raises(InputError, match="unknown implementation 'onnxruntime'; expected cpu"):
        compare_model(str(path), {"x": X}, "onnxruntime", None, budget=budget_of())
    with pytest.raises(InputError, match="cpu does not run the model"):
        compare_model(str(path), {"x": X[:, :2]}, "cpu", None, budget=budget_of())


FILTERS = np.array([[[[1, 2], [3, 4]]]], np.float32)
PORT = '<port id="{}" precision="FP32">' + "".join(f"<dim>{size}</dim>" for size in (1, 1, 4, 4)) + "</port>"
LAYER = """<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,1,4,4" element_type="{kind}"/>
<output>{first}</output></layer>
<layer id="1" name="w" type="Const" version="opset1"><data shape="1,1,2,2" element_type="f32" offset="0" size="16"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>1</dim><dim>2</dim><dim>2</dim></port></output></layer>
<layer id="2" name="y" type="{operator}" version="opset1"><data {data}/><input>{first}{second}</input>
<output>{third}</output></layer>
<layer id="3" name="r" type="Result" version="opset1"><input>{first}</input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>{edge}
<edge from-layer="2" from-port="2" to-layer="3" to-port="0"/></edges></net>"""
SPATIAL = 'strides="2,2" pads_begin="0,0" pads_end="0,0" '


def write_file(folder, operator, data, kind="f32", *, filters=False):
    path = folder / "m.xml"
    edge = '<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/>' if filters else ""
    first, second, third = PORT.format(0), PORT.format(1) if filters else "", PORT.format(2)
    path.write_text(
        LAYER.format(operator=operator, data=data, kind=kind, edge=edge, first=first, second=second, third=third)
    )
    path.with_suffix(".bin").write_bytes(FILTERS.tobytes())
    return str(path)


@pytest.mark.parametrize(
    ("operator", "data"),
    [
        ("MaxPool", SPATIAL + 'kernel="3,3" rounding_type="floor" auto_pad="same_upper"'),
        ("AvgPool", SPATIAL + 'kernel="3,3" rounding_type="floor" auto_pad="same_lower" exclude-pad="true"'),
        ("Convolution", SPATIAL + 'dilations="1,1" auto_pad="explicit" output_padding="0,0"'),
    ],
)
def test_comparison_uses_the_observed_values(tmp_path, operator, data):
    path = write_file(tmp_path, operator, data, filters=operator == "Convolution")
    x = np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4)
    result = compare_model(path, {"x": x}, "cpu", None, budget=budget_of())
    assert (result.count, list(result.differences)) == (1, [])
    assert len(compare_model(path, {"x": x}, "cpu", None, budget=budget_of(), basis="observed").differences) == 0


def test_tolerance_follows_the_compute_type_of_builds(tmp_path):
    path = write_file(tmp_path, "Exp", "", "f64")
    x = np.linspace(-1, 1, 16).reshape(1, 1, 4, 4)
    assert len(compare_model(path, {"x": x}, "cpu", None, budget=budget_of(), basis="documented").differences) == 1
    assert len(compare_model(path, {"x": x}, "cpu", None, budget=budget_of(), basis="observed").differences) == 0
