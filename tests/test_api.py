"""The functions of `import specgate`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import specgate
from specgate.cli import main
from specgate.descriptors.core import TensorDesc
from specgate.lowest.text import ModelMinimum
from specgate.pytest_plugin import assert_supported
from specgate.targets import parse_target
from specgate.verdict import Location, NodeRef
from tests.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

DATA = ROOT / "tests" / "data" / "models"
MODEL = DATA / "embedding_torch.onnx"


def test_names() -> None:
    assert sorted(specgate.__all__) == specgate.__all__
    assert all(hasattr(specgate, name) for name in specgate.__all__)
    functions = {"check", "descriptor", "diff", "execute", "explain", "lint", "minimum", "operators", "rule", "support"}
    assert functions | {"targets"} <= set(specgate.__all__)
    assert all(callable(getattr(specgate, name)) for name in functions | {"targets"})
    assert isinstance(specgate.descriptor({"op_type": "Relu"}), specgate.Descriptor)
    assert specgate.TensorDesc is TensorDesc


def test_three_errors() -> None:
    assert {specgate.InputError.__base__, specgate.NoTable.__base__, specgate.NoKernel.__base__} == {specgate.Error}
    error = specgate.InputError("expected x", file="f.json", place="desc.Axis")
    assert (str(error), error.file, error.place, error.message) == (
        "f.json: desc.Axis: expected x",
        "f.json",
        "desc.Axis",
        "expected x",
    )
    assert str(specgate.InputError("expected x")) == "expected x"


def test_all_forms_of_a_descriptor_give_the_same_verdict(one_hot, tmp_path) -> None:
    path = tmp_path / "one_hot.json"
    path.write_text(json.dumps(one_hot), encoding="utf-8")
    read = specgate.descriptor(one_hot)
    assert specgate.descriptor(read) is read
    target = parse_target("directml:4.1")
    verdicts = [
        specgate.check(what, goal) for what in (one_hot, read, path, str(path)) for goal in ("directml:4.1", target)
    ]
    assert all(verdict == verdicts[0] for verdict in verdicts)
    assert verdicts[0].accepted is True


def test_checking_changes_nothing(one_hot) -> None:
    before = json.dumps(one_hot)
    specgate.check(one_hot, "directml:1.0")
    specgate.minimum(one_hot)
    assert json.dumps(one_hot) == before


def test_the_dialect_is_detected_from_the_keys(one_hot, onnx_one_hot, openvino_one_hot) -> None:
    texts = [specgate.descriptor(data).dialect for data in (one_hot, onnx_one_hot, openvino_one_hot)]
    assert texts == ["directml", "onnx", "openvino"]


def test_a_descriptor_of_another_dialect(one_hot) -> None:
    read = specgate.descriptor(one_hot)
    with pytest.raises(specgate.InputError, match="cannot check a directml descriptor for onnx:17"):
        specgate.check(read, "onnx:17")
    with pytest.raises(specgate.InputError, match="cannot execute a directml descriptor for onnx:17"):
        specgate.execute(read, {}, "onnx:17")


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (None, "expected a descriptor as a dict, Descriptor, path or onnx.NodeProto, found NoneType"),
    "a number": (3, "expected a descriptor as a dict, Descriptor, path or onnx.NodeProto, found int"),
    "a list": ([{}], "expected a descriptor as a dict, Descriptor, path or onnx.NodeProto, found list"),
    "an empty dict": ({}, 'expected a descriptor of DirectML ("type", "desc"), ONNX ("op_type") or OpenVINO ("type", "data"); found no keys'),
    "strange keys": ({"a": 1, 2: 3}, 'expected a descriptor of DirectML ("type", "desc"), ONNX ("op_type") or OpenVINO ("type", "data"); found the keys \'a\', 2'),
    "hostile keys": ({"\x1b[31m": 1, "x" * 9999: 3}, 'expected a descriptor of DirectML ("type", "desc"), ONNX'),
}  # fmt: skip


@pytest.mark.parametrize(("data", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_invalid_descriptors_are_rejected(data: Any, message: str) -> None:
    with pytest.raises(specgate.InputError) as caught:
        specgate.descriptor(data)
    assert str(caught.value).startswith(message)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_unknown_dialect(one_hot) -> None:
    with pytest.raises(specgate.InputError, match="unknown dialect 'tflite'; expected one of directml, onnx, openvino"):
        specgate.descriptor(one_hot, "tflite")


@pytest.mark.parametrize("name", ["directml", "onnx", "openvino"])
def test_no_table(name: str) -> None:
    data = {
        "directml": {"type": "NOPE", "desc": {}},
        "onnx": {"op_type": "Nope"},
        "openvino": {"type": "Nope", "data": {}},
    }[name]
    with pytest.raises(specgate.NoTable, match=f"^{name} has no table for '(NOPE|Nope)'$"):
        specgate.check(data, {"directml": "directml:4.1", "onnx": "onnx:17", "openvino": "openvino:opset13"}[name])


def test_a_missing_file(tmp_path) -> None:
    with pytest.raises(specgate.InputError, match=r"nothing\.json: cannot be read: No such file or directory"):
        specgate.check(tmp_path / "nothing.json", "directml:4.1")


def test_support() -> None:
    table = specgate.support("directml", "ONE_HOT")
    assert table["levels"][0] == "2.0"
    assert json.loads(json.dumps(table)) == table
    with pytest.raises(specgate.NoTable):
        specgate.support("directml", "NOPE")
    with pytest.raises(specgate.InputError):
        specgate.support("nope", "ONE_HOT")


def test_execute_finds_the_newest_level(one_hot) -> None:
    arrays = {"IndicesTensor": [[[[0], [3], [2]]]], "ValuesTensor": [[[[0, 1]]]]}
    output = specgate.execute(one_hot, arrays)["OutputTensor"]
    assert output.tolist() == [[[[1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]]]


@pytest.mark.parametrize("target", [3, None, ["onnx:17"], b"onnx:17"])
def test_a_target_of_another_type_is_an_input_error(onnx_one_hot, target) -> None:
    with pytest.raises(specgate.InputError, match="expected a target"):
        specgate.check(onnx_one_hot, target)


def test_only_an_accepted_verdict_is_true(one_hot) -> None:
    assert specgate.check(one_hot, "directml:4.1")
    rejected = {**one_hot, "desc": {**one_hot["desc"], "Axis": 9}}
    assert not specgate.check(rejected, "directml:4.1")
    tensor = {**one_hot["desc"]["OutputTensor"], "Sizes": ["N", *one_hot["desc"]["OutputTensor"]["Sizes"][1:]]}
    undecided = specgate.check({**one_hot, "desc": {**one_hot["desc"], "OutputTensor": tensor}}, "directml:4.1")
    assert undecided.accepted is None
    assert not undecided


def test_a_level_of_the_descriptor_dialect(one_hot, onnx_one_hot, openvino_one_hot) -> None:
    assert specgate.check(one_hot, "4.1").target == "directml:4.1"
    assert specgate.check(onnx_one_hot, "17").target == "onnx:17"
    assert specgate.check(openvino_one_hot, "17").target == "openvino:opset17"
    assert specgate.check(one_hot, "DML_FEATURE_LEVEL_4_1").target == "directml:4.1"
    with pytest.raises(specgate.InputError, match=r"unknown target 'directml:2024\.0'"):
        specgate.check(one_hot, "2024.0")


def test_a_string_is_a_single_target() -> None:
    model = str(MODEL)
    report = specgate.lint(model, "onnx:17")
    assert report.targets == ["onnx:17"]
    assert report.to_dict() == specgate.lint(model, ["onnx:17"]).to_dict()
    assert specgate.lint(model, parse_target("onnx:17")).targets == ["onnx:17"]
    assert assert_supported(model, "onnx:17").targets == ["onnx:17"]


def test_a_report_as_data_equals_the_command_output(capsys: pytest.CaptureFixture[str]) -> None:
    report = specgate.lint(str(MODEL), "onnx:15")
    assert main(["lint", str(MODEL), "--target", "onnx:15", "--format", "json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    assert report.to_dict() == printed
    assert [finding.to_dict() for finding in report.findings] == printed["findings"]
    assert [finding.location.to_dict() for finding in report.findings if finding.location] == [
        finding["location"] for finding in printed["findings"]
    ]


def test_a_verdict_as_data_equals_the_command_output(one_hot, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**one_hot, "desc": {**one_hot["desc"], "Axis": 9}}
    assert main(["check", json.dumps(wrong), "--target", "directml:4.1", "--format", "json"]) == 1
    printed = json.loads(capsys.readouterr().out)
    verdict = specgate.check(wrong, "directml:4.1").to_dict()
    assert printed["verdicts"] == [{"file": None, "node": None, **verdict}]
    assert [finding["id"] for finding in verdict["findings"]] == [finding["id"] for finding in printed["findings"]]


def test_a_node_as_data() -> None:
    node = NodeRef(Location("m.onnx", None, "graph/a", "Own"), "onnx:17", "no table")
    where = {"file": "m.onnx", "line": None, "node": "graph/a", "operator": "Own"}
    assert node.to_dict() == {"location": where, "target": "onnx:17", "reason": "no table"}


def test_differences_of_two_targets(capsys: pytest.CaptureFixture[str]) -> None:
    difference = specgate.diff("directml:6.3", "directml:6.4")
    assert {change.operator for change in difference.operators if change.kind == "added"} == {
        "FOLD",
        "RESAMPLE3",
        "UNFOLD",
    }
    assert main(["diff", "directml:6.3", "directml:6.4", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == difference.to_dict()
    with pytest.raises(specgate.InputError, match="expected two targets of one dialect"):
        specgate.diff("directml:6.3", "onnx:17")


@pytest.mark.parametrize("name", ["directml/ONE_HOT/axis-range", "onnx/model/cycle", "specgate/no-target"])
def test_a_rule_by_its_id(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    rule = specgate.rule(name)
    assert rule.id == name
    assert rule.says
    assert main(["rule", name, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == rule.to_dict()


def test_the_pair_of_a_rule_is_accepted_and_rejected() -> None:
    rule = specgate.rule("directml/ONE_HOT/axis-range")
    assert rule.accepted is not None
    assert rule.rejected is not None
    target = f"directml:{rule.rejected['at']}"
    assert specgate.check(dict(rule.accepted), target)
    assert specgate.check(rule.rejected["descriptor"], target).findings[0].id == rule.id


def test_a_rule_that_does_not_exist() -> None:
    with pytest.raises(specgate.InputError, match="unknown rule"):
        specgate.rule("directml/ONE_HOT/axis-rang")


def test_codes() -> None:
    assert [explanation.name for explanation in specgate.explain("80070057")] == ["E_INVALIDARG"]


def test_targets_by_name() -> None:
    assert specgate.targets("onnx:1.16") == [parse_target("onnx:1.16")]
    every = specgate.targets("directml")
    assert [target.level for target in every[:2]] == ["1.0", "2.0"]
    assert {target.dialect for target in every} == {"directml"}
    assert {target.dialect for target in specgate.targets()} == {"directml", "onnx", "openvino"}


def test_operators_of_a_target(capsys: pytest.CaptureFixture[str]) -> None:
    supports = specgate.operators("directml:2.0")
    one_hot = next(entry for entry in supports if entry.operator == "ONE_HOT")
    assert (one_hot.support, one_hot.first_level) == ("limited", "2.0")
    assert main(["support", "--target", "directml:2.0", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["operators"] == [entry.to_dict() for entry in supports]
    assert specgate.operators("onnx") == specgate.operators("onnx:latest")


@pytest.mark.parametrize(
    ("dialect", "name", "expected"),
    [
        ("directml", "dml_operator_gemm", "GEMM"), ("directml", "DML_OPERATOR_GEMM", "GEMM"), ("directml", "gemm", "GEMM"),
        ("onnx", "onehot", "OneHot"), ("onnx", "one_hot", "OneHot"), ("openvino", "ONEHOT", "OneHot"),
    ],
)  # fmt: skip
def test_spellings_of_an_operator(dialect: str, name: str, expected: str) -> None:
    assert specgate.support(dialect, name)["operator"] == expected


def test_the_lowest_opset_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    minimum = specgate.minimum(MODEL)
    assert isinstance(minimum, ModelMinimum)
    assert minimum
    assert minimum.level == str(minimum) == "9"
    assert main(["minimum", str(MODEL), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == minimum.to_dict(str(MODEL))


def test_the_lowest_opset_of_an_ir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A layer exists from its opset on, with or without a table."""
    text = (DATA / "classifier_openvino.xml").read_text(encoding="utf-8")
    assert text.count('version="opset1"') > 3
    path = tmp_path / "later.xml"
    path.write_text(text.replace('version="opset1"', 'version="opset4"', 1), encoding="utf-8")
    (tmp_path / "later.bin").write_bytes((DATA / "classifier_openvino.bin").read_bytes())
    minimum = specgate.minimum(path)
    assert (minimum.level, specgate.minimum(DATA / "classifier_openvino.xml").level) == ("4", "1")
    assert main(["minimum", str(path)]) == 0
    assert "openvino: lowest opset 4" in capsys.readouterr().out
    mixed = specgate.minimum(DATA / "onehot16_openvino.xml")
    assert isinstance(mixed, ModelMinimum)
    assert mixed.level == "16", "indices and depth of two types are what converters write and builds accept"
