"""Opset imports, IR versions, domains and model-local functions of ONNX models."""

from __future__ import annotations

import pytest

import specgate
from specgate.dialects.onnx.lint.versions import level_of, newest_version
from specgate.spec.tables import dialect
from tests.linting.models import call, chain, find_ids, function, graph, helper, info, model, onnx, passes_checker, relu

BOTH = [("", 17), ("d", 1)]


def drop_field(onnx_model, field):
    onnx_model.ClearField(field)
    return onnx_model


def calling(*functions, opsets=BOTH, nodes=None):
    return model(graph(nodes or [call()]), functions=functions, opsets=opsets)


def function_with_reference(reference, **more):
    node = helper.make_node("LeakyRelu", ["a"], ["b"])
    node.attribute.add(name="alpha", ref_attr_name=reference, type=onnx.AttributeProto.FLOAT)
    return function([node], **more)


GOOD = function([relu("a", "b")])
OTHER = function([call(["a"], ["b"], "F")], name="G", opsets=BOTH)
# Models with our findings, and whether onnx.checker rejects them.
CASES = {
    "no IR version": (drop_field(chain("x", "y"), "ir_version"), [("ir-version", "error")], False),
    "no imports": (drop_field(chain("x", "y"), "opset_import"), [("opset-missing", "error")], False),
    "another domain alone": (
        model(graph([relu("x", "y")]), opsets=[("ai.onnx.ml", 2)]),
        [("opset-missing", "error"), ("opset-unused", "note")],
        False,
    ),
    "version 0": (model(graph([relu("x", "y")]), opsets=[("", 0)]), [("opset-version", "error")], False),
    "one import twice": (
        model(graph([relu("x", "y")]), opsets=[("", 17), ("ai.onnx", 17)]),
        [("opset-duplicate", "note")],
        True,
    ),
    "two versions": (
        model(graph([relu("x", "y")]), opsets=[("", 17), ("", 13)]),
        [("opset-duplicate", "error")],
        True,
    ),
    "ai.onnx by name": (model(graph([relu("x", "y")]), opsets=[("ai.onnx", 17)]), [], True),
    "custom domain": (
        model(graph([helper.make_node("Odd", ["x"], ["y"], domain="com.acme")]), opsets=[("", 17), ("com.acme", 1)]),
        [("custom-domain", "warning")],
        True,
    ),
    "a function": (calling(GOOD), [], True),
    "a function's domain is not imported": (calling(GOOD, opsets=[("", 17)]), [("opset-missing", "error")], False),
    "a function imports nothing": (
        calling(function([relu("a", "b")], opsets=[])),
        [("opset-missing", "error")],
        False,
    ),
    "two functions of one name": (calling(GOOD, GOOD), [("function-duplicate", "error")], False),
    "a function that is never called": (
        model(graph([relu("x", "y")]), functions=[GOOD], opsets=[("", 17), ("d", 1)]),
        [("opset-unused", "note"), ("function-unused", "note")],
        True,
    ),
    "functions that call each other": (
        calling(function([call(["a"], ["b"], "G")], opsets=BOTH), OTHER),
        [("function-recursion", "error")],
        False,
    ),
    "a function that calls itself": (
        calling(function([call(["a"], ["b"])], opsets=BOTH)),
        [("function-recursion", "error")],
        False,
    ),
    "a function calls another": (
        calling(GOOD, OTHER, nodes=[call(name="G")]),
        [],
        True,
    ),
    "too many inputs": (calling(GOOD, nodes=[call(["x", "x"])]), [("function-call", "error")], True),
    "too many outputs": (calling(GOOD, nodes=[call(["x"], ["y", "z"])]), [("function-call", "error")], True),
    "an attribute that it does not have": (calling(GOOD, nodes=[call(zzz=1)]), [("function-call", "warning")], True),
    "an attribute of the function": (
        calling(function_with_reference("slope", attributes=["slope"]), nodes=[call(slope=0.5)]),
        [],
        True,
    ),
    "a reference to nothing": (calling(function_with_reference("slope")), [("attribute-reference", "warning")], True),
}


