"""Turn a folder of YAML specs into compiled tables: every file checked, all errors at once, a plain dict a dialect.

Imported only when a table is missing or stale: it needs pydantic and yaml, which a check must not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError

from specgate.errors import InputError
from specgate.spec import model
from specgate.spec.yamlio import Lines, load_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["SpecErrors", "build_dialect", "dialect_files", "load_file"]

FORMAT: Final = 1
MAX_FILE: Final = 4 * 2**20
_FILES: Final[Mapping[str, type[BaseModel]]] = {
    "codes.yaml": model.CodesFile,
    "dialect.yaml": model.DialectFile,
    "levels.yaml": model.LevelsFile,
    "types.yaml": model.TypesFile,
    "environments.yaml": model.EnvironmentsFile,
    "tensor.yaml": model.TensorFile,
}
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)?")


class SpecErrors(InputError):
    """Everything that is wrong with a folder of specs: one line each with file, line and key."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def dialect_files(folder: Path) -> list[Path]:
    """Return the YAML files of one dialect's folder in a fixed order."""
    return sorted(p for p in folder.rglob("*.yaml") if p.is_file())


def load_file(path: Path, kind: type[BaseModel]) -> tuple[dict[str, Any], Lines, list[str]]:
    """Return a spec file's checked content, its lines, and its problems."""
    name = str(path)
    try:
        if path.stat().st_size > MAX_FILE:
            return {}, {}, [f"{name}: expected a file of at most {MAX_FILE} bytes"]
        content, lines = load_yaml(path.read_text(encoding="utf-8"), name)
    except InputError as error:
        return {}, {}, [str(error)]
    except (OSError, UnicodeDecodeError) as error:
        return {}, {}, [f"{name}: cannot be read: {error}"]
    return check_content(content, lines, name, kind)


def check_content(
    content: Any, lines: Lines, name: str, kind: type[BaseModel]
) -> tuple[dict[str, Any], Lines, list[str]]:
    """Validate `content` against the model `kind`; return its dump, its lines, and one problem line per error."""
    try:
        checked = kind.model_validate(content)
    except ValidationError as error:
        return {}, lines, [_problem(name, lines, e["loc"], e["msg"]) for e in _told_once(error)]
    except RecursionError:
        return {}, lines, [f"{name}: nested too deeply"]
    return checked.model_dump(exclude_defaults=True), lines, []


def _told_once(error: ValidationError) -> list[Any]:
    """Drop what only says that a value is not of another spelling, where a spelling that fits has its own errors."""
    errors = error.errors(include_url=False)
    spelling = ("string_type", "list_type", "dict_type", "model_type", "int_type")
    prefixes = {e["loc"][:-2] for e in errors if len(e["loc"]) > 2}
    return [e for e in errors if e["type"] not in spelling or e["loc"][:-1] not in prefixes]


def _problem(name: str, lines: Lines, location: tuple[Any, ...], message: str) -> str:
    keys = [part for part in location if not (isinstance(part, str) and part.startswith(("function-", "constrained-")))]
    while keys:
        line = lines.get(tuple(keys))
        if line is not None:
            break
        keys = keys[:-1]
    shown = ".".join(str(part) for part in location)
    return f"{name}:{lines.get(tuple(keys), 1)}: {shown}: {message}"


def build_dialect(folder: Path) -> dict[str, Any]:
    """Return the compiled tables of the dialect in `folder`; raise SpecErrors naming every problem."""
    problems: list[str] = []
    tables: dict[str, Any] = {"format": FORMAT, "operators": {}, "files": {}}
    for path in dialect_files(folder):
        relative = path.relative_to(folder).as_posix()
        if relative in _FILES:
            content, _, found = load_file(path, _FILES[relative])
            problems += found
            tables[relative.removesuffix(".yaml")] = content
        elif relative.startswith("operators/"):
            content, lines, found = load_file(path, model.OperatorFile)
            problems += found
            if not found:
                operator, found = normalise(content, lines, str(path))
                problems += found
                if operator["operator"] in tables["operators"]:
                    problems.append(f"{path}: operator {operator['operator']!r} stands in two files")
                tables["operators"][operator["operator"]] = operator
                tables["files"][operator["operator"]] = relative
        else:
            known = ", ".join(_FILES)
            problems.append(f"{path}: not a spec file; expected {known} or operators/NAME.yaml")
    problems += [
        f"{folder / name}: missing"
        for name in ("dialect.yaml", "levels.yaml", "types.yaml")
        if not (folder / name).is_file()
    ]
    if problems:
        raise SpecErrors(problems)
    from specgate.spec.lint import check_references  # it reads the finished tables

    problems = check_references(tables, folder)
    if problems:
        raise SpecErrors(problems)
    return tables


def normalise(content: dict[str, Any], lines: Lines, name: str) -> tuple[dict[str, Any], list[str]]:
    """Resolve an operator file's short forms: type sets, rank ranges, one-line rules."""
    problems: list[str] = []
    support = {}
    for level, row in content["support"].items():
        split = {"type_sets": row.get("type_sets", {}), "cells": {k: v for k, v in row.items() if k != "type_sets"}}
        checked, _, found = check_content(split, {}, name, model.SupportRow)
        if found:
            line = lines.get(("support", level), 1)
            problems += [f"{name}:{line}: support.{level}{text.partition(':1:')[2] or text}" for text in found]
            continue
        cells = checked.get("cells", {})
        support[level] = {field: _cell(cell, split["type_sets"]) for field, cell in cells.items()}
    content["support"] = support
    content["rules"] = {rule: rule_forms(entry) for rule, entry in content.get("rules", {}).items()}
    for overlay in content.get("observed", []):
        overlay["support"] = {field: _cell(cell, {}) for field, cell in overlay.get("support", {}).items()}
        overlay["rules"] = {rule: rule_forms(entry) for rule, entry in overlay.get("rules", {}).items()}
    return content, problems


def rule_forms(entry: Any) -> list[dict[str, Any]]:
    """Return a rule's forms (one per stretch of levels) from any of its spellings."""
    forms = entry if isinstance(entry, list) else [entry]
    return [{"require": form} if isinstance(form, str) else form for form in forms]


def _cell(cell: dict[str, Any], type_sets: dict[str, list[str]]) -> dict[str, Any]:
    result = dict(cell)
    types = result.get("types")
    if isinstance(types, str) and types != "any":
        result["types"] = type_sets.get(types, [types])
    if "ranks" in result:
        result["ranks"] = _bounds(result["ranks"])
    if "range" in result:
        result["range"] = _bounds(result["range"])
    return result


def _bounds(value: int | str | list[int]) -> Any:
    """4 -> [4, 4]; "1..8" -> [1, 8]; "1.." -> [1, None]; "any" -> None; a list stays a mapping {"only": [...]}."""
    if isinstance(value, int):
        return [value, value]
    if isinstance(value, list):
        return {"only": sorted(value)}
    if value == "any":
        return None
    found = _RANGE.fullmatch(value)
    assert found is not None  # the model has checked it  # noqa: S101
    return [int(found[1]), None if found[2] is None else int(found[2])]
