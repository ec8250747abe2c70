"""Views of the tables for people and programs: an operator's table, and the operators of a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.levels import LevelSet
from specgate.spec.history import distinct, more_from, steps
from specgate.spec.store import DIALECTS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.spec.forms import Bounds, Cell, FieldInfo, Overlay, Resolved, RuleForm
    from specgate.spec.tables import Dialect, OperatorSpec

__all__ = ["find_operators", "observed", "operators_at", "resolved_table", "rules_of", "shown_cell"]


def find_operators(name: str) -> list[OperatorSpec]:
    """Return the operators that `name` may mean in any dialect: exact first, else ignoring case and underscores."""
    plain = name.removeprefix("DML_OPERATOR_")
    tables = [dialect(d) for d in DIALECTS]
    exact = [table.operator(plain) for table in tables if plain in table.raw["operators"]]

    def folded(text: str) -> str:
        return text.replace("_", "").lower()

    loose = [t.operator(op) for t in tables for op in t.operators if folded(op) == folded(plain)]
    return exact if len(exact) > 0 and plain != plain.lower() else loose


def resolved_table(dialect_name: str, operator: str) -> dict[str, Any]:
    """Return an operator's table as plain data.

    rows: per support row the levels it holds at, what each field takes, and its rules. attributes and tensors: what
    holds at every level. rules: each form of each rule with its levels. observed: what builds do instead of all that.
    """
    spec = dialect(dialect_name).operator(
        operator.removeprefix("DML_OPERATOR_") if dialect_name == "directml" else operator
    )
    rows = []
    for when, resolved, levels in distinct(spec):
        row: dict[str, Any] = {} if when is None else {"when": when}
        row |= {
            "since": resolved.level,
            "levels": list(levels),
            "fields": {name: shown_cell(resolved, name) for name in resolved.fields},
            "rules": {form.name: form.require.text for form in resolved.rules},
        }
        rows.append(row)
    return {
        "dialect": spec.dialect.name,
        "operator": spec.name,
        "summary": spec.raw.get("summary", ""),
        "levels": list(spec.levels),
        "kernel": spec.raw.get("execute", {}).get("kernel"),
        "source": spec.raw["source"],
        "tensors": {info.name: _about(info) for info in spec.fields.values() if info.tensor},
        "attributes": {info.name: _about(info) for info in spec.fields.values() if not info.tensor},
        "rows": rows,
        "rules": rules_of(spec.dialect, spec.rule_forms, spec.levels),
        "observed": observed(spec.dialect, spec.overlays, spec.raw.get("observed", [])),
        "unknowns": spec.raw.get("unknowns", []),
        "examples": list(spec.raw.get("examples", {})),
    }


def _about(info: FieldInfo) -> dict[str, Any]:
    known = {
        "values": list(info.words) if info.words else None,
        "of": info.of,
        "optional": info.optional or None,
        "default": info.default,
        "called": info.called,
        "since": info.since,
        "until": info.until,
        "doc": info.doc,
    }
    first = {"kind": info.kind} if info.tensor else {"type": info.type}
    return first | {key: value for key, value in known.items() if value is not None}


def shown_cell(resolved: Resolved, name: str) -> dict[str, Any]:
    """Return what a field is and what its cell takes there."""
    info, cell = resolved.fields[name], resolved.cells.get(name)
    shown: dict[str, Any] = {"kind": info.kind}
    if not info.tensor:
        shown["type"] = info.type
        if info.words:
            shown["values"] = list(info.words)
        if info.default is not None:
            shown["default"] = info.default
    if info.optional:
        shown["optional"] = True
    return shown | _taken(cell) if cell is not None else shown


def _taken(cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in ("types", "ranks", "values", "range", "operators"):
        taken: tuple[Any, ...] | Bounds | None = getattr(cell, part)
        if taken is not None:
            found[part] = list(taken) if isinstance(taken, tuple) else str(taken)
    return found


def rules_of(table: Dialect, forms: Iterable[RuleForm], levels: LevelSet) -> list[dict[str, Any]]:
    """Return rules as plain data, a form each, with those of `levels` that it holds at."""
    found = []
    for form in forms:
        held = [level for level in levels if table.holds(level, form.since, form.until)]
        rule: dict[str, Any] = {
            "name": form.name,
            "levels": str(LevelSet.of(table.levels, held)),
            "require": form.require.text,
        }
        more = {"when": form.when.text if form.when else None, "because": form.because, "fix": form.fix}
        found.append(rule | {key: value for key, value in more.items() if value is not None})
    return found


def observed(table: Dialect, overlays: Iterable[Overlay], raw: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what builds do instead of the page as plain data; `raw` holds the overlays' entries, in their order."""
    from specgate.spec.forms import Cell

    found = []
    for overlay, entry in zip(overlays, raw, strict=True):
        cells = {
            name: ({"when": cell["when"]} if "when" in cell else {}) | _taken(Cell.make(cell, table.types))
            for name, cell in overlay.cells.items()
        }
        parts: dict[str, Any] = {
            "by": overlay.by,
            "support": cells,
            "waives": sorted(overlay.waives),
            "rules": rules_of(table, overlay.rules, overlay.builds),
            "values": {name: dict(value) for name, value in entry.get("values", {}).items()},
            "bug": entry.get("bug"),
            "evidence": entry.get("evidence"),
        }
        found.append({"builds": str(overlay.builds)} | {key: value for key, value in parts.items() if value})
    return found


def operators_at(table: Dialect, level: str) -> list[dict[str, Any]]:
    """Return every operator with a table: whether it exists at `level`, and whether any later level takes more.

    support: ``yes``, ``limited`` or ``no``. more_from: for a limited one the later levels that take more.
    """
    table.check_level(level)
    rows = []
    for name in table.operators:
        spec = table.operator(name)
        at = spec.level_for(level)
        more = more_from(spec, at) if at is not None else []
        rows.append(
            {
                "operator": name,
                "support": "no" if at is None or spec.resolve(at) is None else "limited" if more else "yes",
                "first_level": spec.levels.first,
                "rows": list(spec.rows),
                "changed": list(steps(spec))[1:],
                "more_from": more,
            }
        )
    return rows
