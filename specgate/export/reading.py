"""Tables to compare, in one form.

They are read from an export, from a folder of spec files, or from the installed tables.
"""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.descriptors.beside import size_in_folder, unusable_location
from specgate.descriptors.core import shown
from specgate.dialects import dialect_names
from specgate.errors import InputError
from specgate.export.document import SCHEMA, dialect_data
from specgate.export.jsonform import INDEX, plain
from specgate.spec.build import build_dialect
from specgate.spec.changes import joined
from specgate.spec.dialect_spec import Dialect
from specgate.spec.fields import Bounds, Cell
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

__all__ = ["DAMAGED", "INSTALLED", "Fields", "ReadDialect", "ReadOperator", "ReadSide", "damaged", "read_tables"]

INSTALLED: Final = "installed"
#: Exceptions while reading and comparing tables that are not a valid export.
DAMAGED: Final = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)
_MAX_FILE: Final = 2**28
#: Properties of a field apart from its support: its kind and words, but not its summary.
_ABOUT: Final = (
    "kind",
    "type",
    "optional",
    "default",
    "min_count",
    "heterogeneous",
    "vendor_name",
    "enum",
    "type_from",
)
#: Members with texts, sources and examples.
_TEXT_KEYS: Final = ("summary", "source", "unknowns", "rules", "builds", "written")
_LISTS: Final = ("types", "values", "operators")


@dataclass(frozen=True, slots=True)
class Fields:
    """Fields with their properties and their support."""

    fields: Mapping[str, Mapping[str, Any]]
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class ReadSide:
    """One side of an operator at a level.

    cases: by condition; rules: expressions by rule name.
    """

    whole: Fields
    cases: Mapping[str, Fields]
    rules: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReadOperator:
    """An operator.

    at: by level, its sides: documented, observed, and implementations by name. recipe: its computation. noted: observed
    differences in values. whole: all other data.
    """

    order: tuple[str, ...]
    at: Mapping[str, Mapping[str, ReadSide]]
    defines: Mapping[str, str] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)
    noted: tuple[tuple[str, str], ...] = ()
    whole: Any = None


@dataclass(frozen=True, slots=True)
class ReadDialect:
    """A dialect.

    facts: of levels, types and releases by name. tensor: the rules of every tensor.
    """

    title: str
    version: str
    levels: tuple[str, ...]
    facts: Mapping[str, Mapping[str, Any]]
    tensor: ReadOperator
    operators: Mapping[str, ReadOperator]


def read_tables(source: str) -> dict[str, ReadDialect]:
    """Return tables by dialect.

    source: ``installed``, a file or folder of an export, or a folder laid out as ``specs/``. Raises InputError for
    anything else and for invalid files.
    """
    try:
        return {name: _dialect(plain(data)) for name, data in _documents(source)}
    except DAMAGED as error:
        raise damaged(error, source) from None


def damaged(error: Exception, source: str) -> InputError:
    """Return the error for tables with missing or wrongly typed members."""
    lacks = f"; {error} is missing" if isinstance(error, KeyError) else ""
    return InputError(f"expected tables that `specgate export json` wrote{lacks}", file=source)


def _documents(source: str) -> Iterable[tuple[str, dict[str, Any]]]:
    path = Path(source)
    if source == INSTALLED:
        return [(name, dialect_data(table, table.operators)) for name in dialect_names() for table in [dialect(name)]]
    if (path / INDEX).is_file():
        return _exported(_loaded(path / INDEX), lambda listed: _listed(path, listed))
    if path.is_dir():
        return _specs(path)
    return _exported(_loaded(path), lambda data: data)


