"""Execution of IRs: inputs by name, weights from the .bin file, errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import specgate
from specgate.errors import InputError, NoKernel, NoTable

if TYPE_CHECKING:
    from pathlib import Path

PORT = '<port id="{}" precision="FP32">{}</port>'
DIMS = "<dim>2</dim><dim>3</dim>"
NET = f"""<?xml version="1.0"?>
<net name="sums" version="11">
<layers>
<layer id="4" name="total" type="Result" version="opset1"><input>{PORT.format(0, DIMS)}</input></layer>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="?,3" element_type="f32"/>
<output><port id="0" precision="FP32" names="x,pixels"><dim>-1</dim><dim>3</dim></port></output></layer>
<layer id="1" name="bias" type="Const" version="opset1"><data element_type="f32" shape="3" offset="4" size="12"/>
<output>{PORT.format(0, "<dim>3</dim>")}</output></layer>
<layer id="2" name="size" type="Abs" version="opset1"><input>{PORT.format(0, DIMS)}</input>
<output>{PORT.format(1, DIMS)}</output></layer>
<layer id="3" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input>{PORT.format(0, DIMS)}{PORT.format(1, "<dim>3</dim>")}</input>
<output><port id="2" precision="FP32" names="sum_of_sizes">{DIMS}</port></output></layer>
</layers>
<edges>
<edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="2" from-port="1" to-layer="3" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="3" to-port="1"/>
<edge from-layer="3" from-port="2" to-layer="4" to-port="0"/>
</edges>
</net>"""
BIAS = np.array([10, 20, 30], np.float32)
X = np.array([[-1, 2, -3], [0.5, 0, -0.25]], np.float32)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "sums.xml"
    path.write_text(NET, encoding="utf-8")
    path.with_suffix(".bin").write_bytes(bytes(4) + BIAS.tobytes())
    return path


@pytest.mark.parametrize("name", ["x", "pixels"])
def test_inputs_are_named_by_layer_or_tensor(model, name):
    outputs = specgate.execute(str(model), {name: X})
    assert list(outputs) == ["sum_of_sizes"]
    assert np.array_equal(outputs["sum_of_sizes"], abs(X) + BIAS)


def test_unnamed_result_tensor_uses_the_layer_name(model):
    model.write_text(NET.replace(' names="sum_of_sizes"', ""), encoding="utf-8")
    assert list(specgate.execute(str(model), {"x": X})) == ["total"]


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({}, "no array for the input 'x'"),
        ({"y": X}, "no input 'y'; expected 'x'"),
        ({"x": X.astype(np.float64)}, "float32, found float64"),
        ({"x": X[:, :2]}, r"shape \[2, 2\], but \['\?', 3\] is declared"),
    ],
)
def test_inputs_are_compared_with_their_parameters(model, arrays, words):
    with pytest.raises(InputError, match=words):
        specgate.execute(str(model), arrays)


def test_truncated_or_missing_weights_are_reported(model):
    weights = model.with_suffix(".bin")
    weights.write_bytes(weights.read_bytes()[:-1])
    with pytest.raises(InputError, match=r"line \d+, Const 'bias': ends at byte 16 of 'sums.bin', which has 15 bytes"):
        specgate.execute(str(model), {"x": X})
    weights.unlink()
    with pytest.raises(InputError, match=r"are in 'sums.bin', which cannot be read"):
        specgate.execute(str(model), {"x": X})


def test_a_layer_newer_than_the_target_is_rejected(model):
    model.write_text(NET.replace('type="Abs" version="opset1"', 'type="Abs" version="opset14"'), encoding="utf-8")
    assert specgate.execute(str(model), {"x": X}, "openvino:2024.0")
    with pytest.raises(InputError, match=r"Abs 'size': is of opset14, above openvino:2023.3 \(opset13\)"):
        specgate.execute(str(model), {"x": X}, "openvino:2023.3")


def test_rejected_layer_is_not_executed(model):
    model.write_text(NET.replace('"numpy"', '"none"'), encoding="utf-8")
    with pytest.raises(InputError, match="Add 'sum'"):
        specgate.execute(str(model), {"x": X})


def test_a_layer_without_a_table_and_a_cycle_are_named(model):
    model.write_text(NET.replace('type="Abs"', 'type="Stranger"'), encoding="utf-8")
    with pytest.raises(NoTable, match="Stranger 'size'"):
        specgate.execute(str(model), {"x": X})
    model.write_text(NET.replace('from-layer="0" from-port="0"', 'from-layer="3" from-port="2"'), encoding="utf-8")
    with pytest.raises(InputError, match="3 layers form a cycle"):
        specgate.execute(str(model), {"x": X})


def test_values_beyond_the_budget_are_rejected(model):
    with pytest.raises(InputError, match="limit"):
        specgate.execute(str(model), {"x": X}, max_bytes=8)


def test_constants_without_a_numpy_type_are_reported(model):
    text = NET.replace('element_type="f32" shape="3"', 'element_type="nf4" shape="3"')
    model.write_text(text, encoding="utf-8")
    with pytest.raises(NoKernel, match="Const 'bias': nf4 has no numpy type"):
        specgate.execute(str(model), {"x": X})


@pytest.mark.oracle
def test_openvino_computes_equal_values(model):
    openvino = pytest.importorskip("openvino", reason="OPENVINO IS NOT INSTALLED: values of whole IRs are not compared")
    compiled = openvino.compile_model(str(model), "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    assert np.array_equal(compiled([X])[0], specgate.execute(str(model), {"x": X})["sum_of_sizes"])
