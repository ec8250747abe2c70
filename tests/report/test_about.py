"""Descriptions of rule ids in SARIF's help and on the page."""

from __future__ import annotations

import re

import pytest

from specgate.cli import main
from specgate.report.rule_links import describe_rule
from specgate.spec.rulebook import file_rule
from tests.paths import ROOT


def test_a_table_rule_states_its_condition_and_levels() -> None:
    about = describe_rule("directml/ONE_HOT/axis-range")
    assert about.says == "Axis must be less than the DimensionCount of IndicesTensor"
    assert about.lines[0] == "2.0..6.4: Axis < rank(IndicesTensor)"
    assert about.lines[-1] == "specgate rule directml/ONE_HOT/axis-range prints a passing and a failing example"
    assert about.url is not None
    assert re.match(r"https://github.com/MicrosoftDocs/sdk-api/blob/[0-9a-f]{40}/", about.url)


def test_a_support_cell() -> None:
    about = describe_rule("onnx/OneHot/values.type")
    assert about.says == "the level's support row lists the type"
    assert about.lines[0].startswith("9..27: UINT8, ")
    assert not any(line.startswith("specgate rule") for line in about.lines)


@pytest.mark.parametrize("rule", ["", "x", "a/b", "onnx/Nope/x", "onnx/OneHot/nope", "x/y/z", "\x00/\ud800/{}"])
def test_an_unknown_id_is_described_as_a_specgate_check(rule: str) -> None:
    assert describe_rule(rule).says == f"a check of specgate, {rule}"


def test_every_linter_id_is_explained() -> None:
    files = [*(ROOT / "specgate/linting").glob("*.py"), *(ROOT / "specgate/dialects/onnx").rglob("*.py")]
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    names = set(re.findall(r"\bfinding\(\s*\"([a-z-]+)\"", text)) | set(re.findall(r"/model/([a-z-]+)\"", text))
    own = set(re.findall(r"\"specgate/([a-z-]+)\"", text))
    assert {"opset-import", "ir-version"} <= names
    assert {"no-target", "ignore-stale", "ignore-expired", "baseline-stale"} <= own
    assert [name for name in sorted(names) if file_rule(f"onnx/model/{name}") is None] == []
    assert [name for name in sorted(own) if file_rule(f"specgate/{name}") is None] == []


def test_the_rule_command_describes_linter_ids(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "onnx/model/opset-import"]) == 0
    message = "no imported opset is newer than the target's (error)"
    assert capsys.readouterr().out.startswith(f"onnx/model/opset-import\n  says     {message}\n  source: onnx/onnx: ")
    assert main(["rule", "specgate/ignore-stale", "--format", "json"]) == 0
    assert main(["rule", "onnx/OneHot/axis-range"]) == 0
    assert main(["rule", "onnx/model/nope"]) == 2
