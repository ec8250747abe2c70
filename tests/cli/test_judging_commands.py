"""check and lint from the command line: verdicts, formats, exit codes, processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from specgate.cli import main
from tests.paths import DATA, ROOT

ONNX = str(DATA / "models/embedding_torch.onnx")
IR = str(DATA / "models/onehot16_openvino.xml")
GOOD: dict[str, Any] = {
    "type": "DML_OPERATOR_ONE_HOT",
    "desc": {
        "IndicesTensor": {"DataType": "UINT32", "Sizes": [1, 1, 3, 1]},
        "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
        "Axis": 3,
    },
}
BAD: dict[str, Any] = {**GOOD, "desc": {**GOOD["desc"], "Axis": 4}}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Run in an empty directory, without this repository's configuration."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)


def flowing(text):
    """Undo the wrapping of lines."""
    return " ".join(text.split())


def write(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


def test_an_accepted_descriptor_exits_0(capsys, tmp_path):
    file = write(tmp_path / "good.json", GOOD)
    assert main(["check", file, "--target", "directml:4.1"]) == 0
    assert capsys.readouterr().out == "accepted   directml:4.1  ONE_HOT  good.json\n"


def test_rejected_descriptor_exits_1_with_reason_and_first_level(capsys, tmp_path):
    bad = {**GOOD, "desc": {**GOOD["desc"], "IndicesTensor": {"DataType": "INT64", "Sizes": [1, 1, 3, 1]}}}
    assert main(["check", write(tmp_path / "bad.json", bad), "-t", "directml:2.1"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("rejected   directml:2.1  ONE_HOT  bad.json\n")
    assert "directml/ONE_HOT/IndicesTensor.type" in text
    assert "accepted by 3.0..6.4" in flowing(text)
    assert "cast IndicesTensor to UINT32 (exact from 0 to 2**32 - 1) or use feature level 3.0" in " ".join(text.split())


def test_json_argument_is_checked_directly(capsys):
    assert main(["check", json.dumps(BAD), "-t", "directml:4.1"]) == 1
    message = "Axis must be less than the DimensionCount of IndicesTensor: Axis is 4 and IndicesTensor has rank 4."
    text = flowing(capsys.readouterr().out)
    assert message in text
    assert "rule: " not in text
    assert main(["check", json.dumps(BAD), "-t", "directml:4.1", "--verbose"]) == 1
    assert "rule: Axis < rank(IndicesTensor)" in capsys.readouterr().out


def test_each_target_has_a_verdict(capsys, tmp_path):
    file = write(tmp_path / "good.json", GOOD)
    assert main(["check", file, "-t", "directml:1.0", "-t", "directml:windows-10-2004"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "rejected   directml:1.0  ONE_HOT  good.json"
    assert lines[1] == "accepted   directml:windows-10-2004 (feature level 2.0)  ONE_HOT  good.json"


def test_without_a_target_the_newest_level_is_reported(capsys):
    assert main(["check", json.dumps(GOOD)]) == 0
    assert "no target given: checked against the newest, directml:6.4" in capsys.readouterr().out


def test_a_device_capability_is_a_note(capsys):
    wide = json.loads(json.dumps(GOOD).replace("FLOAT32", "FLOAT64"))
    assert main(["check", json.dumps(wide), "-t", "directml:4.1"]) == 0
    assert "requires a device with DoublePrecisionFloatShaderOps" in capsys.readouterr().out


def test_json_contains_the_same_verdicts(capsys, tmp_path):
    files = [write(tmp_path / "good.json", GOOD), write(tmp_path / "bad.json", BAD)]
    assert main(["check", *files, "-t", "directml:4.1", "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "specgate-check/1"
    assert [v["verdict"] for v in answer["verdicts"]] == ["accepted", "rejected"]
    assert [f["id"] for f in answer["findings"]] == ["directml/ONE_HOT/axis-range"]
    assert answer["findings"][0]["values"] == {"Axis": 4, "rank(IndicesTensor)": 4}


def test_an_undecided_descriptor_exits_0_and_names_the_dimension(capsys):
    open_ = json.loads(json.dumps(GOOD).replace("[1, 1, 3, 4]", '[1, 1, "N", 4]'))
    assert main(["check", json.dumps(open_), "-t", "directml:4.1"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("undecided")
    assert "dimension 2 of OutputTensor is N" in text


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["check", "missing.json", "-t", "directml:4.1"], "missing.json: cannot be read"),
        (["check", "{", "-t", "directml:4.1"], "not valid JSON"),
        (["check", "{}", "-t", "directml:4.1"], "expected a descriptor"),
        (["check", json.dumps(GOOD), "-t", "directml:4.2"], "unknown target 'directml:4.2'"),
        (["check", json.dumps(GOOD), "-t", "cuda:12"], "unknown dialect 'cuda'"),
        (["check", json.dumps(GOOD), "-t", "onnx:17"], "DirectML descriptor, but only ONNX targets were given"),
        (["check", json.dumps({**GOOD, "type": "DML_OPERATOR_NOPE"}), "-t", "directml:4.1"], "no table for 'NOPE'"),
        (["lint", "missing.onnx", "-t", "onnx:17"], "missing.onnx"),
        (["lint", ONNX], "no target"),
        (["lint", ".", "-t", "onnx:17"], "."),
    ],
)
def test_unusable_input_exits_2_with_one_message(capsys, argv, message):
    assert main(argv) == 2
    caught = capsys.readouterr()
    assert message in caught.err
    assert caught.err.startswith("specgate: ")
    assert "Traceback" not in caught.err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs on this system")
def test_special_files_are_rejected_without_waiting(capsys, tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    assert main(["check", "pipe.json", "-t", "directml:4.1"]) == 2
    assert "regular file" in capsys.readouterr().err
    assert main(["lint", "pipe.json", "-t", "directml:4.1"]) == 2


def test_lint_of_a_clean_model_counts_unknown_nodes(capsys, tmp_path):
    assert main(["lint", ONNX, "-t", "onnx:17"]) == 0
    assert "0 findings in 6 nodes" in capsys.readouterr().out
    assert main(["lint", str(DATA / "models"), "-t", "openvino:2024.0", "-t", "onnx:17"]) == 1
    capsys.readouterr()
    layers = [f'<layer id="{i}" type="{kind}" version="opset1"/>' for i, kind in enumerate(("One", "Two", "Two"))]
    model = tmp_path / "m.xml"
    model.write_text(f'<net version="11"><layers>{"".join(layers)}</layers></net>', encoding="utf-8")
    assert main(["lint", str(model), "-t", "openvino:2024.0"]) == 1  # no node was checked
    assert "operators without a table: Two (2), One (1)" in capsys.readouterr().out


def test_lint_finds_an_import_above_the_target(capsys):
    assert main(["lint", ONNX, "-t", "onnx:onnxruntime-1.10"]) == 1
    assert "uses opset 17, but the target supports up to 15" in capsys.readouterr().out


def test_lint_finds_an_unsupported_ir_version(capsys):
    assert main(["lint", ONNX, "-t", "onnx:1.9", "--format", "json"]) == 1
    result = json.loads(capsys.readouterr().out)["findings"]
    assert {f["id"] for f in result} == {"onnx/model/opset-import", "onnx/model/ir-version"}


def test_lint_of_a_layer_of_a_later_opset(capsys):
    assert main(["lint", IR, "-t", "openvino:2024.0", "--basis", "observed", "--format", "json"]) == 1
    result = json.loads(capsys.readouterr().out)["findings"]
    assert [f["id"] for f in result] == ["openvino/OneHot/version"]
    assert result[0]["location"]["line"] > 1
    assert result[0]["message"].startswith("written for opset16")
    assert (result[0]["first_level"], result[0]["levels"]) == (None, [])  # undecided there because of its sizes


def test_model_of_another_dialect_is_not_reported_as_clean(capsys):
    assert main(["lint", ONNX, "-t", "directml:5.0"]) == 1
    assert "it was not checked" in flowing(capsys.readouterr().out)


@pytest.mark.parametrize("chosen", ["text", "json", "sarif", "junit", "github", "html"])
def test_every_format_is_well_formed(capsys, chosen):
    assert main(["lint", IR, "-t", "openvino:opset13", "--format", chosen]) == 1
    text = capsys.readouterr().out
    if chosen in {"json", "sarif"}:
        json.loads(text)
    elif chosen == "junit":
        assert ET.fromstring(text).tag == "testsuites"
    elif chosen == "html":
        text = text.replace("<wbr>", "")
    assert "openvino/OneHot/version" in text


def test_output_file_is_written_completely(capsys, tmp_path):
    assert main(["lint", IR, "-t", "openvino:opset13", "--format", "sarif", "-o", "report.sarif"]) == 1
    assert capsys.readouterr().out == ""
    assert json.loads((tmp_path / "report.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
    assert main(["lint", IR, "-t", "openvino:opset13", "-o", "no/such/folder/x"]) == 2
    assert not list(tmp_path.glob("**/*.tmp"))


@pytest.mark.slow
def test_parallel_output_matches_a_single_process(capsys):
    folder = str(DATA / "models")
    argv = ["lint", folder, "-t", "onnx:17", "-t", "openvino:opset13", "--format", "json"]
    codes = [main([*argv, "--jobs", jobs]) for jobs in ("1", "3")]
    reports = capsys.readouterr().out.split("\n}\n")
    assert codes[0] == codes[1] == 1
    assert reports[0] == reports[1]


def test_unusable_file_does_not_hide_other_files(capsys, tmp_path):
    (tmp_path / "broken.onnx").write_bytes(b"\xff\xff\xff")
    assert main(["lint", "broken.onnx", ONNX, "-t", "onnx:15"]) == 2
    caught = capsys.readouterr()
    assert "uses opset 17" in caught.out
    assert "broken.onnx" in caught.err


def test_configuration_defines_targets_ignores_and_a_baseline(capsys, tmp_path):
    (tmp_path / "specgate.toml").write_text(
        'targets = ["onnx:onnxruntime-1.10"]\nbaseline = "baseline.json"\n', encoding="utf-8"
    )
    assert main(["lint", ONNX]) == 2
    assert "create it with --update-baseline" in capsys.readouterr().err
    assert main(["lint", ONNX, "--update-baseline"]) == 0
    assert main(["lint", ONNX]) == 0
    assert "1 ignored" in capsys.readouterr().out
    (tmp_path / "baseline.json").unlink()
    (tmp_path / "specgate.toml").write_text(
        'targets = ["onnx:onnxruntime-1.10"]\n[[ignore]]\nrule = "onnx/model/*"\n'
        'target = "onnx:onnxruntime-1.10"\nreason = "the runtime is updated in the next release"\n',
        encoding="utf-8",
    )
    assert main(["lint", ONNX]) == 0
    assert "1 ignored" in capsys.readouterr().out


def test_an_ignore_without_a_reason_is_unusable(capsys, tmp_path):
    (tmp_path / "specgate.toml").write_text(
        'targets = ["onnx:15"]\n[[ignore]]\nrule = "onnx/model/*"\n', encoding="utf-8"
    )
    assert main(["lint", ONNX]) == 2
    assert "ignore[0].reason" in capsys.readouterr().err


@pytest.mark.slow
def test_results_are_independent_of_the_hash_seed():
    command = [sys.executable, "-m", "specgate", "lint", "tests/data/models", "-t", "openvino:opset13", "-t", "onnx:12"]
    outputs = [
        subprocess.run(
            [*command, "--format", "json"], cwd=ROOT, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1] != b""


def test_closed_pipe_causes_no_traceback():
    command = f"{sys.executable} -m specgate targets | head -1"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.stderr == ""


@pytest.fixture
def dynamic(tmp_path):
    """A model with a OneHot whose batch and computed input are unknown."""
    onnx = pytest.importorskip("onnx")
    h, kinds = onnx.helper, onnx.TensorProto
    nodes = [
        h.make_node("Cast", ["x"], ["ids"], to=kinds.INT64),
        h.make_node("OneHot", ["ids", "depth", "values"], ["y"]),
        h.make_node("Odd", ["x"], ["z"], domain="com.acme"),
    ]
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("x", kinds.FLOAT, ["batch", 3])],
        [h.make_tensor_value_info("y", kinds.FLOAT, [8, 3, 4]), onnx.ValueInfoProto(name="z")],
        [h.make_tensor("depth", kinds.INT64, [], [4]), h.make_tensor("values", kinds.FLOAT, [2], [0, 1])],
    )
    imports = [h.make_opsetid("", 17), h.make_opsetid("com.acme", 1)]
    (tmp_path / "dynamic.onnx").write_bytes(h.make_model(graph, opset_imports=imports).SerializeToString())
    return "dynamic.onnx"


def test_lint_names_and_accepts_the_dimension_to_pin(capsys, tmp_path, dynamic):
    (tmp_path / "specgate.toml").write_text('custom_domains = ["com.acme"]', encoding="utf-8")
    assert main(["lint", dynamic, "-t", "onnx:17", "--verbose"]) == 0
    text = flowing(capsys.readouterr().out)
    assert "pin --pin batch=SIZE" in text
    assert "1 undecided" in text
    assert main(["lint", dynamic, "-t", "onnx:17", "--pin", "batch=8"]) == 0
    assert " 0 undecided" in flowing(capsys.readouterr().out)
    assert main(["lint", dynamic, "-t", "onnx:17", "--pin", "batch=9"]) == 1
    assert "onnx/OneHot/output-sizes" in capsys.readouterr().out


def test_lint_without_inference_leaves_more_undecided(capsys, tmp_path, dynamic):
    (tmp_path / "specgate.toml").write_text('custom_domains = ["com.acme"]', encoding="utf-8")
    assert main(["lint", dynamic, "-t", "onnx:17", "--pin", "batch=8", "--no-infer", "-v"]) == 0
    assert "indices has an unknown type" in flowing(capsys.readouterr().out)


def test_lint_reports_a_domain_missing_from_the_configuration(capsys, dynamic):
    assert main(["lint", dynamic, "-t", "onnx:17", "--format", "json"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["findings"]
    assert (result["id"], result["severity"]) == ("onnx/model/custom-domain", "warning")


@pytest.mark.parametrize("pin", ["batch", "batch=", "=8", "batch=-1", "batch=1.5", "batch=" + "9" * 30, "batch=²"])
def test_invalid_pin_is_rejected(capsys, dynamic, pin):
    assert main(["lint", dynamic, "-t", "onnx:17", f"--pin={pin}"]) == 2
    assert "expected --pin NAME=SIZE" in capsys.readouterr().err


def test_duplicate_pin_is_rejected(capsys, dynamic):
    assert main(["lint", dynamic, "-t", "onnx:17", "--pin", "a=1", "--pin", "a=2"]) == 2
    assert "expected one size for 'a', found 1 and 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "model", "options"),
    [
        ("check", "good.json", ["-t", "directml:4.1", "-o", "good.json"]),
        ("check", "good.json", ["-t", "directml:4.1", "-o", "link.json"]),
        ("check", "good.json", ["-t", "directml:4.1", "--format", "jsonl", "-o", "./good.json"]),
        ("lint", "good.json", ["-t", "directml:4.1", "-o", "good.json"]),
        ("lint", ".", ["-t", "directml:4.1", "--report", "json=good.json"]),
        ("lint", "good.json", ["-t", "directml:4.1", "-o", "specgate.toml"]),
        ("run", "good.json", ["--output", "OutputTensor=good.json"]),
        ("place", "model.onnx", ["-t", "onnxruntime:1.24.4", "-o", "model.onnx"]),
    ],
)
def test_output_never_overwrites_an_input(capsys, tmp_path, command, model, options):
    write(tmp_path / "good.json", GOOD)
    (tmp_path / "link.json").symlink_to("good.json")
    (tmp_path / "specgate.toml").write_text('severity = "note"\n', encoding="utf-8")
    (tmp_path / "model.onnx").write_bytes((DATA / "placement/head_opset22.onnx").read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    assert main([command, model, *options]) == 2
    assert "refusing to overwrite an input file" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("command", ["check", "lint"])
def test_json_is_recognised_in_a_file_of_any_name(capsys, tmp_path, command):
    file = tmp_path / "printed.txt"
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(BAD, indent=1).encode())
    assert main([command, str(file), "-t", "directml:4.1"]) == 1
    text = capsys.readouterr().out
    assert "directml/ONE_HOT/axis-range" in text
    assert "line " in text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.json: expected a descriptor or a list of them, found nothing"),
        (
            '{"type": "GEMM",\n\t"desc": {},\n\t"type": "GEMM"}',
            "bad.json: line 3: not valid JSON: duplicate key 'type' in",
        ),
        ('{"type": ' + "9" * 5000 + "}", "bad.json: not usable JSON: a number is too long"),
    ],
)
def test_invalid_json_is_reported_with_its_line(capsys, tmp_path, content, message):
    file = tmp_path / "bad.json"
    file.write_text(content, encoding="utf-8")
    assert main(["check", str(file), "-t", "directml:4.1"]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "minimum"])
def test_an_operator_without_a_table_is_reported_with_its_file(capsys, tmp_path, command):
    file = write(tmp_path / "typo.json", GOOD | {"type": "DML_OPERATOR_ONE_HOTT"})
    assert main([command, file]) == 2
    assert f"specgate: {file}: directml has no table for 'ONE_HOTT'; did you mean ONE_HOT?" in capsys.readouterr().err


def test_an_array_that_is_missing_is_reported_with_the_file(capsys, tmp_path):
    file = write(tmp_path / "good.json", GOOD)
    assert main(["run", file]) == 2
    assert f"specgate: {file}: no array for the input IndicesTensor" in capsys.readouterr().err


def test_check_gives_the_reason_an_operator_has_no_table(capsys, tmp_path):
    file = write(tmp_path / "typo.json", GOOD | {"type": "DML_OPERATOR_ONE_HOTT"})
    assert main(["check", file, "-t", "directml:4.1"]) == 0
    assert (
        "ONE_HOTT  typo.json; directml has no table for 'ONE_HOTT'; did you mean ONE_HOT?\n" in capsys.readouterr().out
    )


def test_check_names_the_dialect_without_a_target(capsys, tmp_path):
    good, node = write(tmp_path / "good.json", GOOD), write(tmp_path / "node.json", {"op_type": "Abs", "inputs": []})
    assert main(["check", good, "-t", "onnx:17"]) == 2
    message = capsys.readouterr().err
    assert f"{good}: DirectML descriptor, but only ONNX targets were given" in message
    assert main(["check", good, node, "-t", "directml:4.1"]) == 0
    assert "note: skipped the onnx descriptors: none of the targets is for onnx" in capsys.readouterr().err


def test_file_name_with_a_newline_is_reported_on_one_line(capsys, tmp_path):
    file = tmp_path / "two\nlines.json"
    file.write_text("{", encoding="utf-8")
    assert main(["check", str(file), "-t", "directml:4.1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_missing_or_unreadable_folder_is_reported(capsys, tmp_path, monkeypatch):
    file = write(tmp_path / "good.json", GOOD)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main(["check", file, "-t", "directml:4.1"]) == 2
    assert "cannot look for a configuration" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)

    def reject(*_):
        raise PermissionError(13, "Permission denied", "closed/folder")

    monkeypatch.setattr("specgate.cli.check.device_of", reject)
    assert main(["check", file, "-t", "directml:4.1"]) == 2
    assert capsys.readouterr().err == "specgate: closed/folder: cannot use the file: Permission denied\n"


@pytest.mark.parametrize("command", ["check", "lint"])
def test_wrong_configured_target_is_reported_with_its_file(capsys, tmp_path, command):
    file = write(tmp_path / "good.json", GOOD)
    (tmp_path / "specgate.toml").write_text('targets = ["directml:77"]\n', encoding="utf-8")
    assert main([command, file]) == 2
    assert "specgate: specgate.toml: targets: unknown target 'directml:77'" in capsys.readouterr().err
    assert main([command, file, "-t", "directml:77"]) == 2
    assert "specgate.toml" not in capsys.readouterr().err


def test_configuration_may_have_a_byte_order_mark(capsys, tmp_path):
    file = write(tmp_path / "good.json", GOOD)
    (tmp_path / "specgate.toml").write_text('targets = ["directml:4.1"]\n', encoding="utf-8-sig")
    assert main(["lint", file]) == 0
    assert "targets: directml:4.1" in capsys.readouterr().out


@pytest.mark.parametrize("option", ["--input", "--output"])
def test_run_rejects_duplicate_names(capsys, tmp_path, option):
    file = write(tmp_path / "good.json", GOOD)
    assert main(["run", file, option, "A=a.npy", option, "A=b.npy"]) == 2
    assert f"expected {option} 'A' once, found it twice" in capsys.readouterr().err
