"""Families and likeness: what operators of a dialect share, laid under each of them when tables are built."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

from specgate.spec.rows import whole_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from specgate.spec.yamlio import Keys

__all__ = ["has_entry", "locate", "merge_family", "merge_like"]

#: Keys whose entries go by name, and those of `execute` likewise.
_NAMED: Final = ("fields", "define", "rules", "counterexamples", "execute")
_NAMED_IN_EXECUTE: Final = ("arrays", "arguments", "output_type")
#: What an operator takes over from the one that it is like.
_INHERITED: Final = (
    "family", "fields", "support", "unchecked_attributes", "define", "rules", "execute", "tolerance",
)  # fmt: skip


def merge_family(family: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return an operator's content with its family's under it: entries of one name are the operator's.

    The keys are the operator's in its order, then those that only the family has.
    """
    merged = {**own, **{key: value for key, value in family.items() if key not in own and key != "family"}}
    for key in _NAMED:
        if key in family and key in own:
            merged[key] = {**family[key], **own[key]}
    for key in _NAMED_IN_EXECUTE if "execute" in family and "execute" in own else ():
        if key in family["execute"] and key in own["execute"]:
            merged["execute"][key] = {**family["execute"][key], **own["execute"][key]}
    if "observed" in family and "observed" in own:
        merged["observed"] = [*family["observed"], *own["observed"]]
    return merged


def merge_like(other: Mapping[str, Any], own: Mapping[str, Any], levels: Sequence[str]) -> dict[str, Any]:
    """Return an operator's content with what it leaves out taken from the operator that it is like.

    Entries of one name are the operator's; null takes one away, and {} leaves it as it is. An entry that only the
    operator has goes after the one that is before it in its file, or first. The first support row is laid over the row
    that holds at its level. Contents are as they are written, and not checked yet.
    """
    under = copy.deepcopy({key: other[key] for key in _INHERITED if key in other})
    merged = {**own, **{key: value for key, value in under.items() if key not in own}}
    for key in (key for key in under if isinstance(under[key], dict) and isinstance(own.get(key), dict)):
        if key == "support":
            merged[key] = _lay_row(under[key], own[key], levels)
        elif key in _NAMED:
            merged[key] = _lay_entries(under[key], own[key], _NAMED_IN_EXECUTE if key == "execute" else ())
    return {key: value for key, value in merged.items() if value is not None or key not in under}


def _lay_entries(under: Mapping[str, Any], own: Mapping[str, Any], inner: Sequence[str] = ()) -> dict[str, Any]:
    names = list(under)
    place = 0
    for name in own:
        if name not in under:
            names.insert(place, name)
        place = names.index(name) + 1
    merged = {}
    for name in names:
        value = own.get(name, under.get(name))
        if name in inner and isinstance(value, dict) and isinstance(under.get(name), dict):
            value = _lay_entries(under[name], value)
        elif value == {}:
            value = under.get(name, value)
        if value is not None or name not in under:
            merged[name] = value
    return merged


def _lay_row(under: Mapping[str, Any], own: Mapping[str, Any], levels: Sequence[str]) -> dict[str, Any]:
    first = next(iter(own), "")
    rows = {level: row for level, row in under.items() if first in levels and level in levels}
    held = [level for level in rows if levels.index(level) <= levels.index(first)]
    written = [*rows.values(), own.get(first)]
    if not held or not all(isinstance(row, dict) for row in written):
        return dict(own)
    if not all(cell is None or isinstance(cell, dict | bool) for row in written for cell in row.values()):
        return dict(own)
    start = {name: cell for name, cell in whole_rows(rows)[0][held[-1]].items() if isinstance(cell, dict)}
    return {**own, first: whole_rows({"": start, first: own[first]})[0][first]}


def has_entry(written: Mapping[str, Any], path: Keys) -> bool:
    """Return whether what is at a path of an operator is in this content, and not in that of one that it is like."""
    key, rest = path[0], path[1:]
    if key not in _NAMED or not rest or not isinstance(written.get(key), dict):
        return key in written or key not in _INHERITED
    depth = 2 if key == "execute" and rest[0] in _NAMED_IN_EXECUTE else 1
    return _has(written[key], rest[:depth]) and written[key][rest[0]] != {}


def locate(path: Keys, family: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[bool, Keys]:
    """Return whether the value at `path` of a merged operator is in its family's file, and its path there."""
    key, rest = path[0], path[1:]
    if key not in family:
        return False, path
    if key == "observed" and rest:
        before, index = len(family[key]), int(rest[0])
        return (True, path) if index < before else (False, (key, index - before, *rest[1:]))
    if key not in own:
        return True, path
    if key not in _NAMED or not rest:
        return False, path
    depth = 2 if key == "execute" and len(path) > 2 and rest[0] in _NAMED_IN_EXECUTE else 1
    return _has(family[key], rest[:depth]) and not _has(own[key], rest[:depth]), path


def _has(content: Mapping[str, Any], path: Keys) -> bool:
    inner: Any = content
    for key in path:
        if not isinstance(inner, dict) or key not in inner:
            return False
        inner = inner[key]
    return True
