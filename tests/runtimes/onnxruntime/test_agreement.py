"""If lint has an error for a target, place says that the session fails, and why.

Both name the same node. Models that lint accepts for a runtime can be run.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import specgate
from specgate.cli import main
from specgate.generate.cases import cases_of
from specgate.runtimes.onnxruntime.conform.cases import graph_cases, levels, one_node
from specgate.spec.tables import dialect
from tests.linting.models import BOOL, call, function, graph, helper, info, model, onnx, relu, weights
from tests.paths import DATA
from tests.runtimes.onnxruntime.agreement import (
    contradiction,
    drawn_node,
    in_function,
    installed_session,
    not_computed,
    wrap_in_branches,
)

CPU, DML = "onnxruntime:1.24.4", "onnxruntime-directml:1.24.4"
NEWEST = 25
OPERATORS = sorted(dialect("onnx").tables.operators)


@pytest.mark.slow
@given(operator=st.sampled_from(OPERATORS), target=st.sampled_from([CPU, DML]), data=st.data())
def test_single_node_models(operator: str, target: str, data: st.DataObject) -> None:
    facts = [
        level for level in levels(operator, NEWEST) if level in {case.level for case in cases_of("onnx", operator)}
    ]
    if not facts:
        reject()
    level = data.draw(st.sampled_from(facts))
    onnx_model = drawn_node(data, operator, level)
    questions = one_node(onnx_model, level, NEWEST)
    if questions is None:
        reject()
    assert contradiction(questions[1], target) is None
    wrap: Any = data.draw(st.sampled_from([bytes, in_function, wrap_in_branches]))
    assert not_computed(wrap(questions[1]), target, onnx_model, level) is None


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), target=st.sampled_from([CPU, DML]))
def test_random_graphs(seed: int, target: str) -> None:
    for case in graph_cases(1, str(seed), NEWEST):
        assert contradiction(case.model, target) is None
        assert not_computed(case.model, target) is None


@pytest.mark.parametrize("target", [CPU, DML])
@pytest.mark.parametrize("path", sorted(DATA.rglob("*.onnx")), ids=lambda path: path.name)
def test_exported_models(path, target):
    assert contradiction(path.read_bytes(), target) is None
    assert not_computed(path.read_bytes(), target) is None


def constant(output, name, value=1.0):
    return helper.make_node("Constant", [], [output], name=name, value_float=value)


def of_domain(domain, operator="Relu", **more):
    return helper.make_node(operator, ["x"], ["y"], domain=domain, **more)


def branches(later, otherwise):
    return helper.make_node("If", ["c"], ["y"], name="if", then_branch=later, else_branch=otherwise)


def body(nodes, output="o", weights=()):
    return helper.make_graph(nodes, "body", [], [helper.make_empty_tensor_value_info(output)], weights)


def raw_and_typed(raw=b"0000"):
    return onnx.TensorProto(name="w", data_type=1, dims=[1], raw_data=raw, float_data=[1.0])


# Sessions of onnxruntime 1.20.1, 1.24.4, 1.31.1 and 1.32.0: created (and run), or not loaded.
FILES = {
    "a domain without an import": ("created", lambda: model(graph([of_domain("com.microsoft", "Gelu")]))),
    "ai.onnx without an import": ("created", lambda: model(graph([relu("x", "y")]), opsets=[("com.microsoft", 1)])),
    "ai.onnx.ml without an import": (
        "created", lambda: model(graph([of_domain("ai.onnx.ml", "Normalizer")], [info("x", [2, 2])])),
    ),
    "an unknown domain without an import": ("fails", lambda: model(graph([of_domain("acme", "Gelu")]))),
    "no import": ("fails", lambda: model(graph([relu("x", "y")]), opsets=[])),
    "no import, in an old file": ("fails", lambda: model(graph([relu("x", "y")]), opsets=[], ir=2)),
    "a function without an import": (
        "fails", lambda: model(graph([call()]), opsets=[("", 17), ("d", 1)], functions=[function([relu("a", "b")], opsets=[])]),
    ),
    "an import twice": ("created", lambda: model(graph([relu("x", "y")]), opsets=[("", 17), ("", 13)])),
    "the last import counts": (
        "fails", lambda: model(graph([helper.make_node("Clip", ["x", "w"], ["y"])], initializers=[helper.make_tensor("w", 1, [], [0.0])]), opsets=[("", 13), ("", 6)]),
    ),
    "Constants of one name": (
        "created", lambda: model(graph([constant("a", "k"), constant("b", "k", 2.0), helper.make_node("Add", ["a", "b"], ["t"]), helper.make_node("Add", ["x", "t"], ["y"])])),
    ),
    "a Constant and another node of one name": (
        "created", lambda: model(graph([constant("a", "k"), helper.make_node("Add", ["x", "a"], ["y"], name="k")])),
    ),
    "other nodes of one name": ("fails", lambda: model(graph([relu("x", "t", name="k"), relu("t", "y", name="k")]))),
    "other nodes of one name in a body": (
        "fails", lambda: model(graph([branches(body([relu("x", "t", name="k"), relu("t", "o", name="k")]), body([constant("o", "z")]))], ["x", info("c", [], BOOL)])),
    ),
    "Constants of one name in a body": (
        "created", lambda: model(graph([branches(body([constant("a", "k"), constant("b", "k"), helper.make_node("Add", ["a", "b"], ["o"])]), body([constant("o", "z")]))], [info("c", [], BOOL)], [info("y", [])])),
    ),
    "a value of two Constants": (
        "created", lambda: model(graph([constant("a", "k"), constant("a", "m"), helper.make_node("Add", ["x", "a"], ["y"])])),
    ),
    "a value of two Constants in a body": (
        "fails", lambda: model(graph([branches(body([constant("o", "k"), constant("o", "m")]), body([constant("o", "z")]))], [info("c", [], BOOL)], [info("y", [])])),
    ),
    "a value of a Constant and an initializer": (
        "created", lambda: model(graph([constant("a", "k"), helper.make_node("Add", ["x", "a"], ["y"])], initializers=[helper.make_tensor("a", 1, [], [3.0])])),
    ),
    "raw and typed data of an initializer": ("created", lambda: model(graph([relu("w", "y")], initializers=[raw_and_typed()]))),
    "raw and typed data of a Constant": (
        "created", lambda: model(graph([helper.make_node("Constant", [], ["w"], value=raw_and_typed()), relu("w", "y")])),
    ),
    "short raw and typed data": ("fails", lambda: model(graph([relu("w", "y")], initializers=[raw_and_typed(b"00")]))),
    "raw and typed data in a body": (
        "fails", lambda: model(graph([branches(body([relu("w", "o")], weights=[raw_and_typed()]), body([constant("o", "z")]))], [info("c", [], BOOL)], [info("y", None)])),
    ),
    "a value of a Constant and another node": (
        "fails", lambda: model(graph([constant("a", "k"), relu("x", "a"), helper.make_node("Add", ["x", "a"], ["y"])])),
    ),
    "the input of a body hides a value": (
        "created", lambda: model(graph([helper.make_node("Loop", ["n", "", "x"], ["y"], name="loop", body=helper.make_graph([relu("x", "z"), helper.make_node("Identity", ["t"], ["go"])], "body", [info("i", [], 7), info("t", [], BOOL), info("x")], [info("go", [], BOOL), info("z")]))], ["x", info("n", [], 7)])),
    ),
    "the operators of early releases": (
        "created", lambda: model(graph([helper.make_node("Crop", ["x"], ["y"], border=[1, 1, 1, 1])], [info("x", [1, 3, 4, 4])], [info("y", None)]), opsets=[("", 7)]),
    ),
    "an operator before ONNX has it": (
        "created", lambda: model(graph([helper.make_node("LayerNormalization", ["x", "w"], ["y"])], initializers=[weights("w")]), opsets=[("", 12)]),
    ),
    "an operator that ONNX lacks": (
        "created", lambda: model(graph([helper.make_node("SimplifiedLayerNormalization", ["x", "w"], ["y"])], initializers=[weights("w")])),
    ),
    "a withdrawn version": (
        "created", lambda: model(graph([helper.make_node("GroupNormalization", ["x", "w", "w"], ["y"], num_groups=2)], [info("x", [1, 4, 3])], [info("y", None)], [weights("w")]), opsets=[("", 18)]),
    ),
    "an operator that is gone": (
        "fails", lambda: model(graph([helper.make_node("Upsample", ["x", "w"], ["y"])], [info("x", [1, 1])], [info("y", None)], [weights("w")]), opsets=[("", 10)]),
    ),
    "an attribute twice": ("fails", lambda: duplicate_attribute(model(graph([helper.make_node("LeakyRelu", ["x"], ["y"], alpha=0.5)])))),
}  # fmt: skip


def duplicate_attribute(onnx_model):
    onnx_model.graph.node[0].attribute.append(onnx_model.graph.node[0].attribute[0])
    return onnx_model


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("target", [CPU, "onnxruntime:1.32.0", "onnxruntime-directml:1.20.1"])
def test_files_that_the_runtime_repairs_or_rejects(name, target):
    session, make = FILES[name]
    onnx_model = make()
    assert specgate.place(onnx_model, target).session == session
    assert contradiction(onnx_model.SerializeToString(), target) is None
    # Two Constants of one name are undefined: the runtime uses its last one, also for nodes between both.
    if name != "a value of two Constants":
        assert not_computed(onnx_model.SerializeToString(), target) is None


@pytest.mark.oracle
@pytest.mark.parametrize("name", FILES)
def test_the_installed_release_agrees(name):
    session, make = FILES[name]
    assert installed_session(make().SerializeToString()) == session


def test_duplicate_functions_are_rejected_from_1_31_on():
    twin = model(graph([call()]), opsets=[("", 17), ("d", 1)], functions=[function([relu("a", "b")])] * 2)
    assert specgate.place(twin, CPU).session == "created"
    assert specgate.place(twin, "onnxruntime:1.31.1").session == "fails"
    assert contradiction(twin.SerializeToString(), CPU) is contradiction(twin.SerializeToString(), "onnxruntime:1.31.1")


def test_additions_of_the_release_are_checked(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    onnx.save(FILES["a domain without an import"][1](), path)
    assert main(["lint", str(path), "-t", CPU, "--format", "json", "--fail-on", "error"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["nodes"] == 1
    assert [(f["id"], f["severity"]) for f in report["findings"] if f["severity"] != "note"] == [
        ("onnx/model/opset-missing", "warning")
    ]
    assert main(["lint", str(path), "-t", "onnx:17"]) == 1, "ONNX's page asks for the import"


def test_advice_names_only_existing_operators():
    onnx_model = FILES["an operator that ONNX lacks"][1]()
    report = specgate.lint(onnx_model, [CPU])
    assert {finding.id: finding.severity for finding in report.findings}["onnx/model/operator-unknown"] == "warning"
    message = " ".join(
        f"{finding.message} {finding.fix}" for finding in specgate.lint(onnx_model, ["onnx:17"]).findings
    )
    assert "com.microsoft.SimplifiedLayerNormalization" not in message


def test_a_withdrawn_version_is_not_checked_as_a_later_version():
    report = specgate.lint(FILES["a withdrawn version"][1](), [CPU])
    texts = [(finding.id, finding.severity) for finding in report.findings if finding.severity != "note"]
    assert texts == [("onnx/GroupNormalization/level", "warning")]