def _specs(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    folders = [path.parent for path in sorted([*root.glob("levels.yaml"), *root.glob("*/levels.yaml")])]
    if not folders:
        reason = "expected a folder that `specgate export` wrote, or one laid out as specs/: DIALECT/levels.yaml"
        raise InputError(reason, file=str(root))
    for folder in folders:
        tables = build_dialect(folder)
        table = Dialect(tables["dialect"]["dialect"], tables)
        yield table.name, dialect_data(table, table.operators)


def _exported(
    document: Mapping[str, Any], operator: Callable[[Any], dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if document["schema"] != SCHEMA:
        raise ValueError
    for name, data in document["dialects"].items():
        yield name, {**data, "operators": {key: operator(entry) for key, entry in data["operators"].items()}}


def _listed(folder: Path, name: Any) -> dict[str, Any]:
    """Return a file that the index of an export names; raise InputError if it is outside the export's folder."""
    problem = unusable_location(name) if isinstance(name, str) else shown(name)
    if problem is None and isinstance(size := size_in_folder(str(folder), name), str):
        problem = f"{shown(name)}, which {size}"
    if problem is not None:
        raise InputError(f"names a file that is not read: {problem}", file=str(folder / INDEX))
    return _loaded(folder / name)


def _loaded(path: Path) -> dict[str, Any]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):  # a FIFO would block
            raise InputError("expected a regular file", file=str(path))
        if status.st_size > _MAX_FILE:
            raise InputError("too large for tables", file=str(path))
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from None
    entries: dict[str, Any] = json.loads(data)
    return entries


def _dialect(data: Mapping[str, Any]) -> ReadDialect:
    levels = tuple(data["levels"])
    facts = {
        "level": data["levels"],
        "type": data["types"],
        "release": {entry["name"]: entry["level"] for entry in data["environments"]},
    }
    axes = {name: tuple(entry["levels"]) for name, entry in data["domains"].items()}
    operators = {
        name: _operator(entry, axes.get(entry.get("domain", ""), levels)) for name, entry in data["operators"].items()
    }
    return ReadDialect(data["title"], data["version"], levels, facts, _tensor(data, levels), operators)


def _tensor(data: Mapping[str, Any], levels: tuple[str, ...]) -> ReadOperator:
    rules = data["tensor_rules"].values()
    nothing = Fields({}, {})
    at = {
        level: {
            side: ReadSide(nothing, {}, joined(_form(rule) for rule in rules if level in rule[side]))
            for side in ("documented", "observed")
        }
        for level in levels
    }
    return ReadOperator(levels, at)


def _operator(data: Mapping[str, Any], order: tuple[str, ...]) -> ReadOperator:
    at: dict[str, dict[str, ReadSide]] = {}
    for entry in data["resolved"]:
        page = _side(entry["documented"], data["rules"])
        sides = {
            "documented": page,
            "observed": _side(entry["observed"], data["rules"]) if "observed" in entry else page,
        }
        sides |= {by: _side(side, data["rules"]) for by, side in entry.get("implementations", {}).items()}
        at |= dict.fromkeys(entry["levels"], sides)
    noted = [
        (one["builds"], f"{one['by']}: {value['what']}" if "by" in one else value["what"])
        for one in data["builds"]
        for value in one.get("values", {}).values()
    ]
    recipe = {"tolerance": data["written"].get("tolerance", "0")} | data["written"].get("execute", {})
    return ReadOperator(order, at, data["define"], recipe, tuple(noted), {key: data.get(key) for key in _TEXT_KEYS})


def _form(rule: Mapping[str, Any]) -> tuple[str, str, str | None]:
    return rule["id"].rpartition("/")[2], rule["require"], rule.get("when")


def _side(data: Mapping[str, Any], rules: Mapping[str, Any]) -> ReadSide:
    cases = {case["when"]: _fields(case["fields"]) for case in data.get("cases", ())}
    return ReadSide(_fields(data["fields"]), cases, joined(_form(rules[key]) for key in data["rules"]))


def _fields(data: Mapping[str, Any]) -> Fields:
    about = {name: {key: entry[key] for key in _ABOUT if key in entry} for name, entry in data.items()}
    return Fields(about, {name: _cell(entry) for name, entry in data.items()})


def _cell(entry: Mapping[str, Any]) -> Cell:
    types, values, operators = (tuple(entry[part]) if part in entry else None for part in _LISTS)
    if not all(isinstance(word, str) for word in (*(types or ()), *(operators or ()))):
        raise TypeError("types and operators are words")
    return Cell(types, _bounds(entry.get("ranks")), values, _bounds(entry.get("range")), operators)


def _bounds(entry: Mapping[str, Any] | None) -> Bounds | None:
    if entry is None:
        return None
    only = entry.get("only")
    return Bounds(entry["min"], entry.get("max")) if only is None else Bounds(only[0], only[-1], tuple(only))
