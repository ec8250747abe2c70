"""Compiled tables are used while they match the YAML, else rebuilt atomically."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from specgate import files
from specgate.errors import InputError
from specgate.spec import build, folders, store, tables
from tests.paths import ROOT


@pytest.fixture
def checkout(folder, monkeypatch) -> Path:
    """A separate checkout: a spec folder with one dialect, and its compiled table's path."""
    laid_out: Path = folder()
    specs = laid_out.parent / "checkout" / "specs"
    specs.mkdir(parents=True)
    laid_out.rename(specs / "scratch")
    (specs.parent / "pyproject.toml").touch()
    monkeypatch.setattr(store, "CHECKOUT", specs)
    monkeypatch.setattr(store, "_BUILT_IN_FOLDER", specs.parent / "compiled")
    return specs / "scratch"


@pytest.fixture
def builds(monkeypatch) -> list[Path]:
    """Count builds of tables."""
    built: list[Path] = []
    original = build.build_dialect

    def count_call(folder: Path) -> dict[str, object]:
        built.append(folder)
        return original(folder)

    monkeypatch.setattr(build, "build_dialect", count_call)
    return built


def compile_path(checkout: Path) -> Path:
    return checkout.parent.parent / "compiled" / "scratch.jsonl"


def test_tables_are_built_once_and_then_read(checkout, builds) -> None:
    first = store.compiled_tables("scratch")
    assert store.compiled_tables("scratch") == first
    assert len(builds) == 1
    head, *lines = map(json.loads, compile_path(checkout).read_text(encoding="utf-8").splitlines())
    assert {**head["tables"], "operators": dict(zip(head["lines"], lines, strict=True))} == first
    assert [path.name for path in compile_path(checkout).parent.iterdir()] == ["scratch.jsonl"]


