"""Views of the tables for people and programs: support per level, differences between levels, references of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.errors import InputError
from specgate.levels import LevelSet
from specgate.spec.store import DIALECTS
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.spec.forms import Cell, Overlay, Resolved, RuleForm, Side
    from specgate.spec.tables import Dialect, OperatorSpec

__all__ = ["differences", "find_operators", "operators_at", "resolved_table", "rule_reference"]


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
    """Return an operator's table: per support row the levels it holds at, what each field takes, and its rules."""
    spec = dialect(dialect_name).operator(
        operator.removeprefix("DML_OPERATOR_") if dialect_name == "directml" else operator
    )
    rows = []
    for when, resolved, levels in _distinct(spec):
        row: dict[str, Any] = {} if when is None else {"when": when}
        row |= {
            "since": resolved.level,
            "levels": list(levels),
            "fields": {name: _cell(resolved, name) for name in resolved.fields},
            "rules": {form.name: form.require.text for form in resolved.rules},
        }
        rows.append(row)
    return {
        "dialect": spec.dialect.name,
        "operator": spec.name,
        "summary": spec.raw["summary"],
        "levels": list(spec.levels),
        "kernel": spec.raw.get("execute", {}).get("kernel"),
        "source": spec.raw["source"],
        "rows": rows,
    }


def _distinct(spec: OperatorSpec) -> Iterator[tuple[str | None, Resolved, LevelSet]]:
    """Yield the operator, case by case, once per stretch of levels at which it is the same, with those levels.

    The first part is the case's condition, None for an operator without cases.
    """
    groups: dict[Any, tuple[Resolved, list[str]]] = {}
    for when, _ in spec.support:
        for level in spec.levels:
            resolved = _in_case(spec.resolve(level), when)
            if resolved is not None:
                key = (when, resolved.row, tuple(resolved.fields), resolved.rules)
                groups.setdefault(key, (resolved, []))[1].append(level)
    for (when, *_), (resolved, levels) in groups.items():
        yield when, resolved, LevelSet.of(spec.dialect.levels, levels)


def _in_case(resolved: Resolved | None, when: str | None) -> Resolved | None:
    if resolved is None or when is None:
        return resolved
    return next((case.resolved for case in resolved.cases if case.when.text == when), None)


def _cell(resolved: Resolved, name: str) -> dict[str, Any]:
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
    if cell is not None:
        if cell.types is not None:
            shown["types"] = list(cell.types)
        if cell.ranks is not None:
            shown["ranks"] = str(cell.ranks)
        if cell.values is not None:
            shown["values"] = list(cell.values)
        if cell.range is not None:
            shown["range"] = str(cell.range)
        if cell.operators is not None:
            shown["operators"] = list(cell.operators)
    return shown


def operators_at(table: Dialect, level: str) -> list[dict[str, Any]]:
    """Return every operator with a table: whether it exists at `level`, and whether with all it has at the newest."""
    table.check_level(level)
    rows = []
    for name in table.operators:
        spec = table.operator(name)
        here, last = spec.resolve(level), spec.resolve(list(spec.levels)[-1])
        full = (
            here is not None and last is not None and (here.row, tuple(here.fields)) == (last.row, tuple(last.fields))
        )
        support = "no" if here is None else "yes" if full else "limited"
        rows.append({"operator": name, "support": support, "first_level": spec.levels.first, "rows": list(spec.rows)})
    return rows


def differences(table: Dialect, before: str, after: str) -> list[dict[str, Any]]:
    """Return what changes from level `before` to `after`, per operator: added, removed, or fields and rules changed."""
    table.check_level(before)
    table.check_level(after)
    found: list[dict[str, Any]] = []
    for name in table.operators:
        spec = table.operator(name)
        old, new = spec.resolve(before), spec.resolve(after)
        if old is None and new is None:
            continue
        if old is None or new is None:
            found.append({"operator": name, "change": "added" if old is None else "removed", "details": []})
            continue
        details = [*_field_changes(old, new), *_case_changes(spec, old, new), *_rule_changes(old, new)]
        details += _behaviour_changes(spec, before, after)
        if details:
            found.append({"operator": name, "change": "changed", "details": details})
    return found


