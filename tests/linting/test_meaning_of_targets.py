"""Targets for whole models: checks at imports, missing features, coverage."""

from __future__ import annotations

import json
import textwrap
from datetime import date

import pytest

import specgate
from specgate.cli import main
from specgate.linting.baseline import apply_baseline, load_baseline, write_baseline
from specgate.linting.config import Ignore
from specgate.linting.ignores import apply_ignores
from specgate.targets import parse_target
from tests.linting.models import BOOL, INT64, branch, call, function, graph, helper, info, model, onnx, relu


def list_messages(report, *, target=None):
    """Return (id, severity) of every finding, for one target if given."""
    return [(f.id, f.severity) for f in report.findings if target is None or f.target == target]


def place(finding):
    """Return a finding's location: the path in the file and the line."""
    assert finding.location is not None
    return finding.location.node, finding.location.line


# Untyped outputs count.


def split(parts, *, opset, typed=("c",), sizes=(2, 2)):
    number = {"num_outputs": parts} if opset >= 18 else {}
    node = helper.make_node("Split", ["x"], ["a", "b", "c"], axis=1, **number)
    return model(graph([node], [info("x", (2, 6))], [info(name, sizes) for name in typed]), opsets=[("", opset)])


@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("infer", [True, False])
@pytest.mark.parametrize("typed", [("a",), ("c",), ("a", "c")])
def test_untyped_outputs_count_as_present(opset, infer, typed):
    onnx.checker.check_model(split(3, opset=opset, typed=typed))
    report = specgate.lint(split(3, opset=opset, typed=typed), [f"onnx:{opset}"], infer=infer)
    assert (report.findings, report.undecided, report.nodes) == ([], [], 1)


def test_the_number_of_outputs_is_checked_without_their_types():
    (finding,) = specgate.lint(split(4, opset=18, sizes=(2, 4)), ["onnx:18"], infer=False).findings
    assert finding.id == "onnx/Split/count-of-outputs"
    (finding,) = specgate.lint(split(3, opset=13, sizes=(2, 4)), ["onnx:13"], infer=False).findings
    assert finding.id == "onnx/Split/output-equal-parts"
    node = helper.make_node("Split", ["x"], ["a", "b", "c", "d"], axis=1)
    entries = {"x": info("x", (2, 6))}
    assert specgate.check((split(3, opset=13).graph.node[0], entries), "onnx:13").accepted
    assert specgate.check((node, entries), "onnx:13").accepted is False


def batch_normalization(*outputs):
    node = helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], outputs, training_mode=1)
    inputs = [info("x", (2, 3, 4)), *(info(name, (3,)) for name in "sbmv")]
    return model(graph([node], inputs, [info(outputs[0], (2, 3, 4)), info(outputs[-1], (3,))]), opsets=[("", 15)])


def test_an_output_without_a_type_is_not_omitted():
    assert specgate.lint(batch_normalization("y", "rm", "rv"), ["onnx:15"], infer=False).findings == []
    findings = specgate.lint(batch_normalization("y", "", "rv"), ["onnx:15"], infer=False).findings
    assert "onnx/BatchNormalization/outputs-together" in [f.id for f in findings]


# A node is checked at the opset that its model imports.


def upsample(opset=7):
    node = helper.make_node("Upsample", ["x"], ["y"], scales=[1.0, 1.0, 2.0, 2.0])
    return model(graph([node], [info("x", (1, 1, 2, 2))], [info("y", (1, 1, 4, 4))]), opsets=[("", opset)])


def trees(*versions):
    nodes = ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")
    whole = {f"nodes_{name}": [0] for name in nodes} | {f"target_{name}": [0] for name in ("ids", *nodes[:2])}
    more = {"nodes_modes": ["LEAF"], "nodes_values": [0.0], "target_weights": [1.0], "n_targets": 1}
    node = helper.make_node("TreeEnsembleRegressor", ["x"], ["y"], domain="ai.onnx.ml", **whole, **more)
    opsets = [("", 17), *(("ai.onnx.ml", version) for version in versions)]
    return model(graph([node], [info("x", (1, 1))], [info("y", (1, 1))]), opsets=opsets)


