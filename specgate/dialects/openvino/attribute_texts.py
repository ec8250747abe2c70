"""Enumerators and attribute values in the spelling of the tables.

For example, IRs contain ERF where the specification has erf.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from specgate.descriptors.positional import INT64

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["builds_read", "spelt"]

_known: WeakKeyDictionary[OperatorSpec, dict[str, dict[str, str]]] = WeakKeyDictionary()


def spelt(spec: OperatorSpec, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return attributes with enumerators in the table's upper and lower case.

    Measured: `read_model` of OpenVINO 2026.4.1 compares enumerators case-insensitively, and save_model writes some of
    them in capitals.
    """
    words = _known.get(spec)
    if words is None:
        words = _known[spec] = _words(spec)
    if not words:
        return attributes
    changed = {
        name: words[name][value.lower()]
        for name, value in attributes.items()
        if isinstance(value, str) and name in words and value.lower() in words[name]
    }
    return {**attributes, **changed} if changed else attributes


def _words(spec: OperatorSpec) -> dict[str, dict[str, str]]:
    """Return the enumerators of each attribute by lower-case spelling.

    Documented spellings take precedence.
    """
    rows = [row for _, rows in spec.support for row in rows.values()]
    rows += [entry.get("support", {}) for entry in spec.table.observed]
    entries: dict[str, dict[str, str]] = {}
    for info in spec.attributes:
        if info.type == "string":
            values = [word for row in rows for word in row.get(info.name, {}).get("values") or ()]
            for word in values:
                entries.setdefault(info.name, {}).setdefault(str(word).lower(), str(word))
    return entries


_INTEGER: Final = re.compile(r"\s*(-?[0-9]{1,19})(?![0-9])", re.ASCII)
_FLOAT: Final = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)", re.ASCII)
_MAX_TEXT: Final = 10_000


def builds_read(kind: str, raw: Any) -> Any:
    """Return the value that builds read for a type, None if they reject it."""
    text = _text(raw)
    if text is None or len(text) > _MAX_TEXT:
        return None
    if kind.endswith("[]"):
        items = text.split(",") if text else []
        if items and not items[-1]:
            items.pop()
        values = [_value(kind.removesuffix("[]"), item) for item in items]
        return None if None in values else values
    return _value(kind, text)


def _value(kind: str, text: str) -> Any:
    if kind == "string":
        return text
    if kind == "bool":
        return text.lower() == "true" or text == "1"
    if kind == "int":
        match = _INTEGER.match(text)
        number = None if match is None else int(match[1])
        return number if number is not None and INT64[0] <= number <= INT64[1] else None
    match = _FLOAT.match(text) if kind == "float" else None
    value = None if match is None else float(match[1])
    return None if value is None or value in {float("inf"), float("-inf")} else value


def _text(raw: Any) -> str | None:
    """Return a value as IR text, None if it has no text form."""
    if isinstance(raw, bool):
        return "true" if raw else "false"
    if isinstance(raw, int | float):
        return repr(raw)
    if isinstance(raw, str):
        return raw
    if isinstance(raw, list | tuple):
        items = [None if isinstance(item, list | tuple) else _text(item) for item in raw]
        return None if None in items else ",".join(map(str, items))
    return None
