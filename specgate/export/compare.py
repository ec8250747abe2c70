"""Differences between two sets of tables in what they specify."""

from __future__ import annotations

import json
import stat
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.descriptors.core import format_value
from specgate.descriptors.files import size_in_folder, unusable_location
from specgate.dialects import dialect_names
from specgate.errors import InputError
from specgate.export.document import INDEX, SCHEMA, dialect_data, to_json_data
from specgate.levels import LevelSet
from specgate.spec.build import build_dialect
from specgate.spec.changes import Detail, field_changes, join_expressions, rule_changes
from specgate.spec.dialect_spec import Dialect
from specgate.spec.fields import Bounds, Cell
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

INSTALLED: Final = "installed"
#: Exceptions while reading and comparing tables that are not a valid export.
DAMAGED: Final = (KeyError, TypeError, AttributeError, ValueError, IndexError, RecursionError)
_MAX_FILE: Final = 2**28
#: Properties of a field apart from its support: its kind and words, but not its summary.
_FIELD_FACTS: Final = (
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
        return {name: _dialect(to_json_data(data)) for name, data in _documents(source)}
    except DAMAGED as error:
        raise damaged_error(error, source) from None


def damaged_error(error: Exception, source: str) -> InputError:
    """Return the error for tables with missing or wrongly typed members."""
    missing_text = f"; {error} is missing" if isinstance(error, KeyError) else ""
    return InputError(f"expected tables that `specgate export json` wrote{missing_text}", file=source)


def _documents(source: str) -> Iterable[tuple[str, dict[str, Any]]]:
    path = Path(source)
    if source == INSTALLED:
        return [(name, dialect_data(table, table.operators)) for name in dialect_names() for table in [dialect(name)]]
    if (path / INDEX).is_file():
        return _iterate_operators(_load_document(path / INDEX), lambda paths: _load_listed(path, paths))
    if path.is_dir():
        return _specs(path)
    return _iterate_operators(_load_document(path), lambda data: data)


def _specs(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    folders = [path.parent for path in sorted([*root.glob("levels.yaml"), *root.glob("*/levels.yaml")])]
    if not folders:
        reason = "expected a folder that `specgate export` wrote, or one laid out as specs/: DIALECT/levels.yaml"
        raise InputError(reason, file=str(root))
    for folder in folders:
        tables = build_dialect(folder)
        table = Dialect(tables["dialect"]["dialect"], tables)
        yield table.name, dialect_data(table, table.operators)


def _iterate_operators(
    document: Mapping[str, Any], operator: Callable[[Any], dict[str, Any]]
) -> Iterator[tuple[str, dict[str, Any]]]:
    if document["schema"] != SCHEMA:
        raise ValueError
    for name, data in document["dialects"].items():
        yield name, {**data, "operators": {key: operator(entry) for key, entry in data["operators"].items()}}


def _load_listed(folder: Path, name: Any) -> dict[str, Any]:
    """Return a file that the index of an export names; raise InputError if it is outside the export's folder."""
    problem = unusable_location(name) if isinstance(name, str) else format_value(name)
    if problem is None and isinstance(size := size_in_folder(str(folder), name), str):
        problem = f"{format_value(name)}, which {size}"
    if problem is not None:
        raise InputError(f"names a file that is not read: {problem}", file=str(folder / INDEX))
    return _load_document(folder / name)


def _load_document(path: Path) -> dict[str, Any]:
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
    empty_fields = Fields({}, {})
    sides_by_level = {
        level: {
            side: ReadSide(empty_fields, {}, join_expressions(_form(rule) for rule in rules if level in rule[side]))
            for side in ("documented", "observed")
        }
        for level in levels
    }
    return ReadOperator(levels, sides_by_level)


def _operator(data: Mapping[str, Any], order: tuple[str, ...]) -> ReadOperator:
    sides_by_level: dict[str, dict[str, ReadSide]] = {}
    for entry in data["resolved"]:
        page = _side(entry["documented"], data["rules"])
        sides = {
            "documented": page,
            "observed": _side(entry["observed"], data["rules"]) if "observed" in entry else page,
        }
        sides |= {impl: _side(side, data["rules"]) for impl, side in entry.get("implementations", {}).items()}
        sides_by_level |= dict.fromkeys(entry["levels"], sides)
    noted = [
        (entry["builds"], f"{entry['by']}: {value['what']}" if "by" in entry else value["what"])
        for entry in data["builds"]
        for value in entry.get("values", {}).values()
    ]
    recipe = {"tolerance": data["written"].get("tolerance", "0")} | data["written"].get("execute", {})
    return ReadOperator(
        order, sides_by_level, data["define"], recipe, tuple(noted), {key: data.get(key) for key in _TEXT_KEYS}
    )


def _form(rule: Mapping[str, Any]) -> tuple[str, str, str | None]:
    return rule["id"].rpartition("/")[2], rule["require"], rule.get("when")


def _side(data: Mapping[str, Any], rules: Mapping[str, Any]) -> ReadSide:
    cases = {case["when"]: _fields(case["fields"]) for case in data.get("cases", ())}
    return ReadSide(_fields(data["fields"]), cases, join_expressions(_form(rules[key]) for key in data["rules"]))


def _fields(data: Mapping[str, Any]) -> Fields:
    field_facts = {name: {key: entry[key] for key in _FIELD_FACTS if key in entry} for name, entry in data.items()}
    return Fields(field_facts, {name: _cell(entry) for name, entry in data.items()})


def _cell(entry: Mapping[str, Any]) -> Cell:
    types, values, operators = (tuple(entry[part]) if part in entry else None for part in _LISTS)
    if not all(isinstance(word, str) for word in (*(types or ()), *(operators or ()))):
        raise TypeError("types and operators are words")
    return Cell(types, _bounds(entry.get("ranks")), values, _bounds(entry.get("range")), operators)


def _bounds(entry: Mapping[str, Any] | None) -> Bounds | None:
    if entry is None:
        return None
    only_values = entry.get("only")
    return (
        Bounds(entry["min"], entry.get("max"))
        if only_values is None
        else Bounds(only_values[0], only_values[-1], tuple(only_values))
    )


DIFFERENCE_SCHEMA: Final = "specgate-tables-diff/1"
#: The name of every tensor's rules in rule ids.
_TENSOR: Final = "tensor"


@dataclass(frozen=True, slots=True)
class Stretch:
    """The changes at some levels of an operator.

    side: documented, observed or the name of an implementation.
    """

    levels: str
    side: str
    details: tuple[Detail, ...]


@dataclass(frozen=True, slots=True)
class OperatorChange:
    """The changes of one operator.

    kind: ``words`` if only texts, sources or examples differ. levels: of an added or removed operator.
    """

    operator: str
    kind: Literal["added", "removed", "changed", "words"]
    levels: str = ""
    stretches: tuple[Stretch, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        details = [
            {
                "levels": stretch.levels,
                "side": stretch.side,
                "field": detail.field,
                "when": detail.when,
                "what": detail.what,
            }
            for stretch in self.stretches
            for detail in stretch.details
        ]
        return {"operator": self.operator, "change": self.kind, "levels": self.levels, "details": details}


@dataclass(frozen=True, slots=True)
class DialectChange:
    """The changes of a dialect.

    before, after: versions of its tables, None if it has no tables. facts: added, removed and changed levels, types and
    releases.
    """

    name: str
    title: str
    before: str | None
    after: str | None
    facts: tuple[str, ...] = ()
    operators: tuple[OperatorChange, ...] = ()

    def of(self, kind: str) -> list[OperatorChange]:
        """Return the operators with changes of a kind."""
        return [operator for operator in self.operators if operator.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "before": self.before,
            "after": self.after,
            "facts": list(self.facts),
            "operators": [operator.to_dict() for operator in self.operators],
        }


@dataclass(frozen=True, slots=True)
class TablesDifference:
    """The changes between tables, by the dialects of either."""

    dialects: tuple[DialectChange, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate diff --tables --format json`` prints it."""
        return {
            "schema": DIFFERENCE_SCHEMA,
            "dialects": {dialect_change.name: dialect_change.to_dict() for dialect_change in self.dialects},
        }


def compare(before: Mapping[str, ReadDialect], after: Mapping[str, ReadDialect]) -> TablesDifference:
    """Return the changes between two sets of tables."""
    changes = []
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name), after.get(name)
        if old is not None and new is not None:
            operators = tuple(_operators(old, new))
            changes.append(DialectChange(name, new.title, old.version, new.version, tuple(_facts(old, new)), operators))
            continue
        changed_table = old or new
        title = changed_table.title if changed_table is not None else name
        changes.append(DialectChange(name, title, old.version if old else None, new.version if new else None))
    return TablesDifference(tuple(changes))


def _facts(old: ReadDialect, new: ReadDialect) -> Iterator[str]:
    """Yield added, removed and changed levels, types and releases."""
    for kind, after in new.facts.items():
        before = old.facts[kind]
        for name in dict.fromkeys([*before, *after]):
            if name not in before or name not in after:
                yield f"{kind} {name} {'added' if name in after else 'removed'}"
                continue
            yield from (f"{kind} {name}: {change}" for change in _entry_changes(before[name], after[name]))


def _entry_changes(before: Any, after: Any, path: str = "") -> Iterator[str]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from _entry_changes(before.get(key), after.get(key), f"{path}.{key}" if path else key)
    elif before != after:
        yield f"{path} {_format_value(before)} → {_format_value(after)}".strip()


def _format_value(value: Any) -> str:
    return "none" if value is None else str(value)


def _operators(old: ReadDialect, new: ReadDialect) -> Iterator[OperatorChange]:
    stretches = tuple(_stretch_changes(old.tensor, new.tensor))
    if stretches:
        yield OperatorChange(_TENSOR, "changed", stretches=stretches)
    for name in sorted({*old.operators, *new.operators}):
        before, after = old.operators.get(name), new.operators.get(name)
        if before is None or after is None:
            existing = before or after
            levels = str(LevelSet.of(existing.order, existing.at)) if existing is not None else ""
            yield OperatorChange(name, "added" if before is None else "removed", levels)
            continue
        stretches = tuple(_stretch_changes(before, after))
        if stretches:
            yield OperatorChange(name, "changed", stretches=stretches)
        elif before.whole != after.whole:
            yield OperatorChange(name, "words")


def _stretch_changes(old: ReadOperator, new: ReadOperator) -> Iterator[Stretch]:
    """Yield the changes, grouped by equal levels and sides."""
    levels: dict[tuple[str, Detail], list[str]] = {}
    for level in new.order:
        for side, detail in _changes_at(old, new, level):
            levels.setdefault((side, detail), []).append(level)
    groups: dict[tuple[str, str], list[Detail]] = {}
    for (side, detail), texts in levels.items():
        groups.setdefault((str(LevelSet.of(new.order, texts)), side), []).append(detail)
    for (level_range, side), details in groups.items():
        yield Stretch(level_range, side, tuple(details))
    all_levels_text = str(LevelSet.of(new.order, [level for level in new.order if level in new.at]))
    details = [*_define_changes(old.defines, new.defines), *_recipe_changes(old, new)]
    if details:
        yield Stretch(all_levels_text, "documented", tuple(details))
    for builds, sign, note in chain(_notes(old, new, "-"), _notes(new, old, "+")):
        yield Stretch(builds, "observed", (Detail(f"different results {sign} {note}"),))


def _changes_at(old: ReadOperator, new: ReadOperator, level: str) -> Iterator[tuple[str, Detail]]:
    """Yield the changes at a level, by side.

    A level that the older tables lack is compared with its predecessor.
    """
    sides_by_level = level
    if level not in old.order:
        earlier_levels = [name for name in new.order[: new.order.index(level)] if name in old.order]
        sides_by_level = earlier_levels[-1] if earlier_levels else level
    before, after = old.at.get(sides_by_level), new.at.get(level)
    if before is None or after is None:
        if before is not after:
            yield "documented", Detail("operator added" if before is None else "operator removed")
        return
    page = list(_side_changes(before["documented"], after["documented"]))
    yield from (("documented", detail) for detail in page)
    builds = list(_side_changes(before["observed"], after["observed"]))
    yield from (("observed", detail) for detail in builds if detail not in page)
    for impl in dict.fromkeys([*before, *after]):
        if impl not in {"documented", "observed"}:
            side_changes = _side_changes(before.get(impl, before["observed"]), after.get(impl, after["observed"]))
            yield from ((impl, detail) for detail in side_changes if detail not in builds)


def _side_changes(old: ReadSide, new: ReadSide) -> Iterator[Detail]:
    if old == new:
        return
    yield from field_changes(old.whole, new.whole)
    yield from _about_changes(old.whole, new.whole)
    for condition in dict.fromkeys([*old.cases, *new.cases]):
        before, after = old.cases.get(condition), new.cases.get(condition)
        if before is None or after is None:
            yield Detail("added" if before is None else "removed", when=condition)
            continue
        yield from (Detail(detail.what, detail.field, condition) for detail in field_changes(before, after))
    yield from rule_changes(old.rules, new.rules)


def _about_changes(old: Fields, new: Fields) -> Iterator[Detail]:
    for name, field_data in new.fields.items():
        if name in old.fields:
            yield from (Detail(change, name) for change in _entry_changes(old.fields[name], field_data))


def _define_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Detail]:
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield Detail(f"define {name}: {_format_value(old.get(name))} → {_format_value(new.get(name))}")


def _recipe_changes(old: ReadOperator, new: ReadOperator) -> Iterator[Detail]:
    for change in _entry_changes(old.recipe, new.recipe):
        yield Detail(f"computes {change}")


def _notes(operator: ReadOperator, other: ReadOperator, sign: str) -> Iterator[tuple[str, str, str]]:
    yield from ((builds, sign, note) for builds, note in operator.noted if (builds, note) not in other.noted)
