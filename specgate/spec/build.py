"""Build compiled tables from a folder of YAML specs.

Every file is validated, and all errors are reported at once. This module is imported only when a table is missing or
stale, because it needs pydantic and yaml, which a check does not load.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, ValidationError

from specgate.descriptors.core import format_value
from specgate.errors import InputError
from specgate.spec import file_models
from specgate.spec.assemble import EXAMPLES, PART_FOLDERS, Part, assemble, merge_like
from specgate.spec.dialect_spec import Dialect
from specgate.spec.folders import examples_file, layout_file
from specgate.spec.references import check_references
from specgate.spec.short_forms import plain_tensor_rules
from specgate.spec.yamlio import Keys, Lines, format_problem, load_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FORMAT: Final = 1
MAX_FILE: Final = 2**20
MAX_PROBLEMS: Final = 50
_BASE: Final = ("dialect.yaml", "levels.yaml", "types.yaml")
_FILES: Final[Mapping[str, type[BaseModel]]] = {
    "codes.yaml": file_models.CodesFile,
    "dialect.yaml": file_models.DialectFile,
    "levels.yaml": file_models.LevelsFile,
    "types.yaml": file_models.TypesFile,
    "environments.yaml": file_models.EnvironmentsFile,
    "sets.yaml": file_models.SetsFile,
    "tensor.yaml": file_models.TensorFile,
}
_PARTS: Final[Mapping[str, type[BaseModel]]] = {
    "families": file_models.FamilyFile,
    "operators": file_models.OperatorFile,
    EXAMPLES[:-1]: file_models.ExamplesFile,
}
_SPELLINGS: Final = {
    "string_type": "a string",
    "int_type": "an integer",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
}


class SpecErrors(InputError):
    """All problems of a spec folder, one line each with file, line and key."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        super().__init__("\n".join(problems))


def dialect_files(folder: Path) -> list[Path]:
    """Return the YAML files of a dialect's folder, sorted ignoring case."""
    return sorted((p for p in folder.rglob("*.yaml") if p.is_file()), key=lambda path: (str(path).lower(), str(path)))


def load_file(path: Path, kind: type[BaseModel]) -> tuple[dict[str, Any], Lines, list[str]]:
    """Return a spec file's checked content, its lines, and its problems."""
    content, lines, problems = _read_file(path)
    return ({}, {}, problems) if problems else check_content(content, lines, str(path), kind)


