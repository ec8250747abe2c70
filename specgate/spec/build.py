"""Turn a folder of YAML specs into compiled tables: every file checked, all errors at once, a plain dict a dialect.

Imported only when a table is missing or stale: it needs pydantic and yaml, which a check must not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError

from specgate.descriptors.core import shown
from specgate.errors import InputError
from specgate.spec import model
from specgate.spec.forms import rule_forms
from specgate.spec.references import check_references
from specgate.spec.yamlio import Keys, Lines, load_yaml, placed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["SpecErrors", "build_dialect", "dialect_files", "load_file"]

FORMAT: Final = 1
MAX_FILE: Final = 2**20
MAX_PROBLEMS: Final = 50
_BASE: Final = ("dialect.yaml", "levels.yaml", "types.yaml")
_FILES: Final[Mapping[str, type[BaseModel]]] = {
    "codes.yaml": model.CodesFile,
    "dialect.yaml": model.DialectFile,
    "levels.yaml": model.LevelsFile,
    "types.yaml": model.TypesFile,
    "environments.yaml": model.EnvironmentsFile,
    "tensor.yaml": model.TensorFile,
}
_SPELLINGS: Final = {
    "string_type": "a string",
    "int_type": "an integer",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}
_RANGE = re.compile(r"(-?[0-9]+)\.\.(-?[0-9]+)?")


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
        reason = getattr(error, "strerror", None) or "expected UTF-8 text"
        return {}, {}, [f"{name}: cannot be read: {reason}"]
    return check_content(content, lines, name, kind)


def check_content(
    content: Any, lines: Lines, name: str, kind: type[BaseModel]
) -> tuple[dict[str, Any], Lines, list[str]]:
    """Validate `content` against the model `kind`; return its dump, its lines, and one problem line per error."""
    try:
        checked = kind.model_validate(content)
    except ValidationError as error:
        told = _told_once(error, lines)
        more = [f"{name}: … and more problems"] if len(told) > MAX_PROBLEMS else []
        return {}, lines, [placed(name, lines, path, text) for path, text in told[:MAX_PROBLEMS]] + more
    made = checked.model_dump(exclude_defaults=True)
    return {key: made[key] for key in content if key in made}, lines, []  # in the order of the file


def _told_once(error: ValidationError, lines: Lines) -> list[tuple[Keys, str]]:
    """Return where each mistake is and what it is: one for each place, however many spellings it might have had."""
    found = [(_path(e, lines), e) for e in error.errors(include_url=False)[: 10 * MAX_PROBLEMS]]
    told: dict[Keys, list[Any]] = {}
    for path, e in found:
        inside = any(
            p[: len(path)] == path and (len(p) > len(path) or other["type"] not in _SPELLINGS) for p, other in found
        )
        if e["type"] not in _SPELLINGS or not inside:
            told.setdefault(path, []).append(e)
    return [(path, _message(errors)) for path, errors in told.items()]


def _path(error: Any, lines: Lines) -> Keys:
    path: Keys = ()
    for part in error["loc"]:  # keys of the file, and between them words of pydantic's own
        if (*path, part) in lines:
            path = (*path, part)
    return (*path, error["loc"][-1]) if error["type"] == "missing" else path


def _message(errors: list[Any]) -> str:
    match errors[0]["type"]:
        case "missing":
            return "expected this key"
        case "extra_forbidden":
            return "unknown key"
        case kind if kind in _SPELLINGS:
            wanted = " or ".join(dict.fromkeys(_SPELLINGS[e["type"]] for e in errors))
            return f"expected {wanted}, found {shown(errors[0]['input'])}"
        case _:
            message = errors[0]["msg"].removeprefix("Value error, ")
            return f"{message}, found {shown(errors[0]['input'])}"


def build_dialect(folder: Path) -> dict[str, Any]:
    """Return the compiled tables of the dialect in `folder`; raise SpecErrors naming every problem."""
    problems: list[str] = []
    lines: dict[str, Lines] = {}
    tables: dict[str, Any] = {"format": FORMAT, "operators": {}, "files": {}}
    for path in dialect_files(folder):
        relative = path.relative_to(folder).as_posix()
        if relative in _FILES:
            content, lines[relative], found = load_file(path, _FILES[relative])
            if not found:
                tables[relative.removesuffix(".yaml")] = content
        elif relative.startswith("operators/"):
            lines[relative], found = _add_operator(tables, path, relative)
        else:
            known = ", ".join(_FILES)
            found = [f"{path}: not a spec file; expected {known} or operators/NAME.yaml"]
        problems += found
    problems += [f"{folder / name}: missing" for name in _BASE if not (folder / name).is_file()]
    if all(name.removesuffix(".yaml") in tables for name in _BASE):
        problems += check_references(tables, folder, lines)
    if problems:
        raise SpecErrors(problems)
    return tables


def _add_operator(tables: dict[str, Any], path: Path, relative: str) -> tuple[Lines, list[str]]:
    """Read one operator's file into `tables`; return its lines and its problems."""
    content, lines, problems = load_file(path, model.OperatorFile)
    if problems:
        return lines, problems
    operator = normalise(content)
    name = operator["operator"]
    if name in tables["operators"]:
        problems.append(placed(str(path), lines, ("operator",), f"{name!r:.80} stands in {tables['files'][name]} too"))
    if not problems:
        tables["operators"][name] = operator
        tables["files"][name] = relative
    return lines, problems


def normalise(content: dict[str, Any]) -> dict[str, Any]:
    """Resolve an operator file's short forms: type sets, rank ranges, one-line rules."""
    content["support"] = {
        level: {field: _cell(cell, row.get("type_sets", {})) for field, cell in row.items() if field != "type_sets"}
        for level, row in content["support"].items()
    }
    if "rules" in content:
        content["rules"] = {rule: rule_forms(entry) for rule, entry in content["rules"].items()}
    for overlay in content.get("observed", []):
        overlay["support"] = {field: _cell(cell, {}) for field, cell in overlay.get("support", {}).items()}
        overlay["rules"] = {rule: rule_forms(entry) for rule, entry in overlay.get("rules", {}).items()}
    return content


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
