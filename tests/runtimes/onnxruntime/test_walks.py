"""CPU preference, partitions and copies, with registrations per case."""

from __future__ import annotations

import itertools

import pytest

from specgate.dialects.onnx.file.model import read_model_bytes
from specgate.dialects.onnx.lint.graph import onnx_units
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime.graph import body_of
from specgate.runtimes.onnxruntime.partition import copies, partitions
from tests.linting.models import BOOL, FLOAT, INT64, graph, helper, info, model, onnx, relu
from tests.runtimes.onnxruntime.fakes import CPU, FIRST, assigner, row

FLOAT16 = onnx.TensorProto.FLOAT16
ANY = [row(operator, 13) for operator in ("Shape", "Gather", "Unsqueeze", "Concat", "Cast", "Mul", "Add", "Abs")]
SHAPED = [
    row("Shape", 15, cpu_outputs=(0,)),
    row("Gather", 13),
    row("Unsqueeze", 13),
    row("Concat", 13),
    row("Cast", 13),
    row("Mul", 14),
    row("Add", 14),
    row("Reshape", 14, cpu_inputs=(1,)),
    row("Relu", 14),
    row("Abs", 13),
]


def ints(name, *values, shape=None):
    return helper.make_tensor(name, INT64, [len(values)] if shape is None else shape, list(values))


def body(onnx_model):
    read = read_model_bytes(onnx_model.SerializeToString())
    return body_of(onnx_units(read, LintSettings()).source, "1.24.4")


def place_model(onnx_model, fast, cpu=()):
    """Return provider and reason by node name."""
    return {
        item.node.path.removeprefix("graph/"): (item.provider, item.reason)
        for item in assigner(fast, cpu).assign(body(onnx_model))
    }


def node(operator, inputs, output, **more):
    return helper.make_node(operator, inputs, [output], name=output, **more)


def shape_subgraph(*between, opset=17):
    """Return a model that reshapes x to a computed shape.

    Shape, Gather, `between` from d to u, Concat, Reshape.
    """
    nodes = [
        node("Shape", ["x"], "s"),
        node("Gather", ["s", "zero"], "d"),
        *(between or [node("Unsqueeze", ["d", "axes"], "u")]),
        node("Concat", ["u", "rest"], "to", axis=0),
        node("Reshape", ["x", "to"], "y"),
    ]
    small = [ints("zero", 0, shape=[]), ints("axes", 0), ints("rest", -1)]
    return model(graph(nodes, [info("x", ["N", 3])], ["y"], small), opsets=[("", opset)])


def test_shape_subgraphs_move_to_the_cpu_except_their_ends():
    assert place_model(shape_subgraph(), SHAPED) == {
        "s": (FIRST, ""),
        "d": (CPU, "preferred"),
        "u": (CPU, "preferred"),
        "to": (CPU, "preferred"),
        "y": (FIRST, ""),
    }


def test_without_outputs_in_cpu_memory_nothing_is_preferred():
    rows = [row("Shape", 15) if item.operator == "Shape" else item for item in SHAPED]
    assert {provider for provider, _ in place_model(shape_subgraph(), rows).values()} == {FIRST}


def test_a_large_initializer_ends_the_walk():
    nodes = [node("Shape", ["x"], "s"), node("Gather", ["s", "at"], "d")]
    for count, provider in ((100, CPU), (101, FIRST)):
        new_model = model(graph(nodes, [info("x", [3])], [info("d", [count], INT64)], [ints("at", *[0] * count)]))
        assert place_model(new_model, SHAPED)["d"][0] == provider


def test_constants_are_initializers():
    at = helper.make_node("Constant", [], ["zero"], value=ints("", 0, shape=[]))
    nodes = [at, node("Shape", ["x"], "s"), node("Gather", ["s", "zero"], "d")]
    onnx_model = body(model(graph(nodes, [info("x", [3])], [info("d", [], INT64)])))
    assert (onnx_model.constant_nodes, [item.path for item in onnx_model.nodes]) == (1, ["graph/s", "graph/d"])
    assert assigner(SHAPED).assign(onnx_model)[1].reason == "preferred"


