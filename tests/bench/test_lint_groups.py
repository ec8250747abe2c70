"""The lint benchmark on small models: its models are sound, and every figure that is promised is there."""

from __future__ import annotations

import json
import sys
import tracemalloc
from typing import TYPE_CHECKING

import pytest

import specgate
from specgate.bench import lint_groups as lint_bench
from specgate.cli import main
from specgate.dialects.onnx.file.model import read_model

if TYPE_CHECKING:
    from pathlib import Path

onnx = pytest.importorskip("onnx", reason="the onnx package makes the models and is the peer")
pytestmark = pytest.mark.oracle


def test_the_models_are_sound(tmp_path: Path) -> None:
    path = tmp_path / "chain.onnx"
    onnx.save(lint_bench.chain(40), path)
    onnx.checker.check_model(str(path), full_check=True)
    model = read_model(path)
    assert len(model.graph.nodes) == 40
    assert {node.op_type for node in model.graph.nodes} == {operator for operator, _, _ in lint_bench._STEPS}
    assert specgate.lint(str(path), targets=["onnx:17"]).clean


def test_rates_growth_and_memory_are_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(lint_bench, "SIZES", (20, 200))
    assert main(["bench", "lint", "--repeat", "1", "--format", "json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [(group["work"], group["unit"]) for group in groups] == [(20, "nodes"), (200, "nodes")]
    names = ["specgate.lint", "specgate's reader alone", "onnx.checker.check_model, full_check", "onnx.load"]
    assert [one["name"] for one in groups[1]["contenders"]] == names
    assert "time per node against the model of 20 nodes" in groups[1]["remarks"]
    if sys.platform.startswith("linux"):
        assert "x the graph as onnx.load holds it" in groups[1]["remarks"]["peak memory of specgate.lint"]


def test_the_table_has_a_rate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(lint_bench, "SIZES", (20,))
    monkeypatch.setattr(lint_bench, "_memory", lambda *_: [("peak memory", "not asked for")])
    assert main(["bench", "lint", "--repeat", "1"]) == 0
    said = capsys.readouterr().out
    assert "nodes/s" in said.splitlines()[1]
    assert said.endswith("peak memory: not asked for\n\n")


def test_reading_takes_little_memory_per_node(tmp_path: Path) -> None:
    path = tmp_path / "chain.onnx"
    onnx.save(lint_bench.chain(5_000), path)
    read_model(path)
    tracemalloc.start()
    model = read_model(path)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(model.graph.nodes) == 5_000
    assert peak < 1.5 * held  # nothing but the structure itself, and a block of the file
    assert held < 2_500 * 5_000
