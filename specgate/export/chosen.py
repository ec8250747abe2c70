"""Which operators are exported: all of the dialects that are wanted, or those that names mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from specgate.dialects import dialect_names, is_dialect
from specgate.errors import InputError
from specgate.spec.tables import dialect
from specgate.spec.view import find_operators, operator_named

if TYPE_CHECKING:
    from specgate.export import Wanted

__all__ = ["chosen"]


def chosen(wanted: Wanted) -> dict[str, list[str]]:
    """Return the operators of each dialect that are wanted, in order; raise InputError or NoTable for unknown ones."""
    for name in wanted.dialects:
        if not is_dialect(name):
            raise InputError(f"unknown dialect {name!r:.60}; expected one of {', '.join(dialect_names())}")
    names = wanted.dialects or dialect_names()
    if not wanted.operators:
        return {name: dialect(name).operators for name in names}
    found: dict[str, set[str]] = {}
    for text in wanted.operators:
        specs = [spec for spec in find_operators(text) if spec.dialect.name in names]
        if not specs:
            said, slash, rest = text.partition("/")
            specs = [operator_named(said if slash and is_dialect(said) else names[0], rest if slash else text)]
        for spec in specs:
            found.setdefault(spec.dialect.name, set()).add(spec.name)
    return {name: sorted(found[name]) for name in names if name in found}
