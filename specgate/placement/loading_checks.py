"""The checks of a runtime's own in ``loading.yaml``, parsed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.placement.lowering.expressions import rule_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.placement.lowering.schema import Schema
    from specgate.rules.language import Rule

__all__ = ["Check", "parsed"]


class Check(NamedTuple):
    """A check of the runtime's own; cpu: only the kernel of the CPU makes it."""

    name: str
    since: int
    until: int | None
    when: Rule
    because: str
    cpu: bool


def parsed(schema: Schema, raw: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return the checks of one operator; raise FormError for an expression that cannot be used."""
    found = []
    for name, entry in raw.items():
        since, until = entry.get("since"), entry.get("until")
        scope = replace(schema.scope.between(since, until), defines=schema.scope.defines)
        rule = rule_of(entry["when"], scope, "truth")
        found.append(
            Check(name, int(since or 1), int(until) if until else None, rule, entry["because"], entry.get("cpu", False))
        )
    return tuple(found)
