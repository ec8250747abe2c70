"""Models named by dispatchables are linted if they are in the file's folder."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from tests.paths import DATA

onnx = pytest.importorskip("onnx", reason="NO MODELS ARE BUILT: onnx is not installed")
from onnx import TensorProto, helper  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}
RELU = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": TENSOR, "OutputTensor": TENSOR}}


def write_file(folder: Path, **dispatchables: Any) -> str:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", 3]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Gelu", ["x"], ["y"], name="act")], "g", ends[:1], ends[1:])
    (folder / "sub").mkdir(parents=True)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), folder / "sub" / "net.onnx")
    shutil.copy(DATA / "dml_graphs" / "parts.bin", folder / "parts.bin")
    path = folder / "model.json"
    path.write_text(json.dumps({"dispatchables": dispatchables}, indent=1), encoding="utf-8")
    return str(path)


def test_nodes_of_named_models_are_checked_at_their_dispatchables(tmp_path: Path) -> None:
    net = {"type": "onnx", "sourcePath": "sub/net.onnx", "freeDimensionNameOverrides": {"N": 2}}
    graph = {"type": "dmlSerializedGraph", "sourcePath": "parts.bin"}
    path = write_file(tmp_path, relu=RELU, net=net, graph=graph)
    report = specgate.lint(path, ["onnx:17", "directml:5.0"])
    where = {
        (finding.id, finding.location.node, finding.location.line) for finding in report.findings if finding.location
    }
    lines = (tmp_path / "model.json").read_text(encoding="utf-8").splitlines()
    line = next(at for at, text in enumerate(lines, 1) if '"net"' in text)
    assert ("onnx/Gelu/level", "dispatchables/net/graph/act", line) in where
    assert any(
        i == "directml/RESAMPLE3/level" and (node or "").startswith("dispatchables/graph/") for i, node, _ in where
    )
    assert report.files == [path]
    assert not report.no_table
    assert not any(finding.edits for finding in report.findings)


def test_file_that_only_references_a_model_is_checked(tmp_path: Path) -> None:
    path = write_file(tmp_path, net={"type": "onnx", "sourcePath": "sub/net.onnx"})
    report = specgate.lint(path, ["onnx:20"])
    assert (report.nodes, report.findings) == (1, [])


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("gone.onnx", "which does not exist"),
        ("../net.onnx", "outside the model's folder"),
        ("/net.onnx", "an absolute path"),
        ("link.onnx", "leaves the model's folder through a link"),
        ("sub", "is not a regular file"),
        ("", "its location is missing"),
    ],
)
def test_models_outside_the_folder_are_not_read(tmp_path: Path, source: str, message: str) -> None:
    folder = tmp_path / "models"
    path = write_file(folder, relu=RELU, net={"type": "onnx", "sourcePath": source})
    shutil.copy(folder / "sub" / "net.onnx", tmp_path / "net.onnx")
    (folder / "link.onnx").symlink_to(tmp_path / "net.onnx")
    report = specgate.lint(path, ["directml:5.0"])
    assert [message in node.reason for node in report.no_table] == [True]
    assert report.nodes == 1
