"""DxDispatch models with numbers in place of words, as dumped by programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from specgate.cli import main
from specgate.descriptors.read import read_text_file
from specgate.descriptors.text import load_relaxed
from specgate.dialects.directml.dxdispatch.read import read_dx_model
from specgate.spec.tables import dialect
from tests.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

MODEL = str(DATA / "dxdispatch" / "one_hot.json")


def number_parts(value: Any, numbers: dict[str, int]) -> Any:
    if isinstance(value, dict):
        return {key: number_parts(item, numbers) for key, item in value.items()}
    if isinstance(value, list):
        return [number_parts(item, numbers) for item in value]
    return numbers.get(value, value) if isinstance(value, str) else value


def test_numeric_enum_values_read_as_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = dialect("directml")
    numbers = {**table.type_numbers, "DML_OPERATOR_ONE_HOT": table.operator_numbers["ONE_HOT"]}
    whole = load_relaxed(read_text_file(MODEL), MODEL)
    content = {
        "resources": number_parts(whole["resources"], table.type_numbers),
        "dispatchables": number_parts(whole["dispatchables"], numbers),
        "commands": whole["commands"],
    }
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert '"type": ' + str(numbers["DML_OPERATOR_ONE_HOT"]) in path.read_text(encoding="utf-8")
    read, words = read_dx_model(str(path)), read_dx_model(MODEL)
    assert [dispatchable.descriptor for dispatchable in read.dispatchables.values()] == [
        dispatchable.descriptor for dispatchable in words.dispatchables.values()
    ]
    assert main(["run", MODEL]) == 0
    expected = capsys.readouterr().out
    assert main(["run", str(path)]) == 0
    assert capsys.readouterr().out == expected


def test_unknown_operator_number_has_no_table(tmp_path: Path) -> None:
    path = tmp_path / "none.json"
    path.write_text(
        json.dumps({"resources": {}, "dispatchables": {"a": {"type": 9999, "desc": {}}}, "commands": []}),
        encoding="utf-8",
    )
    (dispatchable,) = read_dx_model(str(path)).dispatchables.values()
    assert dispatchable.descriptor is None
    assert dispatchable.no_table == "DirectML has no operator with the number 9999"
