"""The operators to export, and their tables as data, JSON and source files."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects import dialect_names, implementing, is_dialect, package
from specgate.dialects.protocols import Exporter
from specgate.errors import InputError
from specgate.files import write_text
from specgate.report import plural
from specgate.spec.tables import dialect
from specgate.spec.version import tables_version, version_of
from specgate.spec.view import field_facts, find_operators, observed_entries, operator_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.export import ExportScope
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import Bounds, Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec


def csharp(result: ExportScope) -> list[str]:
    """Write the C# file that prints descriptions as JSON; InputError."""
    if result.operators:
        raise InputError("the C# file contains every operator; remove --operator")
    return _write_document(result, "csharp", "C#")


def cpp(result: ExportScope) -> list[str]:
    """Write the C++ header that validates descriptions in-process.

    Raises InputError and NoTable.
    """
    return _write_document(result, "cpp", "C++")


def _write_document(scope: ExportScope, language: str, title: str) -> list[str]:
    """Write the file and return a message, or the text without a file."""
    owners = map(package, scope.dialects) if scope.dialects else implementing(Exporter)
    exporters = (owner for owner in owners if isinstance(owner, Exporter))
    sources = (exporter.source_for(language, scope.operators, scope.levels, text=scope.text) for exporter in exporters)
    texts = [text for text in sources if text is not None]
    if not texts:
        raise InputError(f"{' and '.join(scope.dialects)} has no structures that programs in {title} hold")
    if scope.output is None:
        return texts
    write_text(scope.output, "".join(texts))
    return [f"{scope.output} written\n"]


def select_operators(outcome: ExportScope) -> dict[str, list[str]]:
    """Return the requested operators per dialect, in order.

    Raises InputError or NoTable for unknown ones.
    """
    for name in outcome.dialects:
        if not is_dialect(name):
            raise InputError(f"unknown dialect {name!r:.60}; expected one of {', '.join(dialect_names())}")
    names = outcome.dialects or dialect_names()
    if not outcome.operators:
        return {name: dialect(name).operators for name in names}
    names_by_name: dict[str, set[str]] = {}
    for text in outcome.operators:
        specs = [spec for spec in find_operators(text) if spec.dialect.name in names]
        if not specs:
            result, slash, rest = text.partition("/")
            specs = [operator_named(result if slash and is_dialect(result) else names[0], rest if slash else text)]
        for spec in specs:
            names_by_name.setdefault(spec.dialect.name, set()).add(spec.name)
    return {name: sorted(names_by_name[name]) for name in names if name in names_by_name}


_PARTS: Final = ("types", "ranks", "values", "range", "operators", "variable")


class RuleKeys:
    """A key for each form of each rule.

    It is the rule's name, with a number from the second form on (``same-type~2``).
    """

    def __init__(self, prefix: str, forms: Iterable[RuleForm]) -> None:
        self.rules: dict[str, dict[str, Any]] = {}
        self._keys: dict[RuleForm, str] = {}
        for form in forms:
            if form in self._keys:
                continue
            count = sum(other.name == form.name for other in self._keys)
            key = f"{form.name}~{count + 1}" if count else form.name
            self._keys[form] = key
            self.rules[key] = {"id": f"{prefix}/{form.name}", **rule_data(form)}

    def of(self, forms: Iterable[RuleForm]) -> list[str]:
        """Return the keys of some forms."""
        return [self._keys[form] for form in forms]


def rule_data(form: RuleForm) -> dict[str, Any]:
    """Return one form of a rule: expression, message and metadata."""
    optional_keys = {
        "when": form.when.text if form.when is not None else None,
        "because": form.because,
        "fix": form.fix,
        "on": form.on,
        "after": list(form.after) or None,
    }
    entries = {key: value for key, value in optional_keys.items() if value is not None}
    return {"require": form.require.text, **entries, "structural": form.structural}


def operator_data(spec: OperatorSpec) -> dict[str, Any]:
    """Return an operator's complete table."""
    table, home = spec.table, spec.dialect
    keys = RuleKeys(
        f"{home.name}/{spec.name}", (*spec.rule_forms, *(f for overlay in spec.overlays for f in overlay.rules))
    )
    entries = {
        "domain": home.domain or None,
        "number": home.operator_numbers.get(spec.name),
        "family": table.family,
        "summary": table.summary,
    }
    return {
        "operator": spec.name,
        **{key: value for key, value in entries.items() if value},
        "levels": list(spec.levels),
        "source": table.sources,
        "unknowns": table.unknowns,
        "define": dict(table.defines),
        "resolved": _merged_rows(spec, keys),
        "rules": keys.rules,
        "builds": observed_entries(home, spec.overlays, table.observed),
        "written": table.entries,
    }