@pytest.mark.parametrize(
    ("onnx_model", "target", "operator"),
    [
        (upsample(), "onnx:17", "Upsample"),
        (trees(1), "onnx:21", "ai.onnx.ml.TreeEnsembleRegressor"),
        (trees(1), "onnx:28", "ai.onnx.ml.TreeEnsembleRegressor"),
    ],
)
def test_an_operator_deprecated_later_is_a_note(onnx_model, target, operator):
    report = specgate.lint(onnx_model, [target])
    assert list_messages(report) == [(f"onnx/{operator}/changed", "note")]
    assert "deprecated" in report.findings[0].message
    assert report.clean
    assert report.nodes == 1


def test_an_operator_missing_at_the_import_is_an_error():
    assert ("onnx/Upsample/level", "error") in list_messages(specgate.lint(upsample(10), ["onnx:17"]))


def test_a_domain_imported_twice_at_the_same_version_is_a_note():
    report = specgate.lint(trees(3, 3), ["onnx:17"])
    assert list_messages(report) == [("onnx/model/opset-duplicate", "note")]
    assert ("onnx/model/opset-duplicate", "error") in list_messages(specgate.lint(trees(3, 1), ["onnx:17"]))


def test_a_descriptor_with_an_opset_is_checked_at_that_opset():
    node = {"op_type": "Upsample", "inputs": [{"elem_type": "FLOAT", "shape": [2]}], "attributes": {"scales": [2.0]}}
    assert specgate.check({**node, "opset": 7}, "onnx:17").accepted
    assert specgate.check(node, "onnx:17").accepted is False


# Features that a target below the import lacks.


def newer(body=(), **more):
    norm = helper.make_node("LayerNormalization", ["x", "s"], ["a"], name="norm")
    pad = helper.make_node("Pad", ["a", "pads", "", "axes"], ["b"], name="pad")
    nodes = [norm, pad, relu("b", "c", name="relu"), *body]
    inputs = [info("x", (2, 3)), info("s", (3,)), *([info("c0", (), BOOL)] if body else [])]
    constants = [helper.make_tensor("pads", INT64, [2], [1, 1]), helper.make_tensor("axes", INT64, [1], [1])]
    return model(graph(nodes, inputs, [info("c", (2, 5))], constants), **{"opsets": [("", 18)], **more})


def test_a_newer_model_names_operators_the_target_lacks():
    report = specgate.lint(newer(), ["onnx:13"])
    whole, norm, pad = [f for f in report.findings if f.severity == "error"]
    assert whole.id == "onnx/model/opset-import"
    assert whole.message.endswith("supports up to 13; 1 of 3 nodes exists unchanged at 13")
    assert (norm.id, place(norm)[0], norm.first_level) == ("onnx/LayerNormalization/level", "graph/norm", "17")
    assert (pad.id, place(pad)[0], pad.first_level) == ("onnx/Pad/axes.exists", "graph/pad", "18")
    assert pad.message == "axes is an input of Pad from opset 18 on, not at opset 13"
    assert {f.target for f in (whole, norm, pad)} == {"onnx:13"}
    at_17 = [f.id for f in specgate.lint(newer(), ["onnx:17"]).findings if f.severity == "error"]
    assert at_17 == ["onnx/model/opset-import", "onnx/Pad/axes.exists"]
    assert not [f for f in specgate.lint(newer(), ["onnx:18"]).findings if f.severity == "error"]


def test_unsupported_operators_are_named_in_subgraphs_and_functions():
    inside = [
        graph([helper.make_node("Mish", ["x"], [f"m{at}"], name="mish")], (), (f"m{at}",), name=f"b{at}")
        for at in (0, 1)
    ]
    own = function([helper.make_node("Mish", ["a"], ["b"], name="own")], opsets=[("", 18)])
    onnx_model = newer(
        [branch(inside[0], inside[1], source="c0", target="z"), call(["x"], ["w"])],
        functions=[own],
        opsets=[("", 18), ("d", 1)],
    )
    findings = specgate.lint(onnx_model, ["onnx:17"], infer=False).findings
    places = [place(f)[0] for f in findings if f.id == "onnx/Mish/level"]
    assert sorted(places) == ["function d.F/own", "graph/if/else_branch/mish", "graph/if/then_branch/mish"]


