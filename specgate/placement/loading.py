"""What a runtime refuses while it loads a model, where that differs from what the onnx package is known to refuse.

The data is loading.yaml in the folder of the runtime: rules of the dialect that the runtime does not ask, rules that it
always asks though the tables of the dialect only say that some do, and checks that the dialect does not have.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.placement.lowering.expressions import rule_of
from specgate.placement.lowering.reasons import Open, Refused
from specgate.placement.lowering.schema import schema_from
from specgate.placement.lowering.state import State
from specgate.placement.lowering.store import lowering_tables
from specgate.placement.registrations import runtime_tables
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.placement.lowering.schema import Schema
    from specgate.rules.language import Rule

__all__ = ["Loading", "loading_of", "parsed", "unloadable"]


class Check(NamedTuple):
    """A check of the runtime's own; cpu: only the kernel of the CPU makes it."""

    name: str
    since: int
    until: int | None
    when: Rule
    because: str
    cpu: bool


class Loading(NamedTuple):
    """What is known of one operator. takes: rules that are not asked; asks: rules that are always asked."""

    takes: frozenset[str]
    asks: frozenset[str]
    schema: Schema | None
    checks: tuple[Check, ...]

    def refused(self, descriptor: Descriptor, *, on_cpu: bool) -> Finding | None:
        """Return what a check says of a node, None where none refuses it for sure."""
        if not self.checks or self.schema is None or descriptor.version is None:
            return None
        version = int(descriptor.version)
        values = self.schema.values(descriptor, version)
        state = State(values, {}, {}, lowering_tables()["general"], descriptor.operator)
        for check in self.checks:
            held = check.since <= version and (check.until is None or version < check.until)
            if held and (on_cpu or not check.cpu) and _holds(state, check.when):
                return Finding(f"onnxruntime/{descriptor.operator}/{check.name}", "error", check.because)
        return None


def _holds(state: State, rule: Rule) -> bool:
    try:
        return state.holds(rule)
    except (Open, Refused):  # it is not known, or has no value
        return False


@cache
def loading_of(operator: str) -> Loading:
    """Return what is known of an operator by its name in the dialect's tables."""
    raw = runtime_tables()["loading"]["operators"].get(operator, {})
    schema = schema_from(operator, None) if raw.get("refuses") else None
    checks = () if schema is None else parsed(schema, raw["refuses"])
    return Loading(frozenset(raw.get("takes", ())), frozenset(raw.get("asks", ())), schema, checks)


def parsed(schema: Schema, raw: Mapping[str, Any]) -> tuple[Check, ...]:
    """Return the checks of one operator; raise FormError for an expression that cannot be used."""
    from dataclasses import replace

    found = []
    for name, entry in raw.items():
        since, until = entry.get("since"), entry.get("until")
        scope = replace(schema.scope.between(since, until), defines=schema.scope.defines)
        rule = rule_of(entry["when"], scope, "truth")
        found.append(
            Check(name, int(since or 1), int(until) if until else None, rule, entry["because"], entry.get("cpu", False))
        )
    return tuple(found)


def unloadable() -> frozenset[str]:
    """Return the element types of which a value in a file keeps the model from being loaded."""
    return frozenset(runtime_tables()["loading"]["types"])
