"""Plain-data views of an operator's table and of the operators at a level."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from specgate.dialects import dialect_names, is_dialect
from specgate.errors import NoTable
from specgate.levels import LevelSet
from specgate.near_names import fold_name, near_operators
from specgate.spec.changes import iterate_distinct, more_from, steps
from specgate.spec.fields import Cell
from specgate.spec.tables import dialect
from specgate.targets import Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.fields import Bounds, FieldInfo
    from specgate.spec.forms import Overlay, Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec

_PREFIX: Final = "DML_OPERATOR_"


def find_operators(name: str, dialect_name: str | None = None) -> list[OperatorSpec]:
    """Return the operators that `name` may mean, in one or all dialects.

    An exact match wins; otherwise case, underscores and the vendor's prefix are ignored (``dml_operator_one_hot``).
    ``onnx/onehot`` includes the dialect.
    """
    text, slash, rest = name.partition("/")
    if slash and is_dialect(text.lower()):
        name, dialect_name = rest, text.lower()
    plain_name = name[len(_PREFIX) :] if name.upper().startswith(_PREFIX) else name
    tables = [dialect(d) for d in (dialect_names() if dialect_name is None else (dialect_name,))]
    exact = [table.operator(plain_name) for table in tables if plain_name in table.tables.operators]
    result = fold_name(plain_name)
    loose = [t.operator(op) for t in tables for op in t.operators if fold_name(op) == result]
    return exact if exact and (plain_name != plain_name.lower() or dialect_name is not None) else loose


def operator_named(dialect_name: str, name: str) -> OperatorSpec:
    """Return the operator of a dialect that `name` means.

    Raises NoTable with the nearest name.
    """
    table = dialect(dialect_name)
    if name in table.tables.operators:
        return table.operator(name)
    specs = find_operators(name, dialect_name)
    return specs[0] if specs else table.operator(name.removeprefix(_PREFIX))


def unknown_operator_error(name: str) -> NoTable:
    """Return the error for an operator unknown to all dialects.

    It lists similar names.
    """
    similar = []
    for dialect_name in dialect_names():
        similar += [
            f"{dialect_name}/{match}"
            for match in near_operators(name, list(dialect(dialect_name).tables.operators), 0.8)
        ]
    hint = f"; did you mean {' or '.join(similar)}?" if similar else ""
    return NoTable(f"no dialect has a table for {name!r:.80}{hint}")


def resolved_table(dialect_name: str, operator: str) -> dict[str, Any]:
    """Return an operator's table as plain data.

    rows: per support row its levels, the limits of each field, and its rules. attributes and tensors: what applies at
    every level. rules: each form of each rule with its levels. observed: observed differences.
    """
    spec = operator_named(dialect_name, operator)
    rows = []
    for condition, resolved, levels in iterate_distinct(spec):
        row: dict[str, Any] = {} if condition is None else {"when": condition}
        row |= {
            "since": resolved.level,
            "levels": list(levels),
            "fields": {name: describe_cell(resolved, name) for name in resolved.fields},
            "rules": {form.name: form.require.text for form in resolved.rules},
        }
        rows.append(row)
    return {
        "dialect": spec.dialect.name,
        "operator": spec.name,
        "summary": spec.table.summary,
        "levels": list(spec.levels),
        "kernel": spec.table.behaviour.get("kernel"),
        "source": spec.table.sources,
        "tensors": {info.name: _describe_field(info) for info in spec.fields.values() if info.tensor},
        "attributes": {info.name: _describe_field(info) for info in spec.fields.values() if not info.tensor},
        "rows": rows,
        "rules": rules_of(spec.dialect, spec.rule_forms, spec.levels),
        "observed": observed_entries(spec.dialect, spec.overlays, spec.table.observed),
        "unknowns": spec.table.unknowns,
        "examples": list(spec.table.examples),
    }


def _describe_field(info: FieldInfo) -> dict[str, Any]:
    first = {"kind": info.kind} if info.tensor else {"type": info.type}
    return first | field_facts(info, "since", "until")


def field_facts(info: FieldInfo, *optional_keys: str) -> dict[str, Any]:
    """Return the level-independent facts of a field.

    Empty facts are left out. optional_keys: names of further facts.
    """
    further = {name: getattr(info, name) for name in optional_keys}
    facts = {
        "values": list(info.words) if info.words else None,
        "type_from": info.type_from,
        "optional": info.optional or None,
        "default": info.default,
        "vendor_name": info.vendor_name if info.vendor_name != info.name else None,
        **{name: None if value is False else value for name, value in further.items()},
        "doc": info.doc,
    }
    return {key: value for key, value in facts.items() if value is not None}


def describe_cell(resolved: Resolved, name: str) -> dict[str, Any]:
    """Return a field's definition and the limits of its cell."""
    info, cell = resolved.fields[name], resolved.cells.get(name)
    cell_data: dict[str, Any] = {"kind": info.kind}
    if not info.tensor:
        cell_data["type"] = info.type
        if info.words:
            cell_data["values"] = list(info.words)
        if info.default is not None:
            cell_data["default"] = info.default
    if info.optional:
        cell_data["optional"] = True
    return cell_data | _cell_data(cell) if cell is not None else cell_data


