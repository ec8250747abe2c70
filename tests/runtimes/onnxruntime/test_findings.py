"""Findings of lint if the target is a runtime."""

from __future__ import annotations

import json

import pytest

import specgate
from specgate.cli import main
from specgate.report import FORMATS, render
from specgate.report.selection import RenderOptions
from specgate.runtimes.onnxruntime.finding_rules import RULES
from tests.linting.models import INT64, graph, helper, info, model, onnx, relu

DML, CPU = "onnxruntime-directml:1.24.4", "onnxruntime:1.24.4"
FLOAT16 = onnx.TensorProto.FLOAT16


def node(operator, inputs, output, **more):
    return helper.make_node(operator, inputs, [output], name=output, **more)


def mix():
    """A model with a node per rule except `undecided` and `wrong-values`, at opset 22."""
    nodes = [
        node("Shape", ["x"], "s"),
        node("Gather", ["s", "zero"], "preferred"),
        node("Det", ["m"], "det"),
        node("Round", ["m"], "newer"),
        node("Sin", ["half"], "cast"),
        node("MatMul", ["a", "b"], "refused"),
        helper.make_node("Foo", ["m"], ["foo"], name="foo", domain="acme"),
    ]
    inputs = [
        info("x", [2, 3]), info("m", [3, 3]), info("half", [2], FLOAT16),
        info("a", [2, 2, 2, 2, 3]), info("b", [2, 2, 2, 3, 4]),
    ]  # fmt: skip
    outputs = [info(name, None) for name in ("det", "newer", "refused", "foo")]
    outputs += [info("preferred", [], INT64), info("cast", None, FLOAT16)]
    small = [helper.make_tensor("zero", INT64, [], [0])]
    return model(graph(nodes, inputs, outputs, small), opsets=[("", 22), ("acme", 1)], ir=10)


def found_in(onnx_model, target=DML, **more):
    report = specgate.lint(onnx_model, target, **more)
    return {
        (f.location.node, f.id.rpartition("/")[2], f.severity)
        for f in report.findings
        if f.location and "placement" in f.id
    }


def test_each_rule_has_a_finding_and_severity():
    assert found_in(mix()) == {
        ("graph/preferred", "preferred-cpu", "note"),
        ("graph/det", "on-cpu", "note"),
        ("graph/newer", "newer-than-registered", "note"),
        ("graph/cast", "cast", "note"),
        ("graph/refused", "session-fails", "error"),
        ("graph/foo", "no-kernel", "error"),
    }


def test_findings_name_target_values_and_the_fix():
    fixed = specgate.lint(model(graph([node("Round", ["x"], "y")]), opsets=[("", 22)], ir=10), DML)
    assert [f.fix for f in fixed.findings] == ["export at opset 21, which places 1 of 1 nodes on DirectML"]
    report = specgate.lint(mix(), DML)
    newer = next(f for f in report.findings if f.id == "onnxruntime/placement/newer-than-registered")
    assert (newer.target, newer.message) == (DML, "Round-22, but DirectML has version 11")
    assert newer.values == {"provider": "CPU", "version": 22}
    assert newer.location is not None
    assert newer.location.operator == "Round"


def test_the_cpu_target_has_no_provider_findings():
    assert found_in(mix(), CPU) == {("graph/cast", "cast", "note"), ("graph/foo", "no-kernel", "error")}


def test_unknown_producers_leave_placement_undecided():
    new_model = model(graph([helper.make_node("Foo", ["x"], ["a"], name="foo", domain="acme"), relu("a", "y", name="y")]),
                 opsets=[("", 17), ("acme", 1)])  # fmt: skip
    assert ("graph/y", "undecided", "note") in found_in(new_model)


def test_a_release_that_is_too_old_for_the_model():
    new_model = model(graph([relu("x", "y", name="y")]), opsets=[("", 17)], ir=9)
    assert found_in(new_model, "onnxruntime-directml:1.13.1") == set(), "a rule of the model says it"
    errors = [f.id for f in specgate.lint(new_model, ["onnxruntime-directml:1.13.1"]).findings if f.severity == "error"]
    assert errors == ["onnx/model/ir-version"]


