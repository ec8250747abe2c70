"""Replacements of removed operators, from their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specgate.spec.operator_spec import OperatorSpec


def replacing_operator(spec: OperatorSpec, level: str) -> tuple[OperatorSpec, dict[str, Any]] | None:
    """Return the replacing operator and its added attributes.

    None where the level has no replacement.
    """
    entry, removed, order = spec.table.replaced_by, spec.table.removed, spec.dialect.position
    if entry is None or removed is None or order[level] < order[removed]:
        return None
    other = spec.dialect.operator(entry["operator"])
    if level not in other.levels:
        return None
    entries = entry.get("attributes", {})
    return other, {name: value for name, value in entries.items() if other.field_at(name, level) is not None}


def advice(spec: OperatorSpec, level: str) -> str | None:
    """Return the replacement of an operator removed before `level`.

    None where no table names a replacement.
    """
    pair = replacing_operator(spec, level)
    if pair is None:
        return None
    other, added_fields = pair
    words = " and ".join(f"{name} {value}" for name, value in added_fields.items())
    return f"write it as {other.name}" + (f" with {words}" if words else "")