def _field_changes(old: Resolved, new: Resolved) -> Iterator[str]:
    for name in dict.fromkeys([*old.fields, *new.fields]):
        if name not in old.fields:
            yield f"{name}: added"
        elif name not in new.fields:
            yield f"{name}: removed"
        else:
            yield from _cell_changes(name, old.cells.get(name), new.cells.get(name))


def _case_changes(spec: OperatorSpec, old: Resolved, new: Resolved) -> Iterator[str]:
    for when in spec.whens:
        before, after = _in_case(old, when.text), _in_case(new, when.text)
        if before is None or after is None:
            if before is not after:
                yield f"{when.text}: {'added' if before is None else 'removed'}"
            continue
        for name in [name for name in new.fields if name in old.fields]:
            changes = _cell_changes(name, before.cells.get(name), after.cells.get(name))
            yield from (f"{when.text}: {change}" for change in changes)


def _cell_changes(name: str, old: Cell | None, new: Cell | None) -> Iterator[str]:
    for part in ("types", "values", "operators"):
        before, after = (getattr(cell, part) or () if cell else () for cell in (old, new))
        added = [str(x) for x in after if x not in before]
        gone = [str(x) for x in before if x not in after]
        if added or gone:
            signed = [f"+{x}" for x in added] + [f"-{x}" for x in gone]
            yield f"{name}: {part} {' '.join(signed)}"
    for part in ("ranks", "range"):
        before, after = (getattr(cell, part) if cell else None for cell in (old, new))
        if before != after:
            yield f"{name}: {part} {before or 'any'} → {after or 'any'}"


def _rule_changes(old: Resolved, new: Resolved) -> Iterator[str]:
    before = {form.name: form.require.text for form in old.rules}
    after = {form.name: form.require.text for form in new.rules}
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            yield f"rule {name}: {before.get(name, 'none')} → {after.get(name, 'none')}"


def _behaviour_changes(spec: OperatorSpec, before: str, after: str) -> Iterator[str]:
    old, new = spec.behaviour(before), spec.behaviour(after)
    for name in dict.fromkeys([*old, *new]):
        if old.get(name) != new.get(name):
            yield f"computes {name}: {_shown(old.get(name))} → {_shown(new.get(name))}"


def _shown(value: Any) -> str:
    return str(value["expression"]) if isinstance(value, dict) else str(value)


def rule_reference(rule_id: str) -> dict[str, Any]:
    """Return all that is known of a rule by its id (``directml/ONE_HOT/axis-range``); InputError for no such id."""
    parts = rule_id.split("/")
    if len(parts) != 3 or parts[0] not in DIALECTS:
        raise InputError(f"expected a rule id such as directml/ONE_HOT/axis-range, found {rule_id!r:.100}")
    table = dialect(parts[0])
    if parts[1] == "tensor":
        whole = LevelSet.of(table.levels, table.levels)
        stated = [*_stated(table.tensor_rules, whole), *_enforced(table.tensor_overlays)]
        return _reference(rule_id, table, stated, parts[2], table.raw["tensor"])
    spec = table.operator(parts[1])
    field, dot, aspect = parts[2].partition(".")
    if dot and field in spec.fields:
        return _cell_reference(rule_id, spec, field, aspect)
    if parts[2] in _GENERAL:
        return {"id": rule_id, "says": _GENERAL[parts[2]], "holds": [], "source": spec.raw["source"]}
    stated = [*_stated(spec.rule_forms, spec.levels), *_enforced(spec.overlays)]
    return _reference(rule_id, table, stated, parts[2], spec.raw)