def test_float16_stops_the_cpu_preference():
    casts = [
        node("Cast", ["d"], "half", to=FLOAT16),
        node("Mul", ["half", "half"], "twice"),
        node("Cast", ["twice"], "back", to=INT64),
        node("Unsqueeze", ["back", "axes"], "u"),
    ]
    result = place_model(shape_subgraph(*casts), SHAPED)
    assert {name: provider for name, (provider, _) in result.items()} == {
        "s": FIRST, "d": CPU, "half": CPU, "twice": FIRST, "back": FIRST, "u": FIRST, "to": FIRST, "y": FIRST,
    }  # fmt: skip


def test_an_omitted_input_is_in_no_memory():
    nodes = [node("Shape", ["x"], "s"), helper.make_node("Concat", ["s", "", "s"], ["y"], name="y", axis=0)]
    new_model = model(graph(nodes, [info("x", [3])], [info("y", None, INT64)]))
    assert place_model(new_model, SHAPED)["y"] == (FIRST, "")


def test_the_walk_continues_after_a_reached_node_without_kernel():
    nodes = [node("Shape", ["x"], "s"), node("Det", ["s"], "d"), node("Abs", ["d"], "y"), node("Det", ["x"], "z")]
    new_model = model(graph([*nodes, node("Abs", ["z"], "w")], [info("x", [3, 3])], [info("y", None), info("w", None)]))
    result = place_model(new_model, SHAPED)
    assert result["y"] == (CPU, "preferred")
    assert result["w"] == (FIRST, "")  # no path from CPU memory leads to it


def test_a_graph_input_does_not_end_the_walk():
    nodes = [node("Shape", ["x"], "s"), node("Add", ["s", "more"], "y")]
    new_model = model(graph(nodes, [info("x", [3]), info("more", [1], INT64)], [info("y", [1], INT64)]))
    assert place_model(new_model, SHAPED)["y"] == (CPU, "preferred")


def test_nodes_are_sorted_topologically():
    onnx_model = shape_subgraph()
    nodes = list(onnx_model.graph.node)
    del onnx_model.graph.node[:]
    onnx_model.graph.node.extend(reversed(nodes))
    assert [item.proto.name for item in body(onnx_model).nodes] == ["s", "d", "u", "to", "y"]


@pytest.mark.timeout(30)
def test_long_reversed_chains_are_sorted():
    names = [f"v{number}" for number in range(4001)]
    nodes = [relu(a, b, name=b) for a, b in itertools.pairwise(names)]
    new_model = model(graph(nodes[::-1], names[:1], names[-1:]))
    assert [item.proto.name for item in body(new_model).nodes] == names[1:]


def test_nodes_of_a_cycle_come_last():
    nodes = [relu("b", "a", name="a"), relu("a", "b", name="b"), relu("x", "y", name="y")]
    assert [item.proto.name for item in body(model(graph(nodes))).nodes] == ["y", "a", "b"]


def groups(onnx_model, outside):
    whole = body(onnx_model)
    inside = {node for node in whole.nodes if node.proto.name not in outside}
    return [[node.proto.name for node in nodes] for nodes in partitions(whole, inside)]


def diamond():
    """Nodes A and B in sequence, C after B, and D after both."""
    nodes = [
        relu("x", "a", name="a"), relu("a", "b", name="b"), relu("a", "c", name="c"),
        helper.make_node("Add", ["b", "c"], ["d"], name="d"),
    ]  # fmt: skip
    return model(graph(nodes, ["x"], ["d"]))


@pytest.mark.parametrize(
    ("outside", "expected"),
    [
        ((), [["a", "b", "c", "d"]]),
        (("a",), [["b", "c", "d"]]),
        (("b",), [["a"], ["c", "d"]]),  # b closes the partition of a, so that d, which needs b, does not join it
        (("c",), [["a", "b"], ["d"]]),  # b joined before c closed it
        (("d",), [["a", "b", "c"]]),
    ],
)
def test_partitions_never_depend_on_themselves(outside, expected):
    assert groups(diamond(), outside) == expected


