"""External data is checked by location and size, and never read."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import FLOAT, graph, helper, model, onnx


def external_tensor(name="w", shape=(2,), kind=FLOAT, **entries):
    tensor = onnx.TensorProto(name=name, dims=shape, data_type=kind, data_location=onnx.TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def findings(folder, *tensors, nodes=None):
    name = "w" if nodes is None else "x"
    new_model = model(graph(nodes or [helper.make_node("Add", ["x", name], ["y"])], initializers=tensors))
    path = folder / "model.onnx"
    path.write_bytes(new_model.SerializeToString())
    report = specgate.lint(path, ["onnx:17"], infer=False)
    own = [f for f in report.findings if f.id.startswith("onnx/model/")]
    return [(f.id.rpartition("/")[2], f.where) for f in own], [f.message for f in own]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "secret.bin").write_bytes(bytes(64))
    home = tmp_path / "home"
    (home / "inner").mkdir(parents=True)
    (home / "data.bin").write_bytes(bytes(64))
    (home / "inner/data.bin").write_bytes(bytes(64))
    (home / "link.bin").symlink_to("inner/data.bin")
    (home / "out.bin").symlink_to("../secret.bin")
    (home / "up").symlink_to("..")
    return home


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"location": "data.bin"}, []),
        ({"location": "data.bin", "offset": 56, "length": 8}, []),
        ({"location": "data.bin", "offset": 56}, []),
        ({"location": "inner/data.bin"}, []),
        ({"location": "./inner/../data.bin"}, []),
        ({"location": "link.bin"}, []),
        ({}, [("external-location", "location")]),
        ({"location": "/etc/passwd"}, [("external-location", "location")]),
        ({"location": "C:\\weights"}, [("external-location", "location")]),
        ({"location": "\\\\server\\weights"}, [("external-location", "location")]),
        ({"location": "../secret.bin"}, [("external-location", "location")]),
        ({"location": "inner/../../secret.bin"}, [("external-location", "location")]),
        ({"location": "..\\secret.bin"}, [("external-location", "location")]),
        ({"location": "up/secret.bin"}, [("external-location", "location")]),
        ({"location": "out.bin"}, [("external-location", "location")]),
        ({"location": "missing.bin"}, [("external-missing", "location")]),
        ({"location": "inner"}, [("external-missing", "location")]),
        ({"location": "data.bin/more"}, [("external-missing", "location")]),
        ({"location": "x" * 5000}, [("external-missing", "location")]),
        ({"location": "data.bin", "offset": 60, "length": 8}, [("external-range", "offset")]),
        ({"location": "data.bin", "offset": 60}, [("external-range", "offset")]),
        ({"location": "data.bin", "offset": 2**63, "length": 8}, [("external-range", "offset")]),
        ({"location": "data.bin", "offset": -8}, [("external-range", "offset")]),
        ({"location": "data.bin", "length": "many"}, [("external-range", "length")]),
        ({"location": "data.bin", "length": 12}, [("external-length", "length")]),
        ({"location": "data.bin", "length": 400}, [("external-length", "length"), ("external-range", "offset")]),
    ],
)
def test_external_data_locations(folder, entries, expected):
    assert findings(folder, external_tensor(**entries))[0] == expected


def test_messages_contain_byte_counts(folder):
    _, (length, end) = findings(folder, external_tensor(location="data.bin", offset=60, length=400))
    assert length == "the data of the initializer 'w' has a length of 400 bytes, but FLOAT of 2 needs 8"
    assert end == "the data of the initializer 'w' ends at byte 460 of 'data.bin', which has 64 bytes"


def test_packed_types_and_huge_sizes(folder):
    kinds = onnx.TensorProto
    assert findings(folder, external_tensor(shape=(127,), kind=kinds.INT4, location="data.bin", length=64))[0] == []
    assert findings(folder, external_tensor(shape=(2**62, 2**62, 0), location="data.bin", length=0))[0] == []
    huge = external_tensor(shape=(2**62, 2**62), location="data.bin", length=64)
    assert findings(folder, huge)[0] == [("external-length", "length")]


def test_external_data_of_constant_nodes_is_checked(folder):
    node = helper.make_node("Constant", [], ["k"], value=external_tensor(location="/k"), name="k")
    facts, _ = findings(folder, nodes=[node, helper.make_node("Add", ["x", "k"], ["y"])])
    assert facts == [("external-location", "location")]


def test_huge_sparse_file_is_not_read(folder):
    with (folder / "large.bin").open("wb") as file:
        file.truncate(1 << 40)
    tensor = external_tensor(shape=(1 << 36,), location="large.bin", offset=1 << 39, length=1 << 38)
    assert findings(folder, tensor)[0] == []


def test_model_in_memory_has_no_folder():
    new_model = model(
        graph([helper.make_node("Add", ["x", "w"], ["y"])], initializers=[external_tensor(location="nowhere.bin")])
    )
    assert specgate.lint(new_model, ["onnx:17"], infer=False).findings == []
    new_model.graph.initializer[0].external_data[0].value = "../x"
    (finding,) = specgate.lint(new_model, ["onnx:17"], infer=False).findings
    assert finding.id == "onnx/model/external-location"
