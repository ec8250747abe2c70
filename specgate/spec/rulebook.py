"""The reference of a rule by its id: what it says, at which levels, its sources and a failing example."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.dialects import is_dialect
from specgate.errors import InputError
from specgate.levels import LevelSet
from specgate.spec.history import distinct
from specgate.spec.tables import dialect
from specgate.spec.variables import SAME_TYPE
from specgate.spec.view import shown_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import Overlay, RuleForm, SingleBasis
    from specgate.spec.operator_spec import OperatorSpec
    from specgate.spec.written import OperatorTable, TensorTable

__all__ = ["rule_names", "rule_reference"]


def rule_reference(rule_id: str) -> dict[str, Any]:
    """Return all that is known of a rule by its id (``directml/ONE_HOT/axis-range``); InputError for no such id."""
    parts = rule_id.split("/")
    if len(parts) == 2 and is_dialect(parts[0]) and parts[1] in dialect(parts[0]).tables.operators:
        forms = dialect(parts[0]).operator(parts[1]).rule_forms
        known = ", ".join(dict.fromkeys(form.name for form in forms)) or "level"
        raise InputError(f"expected a rule of {parts[1]} behind a slash, one of {known}")
    if len(parts) != 3 or not is_dialect(parts[0]):
        raise InputError(f"expected a rule id such as directml/ONE_HOT/axis-range, found {rule_id!r:.100}")
    table = dialect(parts[0])
    if parts[1] == "tensor":
        whole = LevelSet.of(table.levels, table.levels)
        stated = [*_stated(table.tensor_rules, whole), *_enforced(table.tensor_overlays)]
        return _reference(rule_id, table, stated, parts[2], table.tables.tensor)
    spec = table.operator(parts[1])
    field, dot, aspect = parts[2].partition(".")
    if dot and aspect != SAME_TYPE and field in spec.fields:
        return _cell_reference(rule_id, spec, field, aspect)
    if parts[2] in _GENERAL:
        return {"id": rule_id, "says": _GENERAL[parts[2]], "holds": [], "source": spec.table.sources}
    stated = [*_stated(spec.rule_forms, spec.levels), *_enforced(spec.overlays)]
    return _reference(rule_id, table, stated, parts[2], spec.table)


def rule_names(table: Dialect, operator: str) -> Iterator[str]:
    """Yield the last segments of all ids that findings on an operator (or ``tensor``: on any tensor) can have."""
    if operator == "tensor":
        forms, overlays = table.tensor_rules, table.tensor_overlays
    else:
        spec = table.operator(operator)
        forms, overlays = spec.rule_forms, spec.overlays
        yield from _GENERAL
        yield from (f"{field}.{aspect}" for field in spec.fields for aspect in _ASPECTS)
    yield from (form.name for form in forms)
    yield from (form.name for overlay in overlays for form in overlay.rules)


_GENERAL = {
    "level": "the operator exists at the level that the target has",
    "version": "the descriptor was written for a level that the target has",
    "unknown-attribute": "every attribute is one that the operator defines",
    "too-many-inputs": "no more inputs are given than the operator defines",
    "support-case": "the descriptor is one of those that the level's support rows cover",
    "too-many-outputs": "no more outputs are given than the operator defines",
}
_ASPECTS = {
    "type": "the type is one that the level's support row lists",
    "rank": "the number of dimensions is one that the level's support row lists",
    "value": "the value is one that the level's support row lists",
    "operator": "the operator fused into the field is one that the level's support row lists, and is whole",
    "required": "the field is given",
    "exists": "the field is one that the operator has at the level",
    "unknown-word": "the word, or the number of one, for a type, a flag or a kind is one that the dialect has",
    "wrong-kind": "the attribute's value is of the kind that the operator defines",
}


class _Stated(NamedTuple):
    """A rule with the levels it may hold at, and who has it: the page, builds, or one implementation of them."""

    form: RuleForm
    levels: LevelSet
    basis: SingleBasis
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


def _reference(
    rule_id: str, table: Dialect, every: list[_Stated], name: str, written: OperatorTable | TensorTable
) -> dict[str, Any]:
    mine = [stated.form for stated in every if stated.form.name == name]
    if not mine:
        known = list(dict.fromkeys(stated.form.name for stated in every))
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {rule_id.rpartition('/')[0]}/{near[0]}? " if near else ""
        raise InputError(f"unknown rule {rule_id!r:.100}; {hint}known there: {', '.join(known) or 'none'}")
    held = [_held(stated, table) for stated in every if stated.form.name == name]
    entry = written.counterexamples.get(name)
    reference: dict[str, Any] = {
        "id": rule_id,
        "says": next((form.because for form in mine if form.because), None),
        "holds": held,
        "fix": next((form.fix for form in mine if form.fix), None),
        "source": written.sources,
    }
    if entry is not None:
        from specgate.spec.examples import counterexample

        spec = table.operator(entry.get("operator") or rule_id.split("/")[1])
        failing, level = counterexample(spec, entry)
        reference["accepted"] = spec.table.examples[entry["of"]]["descriptor"]
        reference["rejected"] = {"at": level, "change": entry["set"], "descriptor": failing}
    return reference


def _cell_reference(rule_id: str, spec: OperatorSpec, field: str, aspect: str) -> dict[str, Any]:
    if aspect not in _ASPECTS:
        raise InputError(f"unknown rule {rule_id!r:.100}; known aspects of a field: {', '.join(_ASPECTS)}")
    taken_at: dict[str, LevelSet] = {}
    for when, resolved, at in distinct(spec):
        cell = shown_cell(resolved, field) if field in resolved.fields else {}
        taken = cell.get({"value": "values", "rank": "ranks", "type": "types", "operator": "operators"}.get(aspect, ""))
        if taken:
            text = ", ".join(map(str, taken)) if isinstance(taken, list) else str(taken)
            text += f" where {when}" if when else ""
            taken_at[text] = taken_at[text] | at if text in taken_at else at
    holds = [{"levels": str(at), "text": text} for text, at in taken_at.items()]
    return {"id": rule_id, "says": _ASPECTS[aspect], "holds": holds, "source": spec.table.sources}
