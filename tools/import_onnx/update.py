"""Update of one operator's table to the package's facts.

Handwritten parts are kept.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from specgate.spec.short_forms import complete_rows, names_for_types, written_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.yamlio import Keys

__all__ = ["REMARKS", "changes_of", "update_table"]

#: The order of the first keys of a table; others keep their order.
_ORDER: Final = (
    "operator", "family", "summary", "source", "unknowns", "fields", "support", "removed",
    "replaced_by",
)  # fmt: skip
#: The keys of a field and of its forms, in the order of the file.
_FIELD: Final = (
    "kind", "type", "vendor_name", "min_count", "heterogeneous", "optional", "default", "became", "enum", "words",
    "counts", "since", "until", "doc",
)  # fmt: skip
#: Handwritten keys of a field or cell, which the package does not provide.
_BY_HAND: Final = ("became", "enum", "words", "counts", "doc")
_TYPES: Final = "types"
#: The comments after the keys from the package, which describe the handwritten keys.
REMARKS: Final[Mapping[Keys, str]] = {
    ("fields",): "from the package, except for became, counts, doc, enum and words",
    ("support",): "from the package, except for ranks, ranges and values",
}


def changes_of(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return rows reduced to their changes, the inverse of `complete_rows`."""
    entries: dict[str, Any] = {}
    before: Mapping[str, Any] = {}
    for level, row in rows.items():
        changed: dict[str, Any] = {"deprecated": row["deprecated"]} if "deprecated" in row else {}
        used = {name: cell for name, cell in row.items() if name != "deprecated"}
        for name in dict.fromkeys([*used, *before]):
            if name not in used:
                changed |= {} if name == "type_sets" else {name: None}
                continue
            old, new = before.get(name, {}), used[name]
            parts = {part: value for part, value in new.items() if part not in old or old[part] != value}
            parts |= {part: None for part in old if part not in new and name != "type_sets"}
            if parts or name not in before:
                changed[name] = parts
        entries[level] = changed
        before = {**used, "type_sets": {**before.get("type_sets", {}), **used.get("type_sets", {})}}
    return entries


def update_table(
    name: str,
    content: Mapping[str, Any],
    source: Mapping[str, str],
    old: Mapping[str, Any],
    sets: Mapping[str, Mapping[str, list[str]]],
) -> dict[str, Any]:
    """Return the new table of operator `name`.

    It combines `content` with the handwritten parts of `old`. sets: the dialect's named lists, by kind.
    """
    table = {
        "operator": name,
        **old,
        "source": _source(source, old.get("source", [])),
        "fields": _fields(content["fields"], old.get("fields") or {}),
        "support": _support(content["support"], old.get("support") or {}, sets),
        "removed": content.get("removed"),
    }
    keys = (key for key in dict.fromkeys([*_ORDER, *table]) if table.get(key) is not None)
    return {key: table[key] for key in keys}


def _source(source: Mapping[str, str], old: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the sources with the package's new entry.

    It replaces an older one, or comes first.
    """
    entries = [source if entry.get("package") == source["package"] else entry for entry in old]
    return entries if source in entries else [source, *entries]


def _fields(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    fields = {}
    for name, entry in new.items():
        forms, existing = _to_list(entry), _to_list(old.get(name))
        if [_drop_keys(form, _BY_HAND) for form in existing] == forms:
            fields[name] = old[name]
            continue
        kept = [{**form, **_handwritten_keys(form, existing)} for form in forms]
        ordered = [{key: form[key] for key in _FIELD if key in form} for form in kept]
        fields[name] = ordered[0] if len(ordered) == 1 else ordered
    return fields


def _to_list(entry: Any) -> list[dict[str, Any]]:
    return entry if isinstance(entry, list) else [] if entry is None else [entry]


def _handwritten_keys(form: Mapping[str, Any], existing: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the handwritten keys for a form.

    They come from the existing form with the same first version, else from the last one before it.
    """
    same = next((e for e in existing if e.get("since") == form.get("since")), existing[-1] if existing else {})
    return {key: same[key] for key in _BY_HAND if key in same}


def _support(
    new: Mapping[str, Any], old: Mapping[str, Any], sets: Mapping[str, Mapping[str, list[str]]]
) -> dict[str, Any]:
    """Return the support rows.

    Equal rows are kept up to the first difference; from there on, rows contain what changes.
    """
    present = complete_rows(written_out({"support": deepcopy(old)}, sets)[0]["support"])[0]
    rows: dict[str, Any] = {}
    kept = 0
    for level, row in new.items():
        before = present.get(level, {})
        if kept == len(rows) and list(old)[kept : kept + 1] == [level] and _package_part(before) == _package_part(row):
            rows[level] = before
            kept += 1
            continue
        extra = {key: _drop_keys(cell, (_TYPES,)) for key, cell in (before or _last(rows)).items() if key not in _ROW}
        rows[level] = {key: {**cell, **extra[key]} if key in extra else cell for key, cell in row.items()}
        rows[level] |= {key: cell for key, cell in extra.items() if key not in row and cell}
    named = {
        level: {key: _name_types(key, cell, sets[_TYPES]) for key, cell in row.items()} for level, row in rows.items()
    }
    changes = changes_of(named)
    return {level: old[level] if index < kept else changes[level] for index, level in enumerate(changes)}


_ROW: Final = ("deprecated", "type_sets")


def _last(rows: Mapping[str, Any]) -> Mapping[str, Any]:
    return list(rows.values())[-1] if rows else {}


def _name_types(key: str, cell: Any, sets: Mapping[str, list[str]]) -> Any:
    """Return a cell, or a row's type sets, with named lists substituted."""
    if not isinstance(cell, dict):
        return cell
    named = cell if key == "type_sets" else {part: cell[part] for part in cell if part == _TYPES}
    return {**cell, **{part: names_for_types(types, sets) for part, types in named.items() if isinstance(types, list)}}


def _package_part(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the package's part of a row, with types in a fixed order.

    Used for comparisons.
    """
    cells = {key: _types(cell[_TYPES]) for key, cell in row.items() if key not in _ROW and _TYPES in cell}
    used = [types for types in cells.values() if isinstance(types, str)]
    sets = {variable: frozenset(types) for variable, types in row.get("type_sets", {}).items() if variable in used}
    return {"deprecated": row.get("deprecated", False), "type_sets": sets, **cells}


def _types(types: Any) -> Any:
    return frozenset(types) if isinstance(types, list) else types


def _drop_keys(entry: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in keys}