def test_types_of_later_versions_are_named():
    node = helper.make_node("Relu", ["x"], ["y"], name="one")
    new_model = model(graph([node], [info("x", (2,), INT64)], [info("y", (2,), INT64)]), opsets=[("", 14)])
    findings = specgate.lint(new_model, ["onnx:13"]).findings
    assert [f.id for f in findings] == ["onnx/model/opset-import", "onnx/Relu/X.type", "onnx/Relu/Y.type"]


def test_attributes_at_their_defaults_are_not_named():
    shape = helper.make_tensor("s", INT64, [1], [4])

    def reshape(allowzero):
        node = helper.make_node("Reshape", ["x", "s"], ["y"], allowzero=allowzero)
        return model(graph([node], [info("x", (2, 2))], [info("y", (4,))], [shape]), opsets=[("", 14)])

    assert [f.id for f in specgate.lint(reshape(0), ["onnx:13"]).findings] == ["onnx/model/opset-import"]
    lacking = [f.id for f in specgate.lint(reshape(1), ["onnx:13"]).findings]
    assert lacking == ["onnx/model/opset-import", "onnx/Reshape/allowzero.exists"]


# Changes of a newer version to features that a node uses.


def opset_11_model(*nodes, outputs=("y",)):
    return model(
        graph(nodes, [info("x", (1, 3))], [helper.make_empty_tensor_value_info(o) for o in outputs]), opsets=[("", 11)]
    )


def test_used_changes_are_noted_once_per_version():
    nodes = [helper.make_node("Softmax", ["x"], [f"s{at}"]) for at in range(5)]
    nodes += [helper.make_node("Softmax", ["x"], ["t"], axis=1), helper.make_node("Squeeze", ["x"], ["q"], axes=[0])]
    nodes += [relu("q", "r"), helper.make_node("Add", ["r", "r"], ["y"])]
    report = specgate.lint(opset_11_model(*nodes), ["onnx:17"])
    softmax, squeeze = [f for f in report.findings if f.id.endswith("/changed")]
    assert (softmax.id, softmax.values["fields"]) == ("onnx/Softmax/changed", ["axis"])
    assert (squeeze.id, squeeze.values["nodes"]) == ("onnx/Squeeze/changed", 1)
    assert place(squeeze) == place(softmax) == ("model", None)
    assert not [f for f in specgate.lint(opset_11_model(relu("x", "y")), ["onnx:28"]).findings if "changed" in f.id]


# Files and targets without a check.


def test_a_target_without_checked_nodes_is_reported():
    report = specgate.lint(opset_11_model(relu("x", "y")), ["onnx:17", "openvino:2024.0"])
    assert list_messages(report) == [("specgate/target-idle", "warning")]
    assert report.findings[0].target == "openvino:2024.0"
    assert not report.clean
    alone = specgate.lint(opset_11_model(relu("x", "y")), ["openvino:2024.0"])
    assert list_messages(alone) == [("specgate/no-target", "warning")]


def test_a_file_without_checked_nodes_is_reported():
    malformed = helper.make_node("Odd", ["x"], ["y"], domain="com.acme")
    new_model = model(graph([malformed]), opsets=[("", 17), ("com.acme", 1)])
    report = specgate.lint(new_model, ["onnx:17"], custom_domains=["com.acme"])
    assert list_messages(report) == [("specgate/nothing-judged", "warning")]
    assert "com.acme.Odd" in report.findings[0].message
    mixed = model(graph([malformed, relu("x", "z")]), opsets=[("", 17), ("com.acme", 1)])
    assert specgate.lint(mixed, ["onnx:17"], custom_domains=["com.acme"]).clean


IR = """\
<net name="n" version="11"><layers>
<layer id="0" name="depth" type="{kind}" {version}><output><port id="0" precision="I64"/></output></layer>
</layers><edges/></net>
"""


def ir(kind="Parameter", version='version="opset1"'):
    return IR.format(kind=kind, version=version)


def lint_model(tmp_path, capsys, *arguments):
    code = main(["lint", str(tmp_path), "--no-infer", "--format", "json", *arguments])
    return code, json.loads(capsys.readouterr().out)["findings"]


