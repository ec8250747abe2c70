"""Nodes that a runtime duplicates, one copy per further consumer.

Each release was measured with sessions whose models were written out; see releases.yaml.
"""

from __future__ import annotations

import json

import pytest

import specgate
from specgate.cli import main
from specgate.descriptors.read import write_dict
from specgate.linting.model import graph_of
from specgate.linting.settings import LintSettings
from specgate.runtimes.onnxruntime.conform.compare import compare
from specgate.runtimes.onnxruntime.minimum import level_minimum
from specgate.runtimes.onnxruntime.oracle.oracle import Answer, CreatedOperator, Placed
from specgate.runtimes.onnxruntime.qdq_duplication import duplicate_nodes, duplicating
from specgate.targets import parse_target
from tests.linting.models import BOOL, FLOAT, graph, helper, info, model, onnx, relu

DML, CPU = "onnxruntime-directml:1.24.4", "onnxruntime:1.24.4"
UINT8 = onnx.TensorProto.UINT8
SIZES = [2, 3, 4]


def constants(count=None):
    """A scale and a zero point, per slice of the first axis or per tensor."""
    dims, many = ([], 1) if count is None else ([count], count)
    return [helper.make_tensor("s", FLOAT, dims, [0.5] * many), helper.make_tensor("z", UINT8, dims, [3] * many)]


def dequantize(output="y", name="dq", source="x", **more):
    return helper.make_node("DequantizeLinear", [source, "s", "z"], [output], name=name, **more)


def node(operator, inputs, output, **more):
    return helper.make_node(operator, inputs, [output], name=output, **more)


def relus(*outputs, source="y"):
    return [relu(source, output, name=output) for output in outputs]


def make(nodes, outputs, inputs=(), opset=13, initializers=None, functions=(), domains=()):
    value = constants() if initializers is None else initializers
    body = graph(nodes, [info("x", SIZES, UINT8), *inputs], [info(item, SIZES) for item in outputs], value)
    return model(body, opsets=[("", opset), *((name, 1) for name in domains)], functions=functions)


def duplicates_of(result):
    """Return the duplicated nodes with each added node and its consumer."""
    return {item.node: [(more.node, more.reader) for more in item.duplicates] for item in result if item.duplicates}


def test_each_further_consumer_has_a_copy():
    placement = specgate.place(make([dequantize(), *relus(*"abc")], "abc"), DML)
    assert [placed.node for placed in placement] == ["graph/dq", "graph/a", "graph/b", "graph/c"]
    assert duplicates_of(placement) == {
        "graph/dq": [("graph/dq/duplicated", "graph/b"), ("graph/dq/duplicated_token_1", "graph/c")]
    }
    whole = placement.nodes[0]
    assert (len(placement), placement.counts, whole.times) == (4, {"DirectML": 4}, 3)
    assert [len(placed.lowered or ()) for placed in placement.every] == [1] * 6
    assert all(more.lowered == whole.lowered and more.operator == whole.operator for more in whole.duplicates)
    assert [partition.nodes for partition in placement.partitions] == [
        ("graph/dq", "graph/a"), ("graph/dq/duplicated", "graph/b"), ("graph/dq/duplicated_token_1", "graph/c"),
    ]  # fmt: skip
    assert [more.partition for more in whole.duplicates] == [2, 3]


def test_a_single_consumer_needs_no_copy():
    for nodes, outputs in (([dequantize(), *relus("a")], "a"), ([dequantize()], "y")):
        assert duplicates_of(specgate.place(make(nodes, outputs), DML)) == {}


def test_a_node_that_reads_it_twice_counts_twice():
    placement = specgate.place(make([dequantize(), node("Add", ["y", "y"], "a"), *relus("b")], "ab"), DML)
    assert duplicates_of(placement) == {
        "graph/dq": [("graph/dq/duplicated", "graph/a"), ("graph/dq/duplicated_token_1", "graph/b")]
    }
    assert placement.partitions[0].nodes == ("graph/dq", "graph/dq/duplicated", "graph/a")


