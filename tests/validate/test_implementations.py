"""Rejections by one implementation: findings for its targets, notes for others."""

from __future__ import annotations

from typing import Any

import pytest

import specgate

LAYER: dict[str, Any] = {
    "type": "AdaptiveMaxPool",
    "version": "opset8",
    "inputs": [{"element_type": "f32", "shape": [1, 2, 5, 5]}, {"element_type": "i64", "shape": [2], "value": [2, 2]}],
    "outputs": [],
    "data": {"index_element_type": "i64"},
}
TAKEN = LAYER | {"data": {"index_element_type": "i32"}}
IR = """<net name="one" version="11"><layers>
<layer id="0" name="data" type="Parameter" version="opset1"><data element_type="f32" shape="1,2,5,5"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>2</dim><dim>5</dim><dim>5</dim></port></output></layer>
<layer id="1" name="pool" type="AvgPool" version="opset16">
<data kernel="2,2" strides="2,2" pads_begin="0,0" pads_end="0,0" exclude-pad="false"/>
<input><port id="0" precision="FP32"><dim>1</dim><dim>2</dim><dim>5</dim><dim>5</dim></port></input>
<output><port id="1" precision="FP32"><dim>1</dim><dim>2</dim><dim>2</dim><dim>2</dim></port></output></layer>
<layer id="2" name="end" type="Result" version="opset1">
<input><port id="0" precision="FP32"><dim>1</dim><dim>2</dim><dim>2</dim><dim>2</dim></port></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


def test_an_implementation_target_has_a_finding():
    verdict = specgate.check(LAYER, target="openvino-cpu:2026.4")
    (finding,) = verdict.findings
    assert verdict.accepted is False
    assert (verdict.target, finding.target) == ("openvino-cpu:2026.4", "openvino-cpu:2026.4")
    assert (finding.id, finding.basis) == ("openvino/AdaptiveMaxPool/indices-computed", "observed")
    assert verdict.notes == ()
    assert specgate.check(TAKEN, target="openvino-cpu:2026.4").accepted


@pytest.mark.parametrize("target", ["openvino:2026.4", "openvino:opset16", "openvino:2024.0"])
def test_a_note_of_other_targets(target):
    verdict = specgate.check(LAYER, target=target)
    assert verdict.accepted
    (note,) = verdict.notes
    assert note.startswith("the CPU plugin of OpenVINO 2026.4: The CPU plugin does not support indices of type i64")
    assert specgate.check(TAKEN, target=target).notes == ()
    assert specgate.check(LAYER, target=target, basis="documented").notes == ()
    refused = LAYER | {"data": {"index_element_type": "u8"}}
    assert specgate.check(refused, target=target).notes == ()


def test_layers_of_a_model(tmp_path):
    path = tmp_path / "one.xml"
    path.write_text(IR, encoding="utf-8")
    report = specgate.lint(path, ["openvino:2026.4", "openvino-cpu:2026.4"])
    assert [(finding.id, finding.target) for finding in report.findings] == [
        ("openvino/AvgPool/dilations-given", "openvino-cpu:2026.4")
    ]
