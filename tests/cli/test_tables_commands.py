"""The commands that show tables, as a user sees them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.cli import main

if TYPE_CHECKING:
    from pathlib import Path


def output(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert main(argv) == code
    return capsys.readouterr().out


def error(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(argv) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert "Traceback" not in caught.err
    return caught.err


def test_support_marks_the_row_of_the_target(capsys):
    text = output(capsys, "support", "ONE_HOT", "--target", "directml:windows-10-2004")
    assert "* 2.0 <- this target" in text
    assert "* 2.1" not in text
    assert "ns-directml-dml_one_hot_operator_desc" in text


def test_support_finds_an_operator_by_any_dialects_spelling(capsys):
    text = output(capsys, "support", "one_hot")
    assert text.count("levels ") == 3
    assert "negative_indices_mode" in text


def test_support_prints_rows_common_to_all_levels_once(capsys):
    text = output(capsys, "support", "directml/GEMM")
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("TransA           MATRIX_TRANSFORM: NONE TRANSPOSE") == 1
    assert "    FusedActivation  operator, optional\n" in text
    assert "fuses LINEAR SIGMOID" in text
    assert "ELEMENT_WISE_CLIP SOFTMAX SOFTMAX1\n" in text
    assert text.count("    same-type     type(ATensor) ==") == 1
    assert "type(CTensor) == type(OutputTensor)\n" in text
    assert "  unknowns\n" in text


def test_support_prints_differences_of_builds(capsys):
    text = output(capsys, "support", "directml/ONE_HOT")
    otherwise = text.partition("  differences of real builds\n")[2].partition("  sources\n")[0]
    assert "    2.1\n      support   IndicesTensor: INT64 INT32 UINT64 UINT32\n" in otherwise
    assert "      do not require  values-rank\n" in otherwise
    assert "5.1, contradicting the documentation" in otherwise
    text = output(capsys, "support", "onnx/OneHot")
    assert "require   indices-rank: rank(indices) >= 1" in text
    assert "axis-range          9..10: -1 <= axis <= rank(indices)" in text


def test_support_json_matches_the_text(capsys):
    data = json.loads(output(capsys, "support", "directml/ONE_HOT", "--format", "json"))
    assert data["attributes"]["Axis"]["type"] == "uint"
    assert data["observed"][0]["builds"] == "2.1"
    assert data["observed"][0]["support"] == {"IndicesTensor": {"types": ["INT64", "INT32", "UINT64", "UINT32"]}}
    assert data["observed"][1]["not_enforced"] == ["values-rank"]
    assert {"name": "axis-range", "levels": "2.0..6.4", "require": "Axis < rank(IndicesTensor)"}.items() <= next(
        rule for rule in data["rules"] if rule["name"] == "axis-range"
    ).items()
    gemm = json.loads(output(capsys, "support", "directml/GEMM", "--format", "json"))
    assert [rule["name"] for rule in gemm["rules"]].count("same-type") == 2


def test_support_writes_a_file(capsys, tmp_path):
    path = tmp_path / "table.txt"
    assert output(capsys, "support", "directml/GEMM", "-o", str(path)) == ""
    assert path.read_text(encoding="utf-8").startswith("directml GEMM: ")
    assert [file.name for file in tmp_path.iterdir()] == ["table.txt"]


def test_html_page_covers_a_whole_dialect(capsys):
    assert "remove the operator" in error(capsys, "support", "GEMM", "--format", "html")


def test_support_of_an_unknown_operator_suggests_similar_names(capsys):
    assert "did you mean ONE_HOT?" in error(capsys, "support", "ONE_HOTT", "--target", "directml:4.1")


def test_support_lists_a_targets_operators(capsys):
    text = output(capsys, "support", "--target", "directml:2.1")
    assert re.search(r"\n  ONE_HOT +limited  since 2.0; more from 3.0, 4.1\n", text)
    assert re.search(r"\n  ACTIVATION_GELU +no       from 5.1\n", text)
    listed = json.loads(output(capsys, "support", "--target", "directml:1.0", "--format", "json"))
    rows = {row["operator"]: row for row in listed["operators"]}
    assert rows["ONE_HOT"] == {
        "operator": "ONE_HOT",
        "support": "no",
        "first_level": "2.0",
        "rows": ["2.0", "2.1", "3.0", "4.1"],
        "changed": ["2.1", "3.0", "4.1"],
        "more_from": [],
    }
    kinds = [row["support"] for row in rows.values()]
    assert listed["counts"] == {kind: kinds.count(kind) for kind in ("yes", "limited", "no")}


def test_diff_matches_the_feature_level_history(capsys):
    text = output(capsys, "diff", "directml:2.1", "directml:3.0")
    _, new, changed = text.split("\n\n")
    assert new.startswith("new operators (")
    assert "ACTIVATION_CELU, ACTIVATION_RELU_GRAD," in new
    assert changed.startswith("changed operators (")
    assert "  GEMM" not in new
    assert "\n      IndicesTensor: types +INT64 +INT32 +UINT64; ranks 4 → 1 to 8\n" in changed
    assert "computes negative_indices: ignored → from_end" in changed
    assert max(map(len, text.splitlines())) <= 100
    restored = output(capsys, "diff", "directml:2.0", "directml:1.0")
    assert "ONE_HOT" in restored.split("\n\n")[-1]
    assert restored.split("\n\n")[-1].startswith("removed operators (")
    assert "0 of " in output(capsys, "diff", "directml:6.4", "directml:6.4")


def test_diff_groups_equal_changes(capsys):
    text = output(capsys, "diff", "directml:4.1", "directml:5.0")
    assert "  DEPTH_TO_SPACE, DEPTH_TO_SPACE1, PADDING, SPACE_TO_DEPTH, SPACE_TO_DEPTH1\n" in text
    assert "\n      InputTensor, OutputTensor: types +FLOAT64 +INT64 +UINT64\n" in text
    document = json.loads(output(capsys, "diff", "directml:4.1", "directml:5.0", "--format", "json"))
    assert {"operator": "ROI_ALIGN", "change": "changed", "details": ["BatchIndicesTensor: types +UINT64"]} in document[
        "changes"
    ]


def test_diff_rejects_two_dialects(capsys):
    assert "two targets of one dialect" in error(capsys, "diff", "directml:2.1", "onnx:9")


def test_minimum_names_the_blocker_of_each_lower_level(capsys):
    node = {
        "op_type": "OneHot",
        "inputs": [{"elem_type": t, "shape": s} for t, s in (("INT64", [3]), ("INT64", []), ("FLOAT", [2]))],
        "attributes": {"axis": -2},
    }
    document = json.loads(output(capsys, "minimum", json.dumps(node), "--format", "json"))
    assert document["minimum"] == "11"
    assert {f["id"] for f in document["blockers"]["10"]} == {"onnx/OneHot/axis-range"}
    assert {f["id"] for f in document["blockers"]["8"]} == {"onnx/OneHot/level"}
    assert "lowest level opset 11; accepted by 11..28" in output(capsys, "minimum", json.dumps(node))


def test_minimum_groups_blockers_of_adjacent_levels(capsys):
    tensor = {"DataType": "FLOAT32", "Sizes": [2, 2]}
    desc = {"TransA": "NONE", "TransB": "NONE", "Alpha": 1.0, "Beta": 0.0}
    desc |= dict.fromkeys(("ATensor", "BTensor", "OutputTensor"), tensor)
    text = output(capsys, "minimum", json.dumps({"type": "DML_OPERATOR_GEMM", "desc": desc}))
    lines = text.splitlines()
    assert lines[0] == "directml GEMM: lowest level feature level 4.0; accepted by 4.0..6.4"
    assert lines[1] == "  1.0..3.1:"
    message = " ".join(line.strip() for line in lines[2:4])
    assert message == (
        "directml/GEMM/ATensor.rank: ATensor has rank 2, which is not supported at feature level 1.0..3.1 "
        "(supported: 4); accepted by "
        "4.0..6.4"
    )
    assert len(lines) == 8


def test_minimum_exits_1_when_no_level_accepts(capsys):
    node = {"op_type": "OneHot", "inputs": [{"elem_type": "STRING", "shape": [3]}]}
    assert "lowest level none" in output(capsys, "minimum", json.dumps(node), code=1)


@pytest.mark.parametrize("code", ["0x80070057", "-2147024809", "2147942487", "E_INVALIDARG", "e_invalidarg"])
def test_explain_accepts_every_spelling_of_a_code(capsys, code):
    assert main(["explain", "--", code]) == 0
    assert "0x80070057 E_INVALIDARG (DirectML)" in capsys.readouterr().out


@pytest.mark.parametrize("code", ["0x1", "nonsense", "9" * 5000, ""])
def test_explain_of_an_unknown_code_lists_known_codes(capsys, code):
    assert "0x80070057" in error(capsys, "explain", code)


def test_rule_prints_levels_source_and_a_failing_command(capsys):
    text = output(capsys, "rule", "directml/ONE_HOT/axis-range")
    assert "2.0..6.4  Axis < rank(IndicesTensor)" in text
    command = next(line for line in text.splitlines() if line.strip().startswith("specgate check"))
    payload = command.split("'")[1]
    assert main(["check", payload, "--target", "directml:6.4"]) == 1
    assert "directml/ONE_HOT/axis-range" in capsys.readouterr().out


@pytest.mark.slow
def test_every_rule_id_has_a_reference(capsys):
    from specgate.dialects import BUILT_IN
    from specgate.spec.tables import dialect

    for name in BUILT_IN:
        table = dialect(name)
        ids = [f"{name}/tensor/{form.name}" for form in table.tensor_rules]
        for operator in table.operators:
            spec = table.operator(operator)
            ids += [f"{name}/{operator}/{form.name}" for form in spec.rule_forms]
            ids += [f"{name}/{operator}/{field}.type" for field, info in spec.fields.items() if info.tensor]
            ids += [f"{name}/{operator}/level", f"{name}/{operator}/version"]
        for rule_id in ids:
            assert output(capsys, "rule", rule_id).startswith(rule_id)


def test_rule_of_an_unknown_id_lists_known_ids(capsys):
    assert "axis-range" in error(capsys, "rule", "directml/ONE_HOT/nope")
    assert "expected a rule id" in error(capsys, "rule", "nope")


@pytest.mark.parametrize(
    ("name", "resolved"),
    [
        ("directml:windows-10-2004", "Windows 10, version 2004 → DirectML 1.1.0 → directml:2.0"),
        ("directml:1.15.4", "directml:6.4"),
        ("onnx:onnxruntime-1.16", "onnx:19 (IR version 9)"),
        ("openvino:2024.0", "openvino:opset14"),
    ],
)
def test_targets_resolves_common_names(capsys, name, resolved):
    text = output(capsys, "targets", name)
    assert resolved in text
    assert "source: " in text


def test_targets_lists_levels_environments_and_sources(capsys):
    text = output(capsys, "targets", "directml")
    for shown in ("directml:1.0", "directml:6.4", "directml:windows-11-22h2", "sources of directml:", "Releases.md"):
        assert shown in text
    assert len(json.loads(output(capsys, "targets", "--format", "json"))["targets"]) > 100


@pytest.mark.parametrize(
    "kind", ["operator", "examples", "family", "dialect", "levels", "types", "environments", "tensor", "codes"]
)
def test_schemas_accept_the_shipped_files(capsys, kind):
    import jsonschema

    from specgate.spec.yamlio import load_yaml
    from tests.paths import SPECS

    schema = json.loads(output(capsys, "spec", "schema", kind))
    folders = {"operator": "operators", "examples": "examples", "family": "families"}
    files = sorted(SPECS.glob(f"*/{folders[kind]}/*.yaml" if kind in folders else f"*/{kind}.yaml"))
    assert files or kind in folders
    files = files[:: 1 + len(files) // 60]  # the models that generate the schemas read all of them
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    for file in files:
        validator.validate(load_yaml(file.read_text(encoding="utf-8"), file.name)[0])


@pytest.mark.slow
def test_schemas_of_families_and_cases(capsys):
    import jsonschema

    from specgate.spec.yamlio import load_yaml
    from tests.spec.conftest import FAMILY, MEMBER, REDUCE

    for kind, text in (("family", FAMILY), ("operator", MEMBER), ("operator", REDUCE)):
        schema = json.loads(output(capsys, "spec", "schema", kind))
        jsonschema.validate(load_yaml(text, kind)[0], schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(load_yaml(text + "mistake: 1\n", kind)[0], schema)


def one_hot_alone(folder: Path) -> Path:
    """Copy DirectML's tables with one operator only; return its file."""
    from tests.paths import SPECS, copy_tree

    copy_tree(SPECS / "directml", folder / "directml")
    for part in ("operators", "examples", "families"):
        for file in (folder / "directml" / part).glob("**/*.yaml"):
            if file.name != "ONE_HOT.yaml":
                file.unlink()
    return folder / "directml" / "operators" / "ONE_HOT.yaml"


