"""Undocumented output of vendors' tools that builds accept gives notes, not errors."""

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


def test_a_documented_rule_that_tools_violate_is_a_note(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = specgate.lint(model, ["openvino:opset13"])
    assert [(f.id, f.severity, f.fix, f.basis) for f in report.findings] == [
        ("openvino/ShapeOf/data.type", "note", None, "documented")
    ]
    assert main(["lint", str(model), "--target", "openvino:opset13"]) == 0
    assert "1 finding in" in capsys.readouterr().out


def test_each_basis_reports_its_answer(model: Path) -> None:
    (finding,) = specgate.lint(model, ["openvino:opset13"], basis="documented").findings
    assert finding.severity == "error"
    assert specgate.lint(model, ["openvino:opset13"], basis="observed").findings == []


def test_a_single_descriptor_follows_the_builds(model: Path) -> None:
    shape_of = {
        "type": "ShapeOf",
        "version": "opset3",
        "inputs": [{"element_type": "boolean", "shape": [1, 4]}],
        "outputs": [],
        "data": {"output_type": "i64"},
    }
    verdict = specgate.check(shape_of, "openvino:opset13")
    assert verdict.accepted is True
    assert [(f.id, f.severity, f.fix) for f in verdict.findings] == [("openvino/ShapeOf/data.type", "note", None)]
    assert "by the documentation of ShapeOf-3; all builds accept it" in verdict.findings[0].message
    assert specgate.check(shape_of, "openvino:opset13", basis="documented").accepted is False
    assert specgate.check(shape_of, "openvino:opset13", basis="observed").findings == ()
    assert main(["check", json.dumps(shape_of), "--target", "openvino:opset13"]) == 0


def test_values_that_builds_reject_stay_errors(tmp_path: Path) -> None:
    path = tmp_path / "m.xml"
    path.write_text(IR.format(kind="boolean", word="BOOL").replace('output_type="i64"', 'output_type="f32"'))
    findings = specgate.lint(path, ["openvino:opset13"]).findings
    assert ("openvino/ShapeOf/output_type.value", "error") in [(f.id, f.severity) for f in findings]


def test_support_names_rules_that_tools_violate(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["support", "ShapeOf", "--target", "openvino:opset13"]) == 0
    assert "data.type that the vendor's own tools violate" in capsys.readouterr().out


def _write_file(path: Path, node: Any, inputs: list[Any]) -> Path:
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


def _pool(opset: Any, name: str, *items: Any) -> tuple[Any, list[Any]]:
    inputs = [opset.parameter([2, 8, 8, 8], np.float32), opset.parameter([5, 5], np.float32)]
    return getattr(opset, name)(*inputs, *items), inputs


def _double(opset: Any) -> tuple[Any, list[Any]]:
    inputs = opset.parameter([2], np.float64)
    return opset.abs(inputs), [inputs]


@pytest.mark.parametrize(
    ("onnx_model", "noted"),
    [
        (lambda opset: _random(opset, "tensorflow"), []),
        (lambda opset: _random(opset, "pytorch"), []),
        (lambda opset: _cell(opset, "lstm_cell", 4, 2), ["openvino/LSTMCell/clip-positive"]),
        (lambda opset: _cell(opset, "gru_cell", 3, 1), ["openvino/GRUCell/clip-positive"]),
        (lambda opset: _cell(opset, "rnn_cell", 1, 1, ["tanh"], [], []), ["openvino/RNNCell/clip-positive"]),
        (lambda opset: _pool(opset, "roi_pooling", [2, 3], 0.5, "bilinear"), []),
        (lambda opset: _pool(opset, "psroi_pooling", 2, 2, 0.5, 0, 0, "average"),
         ["openvino/PSROIPooling/spatial_bins_x.value", "openvino/PSROIPooling/spatial_bins_y.value"]),
        (_double, ["openvino/Parameter/element_type.value", "openvino/Parameter/output.type"]),
    ],
)  # fmt: skip
def test_models_saved_by_openvino_have_no_errors(tmp_path: Path, onnx_model: Any, noted: list[str]) -> None:
    opset = pytest.importorskip("openvino.opset13")
    result = specgate.lint(_write_file(tmp_path, *onnx_model(opset)), ["openvino:opset13"]).findings
    assert [(item.id, item.severity) for item in sorted(result, key=lambda item: item.id)] == [
        (id_, "note") for id_ in noted
    ]


def _layer(kind: str, version: str, shapes: list[list[int]], output: list[int], **data: Any) -> dict[str, Any]:
    ports = [{"element_type": "f32", "shape": shape} for shape in shapes]
    return {"type": kind, "version": version, "inputs": ports, "outputs": [{"element_type": "f32", "shape": output}],
            "data": data}  # fmt: skip


POOL = {"kernel": "3,3", "strides": "2,2", "pads_begin": "0,0", "pads_end": "0,0", "auto_pad": "same_upper"}
CONVOLVED = {"strides": "2,2", "dilations": "1,1", "pads_begin": "1,1", "pads_end": "1,1", "auto_pad": "explicit"}
OLD = {  # layers as written by Model Optimizer, and their notes
    "pool": (_layer("MaxPool", "opset1", [[1, 1, 7, 6]], [1, 1, 4, 3], rounding_type="floor", **POOL), ["output-sizes"]),
    "average": (_layer("AvgPool", "opset1", [[1, 1, 7, 6]], [1, 1, 4, 3], **{"exclude-pad": "true"}, **POOL),
                ["output-sizes"]),
    "exclude-pad": (_layer("MaxPool", "opset1", [[1, 1, 7, 7]], [1, 1, 7, 7], **POOL | {"strides": "1,1"},
                           **{"exclude-pad": "true"}), ["unknown-attribute"]),
    "convolution": (_layer("Convolution", "opset1", [[1, 1, 8, 8], [1, 1, 3, 3]], [1, 1, 4, 4], output_padding="0,0",
                           **CONVOLVED), ["unknown-attribute"]),
    "group": (_layer("GroupConvolution", "opset1", [[1, 1, 8, 8], [1, 1, 1, 3, 3]], [1, 1, 4, 4], output_padding="0,0",
                     **CONVOLVED), ["unknown-attribute"]),
    "variable": (_layer("ReadValue", "opset6", [[1, 1]], [1, 1], variable_id="s"),
                 ["variable_shape.required", "variable_type.required"]),
    "cell": (_layer("RNNCell", "opset3", [[1, 2], [1, 4], [4, 2], [4, 4], [4]], [1, 4], hidden_size="4",
                    activations="tanh", activation_alpha="", activation_beta=""),
             ["unknown-attribute", "unknown-attribute"]),
    "selu": (_layer("Selu", "opset1", [[2], [], []], [2]), ["alpha.rank", "scale.rank"]),
    "dilations": (_layer("MaxPool", "opset8", [[1, 1, 7, 7]], [1, 1, 3, 3], dilations="",
                         **POOL | {"auto_pad": "explicit"}), ["dilations-length"]),
    "none": (_layer("Broadcast", "opset1", [[3]], [2, 3], mode="none"), ["mode.value"]),
}  # fmt: skip
OLD["none"][0]["inputs"] += [{"element_type": "i64", "shape": [2]}, {"element_type": "i64", "shape": [1]}]


@pytest.mark.parametrize("case", OLD)
def test_layers_of_model_optimizer_are_notes(case: str) -> None:
    layer, noted = OLD[case]
    verdict = specgate.check(layer, "openvino:opset13")
    assert verdict.accepted is True
    assert sorted(f.id.rpartition("/")[2] for f in verdict.findings) == noted
    assert {(f.severity, f.fix, f.basis) for f in verdict.findings} == {("note", None, "documented")}
    assert all("by the documentation of " in f.message and "builds accept it" in f.message for f in verdict.findings)
    assert specgate.check(layer, "openvino:opset13", basis="documented").accepted is False
    assert specgate.minimum(layer).level is not None


@pytest.mark.parametrize("case", ["pool", "average"])
def test_documented_sizes_are_rejected_if_all_builds_differ(case: str) -> None:
    layer = {**OLD[case][0], "outputs": [OLD[case][0]["inputs"][0]]}
    assert specgate.check(layer, "openvino:opset13", basis="documented").accepted is True
    verdict = specgate.check(layer, "openvino:opset13")
    assert [(f.id.rpartition("/")[2], f.severity) for f in verdict.findings] == [("built-sizes", "error")]


def test_an_attribute_that_no_tool_writes_is_an_error() -> None:
    layer = _layer(
        "Convolution", "opset1", [[1, 1, 8, 8], [1, 1, 3, 3]], [1, 1, 4, 4], output_paddings="0", **CONVOLVED
    )
    findings = specgate.check(layer, "openvino:opset13").findings
    assert [(f.id, f.severity) for f in findings] == [("openvino/Convolution/unknown-attribute", "error")]


def test_the_lowest_release_agrees_with_lint(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["minimum", str(model)]) == 0
    printed = capsys.readouterr().out
    assert "lowest opset 3" in printed
    assert "lowest release 2022.1" in printed


@pytest.mark.parametrize(("word", "kept"), [("True", 3), ("False", 2), ("TRUE", 3)])
def test_booleans_as_python_writes_them(word: str, kept: int) -> None:
    layer = _layer("ReduceMax", "opset1", [[2, 3, 4]], [2, 1, 4] if kept == 3 else [2, 4], keep_dims=word)
    layer["inputs"].append({"element_type": "i64", "shape": [1], "value": [1]})
    assert specgate.check(layer, "openvino:opset13").accepted is True
