"""Serialized graphs: operators round-trip, and corrupt graphs are rejected."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest

import specgate
from specgate.cli import main
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.dialects.directml import reader
from specgate.dialects.directml.native.abi import abi
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.native.unmarshal import describe_image
from specgate.dialects.directml.serialized.graph import begins_graph, read_graph
from specgate.errors import InputError
from tests.dialects.directml.native.loaded import descriptions
from tests.paths import ROOT

pytest.importorskip("flatbuffers")
from tests.dialects.directml.serialized import written
from tests.dialects.directml.serialized.written import Constant, Operator, graph

TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "TotalTensorSizeInBytes": 16}
ABS = {"type": "DML_OPERATOR_ELEMENT_WISE_ABS", "desc": {"InputTensor": TENSOR, "OutputTensor": TENSOR}}
SMALL = {**TENSOR, "Sizes": [1, 1, 2, 1]}
BROKEN = {"type": "DML_OPERATOR_ELEMENT_WISE_ABS", "desc": {"InputTensor": TENSOR, "OutputTensor": SMALL}}
GEMM = describe_image(image(next(d for n, d, _ in descriptions("GEMM") if "FusedActivation" in d["desc"])))


def keep(value: Any) -> Any:
    """Return the part of a descriptor that a serialized graph stores.

    It has no flags, no alignment and no tensors of fused operators.
    """
    if isinstance(value, Descriptor):
        fields = {name: keep(part) for name, part in value.fields.items()}
        return value.operator, {name: part for name, part in fields.items() if part != []}
    if isinstance(value, TensorDesc):
        return value._replace(flags=None, alignment=None)
    return [keep(each) for each in value] if type(value) in {list, tuple} else value


@pytest.mark.slow
@pytest.mark.parametrize("operator", abi().operators)
def test_operator_round_trips(operator):
    for _, descriptor, _ in descriptions(operator):
        expected = describe_image(image(descriptor))
        for member in abi().structure(operator).members:
            if member.base == "operator" and member.name in expected["desc"]:
                several = expected["desc"][member.name]
                for fused in several if isinstance(several, list) else [several]:
                    inside = abi().structure(fused["type"]).members
                    fused["desc"] = {
                        m.name: fused["desc"][m.name] for m in inside if not m.tensor and m.name in fused["desc"]
                    }
        (node,) = read_graph(graph(expected), "g.bin")
        assert node.fields is not None
        assert keep(reader.read(node.fields)) == keep(reader.read(expected))


def two_nodes() -> bytes:
    return graph(
        Constant("w", None, "weights"),
        Constant("b", bytes(16), "bias"),
        Operator(ABS, ["w"], ["between"], "first"),
        Operator(BROKEN, ["between"], ["out"], "second"),
        inputs=["x"],
        outputs=["out"],
    )


def test_check_and_lint_detect_graphs_with_any_file_name(tmp_path, capsys):
    for name in ("Partition_0.bin", "graph.dml", "graph"):
        path = tmp_path / name
        path.write_bytes(two_nodes())
        assert main(["check", str(path), "-t", "directml:6.4"]) == 1
        text = capsys.readouterr().out
        assert "accepted   directml:6.4  ELEMENT_WISE_ABS  nodes[2] 'first'" in text
        assert "rejected   directml:6.4  ELEMENT_WISE_ABS  nodes[3] 'second'" in text
        assert main(["lint", str(path), "-t", "directml:6.4"]) == 1
        assert "nodes[3] 'second'" in capsys.readouterr().out


def test_graph_is_read_from_standard_input(tmp_path, capsys, monkeypatch):
    (tmp_path / "g").write_bytes(two_nodes())
    with (tmp_path / "g").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert main(["check", "-", "-t", "directml:6.4"]) == 1
    assert "<stdin>" in capsys.readouterr().out


def test_external_constants_are_owned_by_directml():
    first, second = [node.fields for node in read_graph(two_nodes(), "g") if node.fields]
    assert first["desc"]["InputTensor"]["Flags"] == 1
    assert "Flags" not in second["desc"]["InputTensor"]


def test_names_of_edges_are_kept():
    nodes = read_graph(two_nodes(), "g")
    assert [(node.reads, node.writes) for node in nodes] == [
        ((), ("w",)), ((), ("b",)), (("w",), ("between",)), (("between",), ("out",)),
    ]  # fmt: skip


def test_unused_output_has_no_name():
    (node,) = read_graph(graph(Operator(ABS, ["x"], [""])), "g")
    assert node.fields == ABS


WIDE = {**TENSOR, "Sizes": [1, 1, 2, 4], "TotalTensorSizeInBytes": 32}
WIDER = {"type": "DML_OPERATOR_ELEMENT_WISE_ABS", "desc": {"InputTensor": WIDE, "OutputTensor": WIDE}}
FIRST = Operator(ABS, ["x"], ["m"], "first")


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([FIRST, Operator(ABS, ["m"], ["y"], "second")], []),
        ([Constant("x", None), FIRST, Operator(ABS, ["m"], ["y"], "second")], []),
        ([Constant("c", bytes(16)), Operator(ABS, ["c"], ["m"], "first"), Operator(ABS, ["m"], ["y"])], []),
        ([FIRST, Operator(WIDER, ["m"], ["y"], "second")], [("edge-bytes", "nodes[1] 'second'")]),
        ([FIRST, Operator(WIDER, ["x"], ["y"], "second")],
         [("edge-bytes", "nodes[1] 'second'"), ("edge-missing", "nodes[0] 'first'")]),
        ([Operator(ABS, ["z"], ["y"], "lost")], [("edge-missing", "nodes[0] 'lost'")]),
        ([Operator(ABS, ["m"], ["y"], "second"), FIRST],  # elements are read in order
         [("edge-missing", "nodes[0] 'second'"), ("edge-missing", "nodes[1] 'first'")]),
        ([Operator(ABS, ["x"], [""], "lost")], [("edge-missing", "nodes[0] 'lost'")]),
        ([FIRST, Operator(ABS, ["m"], ["y"], "second"), Operator(ABS, ["m"], ["y"], "third")],
         [("edge-twice", "OutputEdges")]),
    ],
)  # fmt: skip
def test_edges_are_compared_with_each_other(tmp_path, capsys, nodes, expected):
    path = tmp_path / "g.bin"
    path.write_bytes(graph(*nodes, inputs=["x"], outputs=["y"]))
    result = specgate.lint(path, ["directml:6.4"]).findings
    assert [(item.id.removeprefix("directml/model/"), item.where) for item in result] == expected
    for more in ([], ["--format", "jsonl"]):
        assert main(["check", str(path), "-t", "directml:6.4", *more]) == bool(expected)
        assert capsys.readouterr().out.count("directml/model/edge-") == len(expected)


def test_unknown_operator_has_no_table(tmp_path, capsys):
    unknown = Operator({**ABS, "type": "DML_OPERATOR_ELEMENT_WISE_ABS"}, ["x"], ["y"], "new")
    data = graph(unknown).replace(b"DML_OPERATOR_ELEMENT_WISE_ABS", b"DML_OPERATOR_ELEMENT_WISE_XYZ")
    (tmp_path / "g.dml").write_bytes(data)
    main(["check", str(tmp_path / "g.dml"), "-t", "directml:6.4"])
    assert "no table" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        ([], r"^g: nodes\[0\]: expected a tensor for each of 0 edges, found 1"),
        (["a", "b"], r"^g: nodes\[0\]: expected a tensor for each of 2 edges, found 1"),
        (["a", ""], r"^g: nodes\[0\]: expected 1 edges of InputTensor, found 2"),
    ],
)
def test_mismatched_edges_are_rejected(reads, message):
    with pytest.raises(InputError, match=message):
        read_graph(graph(Operator(ABS, reads, ["y"])), "g")


def test_unknown_attribute_is_rejected():
    data = graph(GEMM)
    assert data.count(b"Alpha\0") == 1
    with pytest.raises(InputError, match=r"^g: nodes\[0\]: 'Alphb' is not an attribute of this operator"):
        read_graph(data.replace(b"Alpha\0", b"Alphb\0"), "g")


def test_attribute_of_wrong_kind_is_rejected(monkeypatch):
    monkeypatch.setitem(written.KINDS, "float", 8)
    with pytest.raises(InputError, match=r"^g: nodes\[0\]\.Alpha: expected an attribute of the kind 6, found 8"):
        read_graph(graph(GEMM), "g")


def nest(depth: int) -> dict[str, Any]:
    inner = dict(GEMM["desc"])
    for name in ("ATensor", "BTensor", "CTensor", "OutputTensor"):
        inner.pop(name, None)
    entries: dict[str, Any] = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}
    for _ in range(depth):
        entries = {"type": "DML_OPERATOR_GEMM", "desc": {**inner, "FusedActivation": entries}}
    return {"type": "DML_OPERATOR_GEMM", "desc": {**GEMM["desc"], "FusedActivation": entries}}


def test_deeply_nested_operators_are_rejected():
    assert read_graph(graph(nest(3)), "g")
    with pytest.raises(InputError, match="operators nested at most 8 deep"):
        read_graph(graph(nest(12)), "g")


@pytest.mark.parametrize("length", [0, 3, 16, 31, 32, 60, 100, 200])
def test_truncated_file_is_rejected(length):
    data = two_nodes()
    assert len(data) > 200
    with pytest.raises(InputError):
        read_graph(data[:length], "g")


def test_shared_offsets_do_not_multiply_reading():
    whole, nodes = graph(*[GEMM] * 2), 4_000
    root = struct.unpack_from("<I", whole)[0]
    table = root - struct.unpack_from("<i", whole, root)[0]
    at = root + struct.unpack_from("<H", whole, table + 4)[0]
    first = at + struct.unpack_from("<I", whole, at)[0] + 4
    node = first + struct.unpack_from("<I", whole, first)[0]
    data, vector = bytearray(whole), len(whole) + 4 * nodes + 4
    struct.pack_into("<I", data, at, len(whole) - at)  # the nodes are now those of a vector after the graph
    data += struct.pack("<I", nodes)
    data += b"".join(struct.pack("<I", vector + node - (len(whole) + 4 + 4 * i)) for i in range(nodes))
    data += whole  # the targets of the offsets: offsets lead forward only
    with pytest.raises(InputError, match="referenced too often"):
        read_graph(bytes(data), "g")


def test_graph_of_constants_only_is_rejected(tmp_path, capsys):
    (tmp_path / "g.dml").write_bytes(graph(Constant("w", bytes(4))))
    assert main(["check", str(tmp_path / "g.dml")]) == 2
    assert "expected at least one operator" in capsys.readouterr().err


@pytest.mark.parametrize(
    "data", [b"", b"\x10\0\0\0", b"{" * 64, b"<net>" * 20, bytes(64), b"\x08\x07\x12\x0cbackend-test:"]
)
def test_other_data_is_not_detected_as_a_graph(data):
    assert not begins_graph(data)


def test_findings_match_those_of_the_descriptor():
    (node,) = [node for node in read_graph(two_nodes(), "g") if node.name == "second"]
    verdict = specgate.check(node.fields, "directml:6.4")
    assert [f.id for f in verdict.findings] == [f.id for f in specgate.check(BROKEN, "directml:6.4").findings]


@pytest.mark.parametrize("name", ["fused.bin", "parts.bin"])
def test_runtime_graphs_match_the_created_operators(name):
    folder = ROOT / "tests" / "data" / "dml_graphs"
    created = json.loads((folder / "created.json").read_text())[name]
    assert len(created) >= 7
    nodes = read_graph((folder / name).read_bytes(), name)
    assert [node.fields for node in nodes if node.fields is not None] == created
    assert main(["lint", str(folder / name), "-t", "directml:6.4"]) == 0


def test_runtime_graphs_have_fused_operators_and_omitted_tensors():
    folder = ROOT / "tests" / "data" / "dml_graphs"
    fused, parts = [
        [node.fields["desc"] for node in read_graph((folder / name).read_bytes(), name) if node.fields]
        for name in ("fused.bin", "parts.bin")
    ]
    assert fused[0]["FusedActivation"] == {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {}}
    assert "BiasTensor" in fused[0]
    assert "BiasTensor" not in parts[0]
    assert [len(desc[name]) for desc in parts for name in ("InputTensors", "OutputTensors") if name in desc] == [2, 3]