CHANGES = {
    "content": lambda root: (root / "operators" / "COPY.yaml").write_text(
        (root / "operators" / "COPY.yaml").read_text(encoding="utf-8") + "# more\n", encoding="utf-8"
    ),
    "time": lambda root: os.utime(root / "types.yaml", ns=(1, 1)),
    "new file": lambda root: (root / "operators" / "TWO.yaml").write_text(
        (root / "operators" / "COPY.yaml").read_text(encoding="utf-8").replace("COPY", "TWO"), encoding="utf-8"
    ),
    "lost file": lambda root: (root / "operators" / "COPY.yaml").unlink(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_tables_are_built_again_after_a_file_changed(checkout, builds, change) -> None:
    store.compiled_tables("scratch")
    change(checkout)
    result = store.compiled_tables("scratch")
    assert len(builds) == 2
    assert sorted(result["operators"]) == sorted(build.build_dialect(checkout)["operators"])
    assert store.compiled_tables("scratch") == result
    assert len(builds) == 3


@pytest.mark.parametrize("name", ["README.md", "operators/.copy.yaml.swp", "notes.yml"])
def test_other_files_do_not_matter(checkout, builds, name: str) -> None:
    store.compiled_tables("scratch")
    (checkout / name).write_text("x", encoding="utf-8")
    store.compiled_tables("scratch")
    assert len(builds) == 1


def test_an_editors_lock_does_not_matter(checkout, builds) -> None:
    """Emacs creates a dangling link of this name while a file is edited."""
    store.compiled_tables("scratch")
    (checkout / "operators" / ".#COPY.yaml").symlink_to("nobody@nowhere.123")
    store.compiled_tables("scratch")
    assert len(builds) == 1


CORRUPT = {
    "empty": b"",
    "cut off": b'{"stamp": [["tool", 1',
    "no JSON": b"\xff\xfe\x00",
    "a list": b"[]",
    "null": b"null",
    "another stamp": b'{"stamp": null, "lines": null, "tables": {}}\n',
    "no lines": b'{"stamp": null, "tables": {}}\n',
    "lines that are missing": b'{"stamp": null, "lines": {"COPY": 9}, "tables": {}}\n',
    "no stamp": b'{"tables": {}}',
    "deep": b"[" * 100_000,
}


@pytest.mark.parametrize("content", CORRUPT.values(), ids=CORRUPT.keys())
def test_corrupt_tables_are_built_again(checkout, builds, content: bytes) -> None:
    compile_path(checkout).parent.mkdir()
    compile_path(checkout).write_bytes(content)
    assert "COPY" in store.compiled_tables("scratch")["operators"]
    first = compile_path(checkout).read_text(encoding="utf-8").splitlines()[0]
    assert json.loads(first)["stamp"] == store.source_stamp(checkout)
    assert len(builds) == 1


def test_a_line_that_is_not_json_names_the_file(checkout) -> None:
    store.compiled_tables("scratch")
    head, line = compile_path(checkout).read_text(encoding="utf-8").splitlines()
    compile_path(checkout).write_text(f"{head}\n{'x' * len(line)}\n", encoding="utf-8")
    tables = store.compiled_tables("scratch")
    with pytest.raises(InputError, match=r"scratch\.jsonl.*COPY"):
        tables["operators"]["COPY"]


def test_tables_of_an_older_tool_are_built_again(checkout, builds, monkeypatch) -> None:
    store.compiled_tables("scratch")
    monkeypatch.setattr(store, "_TOOL_VERSION", store._TOOL_VERSION + 1)
    store.compiled_tables("scratch")
    assert len(builds) == 2


def test_changed_code_builds_tables_again(checkout, builds, monkeypatch, tmp_path) -> None:
    module = tmp_path / "package" / "spec" / "assemble.py"
    module.parent.mkdir(parents=True)
    module.write_text("", encoding="utf-8")
    monkeypatch.setattr(store, "PACKAGE", str(tmp_path / "package"))
    for content in ("", "", "RULE = 1\n"):
        module.write_text(content, encoding="utf-8")
        os.utime(module, ns=(1, 1))
        store._stamp_compiler.cache_clear()  # as in a new process
        store.compiled_tables("scratch")
    assert len(builds) == 2


def test_code_is_folders_read_at_once_per_process(checkout, monkeypatch) -> None:
    folders_read: list[str] = []
    add_files = store._add_files

    def count_folder(folder: str, under: str, items: list[list[Any]], suffix: str = ".yaml") -> None:
        folders_read.append(os.fspath(folder))
        add_files(folder, under, items, suffix)

    monkeypatch.setattr(store, "_add_files", count_folder)
    store._stamp_compiler.cache_clear()
    stamps = [store.source_stamp(checkout) for _ in range(3)]
    assert stamps[0] == stamps[1] == stamps[2]
    for room in ("spec", "rules"):
        assert folders_read.count(str(Path(folders.PACKAGE) / room)) == 1
        assert sum(item[0].startswith(f"../{room}") for item in stamps[0]) > 5


def test_an_invalid_file_does_not_change_the_compiled_table(checkout) -> None:
    store.compiled_tables("scratch")
    before = compile_path(checkout).read_bytes()
    (checkout / "operators" / "COPY.yaml").write_text("operator: 3\n", encoding="utf-8")
    with pytest.raises(InputError):
        store.compiled_tables("scratch")
    assert compile_path(checkout).read_bytes() == before


def test_an_unwritable_folder(checkout) -> None:
    """A file in place of the folder: nothing can be created or removed below it."""
    compile_path(checkout).parent.write_text("in the way", encoding="utf-8")
    assert "COPY" in store.compiled_tables("scratch")["operators"]
    assert compile_path(checkout).parent.read_text(encoding="utf-8") == "in the way"


class HalfWritten(io.FileIO):
    """A file on a disk that becomes full after some bytes."""

    def write(self, data: Any) -> int:
        super().write(bytes(data)[:4])
        raise OSError(28, "No space left on device")


def no_space(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["write", "replace", "mkdir"])
def test_no_partial_files_remain(checkout, monkeypatch, step: str) -> None:
    store.compiled_tables("scratch")
    before = compile_path(checkout).read_bytes()
    os.utime(checkout / "types.yaml", ns=(1, 1))
    if step == "write":
        monkeypatch.setattr(files, "open", HalfWritten, raising=False)
    else:
        monkeypatch.setattr(os if step == "replace" else Path, step, no_space)
    assert "COPY" in store.compiled_tables("scratch")["operators"]
    assert compile_path(checkout).read_bytes() == before
    assert [path.name for path in compile_path(checkout).parent.iterdir()] == ["scratch.jsonl"]


def test_a_file_system_that_is_read_only(checkout, monkeypatch) -> None:
    """Removing a missing file is rejected there, with an error other than missing."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    for step in ("mkdir", "write_text", "unlink"):
        monkeypatch.setattr(Path, step, refuse)
    assert "COPY" in store.compiled_tables("scratch")["operators"]


def test_a_wheel_reads_its_compiled_tables(checkout, builds) -> None:
    shipped = store.compiled_tables("scratch")
    (checkout.parent.parent / "pyproject.toml").unlink()
    (checkout / "operators" / "COPY.yaml").unlink()
    assert store.compiled_tables("scratch") == shipped
    assert len(builds) == 1


def test_a_user_dialect_from_an_extra_folder(folder, tmp_path) -> None:
    folder()
    assert "COPY" in store.compiled_tables("scratch", (tmp_path,))["operators"]


@pytest.mark.parametrize("name", ["nothing", "", "../specs", "direct\x00ml"])
def test_unknown_dialects(name: str) -> None:
    with pytest.raises(InputError, match=r"unknown dialect .*; expected one of directml, onnx, openvino"):
        tables.dialect(name)


def test_folders_of_the_environment(monkeypatch) -> None:
    monkeypatch.setenv("SPECGATE_SPECS", os.pathsep.join(["/a", "", "/b"]))
    assert folders.spec_folders() == [Path("/a"), Path("/b")]
    monkeypatch.delenv("SPECGATE_SPECS")
    assert folders.spec_folders() == []


def test_reading_fresh_tables_needs_no_yaml() -> None:
    code = "import sys; from specgate.spec.tables import dialect; dialect('onnx').operator('OneHot').rule_forms; print('yaml' in sys.modules, 'pydantic' in sys.modules)"
    store.compiled_tables("onnx")
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_missing_folder_of_the_environment_is_reported(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("SPECGATE_SPECS", str(tmp_path / "gone"))
    monkeypatch.setattr(tables, "_dialects", {})
    with pytest.raises(InputError, match="gone: SPECGATE_SPECS: expected a folder laid out as specs/"):
        tables.dialect("directml")
