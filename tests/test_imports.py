"""No import cycles, including imports inside functions."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Final

import pytest

from tests.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


def modules() -> dict[str, Path]:
    paths_by_name = {}
    for file in sorted((ROOT / "specgate").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        paths_by_name[name.removesuffix(".__init__")] = file
    return paths_by_name


MODULES: Final = modules()


def list_imports(node: ast.AST, *, inside: bool) -> Iterator[str]:
    """Yield every import of a module, or also those `inside` functions.

    Imports for types only are left out.
    """
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING":
            if inside:
                yield from lazily_imported(part.orelse)
            continue
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            names = [f"{part.module}.{alias.name}" for alias in part.names]
            yield from (name if name in MODULES else str(part.module) for name in names)
        elif inside or not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from list_imports(part, inside=inside)


def lazily_imported(statements: list[ast.stmt]) -> Iterator[str]:
    """Yield the module of each ``name = lazy("module")``, imported on first use."""
    for statement in statements:
        match statement:
            case ast.Assign(value=ast.Call(func=ast.Name(id="lazy"), args=[ast.Constant(value=str(name))])):
                yield name


def test_lazy_modules_count_as_imported_inside_functions() -> None:
    tree = ast.parse("if TYPE_CHECKING:\n    import a\nelse:\n    a = lazy('a')")
    assert list(list_imports(tree, inside=True)) == ["a"]
    assert list(list_imports(tree, inside=False)) == []


def circles(graph: Mapping[str, set[str]]) -> set[frozenset[str]]:
    """Return modules that import each other, directly or not."""
    reached = {}
    for name in graph:
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for other in graph[waiting.pop()] - seen:
                seen.add(other)
                waiting.append(other)
        reached[name] = seen
    return {frozenset(b for b in reached[a] if a in reached[b]) for a in graph if a in reached[a]}


@cache
def parse(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def graph(*, inside: bool) -> dict[str, set[str]]:
    names_by_name = {}
    for name, file in MODULES.items():
        names = set(list_imports(parse(file), inside=inside))
        names_by_name[name.removeprefix("specgate.")] = {
            n.removeprefix("specgate.") for n in names & set(MODULES) - {name}
        }
    return names_by_name


def test_import_cycles_are_detected() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == {frozenset({"b", "c"})}


@pytest.mark.slow
def test_no_circle_when_modules_are_imported() -> None:
    result = graph(inside=False)
    assert len(result) > 150
    assert circles(result) == set()


@pytest.mark.slow
def test_no_circle_through_imports_inside_functions() -> None:
    assert circles(graph(inside=True)) == set()