def test_idle_targets_of_a_run_are_reported_once(tmp_path, capsys):
    for name in ("a", "b", "c"):
        onnx.save(opset_11_model(relu("x", "y")), str(tmp_path / f"{name}.onnx"))
    code, result = lint_model(tmp_path, capsys, "-t", "onnx:17", "-t", "openvino:2024.0", "-t", "directml:5.0")
    assert (code, [(f["id"], f["target"]) for f in result]) == (
        1,
        [("specgate/target-idle", "directml:5.0"), ("specgate/target-idle", "openvino:2024.0")],
    )
    (tmp_path / "specgate.toml").write_text('targets = ["onnx:17", "openvino:2024.0"]')
    code, result = lint_model(tmp_path, capsys, "--config", str(tmp_path / "specgate.toml"))
    assert (code, [(f["id"], f["severity"]) for f in result]) == (0, [("specgate/target-idle", "note")])
    (tmp_path / "m.xml").write_text(ir("Unheard"))
    code, result = lint_model(tmp_path, capsys, "-t", "onnx:17", "-t", "openvino:2024.0")
    assert [f["id"] for f in result] == ["specgate/nothing-judged", "openvino/model/unknown-type"]


# OpenVINO: the version of a layer needs no table.


@pytest.mark.parametrize(
    ("version", "target", "expected"),
    [
        ('version="opset13"', "openvino:opset1", ["written for opset13, but the target supports levels up to opset1"]),
        ('version="opset13"', "openvino:2024.0", []),
        ('version="opset99"', "openvino:opset13", ["has the version 'opset99'; expected opset1 to opset"]),
        ('version="opset0"', "openvino:opset13", ["has the version 'opset0'; expected opset1 to opset"]),
        ('version=""', "openvino:opset13", ["has no version; expected opset1 to opset"]),
        ("", "openvino:opset13", ["has no version; expected opset1 to opset"]),
        ('version="extension"', "openvino:opset13", []),
        ('version="experimental"', "openvino:opset13", []),
    ],
)
@pytest.mark.parametrize("kind", ["OneHot", "Convert"])
def test_the_version_of_a_layer_is_checked_without_a_table(tmp_path, kind, version, target, expected):
    file = tmp_path / "m.xml"
    file.write_text(ir(kind, version))
    result = [f for f in specgate.lint(str(file), [target]).findings if f.id == f"openvino/{kind}/version"]
    assert [f.severity for f in result] == ["error"] * len(expected)
    assert [f.message.startswith(text) for f, text in zip(result, expected, strict=True)] == [True] * len(expected)
    assert all(place(f)[1] == 2 for f in result)


# A runtime's own domains, and user-defined target names.


def contrib(domain="com.microsoft", operator="BiasDropout"):
    node = helper.make_node(operator, ["x"], ["z"], domain=domain)
    return model(graph([node, relu("x", "y")], outputs=("y", "z")), opsets=[("", 17), (domain, 1)])


def test_a_runtime_has_extra_domains():
    assert parse_target("onnx:onnxruntime-1.16").domains
    assert not parse_target("onnx:19").domains
    report = specgate.lint(contrib(), ["onnx:onnxruntime-1.16"])
    assert list_messages(report) == [("onnx/model/custom-domain", "note")]
    assert len(report.no_table) == 1
    both = specgate.lint(contrib(), ["onnx:onnxruntime-1.16", "onnx:17"])
    assert [(f.severity, f.target) for f in both.findings] == [("warning", "onnx:17")]
    assert list_messages(specgate.lint(contrib("com.acme"), ["onnx:onnxruntime-1.16"])) == [
        ("onnx/model/custom-domain", "warning")
    ]


def test_a_runtimes_operator_with_a_table_is_checked():
    for operator, words in (("Gelu", "it belongs to ONNX Runtime"), ("BiasDropout", "some of these have no table")):
        report = specgate.lint(contrib(operator=operator), ["onnx:17"])
        (finding,) = report.findings
        assert (finding.id, finding.severity) == ("onnx/model/custom-domain", "warning")
        assert words in finding.message
        assert (len(report.no_table), report.nodes) == ((0, 2) if operator == "Gelu" else (1, 1))
    broken = contrib(operator="Gelu")
    broken.graph.node[0].attribute.append(helper.make_attribute("alpha", 1.0))
    assert "onnx/com.microsoft.Gelu/unknown-attribute" in [f.id for f in specgate.lint(broken, ["onnx:17"]).findings]


