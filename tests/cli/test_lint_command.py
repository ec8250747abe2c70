"""lint as CI runs it: exit codes, reports, baselines, expired ignores."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from specgate.cli import main
from tests.paths import DATA

MODEL = DATA / "models/embedding_torch.onnx"


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "m.onnx").write_bytes(MODEL.read_bytes())
    (tmp_path / "broken.onnx").write_bytes(b"\xff\xff\xff")
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_WORKSPACE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def configure(repository, text):
    (repository / "specgate.toml").write_text(text, encoding="utf-8")


IGNORE = '[[ignore]]\nrule = "onnx/model/*"\nreason = "the runtime is updated soon"\n'


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["m.onnx", "-t", "onnx:17"], 0),  # no findings, although nodes have no table
        (["m.onnx", "-t", "onnx:28"], 0),  # a note
        (["m.onnx", "-t", "onnx:15"], 1),  # an error
        (["m.onnx", "-t", "onnx:17", "-t", "onnx:15"], 1),  # at one of two targets
        (["m.onnx", "-t", "directml:5.0"], 1),  # a warning
        (["broken.onnx", "-t", "onnx:17"], 2),
        (["m.onnx", "broken.onnx", "-t", "onnx:15"], 2),  # the worst of both
        (["m.onnx"], 2),  # no target
        (["m.onnx", "-t", "onnx:17", "--report", "pdf=x"], 2),
        (["m.onnx", "-t", "onnx:17", "--report", "sarif"], 2),
        (["m.onnx", "-t", "onnx:17", "--report", "sarif="], 2),
        (["m.onnx", "-t", "onnx:17", "--report", "sarif=no/such/folder/x"], 2),
        (["m.onnx", "-t", "onnx:17", "--update-baseline"], 2),
        (["m.onnx", "-t", "onnx:17", "--baseline", "missing.json"], 2),
    ],
)
def test_exit_codes(arguments, code, capsys):
    assert main(["lint", *arguments]) == code
    assert (capsys.readouterr().err != "") == (code == 2)


def test_the_exit_code_is_the_same_in_every_format(capsys):
    for chosen in ("text", "json", "sarif", "junit", "github", "html"):
        for target, code in (("onnx:17", 0), ("onnx:15", 1)):
            assert main(["lint", "m.onnx", "-t", target, "--format", chosen]) == code, chosen


def test_one_run_writes_several_reports(repository, capsys):
    reports = ["--report", "sarif=out.sarif", "--report", "junit=out.xml", "--report", "html=out.html"]
    assert main(["lint", "m.onnx", "broken.onnx", "-t", "onnx:15", *reports, "--color", "always"]) == 2
    assert "\x1b[" in capsys.readouterr().out
    (run,) = json.loads((repository / "out.sarif").read_text(encoding="utf-8"))["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["onnx/model/opset-import"]
    assert run["invocations"][0]["executionSuccessful"] is False
    root = ET.parse(repository / "out.xml").getroot()
    assert (root.get("failures"), root.get("errors")) == ("1", "1")
    assert "broken.onnx" in (repository / "out.html").read_text(encoding="utf-8")


def test_text_in_a_file_has_no_colours(repository, capsys):
    main(["lint", "m.onnx", "-t", "onnx:15", "--report", "text=out.txt", "--color", "always"])
    assert "\x1b" not in (repository / "out.txt").read_text(encoding="utf-8")


def test_colours_only_on_a_terminal(monkeypatch, capsys):
    def shows_colours(*arguments):
        main(["lint", "m.onnx", "-t", "onnx:15", *arguments])
        return "\x1b[" in capsys.readouterr().out

    assert not shows_colours()
    monkeypatch.setattr("specgate.cli.shutdown._Output.isatty", lambda _: True)
    monkeypatch.setenv("TERM", "xterm")
    assert shows_colours()
    assert not shows_colours("--color", "never")
    monkeypatch.setenv("NO_COLOR", "1")
    assert not shows_colours()
    assert shows_colours("--color", "always")


def test_baseline_lifecycle(repository, capsys):
    lint = ["lint", "m.onnx", "--baseline", "b.json"]
    assert main([*lint, "-t", "onnx:15", "--update-baseline"]) == 0
    assert main([*lint, "-t", "onnx:15"]) == 0
    assert "1 ignored" in capsys.readouterr().out
    assert main([*lint, "-t", "onnx:15", "-t", "onnx:14"]) == 1  # a finding for another target is a separate finding
    assert main([*lint, "-t", "onnx:14", "--update-baseline"]) == 0  # entries for opset 15 stay
    assert main([*lint, "-t", "onnx:15", "-t", "onnx:14"]) == 0
    (repository / "m.onnx").write_bytes(b"")
    assert main([*lint, "-t", "onnx:15"]) == 2
    capsys.readouterr()
    assert (
        main(["lint", str(DATA / "models/onehot16_openvino.xml"), "-t", "openvino:opset16", "--baseline", "b.json"]) < 2
    )
    assert "baseline-stale" not in capsys.readouterr().out  # entries of other files stay


def test_resolved_baseline_finding_is_noted(repository, capsys):
    lint = ["lint", "m.onnx", "-t", "onnx:15", "--baseline", "b.json"]
    main([*lint, "--update-baseline"])
    baseline = json.loads((repository / "b.json").read_text(encoding="utf-8"))
    baseline["findings"]["m.onnx"][0]["node"] = "graph/repaired"
    (repository / "b.json").write_text(json.dumps(baseline), encoding="utf-8")
    capsys.readouterr()
    assert main([*lint, "--format", "json"]) == 1
    result = json.loads(capsys.readouterr().out)["findings"]
    assert {finding["id"]: finding["severity"] for finding in result} == {
        "specgate/baseline-stale": "note",
        "onnx/model/opset-import": "error",
    }


def test_unusable_file_keeps_its_baseline_entries(repository, capsys):
    lint = ["lint", "m.onnx", "-t", "onnx:15", "--baseline", "b.json", "--update-baseline"]
    assert main(lint) == 0
    before = (repository / "b.json").read_bytes()
    (repository / "m.onnx").write_bytes(b"\xff\xff")
    assert main(lint) == 2
    assert (repository / "b.json").read_bytes() == before


@pytest.mark.parametrize(
    ("until", "code", "ids"),
    [
        ("", 0, []),
        ("until = 2999-12-31\n", 0, []),
        ("until = 2020-01-31\n", 1, ["onnx/model/opset-import", "specgate/ignore-expired"]),
    ],
)
def test_ignores_apply_until_their_date(repository, capsys, until, code, ids):
    configure(repository, f'targets = ["onnx:15"]\n{IGNORE}{until}')
    assert main(["lint", "m.onnx", "--format", "json"]) == code
    report = json.loads(capsys.readouterr().out)
    assert sorted(finding["id"] for finding in report["findings"]) == ids
    assert [finding["ignored"] for finding in report["ignored"]] == ["the runtime is updated soon"] * (code == 0)


def test_unmatched_ignore_is_a_finding(repository, capsys):
    configure(repository, f'targets = ["onnx:17"]\n{IGNORE}path = "m.onnx"\n')
    assert main(["lint", "m.onnx", "--format", "json"]) == 1
    (result,) = json.loads(capsys.readouterr().out)["findings"]
    assert (result["id"], result["severity"]) == ("specgate/ignore-stale", "warning")


def test_named_files_that_are_not_models_are_skipped_on_request(repository, capsys):
    (repository / "package.json").write_text("{}", encoding="utf-8")
    assert main(["lint", "package.json", "m.onnx", "-t", "onnx:17"]) == 2
    assert main(["lint", "--only-models", "package.json", "m.onnx", "-t", "onnx:17"]) == 0
    assert main(["lint", "--only-models", "package.json", "-t", "onnx:17"]) == 0
    assert main(["lint", "--only-models", "missing.json", "-t", "onnx:17"]) == 2
