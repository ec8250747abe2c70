"""What a vendor's own tools write against its pages, and builds take, is a note in a model and no fault of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import specgate
from specgate.cli import main

if TYPE_CHECKING:
    from pathlib import Path

IR = """<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,4" element_type="{kind}"/>
<output><port id="0" precision="{word}"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="1" name="shape" type="ShapeOf" version="opset3"><data output_type="i64"/><input><port id="0"/></input>
<output><port id="1" precision="I64"><dim>2</dim></port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.xml"
    path.write_text(IR.format(kind="boolean", word="BOOL"))
    return path


def test_it_is_a_note(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = specgate.lint(model, ["openvino:opset13"])
    assert [(f.id, f.severity, f.fix, f.basis) for f in report.findings] == [
        ("openvino/ShapeOf/data.type", "note", None, "documented")
    ]
    assert main(["lint", str(model), "--target", "openvino:opset13"]) == 0
    assert "1 finding in" in capsys.readouterr().out


def test_each_side_alone_says_what_it_says(model: Path) -> None:
    (found,) = specgate.lint(model, ["openvino:opset13"], basis="documented").findings
    assert found.severity == "error"
    assert specgate.lint(model, ["openvino:opset13"], basis="observed").findings == []


def test_a_descriptor_alone_is_held_against_both(model: Path) -> None:
    shape_of = {
        "type": "ShapeOf",
        "version": "opset3",
        "inputs": [{"element_type": "boolean", "shape": [1, 4]}],
        "outputs": [],
        "data": {"output_type": "i64"},
    }
    assert specgate.check(shape_of, "openvino:opset13").accepted is False
    assert main(["check", json.dumps(shape_of), "--target", "openvino:opset13"]) == 1


def test_what_builds_refuse_too_stays_an_error(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(IR.format(kind="boolean", word="BOOL").replace('output_type="i64"', 'output_type="f32"'))
    found = specgate.lint(path, ["openvino:opset13"]).findings
    assert ("openvino/ShapeOf/output_type.value", "error") in [(f.id, f.severity) for f in found]


def test_support_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["support", "ShapeOf", "--target", "openvino:opset13"]) == 0
    assert "data.type broken by the vendor's own tools" in capsys.readouterr().out


def _written(path: Path, node: Any, inputs: list[Any]) -> Path:
    openvino = pytest.importorskip("openvino")
    openvino.serialize(openvino.Model([node], inputs), path / "m.xml", path / "m.bin")
    return path / "m.xml"


def _random(opset: Any, attribute: str) -> tuple[Any, list[Any]]:
    bounds = [opset.constant(np.float32(bound)) for bound in (0, 1)]
    return opset.random_uniform(opset.constant(np.array([2, 3])), *bounds, "f32", 150, 10, attribute), []


def _cell(opset: Any, name: str, gates: int, states: int, *activations: list[str]) -> tuple[Any, list[Any]]:
    shapes = [[1, 16], *[[1, 8]] * states, [8 * gates, 16], [8 * gates, 8], [8 * gates]]
    inputs = [opset.parameter(shape, np.float32) for shape in shapes]
    return getattr(opset, name)(*inputs, 8, *activations), inputs


def _pooled(opset: Any, name: str, *given: Any) -> tuple[Any, list[Any]]:
    inputs = [opset.parameter([2, 8, 8, 8], np.float32), opset.parameter([5, 5], np.float32)]
    return getattr(opset, name)(*inputs, *given), inputs


def _double(opset: Any) -> tuple[Any, list[Any]]:
    given = opset.parameter([2], np.float64)
    return opset.abs(given), [given]


@pytest.mark.parametrize(
    ("made", "noted"),
    [
        (lambda opset: _random(opset, "tensorflow"), []),
        (lambda opset: _random(opset, "pytorch"), []),
        (lambda opset: _cell(opset, "lstm_cell", 4, 2), ["openvino/LSTMCell/clip-positive"]),
        (lambda opset: _cell(opset, "gru_cell", 3, 1), ["openvino/GRUCell/clip-positive"]),
        (lambda opset: _cell(opset, "rnn_cell", 1, 1, ["tanh"], [], []), ["openvino/RNNCell/clip-positive"]),
        (lambda opset: _pooled(opset, "roi_pooling", [2, 3], 0.5, "bilinear"), []),
        (lambda opset: _pooled(opset, "psroi_pooling", 2, 2, 0.5, 0, 0, "average"),
         ["openvino/PSROIPooling/spatial_bins_x.value", "openvino/PSROIPooling/spatial_bins_y.value"]),
        (_double, ["openvino/Parameter/element_type.value", "openvino/Parameter/output.type"]),
    ],
)  # fmt: skip
def test_what_openvino_writes_has_no_error(tmp_path: Path, made: Any, noted: list[str]) -> None:
    opset = pytest.importorskip("openvino.opset13")
    found = specgate.lint(_written(tmp_path, *made(opset)), ["openvino:opset13"]).findings
    assert [(one.id, one.severity) for one in sorted(found, key=lambda one: one.id)] == [(id_, "note") for id_ in noted]
