"""Suggestions for wrong names: operators, levels, releases, dialects, files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.cli import main
from specgate.near_names import expand_abbreviation, near_operators, near_versions
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("DML_ACTIVATION_RELU_OPERATOR_DESC", "ACTIVATION_RELU"),
        ("DML_ELEMENT_WISE_ADD_OPERATOR_DESC", "ELEMENT_WISE_ADD"),
        ("DML_GEMM_OPERATOR_DESC", "GEMM"),
        ("ADD", "ELEMENT_WISE_ADD"),
        ("RELU", "ACTIVATION_RELU"),
        ("ELEMENT_WISE_ADDD", "ELEMENT_WISE_ADD"),
        ("OneHot", "ONE_HOT"),
    ],
)
def test_operators_of_directml(name: str, expected: str) -> None:
    with pytest.raises(specgate.NoTable, match=f"did you mean {expected}[?]"):
        dialect("directml").operator(name)


def test_every_misspelt_name_suggests_its_operator() -> None:
    for table in map(dialect, ("directml", "onnx", "openvino")):
        folded = [name.replace("_", "").lower() for name in table.operators]
        for name in table.operators:
            if folded.count(name.replace("_", "").lower()) == 1:
                assert near_operators(name.replace("_", "").upper(), table.operators) == [name]
    assert near_operators("Relu6", dialect("openvino").operators) == ["ReLU"]
    assert near_operators("Xyzzyplugh", dialect("onnx").operators) == []


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("onnx:99", "28"),
        ("onnx:0", "1"),
        ("openvino:opset99", "opset17"),
        ("directml:5", "5.0 or 5.1 or 5.2"),
        ("directml:7.0", "6.4"),
        ("dml:5.0", "directml:5.0"),
        ("DML:4.1", "directml:4.1"),
        ("ov:2024.0", "openvino:2024.0"),
        ("dml:5.0", "directml:5.0[?]"),
        ("dml:5", "directml:5.0[?]"),
        ("dml:6", "directml:6.0[?]"),
        ("ov:2024", "openvino:2024.0[?]"),
        ("ort:1.24", "onnxruntime:1.24 or "),
    ],
)
def test_targets(target: str, expected: str) -> None:
    newest = {"onnx:99": dialect("onnx"), "openvino:opset99": dialect("openvino"), "directml:7.0": dialect("directml")}
    expected = newest[target].levels[-1] if target in newest else expected
    with pytest.raises(specgate.InputError, match=f"did you mean {expected}"):
        specgate.targets(target)


def test_releases_beyond_the_newest() -> None:
    assert near_versions("9.9", ["1.13.1", "1.20.1", "1.32.0"]) == ["1.32.0"]
    assert near_versions("1.21.5", ["1.13.1", "1.20.1", "1.32.0"]) == ["1.20.1", "1.32.0"]
    assert near_versions("1.2", ["1.19", "1.20", "1.1"]) == ["1.1", "1.19"]
    assert near_versions("windows-11-22h3", ["4.1", "windows-11-22h2"]) == ["windows-11-22h2"]
    assert expand_abbreviation("dml", ["directml", "onnx", "openvino"]) == ["directml"]
    assert expand_abbreviation("d", ["directml"]) == expand_abbreviation("", ["directml"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("command", ["check", "lint", "run", "minimum", "place"])
@pytest.mark.parametrize(("suffix", "hint"), [(".cpp", "export cpp"), (".H", "export cpp"), (".cs", "export csharp")])
def test_source_code(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, suffix: str, hint: str) -> None:
    path = tmp_path / f"relu{suffix}"
    path.write_text("#include <DirectML.h>\nDML_ACTIVATION_RELU_OPERATOR_DESC desc = {};\n", encoding="utf-8")
    target = {"minimum": [], "place": ["-t", "onnxruntime:1.24.4"]}.get(command, ["-t", "directml:4.1"])
    assert main([command, str(path), *target]) == 2
    assert f"`specgate {hint}`" in capsys.readouterr().err