def test_findings_of_lint_are_not_repeated_by_placement():
    new_model = model(graph([relu("x", "y", name="y", beta=1.0)]))
    assert found_in(new_model) == set()
    assert [f.id for f in specgate.lint(new_model, DML).findings] == ["onnx/Relu/unknown-attribute"]


def test_ignored_conflicts_are_not_placement_errors():
    twice = model(graph([relu("x", "y", name="y")]), opsets=[("", 13), ("", 6)], ir=9)
    assert {f.severity for f in specgate.lint(twice, CPU).findings} == {"warning"}
    assert not [note for note in specgate.place(twice, target=CPU).notes if "error" in note]


def test_other_targets_have_no_such_findings():
    assert found_in(mix(), "onnx:22") == found_in(mix(), "onnx:onnxruntime-1.24") == set()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_them(name):
    text = render(specgate.lint(mix(), DML), name, options=RenderOptions())
    assert "onnxruntime/placement/session-fails" in text


def test_every_rule_has_a_reference(capsys):
    for name, (severity, says, source) in RULES.items():
        assert main(["rule", f"onnxruntime/placement/{name}"]) == 0
        message = " ".join(capsys.readouterr().out.split())
        assert f"{says} ({severity})" in message
        assert source.get("path", "") in message
    assert main(["rule", "onnxruntime/placement/none"]) == 2


def write(folder, text):
    path = folder / "specgate.toml"
    path.write_text(text, encoding="utf-8")
    onnx.save(mix(), folder / "m.onnx")
    return ["lint", str(folder / "m.onnx"), "--config", str(path), "-t", DML, "--format", "json"]


def test_severities_are_configured(tmp_path, capsys):
    text = '[severities]\n"onnxruntime/placement" = "warning"\n"onnxruntime/placement/on-cpu" = "error"\n'
    assert main(write(tmp_path, text)) == 1
    report = json.loads(capsys.readouterr().out)
    entries = {f["id"].rpartition("/")[2]: f["severity"] for f in report["findings"] if "placement" in f["id"]}
    assert entries == {
        "preferred-cpu": "warning", "on-cpu": "error", "newer-than-registered": "warning", "cast": "warning",
        "session-fails": "warning", "no-kernel": "warning",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('severities = "error"', "severities: expected a table of severities by rule, found 'error'"),
        ('[severities]\n"onnxruntime/placement/on-cpu" = "grave"', "expected one of error, warning, note, found"),
        ('[severities]\n"onnxruntime/placement/on-gpu" = "error"', "severities: no rule id matches"),
    ],
)
def test_wrong_severities_are_rejected(tmp_path, capsys, text, message):
    assert main(write(tmp_path, text)) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_rules_are_selected_by_id_prefix(tmp_path, capsys):
    command = write(tmp_path, "")
    main([*command, "--select", "onnxruntime/placement/no-kernel"])
    assert [f["id"] for f in json.loads(capsys.readouterr().out)["findings"]] == ["onnxruntime/placement/no-kernel"]
    assert main([*command, "--select", "onnxruntime/placment"]) == 2
    assert "did you mean onnxruntime/placement?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mode", "pads", "wrong"),
    [
        ("constant", [0, -1, 0, 1], True),
        ("edge", [-1, 0, 0, 0], True),
        ("constant", [0, 0, 0, -1], False),
        ("reflect", [0, -1, 0, 0], False),
        ("constant", [0, 1, 0, 0], False),
    ],
)
def test_a_kernel_that_computes_wrong_values_is_a_warning(mode, pads, wrong):
    """DirectML 6.4's PADDING1 with negative start padding differs from ONNX."""
    pad = node("Pad", ["x", "p"], "y", mode=mode)
    for sizes in ([3, 4], ["n", 4]):
        ends = [info("x", sizes)], [info("y", None)], [helper.make_tensor("p", INT64, [4], pads)]
        new_model = model(graph([pad], *ends), opsets=[("", 13)])
        expected = {("graph/y", "wrong-values", "warning")} if wrong else set()
        assert found_in(new_model) == expected
        placement = specgate.place(new_model, DML)
        assert (placement.session, placement.usable) == ("created", True)
        assert any("computes wrong values" in note for note in placement.notes) == wrong
        assert found_in(new_model, CPU) == set()
