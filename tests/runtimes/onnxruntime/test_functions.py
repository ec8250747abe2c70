"""Calls of functions without a kernel."""

from __future__ import annotations

import pytest

import specgate
from specgate.runtimes.onnxruntime import functions
from tests.linting.models import BOOL, INT64, graph, helper, info, model, onnx, relu

DML, CPU = "onnxruntime-directml:1.24.4", "onnxruntime:1.24.4"
FLOAT16 = onnx.TensorProto.FLOAT16


def paths(result):
    return [(item.node, item.operator, item.provider, item.function) for item in result]


def scale(**more):
    """A function with an attribute, a constant and an intermediate value."""
    nodes = [
        helper.make_node("Constant", [], ["c"], name="c", value_float=2.0),
        helper.make_node("Elu", ["a"], ["e"], name="elu"),
        helper.make_node("Mul", ["e", "c"], ["b"], name="mul"),
    ]
    alpha = nodes[1].attribute.add()
    alpha.name, alpha.ref_attr_name, alpha.type = "alpha", "strength", onnx.AttributeProto.FLOAT
    return helper.make_function("local", "Scale", ["a"], ["b"], nodes, [helper.make_opsetid("", 17)], ["strength"])


def calling(*nodes, functions_=(), outputs=("y",)):
    return model(graph(list(nodes), ["x"], outputs), opsets=[("", 17), ("local", 1)], functions=functions_)


def test_a_model_local_function_is_inlined():
    calls = [
        helper.make_node("Scale", ["x"], ["a"], name="one", domain="local", strength=0.5),
        helper.make_node("Scale", ["a"], ["y"], name="two", domain="local", strength=0.25),
    ]
    placement = specgate.place(calling(*calls, functions_=[scale()]), DML)
    assert paths(placement) == [
        ("graph/one/elu", "Elu", "DirectML", "graph/one"),
        ("graph/one/mul", "Mul", "DirectML", "graph/one"),
        ("graph/two/elu", "Elu", "DirectML", "graph/two"),
        ("graph/two/mul", "Mul", "DirectML", "graph/two"),
    ]
    assert [
        descriptor.fields["Alpha"]
        for placed in placement
        if placed.operator == "Elu"
        for descriptor in placed.lowered or ()
    ] == [0.5, 0.25]
    assert [len(partition.nodes) for partition in placement.partitions] == [4]


def test_calls_of_equal_name_keep_separate_values():
    calls = [helper.make_node("Scale", [a], [b], name="same", domain="local", strength=1.0) for a, b in ("xa", "ay")]
    placement = specgate.place(calling(*calls, functions_=[scale()]), DML)
    assert [placed.operator for placed in placement] == ["Elu", "Mul", "Elu", "Mul"]
    assert [text.partition(":")[0] for text in placement.refusals] == ["graph/same"]  # "two nodes with same node name"


def test_calls_inside_of_functions_and_subgraphs():
    outer = helper.make_function(
        "local", "Twice", ["a"], ["b"],
        [helper.make_node("Scale", ["a"], ["b"], name="inner", domain="local", strength=1.0)],
        [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)],
    )  # fmt: skip
    later = helper.make_graph([helper.make_node("Twice", ["x"], ["t"], name="call", domain="local")], "then", [],
                             [info("t", None)])  # fmt: skip
    other = helper.make_graph([relu("x", "e", name="e")], "else", [], [info("e", None)])
    choice = helper.make_node("If", ["c"], ["y"], name="if", then_branch=later, else_branch=other)
    body = graph([choice], [info("x"), info("c", [], BOOL)], [info("y", None)])
    new_model = model(body, opsets=[("", 16), ("local", 1)], functions=[outer, scale()])
    texts_by_name = {placed.node: placed.function for placed in specgate.place(new_model, DML)}
    assert texts_by_name["graph/if/then_branch/call/inner/elu"] == "graph/if/then_branch/call/inner"
    assert "graph/if/else_branch/e" in texts_by_name


def test_an_onnx_function_without_a_kernel_is_inlined():
    swish = [helper.make_node("HardSwish", ["x"], ["y"], name="call")]
    placement = specgate.place(model(graph(swish), opsets=[("", 18)]), DML)
    assert [(placed.operator, placed.provider, placed.function) for placed in placement] == [
        ("HardSigmoid", "DirectML", "graph/call"), ("Mul", "DirectML", "graph/call"),
    ]  # fmt: skip
    assert [placed.creation for placed in placement] == ["created", "created"]


def test_a_body_with_changed_operators_is_not_used():
    half = graph([helper.make_node("HardSigmoid", ["x"], ["y"], name="n")], [info("x", kind=FLOAT16)],
                 [info("y", None, FLOAT16)])  # fmt: skip
    (placed,) = specgate.place(model(half, opsets=[("", 22)], ir=10), DML)
    assert (placed.operator, placed.provider, placed.casts) == ("HardSigmoid", "CPU", True)


def test_a_context_dependent_body_is_used_despite_changed_operators():
    pad = graph([helper.make_node("CenterCropPad", ["x", "to"], ["y"], name="n")],
                [info("x", [2, 3]), info("to", [2], INT64)], [info("y", None)])  # fmt: skip
    placement = specgate.place(model(pad, opsets=[("", 25)], ir=10), DML)
    assert {placed.function for placed in placement} == {"graph/n"}
    assert placement.session == "created"


def test_a_body_that_cannot_be_built_is_not_used(monkeypatch):
    empty = onnx.ModelProto(ir_version=10, producer_name="built")
    empty.graph.SetInParent()
    empty.functions.add(name="Mish")
    monkeypatch.setattr(functions, "find_function_body", lambda *_: empty.SerializeToString())
    monkeypatch.setattr(functions, "_body", functions._body.__wrapped__)  # others may have asked the same before
    (placed,) = specgate.place(model(graph([helper.make_node("Mish", ["x"], ["y"])]), opsets=[("", 18)]), DML)
    assert (placed.operator, placed.provider) == ("Mish", None)


