"""The version is written in one place, ``specgate/__init__.py``; the build reads it there."""

from __future__ import annotations

import ast
import re
import tomllib
from typing import TYPE_CHECKING

import specgate
from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

HOME = "specgate/__init__.py"
VERSION = re.compile(r"\d+(\.\d+)+([.-]?[a-z]+\d*)*")
#: What may name the version beside the package; CHANGELOG.md names every released one.
FILES = (
    "pyproject.toml",
    "action.yml",
    ".pre-commit-hooks.yaml",
    ".ci/run",
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
)


def stated(source: str) -> Iterator[str]:
    """Yield the versions that a module assigns to a name such as VERSION or __version__."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Constant):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        named = any("version" in ast.unparse(target).lower() for target in targets)
        if named and isinstance(node.value.value, str) and VERSION.fullmatch(node.value.value):
            yield node.value.value


def test_one_module_states_it() -> None:
    modules = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "specgate").rglob("*.py"))}
    found = {name: list(stated(path.read_text(encoding="utf-8"))) for name, path in modules.items()}
    assert {name: versions for name, versions in found.items() if versions} == {HOME: [specgate.__version__]}


def test_the_build_reads_it_there() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in table["project"]
    assert table["project"]["dynamic"] == ["version"]
    assert table["tool"]["hatch"]["version"] == {"path": HOME}


def test_no_other_file_repeats_it() -> None:
    pattern = re.compile(rf"(?<![\w.]){re.escape(specgate.__version__)}(?![\w.])")
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES if (ROOT / name).is_file()}
    assert [name for name, text in texts.items() if pattern.search(text)] == []


def test_a_second_place_would_be_found() -> None:
    assert list(stated('VERSION = "1.2.3"\nversion: str = "0.9.0"\nself.version = "2.0rc1"')) == [
        "1.2.3",
        "0.9.0",
        "2.0rc1",
    ]
    assert list(stated('_READ = {"version": "1.2.3"}\nversion = find()\nversion = "any"')) == []