def _cell_data(cell: Cell) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for part in ("types", "ranks", "values", "range", "operators"):
        result: tuple[Any, ...] | Bounds | None = getattr(cell, part)
        if result is not None:
            entries[part] = list(result) if isinstance(result, tuple) else str(result)
    return entries


def rules_of(table: Dialect, forms: Iterable[RuleForm], levels: LevelSet) -> list[dict[str, Any]]:
    """Return rules as plain data, one item per form.

    Each item lists those of `levels` at which the form applies.
    """
    tables = []
    for form in forms:
        texts = [level for level in levels if table.holds(level, form.since, form.until)]
        rule: dict[str, Any] = {
            "name": form.name,
            "levels": str(LevelSet.of(table.levels, texts)),
            "require": form.require.text,
        }
        optional_keys = {"when": form.when.text if form.when else None, "because": form.because, "fix": form.fix}
        tables.append(rule | {key: value for key, value in optional_keys.items() if value is not None})
    return tables


def observed_entries(
    table: Dialect, overlays: Iterable[Overlay], raw: Iterable[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return observed differences as plain data.

    `raw` holds the compiled entries of the overlays, in the same order.
    """
    tables = []
    for overlay, entry in zip(overlays, raw, strict=True):
        cells = {
            name: ({"when": cell["when"]} if "when" in cell else {}) | _cell_data(Cell.make(cell, table.types))
            for name, cell in overlay.cells.items()
        }
        parts: dict[str, Any] = {
            "by": overlay.by,
            "support": cells,
            "not_enforced": sorted(overlay.not_enforced),
            "attributes": sorted(overlay.attributes),
            **{key: list(entry.get(key, ())) for key in ("nondeterministic", "partially_enforced", "tools_write")},
            "rules": rules_of(table, overlay.rules, overlay.builds),
            "values": {name: dict(value) for name, value in entry.get("values", {}).items()},
            "bug": entry.get("bug"),
            "evidence": entry.get("evidence"),
        }
        tables.append({"builds": str(overlay.builds)} | {key: value for key, value in parts.items() if value})
    return tables


@dataclass(frozen=True, slots=True)
class OperatorSupport:
    """An operator at one level.

    support: ``yes``, ``limited`` where a later level accepts more, or ``no``. first_level: the first level with the
    operator. rows: the levels with a separate support row. changed: the levels at which anything changes. more_from:
    for a limited operator, the later levels that accept more.
    """

    operator: str
    support: Literal["yes", "limited", "no"]
    first_level: str | None
    rows: tuple[str, ...]
    changed: tuple[str, ...]
    more_from: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return one item of ``specgate support --format json``."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def operator_support(target: Target) -> list[OperatorSupport]:
    """Return every operator with a table, at the level of `target`."""
    table = dialect(target.dialect)
    supports = []
    for name in table.operators:
        spec = table.operator(name)
        version_level = spec.level_for(target.level)
        donors = more_from(spec, version_level) if version_level is not None else []
        exists: Literal["yes", "limited", "no"] = "limited" if donors else "yes"
        support = "no" if version_level is None or spec.resolve(version_level) is None else exists
        changed_levels = tuple(steps(spec))[1:]
        supports.append(
            OperatorSupport(name, support, spec.levels.first, tuple(spec.rows), changed_levels, tuple(donors))
        )
    return supports


def operators_at(table: Dialect, level: str) -> list[dict[str, Any]]:
    """Return the result of `operator_support` as plain data."""
    table.check_level(level)
    return [support.to_dict() for support in operator_support(Target(table.name, level))]
