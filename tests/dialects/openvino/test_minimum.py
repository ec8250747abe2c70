"""The lowest opset and release of an IR, and what blocks lower ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.cli import main
from specgate.dialects.openvino.minimum import ir_minimum

if TYPE_CHECKING:
    from pathlib import Path

IR = """<net name="n" version="{ir}"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="1,4" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="1" name="act" type="{kind}" version="{opset}">{data}<input><port id="0"/></input>
<output><port id="1" precision="FP32"><dim>1</dim><dim>4</dim></port></output></layer>
<layer id="2" name="y" type="Result" version="opset1"><input><port id="0"/></input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


def write_file(folder: Path, kind: str, opset: str, ir: int, data: str = "") -> str:
    path = folder / "m.xml"
    path.write_text(IR.format(kind=kind, opset=opset, ir=ir, data=data))
    return str(path)


@pytest.mark.parametrize(
    ("kind", "opset", "ir", "expected", "refusing", "unreading"),
    [
        ("ReLU", "opset1", 10, ("1", "2020.1"), None, None),
        ("ReLU", "opset1", 11, ("1", "2022.1"), None, "2021.4.2"),
        ("Mish", "opset4", 10, ("4", "2021.1"), "2020.4", None),
        ("SoftSign", "opset9", 11, ("9", "2022.2"), "2022.1", "2021.4.2"),
        ("ErfInv", "opset17", 11, ("17", None), "2026.4.1", "2021.4.2"),
    ],
)
def test_minimum_release_has_the_opset_and_reads_the_file(
    tmp_path: Path,
    kind: str,
    opset: str,
    ir: int,
    expected: tuple[str, str | None],
    refusing: str | None,
    unreading: str | None,
) -> None:
    result = ir_minimum(write_file(tmp_path, kind, opset, ir))
    assert result.release is not None
    first, before = result.release.first, result.release.before
    assert (result.level, first and first.name) == expected
    assert next((item.name for item in reversed(before) if item.refuses), None) == refusing
    assert next((item.name for item in reversed(before) if not item.reads), None) == unreading
    assert all(item.refuses or not item.reads for item in before)


def test_minimum_release_is_printed_as_text_and_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_file(tmp_path, "SoftSign", "opset9", 11)
    assert main(["minimum", path]) == 0
    messages = capsys.readouterr().out.splitlines()
    assert messages[1:5] == [
        "openvino: lowest opset 9 (the model imports 9); all 3 nodes are valid from opset 9 to 17",
        "  because of net/act (SoftSign): written for opset9",
        "openvino: lowest release 2022.2 (opset 9)",
        "  2020.1 to 2022.1 have opsets 1..8, which reject nodes",
    ]
    assert messages[5] == "  2020.1 to 2021.4.2 read IR versions up to 10; the model has 11"
    assert main(["minimum", path, "--format", "json"]) == 0
    data = json.loads(capsys.readouterr().out)["release"]
    assert (data["minimum"], data["title"], data["ir_version"]) == ("2022.2", "OpenVINO 2022.2", 11)
    assert data["blocked"][0] == {
        "release": "2020.1", "opset": 1, "refuses_nodes": True, "newest_ir_version": 10, "reads_file": False, "unknown_types": [],
        "refuses_alone": False,
    }  # fmt: skip
    assert [item["release"] for item in data["blocked"] if item["reads_file"]] == ["2022.1"]


def test_no_release_accepts_an_invalid_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["minimum", write_file(tmp_path, "ReLU", "opset1", 10, '<data bogus="1"/>')])
    assert "openvino: no release accepts this model\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "ir", "message"),
    [
        ("2021.4", 11, "has IR version 11, but OpenVINO 2021.4 reads those up to 10"),
        ("2022.1", 11, None),
        ("2021.4", 10, None),
        ("opset7", 11, None),
        ("2021.4", 99, "has IR version 99, expected 10 or 11"),
    ],
)
def test_unsupported_ir_version_is_a_finding(tmp_path: Path, target: str, ir: int, message: str | None) -> None:
    report = specgate.lint(write_file(tmp_path, "ReLU", "opset1", ir), [f"openvino:{target}"])
    assert [result.message for result in report.findings] == ([] if message is None else [message])
    assert {result.id for result in report.findings} <= {"openvino/model/ir-version"}
    if message and ir == 11:
        assert report.findings[0].fix == "use OpenVINO 2022.1"
        assert report.findings[0].target == "openvino:2021.4"


def test_release_must_support_the_element_types_of_the_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = IR.format(kind="Convert", opset="opset1", ir=11, data='<data destination_type="f4e2m1"/>')
    path = tmp_path / "narrow.xml"
    path.write_text(text.replace('<port id="1" precision="FP32">', '<port id="1" precision="F4E2M1">'))
    minimum = ir_minimum(str(path), "observed").release
    assert minimum is not None
    assert minimum.first is not None
    assert minimum.first.name == "2024.3"
    assert [release.name for release in minimum.before if release.newer == ("f4e2m1",)][-1] == "2024.2"
    assert main(["minimum", str(path), "--basis", "observed"]) == 0
    assert "2020.1 to 2024.2 do not support f4e2m1" in capsys.readouterr().out