def _merged_rows(spec: OperatorSpec, keys: RuleKeys) -> list[dict[str, Any]]:
    """Return the table rows, merged over levels with equal rows."""
    implementations = sorted({overlay.by for overlay in spec.overlays if overlay.by is not None})
    entries: dict[str, dict[str, Any]] = {}
    for level in spec.levels:
        message = _level(spec, level, implementations, keys)
        entries.setdefault(json.dumps(message), {"levels": [], **message})["levels"].append(level)
    return list(entries.values())


def _level(spec: OperatorSpec, level: str, implementations: Iterable[str], keys: RuleKeys) -> dict[str, Any]:
    documented, observed = spec.resolve(level), spec.resolve(level, "observed")
    page = _side(documented, keys)
    entries = {"documented": page}
    builds = _side(observed, keys)
    if builds != page:
        entries["observed"] = builds
    side_data = {impl: _side(spec.resolve(level, "observed", impl), keys) for impl in implementations}
    other = {implementation: side for implementation, side in side_data.items() if side != builds}
    return entries | ({"implementations": other} if other else {})


def _side(resolved: Resolved | None, keys: RuleKeys) -> dict[str, Any]:
    if resolved is None:  # every level in `levels` has a row on both sides
        raise AssertionError
    fields = {name: _field(info, resolved.cells.get(name)) for name, info in resolved.fields.items()}
    entries: dict[str, Any] = {"fields": fields, "rules": keys.of(resolved.rules)}
    if resolved.cases:
        entries["cases"] = [{"when": case.when.text, "fields": _cells(case.resolved.cells)} for case in resolved.cases]
    return entries


def _field(info: FieldInfo, cell: Cell | None) -> dict[str, Any]:
    entries = field_facts(info, "enum", "min_count", "heterogeneous")
    return {"kind": info.kind, "type": info.type} | entries | (_cell(cell) if cell is not None else {})


def _cells(cells: Mapping[str, Cell]) -> dict[str, Any]:
    return {name: _cell(cell) for name, cell in cells.items()}


def _cell(cell: Cell) -> dict[str, Any]:
    parts = {part: getattr(cell, part) for part in _PARTS}
    return {
        part: list(value) if isinstance(value, tuple) else bounds_data(value) if part in {"ranks", "range"} else value
        for part, value in parts.items()
        if value is not None
    }


def bounds_data(bounds: Bounds) -> dict[str, Any]:
    """Return supported ranks or numbers as data.

    A range has ``min`` and ``max`` (omitted: unbounded), a list has ``only``.
    """
    if bounds.only is not None:
        return {"only": list(bounds.only)}
    return {"min": bounds.low} | ({} if bounds.high is None else {"max": bounds.high})


SCHEMA: Final = "specgate-tables/1"
#: The second part increases when members are added, the third when only descriptions change. The first is the schema's
#: version, under which no member is removed or changes its meaning.
REVISION: Final = "1.0.0"
LICENCE: Final = {"spdx": "MIT", "copyright": "Copyright (c) 2026 The specgate authors"}


def heading() -> dict[str, Any]:
    """Return the header of each export file: schema, versions and license."""
    from specgate import __version__

    return {
        "schema": SCHEMA,
        "schema_version": REVISION,
        "tables_version": tables_version(),
        "specgate_version": __version__,
        "license": LICENCE,
    }


def document(result: ExportScope) -> dict[str, Any]:
    """Return the requested tables; raise InputError or NoTable."""
    picked = select_operators(result)
    return {**heading(), "dialects": {name: dialect_data(dialect(name), picked[name]) for name in picked}}


def dialect_data(table: Dialect, operators: Iterable[str]) -> dict[str, Any]:
    """Return a dialect's common data and some of its operators."""
    parts = table.tables
    return {
        "dialect": table.name,
        "title": parts.title,
        "version": version_of(table),
        "level_word": table.level_word,
        "levels": {level: dict(entry) for level, entry in parts.levels.items()},
        "domains": {name: _domain(table, name) for name in table.domains},
        "types": dict(parts.types),
        "enums": dict(parts.enums),
        "tensor_rules": _tensor_rules(table),
        "implementations": dict(parts.about.get("implementations", {})),
        "environments": list(table.environments),
        "source": list(parts.sources_of_targets),
        "operators": {name: operator_data(table.operator(name)) for name in operators},
    }


