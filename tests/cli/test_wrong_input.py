"""Messages about unusable input: the same in all commands, with advice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.cli import main
from tests.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

MODEL = (DATA / "models/embedding_torch.onnx").read_bytes()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("a.onnx", "a.bin"):
        (tmp_path / name).touch()
    (tmp_path / "model").write_bytes(MODEL)
    (tmp_path / "m.onnx").write_bytes(MODEL)
    (tmp_path / "graph.bin").write_bytes((DATA / "dml_graphs/fused.bin").read_bytes())
    (tmp_path / "checkpoint.pt").write_bytes(b"PK\x03\x04" + bytes(range(256)))
    (tmp_path / "keys.json").write_text("{}", encoding="utf-8")
    (tmp_path / "list.json").write_text("[]", encoding="utf-8")
    (tmp_path / "wide.json").write_text("{}", encoding="utf-16")
    (tmp_path / "wrong.json").write_text('{"type": "DML_OPERATOR_ONE_HOT", "desc": {"Axis": "x"}}', encoding="utf-8")
    (tmp_path / "empty").mkdir()
    return tmp_path


@pytest.mark.parametrize("command", [["check", "-t", "onnx:17"], ["lint", "-t", "onnx:17"], ["run"], ["minimum"]])
@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("missing.onnx", "missing.onnx: cannot be read: No such file or directory"),
        ("a.onnx", "a.onnx: expected a binary ONNX model, found nothing"),
        ("checkpoint.pt", "checkpoint.pt: byte 0: expected a binary ONNX model, found a ZIP archive: unpack it, or"),
        ("keys.json", 'or OpenVINO ("type", "data"); found no keys'),
        ("wide.json", "wide.json: expected UTF-8 text, found UTF-16"),
    ],
)
def test_commands_give_the_same_message_for_a_file(
    folder: Path, capsys, command: list[str], file: str, message: str
) -> None:
    assert main([*command, file]) == 2
    assert message in capsys.readouterr().err


def test_models_are_detected_by_content(folder: Path, capsys) -> None:
    assert main(["minimum", "model"]) == 0
    assert "lowest opset 9" in capsys.readouterr().out
    assert main(["run", "model"]) == 2
    assert "no array for the input 'ids'" in capsys.readouterr().err
    assert specgate.minimum("model").level == specgate.minimum("m.onnx").level
    with pytest.raises(specgate.InputError, match="no array for the input 'ids'"):
        specgate.execute("model", {})
    assert main(["run", "graph.bin"]) == 2
    assert "models of directml can be linted, but not executed" in capsys.readouterr().err


def test_model_on_standard_input_is_detected(folder: Path, capsys, monkeypatch) -> None:
    with (folder / "graph.bin").open(encoding="utf-8") as file:
        monkeypatch.setattr("sys.stdin", file)
        assert main(["run", "-"]) == 2
    assert capsys.readouterr().err == "specgate: <stdin>: models of directml can be linted, but not executed\n"


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["place", "wrong.json", "-t", "onnxruntime:1.24.4"], "wrong.json: only ONNX models can be placed"),
        (["minimum", "list.json"], "list.json: expected one descriptor, found none"),
        (["run", "m.onnx", "-i", "ids=keys.json"], "keys.json: cannot be read as .npy: it is not a .npy file"),
        (["--specs", "gone", "targets"], "gone: expected a folder laid out as specs/, found no such path"),
        (["--specs", "empty", "targets"], "empty: expected a folder laid out as specs/: DIALECT/operators/NAME.yaml"),
        (
            ["--kernels", "gone", "targets"],
            "gone: expected a Python file that calls register_kernel, found no such path",
        ),
        (["--kernels", "empty", "targets"], "empty: expected a Python file that calls register_kernel, found a folder"),
        (["spec", "schema", "operator", "--dialect", "onnx"], "--dialect applies only to `schema descriptor`"),
        (["conform", "onnx", "--seconds", "nan"], "expected --seconds above 0, found nan"),
        (["conform", "onnxruntime", "--seconds", "-1"], "expected --seconds above 0, found -1.0"),
        (["lint", "m.onnx", "-t", "onnx:17", "--max-per-rule", "-1"], "expected --max-per-rule 0 or more, found -1"),
        (["rule", "directml/ONE_HOT"], "expected a rule of ONE_HOT after a slash, one of same-rank, values-rank,"),
        (["minimum", "wrong.json", "--pin", "a=1"], "--pin applies to models only"),
        (["support", "nothing like it"], "no dialect has a table for 'nothing like it'"),
        (["support", "ONE_HOTT"], "did you mean directml/ONE_HOT or onnx/OneHot or openvino/OneHot?"),
        (["support", "Convv"], "did you mean onnx/Conv?"),
    ],
)
def test_rejected_input_is_reported(folder: Path, capsys, command: list[str], message: str) -> None:
    assert main(command) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_diff_without_changes_reports_remaining_findings(folder: Path, capsys) -> None:
    assert main(["lint", "m.onnx", "-t", "onnx:17", "--diff"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main(["lint", "m.onnx", "-t", "onnx:onnxruntime-1.6", "--select", "onnx/model/ir-version", "--diff"]) == 0
    assert capsys.readouterr() == ("", "specgate: would fix none of 1 finding\n")


def test_jsonl_output_contains_the_error(folder: Path, capsys) -> None:
    assert main(["check", "wide.json", "--format", "jsonl"]) == 2
    answer = json.loads(capsys.readouterr().out)
    assert answer["error"] == "expected UTF-8 text, found UTF-16"


@pytest.mark.parametrize("words", [["rule"], ["diff"], ["spec", "check"], ["oracle", "install"], ["check"]])
def test_help_describes_a_command_in_a_sentence(capsys, words: list[str]) -> None:
    with pytest.raises(SystemExit):
        main([*words, "--help"])
    about = capsys.readouterr().out.partition("\n\n")[2].partition("\n\n")[0]
    assert about[0].isupper()
    assert about.endswith(".")


@pytest.mark.parametrize(
    "command", [["lint", "m.onnx", "-t", "onnx:17"], ["conform", "onnx"], ["conform", "onnxruntime"]]
)
def test_unwritable_output_is_rejected_first(folder: Path, capsys, monkeypatch, command: list[str]) -> None:
    for name in (
        "specgate.conform.campaign.run",
        "specgate.runtimes.onnxruntime.conform.run.run",
        "specgate.cli.lint._collect_report",
    ):
        monkeypatch.setattr(name, None)  # what begins the work
    for output, message in (("empty", "expected a file, found a directory"), ("gone/x", "No such file or directory")):
        assert main([*command, "-o", output]) == 2
        assert capsys.readouterr().err == f"specgate: {output}: cannot be written: {message}\n"
