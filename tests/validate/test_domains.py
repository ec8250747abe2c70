"""Operators of other domains are checked at their domain's version of the target."""

from __future__ import annotations

from typing import Any

import pytest

import specgate
from specgate.spec.tables import dialect
from specgate.spec.view import operators_at

INT64 = {"elem_type": "INT64", "shape": [3]}
TENSOR = {"elem_type": "INT64", "shape": [1], "value": [7]}


def encoder(**attributes: Any) -> dict[str, Any]:
    return {"op_type": "LabelEncoder", "domain": "ai.onnx.ml", "inputs": [INT64], "attributes": attributes}


def test_levels_are_versions_of_the_domain():
    spec = dialect("onnx").operator("ai.onnx.ml.LabelEncoder")
    assert str(spec.levels) == "1..5"
    assert [spec.level_for(level) for level in ("1", "11", "17", "20", "21", "28")] == ["1", "2", "3", "4", "5", "5"]
    assert dialect("onnx").operator("Add").level_for("17") == "17"
    assert dialect("onnx").levels[-1] == "28"


def test_a_target_implies_the_domains_version():
    node = encoder(keys_tensor=TENSOR, values_tensor=TENSOR)
    assert specgate.check(node, "onnx:20").accepted
    verdict = specgate.check(node, "onnx:17")
    assert (verdict.accepted, verdict.target) == (False, "onnx:17")
    assert {f.id for f in verdict.findings} == {
        "onnx/ai.onnx.ml.LabelEncoder/keys_tensor.exists",
        "onnx/ai.onnx.ml.LabelEncoder/values_tensor.exists",
        "onnx/ai.onnx.ml.LabelEncoder/one-list-of-keys",
        "onnx/ai.onnx.ml.LabelEncoder/one-list-of-values",
    }
    assert {(f.first_level, f.fix, f.target) for f in verdict.findings if f.id.endswith(".exists")} == {
        ("4", "use ai.onnx.ml version 4", "onnx:17")  # without these keys it would compute something else
    }
    assert specgate.minimum(node) == "20"


def test_a_release_without_the_domain():
    rate, count, tensor = (
        {"elem_type": kind, "shape": shape} for kind, shape in (("FLOAT", []), ("INT64", []), ("FLOAT", [3]))
    )
    node = {"op_type": "Adam", "domain": "ai.onnx.preview.training", "inputs": [rate, count, *[tensor] * 4]}
    verdict = specgate.check(node, "onnx:11", basis="documented")
    assert (verdict.accepted, verdict.target, verdict.basis) == (False, "onnx:11", "documented")
    assert verdict.operator == "ai.onnx.preview.training.Adam"
    (finding,) = verdict.findings
    assert (finding.id, finding.first_level) == ("onnx/ai.onnx.preview.training.Adam/level", "12")
    assert (finding.levels[-1], finding.fix) == (dialect("onnx").levels[-1], "use opset 12")
    assert "ai.onnx.preview.training exists from opset 12 on" in finding.message
    (finding,) = specgate.check({**node, "inputs": [INT64]}, "onnx:11").findings
    assert (finding.first_level, finding.levels, finding.fix) == (None, (), None)


def test_an_operator_removed_from_its_domain():
    spec = dialect("onnx").operator("ai.onnx.ml.TreeEnsembleRegressor")
    node = next(iter(spec.table.examples.values()))["descriptor"]
    assert specgate.check(node, "onnx:20").accepted
    (finding,) = specgate.check(node, "onnx:21").findings
    assert "was removed at 5" in finding.message


def test_operators_of_a_target():
    existing = {row["operator"]: row["support"] for row in operators_at(dialect("onnx"), "11")}
    assert existing["ai.onnx.ml.LabelEncoder"] == "limited"
    assert existing["ai.onnx.preview.training.Adam"] == "no"
    assert existing["Add"] == "limited"
    assert existing["LayerNormalization"] == "no"


@pytest.mark.parametrize(("version", "target", "expected"), [
    (3, "onnx:17", []),
    (5, "onnx:17", [
        "uses version 5 of ai.onnx.ml, but the target supports up to 3; its node exists unchanged at 3",
    ]),
    (5, "onnx:21", []),
])  # fmt: skip
def test_a_models_import_of_a_domain(version, target, expected):
    onnx = pytest.importorskip(
        "onnx", reason="A MODEL'S IMPORTS ARE NOT CHECKED: pip install onnx (it is in the test extra)"
    )
    helper = onnx.helper
    node = helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_int64s=[1], values_int64s=[2])
    x, y = (helper.make_tensor_value_info(name, onnx.TensorProto.INT64, [3]) for name in "xy")
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", version)]
    model = helper.make_model(helper.make_graph([node], "g", [x], [y]), opset_imports=imports, ir_version=8)
    report = specgate.lint(model, [target])
    assert [f.message for f in report.findings if f.severity == "error"] == expected
    assert (report.nodes, report.no_table, report.undecided) == (1, [], [])