def test_a_graph_output_keeps_the_original_node():
    placement = specgate.place(make([dequantize(), *relus("a")], "ya"), DML)
    assert duplicates_of(placement) == {"graph/dq": [("graph/dq/duplicated", "graph/a")]}


def branches(later, otherwise):
    return {
        name: graph([item], [], [info(item.output[0], SIZES)], name=name)
        for name, item in (("then_branch", later), ("else_branch", otherwise))
    }


def test_subgraphs_keep_outer_nodes_and_duplicate_inner_nodes():
    inside = graph(
        [dequantize("w", "inner"), *relus("t", "u", source="w"), node("Add", ["t", "u"], "v")],
        [],
        [info("v", SIZES)],
    )
    bodies = branches(*relus("t"), *relus("e")) | {"then_branch": inside}
    choose = helper.make_node("If", ["c"], ["i"], name="if", **bodies)
    condition = [info("c", [], BOOL)]
    assert duplicates_of(specgate.place(make([dequantize(), choose, *relus("a")], "ia", condition), DML)) == {
        "graph/dq": [("graph/dq/duplicated", "graph/a")],
        "graph/if/then_branch/inner": [
            ("graph/if/then_branch/inner/duplicated", "graph/if/then_branch/u"),
        ],
    }
    alone = helper.make_node("If", ["c"], ["i"], name="if", **branches(*relus("t"), *relus("e")))
    assert duplicates_of(specgate.place(make([dequantize(), alone], "i", condition), DML)) == {}


def test_values_in_subgraphs_keep_their_sizes():
    bodies = branches(*relus("t"), *relus("e"))
    bodies["else_branch"] = graph([dequantize("w", "inner"), *relus("e", source="w")], [], [info("w", SIZES)])
    choose = helper.make_node("If", ["c"], ["i"], name="if", **bodies)
    placement = specgate.place(make([dequantize(), choose, *relus("a")], "ia", [info("c", [], BOOL)]), DML)
    assert {placed.creation for placed in placement.every if placed.provider == "DirectML"} == {"created"}
    assert sum(len(placed.duplicates) for placed in placement) == 2


def test_the_first_consumer_is_the_first_in_the_file():
    placement = specgate.place(make([*relus("a"), dequantize(), *relus("b")], "ab"), DML)
    assert duplicates_of(placement) == {"graph/dq": [("graph/dq/duplicated", "graph/b")]}


def test_used_names_get_numbers():
    accepted = node("Neg", ["y"], "b")
    accepted.name = "dq/duplicated"
    nodes = [dequantize(), *relus("y/duplicated"), accepted, *relus("c")]
    placement = specgate.place(make(nodes, ["y/duplicated", "b", "c"]), DML)
    assert duplicates_of(placement) == {
        "graph/dq": [
            ("graph/dq/duplicated_token_1", "graph/dq/duplicated"), ("graph/dq/duplicated_token_3", "graph/c"),
        ]
    }  # fmt: skip


def test_a_node_without_a_name_is_named_by_its_output():
    placement = specgate.place(make([dequantize(name=""), *relus("a", "b")], "ab"), DML)
    assert duplicates_of(placement) == {
        "graph/DequantizeLinear->y": [("graph/DequantizeLinear->y/duplicated", "graph/b")]
    }


def test_numbers_follow_the_walk_from_the_ends_of_the_graph():
    nodes = [dequantize(), dequantize("w", "other")]
    nodes += [*relus("a", "b", "c"), *relus("d", "e", "f", source="w")]
    numbers = {name: end.rpartition("_")[2] for name, added in duplicates_of(specgate.place(make(nodes, "abcdef"), DML)).items()
               for end, _ in added[1:]}  # fmt: skip
    assert numbers == {"graph/other": "1", "graph/dq": "3"}


