"""Files in a folder that are not models are skipped; if named, they are errors."""

from __future__ import annotations

import json

import pytest

from specgate.cli import main

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"desc": {}, "op_type": {}},
}
TENSOR = {"DataType": "FLOAT32", "Sizes": [1, 1, 2, 3]}
GOOD = {"type": "DML_OPERATOR_ACTIVATION_RELU", "desc": {"InputTensor": TENSOR, "OutputTensor": TENSOR}}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    for name, document in {"schema": SCHEMA, "good": GOOD, "package": {"name": "x"}}.items():
        (tmp_path / "models" / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    return tmp_path


def test_a_json_schema_in_a_folder_is_skipped(folder, capsys):
    assert main(["lint", "models", "--target", "directml:5.0"]) == 0
    assert "schema" not in "".join(capsys.readouterr())


def test_verbose_lint_counts_skipped_files_once(folder, capsys):
    assert main(["lint", "models", "--target", "directml:5.0", "-v"]) == 0
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("specgate: note: 2 files are not models and are skipped: ")
    assert "package.json" in error


def test_explicitly_named_file_is_read(folder, capsys):
    assert main(["lint", "models/schema.json", "--target", "directml:5.0"]) == 2
    assert "schema.json: expected a descriptor of DirectML" in capsys.readouterr().err


def test_a_broken_descriptor_in_a_folder_is_an_error(folder, capsys):
    (folder / "models" / "broken.json").write_text(json.dumps(GOOD)[:-5], encoding="utf-8")
    assert main(["lint", "models", "--target", "directml:5.0"]) == 2
    assert "broken.json: line 1 column" in capsys.readouterr().err