@pytest.mark.slow
def test_spec_check_of_a_broken_folder_names_every_problem(capsys, tmp_path):
    from tests.paths import SPECS, copy_tree

    copy_tree(SPECS / "directml", tmp_path / "directml")
    file = tmp_path / "directml/operators/ONE_HOT.yaml"
    text = (
        file.read_text(encoding="utf-8")
        .replace("kind: attribute", "kind: atribute")
        .replace("ranks: 4,", "ranks: four,")
    )
    file.write_text(text, encoding="utf-8")
    message = error(capsys, "spec", "check", str(tmp_path))
    assert "ONE_HOT.yaml:11: fields.Axis.kind" in message
    assert message.count("expected a rank") == 3


def test_spec_check_reads_lowerings(capsys, tmp_path):
    from tests.paths import SPECS, copy_tree

    copy_tree(SPECS / "onnxruntime/lowering", tmp_path / "onnxruntime/lowering")
    assert "onnxruntime with 1" in output(capsys, "spec", "check", str(tmp_path))
    file = tmp_path / "onnxruntime/lowering/abs.yaml"
    file.write_text(file.read_text(encoding="utf-8").replace("InputTensor", "InTensor"), encoding="utf-8")
    assert "unknown field of " in error(capsys, "spec", "check", str(tmp_path))


