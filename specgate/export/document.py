"""The tables of dialects as one document: schema ``specgate-tables/1``, which ``tables.schema.json`` describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from specgate.export.operators import RuleKeys, operator_data
from specgate.spec.tables import dialect
from specgate.spec.version import tables_version, version_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from specgate.export import Wanted
    from specgate.spec.dialect_spec import Dialect
    from specgate.spec.forms import RuleForm

__all__ = ["LICENCE", "REVISION", "SCHEMA", "dialect_data", "document", "heading"]

SCHEMA: Final = "specgate-tables/1"
#: Raised in its second part when members are added, in its third when only descriptions change; the first is the
#: schema's own, under which no member is removed or changes its meaning.
REVISION: Final = "1.0.0"
LICENCE: Final = {"spdx": "MIT", "copyright": "Copyright (c) 2026 The specgate authors"}


def heading() -> dict[str, Any]:
    """Return what says of any part of the export what it is, and whose tables it has."""
    from specgate import __version__

    return {
        "schema": SCHEMA,
        "schema_version": REVISION,
        "tables_version": tables_version(),
        "specgate_version": __version__,
        "license": LICENCE,
    }


def document(wanted: Wanted) -> dict[str, Any]:
    """Return the tables that are wanted; raise InputError or NoTable for a dialect or operator that is unknown."""
    from specgate.export.chosen import chosen

    picked = chosen(wanted)
    return {**heading(), "dialects": {name: dialect_data(dialect(name), picked[name]) for name in picked}}


def dialect_data(table: Dialect, operators: Iterable[str]) -> dict[str, Any]:
    """Return what the tables say of a dialect as a whole, and of some of its operators."""
    parts = table.tables
    return {
        "dialect": table.name,
        "title": parts.title,
        "version": version_of(table),
        "level_word": table.level_word,
        "levels": {level: dict(entry) for level, entry in parts.levels.items()},
        "domains": {name: _domain(table, name) for name in table.domains},
        "types": dict(parts.types),
        "enums": dict(parts.enums),
        "tensor_rules": _tensor_rules(table),
        "implementations": dict(parts.about.get("implementations", {})),
        "environments": list(table.environments),
        "source": list(parts.sources_of_targets),
        "operators": {name: operator_data(table.operator(name)) for name in operators},
    }


def _domain(table: Dialect, name: str) -> dict[str, Any]:
    """Return the versions of a domain, which are the levels of its operators, and the one of each level."""
    at = {level: table.domain_level(name, level) for level in table.levels}
    return {"levels": list(table.for_domain(name).levels), "at": {k: v for k, v in at.items() if v is not None}}


def _tensor_rules(table: Dialect) -> dict[str, Any]:
    """Return the rules of every tensor, each with the levels at which the page has it and builds enforce it."""
    forms: list[RuleForm] = [*table.tensor_rules, *(f for overlay in table.tensor_overlays for f in overlay.rules)]
    keys = RuleKeys(f"{table.name}/tensor", forms)
    page: dict[str, list[str]] = {key: [] for key in keys.rules}
    builds: dict[str, list[str]] = {key: [] for key in keys.rules}
    for level in table.levels:
        for key in keys.of(table.tensor_rules_at(level, "documented")):
            page[key].append(level)
        for key in keys.of(table.tensor_rules_at(level, "observed")):
            builds[key].append(level)
    return {key: {**rule, "documented": page[key], "observed": builds[key]} for key, rule in keys.rules.items()}
