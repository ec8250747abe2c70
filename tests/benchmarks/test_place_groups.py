"""The placement benchmark on small models: valid models, every promised figure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import specgate
from tests.benchmarks import place_groups
from tests.benchmarks.__main__ import main
from tests.benchmarks.made_models import encoder

if TYPE_CHECKING:
    from pathlib import Path

onnx = pytest.importorskip("onnx", reason="the onnx package makes the models")
pytestmark = [pytest.mark.oracle, pytest.mark.slow]


def test_encoder_is_valid_and_has_a_shape_subgraph(tmp_path: Path) -> None:
    path = tmp_path / "encoder.onnx"
    onnx.save(encoder(2), path)
    onnx.checker.check_model(str(path), full_check=True)
    assert specgate.lint(path, targets=["onnx:17"]).clean
    placed = specgate.place(path, place_groups.TARGET)
    assert placed.session == "created"
    assert {node.operator for node in placed if node.provider == "CPU"} == {"Gather", "Unsqueeze", "Concat"}


def test_ratios_and_growth_are_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(place_groups, "SIZES", (20, 200))
    monkeypatch.setattr(place_groups, "LAYERS", 1)
    assert main(["place", "--repeat", "1", "--format", "json"]) == 0
    groups = json.loads(capsys.readouterr().out)["groups"]
    assert [group["work"] for group in groups] == [20, 200, len(encoder(1).graph.node)]
    assert all("placing against linting" in group["remarks"] for group in groups)
    assert "time per node against the model of 20 nodes" in groups[1]["remarks"]
