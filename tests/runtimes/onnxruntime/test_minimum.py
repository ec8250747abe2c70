"""`specgate.minimum(model, dialect="directml")`: the lowest level with a session.

All operators on DirectML must also be created.
"""

from __future__ import annotations

import json

import pytest

import specgate
from specgate.cli import main
from specgate.errors import InputError
from tests.linting.models import FLOAT, INT64, chain, graph, helper, info, model, onnx, relu

DML = "onnxruntime-directml:1.24.4"


def node(operator, inputs, output="y", **more):
    return helper.make_node(operator, inputs, [output], name=output, **more)


def one(operator, *inputs, opset=17, initializers=(), kind=FLOAT, **attributes):
    infos = [item for item in inputs if not isinstance(item, str)]
    names = [item if isinstance(item, str) else item.name for item in inputs]
    new_graph = graph([node(operator, names, **attributes)], infos, [info("y", None, kind)], list(initializers))
    return model(new_graph, opsets=[("", opset)])


def lowest(onnx_model, **more):
    return specgate.minimum(onnx_model, dialect="directml", **more)


def run(capsys, *arguments):
    code = main(["minimum", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_lowered_operators_decide_the_level():
    result = lowest(one("Softmax", info("x", [2, 3])))
    assert (result.level, result.nodes, result.deferred, bool(result), str(result)) == ("5.1", 1, 0, True, "5.1")
    assert result.target == str(specgate.targets("onnxruntime-directml:latest")[0])
    assert result.levels[0] == "5.1"
    assert result.levels[-1] == "6.4"
    assert list(result.blocked) == ["1.0", "2.0", "2.1", "3.0", "3.1", "4.0", "4.1", "5.0"]
    (blocked,) = result.blocked["5.0"]
    assert (blocked.node, blocked.operator) == ("graph/y", "Softmax")
    assert [rule for rule, _ in blocked.causes] == ["directml/ACTIVATION_SOFTMAX1/level"]


@pytest.mark.parametrize("level", ["2.0", "4.0", "5.0", "5.1", "6.4"])
def test_minimum_agrees_with_placement_at_the_level(level):
    nodes = [
        node("Softmax", ["x"], "a"),
        relu("a", "b", name="b"),
        node("Cast", ["b"], "c", to=INT64),
        node("OneHot", ["c", "d", "v"], "y"),
    ]
    small = [helper.make_tensor("d", INT64, [], [3]), helper.make_tensor("v", INT64, [2], [0, 1])]
    new_model = model(graph(nodes, [info("x", [2, 3])], [info("y", None)], small), opsets=[("", 17)])
    blocked = {entry.node for entry in lowest(new_model, target=DML).blocked.get(level, [])}
    existing = specgate.place(new_model, f"{DML}@{level}")
    assert blocked == {
        result.node for result in existing if result.provider != "DirectML" or result.creation == "fails"
    }


def test_unsupported_types_move_nodes_to_the_cpu():
    result = lowest(one("Identity", info("x", [2], INT64), kind=INT64))
    assert result.level == "3.0"
    ((rule, message),) = result.blocked["2.1"][0].causes
    assert rule == "onnxruntime/placement/on-cpu"
    assert message == "a tensor is INT64, which DirectML at feature level 2.1 does not have"


def test_unknown_sizes_are_counted_and_not_guessed():
    onnx_model = one("Softmax", info("x", ["N", 3]))
    result = lowest(onnx_model)
    assert (result.level, result.nodes, result.deferred) == ("5.1", 1, 1)  # ACTIVATION_SOFTMAX1 for any sizes
    assert lowest(onnx_model, pins={"N": 2}).level == "5.1"


def test_a_kernel_that_rejects_blocks_every_level():
    shape = helper.make_tensor("s", INT64, [2], [-1, 3])
    result = lowest(one("Reshape", info("x", [2, 3]), "s", initializers=[shape], allowzero=1))
    assert (result.level, bool(result), result.levels) == (None, False, [])
    assert len(result.blocked) == 15
    assert result.blocked["6.4"][0].causes[0][0] == "onnxruntime/placement/session-fails"


def test_a_model_without_directml_nodes_has_no_level():
    result = lowest(one("Det", info("x", [2, 2])))
    assert (result.level, result.nodes, result.blocked, bool(result)) == (None, 0, {}, False)


def test_a_model_that_is_too_new_is_rejected_at_every_level():
    result = lowest(one("Relu", info("x", [2]), opset=17), target="onnxruntime-directml:1.13.1")
    assert bool(result)
    newer = lowest(one("Relu", info("x", [2]), opset=19), target="onnxruntime-directml:1.13.1")
    assert (newer.level, bool(newer)) == ("1.0", False)
    assert "the release loads those up to 17" in newer.refusals[0]


def test_the_minimum_opset_is_unchanged():
    new_chain = chain("x", "y")
    assert specgate.minimum(new_chain, dialect="onnx").to_dict() == specgate.minimum(new_chain).to_dict()


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "m.onnx"
    onnx.save(one("Softmax", info("x", ["N", 3])), file)
    return str(file)


def test_text_groups_levels_with_the_same_reasons(path, capsys):
    code, out, err = run(capsys, path, "--dialect", "directml", "-t", DML, "--pin", "N=2")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        path,
        f"DirectML: lowest feature level 5.1; creates the 1 node that {DML} places there",
        "  at 5.1..6.4",
        "  1.0..5.0:",
        "    graph/y (Softmax): directml/ACTIVATION_SOFTMAX1/level: ACTIVATION_SOFTMAX1 does not exist at",
        "      feature level 1.0..5.0; it exists from 5.1 on",
    ]
    _, out, _ = run(capsys, path, "--dialect", "directml", "-t", DML)
    assert "  1 kernel compiled at the first run: checked only for what does not depend on sizes" in out.splitlines()


def test_json(path, capsys):
    code, out, _ = run(capsys, path, "-t", DML, "--pin", "N=2", "--format", "json")
    document = json.loads(out)
    assert code == 0
    assert (document["schema"], document["file"], document["minimum"]) == ("specgate-level-minimum/1", path, "5.1")
    (blocker,) = document["blockers"]["5.0"]
    assert (blocker["node"], blocker["operator"]) == ("graph/y", "Softmax")
    assert set(blocker["findings"][0]) == {"id", "message"}


def test_many_reasons_are_listed_with_verbose(tmp_path, capsys):
    kinds = ["Softmax", "LogSoftmax", "Hardmax", "Erf", "Sign", "IsNaN", "Mod", "Round", "Reciprocal"]
    nodes = [node(kind, ["x", "x"] if kind == "Mod" else ["x"], f"v{at}", **({"fmod": 1} if kind == "Mod" else {}))
             for at, kind in enumerate(kinds)]  # fmt: skip
    path = tmp_path / "m.onnx"
    onnx.save(model(graph(nodes, [info("x", [2, 3], FLOAT)], [info("v0", None)])), path)
    _, brief, _ = run(capsys, str(path), "--dialect", "directml")
    _, whole, _ = run(capsys, str(path), "--dialect", "directml", "-v")
    assert "(-v lists them)" in brief
    assert "(-v lists them)" not in whole
    assert len(whole.splitlines()) > len(brief.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--dialect", "openvino"], "no known runtime creates 'openvino' operators"),
        (["--dialect", "directml", "-t", "onnxruntime:1.24.4"], "does not create 'directml' operators"),
        (["-t", "onnx:17"], "onnx:17 does not create DirectML operators"),
        (["-t", "onnxruntime-directml:9"], "unknown release"),
    ],
)
def test_unusable_input(path, capsys, arguments, message):
    code, out, err = run(capsys, path, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_a_runtime_target_rejects_descriptors(capsys):
    descriptor = '{"type": "DML_OPERATOR_FOLD", "desc": {}}'
    code, _, err = run(capsys, descriptor, "-t", DML)
    assert code == 2
    assert "apply to models" in err
    with pytest.raises(InputError, match="with a model"):
        specgate.minimum({"type": "DML_OPERATOR_FOLD", "desc": {}}, target=DML)


def test_rank_and_attributes_block_levels_without_sizes():
    weights = helper.make_tensor("w", FLOAT, [4, 5], [0.0] * 20)
    five = one("MatMul", info("x", ["N", 1, 2, 3, 4]), "w", initializers=[weights])
    assert lowest(five).level is None
    assert {rule for rule, _ in lowest(five).blocked["6.4"][0].causes} >= {"directml/GEMM/ATensor.rank"}
    assert lowest(one("MatMul", info("x", ["N", 2, 3, 4]), "w", initializers=[weights])).level is not None


@pytest.mark.parametrize("rank", [4, 5])
def test_three_commands_agree_on_a_first_run_that_fails(tmp_path, rank):
    weights = helper.make_tensor("w", FLOAT, [4, 5], [0.0] * 20)
    onnx_model = one("MatMul", info("x", ["N", *[1] * (rank - 2), 4]), "w", initializers=[weights])
    file = tmp_path / "model.onnx"
    onnx.save(onnx_model, file)
    placed = specgate.place(str(file), DML)
    assert (placed.session, placed.nodes[0].creation) == ("created", "deferred")
    assert placed.usable is (rank == 4)
    codes = [
        main([*command, str(file), "-t", DML])
        for command in (["place"], ["lint"], ["minimum", "--dialect", "directml"])
    ]
    assert codes == [int(rank == 5)] * 3