@pytest.mark.parametrize("operator", ["LayerNormalization", "SimplifiedLayerNormalization"])
def test_a_runtime_operator_in_the_wrong_domain_is_unknown(operator):
    """ONNX Runtime 1.31.1 rejects it: com.microsoft:LayerNormalization is not a registered function/op."""
    node = helper.make_node(operator, ["x", "x"], ["z"], domain="com.microsoft")
    new_model = model(graph([node, relu("x", "y")], outputs=("y", "z")), opsets=[("", 17), ("com.microsoft", 1)])
    for target in ("onnx:17", "onnx:onnxruntime-1.16"):
        report = specgate.lint(new_model, [target])
        (finding,) = (f for f in report.findings if f.severity == "error")
        assert finding.id == "onnx/model/operator-unknown"
        assert f"ONNX Runtime defines {operator} in the domain ai.onnx" in finding.message
        assert (len(report.no_table), report.nodes) == (1, 1)


ALIASED = ("onnx:onnxruntime-1.10", "onnx:15")


def test_a_target_is_named_as_the_user_named_it():
    node = {"op_type": "Relu", "inputs": [{"elem_type": "STRING", "shape": [1]}]}
    for target in (*ALIASED, "onnx:1.10"):
        verdict = specgate.check(node, target)
        assert {verdict.target, *(f.target for f in verdict.findings)} == {target}
        accepted = specgate.check({**node, "inputs": [{"elem_type": "FLOAT", "shape": [1]}]}, target)
        assert (accepted.accepted, accepted.target) == (True, target)
        report = specgate.lint(newer(), [target])
        assert report.targets == [target]
        assert {f.target for f in report.findings if f.severity == "error"} == {target}
        assert {f.target for f in report.undecided} <= {target}
    tree = {"op_type": "Scaler", "domain": "ai.onnx.ml", "inputs": [{"elem_type": "STRING", "shape": [1]}]}
    assert {f.target for f in specgate.check(tree, "onnx:onnxruntime-1.10").findings} == {"onnx:onnxruntime-1.10"}


@pytest.mark.parametrize("chosen", ["text", "json", "sarif", "junit", "github", "html"])
def test_every_report_names_the_requested_release(tmp_path, capsys, chosen):
    onnx.save(newer(), str(tmp_path / "m.onnx"))
    assert main(["lint", str(tmp_path), "-t", "onnx:onnxruntime-1.10", "--no-infer", "--format", chosen]) == 1
    text = capsys.readouterr().out
    assert "onnx:onnxruntime-1.10" in text
    assert "onnx:15" not in text


@pytest.mark.parametrize(("written", "run"), [ALIASED, ALIASED[::-1]])
def test_baselines_and_ignores_match_either_spelling(tmp_path, written, run):
    onnx.save(newer(), str(tmp_path / "m.onnx"))
    path = tmp_path / "baseline.json"
    write_baseline(specgate.lint(str(tmp_path / "m.onnx"), [written], infer=False), path, tmp_path)
    report = specgate.lint(str(tmp_path / "m.onnx"), [run], infer=False)
    apply_baseline(report, load_baseline(path), tmp_path)
    assert report.findings == []
    text = path.read_text().replace('"onnx:15"', f'"{written}"')  # as other versions of specgate wrote it
    path.write_text(text)
    report = specgate.lint(str(tmp_path / "m.onnx"), [run], infer=False)
    apply_baseline(report, load_baseline(path), tmp_path)
    assert report.findings == []
    report = specgate.lint(str(tmp_path / "m.onnx"), [run], infer=False)
    ignore = Ignore(rule="onnx/*/*", reason="known", target=written)
    apply_ignores(report, [ignore], today=date(2026, 1, 1), root=tmp_path)
    assert report.findings == []
    assert report.ignored


def test_targets_in_a_configuration_may_be_spelt_either_way(tmp_path, capsys, monkeypatch):
    onnx.save(newer(), str(tmp_path / "m.onnx"))
    (tmp_path / "specgate.toml").write_text(
        textwrap.dedent("""\
        targets = ["onnx:onnxruntime-1.10"]
        [[ignore]]
        rule = "onnx/*/*"
        target = "onnx:15"
        reason = "known"
        """)
    )
    monkeypatch.chdir(tmp_path)
    code, result = lint_model(tmp_path, capsys)
    assert (code, result) == (0, [])
