"""CompileGraph's requirements on edges, as build 6.2 answered for the same graphs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.cli import main
from specgate.spec.rulebook import rule_of

if TYPE_CHECKING:
    from pathlib import Path

SAME: dict[str, Any] = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 2], "TotalTensorSizeInBytes": 16}
INPUT = {"GraphInputIndex": 0, "ToNodeIndex": 0, "ToNodeInputIndex": 0}
BETWEEN = {"FromNodeIndex": 0, "FromNodeOutputIndex": 0, "ToNodeIndex": 1, "ToNodeInputIndex": 0}
OUTPUT = {"FromNodeIndex": 1, "FromNodeOutputIndex": 0, "GraphOutputIndex": 0}
BOTH = [INPUT, INPUT | {"ToNodeIndex": 1}]
ENDS = [OUTPUT, OUTPUT | {"FromNodeIndex": 0, "GraphOutputIndex": 1}]


def graph(second: dict[str, Any], first: dict[str, Any] | None = None, **edges: Any) -> dict[str, Any]:
    """Return a model of two identities, connected in series unless `edges` differ."""
    desc = {
        "InputCount": 2, "OutputCount": 2, "Nodes": [{"type": "OPERATOR", "Operator": name} for name in ("a", "b")],
        "InputEdges": [INPUT], "IntermediateEdges": [BETWEEN], "OutputEdges": [OUTPUT], **edges,
    }  # fmt: skip
    entries = {name: _identity(SAME | (tensor or {})) for name, tensor in (("a", first), ("b", second))}
    return {"dispatchables": {**entries, "graph": {"type": "DML_GRAPH_DESC", "desc": desc}}}


def _identity(tensor: dict[str, Any]) -> dict[str, Any]:
    output = {name: part for name, part in tensor.items() if name != "Flags"}
    return {"type": "DML_OPERATOR_ELEMENT_WISE_IDENTITY", "desc": {"InputTensor": tensor, "OutputTensor": output}}


def list_messages(folder: Path, document: dict[str, Any]) -> list[tuple[str, str]]:
    path = folder / "graph.json"
    path.write_text(json.dumps(document, indent=1))
    findings = specgate.lint(path, ["directml:6.4"]).findings
    assert all(finding.location is not None and finding.location.line for finding in findings)
    return [(finding.id.removeprefix("directml/model/"), finding.where) for finding in findings]


@pytest.mark.parametrize(
    "document",
    [
        graph({}),
        graph({"DataType": "UINT32"}),
        graph({"DataType": "FLOAT16", "Sizes": [1, 1, 2, 4]}),
        graph({"Sizes": [2, 2]}),
        graph({"Sizes": [4]}),
        graph({}, InputEdges=BOTH, IntermediateEdges=[], OutputEdges=ENDS),
        graph({}, OutputEdges=ENDS),
        graph({"TotalTensorSizeInBytes": None}),
    ],
)
def test_compilable_graphs_have_no_findings(tmp_path: Path, document: dict[str, Any]) -> None:
    assert list_messages(tmp_path, document) == []


WIDE = {"Sizes": [1, 1, 2, 4], "TotalTensorSizeInBytes": 32}
BYTES = ("edge-bytes", "IntermediateEdges[0]")


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (graph({"TotalTensorSizeInBytes": 32}), [BYTES]),
        (graph({}, {"TotalTensorSizeInBytes": 32}), [BYTES]),
        (graph(WIDE), [BYTES]),
        (graph({}, WIDE), [BYTES]),
        (graph({**WIDE, "TotalTensorSizeInBytes": None}), [BYTES]),
        (graph(WIDE, InputEdges=BOTH, IntermediateEdges=[], OutputEdges=ENDS), [("edge-bytes", "InputEdges[1]")]),
        (graph({"Flags": "OWNED_BY_DML"}), [("edge-owned", "IntermediateEdges[0]")]),
        (
            graph({"Flags": "OWNED_BY_DML"}, InputEdges=BOTH, IntermediateEdges=[], OutputEdges=ENDS),
            [("edge-owned", "InputEdges[1]")],
        ),
        (graph({}, IntermediateEdges=[], OutputEdges=ENDS), [("edge-missing", "Nodes[1]")]),
        (graph({}, OutputEdges=[ENDS[1]]), [("edge-missing", "Nodes[1]")]),
        (graph({}, InputEdges=[INPUT, {**BOTH[1], "GraphInputIndex": 1}]), [("edge-twice", "Nodes[1]")]),
        (graph({}, OutputEdges=[OUTPUT, OUTPUT | {"FromNodeIndex": 0}]), [("edge-twice", "OutputEdges")]),
        (
            graph({}, InputEdges=[], IntermediateEdges=[BETWEEN, BETWEEN | {"FromNodeIndex": 1, "ToNodeIndex": 0}]),
            [("graph-cycle", "IntermediateEdges")],
        ),
    ],
)
def test_graphs_rejected_by_the_build_have_findings(
    tmp_path: Path, document: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert list_messages(tmp_path, document) == expected
    assert all(rule_of(f"directml/model/{rule}").says for rule, _ in expected)


def test_edges_of_optional_tensors_and_tensor_arrays(tmp_path: Path) -> None:
    document = graph({})
    tensors = [SAME, SAME]
    joined = {"InputTensors": tensors, "OutputTensor": SAME | {"Sizes": [1, 1, 2, 4], "TotalTensorSizeInBytes": 32}}
    document["dispatchables"]["b"] = {"type": "JOIN", "desc": {"InputCount": 2, **joined, "Axis": 3}}
    assert list_messages(tmp_path, document) == [("edge-missing", "Nodes[1]")]
    document["dispatchables"]["graph"]["desc"]["IntermediateEdges"] = [BETWEEN, BETWEEN | {"ToNodeInputIndex": 1}]
    assert list_messages(tmp_path, document) == []
    product: dict[str, Any] = {
        "ATensor": SAME,
        "BTensor": SAME,
        "OutputTensor": SAME,
        "TransA": "NONE",
        "TransB": "NONE",
    }
    product |= {"Alpha": 1.0, "Beta": 0.0}
    document["dispatchables"]["b"] = {"type": "GEMM", "desc": product}
    assert list_messages(tmp_path, document) == []


HALF = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 1], "TotalTensorSizeInBytes": 8}
VALUES = {"InputTensor": SAME, "OutputValueTensor": HALF, "OutputIndexTensor": {**HALF, "DataType": "UINT32"}}
TOP = {"type": "TOP_K", "desc": {**VALUES, "Axis": 3, "K": 1}}


def test_unused_second_output_is_a_note(tmp_path: Path) -> None:
    document = graph({})
    document["dispatchables"]["b"] = TOP
    assert list_messages(tmp_path, document) == [("edge-unused", "Nodes[1]")]
    assert main(["check", str(tmp_path / "graph.json"), "-t", "directml:6.4"]) == 0  # a note
    edges = document["dispatchables"]["graph"]["desc"]
    edges["OutputEdges"] = [OUTPUT, {**OUTPUT, "FromNodeOutputIndex": 1, "GraphOutputIndex": 1}]
    assert list_messages(tmp_path, document) == []
    edges["OutputEdges"] = []
    assert list_messages(tmp_path, document) == [("edge-missing", "Nodes[1]")]


def test_present_optional_input_requires_an_edge(tmp_path: Path) -> None:
    document = graph({})
    product: dict[str, Any] = {f"{name}Tensor": SAME for name in ("A", "B", "C", "Output")}
    product |= {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 1.0}
    document["dispatchables"]["b"] = {"type": "GEMM", "desc": product}
    edges = document["dispatchables"]["graph"]["desc"]
    edges["IntermediateEdges"] = [{**BETWEEN, "ToNodeInputIndex": place} for place in range(2)]
    assert list_messages(tmp_path, document) == [("edge-missing", "Nodes[1]")]
    edges["IntermediateEdges"].append({**BETWEEN, "ToNodeInputIndex": 2})
    assert list_messages(tmp_path, document) == []


def test_operator_named_none_is_not_a_constant(tmp_path: Path) -> None:
    document = graph({})
    document["dispatchables"]["None"] = TOP
    document["dispatchables"]["graph"]["desc"]["Nodes"].append({"type": "CONSTANT"})
    assert list_messages(tmp_path, document) == []


def test_long_chain_is_not_reported_as_a_cycle(tmp_path: Path) -> None:
    count = 3000
    nodes = [{"type": "OPERATOR", "Operator": "a"}] * count
    steps = [{**BETWEEN, "FromNodeIndex": at, "ToNodeIndex": at + 1} for at in range(count - 1)]
    end = [{**OUTPUT, "FromNodeIndex": count - 1}]
    assert list_messages(tmp_path, graph({}, Nodes=nodes, IntermediateEdges=steps, OutputEdges=end)) == []
    steps[0] = {**BETWEEN, "FromNodeIndex": count - 1, "ToNodeIndex": 1}
    texts = list_messages(tmp_path, graph({}, Nodes=nodes, IntermediateEdges=steps, OutputEdges=end))
    assert ("graph-cycle", "IntermediateEdges") in texts


def test_jsonl_output_has_a_line_for_the_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.json"
    for document, code in ((graph({}), 0), (graph({"TotalTensorSizeInBytes": 32}), 1)):
        path.write_text(json.dumps(document, indent=1))
        assert main(["check", str(path), "-t", "directml:6.4", "-t", "directml:5.0", "--format", "jsonl"]) == code
        *answers, last = map(json.loads, capsys.readouterr().out.splitlines())
        assert [item["verdict"] for item in answers][:3] == ["accepted"] * 3
        assert len(answers) == 4 - (code == 0)
    assert (last["node"], last["operator"], last["target"]) == ("dispatchables/graph", "DML_GRAPH_DESC", None)
    assert (last["verdict"], last["accepted"]) == ("rejected", False)
    assert [result["id"] for result in last["findings"]] == ["directml/model/edge-bytes"]
    assert last["line"] == last["findings"][0]["location"]["line"]
    assert main(["check", str(path), "--format", "jsonl", "--ignore", "directml/model"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_check_reports_graph_findings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(graph({"TotalTensorSizeInBytes": 32}), indent=1))
    assert main(["check", str(path), "-t", "directml:6.4"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "directml/model/edge-bytes IntermediateEdges[0]" in text
    assert "OutputTensor of a has 16 bytes and InputTensor of b has 32" in text