def test_partitions_read_by_the_same_node_are_joined():
    nodes = [relu("x", "a", name="a"), relu("z", "b", name="b"), helper.make_node("Add", ["a", "b"], ["c"], name="c")]
    assert groups(model(graph(nodes, ["x", "z"], ["c"])), ()) == [["a", "b", "c"]]


def list_copied(onnx_model, fast):
    main = body(onnx_model)
    result = assigner(fast).assign(main)
    moved = copies(
        main, FIRST, {item.node: item.row for item in result if item.provider == FIRST and item.row is not None}
    )
    return {(copy.value, copy.source, copy.to) for copy in moved}


def test_values_are_copied_once_per_direction():
    nodes = [
        relu("x", "a", name="a"), node("Det", ["a"], "b"), node("Det", ["a"], "c"), relu("b", "d", name="d"),
        relu("b", "e", name="e"), relu("c", "f", name="f"),
    ]  # fmt: skip
    new_model = model(graph(nodes, [info("x", [2, 2])], [info(name, None) for name in "def"]))
    assert list_copied(new_model, [row("Relu", 14)]) == {("a", FIRST, CPU), ("b", CPU, FIRST), ("c", CPU, FIRST)}


def test_an_input_is_copied_only_if_both_providers_read_it():
    both = model(graph([relu("x", "a"), node("Det", ["x"], "b")], [info("x", [2, 2])], [info(n, None) for n in "ab"]))
    assert list_copied(both, [row("Relu", 14)]) == {("x", CPU, FIRST)}
    item = model(graph([node("Det", ["x"], "b")], [info("x", [2, 2])], [info("b", None)]))
    assert list_copied(item, [row("Relu", 14)]) == set()


def test_values_in_cpu_memory_are_not_copied():
    assert list_copied(shape_subgraph(), SHAPED) == set()


def test_subgraphs_are_placed_separately():
    later = helper.make_graph([relu("x", "t", name="t")], "then", [], [info("t", None)])
    other = helper.make_graph([node("Det", ["m"], "e")], "else", [], [info("e", None)])
    choice = helper.make_node("If", ["c"], ["y"], name="if", then_branch=later, else_branch=other)
    inputs = [info("c", [], BOOL), info("x", [2]), info("m", [2, 2])]
    new_model = model(graph([choice], inputs, [info("y", None, FLOAT)]))
    result = place_model(new_model, [row("Relu", 14)], [row("If", 16, provider=CPU), row("Det", 11, provider=CPU)])
    assert {name: provider for name, (provider, _) in result.items()} == {
        "if": CPU, "if/then_branch/t": FIRST, "if/else_branch/e": CPU,
    }  # fmt: skip


def test_outer_values_of_a_subgraph_are_inputs_of_its_node():
    later = helper.make_graph([relu("a", "t", name="t")], "then", [], [info("t", None)])
    other = helper.make_graph([relu("a", "e", name="e")], "else", [], [info("e", None)])
    choice = helper.make_node("If", ["c"], ["y"], name="if", then_branch=later, else_branch=other)
    new_model = model(graph([relu("x", "a", name="a"), choice, relu("a", "z", name="z")],
                       [info("x"), info("c", [], BOOL)], [info("y", None), info("z")]))  # fmt: skip
    assert groups(new_model, {"if"}) == [["a"], ["z"]]


def test_nodes_of_a_reversed_model_are_visited_once():
    """Their types are tied; with separate types each would be checked alone."""
    nodes = [helper.make_node("Relu", [f"v{i}"], [f"v{i + 1}"]) for i in range(50)][::-1]
    new_model = model(graph(nodes, [info("v0", [2, 3])], [info("v50", [2, 3])]), opsets=[("", 17)])
    result = body(new_model).nodes
    assert len(result) == 50
    assert len({node.properties for node in result}) < 10
