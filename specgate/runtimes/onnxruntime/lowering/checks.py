"""Checks of provider kernels or of model loading, with their versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.runtimes.onnxruntime.lowering.expressions import rule_of
from specgate.runtimes.onnxruntime.lowering.schema import schema_from

if TYPE_CHECKING:
    from collections.abc import Mapping

    from specgate.rules.language import Rule, Scope
    from specgate.runtimes.onnxruntime.lowering.schema import Schema

__all__ = ["Check", "check_of", "condition_rule", "holds_at", "scope_of", "versions_of"]


class Check(NamedTuple):
    """A check that rejects a node for which `when` holds.

    cpu: only the CPU kernel makes it. releases: releases that make it, None for all. at_run: it is made by every run,
    not at session creation. stated_output: it applies only if the model states a shape, known or not, of this output.
    """

    name: str
    since: int
    until: int | None
    when: Rule
    because: str
    cpu: bool = False
    releases: str | None = None
    at_run: bool = False
    stated_output: int | None = None


def check_of(name: str, entry: Mapping[str, Any], scope: Scope) -> Check:
    """Return a check of a table; raise FormError for an invalid expression."""
    when = rule_of(entry["when"], scope_of(entry, scope), "truth")
    cpu, at_run = entry.get("cpu", False), entry.get("at") == "run"
    return Check(
        name,
        *versions_of(entry),
        when,
        entry["because"],
        cpu,
        entry.get("releases"),
        at_run,
        entry.get("stated_output"),
    )


def versions_of(entry: Mapping[str, Any]) -> tuple[int, int | None]:
    """Return an entry's first version and its end (exclusive)."""
    return int(entry.get("since", 1)), int(entry["until"]) if entry.get("until") else None


def scope_of(entry: Mapping[str, Any], scope: Scope) -> Scope:
    """Return the scope with the fields of an entry's versions."""
    return replace(scope.between(entry.get("since"), entry.get("until")), defines=scope.defines)


def condition_rule(operator: str, when: str, version: int) -> tuple[Schema, Rule] | None:
    """Return a condition on nodes of one version of an operator.

    It is None for an operator without a table. Raises FormError for an invalid expression.
    """
    schema = schema_from(operator, None)
    if schema is None:
        return None
    return schema, rule_of(when, scope_of({"since": str(version), "until": str(version + 1)}, schema.scope), "truth")


def holds_at(since: int, until: int | None, version: int) -> bool:
    """Return whether `version` is in a range of versions."""
    return since <= version and (until is None or version < until)