def _domain(table: Dialect, name: str) -> dict[str, Any]:
    """Return a domain's versions, and the version at each level.

    A version of the domain is a level of its operators.
    """
    domain_levels = {level: table.domain_level(name, level) for level in table.levels}
    return {
        "levels": list(table.for_domain(name).levels),
        "at": {k: v for k, v in domain_levels.items() if v is not None},
    }


def _tensor_rules(table: Dialect) -> dict[str, Any]:
    """Return every tensor's rules with documented and observed levels."""
    forms: list[RuleForm] = [*table.tensor_rules, *(f for overlay in table.tensor_overlays for f in overlay.rules)]
    keys = RuleKeys(f"{table.name}/tensor", forms)
    page: dict[str, list[str]] = {key: [] for key in keys.rules}
    builds: dict[str, list[str]] = {key: [] for key in keys.rules}
    for level in table.levels:
        for key in keys.of(table.tensor_rules_at(level, "documented")):
            page[key].append(level)
        for key in keys.of(table.tensor_rules_at(level, "observed")):
            builds[key].append(level)
    return {key: {**rule, "documented": page[key], "observed": builds[key]} for key, rule in keys.rules.items()}


INDEX: Final = "index.json"
_SCHEMA_FILE: Final = "tables.schema.json"


def export(result: ExportScope) -> list[str]:
    """Write the tables and the schema; return the text without an output."""
    entries = document(result)
    if result.output is None:
        return [_text(entries)]
    place = Path(result.output)
    operators_text = plural(sum(len(part["operators"]) for part in entries["dialects"].values()), "operator")
    if place.suffix == ".json" and not place.is_dir():
        write_text(place, _text(entries))
        write_text(place.with_suffix(".schema.json"), schema_text())
    else:
        _folder(entries, place)
    return [f"{operators_text}, tables {entries['tables_version']}: {result.output}\n"]


def schema_text() -> str:
    """Return the schema of the export."""
    return files("specgate.export").joinpath(_SCHEMA_FILE).read_text(encoding="utf-8")


def _folder(entries: dict[str, Any], folder: Path) -> None:
    before = _previous_files(folder)
    try:
        for name in entries["dialects"]:
            (folder / name).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(folder)) from None
    head = heading()
    listed_files: dict[str, Any] = {}
    for name, part in entries["dialects"].items():
        paths = {operator: f"{name}/{operator}.json" for operator in part["operators"]}
        for operator, data in part["operators"].items():
            write_text(folder / paths[operator], _text({**head, "dialect": name, **data}))
        listed_files[name] = {**part, "operators": paths}
    write_text(folder / INDEX, _text({**entries, "dialects": listed_files}))
    write_text(folder / _SCHEMA_FILE, schema_text())
    current = {path for part in listed_files.values() for path in part["operators"].values()}
    for path in before - current:  # of operators that the tables no longer have
        (folder / path).unlink(missing_ok=True)


def _previous_files(folder: Path) -> set[str]:
    """Return the operator files of an earlier export to this folder.

    Raises InputError for a folder that is not an export.
    """
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return set()
    try:
        index = json.loads((folder / INDEX).read_text(encoding="utf-8"))
        if index["schema"] != SCHEMA:
            raise ValueError
        listed_paths = {path for part in index["dialects"].values() for path in part["operators"].values()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        reason = "expected FILE.json, a new or empty folder, or one that an earlier export wrote"
        raise InputError(reason, file=str(folder)) from None
    shape = {path for path in listed_paths if isinstance(path, str) and len(Path(path).parts) == 2 and ".." not in path}
    return {path for path in shape if not Path(path).is_absolute() and path.endswith(".json")}


def _text(data: dict[str, Any]) -> str:
    return json.dumps(to_json_data(data), ensure_ascii=False, allow_nan=False, separators=(",", ":")) + "\n"


def to_json_data(value: Any) -> Any:
    """Return JSON data; infinity and NaN become text as in reports."""
    if isinstance(value, dict):
        return {key: to_json_data(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_data(part) for part in value]
    return str(value) if isinstance(value, float) and value - value != 0 else value
