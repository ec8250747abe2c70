"""Expressions and checks of a lowering table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from specgate.descriptors.core import UNKNOWN, Symbol
from specgate.rules.language import RuleError
from specgate.rules.parse import parse
from specgate.runtimes.onnxruntime.lowering.schema import schema_from
from specgate.runtimes.onnxruntime.lowering.state import ABSENT, ProviderRefusal, UnknownValue

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from specgate.rules.language import Rule, Scope
    from specgate.runtimes.onnxruntime.lowering.schema import Schema
    from specgate.runtimes.onnxruntime.lowering.state import State

    Form = Callable[[State, int], Any]


class FormError(ValueError):
    """An invalid form; `path` is its place in the entry."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.path = path


def rule_of(text: str, scope: Scope, expect: str | None = None) -> Rule:
    """Return a parsed expression; raise FormError."""
    try:
        return parse(text, scope, expect=expect)
    except RuleError as error:
        raise FormError(error.line) from None


def locate_form_errors(make: Callable[..., Form], arguments: tuple[Any, ...], *path: str | int) -> Form:
    try:
        return make(*arguments)
    except FormError as error:
        raise FormError(str(error), *path, *error.path) from None


def identity(value: Any) -> Any:
    return value


def number_form(raw: Any, scope: Scope, kind: Callable[[Any], Any]) -> Form:
    if isinstance(raw, bool | int | float):
        constant = kind(raw)
        return lambda _state, _i: constant
    if isinstance(raw, dict) and set(raw) == {"ratio"}:
        first, second = (
            locate_form_errors(number_form, (part, scope, identity), "ratio", index)
            for index, part in enumerate(raw["ratio"])
        )
        return lambda state, i: kind(_ratio(first(state, i), second(state, i)))
    if not isinstance(raw, str):
        raise FormError("expected a number or an expression")
    rule = rule_of(raw, scope)

    def value(state: State, i: int) -> Any:
        result = state.value(rule, i)
        return result if result is ABSENT or result is UNKNOWN else kind(result)

    return value


def numbers_form(raw: Any, scope: Scope, kind: Callable[[Any], Any]) -> Form:
    """Return the form of a list of numbers, or of an expression for it."""
    if not isinstance(raw, str):
        return list_form(lambda entry: number_form(entry, scope, kind), raw, scope)
    rule = rule_of(raw, scope, "numbers")

    def value(state: State, i: int) -> Any:
        result = state.value(rule, i)
        if result is ABSENT:
            return ABSENT
        if not state.partial:
            return [kind(_require_operand(item)) for item in result]
        if result is UNKNOWN:
            raise UnknownValue(f"{rule.text} is unknown before the first run")
        return [
            UNKNOWN if item is None or item is UNKNOWN or isinstance(item, Symbol) else kind(item) for item in result
        ]

    return value


def list_form(make: Callable[[Any], Form], raw: Any, scope: Scope) -> Form:
    """Return a list of forms, or one form that a loop repeats."""
    if isinstance(raw, list):
        parts = [locate_form_errors(make, (entry,), index) for index, entry in enumerate(raw)]
        return lambda state, i: [part(state, i) for part in parts]
    if not isinstance(raw, dict) or set(raw) != {"each", "count"}:
        raise FormError("expected a list, or `each` and `count`")
    item_form = locate_form_errors(make, (raw["each"],), "each")
    count = locate_form_errors(number_form, (raw["count"], scope, int), "count")
    return lambda state, _i: [item_form(state, turn) for turn in range(_to_count(count(state, 0)))]


def _ratio(first: Any, second: Any) -> float:
    if first is UNKNOWN or second is UNKNOWN:
        raise UnknownValue("the operands of a ratio are unknown before the first run")
    if first is ABSENT or not second:
        raise ProviderRefusal("unusable", "an operand of a ratio is missing or 0")
    return float(first / second)


def _require_operand(item: Any) -> Any:
    if item is ABSENT:
        raise ProviderRefusal("unusable", "an operand of a number in a list is missing")
    return item


def _to_count(count: Any) -> int:
    if count is ABSENT:
        raise ProviderRefusal("unusable", "the length of a list is missing")
    if count is UNKNOWN:
        raise UnknownValue("the length of a list is unknown before the first run")
    return int(count)


class Check(NamedTuple):
    """A check that rejects a node for which `when` holds.

    cpu: only the CPU kernel makes it. releases: releases that make it, None for all. at_run: it is made by every run,
    not at session creation. stated_output: it applies only if the model states a shape, known or not, of this output.
    inputs: it applies only to nodes that list at most so many inputs, named or not.
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
    inputs: int | None = None


def check_of(name: str, entry: Mapping[str, Any], scope: Scope) -> Check:
    """Return a check of a table; raise FormError for an invalid expression."""
    condition = rule_of(entry["when"], scope_of(entry, scope), "truth")
    cpu, at_run = entry.get("cpu", False), entry.get("at") == "run"
    return Check(
        name,
        *versions_of(entry),
        condition,
        entry["because"],
        cpu,
        entry.get("releases"),
        at_run,
        entry.get("stated_output"),
        entry.get("inputs"),
    )


def versions_of(entry: Mapping[str, Any]) -> tuple[int, int | None]:
    """Return an entry's first version and its end (exclusive)."""
    return int(entry.get("since", 1)), int(entry["until"]) if entry.get("until") else None


def scope_of(entry: Mapping[str, Any], scope: Scope) -> Scope:
    """Return the scope with the fields of an entry's versions."""
    return replace(scope.scope_between(entry.get("since"), entry.get("until")), defines=scope.defines)


def condition_rule(operator: str, condition: str, version: int) -> tuple[Schema, Rule] | None:
    """Return a condition on nodes of one version of an operator.

    It is None for an operator without a table. Raises FormError for an invalid expression.
    """
    schema = schema_from(operator, None)
    if schema is None:
        return None
    return schema, rule_of(
        condition, scope_of({"since": str(version), "until": str(version + 1)}, schema.scope), "truth"
    )


def holds_at(since: int, until_version: int | None, version: int) -> bool:
    """Return whether `version` is in a range of versions."""
    return since <= version and (until_version is None or version < until_version)
