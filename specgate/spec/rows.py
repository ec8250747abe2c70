"""Support rows say what changes from the row before; here they are made whole, or reduced to what changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.yamlio import Keys

__all__ = ["changes_of", "whole_rows"]

_SETS: Final = "type_sets"
#: What a row says of itself alone.
_OWN: Final = "deprecated"


def whole_rows(rows: Mapping[str, Any]) -> tuple[dict[str, Any], list[tuple[Keys, str]]]:
    """Return rows with all that they keep of the row before, and what is wrong with them.

    A row keeps every cell, and of a cell it names the parts that it does not name. null takes a cell, a part of one or
    a type set away.
    """
    whole: dict[str, Any] = {}
    problems: list[tuple[Keys, str]] = []
    before: dict[str, Any] = {}
    for level, row in rows.items():
        made: dict[str, Any] = {_OWN: row[_OWN]} if _OWN in row else {}
        for name in dict.fromkeys([*before, *row]):
            if name == _OWN:
                continue
            old, new = before.get(name), row.get(name, {})
            if new is None:
                problems += [] if old is not None else [((level, name), _NOTHING)]
                continue
            gone = [part for part, value in new.items() if value is None]
            problems += [((level, name, part), _NOTHING) for part in gone if part not in (old or {})]
            made[name] = {part: value for part, value in {**(old or {}), **new}.items() if value is not None}
        whole[level] = made
        before = {name: cell for name, cell in made.items() if name != _OWN}
    return whole, problems


_NOTHING: Final = "null takes away what the row before says, and it says nothing of it"


def changes_of(rows: Mapping[str, Any]) -> dict[str, Any]:
    """Return rows with only what changes from the row before: what `whole_rows` makes these of."""
    made: dict[str, Any] = {}
    before: Mapping[str, Any] = {}
    for level, row in rows.items():
        changed: dict[str, Any] = {_OWN: row[_OWN]} if _OWN in row else {}
        used = {name: cell for name, cell in row.items() if name != _OWN}
        for name in dict.fromkeys([*used, *before]):
            if name not in used:
                changed |= {} if name == _SETS else {name: None}
                continue
            old, new = before.get(name, {}), used[name]
            parts = {part: value for part, value in new.items() if part not in old or old[part] != value}
            parts |= {part: None for part in old if part not in new and name != _SETS}
            if parts or name not in before:
                changed[name] = parts
        made[level] = changed
        before = {**used, _SETS: {**before.get(_SETS, {}), **used.get(_SETS, {})}}
    return made
