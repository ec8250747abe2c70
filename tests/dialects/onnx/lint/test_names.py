"""Names in ONNX models: used before definition, duplicated, shadowed, or unused."""

from __future__ import annotations

import pytest

import specgate
from tests.linting.models import (
    BOOL,
    branch,
    call,
    chain,
    find_ids,
    function,
    graph,
    helper,
    info,
    model,
    onnx,
    passes_checker,
    relu,
    weights,
)

CONDITION = info("c", [], BOOL)


def with_branches(later, otherwise=None, *, before=(), **more):
    other = otherwise if otherwise is not None else graph([relu("x", "z")], [], ["z"], name="other")
    return model(graph([*before, branch(later, other)], ["x", CONDITION], ["y"], **more))


def inner(*nodes, outputs=("w",), **more):
    return graph(nodes, [], outputs, name="inner", **more)


def make_unnamed(onnx_model):
    onnx_model.graph.node[0].attribute.append(helper.make_attribute("alpha", 1.0))
    onnx_model.graph.node[0].attribute.append(helper.make_attribute("alpha", 2.0))
    return onnx_model


ADD = helper.make_node("Add", ["x", "w"], ["y"])
# Models with our findings, and whether onnx.checker rejects them.
CASES = {
    "sound": (chain("x", "a", "y"), [], True),
    "input twice": (model(graph([relu("x", "y")], ["x", "x"])), [("name-duplicate", "error")], False),
    "initializer twice": (model(graph([ADD], initializers=[weights("w")] * 2)), [("name-duplicate", "error")], False),
    "node computes an input": (model(graph([relu("x", "x")], ["x"], ["x"])), [("name-duplicate", "error")], False),
    "node computes an initializer": (
        model(graph([relu("x", "w")], ["x"], ["w"], [weights("w")])),
        [("name-duplicate", "error")],
        False,
    ),
    "two nodes compute it": (model(graph([relu("x", "y"), relu("x", "y")])), [("name-duplicate", "error")], False),
    "no output": (
        model(graph([relu("x", "y"), helper.make_node("Relu", ["x"], [])])),
        [("output-required", "error")],
        False,
    ),
    "an output without a name": (
        model(graph([relu("x", "y"), helper.make_node("Dropout", ["x"], ["", "mask"])], ["x"], ["y", "mask"])),
        [("output-required", "error")],
        False,
    ),
    "an optional output without a name": (
        model(graph([helper.make_node("Dropout", ["x"], ["y", ""])])),
        [],
        True,
    ),
    "none of several outputs": (
        model(graph([relu("x", "y"), helper.make_node("Split", ["x"], [])])),
        [("output-required", "error")],
        False,
    ),
    "a default for an input": (model(graph([ADD], ["x", "w"], initializers=[weights("w")])), [], True),
    "an initializer that is no input, IR 3": (
        model(graph([ADD], initializers=[weights("w")]), ir=3, opsets=[("", 7)]),
        [("initializer-input", "error")],
        False,
    ),
    "not in order": (model(graph([relu("z", "y"), relu("x", "z")])), [("node-order", "error")], False),
    "a circle": (
        model(graph([helper.make_node("Add", ["x", "b"], ["a"]), relu("a", "b"), relu("b", "y")])),
        [("cycle", "error")],
        False,
    ),
    "nothing gives it": (model(graph([relu("q", "y")], [])), [("name-undefined", "error")], False),
    "no such output": (
        model(graph([relu("x", "y")], ["x"], ["y", "q"])),
        [("output-undefined", "error")],
        False,
    ),
    "an input is an output": (model(graph([relu("x", "y")], ["x"], ["x", "y"])), [], True),
    "an initializer is an output": (model(graph([relu("x", "y")], ["x"], ["w", "y"], [weights("w")])), [], True),
    "an attribute twice": (make_unnamed(chain("x", "y")), [("attribute-duplicate", "error")], False),
    "node without anything": (
        model(graph([relu("x", "y"), helper.make_node("Constant", [], [])])),
        [("node-empty", "error")],
        False,
    ),
    "nameless input": (model(graph([relu("x", "y")], ["x", ""])), [("name-empty", "error")], False),
    "nameless graph": (model(graph([relu("x", "y")], name="")), [("graph-name", "note")], False),
    "a name for two nodes": (
        model(graph([relu("x", "z", name="n"), relu("z", "y", name="n")])),
        [("node-name-duplicate", "warning")],
        True,
    ),
    "unread input": (model(graph([relu("x", "y")], ["x", "u"])), [("input-unused", "note")], True),
    "unread initializer": (
        model(graph([relu("x", "y")], initializers=[weights("w")])),
        [("initializer-unused", "note")],
        True,
    ),
    "nodes for nothing": (
        model(graph([relu("x", "y"), relu("x", "a"), relu("a", "b")])),
        [("node-unused", "note"), ("node-unused", "note")],
        True,
    ),
    "no outputs": (model(graph([relu("x", "y")], outputs=[])), [("output-missing", "note")], True),
    "types of nothing": (
        model(graph([relu("x", "y")], value_info=[info("zzz")])),
        [("value-info-unknown", "note")],
        True,
    ),
    "outer names in a subgraph": (with_branches(inner(relu("x", "w"))), [], True),
    "the same name in two branches": (
        with_branches(inner(relu("x", "w")), graph([relu("x", "w")], [], ["w"], name="other")),
        [],
        True,
    ),
    "a subgraph hides a node's output": (
        with_branches(inner(relu("x", "w")), before=[relu("x", "w")]),
        [("name-shadowed", "error")],
        False,
    ),
    "a subgraph's initializer hides": (
        with_branches(inner(relu("x", "w"), initializers=[weights("x")])),
        [("name-shadowed", "warning")],
        True,
    ),
    "a later name is free in a subgraph": (
        model(
            graph(
                [
                    branch(inner(relu("x", "w")), inner(relu("x", "w"))),
                    relu("x", "w"),
                    helper.make_node("Add", ["y", "w"], ["o"]),
                ],
                ["x", CONDITION],
                ["o"],
            )
        ),
        [],
        True,
    ),
    "a subgraph gives an outer value": (with_branches(inner(outputs=["x"])), [("output-undefined", "error")], False),
    "a subgraph reads what is nowhere": (with_branches(inner(relu("q", "w"))), [("name-undefined", "error")], False),
    "a subgraph reads what comes later": (
        model(graph([branch(inner(relu("late", "w")), inner(relu("x", "w"))), relu("x", "late")], ["x", CONDITION])),
        [("node-order", "error")],
        False,
    ),
    "a function's input twice": (
        model(
            graph([call(["x", "x"])]),
            functions=[function([relu("a", "b")], ["a", "a"])],
            opsets=[("", 17), ("d", 1)],
        ),
        [("name-duplicate", "error")],
        False,
    ),
    "a function sees nothing outside": (
        model(graph([call()]), functions=[function([relu("x", "b")])], opsets=[("", 17), ("d", 1)]),
        [("name-undefined", "error")],
        False,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_value_and_node_names(case):
    onnx_model, expected, accepted = CASES[case]
    assert find_ids(onnx_model) == expected
    assert passes_checker(onnx_model) is accepted


def test_only_invalid_models_fail():
    for onnx_model, expected, _ in CASES.values():
        clean = specgate.lint(onnx_model, ["onnx:28"], infer=False).clean
        assert clean == all(severity == "note" for _, severity in expected)


def test_value_used_only_in_a_subgraph_is_used():
    onnx_model = with_branches(inner(relu("k", "w")), before=[relu("x", "k")], initializers=[weights("unread")])
    assert find_ids(onnx_model) == [("initializer-unused", "note")]


def test_loop_must_supply_the_body_inputs():
    body = graph(
        [relu("state", "next"), helper.make_node("Identity", ["go"], ["on"])],
        [info("i", [], onnx.TensorProto.INT64), info("go", [], BOOL), "state"],
        [info("on", [], BOOL), "next"],
        name="body",
    )
    loop = helper.make_node("Loop", ["", "c", "x"], ["y"], body=body)
    assert find_ids(model(graph([loop], ["x", CONDITION]))) == []


def test_finding_has_a_location_and_quotes_names():
    onnx_model = with_branches(inner(relu("q\n" * 100, "w"), outputs=["w"]))
    (finding,) = specgate.lint(onnx_model, ["onnx:17"], infer=False).findings
    assert finding.location is not None
    assert (finding.location.node, finding.location.operator) == ("graph/if/then_branch/Relu->w", "Relu")
    assert "\n" not in finding.message
    assert len(finding.message) < 200


def test_deep_and_wide_graphs_are_walked_in_linear_time():
    names = [f"v{i}" for i in range(5001)]
    assert find_ids(chain(*names)) == []
    deep = inner(relu("x", "w"))
    for _ in range(20):
        deep = inner(branch(deep, inner(relu("x", "w")), target="w"))
    assert find_ids(with_branches(deep)) == []


@pytest.mark.parametrize("turned", [False, True])
def test_unused_nodes_are_reported_in_any_order(turned):
    nodes = [relu("x", "a"), relu("a", "b"), relu("b", "y"), relu("b", "c"), relu("c", "d"), relu("", "e")]
    new_model = model(graph(nodes[::-1] if turned else nodes))
    unused = {
        f.message.rpartition(" ")[2] for f in specgate.lint(new_model, ["onnx:17"]).findings if "node-unused" in f.id
    }
    assert unused == {"'c'", "'d'", "'e'"}


@pytest.mark.parametrize("turned", [False, True])
def test_omitted_input_does_not_use_an_omitted_output(turned):
    dropped = helper.make_node("Dropout", ["x"], ["u", ""])
    clipped = helper.make_node("Clip", ["x", "", "m"], ["y"])
    nodes = [dropped, clipped]
    new_model = model(graph(nodes[::-1] if turned else nodes, ["x", "m"]))
    unused = [f.message for f in specgate.lint(new_model, ["onnx:17"]).findings if "node-unused" in f.id]
    assert unused == ["no graph output depends on 'u'"]


def test_node_used_by_an_earlier_subgraph_is_used():
    inside = inner(relu("late", "w"))
    onnx_model = with_branches(inside, inner(relu("x", "w")))
    onnx_model.graph.node.append(relu("x", "late"))
    found_here = [(f.id.rpartition("/")[2], f.severity) for f in specgate.lint(onnx_model, ["onnx:17"]).findings]
    assert ("node-order", "error") in found_here
    assert ("node-unused", "note") not in found_here
