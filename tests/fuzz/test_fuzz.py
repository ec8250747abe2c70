"""A few hundred inputs per reader; `python -m tests.fuzz --count 100000` runs more."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("resource")
from tests.fuzz.readers import READERS
from tests.fuzz.run import fuzz

if TYPE_CHECKING:
    from pathlib import Path

COUNT = int(os.environ.get("SPECGATE_FUZZ_COUNT", "300"))


@pytest.mark.parametrize("reader", READERS)
def test_reader_accepts_or_rejects(reader: str, tmp_path: Path) -> None:
    if reader == "onnx":
        pytest.importorskip("onnx")
    if reader == "dml_graph":
        pytest.importorskip("flatbuffers")
    outcomes, failures = fuzz(reader, range(COUNT), tmp_path)
    assert not failures, "\n".join(failures)
    assert sum(outcomes.values()) == COUNT
    assert len([outcome for outcome in outcomes if outcome.startswith(("taken", "refused"))]) >= 2