@pytest.mark.parametrize("case", CASES)
def test_versions_and_functions(case):
    onnx_model, expected, accepted = CASES[case]
    assert find_ids(onnx_model) == expected
    assert passes_checker(onnx_model) is accepted


def test_known_custom_domain_is_counted_but_not_reported():
    onnx_model, _, _ = CASES["custom domain"]
    report = specgate.lint(onnx_model, ["onnx:17"], infer=False, custom_domains=["com.acme"])
    assert [f.id for f in report.findings] == ["specgate/nothing-judged"]
    assert [ref.location.operator for ref in report.no_table] == ["com.acme.Odd"]
    finding = specgate.lint(onnx_model, ["onnx:17"], infer=False).findings[0]
    assert "1 node (Odd) of the domain 'com.acme'" in finding.message
    assert "custom_domains" in (finding.fix or "")


def test_missing_opset_imports_mean_opset_1():
    onnx_model = drop_field(model(graph([helper.make_node("OneHot", ["x"], ["y"])]), ir=2), "opset_import")
    report = specgate.lint(onnx_model, ["onnx:17"], infer=False)
    assert [(f.id, f.levels) for f in report.findings] == [  # every version lacks two inputs
        ("onnx/OneHot/level", ()),
        ("onnx/OneHot/depth.required", ()),
        ("onnx/OneHot/values.required", ()),
        ("onnx/OneHot/output-rank", ()),
    ]
    assert report.findings[0].message == "OneHot does not exist at opset 1; it exists from 9 on"


def test_operator_without_an_import_is_counted_but_not_checked():
    onnx_model = drop_field(model(graph([helper.make_node("OneHot", ["x"], ["y"])])), "opset_import")
    report = specgate.lint(onnx_model, ["onnx:17"], infer=False)
    assert (report.nodes, [ref.reason for ref in report.no_table]) == (
        0,
        ["no opset of the domain 'ai.onnx' is imported"],
    )


def one_hot(reference=None, **attributes):
    node = helper.make_node("OneHot", ["a", "n", "v"], ["b"], **attributes)
    if reference is not None:
        node.attribute.add(name="axis", ref_attr_name=reference, type=onnx.AttributeProto.INT)
    return node


@pytest.mark.parametrize("node", [one_hot("where"), one_hot(axis=0)], ids=["reference", "value"])
def test_function_body_is_checked_with_known_types(node):
    new_function = function([node], ["a", "n", "v"], attributes=["where"])
    inputs = [info("x", [3]), info("n", [], onnx.TensorProto.INT64), info("v")]
    body = graph([call(["x", "n", "v"], ["y"])], inputs, [onnx.ValueInfoProto(name="y")])
    report = specgate.lint(model(body, functions=[new_function], opsets=BOTH), ["onnx:17"])
    assert report.findings == []
    assert [ref.location.node for ref in report.undecided] == ["function d.F/OneHot->b"]


def test_function_and_model_must_import_equal_operator_versions():
    new_function = function([one_hot()], ["a", "n", "v"], opsets=[("", 9)])
    inputs = [info("x", [3]), info("n", [], onnx.TensorProto.INT64), info("v")]
    whole = model(graph([call(["x", "n", "v"], ["y"])], inputs), functions=[new_function], opsets=[("", 17), ("d", 1)])
    (finding,) = specgate.lint(whole, ["onnx:17"], infer=False).findings[:1]
    assert (finding.id, finding.severity) == ("onnx/model/function-opset", "error")
    assert "imports version 9 of ai.onnx and the model 17, between which OneHot changed" in finding.message
    same = function([one_hot()], ["a", "n", "v"], opsets=[("", 13)])
    whole = model(graph([call(["x", "n", "v"], ["y"])], inputs), functions=[same], opsets=[("", 17), ("d", 1)])
    assert find_ids(whole) == []


