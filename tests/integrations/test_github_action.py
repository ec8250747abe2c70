"""The composite action: its steps run as on a runner, without the installation."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml

from tests.paths import DATA, ROOT

if TYPE_CHECKING:
    from pathlib import Path

MODEL = DATA / "models/embedding_torch.onnx"
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}


class Ran(NamedTuple):
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


def evaluate(expression: str, inputs: dict[str, str]) -> str:
    """Evaluate the runner's expressions in the action: inputs and the action's path."""
    entries = {f"inputs.{name}": inputs.get(name, entry.get("default", "")) for name, entry in ACTION["inputs"].items()}
    entries["github.action_path"] = str(ROOT)
    return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: entries[match[1]], expression)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A checkout with a `specgate` where the first step would have installed it."""
    (tmp_path / "repo/.git").mkdir(parents=True)
    program = tmp_path / "temp/specgate/bin/specgate"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m specgate "$@"\n', encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "repo/model.onnx").write_bytes(MODEL.read_bytes())
    return tmp_path


def lint(workspace: Path, **inputs: str) -> Ran:
    step = STEPS["Lint"]
    output, summary = workspace / "output", workspace / "summary"
    for file in (output, summary):
        file.write_text("", encoding="utf-8")
    environment = os.environ | {name: evaluate(value, inputs) for name, value in step["env"].items()}
    environment |= {
        "PYTHONPATH": str(ROOT),
        "RUNNER_TEMP": str(workspace / "temp"),
        "GITHUB_WORKSPACE": str(workspace / "repo"),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    script = workspace / "temp/step.sh"
    script.write_text(step["run"], encoding="utf-8")
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(script)],
        cwd=workspace / "repo",
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    pairs = dict(line.split("=", 1) for line in output.read_text(encoding="utf-8").splitlines())
    return Ran(done.returncode, done.stdout + done.stderr, pairs, summary.read_text(encoding="utf-8"))


def test_a_valid_model_passes(workspace):
    ran = lint(workspace, paths="model.onnx", targets="onnx:17")
    assert (ran.code, ran.outputs) == (0, {"exit-code": "0"})
    assert "0 findings in 6 nodes" in ran.log
    assert ran.summary.startswith("### specgate lint\n\n    targets: onnx:17\n")


def test_a_model_with_errors_fails_with_annotations_at_its_path(workspace):
    ran = lint(workspace, targets="onnx:15\nonnx:9\n")
    assert (ran.code, ran.outputs) == (1, {"exit-code": "1"})
    annotations = [line for line in ran.log.splitlines() if line.startswith("::error ")]
    assert len(annotations) >= 2
    assert all(line.startswith("::error file=model.onnx,title=onnx/") for line in annotations)
    assert "    uses opset 17" in ran.summary


def test_findings_need_not_fail_the_step(workspace):
    ran = lint(workspace, targets="onnx:15", fail="false")
    assert (ran.code, ran.outputs) == (0, {"exit-code": "1"})


@pytest.mark.slow
def test_unusable_input_fails_the_step_despite_fail_false(workspace):
    (workspace / "repo/broken.onnx").write_bytes(b"\xff\xff\xff")
    ran = lint(workspace, targets="onnx:17", fail="false")
    assert (ran.code, ran.outputs) == (2, {"exit-code": "2"})
    assert "::error title=unusable::" in ran.log
    assert lint(workspace, targets="onnx:nope", fail="false").code == 2


def test_report_files_are_written_next_to_annotations(workspace):
    ran = lint(workspace, targets="onnx:15", sarif="out.sarif", junit="out.xml", html="out.html")
    assert ran.code == 1
    sarif: Any = json.loads((workspace / "repo/out.sarif").read_text(encoding="utf-8"))
    location = sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert location == {"uri": "model.onnx", "uriBaseId": "%SRCROOT%"}
    assert (workspace / "repo/out.xml").read_text(encoding="utf-8").startswith("<?xml")
    assert (workspace / "repo/out.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_configuration_below_the_checkout_keeps_paths_from_the_checkout(workspace):
    below = workspace / "repo/ml"
    below.mkdir()
    (workspace / "repo/model.onnx").rename(below / "model.onnx")
    (below / "specgate.toml").write_text('targets = ["onnx:15"]\n', encoding="utf-8")
    (workspace / "repo/specgate.toml").write_text('targets = ["onnx:15"]\n', encoding="utf-8")
    assert "::error file=ml/model.onnx," in lint(workspace).log


@pytest.mark.slow
def test_inputs_are_not_executed(workspace):
    hostile = "$(touch pwned)`touch pwned`; touch pwned #\n--output=pwned"
    for name in ("paths", "targets", "basis", "baseline", "sarif"):
        lint(workspace, **{"targets": "onnx:17", name: hostile})
    assert not (workspace / "repo/pwned").exists()


def test_scripts_contain_no_expressions():
    for step in STEPS.values():
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"


def test_every_input_is_used_and_every_expression_evaluates():
    text = json.dumps(ACTION["runs"])
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    assert used == set(ACTION["inputs"])
    for step in STEPS.values():
        for value in step["env"].values():
            evaluate(value, {})
