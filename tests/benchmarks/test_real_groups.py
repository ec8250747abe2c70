"""The benchmark of exported models: missing packages, ratios, summaries."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks import lint_groups, real_groups
from tests.benchmarks.__main__ import main
from tests.benchmarks.made_models import chain

if TYPE_CHECKING:
    from pathlib import Path

onnx = pytest.importorskip("onnx", reason="the onnx package makes the models")
pytestmark = [pytest.mark.oracle, pytest.mark.slow]


def absent(path: Path) -> None:
    raise ImportError("no such package", name="torch")


def test_lint_is_measured_cold_warm_and_in_batches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lint_groups, "SIZES", ())
    monkeypatch.setattr(lint_groups, "ir_groups", lambda: iter(()))
    monkeypatch.setattr(real_groups, "REAL_MODELS", {"a chain": lambda path: onnx.save(chain(7), path), "no": absent})
    monkeypatch.setattr(real_groups, "_FILES", 3)
    monkeypatch.setattr(real_groups, "_COLD_RUNS", 1)
    assert main(["lint", "--repeat", "1", "--format", "json"]) == 0
    cold, warm, missing, many = json.loads(capsys.readouterr().out)["groups"]
    assert (cold["title"], cold["work"], warm["title"]) == ("cold: a chain", 7, "warm: a chain")
    assert all(item["median_seconds"] > 0 for group in (cold, warm, many) for item in group["contenders"])
    assert "worst" in warm["remarks"]["so far"]
    assert [item["missing"] for item in missing["contenders"]] == ["not installed (torch)"]
    assert [item["name"] for item in many["contenders"]][:2] == ["specgate lint --jobs 1", "specgate lint --jobs 2"]