def _read_file(path: Path) -> tuple[Any, Lines, list[str]]:
    """Return a spec file's content, its lines, and why it cannot be read."""
    name = str(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # opening a FIFO would block
            return {}, {}, [f"{name}: expected a regular file"]
        if status.st_size > MAX_FILE:
            return {}, {}, [f"{name}: expected a file of at most {MAX_FILE} bytes"]
        return *load_yaml(path.read_text(encoding="utf-8"), name), []
    except InputError as error:
        return {}, {}, [str(error)]
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "expected UTF-8 text"
        return {}, {}, [f"{name}: cannot be read: {reason}"]


def check_content(
    content: Any, lines: Lines, name: str, kind: type[BaseModel]
) -> tuple[dict[str, Any], Lines, list[str]]:
    """Validate `content` against the model `kind`.

    Return its dump, its lines, and one problem line per error.
    """
    try:
        checked = kind.model_validate(content)
    except ValidationError as error:
        pairs = _unique_problems(error, lines)
        remainder = [f"{name}: … and more problems"] if len(pairs) > MAX_PROBLEMS else []
        return {}, lines, [format_problem(name, lines, path, text) for path, text in pairs[:MAX_PROBLEMS]] + remainder
    entries = checked.model_dump(exclude_defaults=True)
    return {key: entries[key] for key in content if key in entries}, lines, []  # in the order of the file


def _unique_problems(error: ValidationError, lines: Lines) -> list[tuple[Keys, str]]:
    """Return one path and message per mistake.

    A value that matches none of several accepted forms yields one message, not one per form.
    """
    pairs = [(_path(e, lines), e) for e in error.errors(include_url=False)[: 10 * MAX_PROBLEMS]]
    items_by_items: dict[Keys, list[Any]] = {}
    for path, e in pairs:
        is_repeated = any(
            p[: len(path)] == path and (len(p) > len(path) or other["type"] not in _SPELLINGS) for p, other in pairs
        )
        if e["type"] not in _SPELLINGS or not is_repeated:
            items_by_items.setdefault(path, []).append(e)
    return [(path, _message(errors)) for path, errors in items_by_items.items()]


def _path(error: Any, lines: Lines) -> Keys:
    path: Keys = ()
    for part in error["loc"]:  # keys of the file, interleaved with names from pydantic
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
            text = " or ".join(dict.fromkeys(_SPELLINGS[e["type"]] for e in errors))
            return f"expected {text}, found {format_value(errors[0]['input'])}"
        case _:
            message = errors[0]["msg"].removeprefix("Value error, ")
            return f"{message}, found {format_value(errors[0]['input'])}"


def load_parts(folder: Path, levels: Sequence[str]) -> tuple[list[Part], list[str]]:
    """Return the usable operators and families of a folder, and the problems.

    Operators include their examples.
    """
    parts: dict[str, Part] = {}
    problems: list[str] = []
    parts_by_name: dict[str, Part] = {}
    for path in dialect_files(folder):
        relative = path.relative_to(folder).as_posix()
        if relative.startswith(PART_FOLDERS):
            content, lines, texts = _read_file(path)
            problems += texts
            if not texts:
                (parts_by_name if relative.startswith(EXAMPLES) else parts)[relative] = Part(
                    path, relative, content, lines
                )
    parts, texts = _merge_likes(parts, levels)
    problems += texts
    parts, texts = _check_parts(parts)
    problems += texts
    parts_by_name, texts = _check_parts(parts_by_name)
    problems += texts
    for relative, part in parts.items():
        examples = parts_by_name.pop(examples_file(relative), None)
        if examples is not None:
            duplicate_keys = sorted(part.content.keys() & examples.content.keys())
            problems += [examples.locate_problem((key,), f"{relative} has this key, too") for key in duplicate_keys]
            parts[relative] = _with_examples(part, examples)
    for relative, examples in parts_by_name.items():
        operator = relative.replace(EXAMPLES, "operators/", 1)
        if not (folder / operator).is_file():
            problems.append(f"{examples.path}: examples without an operator; expected {operator}")
    return list(parts.values()), problems


def _merge_likes(parts: Mapping[str, Part], levels: Sequence[str]) -> tuple[dict[str, Part], list[str]]:
    """Merge operators with their `like` operators.

    Return all parts, and the problems.
    """
    contents = [(part, part.content) for part in parts.values() if isinstance(part.content, dict)]
    names = {name: part for part, content in contents if isinstance(name := content.get("operator"), str)}
    parts_by_name: dict[str, Part] = {}
    problems: list[str] = []

    def lay(part: Part, ancestors: tuple[str, ...]) -> Part | None:
        base_name = part.content.get("like")
        if not isinstance(base_name, str):
            return part
        other = None if base_name in ancestors else names.get(base_name)
        base_part = None if other is None else lay(other, (*ancestors, base_name))
        if base_part is None:
            problems.append(
                part.locate_problem(("like",), f"expected another operator of these tables, found {base_name!r:.80}")
            )
            return None
        content = merge_like(base_part.content, part.content, levels)
        return part._replace(content=content, likes=(base_part, *base_part.likes), written=part.content)

    for relative, part in parts.items():
        merged_part = lay(part, (str(part.content.get("operator")),)) if isinstance(part.content, dict) else part
        if merged_part is not None:
            parts_by_name[relative] = merged_part
    return parts_by_name, list(dict.fromkeys(problems))


def _check_parts(parts: Mapping[str, Part]) -> tuple[dict[str, Part], list[str]]:
    """Return the parts with valid content, and the problems of the others."""
    good: dict[str, Part] = {}
    problems: list[str] = []
    broken_paths: set[Path] = set()
    for relative, part in sorted(parts.items(), key=lambda item: len(item[1].likes)):
        kind = _PARTS[relative.partition("/")[0]]
        content, _, texts = check_content(part.content, part.lines, str(part.path), kind)
        if not texts:
            good[relative] = part._replace(content={key: value for key, value in content.items() if key != "like"})
        elif not any(other.path in broken_paths for other in part.likes):  # else the other operator reports them
            problems += texts
        if texts:
            broken_paths.add(part.path)
    return {relative: good[relative] for relative in parts if relative in good}, problems


def _with_examples(operator: Part, examples: Part) -> Part:
    lines = operator.lines | {path: line for path, line in examples.lines.items() if path}
    content = operator.content | examples.content
    return operator._replace(content=content, lines=lines, apart=(examples.path, frozenset(examples.content)))


def _numbers(path: Path) -> dict[str, Any]:
    """Return the header's numbers of enum words and of operators."""
    layout = load_yaml(path.read_text(encoding="utf-8"), str(path))[0]
    operators = {name: entry["value"] for name, entry in layout["operators"].items()}
    return {"enums": layout["enums"], "operators": operators}


def build_dialect(folder: Path) -> dict[str, Any]:
    """Return the compiled tables of the dialect in `folder`.

    Raises SpecErrors with every problem.
    """
    problems: list[str] = []
    lines: dict[str, Lines] = {}
    tables: dict[str, Any] = {"format": FORMAT, "operators": {}, "families": {}, "files": {}}
    for path in dialect_files(folder):
        relative = path.relative_to(folder).as_posix()
        if relative in _FILES:
            content, lines[relative], texts = load_file(path, _FILES[relative])
            if not texts:
                tables[relative.removesuffix(".yaml")] = content
            problems += texts
        elif not relative.startswith(PART_FOLDERS):
            places = "operators/NAME.yaml, examples/NAME.yaml or families/NAME.yaml"
            problems.append(f"{path}: not a spec file; expected {', '.join(_FILES)}, {places}")
    parts, texts = load_parts(folder, list(tables.get("levels", {}).get("levels", ())))
    problems += texts
    problems += [f"{folder / name}: missing" for name in _BASE if not (folder / name).is_file()]
    sources, texts = assemble(tables, parts, keep_broken=bool(problems))
    problems += texts
    for text, place in ((text, place) for place, text in plain_tensor_rules(tables.get("tensor", {}))):
        problems.append(format_problem(str(folder / "tensor.yaml"), lines.get("tensor.yaml", {}), place, text))
    numbers = Path(layout_file(folder))
    if numbers.is_file():
        tables["numbers"] = _numbers(numbers)
    if all(name.removesuffix(".yaml") in tables for name in _BASE):
        problems += check_references(tables, folder, lines, sources)
    if problems:
        raise SpecErrors(problems)
    full_dialect = Dialect(tables["dialect"]["dialect"], tables)
    counted_outputs = {name: sorted(full_dialect.operator(name).counted_outputs) for name in tables["operators"]}
    return {**tables, "counted": counted_outputs}
