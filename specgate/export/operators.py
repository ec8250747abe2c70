"""One operator as exported data: as people wrote it, and resolved by stretches of levels at which it is the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from specgate.spec.view import field_facts, observed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from specgate.spec.fields import Bounds, Cell, FieldInfo
    from specgate.spec.forms import Resolved, RuleForm
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["RuleKeys", "bounds_data", "operator_data", "rule_data"]

_PARTS: Final = ("types", "ranks", "values", "range", "operators", "variable")


class RuleKeys:
    """A key for each form of each rule: its name, with a number behind it from the second form on (``same-type~2``)."""

    def __init__(self, prefix: str, forms: Iterable[RuleForm]) -> None:
        self.rules: dict[str, dict[str, Any]] = {}
        self._keys: dict[RuleForm, str] = {}
        for form in forms:
            if form in self._keys:
                continue
            count = sum(known.name == form.name for known in self._keys)
            key = f"{form.name}~{count + 1}" if count else form.name
            self._keys[form] = key
            self.rules[key] = {"id": f"{prefix}/{form.name}", **rule_data(form)}

    def of(self, forms: Iterable[RuleForm]) -> list[str]:
        """Return the keys of some of them."""
        return [self._keys[form] for form in forms]


def rule_data(form: RuleForm) -> dict[str, Any]:
    """Return one form of a rule: its expression, its sentence, and what a reader of both has to know."""
    more = {
        "when": form.when.text if form.when is not None else None,
        "because": form.because,
        "fix": form.fix,
        "on": form.on,
        "after": list(form.after) or None,
    }
    told = {key: value for key, value in more.items() if value is not None}
    return {"require": form.require.text, **told, "structural": form.structural}


def operator_data(spec: OperatorSpec) -> dict[str, Any]:
    """Return all that the tables say of an operator."""
    table, home = spec.table, spec.dialect
    keys = RuleKeys(
        f"{home.name}/{spec.name}", (*spec.rule_forms, *(f for overlay in spec.overlays for f in overlay.rules))
    )
    said = {
        "domain": home.domain or None,
        "number": home.operator_numbers.get(spec.name),
        "family": table.family,
        "summary": table.summary,
    }
    return {
        "operator": spec.name,
        **{key: value for key, value in said.items() if value},
        "levels": list(spec.levels),
        "source": table.sources,
        "unknowns": table.unknowns,
        "define": dict(table.defines),
        "resolved": _stretches(spec, keys),
        "rules": keys.rules,
        "builds": observed(home, spec.overlays, table.observed),
        "written": table.entries,
    }


def _stretches(spec: OperatorSpec, keys: RuleKeys) -> list[dict[str, Any]]:
    """Return what holds at each level, once for all levels at which it is the same."""
    who = sorted({overlay.by for overlay in spec.overlays if overlay.by is not None})
    found: dict[str, dict[str, Any]] = {}
    for level in spec.levels:
        said = _level(spec, level, who, keys)
        found.setdefault(json.dumps(said), {"levels": [], **said})["levels"].append(level)
    return list(found.values())


def _level(spec: OperatorSpec, level: str, who: Iterable[str], keys: RuleKeys) -> dict[str, Any]:
    documented, seen = spec.resolve(level), spec.resolve(level, "observed")
    page = _side(documented, keys)
    found = {"documented": page}
    builds = _side(seen, keys)
    if builds != page:
        found["observed"] = builds
    alone = {by: _side(spec.resolve(level, "observed", by), keys) for by in who}
    other = {by: side for by, side in alone.items() if side != builds}
    return found | ({"implementations": other} if other else {})


def _side(resolved: Resolved | None, keys: RuleKeys) -> dict[str, Any]:
    if resolved is None:  # a level of `levels` has a row on both sides
        raise AssertionError
    fields = {name: _field(info, resolved.cells.get(name)) for name, info in resolved.fields.items()}
    found: dict[str, Any] = {"fields": fields, "rules": keys.of(resolved.rules)}
    if resolved.cases:
        found["cases"] = [{"when": case.when.text, "fields": _cells(case.resolved.cells)} for case in resolved.cases]
    return found


def _field(info: FieldInfo, cell: Cell | None) -> dict[str, Any]:
    told = field_facts(info, "enum", "min_count", "heterogeneous")
    return {"kind": info.kind, "type": info.type} | told | (_cell(cell) if cell is not None else {})


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
    """Return ranks or numbers that are taken: from ``min`` to ``max`` (left out: no bound), or those in ``only``."""
    if bounds.only is not None:
        return {"only": list(bounds.only)}
    return {"min": bounds.low} | ({} if bounds.high is None else {"max": bounds.high})
