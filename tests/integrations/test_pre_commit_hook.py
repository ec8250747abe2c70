"""The pre-commit hook runs as written, on the files that its pattern selects."""

from __future__ import annotations

import re
import shlex

import pytest
import yaml

from specgate.cli import main
from tests.paths import DATA, ROOT

(HOOK,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "specgate.toml").write_text('targets = ["onnx:17"]\n', encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "no model"}', encoding="utf-8")
    (tmp_path / "pom.xml").write_text("<project/>", encoding="utf-8")
    (tmp_path / "empty.yaml").write_text("", encoding="utf-8")
    (tmp_path / "README.md").write_text("no model", encoding="utf-8")
    (tmp_path / "model.onnx").write_bytes((DATA / "models/embedding_torch.onnx").read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(repository):
    """Run the hook on every file, as ``pre-commit run --all-files`` does."""
    names = sorted(path.name for path in repository.iterdir() if path.is_file())
    program, *arguments = shlex.split(HOOK["entry"])
    assert program == "specgate"
    return main([*arguments, *(name for name in names if re.search(HOOK["files"], name))])


def test_a_valid_model_passes_and_other_files_are_skipped(repository, capsys):
    assert run(repository) == 0
    assert "0 findings in 6 nodes" in capsys.readouterr().out


def test_a_model_with_errors_fails(repository, capsys):
    (repository / "specgate.toml").write_text('targets = ["onnx:15"]\n', encoding="utf-8")
    assert run(repository) == 1
    assert "uses opset 17" in capsys.readouterr().out


def test_an_excluded_model_is_skipped_even_if_named(repository, capsys):
    config = 'targets = ["onnx:15"]\n[[paths]]\nmatch = "*.onnx"\nexclude = true\n'
    (repository / "specgate.toml").write_text(config, encoding="utf-8")
    assert run(repository) == 0
    assert "0 findings in 0 nodes" in capsys.readouterr().out


def test_a_commit_without_models_passes(repository, capsys):
    (repository / "model.onnx").unlink()
    assert run(repository) == 0
    assert capsys.readouterr().err == ""


def test_a_broken_model_is_unusable(repository, capsys):
    (repository / "model.onnx").write_bytes(b"\xff\xff")
    assert run(repository) == 2
    assert "model.onnx" in capsys.readouterr().err


def test_hook_has_the_keys_that_pre_commit_requires():
    assert {"id", "name", "entry", "language", "files"} <= HOOK.keys()
    assert HOOK["language"] == "python"
    assert not re.search(HOOK["files"], "model.onnx.data")
