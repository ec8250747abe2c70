"""Graphs in model files: checked by their operators, rejected for wrong edges."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from specgate.cli import main
from specgate.descriptors.files import NoTableEntry, read_placed
from specgate.dialects.directml.dxdispatch.read import read_dx_model, write_dx_model
from specgate.dialects.directml.native.marshal import image
from specgate.dialects.directml.native.pointer import graph_from_pointer
from specgate.dialects.directml.native.unmarshal import describe_image
from specgate.errors import InputError
from tests.dialects.directml.native.graphs import GRAPH
from tests.dialects.directml.native.loaded import Loaded, descriptions

HOT = describe_image(image(descriptions("ONE_HOT")[0][1]))


def make() -> dict[str, Any]:
    loaded = Loaded(GRAPH)
    return graph_from_pointer(loaded.address, {0x1000: HOT})


def test_operators_of_a_captured_graph_are_checked(tmp_path, capsys):
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(make()))
    (name, _, hot), (place, _, unseen) = read_placed(path)
    assert (name, place) == ("dispatchables/node_0", "dispatchables/graph.Nodes[2]")
    assert isinstance(unseen, NoTableEntry)
    assert "does not contain the description of this operator" in unseen.message
    assert not isinstance(hot, NoTableEntry)
    assert hot.operator == "ONE_HOT"
    assert main(["check", str(path), "-t", "directml:6.4"]) in {0, 1}
    text = capsys.readouterr().out
    assert "accepted   directml:6.4  ONE_HOT  dispatchables/node_0" in text
    assert "no table   directml:6.4  IDMLOperator  dispatchables/graph.Nodes[2]" in text


def test_model_with_a_graph_round_trips():
    assert write_dx_model(read_dx_model(make()))["dispatchables"] == make()["dispatchables"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            ("InputEdges", 0, "GraphInputIndex"),
            1,
            r"InputEdges\[0\]: expected GraphInputIndex below 1, the graph's Inpu",
        ),
        (
            ("InputEdges", 0, "ToNodeIndex"),
            3,
            r"InputEdges\[0\]: expected ToNodeIndex below 3, the graph's Nodes, found 3",
        ),
        (
            ("InputEdges", 0, "ToNodeInputIndex"),
            2,
            r"InputEdges\[0\]: expected ToNodeInputIndex below 2, the inputs of ONE_HOT, found 2",
        ),
        (("OutputEdges", 0, "GraphOutputIndex"), 7, r"OutputEdges\[0\]: expected GraphOutputIndex below 1"),
        (
            ("IntermediateEdges", 0, "FromNodeOutputIndex"),
            1,
            r"IntermediateEdges\[0\]: expected FromNodeOutputIndex below 1, the outputs of a constant, found 1",
        ),
        (
            ("IntermediateEdges", 1),
            "unreadable: 0x10",
            r"IntermediateEdges\[1\]: expected an edge, found 'unreadable: ",
        ),
        (
            ("InputEdges", 0),
            {"type": 2},
            r"InputEdges\[0\]: expected the field GraphInputIndex as a number, found None",
        ),
        (("Nodes", 1), {"type": 9}, r"Nodes\[1\]: expected a DML_GRAPH_NODE_TYPE, found 9"),
        (("Nodes", 1), 4, r"Nodes\[1\]: expected a node, found 4"),
        (("Nodes", 0, "Operator"), "gone", r"Nodes\[0\]: the model does not have a dispatchable 'gone'"),
        (
            ("Nodes",),
            "unreadable: 99999 in NodeCount",
            r"Nodes: expected a list, found 'unreadable: 99999 in NodeCount'",
        ),
        (("NodeCount",), 4, r"graph: NodeCount is 4, but Nodes has 3 elements"),
        (("InputCount",), -1, r"graph: expected the field InputCount as a number, found -1"),
        (
            (),
            "unreadable: a null pointer",
            r"graph: expected an object with the graph's fields, found 'unreadable: a nu",
        ),
    ],
)
def test_inconsistent_graphs_are_rejected(path, value, message):
    document = copy.deepcopy(make())
    holder: Any = document["dispatchables"]["graph"]
    keys = ("desc", *path)
    for key in keys[:-1]:
        holder = holder[key]
    holder[keys[-1]] = value
    with pytest.raises(InputError, match=message):
        read_dx_model(document)


def test_tensor_array_operator_accepts_high_input_index():
    document = make()
    document["dispatchables"]["node_0"] = describe_image(image(descriptions("JOIN")[0][1]))
    document["dispatchables"]["graph"]["desc"]["InputEdges"][0]["ToNodeInputIndex"] = 40
    assert read_dx_model(document)