def test_spec_check_runs_the_data_linters(capsys, tmp_path):
    file = one_hot_alone(tmp_path).parent.parent / "examples" / "ONE_HOT.yaml"
    text = file.read_text(encoding="utf-8").replace("  two-values: {of: example-1", "  two-values: {of: example-2")
    text = text.replace("desc.ValuesTensor.Sizes: [1, 1, 1, 1]", "desc.ValuesTensor.Sizes: [1, 1, 1, 3]")
    file.write_text(text, encoding="utf-8")
    assert main(["spec", "check", str(tmp_path)]) == 1
    assert (
        "directml/examples/ONE_HOT.yaml: examples-hold: counterexamples.two-values: expected" in capsys.readouterr().out
    )


def test_spec_check_checks_examples_with_tables_of_the_folder(capsys, tmp_path, one_hot):
    file = one_hot_alone(tmp_path)
    assert output(capsys, "spec", "check", str(tmp_path)) == "1 dialect, 1 operator, 0 problems\n"
    text = file.read_text(encoding="utf-8")
    assert text.count("types: [UINT32]}") == 1
    file.write_text(text.replace("types: [UINT32]}", "types: [UINT16]}"), encoding="utf-8")
    assert main(["spec", "check", str(tmp_path)]) == 1
    assert "examples.example-1 is rejected at 2.0: directml/ONE_HOT/IndicesTensor.type" in capsys.readouterr().out
    assert specgate.check(one_hot, "directml:2.0").accepted  # the tables in use do not change


