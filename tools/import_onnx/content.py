"""Conversion of an operator's facts to fields and support rows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from specgate.dialects.onnx.reader import ATTRIBUTE_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Versions = Mapping[str, Mapping[str, Any]]

__all__ = ["table_content"]

_NO_IDENTIFIER: Final = re.compile(r"\W")


def table_content(versions: Versions, words: Mapping[str, str]) -> dict[str, Any]:
    """Return ``fields``, ``support`` and, if removed, ``removed``.

    words: the tables' name of each type, by the package's name; composite types keep their name. If the last version
    removes the operator, it becomes ``removed``; an earlier such version becomes a row marked ``deprecated``.
    """
    newest = list(versions)[-1]
    removed = newest if versions[newest]["deprecated"] and len(versions) > 1 else None
    kept_versions = {level: version for level, version in versions.items() if level != removed}
    names = _names(kept_versions)
    fields = {}
    for key in _order_fields(kept_versions, names):
        forms = list(_forms(key, names[key], kept_versions))
        fields[names[key]] = forms[0] if len(forms) == 1 else forms
    content = {
        "fields": fields,
        "support": {level: _row(kept_versions[level], names, words) for level in kept_versions},
    }
    return content if removed is None else {**content, "removed": removed}


_KINDS: Final = {"inputs": "input", "outputs": "output", "attributes": "attribute"}
_Key = tuple[str, str]


def _keys(version: Mapping[str, Any]) -> Iterator[_Key]:
    for part in ("inputs", "outputs"):
        yield from ((part, parameter["name"]) for parameter in version[part])
    yield from (("attributes", name) for name in version["attributes"])


def _names(versions: Versions) -> dict[_Key, str]:
    """Return a field name for each input, output and attribute.

    If names collide, an input keeps its name.
    """
    keys = dict.fromkeys(key for version in versions.values() for key in _keys(version))
    names: dict[_Key, str] = {}
    for part, kind in _KINDS.items():
        for key in (key for key in keys if key[0] == part):
            plain = _NO_IDENTIFIER.sub("", key[1])
            used = {name for (other, _), name in names.items() if other != part}
            names[key] = f"{plain}_{kind}" if plain in used else plain
    return names


def _order_fields(versions: Versions, names: Mapping[_Key, str]) -> list[_Key]:
    """Return one key per field.

    Tensors come first, in an order consistent with all versions, then attributes by name.
    """
    keys: list[_Key] = []
    for part in ("inputs", "outputs"):
        merged: list[_Key] = []
        for version in reversed(list(versions.values())):
            _merge([(part, parameter["name"]) for parameter in version[part]], merged, names)
        keys += merged
    every = {name for version in versions.values() for name in version["attributes"]}
    return keys + [("attributes", name) for name in sorted(every)]


def _merge(order: Sequence[_Key], merged: list[_Key], names: Mapping[_Key, str]) -> None:
    """Insert the keys of one version after their predecessors.

    merged: the keys of later versions.
    """
    at = 0
    for key in order:
        same = next((i for i, other in enumerate(merged) if names[other] == names[key]), None)
        if same is None:
            merged.insert(at, key)
            same = at
        elif same < at:
            raise ValueError(f"{names[key]} changes its place among versions")
        at = same + 1


def _forms(key: _Key, name: str, versions: Versions) -> Iterator[dict[str, Any]]:
    """Yield the forms of a field, one per range of equal versions."""
    part = key[0]
    names = {k[1] for version in versions.values() for k in _keys(version) if k[0] == part}
    aliases = {alias for alias in names if _NO_IDENTIFIER.sub("", alias) == _NO_IDENTIFIER.sub("", key[1])}
    levels = list(versions)
    facts = [_fact(part, name, aliases, versions[level]) for level in levels]
    starts = [i for i, fact in enumerate(facts) if fact is not None and (i == 0 or facts[i - 1] != fact)]
    for start in starts:
        fact = dict(facts[start] or {})
        end = next((i for i in range(start, len(facts)) if facts[i] != facts[start]), None)
        if start:
            fact["since"] = levels[start]
        if end is not None:
            fact["until"] = levels[end]
        yield fact


def _fact(part: str, name: str, aliases: Iterable[str], version: Mapping[str, Any]) -> dict[str, Any] | None:
    if part == "attributes":
        entry = next(((alias, version[part][alias]) for alias in aliases if alias in version[part]), None)
        return None if entry is None else _attribute(entry[0], name, entry[1])
    parameter = next((p for p in version[part] if p["name"] in aliases), None)
    if parameter is None:
        return None
    fact: dict[str, Any] = {"kind": _KINDS[part]}
    if parameter["option"] == "variadic":
        fact["type"] = "tensor[]"
    if parameter["name"] != name:
        fact["vendor_name"] = parameter["name"]
    if parameter["option"] == "variadic":
        if parameter["least"] > 1:
            fact["min_count"] = parameter["least"]
        if not parameter["homogeneous"]:
            fact["heterogeneous"] = True
    if parameter["option"] == "optional" or parameter.get("least") == 0:
        fact["optional"] = True
    return fact


def _attribute(called: str, name: str, attribute: Mapping[str, Any]) -> dict[str, Any]:
    fact: dict[str, Any] = {"kind": "attribute", "type": ATTRIBUTE_TYPES[attribute["type"]]}
    if called != name:
        fact["vendor_name"] = called
    if not attribute["required"]:
        fact["optional"] = True
    if attribute["default"] is not None:
        fact["default"] = attribute["default"]
    return fact


def _row(version: Mapping[str, Any], names: Mapping[_Key, str], words: Mapping[str, str]) -> dict[str, Any]:
    row: dict[str, Any] = {"deprecated": True} if version["deprecated"] else {}
    if version["type_sets"]:
        row["type_sets"] = {
            variable: [words.get(spelt, spelt) for spelt in types] for variable, types in version["type_sets"].items()
        }
    for part in ("inputs", "outputs"):
        for parameter in version[part]:
            types = parameter["types"]
            row_types = types if types in version["type_sets"] else [words.get(types, types)]
            row[names[part, parameter["name"]]] = {"types": row_types}
    return row