def test_the_target_of_another_domain(monkeypatch):
    for cache in ("_domains", "_operators"):  # results for these levels must not outlive the test
        monkeypatch.setattr(dialect("onnx"), cache, {})
    levels = dialect("onnx").tables.levels
    newest = {level: 1 + (int(level) >= 12) + (int(level) >= 20) for level in levels}
    for level, info_ in levels.items():
        monkeypatch.setitem(levels, level, {**info_, "domains": {"ai.onnx.ml": str(newest[level])}})
    assert [level_of("ai.onnx.ml", version) for version in (0, 1, 2, 3, 4)] == [None, "1", "12", "20", None]
    assert newest_version("ai.onnx.ml", "13") == 2
    assert newest_version("com.acme", "13") is None
    node = helper.make_node("Scaler", ["x"], ["y"], domain="ai.onnx.ml", offset=[0.0], scale=[1.0])
    new_model = model(graph([node]), opsets=[("", 12), ("ai.onnx.ml", 3)])
    (finding,) = specgate.lint(new_model, ["onnx:13"], infer=False).findings
    assert (finding.id, finding.first_level) == ("onnx/model/opset-import", "20")
    assert finding.message == (
        "uses version 3 of ai.onnx.ml, but the target supports up to 2; its node exists unchanged at 2"
    )
    assert specgate.lint(new_model, ["onnx:20"], infer=False).findings == []


@pytest.mark.parametrize(
    ("sizes", "levels"),
    [
        ([2], tuple(map(str, range(17, 29)))),
        ([3], ()),  # rejected everywhere
        (["N"], ()),  # undecided
    ],
)
def test_too_new_import_lists_levels_that_accept_the_file(sizes, levels) -> None:
    new_model = model(graph([relu("x", "y")], [info("x", [2])], [info("y", sizes)]), opsets=[("", 17)])
    finding = next(f for f in specgate.lint(new_model, ["onnx:13"], infer=False).findings if f.where == "opset_import")
    assert (finding.levels, finding.first_level) == (levels, levels[0] if levels else None)
    accepting = [
        level
        for level in map(str, range(13, 29))
        if not (report := specgate.lint(new_model, [f"onnx:{level}"], infer=False)).undecided
        and all(result.severity != "error" for result in report.findings)
    ]
    assert tuple(accepting) == levels


def test_operator_missing_from_onnx():
    new_chain = chain("x", "y")
    assert find_ids(new_chain) == []
    new_chain.graph.node[0].op_type = "Rely"
    assert find_ids(new_chain) == [("operator-unknown", "error")]
    new_chain.graph.node[0].domain = "com.acme"
    new_chain.opset_import.append(helper.make_opsetid("com.acme", 1))
    assert find_ids(new_chain) == [("custom-domain", "warning")]


def test_unused_imports_are_a_single_note():
    imports = [("", 17), ("ai.onnx.ml", 3), ("com.acme", 1)]
    (note,) = specgate.lint(model(graph([relu("x", "y")]), opsets=imports), ["onnx:17"]).findings
    assert note.message == "imports opsets of 'ai.onnx.ml', 'com.acme', but has no operator of them"
    assert note.values == {"domains": ["ai.onnx.ml", "com.acme"]}


def test_domain_missing_from_the_target_matters_only_if_used():
    """ONNX Runtime writes imports of all its domains into models that it optimizes."""
    imports = [("", 21), ("ai.onnx.preview", 1)]
    unused = specgate.lint(model(graph([relu("x", "y")]), opsets=imports), ["onnx:21"]).findings
    assert [(f.id, f.severity) for f in unused] == [("onnx/model/opset-unused", "note")]
    node = helper.make_node("FlexAttention", ["x", "x", "x"], ["y"], domain="ai.onnx.preview")
    used = specgate.lint(model(graph([node]), opsets=imports), ["onnx:21"]).findings
    assert ("onnx/model/opset-import", "error") in {(f.id, f.severity) for f in used}
