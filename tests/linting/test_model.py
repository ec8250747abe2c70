"""Whole models: subgraphs, functions, versions, targets, undecided nodes."""

from __future__ import annotations

import pytest

import specgate
import specgate.verdict
from tests.paths import DATA

onnx = pytest.importorskip("onnx", reason="THE MODEL TESTS ARE NOT RUN: pip install onnx (it is in the test extra)")
helper = onnx.helper
INT64, FLOAT, BOOL, BFLOAT16 = (getattr(onnx.TensorProto, n) for n in ("INT64", "FLOAT", "BOOL", "BFLOAT16"))


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def one_hot(name="", output="hot", **attributes):
    return helper.make_node("OneHot", ["ids", "depth", "values"], [output], name=name, **attributes)


def constants(depth=4):
    return [
        helper.make_tensor("depth", INT64, [], [depth]),
        helper.make_tensor("values", FLOAT, [2], [0.0, 1.0]),
    ]


def model(nodes, *, opset=17, inputs=None, outputs=(), initializers=None, functions=(), value_infos=(), ir=8):
    read = {name for node in nodes for name in node.input}
    unread = dict.fromkeys(name for node in nodes for name in node.output if name not in read)
    graph = helper.make_graph(
        nodes,
        "g",
        [info("ids", INT64, ["batch", 3])] if inputs is None else inputs,
        list(outputs) or [onnx.ValueInfoProto(name=name) for name in unread],
        constants() if initializers is None else initializers,
        value_info=list(value_infos),
    )
    imports = [helper.make_opsetid("", opset), *(helper.make_opsetid(f.domain, 1) for f in functions)]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=ir)


def place(finding) -> specgate.verdict.Location:
    assert finding.location is not None
    return finding.location  # type: ignore[no-any-return]


def ids(report):
    return [finding.id for finding in report.findings]


def test_a_valid_model_is_clean_at_its_opset():
    report = specgate.lint(model([one_hot(axis=-1)]), ["onnx:17"])
    assert (report.nodes, report.findings, report.undecided, report.no_table) == (1, [], [], [])


def test_a_node_is_checked_at_the_opset_that_the_model_imports():
    written_for_9 = model([one_hot(axis=-2)], opset=9)
    (finding,) = specgate.lint(written_for_9, ["onnx:9"]).findings
    assert (finding.id, finding.first_level) == ("onnx/OneHot/axis-range", "11")
    findings = specgate.lint(written_for_9, ["onnx:17"]).findings
    assert [(f.id, f.severity) for f in findings] == [
        ("onnx/OneHot/axis-range", "error"),
        ("onnx/OneHot/changed", "note"),
    ]


def test_changed_operator_versions_at_the_target_are_noted():
    report = specgate.lint(model([one_hot()], opset=9), ["onnx:10", "onnx:17", "onnx:28"])
    assert [(f.target, f.values["at target"]) for f in report.findings] == [("onnx:17", "11"), ("onnx:28", "28")]
    assert report.clean


def test_an_import_above_the_target_is_a_single_finding():
    report = specgate.lint(model([one_hot(output=f"h{i}") for i in range(5)], opset=17), ["onnx:13"])
    assert ids(report) == ["onnx/model/opset-import"]
    assert report.nodes == 5


def test_an_import_beyond_the_tables_is_reported_and_not_guessed():
    report = specgate.lint(model([one_hot()], opset=999), ["onnx:17"])
    assert ids(report) == ["onnx/model/opset-import", "specgate/nothing-judged"]
    assert "the tables end at" in report.findings[0].message
    assert "999" in report.no_table[0].reason


def test_an_operator_missing_at_its_opset():
    (finding,) = specgate.lint(model([one_hot()], opset=8), ["onnx:8"]).findings
    assert (finding.id, finding.first_level) == ("onnx/OneHot/level", "9")


def test_nodes_in_subgraphs_are_checked_with_the_outer_types():
    bad = helper.make_graph([one_hot("inner", axis=5)], "then", [], [info("hot", FLOAT, None)])
    good = helper.make_graph([one_hot("inner", axis=0)], "else", [], [info("hot", FLOAT, None)])
    branch = helper.make_node("If", ["cond"], ["out"], name="choose", then_branch=bad, else_branch=good)
    new_model = model([branch], inputs=[info("cond", BOOL, []), info("ids", INT64, [2, 3])])
    report = specgate.lint(new_model, ["onnx:17"])
    assert ids(report) == ["onnx/OneHot/axis-range"]
    assert place(report.findings[0]).node == "graph/choose/then_branch/inner"
    assert report.findings[0].values["rank(indices)"] == 2
    assert report.nodes == 3  # the If too
    assert not report.no_table


def test_subgraph_names_shadow_outer_names():
    inner = helper.make_graph(
        [one_hot("inner", axis=2)],
        "body",
        [],
        [info("hot", FLOAT, None)],
        [helper.make_tensor("ids", INT64, [1], [0])],
    )
    branch = helper.make_node("If", ["cond"], ["out"], then_branch=inner, else_branch=inner)
    new_model = model([branch], inputs=[info("cond", BOOL, []), info("ids", INT64, [2, 3])])
    hidden, axes = ["onnx/model/name-shadowed"], ["onnx/OneHot/axis-range"]
    assert ids(specgate.lint(new_model, ["onnx:17"])) == 2 * hidden + 2 * axes