_GENERAL = {
    "level": "the operator exists at the level that the target has",
    "version": "the descriptor was written for a level that the target has",
    "unknown-attribute": "every attribute is one that the operator defines",
    "too-many-inputs": "no more inputs are given than the operator defines",
    "support-case": "the descriptor is one of those that the level's support rows speak of",
    "too-many-outputs": "no more outputs are given than the operator defines",
}
_ASPECTS = {
    "type": "the type is one that the level's support row lists",
    "rank": "the number of dimensions is one that the level's support row lists",
    "value": "the value is one that the level's support row lists",
    "operator": "the operator fused into the field is one that the level's support row lists, and is whole",
    "required": "the field is given",
    "exists": "the field is one that the operator has at the level",
    "wrong-kind": "the attribute's value is of the kind that the operator defines",
}


class _Stated(NamedTuple):
    """A rule with the levels it may hold at, and who has it: the page, builds, or one implementation of them."""

    form: RuleForm
    levels: LevelSet
    basis: Side
    by: str | None


def _stated(forms: Iterable[RuleForm], levels: LevelSet) -> Iterator[_Stated]:
    yield from (_Stated(form, levels, "documented", None) for form in forms)


def _enforced(overlays: Iterable[Overlay]) -> Iterator[_Stated]:
    yield from (_Stated(form, o.builds, "observed", o.by) for o in overlays for form in o.rules)


def _held(stated: _Stated, table: Dialect) -> dict[str, Any]:
    form = stated.form
    levels = [at for at in stated.levels if table.holds(at, form.since, form.until)]
    held = {"levels": str(LevelSet.of(table.levels, levels)), "text": form.require.text}
    if stated.basis == "observed":
        held["basis"] = stated.basis
    if stated.by is not None:
        held["by"] = stated.by
    return held


def _reference(rule_id: str, table: Dialect, every: list[_Stated], name: str, raw: dict[str, Any]) -> dict[str, Any]:
    mine = [stated.form for stated in every if stated.form.name == name]
    if not mine:
        known = ", ".join(dict.fromkeys(stated.form.name for stated in every))
        raise InputError(f"unknown rule {rule_id!r:.100}; known there: {known}")
    held = [_held(stated, table) for stated in every if stated.form.name == name]
    entry = raw.get("counterexamples", {}).get(name)
    reference: dict[str, Any] = {
        "id": rule_id,
        "says": next((form.because for form in mine if form.because), None),
        "holds": held,
        "fix": next((form.fix for form in mine if form.fix), None),
        "source": raw.get("source") or raw.get("sources"),
    }
    if entry is not None:
        from specgate.spec.examples import counterexample

        spec = table.operator(entry.get("operator") or rule_id.split("/")[1])
        failing, level = counterexample(spec, entry)
        reference["accepted"] = spec.raw["examples"][entry["of"]]["descriptor"]
        reference["rejected"] = {"at": level, "change": entry["set"], "descriptor": failing}
    return reference


def _cell_reference(rule_id: str, spec: OperatorSpec, field: str, aspect: str) -> dict[str, Any]:
    if aspect not in _ASPECTS:
        raise InputError(f"unknown rule {rule_id!r:.100}; known aspects of a field: {', '.join(_ASPECTS)}")
    taken_at: dict[str, LevelSet] = {}
    for when, resolved, at in _distinct(spec):
        cell = _cell(resolved, field) if field in resolved.fields else {}
        taken = cell.get({"value": "values", "rank": "ranks", "type": "types", "operator": "operators"}.get(aspect, ""))
        if taken:
            text = ", ".join(map(str, taken)) if isinstance(taken, list) else str(taken)
            text += f" where {when}" if when else ""
            taken_at[text] = taken_at[text] | at if text in taken_at else at
    holds = [{"levels": str(at), "text": text} for text, at in taken_at.items()]
    return {"id": rule_id, "says": _ASPECTS[aspect], "holds": holds, "source": spec.raw["source"]}
