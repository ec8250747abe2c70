"""The comparison of verdicts finds changed ones, and nothing otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from specgate.spec.dialect_spec import Dialect
from specgate.spec.tables import dialect, in_use
from tests.same_verdicts import answers, compare, draw_cases, record

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    assert record(folder, 60, ["ONE_HOT", "OneHot"]) == 180
    return folder


def test_unchanged_tables_have_no_differences(recorded: Path) -> None:
    assert list(compare(recorded)) == []


def test_a_changed_row_is_found(recorded: Path) -> None:
    whole = dialect("directml")
    raw = whole.operator("ONE_HOT").table.entries
    rows = {level: {**row, "IndicesTensor": {"types": ["UINT8"]}} for level, row in raw["support"].items()}
    operators = {**whole.tables.operators, "ONE_HOT": {**raw, "support": rows}}
    with in_use(Dialect("directml", {**whole.tables.entries, "operators": operators})):
        lines = list(compare(recorded))
    assert len(lines) > 5
    assert all(line.startswith("directml/ONE_HOT: ") for line in lines)


def test_descriptors_differ_and_answers_cover_every_basis() -> None:
    spec = dialect("onnx").operator("OneHot")
    tables = list(draw_cases(spec, 60))
    assert len(tables) > 60
    assert len({str(data) for data in tables}) == len(tables)
    messages = [text for text in (answers(spec, data) for data in tables) if text]
    assert {"both", "documented", "observed", "inference"} <= {part.partition("=")[0] for part in messages[0].split()}
    assert any("y" in text for text in messages)
    assert any("n" in text for text in messages)


def test_unreadable_descriptors_have_no_answers() -> None:
    assert answers(dialect("onnx").operator("OneHot"), {"op_type": 3}) is None
