"""Nodes that default optimizations remove do not fail a session; a line lists them."""

from __future__ import annotations

import json

import pytest

import specgate
from specgate.cli import main
from tests.linting.models import FLOAT, INT64, graph, helper, info, model, onnx
from tests.runtimes.onnxruntime.agreement import contradiction

BF16, HALF, DOUBLE = (getattr(helper.TensorProto, name) for name in ("BFLOAT16", "FLOAT16", "DOUBLE"))
CPU, DML = "onnxruntime:1.24.4", "onnxruntime-directml:1.24.4"
X = [info("x", [2, 3])]


def cast(source, output, to=FLOAT):
    return helper.make_node("Cast", [source], [output], name=f"to-{output}", to=to)


def dropout(inputs, outputs, name="drop"):
    return helper.make_node("Dropout", inputs, outputs, name=name)


def inside(node, *following, opset=13, outputs=(), inputs=(), initializers=(), to=BF16):
    """Return a model with a node between two Casts, so that its type has no kernel."""
    nodes = [cast("x", "a", to), node, cast("b", "y"), *following]
    new_graph = graph(nodes, [*X, *inputs], [info("y", [2, 3]), *outputs], list(initializers))
    return model(new_graph, opsets=[("", opset)], ir=9)


RATIO = [helper.make_tensor("r", FLOAT, [], [0.5])]
SIZES = [helper.make_tensor("s", INT64, [2], [2, 3])]
KEPT = [helper.make_tensor("k", BF16, [2, 3], [1.0] * 6)]


def alone(node, initializers=(), outputs=None):
    nodes = [node, cast("b", "y")]
    return model(
        graph(nodes, [info("a", [2, 3], BF16)], outputs or [info("y", [2, 3])], list(initializers)),
        opsets=[("", 13)],
        ir=9,
    )


# Default sessions of onnxruntime 1.20.1, 1.24.4, 1.31.1 and 1.32.0; without optimizations all fail.
FILES = {
    "in a chain": ("created", lambda: inside(dropout(["a"], ["b"]))),
    "of early versions": ("created", lambda: inside(dropout(["a"], ["b"]), opset=6, to=HALF)),
    "a mask that nothing reads": ("created", lambda: inside(dropout(["a"], ["b", "m"]))),
    "a mask that is an output": (
        "fails", lambda: inside(dropout(["a"], ["b", "m"]), outputs=[info("m", None, helper.TensorProto.BOOL)])),
    "a mask that is read": (
        "fails", lambda: inside(dropout(["a"], ["b", "m"]), cast("m", "z"), outputs=[info("z", None)])),
    "an output": ("fails", lambda: inside(dropout(["a"], ["b"]), outputs=[info("b", None, BF16)])),
    "a ratio": ("created", lambda: inside(dropout(["a", "r"], ["b"]), initializers=RATIO)),
    "a ratio that a node gives": (
        "fails", lambda: inside(dropout(["a", "r"], ["b"]), cast("q", "r"), inputs=[info("q", [], DOUBLE)])),
    "of an input": ("created", lambda: alone(dropout(["a"], ["b"]))),
    "of an input, with a ratio": ("fails", lambda: alone(dropout(["a", "r"], ["b"]), RATIO)),
    "of an initializer": ("created", lambda: alone(dropout(["k"], ["b"]), KEPT)),
    "in series": ("created", lambda: inside(dropout(["a"], ["c"]), dropout(["c"], ["b"], "second"))),
    "an Expand to the same sizes": (
        "created", lambda: inside(helper.make_node("Expand", ["a", "s"], ["b"], name="drop"), initializers=SIZES)),
    "an Add of zero": (
        "fails", lambda: inside(helper.make_node("Add", ["a", "k"], ["b"], name="drop"), initializers=KEPT)),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("target", [CPU, "onnxruntime:1.20.1", "onnxruntime:1.32.0", DML])
def test_the_default_session_decides(name, target):
    session, make = FILES[name]
    onnx_model = make()
    placement = specgate.place(onnx_model, target)
    assert (placement.session, placement.unoptimised) == (session, "fails")
    assert contradiction(onnx_model.SerializeToString(), target) is None
    message = [note for note in placement.notes if "without them the session fails" in note]
    assert bool(message) == (session == "created")
    if message:
        (node, *_) = [item for item in placement.to_dict()["nodes"] if item["removed"] and item["creation"] == "fails"]
        assert message[0].startswith(f"{node['node']} ({node['operator']}): ")


@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_the_installed_release_agrees(name):
    runtime = pytest.importorskip("onnxruntime", reason="ONNX RUNTIME IS NOT TESTED: pip install onnxruntime")
    session, make = FILES[name]
    for level, expected in (("ORT_DISABLE_ALL", "fails"), ("ORT_ENABLE_ALL", session)):
        options = runtime.SessionOptions()
        options.log_severity_level = 4
        options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, level)
        try:
            runtime.InferenceSession(make().SerializeToString(), options, providers=["CPUExecutionProvider"])
            result = "created"
        except Exception:
            result = "fails"
        assert result == expected, level


def test_version_22_is_removed_from_1_31_on():
    onnx_model = inside(dropout(["a"], ["b"]), opset=22)
    assert specgate.place(onnx_model, CPU).session == "fails"
    assert specgate.place(onnx_model, "onnxruntime:1.31.1").session == "created"


