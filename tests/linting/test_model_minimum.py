"""The lowest possible opset of a model, and the nodes that require it."""

from __future__ import annotations

import json

import pytest

import specgate
from specgate.cli import main
from specgate.descriptors.core import Descriptor, TensorDesc
from specgate.linting.settings import LintSettings
from specgate.lowest.model import model_minimum
from specgate.spec.tables import dialect
from specgate.validate.behaviour import changed_behaviour
from tests.dialects.onnx.infer.samples import bare, constants, one_hot_of
from tests.linting.models import FLOAT, INT64, call, function, graph, helper, info, model, onnx
from tests.paths import DATA

QUIET = LintSettings(infer=False)


def one_hot(name, axis=-1, source="ids"):
    return helper.make_node("OneHot", [source, "depth", "values"], [f"{name}_out"], name=name, axis=axis)


def model_of_nodes(*nodes, opset=17, inputs=None, **more):
    ids = [info("ids", [2, 3], INT64)] if inputs is None else inputs
    outputs = [bare(name) for node in nodes for name in node.output]
    return model(graph(nodes, ids, outputs, constants()), opsets=[("", opset)], **more)


def names(blocked):
    return [node.location.node for node in blocked]


#: A node of a domain that ONNX does not define, without tables.
FOREIGN = helper.make_node("Twist", ["x"], ["z"], domain="com.acme")


def test_nodes_that_prevent_a_lower_opset_are_listed():
    (minimum,) = model_minimum(model_of_nodes(one_hot("first"), one_hot("deep", axis=-2)), QUIET).domains
    assert (minimum.domain, minimum.imported, minimum.version, minimum.nodes) == ("ai.onnx", 17, "11", 2)
    assert names(minimum.keepers) == ["graph/deep"]
    assert names(minimum.blocked["9"]) == ["graph/deep"]
    assert names(minimum.blocked["8"]) == ["graph/first", "graph/deep"]
    assert [f.id for f in minimum.blocked["8"][0].findings] == ["onnx/OneHot/level"]
    assert [f.id for f in minimum.blocked["10"][0].findings] == ["onnx/OneHot/axis-range"]
    assert minimum.accepted[0] == "11"
    assert minimum.moved == []


def test_a_node_at_another_version_lists_changed_behaviour():
    (minimum,) = model_minimum(model_of_nodes(one_hot("first")), QUIET).domains
    assert minimum.version == "9"
    (moved,) = minimum.moved
    assert (moved.written, moved.there, moved.behaviour) == ("11", "9", ("negative_indices",))


@pytest.mark.parametrize("kind", [INT64, onnx.TensorProto.BFLOAT16])
@pytest.mark.parametrize("shape", [[2, 3], ["n", 3], None])
@pytest.mark.parametrize("axis", [-1, -2, 2, 9])
def test_minimum_agrees_with_check_of_the_same_node(kind, shape, axis):
    onnx_model = model_of_nodes(one_hot("node", axis), inputs=[info("ids", shape, kind)])
    (result,) = model_minimum(onnx_model, QUIET).domains
    read = {"elem_type": onnx.TensorProto.DataType.Name(kind), "shape": shape}
    other = [{"elem_type": "INT64", "shape": [], "value": 4}, {"elem_type": "FLOAT", "shape": [2], "value": [0, 1]}]
    data = {"op_type": "OneHot", "inputs": [read, *other], "outputs": [None], "attributes": {"axis": axis}}
    answer = specgate.minimum(data)
    accepted = [level for level in result.accepted if not result.undecided[level]]
    assert accepted == list(answer.levels)
    assert [level for level in result.accepted if result.undecided[level]] == list(answer.undecided)


def test_the_lowest_opset_may_be_above_the_import():
    (minimum,) = model_minimum(model_of_nodes(one_hot("deep", axis=-2), opset=9), QUIET).domains
    assert (minimum.imported, minimum.version) == (9, "11")


def test_a_model_that_no_opset_accepts():
    answer = model_minimum(model_of_nodes(one_hot("wrong", axis=7)), QUIET)
    assert not answer
    (minimum,) = answer.domains
    assert (minimum.version, minimum.keepers, minimum.accepted) == (None, [], [])
    assert list(minimum.blocked) == [str(level) for level in range(1, 29)]


def test_nodes_of_functions_and_subgraphs_are_counted():
    new_function = function([one_hot_of("a", "b")], ["a", "depth", "values"], opsets=[("", 17)])
    body = graph(
        [call(["ids", "depth", "values"], ["y"]), FOREIGN],
        [info("ids", [3], INT64), "x"],
        [bare("y"), bare("z")],
        constants(),
    )
    answer = model_minimum(model(body, functions=[new_function], opsets=[("", 17), ("d", 1), ("com.acme", 1)]), QUIET)
    assert answer.no_table == {"com.acme.Twist": 1}
    (minimum,) = answer.domains
    assert (minimum.version, minimum.nodes, minimum.undecided["9"]) == ("9", 1, 1)


