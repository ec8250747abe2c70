"""Context of findings: tensors by the operator's names, and neighbours in scope."""

from __future__ import annotations

import json

import specgate
from specgate.verdict import Port
from tests.linting.test_model import BOOL, FLOAT, INT64, helper, info, model, one_hot
from tests.paths import DATA


def context_of(report, node):
    return report.context[None, node]


def ends(port):
    return [node for node, _ in port.nodes]


def test_tensors_have_the_operators_names_and_neighbours_are_nodes():
    nodes = [
        helper.make_node("Identity", ["ids"], ["copy"], name="before"),
        helper.make_node("OneHot", ["ids", "depth", "values"], ["y"], axis=9, name="here"),
        helper.make_node("Relu", ["y"], ["z"], name="after"),
        helper.make_node("Add", ["y", "y"], ["w"], name="also"),
    ]
    context = context_of(specgate.lint(model(nodes), ["onnx:17"]), "graph/here")
    assert context.inputs == (
        Port("indices", "ids", "INT64", ("batch", 3)),
        Port("depth", "depth", "INT64", ()),
        Port("values", "values", "FLOAT", (2,)),
    )
    (output,) = context.outputs
    assert (output.field, output.name, ends(output)) == ("output", "y", ["graph/after", "graph/also"])


def test_only_nodes_that_the_report_names_are_kept():
    nodes = [one_hot(output="fine", axis=-1), one_hot(output="bad", axis=9)]
    report = specgate.lint(model(nodes), ["onnx:17"])
    assert set(report.context) == {(None, "graph/OneHot->bad")}
    assert specgate.lint(model(nodes[:1]), ["onnx:17"]).context == {}


def test_an_undecided_node_has_context():
    new_model = model([one_hot(output="y", axis=-1)], outputs=[info("y", FLOAT, ["rows", 3, 4])])
    report = specgate.lint(new_model, ["onnx:17"])
    assert len(report.undecided) == 1
    assert context_of(report, "graph/OneHot->y").outputs[0].sizes == ("rows", 3, 4)


def test_an_omitted_input_is_omitted_from_the_context():
    node = helper.make_node("OneHot", ["ids", "", "values"], ["hot"], name="n")
    assert [port.field for port in context_of(specgate.lint(model([node]), ["onnx:17"]), "graph/n").inputs] == [
        "indices",
        "values",
    ]


def branch(name, *nodes):
    return helper.make_graph(list(nodes), name, [], [info("out", FLOAT, None)])


def test_branches_with_equal_names_are_reported_separately():
    def body(name, axis):
        return branch(
            name,
            helper.make_node("OneHot", ["copy", "depth", "values"], ["hot"], axis=axis, name="h"),
            helper.make_node("Relu", ["hot"], ["out"], name=f"after_{name}"),
        )

    nodes = [
        helper.make_node("Identity", ["ids"], ["copy"], name="before"),
        helper.make_node("OneHot", ["ids", "depth", "values"], ["hot2"], axis=9, name="main"),
        helper.make_node("If", ["c"], ["y"], name="if", then_branch=body("yes", 9), else_branch=body("no", 9)),
    ]
    declared = [info("ids", INT64, [2, 3]), info("c", BOOL, [])]
    new_model = model(nodes, inputs=declared, value_infos=[info("copy", INT64, [2, 3])])
    report = specgate.lint(new_model, ["onnx:17"])
    for path, after in (("then_branch", "after_yes"), ("else_branch", "after_no")):
        context = context_of(report, f"graph/if/{path}/h")
        assert ends(context.inputs[0]) == ["graph/before"]
        assert ends(context.outputs[0]) == [f"graph/if/{path}/{after}"]


def test_many_consumers_are_counted():
    readers = [helper.make_node("Relu", ["hot"], [f"r{at}"], name=f"r{at}") for at in range(12)]
    (output,) = context_of(specgate.lint(model([one_hot(axis=9), *readers]), ["onnx:17"]), "graph/OneHot->hot").outputs
    assert (len(output.nodes), output.more) == (8, 4)


def test_openvino_layers_have_neighbours():
    report = specgate.lint(DATA / "models/onehot16_openvino.xml", ["openvino:opset14"])
    (context,) = [context for (_, node), context in report.context.items() if node == "net/one_hot"]
    assert [(port.field, ends(port)) for port in context.inputs] == [
        ("indices", ["net/ids"]),
        ("depth", ["net/depth"]),
        ("on_value", ["net/on"]),
        ("off_value", ["net/off"]),
    ]
    assert [ends(port) for port in context.outputs] == [["net/total"]]


def test_a_descriptor_file_has_shapes(tmp_path):
    file = tmp_path / "d.json"
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]}
    desc = {
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 3, 1]},
        "ValuesTensor": tensor,
        "OutputTensor": tensor,
    }
    file.write_text(json.dumps({"type": "DML_OPERATOR_ONE_HOT", "desc": {**desc, "Axis": 9}}), encoding="utf-8")
    report = specgate.lint(file, ["directml:4.1"])
    for (name, _), context in report.context.items():
        assert name == str(file)
        assert context.inputs[0] == Port("IndicesTensor", None, "UINT32", (1, 1, 3, 1))


def test_an_inferred_output_has_type_and_sizes():
    nodes = [
        helper.make_node("Relu", ["x"], ["y"], name="one", odd=1),
        helper.make_node("Relu", ["y"], ["z"], name="two"),
    ]
    body = helper.make_graph(nodes, "g", [info("x", FLOAT, [2, "n"])], [info("z", FLOAT, [2, "n"])])
    report = specgate.lint(helper.make_model(body, opset_imports=[helper.make_opsetid("", 6)]), ["onnx:14"])
    (output,) = context_of(report, "graph/one").outputs
    assert (output.type, output.sizes) == ("FLOAT", (2, "n"))
