"""What a runtime refuses while it loads a model, where that differs from what the onnx package is known to refuse.

The data is loading.yaml in the folder of the runtime: rules of the dialect that the runtime does not ask, rules that it
always asks though the tables of the dialect only say that some do, and checks that the dialect does not have.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from specgate.placement.lowering.checks import check_of, holds_at
from specgate.placement.lowering.reasons import Open, Refused
from specgate.placement.lowering.schema import schema_from
from specgate.placement.lowering.state import State
from specgate.placement.lowering.store import lowering_tables
from specgate.placement.ranges import dated
from specgate.placement.registrations import released, runtime_tables
from specgate.verdict import Finding

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.placement.lowering.checks import Check
    from specgate.placement.lowering.schema import Schema
    from specgate.rules.language import Rule

__all__ = ["Loading", "loading_of", "unloadable"]


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
            held = holds_at(check.since, check.until, version)
            if held and (on_cpu or not check.cpu) and _holds(state, check.when):
                return Finding(f"onnxruntime/{descriptor.operator}/{check.name}", "error", check.because)
        return None


def _holds(state: State, rule: Rule) -> bool:
    try:
        return state.holds(rule)
    except (Open, Refused):  # it is not known, or has no value
        return False


@cache
def loading_of(operator: str, release: str | None = None) -> Loading:
    """Return what is known of an operator by its name in the dialect's tables.

    release: of the runtime; None: the newest that is known.
    """
    raw = runtime_tables()["loading"]["operators"].get(operator, {})
    schema = schema_from(operator, None) if raw.get("refuses") else None
    checks = (
        () if schema is None else tuple(check_of(name, entry, schema.scope) for name, entry in raw["refuses"].items())
    )
    takes, asks = (
        frozenset(name for name, releases in dated(raw.get(key, ())) if released(releases, release))
        for key in ("takes", "asks")
    )
    return Loading(takes, asks, schema, tuple(check for check in checks if released(check.releases, release)))


def unloadable() -> frozenset[str]:
    """Return the element types that keep a model from being loaded where a value in the file has one."""
    return frozenset(runtime_tables()["loading"]["types"])
