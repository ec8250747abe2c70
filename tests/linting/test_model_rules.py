"""Every finding on a whole model has a reference, and vice versa."""

from __future__ import annotations

import re

import pytest

import specgate
from specgate.cli import main
from specgate.dialects.onnx.lint.references import RULES as MODEL_RULES
from specgate.dialects.openvino.references import PREFIX as IR_PREFIX
from specgate.dialects.openvino.references import RULES as IR_RULES
from tests.dialects.onnx.lint import test_names as test_onnx_names
from tests.dialects.onnx.lint import test_versions as test_onnx_versions
from tests.paths import ROOT

PREFIX = "onnx/model/"
CALL = re.compile(r'finding\(\s*"([a-z-]+)"|/model/([a-z-]+)"')


def test_every_reported_model_rule_has_a_reference():
    used = {f"{kind}-unused" for kind in ("input", "initializer")}
    for file in [*(ROOT / "specgate/linting").glob("*.py"), *(ROOT / "specgate/dialects/onnx").rglob("*.py")]:
        for match in CALL.finditer(file.read_text(encoding="utf-8")):
            used.add(match[1] or match[2])
    used |= {"external-location", "external-missing", "ir-version"}
    assert used == set(MODEL_RULES)
    files = [ROOT / "specgate/dialects/openvino" / name for name in ("rules.py", "bodies.py", "graph.py")]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    assert set(re.findall(r'_wrong\("([a-z-]+)"', text)) <= set(IR_RULES)
    assert {rule for rule in IR_RULES if f'"{rule}"' in text} == set(IR_RULES)


def test_documented_severities_match_reported_severities():
    for cases in (test_onnx_names.CASES, test_onnx_versions.CASES):
        for onnx_model, _, _ in cases.values():
            report = specgate.lint(onnx_model, ["onnx:28"], infer=False)
            for finding in (finding for finding in report.findings if finding.id.startswith(PREFIX)):
                severity, says, _ = MODEL_RULES[finding.id.removeprefix(PREFIX)]
                assert finding.severity == severity or f"a {finding.severity}" in says, finding


@pytest.mark.parametrize(
    ("prefix", "rule"), [(PREFIX, rule) for rule in MODEL_RULES] + [(IR_PREFIX, rule) for rule in IR_RULES]
)
def test_the_rule_command_prints_model_rules(capsys, prefix, rule):
    assert main(["rule", prefix + rule]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{prefix}{rule}\n")
    assert {PREFIX: MODEL_RULES, IR_PREFIX: IR_RULES}[prefix][rule][1] in text


def test_an_unknown_model_rule_is_rejected(capsys):
    assert main(["rule", "onnx/model/nothing"]) == 2
