"""Output of ``specgate run``: arrays, maps, sequences and unsafe names."""

from __future__ import annotations

import json
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from specgate.cli import main
from tests.linting.models import FLOAT, helper

if TYPE_CHECKING:
    from pathlib import Path

EVIL = "y\n::error file=a::x\x1b[31m##[error]z"


def save_model(path: Path, nodes: list[Any], inputs: list[Any], outputs: list[Any], *domains: Any) -> str:
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    imports = [helper.make_opsetid("", 13), *domains]
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=8).SerializeToString())
    return str(path)


def zip_map(tmp_path: Path, **labels: list[Any]) -> list[str]:
    """Return arguments that run a model of one ZipMap on an array of two rows."""
    np.save(tmp_path / "x.npy", np.array([[0.25, np.inf], [1, 2]], np.float32))
    node = helper.make_node("ZipMap", ["X"], ["Z"], domain="ai.onnx.ml", **labels)
    key = helper.TensorProto.STRING if "classlabels_strings" in labels else helper.TensorProto.INT64
    value = helper.make_tensor_type_proto(FLOAT, [])
    kind = helper.make_sequence_type_proto(helper.make_map_type_proto(key, value))
    text = save_model(
        tmp_path / "zip.onnx",
        [node],
        [helper.make_tensor_value_info("X", FLOAT, ["N", 2])],
        [helper.make_value_info("Z", kind)],
        helper.make_opsetid("ai.onnx.ml", 1),
    )
    return ["run", text, "-i", f"X={tmp_path / 'x.npy'}"]


@pytest.mark.parametrize(
    ("labels", "line"),
    [
        ({"classlabels_int64s": [10, 20]}, '[0]: {10: 0.25, 20: "Infinity"}'),
        ({"classlabels_strings": ["a", EVIL]}, '[1]: {"a": 1.0, "y\\n::error'),
    ],
)
def test_maps_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str], labels: Any, line: str) -> None:
    assert main(zip_map(tmp_path, **labels)) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Z: sequence of 2\n")
    assert line in printed
    assert "\x1b" not in printed
    assert "##[" not in printed


def test_maps_are_saved_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = zip_map(tmp_path, classlabels_int64s=[10, 20])
    assert main([*texts, "-o", f"Z={tmp_path / 'z.json'}"]) == 0
    document = json.loads((tmp_path / "z.json").read_text(encoding="utf-8"))
    assert document == [{"10": 0.25, "20": "Infinity"}, {"10": 1.0, "20": 2.0}]
    assert capsys.readouterr().out == ""
    assert main([*texts, "-o", f"Z={tmp_path / 'z.npy'}"]) == 2
    assert "Z is a sequence, which .npy does not support; save it as NAME=FILE.json" in capsys.readouterr().err
    assert not (tmp_path / "z.npy").exists()


def test_strings_and_arrays_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = helper.TensorProto.STRING
    value = [helper.make_tensor_value_info(name, text, [2]) for name in ("x", "y")]
    path = save_model(tmp_path / "t.onnx", [helper.make_node("Identity", ["x"], ["y"])], value[:1], value[1:])
    np.save(tmp_path / "x.npy", np.array(["::error::a", "##[b]"]))
    texts = ["run", path, "-i", f"x={tmp_path / 'x.npy'}"]
    assert main(texts) == 0
    assert "##[" not in capsys.readouterr().out
    assert main([*texts, "-o", f"y={tmp_path / 'y.json'}"]) == 0
    assert json.loads((tmp_path / "y.json").read_text(encoding="utf-8")) == ["::error::a", "##[b]"]
    assert main([*texts, "-o", f"y={tmp_path / 'y.npy'}"]) == 0
    assert np.load(tmp_path / "y.npy", allow_pickle=False).tolist() == ["::error::a", "##[b]"]


IR = """<net name="n" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
<output><port id="0" precision="FP32" names="x"><dim>2</dim></port></output></layer>
<layer id="1" name="r" type="ReLU" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim></port></input>
<output><port id="1" precision="FP32" names="y&#10;::error file=a::x##[error]z"><dim>2</dim></port></output></layer>
<layer id="2" name="o" type="Result" version="opset1"><input><port id="0" precision="FP32"><dim>2</dim></port></input>
</layer></layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["onnx", "ir"])
@pytest.mark.parametrize("more", [[], ["--compare"]])
def test_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, more: list[str]) -> None:
    np.save(tmp_path / "x.npy", np.ones(2, np.float32))
    if kind == "onnx":
        value = [helper.make_tensor_value_info(name, FLOAT, [2]) for name in ("x", EVIL)]
        path = save_model(tmp_path / "m.onnx", [helper.make_node("Relu", ["x"], [EVIL])], value[:1], value[1:])
    else:
        path = str(tmp_path / "m.xml")
        (tmp_path / "m.xml").write_text(IR, encoding="utf-8")
        (tmp_path / "m.bin").write_bytes(b"")
    if more:
        pytest.importorskip("onnx.reference" if kind == "onnx" else "openvino")
        more = [*more, "reference" if kind == "onnx" else "cpu"]
    assert main(["run", path, "-i", f"x={tmp_path / 'x.npy'}", *more]) == 0
    printed = "".join(capsys.readouterr())
    assert more or "::error file" in printed
    assert not any(line.startswith("::") or "\x1b" in line or "##[" in line for line in printed.split("\n"))


def test_standard_output_accepts_a_single_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.ones(2, np.float32))
    value = [helper.make_tensor_value_info(name, FLOAT, [2]) for name in ("x", "y", "z")]
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
    path = save_model(tmp_path / "m.onnx", nodes, value[:1], value[1:])
    assert main(["run", path, "-i", "x=x.npy", "-o", "z=-"]) == 0
    assert np.load(BytesIO(capsysbinary.readouterr().out)).tolist() == [-1, -1]
    assert main(["run", path, "-i", "x=x.npy", "-o", "z=-", "-o", "y=-"]) == 2
    assert b"only one output can go to standard output" in capsysbinary.readouterr().err
    assert main(["run", path, "-i", "x=x.npy", "-o", "z=x.npy"]) == 2  # its own input
    assert sorted(each.name for each in tmp_path.iterdir()) == ["m.onnx", "x.npy"]