@pytest.fixture
def cases(scratch) -> None:
    from tests.spec.conftest import REDUCE

    scratch(reduce=REDUCE)


@pytest.mark.usefixtures("cases")
def test_support_shows_a_table_for_each_case(capsys):
    text = output(capsys, "support", "REDUCE_SOME", "--target", "directml:2.0")
    first, second = text.split("\nwhere ")[1:]
    assert first.startswith("Function in (ARGMAX, ARGMIN)\n\n* 1.0..2.1 <- this target\n")
    assert "\n  3.0..6.4\n" in first
    assert second.startswith("Function == SUM\n\n* 2.0..6.4 <- this target\n")
    assert "OutputTensor  output  rank 4; UINT32" in first
    assert "OutputTensor  output  rank 4; FLOAT32" in second
    assert text.count("rank(InputTensor) == rank(OutputTensor)") == 1
    listed = json.loads(output(capsys, "support", "REDUCE_SOME", "--format", "json"))
    assert [(row["when"], row["since"]) for row in listed["rows"]] == [
        ("Function in (ARGMAX, ARGMIN)", "1.0"),
        ("Function in (ARGMAX, ARGMIN)", "3.0"),
        ("Function == SUM", "2.0"),
    ]
    listing = output(capsys, "support", "--target", "directml:2.0")
    assert re.search(r"\n  REDUCE_SOME +limited  since 1.0; more from 3.0\n", listing)


