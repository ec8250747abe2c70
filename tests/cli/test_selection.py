"""--severity, --fail-on, --select, --ignore and --statistics of lint and check."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from specgate.cli import main
from specgate.linting.ignores import expect_rule
from specgate.report.selection import matches
from tests.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

AXIS = "directml/ONE_HOT/axis-range"
TYPE = "directml/ONE_HOT/IndicesTensor.type"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Models with an error at opset 15 and a note at 28, and two wrong descriptors."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "m.onnx").write_bytes((DATA / "models/embedding_torch.onnx").read_bytes())
    tensor: dict[str, Any] = {"DataType": "UINT32", "Sizes": [1, 1, 3, 1]}
    desc = {
        "IndicesTensor": tensor,
        "ValuesTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 1, 2]},
        "OutputTensor": {"DataType": "FLOAT32", "Sizes": [1, 1, 3, 4]},
        "Axis": 3,
    }
    wrong = {"axis": desc | {"Axis": 4}, "type": desc | {"IndicesTensor": tensor | {"DataType": "FLOAT32"}}}
    for name, item in wrong.items():
        text = json.dumps({"type": "DML_OPERATOR_ONE_HOT", "desc": item})
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


BOTH = ["axis.json", "type.json", "-t", "directml:4.1"]


def find_ids(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = main([*arguments, "--format", "json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return code, document


@pytest.mark.parametrize("command", ["lint", "check"])
@pytest.mark.parametrize(
    ("options", "ids", "code"),
    [
        ([], [AXIS, TYPE], 1),
        (["--select", AXIS], [AXIS], 1),
        (["--select", "directml/ONE_HOT/*.type"], [TYPE], 1),
        (["--select", f"{TYPE},{AXIS}"], [AXIS, TYPE], 1),
        (["--ignore", "directml/ONE_HOT"], [], 0),
        (["--ignore", AXIS, "--ignore", TYPE], [], 0),
        (["--select", "directml", "--ignore", TYPE], [AXIS], 1),
        (["--fail-on", "never"], [AXIS, TYPE], 0),
        (["--select", "onnx/*/changed"], [], 0),
    ],
)
def test_check_and_lint_select_the_same_rules(
    capsys: pytest.CaptureFixture[str], command: str, options: list[str], ids: list[str], code: int
) -> None:
    inputs, document = find_ids(capsys, command, *BOTH, *options)
    assert (inputs, [finding["id"] for finding in document["findings"]]) == (code, ids)
    assert document["counts"]["hidden"] == 2 - len(ids)


def test_severity_filters_and_fail_on_sets_the_exit_code(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    stale = '[[ignore]]\nrule = "onnx/OneHot/axis-range"\nreason = "as it was"\n'  # a note if no file is named
    (repository / "specgate.toml").write_text(stale, encoding="utf-8")
    note = ["lint", "m.onnx", "-t", "onnx:28"]
    code, document = find_ids(capsys, *note)
    notes = document["counts"]["notes"]
    assert (code, document["counts"]["findings"]) == (0, notes)
    assert notes > 0
    assert main([*note, "--fail-on", "note"]) == 1
    capsys.readouterr()
    assert main([*note, "--fail-on", "note", "--severity", "error"]) == 1
    hidden = f"{notes} finding{'s' if notes > 1 else ''} hidden (--severity, --select, --ignore)\n"
    text = capsys.readouterr().out
    assert hidden in text
    assert "ignore-stale" not in text
    assert main(["lint", *BOTH, "--fail-on", "error"]) == 1


@pytest.mark.parametrize("chosen", ["text", "json", "sarif", "junit", "github", "html"])
def test_every_format_has_only_selected_findings(capsys: pytest.CaptureFixture[str], chosen: str) -> None:
    assert main(["lint", *BOTH, "--format", chosen, "--select", TYPE]) == 1
    text = capsys.readouterr().out
    assert TYPE in text
    assert AXIS not in text


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("directml/ONE_HOT/axis-rang", "did you mean directml/ONE_HOT/axis-range?"),
        ("directml/ONE_HUT", "did you mean directml/ONE_HOT?"),
        ("directml/onehot", "did you mean directml/ONE_HOT?"),
        ("onnx/*/chnged", "did you mean onnx/*/changed?"),
        ("onnx/model/opset-imports", "did you mean onnx/model/opset-import?"),
        ("onx/OneHot", "did you mean onnx/OneHot?"),
        ("ONE_HOT", "did you mean directml/ONE_HOT?"),
        ("xyz", "ids begin with one of directml, onnx, openvino, onnxruntime, specgate"),
        ("directml//x", "expected an id such as"),
        ("", "expected an id such as"),
    ],
)
@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_unknown_rule_id_is_rejected(
    capsys: pytest.CaptureFixture[str], option: str, inputs: str, message: str
) -> None:
    assert main(["lint", *BOTH, option, inputs]) == 2
    output = capsys.readouterr().err
    assert output.startswith(f"specgate: {option}: no rule id matches '{inputs}'")
    assert message in output


def test_finding_ids_are_known_rule_ids(capsys: pytest.CaptureFixture[str]) -> None:
    ir = str(DATA / "models/onehot16_openvino.xml")
    ids = set()
    for file, target in (
        ("m.onnx", "onnx:15"),
        ("m.onnx", "onnx:28"),
        ("m.onnx", "directml:5.0"),
        (ir, "openvino:2024.0"),
    ):
        ids |= {finding["id"] for finding in find_ids(capsys, "lint", file, "-t", target)[1]["findings"]}
    assert len(ids) > 3
    for name in ids:
        expect_rule(name)


def test_pattern_matches_whole_segments() -> None:
    assert matches("directml/GEMM", "directml/GEMM/same-type")
    assert not matches("directml/GEMM", "directml/GEMM1/same-type")
    assert not matches("directml/*/level", "directml/GEMM")
    assert not matches("onnx/*", "directml/GEMM/level")


def test_statistics_count_findings_and_files_most_first(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    (repository / "more.json").write_bytes((repository / "type.json").read_bytes())
    assert main(["lint", ".", "-t", "directml:4.1", "--select", "directml", "--statistics"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "findings  files  severity  rule",
        f"       2      2  error     {TYPE}",
        f"       1      1  error     {AXIS}",
        "",
    ]
    _, document = find_ids(capsys, "lint", ".", "-t", "directml:4.1", "--select", "directml", "--statistics")
    assert document["statistics"][0] == {"id": TYPE, "severity": "error", "findings": 2, "files": 2}
    assert len(document["findings"]) == 3


def test_configuration_matches_the_options(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    settings = (
        'severity = "warning"\nfail_on = "never"\nselect = ["directml"]\nstatistics = true\n'
        f'ignore = ["{AXIS}", {{rule = "{TYPE}", path = "other.json", reason = "known"}}]\n'
    )
    (repository / "specgate.toml").write_text(settings, encoding="utf-8")
    for command in ("lint", "check"):
        code, document = find_ids(capsys, command, *BOTH)
        assert code == 0
        assert [finding["id"] for finding in document["findings"]] == [TYPE]
        assert document["statistics"][0]["findings"] == 1
        assert find_ids(capsys, command, *BOTH, "--fail-on", "error")[0] == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ('severity = "fatal"', "severity: expected one of error, warning, note, found 'fatal'"),
        ('fail_on = "all"', "fail_on: expected one of error, warning, note, never, found 'all'"),
        ('select = ["directml/GEM"]', "specgate.toml: select: no rule id matches 'directml/GEM'"),
        ('ignore = ["onnx/*/chnged"]', "did you mean onnx/*/changed?"),
        ("ignore = [3]", "ignore[0]: expected a table or a non-blank string, found an integer"),
        ("statistics = 1", "statistics: expected true or false, found an integer"),
    ],
)
def test_invalid_settings_are_named(
    capsys: pytest.CaptureFixture[str], repository: Path, settings: str, message: str
) -> None:
    (repository / "specgate.toml").write_text(settings + "\n", encoding="utf-8")
    assert main(["lint", *BOTH]) == 2
    assert message in capsys.readouterr().err
