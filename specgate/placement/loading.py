"""What a runtime refuses while it loads a model, where that differs from what the onnx package is known to refuse.

The data is loading.yaml in the folder of the runtime: rules of the dialect that the runtime does not ask, rules that it
always asks though the tables of the dialect only say that some do, and checks that the dialect does not have.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.placement.lowering.checks import check_of, condition_rule, holds_at, versions_of
from specgate.placement.lowering.reasons import Open, Refused
from specgate.placement.lowering.schema import schema_from
from specgate.placement.lowering.state import State
from specgate.placement.lowering.store import lowering_tables
from specgate.placement.registrations import release_position, runtime_tables
from specgate.verdict import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.descriptors.core import Descriptor
    from specgate.placement.lowering.checks import Check
    from specgate.placement.lowering.schema import Schema
    from specgate.rules.language import Rule

__all__ = ["FileRule", "Loading", "condition_of", "is_of", "loading_of", "refusing_rules", "rule_holds", "unloadable"]


class Ruled(NamedTuple):
    """A rule of the dialect, with the first version of the operator that is meant and the first one behind.

    cpu: only the kernel of the CPU asks it.
    """

    name: str
    since: int
    until: int | None
    cpu: bool = False


class Loading(NamedTuple):
    """What is known of one operator in one release. takes: rules not asked; asks: rules that are always asked."""

    takes: tuple[Ruled, ...]
    asks: tuple[Ruled, ...]
    schema: Schema | None
    checks: tuple[Check, ...]

    def asked(self, version: int, *, on_cpu: bool) -> set[str]:
        """Return the rules that are always asked at a version; on_cpu: whether the CPU's kernel has a say."""
        held = (one for one in self.asks if on_cpu or not one.cpu)
        return {one.name for one in held if holds_at(one.since, one.until, version)}

    def sure(self, unsure: set[str], version: int) -> set[str]:
        """Return which rules do not count at a version, of those that the tables are not sure of."""
        takes, asks = (
            {one.name for one in rules if holds_at(one.since, one.until, version)} for rules in (self.takes, self.asks)
        )
        return (unsure - asks) | takes

    def refused(self, descriptor: Descriptor, *, on_cpu: bool, at_run: bool = False) -> Finding | None:
        """Return what a check says of a node, None where none refuses it for sure.

        at_run: of the checks that every run makes, instead of those that are made before a session is created.
        """
        if not self.checks or self.schema is None or descriptor.version is None:
            return None
        version = int(descriptor.version)
        values = self.schema.values(descriptor, version)
        state = State(values, {}, {}, lowering_tables()["general"], descriptor.operator)
        for check in self.checks:
            held = holds_at(check.since, check.until, version) and check.at_run == at_run
            if held and (on_cpu or not check.cpu) and rule_holds(state, check.when):
                return Finding(f"onnxruntime/{descriptor.operator}/{check.name}", "error", check.because)
        return None


def rule_holds(state: State, rule: Rule) -> bool:
    """Return whether a condition on a node holds for sure."""
    try:
        return state.holds(rule)
    except (Open, Refused):  # it is not known, or has no value
        return False


@cache
def condition_of(operator: str, when: str, version: int) -> Callable[[Descriptor], bool]:
    """Return what says whether a condition on a version of an operator holds for a node of it for sure."""
    condition = condition_rule(operator, when, version)
    if condition is None:
        return lambda _: False
    schema, rule = condition

    def holds(descriptor: Descriptor) -> bool:
        values = schema.values(descriptor, version)
        return rule_holds(State(values, {}, {}, lowering_tables()["general"], operator), rule)

    return holds


@cache
def loading_of(operator: str, release: str) -> Loading:
    """Return what is known of an operator, by its name in the dialect's tables, in a release of the runtime."""
    raw = runtime_tables()["loading"]["operators"].get(operator, {})
    at = release_position(release)
    takes, asks = (
        tuple(
            Ruled(one["rule"], *versions_of(one), one.get("cpu", False)) for one in raw.get(key, ()) if is_of(one, at)
        )
        for key in ("takes", "asks")
    )
    refuses = {name: one for name, one in raw.get("refuses", {}).items() if is_of(one, at)}
    schema = schema_from(operator, None) if refuses else None
    checks = () if schema is None else tuple(check_of(name, one, schema.scope) for name, one in refuses.items())
    return Loading(takes, asks, schema, checks)


def is_of(entry: Mapping[str, Any], at: int) -> bool:
    """Return whether an entry of the compiled tables applies to the release at a position."""
    return bool(entry["first"] <= at <= entry["last"])


class FileRule(NamedTuple):
    """A rule on a whole file that keeps a release from loading it.

    read: only where something reads the constant that a finding is about. constants: where Constant nodes may break
    the rule ("graph": the main graph; "body": bodies too; "": nowhere). uncalled: also in functions that nothing calls.
    bodies: in bodies alone, not in the main graph. absent: only where the file leaves out what the rule is about.
    """

    read: bool
    constants: str
    uncalled: bool
    bodies: bool
    absent: bool


@cache
def refusing_rules(release: str) -> Mapping[str, FileRule]:
    """Return the rules on a whole file without which a release loads no model, by the ids of their findings."""
    at = release_position(release)
    rules = runtime_tables()["loading"]["models"]
    return {
        f"onnx/model/{name}": FileRule(
            bool(rule["read"]), rule["constants"] or "", *(bool(rule[key]) for key in ("uncalled", "bodies", "absent"))
        )
        for name, rule in rules.items()
        if is_of(rule, at)
    }


def unloadable(release: str) -> frozenset[str]:
    """Return the element types that keep a release from loading a model where a value in the file has one."""
    at = release_position(release)
    return frozenset(name for name, one in runtime_tables()["loading"]["types"].items() if is_of(one, at))
