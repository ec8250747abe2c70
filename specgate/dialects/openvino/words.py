"""Words of attributes in the letters of the tables: IRs are written with ERF where the page has erf."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["spelt"]

_known: WeakKeyDictionary[OperatorSpec, dict[str, dict[str, str]]] = WeakKeyDictionary()


def spelt(spec: OperatorSpec, attributes: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return attributes with words that differ from the table's in the case of letters alone as the table has them.

    Measured: `read_model` of OpenVINO 2026.4.1 compares words of its enums without regard to case, and save_model
    writes some of them in capitals.
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
    """Return the words of each attribute that holds one of some, by their small letters; the page's own first."""
    rows = [row for _, rows in spec.support for row in rows.values()]
    rows += [entry.get("support", {}) for entry in spec.table.observed]
    found: dict[str, dict[str, str]] = {}
    for info in spec.attributes:
        if info.type == "string":
            values = [word for row in rows for word in row.get(info.name, {}).get("values") or ()]
            for word in values:
                found.setdefault(info.name, {}).setdefault(str(word).lower(), str(word))
    return found