def test_pins_and_inference_decide_unknown_sizes():
    nodes = [helper.make_node("Cast", ["x"], ["ids"], to=INT64), one_hot("deep", axis=-2)]
    new_model = model(graph(nodes, [info("x", ["n"], FLOAT)], [bare("deep_out")], constants()))
    (minimum,) = model_minimum(new_model, QUIET).domains
    assert minimum.undecided["28"] == 1
    (minimum,) = model_minimum(new_model, LintSettings()).domains
    assert (minimum.version, minimum.undecided["28"]) == ("11", 0)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model_of_nodes(one_hot("first"), one_hot("deep", axis=-2), FOREIGN).SerializeToString())
    return str(path)


def test_the_command_prints_a_short_answer_first(capsys, saved):
    assert main(["minimum", saved, "--no-infer"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("ai.onnx: lowest opset 11 (the model imports 17)")
    flowing = " ".join(lines)
    assert "because of graph/deep (OneHot): " in flowing
    assert "1..8" not in flowing
    assert "-v lists what blocks each opset below" in " ".join(flowing.split())
    assert len(lines) < 10


def test_reasons_name_the_versions_of_their_block(capsys, saved):
    """One verdict covers several versions; each has its result, and a block has all."""
    assert main(["minimum", saved, "--no-infer", "-v"]) == 0
    assert "OneHot does not exist at opset 1..8; it exists from 9 on" in " ".join(capsys.readouterr().out.split())
    (minimum,) = model_minimum(saved, QUIET).domains
    for version in range(1, 9):
        (refused, _) = minimum.blocked[str(version)]
        assert refused.findings[0].message == f"OneHot does not exist at opset {version}; it exists from 9 on"


def test_the_command_prints_reasons_and_blocked_opsets(capsys, saved):
    assert main(["minimum", saved, "--no-infer", "-v"]) == 0
    text = capsys.readouterr().out
    flowing = " ".join(text.split())
    assert "ai.onnx: lowest opset 11 (the model imports 17)" in flowing
    assert "all 2 nodes are valid from opset 11 to 28" in flowing
    assert "because of graph/deep (OneHot)" in flowing
    assert "9..10: graph/deep (OneHot): onnx/OneHot/axis-range" in flowing
    assert "1..8: graph/first and 1 more (OneHot): onnx/OneHot/level" in flowing
    assert "not checked, because they have no table: com.acme.Twist (1)" in flowing
    assert "Different results of another operator version are reported only where" in flowing


def test_the_command_prints_json(capsys, saved):
    assert main(["minimum", saved, "--no-infer", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    (result,) = answer["domains"]
    assert (result["minimum"], result["imported"], result["kept_by"]) == (11, 17, ["graph/deep"])
    spans = [(b["versions"], b["id"], b["nodes"]) for b in result["blockers"]]
    assert spans == [
        ([*range(1, 9)], "onnx/OneHot/level", ["graph/first", "graph/deep"]),
        ([9, 10], "onnx/OneHot/axis-range", ["graph/deep"]),
    ]
    assert answer["no_table"] == {"com.acme.Twist": 1}


def test_the_command_reports_that_no_opset_accepts_the_model(capsys, tmp_path):
    path = tmp_path / "wrong.onnx"
    path.write_bytes(model_of_nodes(one_hot("wrong", axis=7)).SerializeToString())
    assert main(["minimum", str(path), "--no-infer"]) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "ai.onnx: no opset accepts this model (1 node; it imports 17)" in text
    assert "opset 17 is the closest; it rejects 1 node: graph/wrong (OneHot): onnx/OneHot/axis-range" in text
    assert "no opset:" not in text
    assert "at no opset" not in text
    assert main(["minimum", str(tmp_path / "missing.onnx")]) == 2


def test_a_real_export(capsys):
    assert main(["minimum", str(DATA / "models/embedding_torch.onnx")]) == 0
    assert "ai.onnx: lowest opset 9 (the model imports 17)" in capsys.readouterr().out


def test_a_model_proto_is_accepted():
    with pytest.raises(specgate.InputError, match="expected a path"):
        model_minimum(42, QUIET)
    assert model_minimum(onnx.load(DATA / "models/embedding_torch.onnx"), QUIET)


def test_a_renamed_attribute_value_is_not_changed_behaviour(tmp_path):
    spec = dialect("onnx").operator("GridSample")
    tensors = {"X": ("FLOAT", [1, 1, 4, 4]), "grid": ("FLOAT", [1, 2, 2, 2]), "Y": ("FLOAT", [1, 1, 2, 2])}

    def change(mode):
        tensors_by_name = {name: TensorDesc(type_, tuple(sizes)) for name, (type_, sizes) in tensors.items()}
        return changed_behaviour(spec, Descriptor("onnx", "GridSample", {**tensors_by_name, **mode}, "20"), "20", "16")

    assert change({"mode": "nearest"}) == ()
    assert change({}) == ()
    node = helper.make_node("GridSample", ["x", "g"], ["y"], mode="nearest")
    inputs = (info("x", (1, 1, 4, 4)), info("g", (1, 2, 2, 2)))
    onnx.save(model(graph([node], inputs, (info("y", (1, 1, 2, 2)),)), opsets=(("", 20),)), str(tmp_path / "m.onnx"))
    (minimum,) = model_minimum(str(tmp_path / "m.onnx")).domains
    assert (minimum.version, [moved.behaviour for moved in minimum.moved]) == ("16", [()])
