"""The version is defined in ``specgate/__init__.py`` only; the build reads it there."""

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
#: Files that may contain the version as well; CHANGELOG.md has every released one.
FILES = (
    "pyproject.toml",
    "action.yml",
    ".pre-commit-hooks.yaml",
    ".ci/run",
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
)


def state(source: str) -> Iterator[str]:
    """Yield the versions that a module assigns to names such as VERSION."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or not isinstance(node.value, ast.Constant):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        named = any("version" in ast.unparse(target).lower() for target in targets)
        if named and isinstance(node.value.value, str) and VERSION.fullmatch(node.value.value):
            yield node.value.value


def test_a_single_module_states_the_version() -> None:
    modules = {path.relative_to(ROOT).as_posix(): path for path in sorted((ROOT / "specgate").rglob("*.py"))}
    texts_by_name = {name: list(state(path.read_text(encoding="utf-8"))) for name, path in modules.items()}
    assert {name: versions for name, versions in texts_by_name.items() if versions} == {HOME: [specgate.__version__]}


def test_the_build_reads_the_version_from_the_module() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in table["project"]
    assert table["project"]["dynamic"] == ["version"]
    assert table["tool"]["hatch"]["version"] == {"path": HOME}


def test_other_files_do_not_repeat_the_version() -> None:
    pattern = re.compile(rf"(?<![\w.]){re.escape(specgate.__version__)}(?![\w.])")
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in FILES if (ROOT / name).is_file()}
    assert [name for name, text in texts.items() if pattern.search(text)] == []


def test_a_second_version_is_detected() -> None:
    assert list(state('VERSION = "1.2.3"\nversion: str = "0.9.0"\nself.version = "2.0rc1"')) == [
        "1.2.3",
        "0.9.0",
        "2.0rc1",
    ]
    assert list(state('_READ = {"version": "1.2.3"}\nversion = find()\nversion = "any"')) == []