def test_a_copied_consumer_reads_the_copy_of_its_producer():
    """The second reads its scale from the first, which has another consumer."""
    second = helper.make_node("DequantizeLinear", ["x", "y", "z"], ["w"], name="second")
    first = helper.make_node("DequantizeLinear", ["k", "s", "z"], ["y"], name="first")
    items = [*constants(), helper.make_tensor("k", UINT8, [], [5])]
    nodes = [first, node("Neg", ["y"], "n"), second, *relus("a", "b", source="w")]
    body = graph(nodes, [info("x", SIZES, UINT8)], [info("n", []), info("a", SIZES), info("b", SIZES)], items)
    assert duplicates_of(specgate.place(model(body, opsets=[("", 13)]), DML)) == {
        "graph/first": [("graph/first/duplicated", "graph/second")],
        "graph/second": [("graph/second/duplicated", "graph/b")],
    }


@pytest.mark.parametrize(
    ("release", "times"), [("1.13.1", 1), ("1.14.1", 1), ("1.15.1", 2), ("1.16.3", 2), ("1.17.3", 2), ("1.24.4", 2)]
)
def test_releases_duplicate_nodes_from_1_15_on(release, times):
    placement = specgate.place(make([dequantize(), *relus("a", "b")], "ab"), f"onnxruntime-directml:{release}")
    assert placement.nodes[0].times == times


@pytest.mark.parametrize("opset", [10, 13, 19, 21, 23, 25])
def test_every_opset_duplicates_nodes(opset):
    assert specgate.place(make([dequantize(), *relus("a", "b")], "ab", opset=opset), CPU).nodes[0].times == 2


@pytest.mark.parametrize(("release", "times"), [("1.16.3", 1), ("1.17.3", 2)])
def test_contrib_operators_are_duplicated_from_1_17_on(release, times):
    nodes = [dequantize(domain="com.microsoft"), *relus("a", "b")]
    placement = specgate.place(make(nodes, "ab", domains=["com.microsoft"]), f"onnxruntime:{release}")
    assert (placement.nodes[0].operator, placement.nodes[0].times) == ("com.microsoft.DequantizeLinear", times)


def test_older_releases_add_nodes_without_attributes():
    """A row of scales for the first axis would apply to the second, which the kernel rejects."""
    wrong = make([dequantize(axis=0), *relus("a", "b")], "ab", initializers=constants(2))
    newer = specgate.place(wrong, "onnxruntime-directml:1.17.3")
    assert (newer.session, list(newer.unlike) == list(newer)) == ("created", True)
    older = specgate.place(wrong, "onnxruntime-directml:1.16.3")
    assert (older.session, older.nodes[0].creation) == ("fails", "created")
    (added,) = older.nodes[0].unlike
    assert (added.node, added.creation) == ("graph/dq/duplicated", "fails")
    assert "a 1-D scale requires a valid axis" in added.created_by
    assert [placed.node for placed in older.unlike] == ["graph/dq", "graph/dq/duplicated", "graph/a", "graph/b"]


def test_older_releases_read_other_places_of_scales():
    same = make([dequantize(axis=0), *relus("a", "b")], "ab", initializers=constants(2))
    for item in same.graph.input[0].type.tensor_type.shape.dim:
        item.dim_value = 2
    placement = specgate.place(same, "onnxruntime-directml:1.16.3")
    every = (placement.nodes[0], *placement.nodes[0].duplicates)
    strides = [descriptor.fields["ScaleTensor"].strides for placed in every for descriptor in placed.lowered or ()]
    assert (placement.session, strides) == ("created", [(0, 1, 0, 0), (0, 0, 1, 0)])


def local_function(body):
    return helper.make_function("local", "Two", ["p"], ["q"], body, [helper.make_opsetid("", 14)])


def test_calls_inlined_after_placement_count_as_a_single_consumer():
    """HardSwish has no kernel on DirectML, and its function reads the value twice."""
    placement = specgate.place(make([dequantize(), node("HardSwish", ["y"], "a")], "a", opset=14), DML)
    assert [placed.operator for placed in placement] == ["DequantizeLinear", "HardSigmoid", "Mul"]
    assert duplicates_of(placement) == {}


