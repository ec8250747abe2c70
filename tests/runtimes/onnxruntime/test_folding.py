"""Nodes that default optimizations may fold are marked."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import FLOAT, INT64, branch, graph, helper, info, model

DML = "onnxruntime-directml:1.24.4"


def node(operator, inputs, output, **more):
    return helper.make_node(operator, inputs, [output], name=output, **more)


def place_model(nodes, inputs, initializers=(), opsets=(("", 17),), outputs=None):
    new_graph = graph(nodes, inputs, outputs or [info(nodes[-1].output[0], None)], list(initializers))
    return specgate.place(model(new_graph, opsets=list(opsets)), DML)


def list_folded(*arguments, **more):
    return [result.node.rpartition("/")[2] for result in place_model(*arguments, **more) if result.folds]


def ints(name, values):
    return helper.make_tensor(name, INT64, [len(values)], values)


SHAPES = [
    node("Shape", ["x"], "shape"),
    node("Gather", ["shape", "zero"], "rows"),
    node("Concat", ["rows", "rest"], "target", axis=0),
    node("Reshape", ["x", "target"], "y"),
]


def test_a_shape_of_known_sizes_and_its_consumers_fold():
    small = [ints("zero", [0]), ints("rest", [-1])]
    result = place_model(SHAPES, [info("x", [2, 3, 4])], small)
    assert [item.node for item in result if item.folds] == ["graph/shape", "graph/rows", "graph/target"]
    (note,) = [note for note in result.notes if "may fold" in note]
    assert note.startswith(
        "default graph optimizations may fold 3 of these nodes: graph/shape, graph/rows, graph/target; "
    )
    assert [item["folds"] for item in result.to_dict()["nodes"]] == [True, True, True, False]


def test_a_shape_with_an_unknown_size_does_not_fold():
    small = [ints("zero", [0]), ints("rest", [-1])]
    result = place_model(SHAPES, [info("x", ["N", 3, 4])], small)
    assert not any(item.folds for item in result)
    assert not any("may fold" in note for note in result.notes)


def test_overridable_initializers_do_not_fold():
    two = [helper.make_tensor(name, FLOAT, [1], [1.0]) for name in ("a", "b")]
    nodes = [node("Add", ["a", "b"], "c"), node("Mul", ["c", "x"], "y")]
    assert list_folded(nodes, [info("x", [1])], two) == ["c"]
    assert list_folded(nodes, [info("x", [1]), info("a", [1])], two) == []


@pytest.mark.parametrize(
    ("onnx_model", "folds"),
    [
        (node("Clip", ["a"], "c"), True),
        (node("Clip", ["a", "", "b"], "c"), False),  # what is left out is no constant
        (node("RandomUniformLike", ["a"], "c"), False),
        (node("Dropout", ["a"], "c"), False),
        (node("Gelu", ["a"], "c", domain="com.microsoft"), False),
    ],
)
def test_operators_decide(onnx_model, folds):
    two = [helper.make_tensor("a", FLOAT, [1], [1.0]), helper.make_tensor("b", FLOAT, [], [1.0])]
    nodes = [onnx_model, node("Mul", ["c", "x"], "y")]
    opsets = [("", 17), ("com.microsoft", 1)]
    assert list_folded(nodes, [info("x", [1])], two, opsets=opsets) == (["c"] if folds else [])


def test_the_values_are_computed_by_the_cpu():
    """Det of float16 has no kernel there, so it cannot be folded."""
    half = helper.make_tensor("a", 10, [1, 2, 2], [1.0, 0.0, 0.0, 1.0])
    nodes = [node("Det", ["a"], "c"), node("Cast", ["c"], "d", to=FLOAT), node("Mul", ["d", "x"], "y")]
    assert list_folded(nodes, [info("x", [1])], [half]) == []


def test_subgraphs_use_values_folded_outside():
    inner = graph([node("Neg", ["k"], "n"), node("Add", ["n", "x"], "t")], [], [info("t", None)])
    other = graph([node("Identity", ["x"], "e")], [], [info("e", None)])
    constant = helper.make_tensor("a", FLOAT, [1], [1.0])
    nodes = [node("Abs", ["a"], "k"), branch(inner, other)]
    inputs = [info("x", [1]), info("c", [], helper.TensorProto.BOOL)]
    assert list_folded(nodes, inputs, [constant]) == ["k", "n"]


def test_nodes_that_the_provider_fuses_by_default_are_marked() -> None:
    """The nodes left in the log of onnxruntime-directml 1.24.4 without graph fusion.

    The option is ep.dml.disable_graph_fusion.
    """
    new_graph = graph(
        [
            helper.make_node("Relu", ["x"], ["a"], name="fused"),
            helper.make_node("Slice", ["a", "b", "e"], ["s"], name="without-axes"),
            helper.make_node("Relu", ["d"], ["u"], name="dynamic"),
            helper.make_node("NonZero", ["a"], ["z"], name="not-of-graphs"),
            helper.make_node("Relu", ["n"], ["m"], name="empty"),
            helper.make_node("Reshape", ["x", "g"], ["r"], name="no-constant"),
            helper.make_node("Det", ["x"], ["t"], name="on-the-cpu"),
        ],
        [info("x", [2, 2]), info("d", ["N"]), info("n", [0]), info("g", [1], INT64)],
        [info(name, None) for name in ("s", "u", "m", "r", "t")] + [info("z", None, INT64)],
        [helper.make_tensor(name, INT64, [1], [number]) for name, number in (("b", 0), ("e", 1))],
    )
    placement = specgate.place(model(new_graph, opsets=[("", 13)]), "onnxruntime-directml:1.24.4")
    assert [item.node for item in placement if item.fuses] == ["graph/fused", "graph/without-axes"]
    message = "DirectML may fuse 2 nodes into larger kernels"
    assert f"{message}; ep.dml.disable_graph_fusion turns that off" in placement.notes
    assert [item["fuses"] for item in placement.to_dict()["nodes"]].count(True) == 2
    on_cpu = specgate.place(model(new_graph, opsets=[("", 13)]), "onnxruntime:1.24.4")
    assert not any(item.fuses for item in on_cpu)
    assert not any("larger kernels" in note for note in on_cpu.notes)


def fuse(onnx_model) -> list[str]:
    return [item.node for item in specgate.place(onnx_model, "onnxruntime-directml:1.24.4") if item.fuses]


@pytest.mark.parametrize("operator", ["Mean", "Sum", "Max", "Min"])
def test_operators_of_many_inputs_are_fused_with_two(operator) -> None:
    for count in range(1, 5):
        names = [f"x{index}" for index in range(count)]
        new_graph = graph([node(operator, names, "y")], [info(name, [2, 3]) for name in names], [info("y", None)])
        assert fuse(model(new_graph, opsets=[("", 13)])) == (["graph/y"] if count == 2 else [])


def test_nodes_fuse_inside_subgraphs_but_not_next_to_them() -> None:
    inner, other = (graph([node(text, ["x"], text)], [], [info(text, None)]) for text in ("Relu", "Neg"))
    nodes = [node("Abs", ["x"], "a"), branch(inner, other), node("Exp", ["a"], "y")]
    inputs = [info("x", [2, 3]), info("c", [], helper.TensorProto.BOOL)]
    texts = fuse(model(graph(nodes, inputs, [info("y", None)]), opsets=[("", 13)]))
    assert sorted(name.rpartition("/")[2] for name in texts) == ["Neg", "Relu"]