def test_both_commands_exit_clean(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    onnx.save(FILES["in a chain"][1](), path)
    assert main(["place", str(path), "-t", CPU]) == 0
    assert "default graph optimizations remove it" in " ".join(capsys.readouterr().out.split())
    assert main(["lint", str(path), "-t", CPU, "--format", "json"]) == 0
    (result,) = [item for item in json.loads(capsys.readouterr().out)["findings"] if "no-kernel" in item["id"]]
    assert result["severity"] == "note"
    assert result["location"]["node"] == "graph/drop"


def test_a_fix_does_not_count_removed_nodes():
    chain = [helper.make_node("Relu", ["x"], ["a"]), dropout(["a"], ["b"]), helper.make_node("Relu", ["b"], ["y"])]
    assert specgate.place(model(graph(chain, X, [info("y", [2, 3])]), opsets=[("", 13)]), DML).fixes == []
    newer = [helper.make_node("Relu", ["x"], ["a"]), dropout(["a"], ["b"]), helper.make_node("Round", ["b"], ["y"])]
    (fix,) = specgate.place(
        model(graph(newer, X, [info("y", [2, 3])]), opsets=[("", 22)]), "onnxruntime-directml:1.24.4"
    ).fixes
    assert fix == "export at opset 21, which places 2 of 3 nodes on DirectML"


def nine(operator):
    """Return a model with a node of 9 dimensions, read by a CPU-only node."""
    more = {"to": FLOAT} if operator == "Cast" else {}
    nodes = [
        helper.make_node(operator, ["x"], ["b"], name="nine", **more),
        helper.make_node("Unique", ["b"], ["y"], name="unique"),
    ]
    return model(graph(nodes, [info("x", [1] * 8 + [2])], [info("y", ["N"])]), opsets=[("", 13)])


@pytest.mark.parametrize(("operator", "session"), [("Identity", "created"), ("Cast", "created"), ("Neg", "fails")])
def test_rejected_nodes_fail_only_if_not_removed(operator, session):
    """Rank 9 in sessions of onnxruntime-directml 1.24.4: unoptimized all fail."""
    onnx_model = nine(operator)
    placement = specgate.place(onnx_model, DML)
    assert (placement.nodes[0].creation, placement.session) == ("fails", session)
    assert contradiction(onnx_model.SerializeToString(), DML) is None


def test_folded_nodes_are_not_created_on_directml():
    nodes = [
        helper.make_node("Neg", ["k"], ["b"], name="nine"),
        helper.make_node("Reshape", ["b", "s"], ["c"]),
        helper.make_node("Add", ["c", "x"], ["y"]),
    ]
    items = [helper.make_tensor("k", FLOAT, [1] * 8 + [2], [1.0, 2.0]), helper.make_tensor("s", INT64, [1], [2])]
    new_model = model(graph(nodes, [info("x", [2])], [info("y", [2])], items), opsets=[("", 13)])
    placement = specgate.place(new_model, DML)
    assert (placement.nodes[0].creation, placement.session) == ("fails", "created")
    assert any("compute its values early" in note for note in placement.notes)
    assert contradiction(new_model.SerializeToString(), DML) is None


END = 2**63 - 1


@pytest.mark.parametrize(
    ("operator", "lists", "opset", "removed"),
    [
        ("Slice", [[0], [END]], 13, True),
        ("Slice", [[0, 0], [END, END], [0, 1], [1, 1]], 13, True),
        ("Slice", [[0], [END]], 10, True),
        ("Slice", [[0], [END]], 1, True),
        ("Slice", [[0], [2]], 13, False),
        ("Slice", [[1], [END]], 13, False),
        ("Slice", [[0], [END], [0], [2]], 13, False),
        ("Add", 0.0, 13, True),
        ("Add", 1.0, 13, False),
        ("Mul", 1.0, 13, True),
        ("Div", 1.0, 7, True),
        ("Sub", 0.0, 14, True),
        ("Mul", 0.0, 13, False),
    ],
)
def test_nodes_that_compute_their_input(operator, lists, opset, removed):
    """Nodes that onnxruntime 1.20.1, 1.24.4, 1.31.1 and 1.32.0 remove.

    At the levels basic and all.
    """
    if operator != "Slice":
        more, attributes = [helper.make_tensor("k", FLOAT, [], [lists])], {}
    elif opset < 10:
        more, attributes = [], {"starts": lists[0], "ends": lists[1]}
    else:
        more, attributes = [helper.make_tensor(f"l{i}", INT64, [len(e)], e) for i, e in enumerate(lists)], {}
    middle = helper.make_node(operator, ["a", *(each.name for each in more)], ["b"], **attributes)
    nodes = [helper.make_node("Relu", ["x"], ["a"]), middle, helper.make_node("Relu", ["b"], ["y"])]
    new_model = model(graph(nodes, X, [info("y", None)], more), opsets=[("", max(opset, 6))])
    for target in (CPU, "onnxruntime:1.20.1", "onnxruntime:1.32.0"):
        assert [node.removed for node in specgate.place(new_model, target)] == [False, removed, False]