def test_a_function_with_a_kernel_stays():
    placement = specgate.place(model(graph([helper.make_node("Softplus", ["x"], ["y"])]), opsets=[("", 17)]), CPU)
    assert [placed.operator for placed in placement] == ["Softplus"]


def test_sequence_map_is_expanded():
    body = helper.make_graph([relu("e", "r", name="r")], "body", [info("e")], [info("r", None)])
    seq = helper.make_tensor_sequence_value_info
    nodes = [helper.make_node("SequenceMap", ["x"], ["y"], name="map", body=body)]
    new_graph = helper.make_graph(nodes, "g", [seq("x", 1, [2])], [seq("y", 1, None)])
    placement = specgate.place(model(new_graph, opsets=[("", 17)]), CPU)
    assert "SequenceMap" not in {placed.operator for placed in placement}
    assert {"Loop", "Relu"} <= {placed.operator for placed in placement}
    assert placement.session == "created"


def test_functions_are_not_expanded_without_the_onnx_package(monkeypatch):
    monkeypatch.setattr(functions, "is_onnx_installed", lambda: False)
    placement = specgate.place(model(graph([helper.make_node("Mish", ["x"], ["y"])]), opsets=[("", 18)]), DML)
    assert [placed.provider for placed in placement] == [None]
    assert any("install onnx to expand function operators" in note for note in placement.notes)


def test_errors_of_a_call_are_reported_although_its_nodes_are_placed():
    bad = helper.make_node("HardSwish", ["x"], ["y"], name="call", beta=1.0)
    placement = specgate.place(model(graph([bad]), opsets=[("", 18)]), DML)
    assert [placed.operator for placed in placement] == ["HardSigmoid", "Mul"]
    assert placement.session == "fails"
    assert placement.refusals[0].startswith("graph/call (HardSwish): ")


@pytest.mark.timeout(60)
def test_a_recursive_function_terminates():
    loop = helper.make_function("local", "Scale", ["a"], ["b"],
                                [helper.make_node("Scale", ["a"], ["b"], name="again", domain="local")],
                                [helper.make_opsetid("local", 1)])  # fmt: skip
    placement = specgate.place(calling(helper.make_node("Scale", ["x"], ["y"], domain="local"), functions_=[loop]), DML)
    assert placement.session == "fails"


@pytest.mark.parametrize(
    ("operator", "kind", "opset", "older", "newer"),
    [
        ("Relu", FLOAT16, 18, ["Relu"], ["Cast", "Max"]),
        ("LeakyRelu", onnx.TensorProto.DOUBLE, 19, ["Cast", "Cast", "Less", "Mul", "Where"], ["LeakyRelu"]),
    ],
)
def test_the_operator_version_selects_the_body_in_1_16(operator, kind, opset, older, newer):
    call = helper.make_node(operator, ["x"], ["y"], name="call")
    new_model = model(graph([call], [info("x", [2, 3], kind)], [info("y", [2, 3], kind)]), opsets=[("", opset)])
    for release, expected in (("1.16.3", older), ("1.17.3", newer)):
        assert sorted(item.operator for item in specgate.place(new_model, f"onnxruntime:{release}")) == expected


def test_a_body_that_is_invalid_at_the_model_opset_is_rejected():
    call = helper.make_node("Softmax", ["x"], ["y"], name="call")
    new_model = model(graph([call], [info("x", [2, 3], FLOAT16)], [info("y", [2, 3], FLOAT16)]), opsets=[("", 19)])
    placement = specgate.place(new_model, "onnxruntime:1.16.3")
    assert (placement.session, next(placed.operator for placed in placement if placed.refused)) == (
        "fails",
        "ReduceMax",
    )
    assert specgate.place(new_model, "onnxruntime:1.17.3").session == "created"


def test_value_infos_of_a_call_apply_to_its_consumers():
    """Older releases do not compute lists of sizes, so sizes stay unknown."""
    floats = [helper.make_tensor(name, onnx.TensorProto.FLOAT, [4], [1.0] * 4) for name in ("scale", "bias")]
    call = helper.make_node("GroupNormalization", ["x", "scale", "bias"], ["g"], name="call", num_groups=2)
    body = graph([call, relu("g", "y")], [info("x", [1, 4, 2, 2])], [info("y", [1, 4, 2, 2])], floats)
    old = "onnxruntime-directml:1.18.0"
    assert specgate.place(model(body, opsets=[("", 21)], ir=10), old).nodes[-1].creation == "deferred"
    body.value_info.append(info("g", [1, 4, 2, 2]))
    placement = specgate.place(model(body, opsets=[("", 21)], ir=10), old)
    assert (placement.nodes[-1].node, placement.nodes[-1].creation) == ("graph/Relu->y", "created")


def test_a_call_in_a_subgraph_with_untyped_inputs():
    """Inference infers them from the node that contains the body, as the runtime does."""
    new_model = onnx.parser.parse_model("""
        <ir_version: 8, opset_import: ["" : 17]> g (float[3] s, float[5,3] x) => (float[3] f, y) {
            f, y = Scan <num_scan_inputs = 1, body = b (held, row) => (now, out) {
                now = Add(held, row)
                out = CastLike(now, row)
            }> (s, x)
        }""")
    placement = specgate.place(new_model, CPU)
    assert [(node.operator, node.provider) for node in placement] == [("Scan", "CPU"), ("Add", "CPU"), ("Cast", "CPU")]