def test_functions_are_checked_at_the_opset_of_their_imports():
    function = helper.make_function(
        "my.domain",
        "Encode",
        ["ids", "depth", "values"],
        ["hot"],
        [one_hot("body", wrong=1)],
        [helper.make_opsetid("", 17)],
    )
    call = helper.make_node("Encode", ["ids", "depth", "values"], ["hot"], domain="my.domain")
    report = specgate.lint(model([call], functions=[function]), ["onnx:17"])
    assert ids(report) == ["onnx/OneHot/unknown-attribute"]
    assert place(report.findings[0]).node == "function my.domain.Encode/body"
    assert report.no_table == []


def test_custom_domains_are_counted_and_named():
    strange = helper.make_node("OneHot", ["ids"], ["y"], domain="com.acme")
    new_model = model([strange])
    new_model.opset_import.append(helper.make_opsetid("com.acme", 1))
    report = specgate.lint(new_model, ["onnx:17"])
    assert [ref.location.operator for ref in report.no_table] == ["com.acme.OneHot"]
    assert report.nodes == 0


def test_constants_reach_a_rule_from_initializers_and_constant_nodes():
    wrong = model([one_hot(axis=0)], outputs=[info("hot", FLOAT, [5, "batch", 3])])
    assert ids(specgate.lint(wrong, ["onnx:17"])) == ["onnx/OneHot/output-depth"]
    node = helper.make_node("Constant", [], ["depth"], value=helper.make_tensor("", INT64, [], [4]))
    same = model([node, one_hot(axis=0)], initializers=constants()[1:], outputs=[info("hot", FLOAT, [5, "batch", 3])])
    assert ids(specgate.lint(same, ["onnx:17"])) == ["onnx/OneHot/output-depth"]


def test_equal_symbols_match_and_different_symbols_are_undecided():
    same = model([one_hot(axis=-1)], outputs=[info("hot", FLOAT, ["batch", 3, 4])])
    assert specgate.lint(same, ["onnx:17"]).undecided == []
    other = model([one_hot(axis=-1)], outputs=[info("hot", FLOAT, ["rows", 3, 4])])
    report = specgate.lint(other, ["onnx:17"])
    assert report.findings == []
    assert "is rows" in report.undecided[0].reason


def test_unknown_types_and_ranks_leave_a_node_undecided():
    new_model = model([helper.make_node("Mystery", [], ["ids"], domain="x"), one_hot()], inputs=[])
    new_model.opset_import.append(helper.make_opsetid("x", 1))
    report = specgate.lint(new_model, ["onnx:17"], custom_domains=["x"])
    assert report.findings == []
    assert "unknown type" in report.undecided[0].reason


def test_missing_inputs_are_findings():
    node = helper.make_node("OneHot", ["ids", "", "values"], ["hot"])
    new_model = model([node], initializers=constants()[1:])
    assert ids(specgate.lint(new_model, ["onnx:17"])) == ["onnx/OneHot/depth.required"]


def test_a_type_of_a_later_version():
    values = [constants()[0]]
    new_model = model([one_hot()], inputs=[info("ids", INT64, [3]), info("values", BFLOAT16, [2])], initializers=values)
    (finding,) = specgate.lint(new_model, ["onnx:17"]).findings
    assert (finding.id, finding.first_level) == ("onnx/OneHot/values.type", "28")


def test_node_paths_do_not_depend_on_other_nodes():
    first = specgate.lint(model([one_hot(output="y", axis=9)]), ["onnx:17"]).findings[0]
    more = [helper.make_node("Identity", ["ids"], ["z"]), one_hot(output="y", axis=9)]
    second = specgate.lint(model(more), ["onnx:17"]).findings[0]
    assert place(first).node == place(second).node == "graph/OneHot->y"


def test_the_exported_model_is_clean_and_the_ir_has_line_numbers():
    assert specgate.lint(DATA / "models/embedding_torch.onnx", ["onnx:17"]).clean
    report = specgate.lint(DATA / "models/onehot16_openvino.xml", ["openvino:opset15"], "observed")
    assert [(f.id, place(f).line is not None) for f in report.findings] == [("openvino/OneHot/version", True)]


def test_lint_needs_a_target_and_a_model():
    with pytest.raises(specgate.InputError, match="at least one target"):
        specgate.lint(model([one_hot()]), [])
    with pytest.raises(specgate.InputError, match="expected a path"):
        specgate.lint(42, ["onnx:17"])


def test_function_calls_are_distinguished_from_equally_named_operators():
    function = helper.make_function(
        "", "Relu", ["x"], ["y"], [helper.make_node("Neg", ["x"], ["y"])], [helper.make_opsetid("", 17)]
    )
    function.overload = "other"
    nodes = [helper.make_node("Relu", ["ids"], ["a"]), helper.make_node("Relu", ["ids"], ["b"])]
    nodes[1].overload = "other"
    new_model = model(nodes, inputs=[info("ids", FLOAT, [2])], functions=[function], ir=10)
    assert specgate.lint(new_model, ["onnx:17"]).nodes == 2  # the first node, and that in the function