@pytest.mark.usefixtures("cases")
def test_diff_prints_cases(capsys):
    text = output(capsys, "diff", "directml:1.0", "directml:3.0")
    assert "      where Function == SUM: added\n" in text
    assert "      where Function in (ARGMAX, ARGMIN): InputTensor, OutputTensor: ranks 4 → 1 to 8\n" in text
    text = output(capsys, "diff", "directml:3.0", "directml:1.0")
    assert "      where Function == SUM: removed\n" in text
    assert "REDUCE_SOME" not in output(capsys, "diff", "directml:2.0", "directml:2.1")


@pytest.mark.usefixtures("cases")
def test_rule_prints_cases(capsys):
    text = output(capsys, "rule", "directml/REDUCE_SOME/OutputTensor.type")
    assert "1.0..6.4  UINT32 where Function in (ARGMAX, ARGMIN)" in text
    assert "2.0..6.4  FLOAT32 where Function == SUM" in text
    assert "a support row" in output(capsys, "rule", "directml/REDUCE_SOME/support-case")


@pytest.mark.usefixtures("cases")
def test_minimum_considers_cases(capsys):
    tensor = {"DataType": "FLOAT32", "Sizes": [1, 2, 3, 4]}
    result = {"type": "REDUCE_SOME", "desc": {"Function": "SUM", "InputTensor": tensor, "OutputTensor": tensor}}
    document = json.loads(output(capsys, "minimum", json.dumps(result), "--format", "json"))
    assert document["minimum"] == "2.0"
    assert [f["id"] for f in document["blockers"]["1.0"]] == ["directml/REDUCE_SOME/support-case"]


@pytest.mark.parametrize("name", ["dml_operator_gemm", "DML_OPERATOR_GEMM", "gemm", "DirectML/gemm"])
def test_support_accepts_every_spelling_of_an_operator(capsys, name):
    text = output(capsys, "support", name, "--target", "directml:5.0")
    assert text.startswith("directml GEMM")


def test_support_accepts_a_dialect_prefix(capsys):
    text = output(capsys, "support", "onnx/onehot", "--target", "17")
    assert text.startswith("onnx OneHot")


def test_bare_level_selects_the_only_matching_dialect(capsys):
    assert "ONE_HOT" in output(capsys, "support", "--target", "5.0")
    assert "did you mean onnx:17 or openvino:17?" in error(capsys, "support", "--target", "17")


def test_rule_output_labels_documented_and_observed_forms(capsys):
    lines = output(capsys, "rule", "directml/tensor/total-size").splitlines()
    forms = [line.split() for line in lines if "TotalTensorSizeInBytes >=" in line]
    assert [form[1] for form in forms][:2] == ["page", "builds"]
    assert "linux only" in output(capsys, "rule", "directml/GATHER/index-dimensions-axis")
    assert " page " not in output(capsys, "rule", "directml/ONE_HOT/axis-range")


def test_prose_common_to_every_level(capsys):
    """From opset 12 on Constant has eight attributes for its value; opset 11 named two."""
    says = output(capsys, "rule", "onnx/Constant/one-value").splitlines()[1]
    assert says == "  says     exactly one of value and sparse_value must be set"


@pytest.mark.parametrize(("opset", "listed"), [("onnx:17", "none"), ("onnx:1", "consumed_inputs")])
def test_an_unknown_attribute_lists_those_of_the_level(capsys, opset, listed):
    tensor = {"elem_type": "FLOAT", "shape": [2]}
    relu = {"op_type": "Relu", "inputs": [tensor], "outputs": [tensor], "attributes": {"foo": 1}}
    text = output(capsys, "check", json.dumps(relu), "--target", opset, "--format", "json", code=1)
    (result,) = json.loads(text)["findings"]
    assert f"(supported: {listed})" in result["message"]