@pytest.mark.parametrize(
    ("release", "expected"),
    [("1.16.3", {}), ("1.17.3", {"graph/dq": [("graph/dq/duplicated", "graph/call/Neg->t")]})],
)
def test_calls_are_inlined_before_duplication_in_models_with_functions(release, expected):
    body = [node("Relu", ["p"], "r"), helper.make_node("Neg", ["p"], ["t"]), node("Add", ["r", "t"], "q")]
    call = helper.make_node("Two", ["y"], ["a"], name="call", domain="local")
    calls = make([dequantize(), call], "a", opset=14, functions=[local_function(body)], domains=["local"])
    assert duplicates_of(specgate.place(calls, f"onnxruntime:{release}")) == expected


def test_nodes_of_functions_are_duplicated_under_the_call():
    body = [
        helper.make_node("Constant", [], ["fs"], value_float=0.5),
        helper.make_node("DequantizeLinear", ["p", "fs"], ["r"], name="own"),
        helper.make_node("Neg", ["r"], ["t"], name="neg"),
        helper.make_node("Add", ["r", "t"], ["q"], name="add"),
    ]
    call = helper.make_node("Two", ["x"], ["a"], name="call", domain="local")
    placement = specgate.place(make([call], "a", opset=14, functions=[local_function(body)], domains=["local"]), DML)
    assert duplicates_of(placement) == {"graph/call/own": [("graph/call/own/duplicated", "graph/call/add")]}
    assert [placed.function for placed in placement.every] == ["graph/call"] * 4


def test_memory_copies_read_the_duplicates():
    """Det is on the CPU, and its input is copied, not that of Relu."""
    nodes = [dequantize(source="k"), *relus("a"), helper.make_node("Det", ["y"], ["d"], name="det")]
    body = graph(nodes, [info("k", [2, 2], UINT8)], [info("a", [2, 2]), info("d", [])], constants())
    placement = specgate.place(model(body, opsets=[("", 13)]), DML)
    assert [(copy.value, copy.source, copy.to) for copy in placement.copies] == [("y/duplicated", "DirectML", "CPU")]


def test_a_model_without_such_nodes_is_the_same_model():
    source = graph_of(make([dequantize(), *relus("a")], "a"), LintSettings()).source
    options = duplicating("1.24")
    assert options is not None
    assert duplicate_nodes(source, options) == (source, {})
    assert duplicate_nodes(source, options)[0] is source
    assert duplicating("1.14") is None


def test_fixes_count_nodes_of_the_file():
    newer = make([dequantize(), *relus("a", "b")], "ab", opset=23)
    assert specgate.place(newer, DML).fixes == ["export at opset 22, which places 3 of 3 nodes on DirectML"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "m.onnx"
    onnx.save(make([dequantize(), *relus(*"abc")], "abc"), file)
    return str(file)


def print_all(capsys, *arguments):
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_output_shows_how_often_a_node_is_created(path, capsys):
    shown = print_all(capsys, "place", path, "-t", DML, "-v")
    assert shown.startswith("4 of 4 nodes on DirectML in 3 partitions; the session is created\n")
    assert "graph/dq (DequantizeLinear)  ELEMENT_WISE_DEQUANTIZE_LINEAR  created 3 times\n" in shown
    assert "graph/a (Relu)  ACTIVATION_RELU\n" in shown
    assert "the runtime duplicates DequantizeLinear nodes (2 more than in the file), one per consumer" in " ".join(
        shown.split()
    )
    assert "graph/dq (3 copies) (session.disable_quant_qdq turns that off)" in " ".join(shown.split())
    assert "(created 3 times)" in print_all(capsys, "place", path, "-t", DML, "--format", "html")
    assert "the runtime duplicates" not in print_all(capsys, "place", path, "-t", "onnxruntime-directml:1.14.1")


def test_json_lists_a_node_once_with_its_duplicates(path, capsys):
    document = json.loads(print_all(capsys, "place", path, "-t", DML, "--format", "json"))
    document = document[0] if isinstance(document, list) else document
    assert (document["counts"], len(document["nodes"])) == ({"DirectML": 4}, 4)
    first, second = document["nodes"][:2]
    assert (first["node"], first["times"], first["partition"]) == ("graph/dq", 3, 1)
    assert first["duplicates"][1] == {
        "node": "graph/dq/duplicated_token_1", "reader": "graph/c", "partition": 3, "creation": "created",
        "creation_why": "",
    }  # fmt: skip
    assert (second["times"], second["duplicates"]) == (1, [])


def test_a_duplicated_node_has_a_single_file_with_a_note(path, tmp_path, capsys):
    shown = print_all(capsys, "place", path, "-t", DML, "--descriptors", str(tmp_path / "made"))
    assert shown.splitlines()[-1].startswith("4 files written")
    texts = {file.name: file.read_text() for file in (tmp_path / "made").iterdir()}
    assert "// The runtime creates 3 copies of it, one per consumer.\n" in texts["graph_dq.json"]
    assert "times" not in texts["graph_a.json"]


def test_copies_without_attributes_have_a_separate_file_and_finding(tmp_path, capsys):
    file = tmp_path / "m.onnx"
    square = make([dequantize(axis=0), *relus("a", "b")], "ab", initializers=constants(2))
    onnx.save(square, file)
    release = "onnxruntime-directml:1.16.3"
    findings = specgate.lint(str(file), targets=[release]).findings
    failing = [
        (finding.id, finding.location.node)
        for finding in findings
        if finding.location and finding.id.endswith("session-fails")
    ]
    assert failing == [("onnxruntime/placement/session-fails", "graph/dq/duplicated")]
    assert main(["place", str(file), "-t", release]) == 1
    assert "graph/dq/duplicated (DequantizeLinear): a 1-D scale requires a valid axis" in " ".join(
        capsys.readouterr().out.split()
    )
    for item in square.graph.input[0].type.tensor_type.shape.dim:
        item.dim_value = 2
    for value in square.graph.output:
        for item in value.type.tensor_type.shape.dim:
            item.dim_value = 2
    onnx.save(square, file)
    print_all(capsys, "place", str(file), "-t", release, "--descriptors", str(tmp_path / "made"))
    names = sorted(item.name for item in (tmp_path / "made").iterdir())
    assert names == ["graph_a.json", "graph_b.json", "graph_dq.json", "graph_dq_duplicated.json"]


def test_the_lowest_level_includes_duplicates():
    same = make([dequantize(axis=0), *relus("a", "b")], "ab", initializers=constants(2))
    for value in (same.graph.input[0], *same.graph.output):
        for item in value.type.tensor_type.shape.dim:
            item.dim_value = 2
    nodes = [
        level_minimum(same, parse_target(f"onnxruntime-directml:{release}"), LintSettings()).nodes
        for release in ("1.14.1", "1.16.3", "1.17.3")
    ]
    assert nodes == [3, 4, 3]  # those that are alike are one


def test_a_campaign_counts_duplicates():
    placement = specgate.place(make([dequantize(), *relus(*"abc")], "abc"), DML)
    nodes = [("dq", "DequantizeLinear"), *((name, "Relu") for name in "abc")]
    nodes += [(f"dq/duplicated{end}", "DequantizeLinear") for end in ("", "_token_1")]
    operators = tuple(
        CreatedOperator(write_dict(descriptor), 0, at)
        for at, placed in enumerate(placement.every)
        for descriptor in placed.lowered or ()
    )
    answer = Answer("created", nodes=tuple(Placed(*texts, "DirectML") for texts in nodes), operators=operators)
    compared = compare(answer, placement, "DirectML")
    assert compared.mismatches == []
    assert (compared.same["node"], compared.same["descriptor"]) == (6, 6)
