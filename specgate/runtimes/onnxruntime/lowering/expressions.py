"""Expressions of a lowering table that give numbers and lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.descriptors.core import UNKNOWN, Symbol
from specgate.rules.language import RuleError
from specgate.rules.parse import parse
from specgate.runtimes.onnxruntime.lowering.state import ABSENT, Open, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from specgate.rules.language import Rule, Scope
    from specgate.runtimes.onnxruntime.lowering.state import State

    Form = Callable[[State, int], Any]

__all__ = ["FormError", "as_it_is", "list_form", "number_form", "numbers_form", "placed", "rule_of"]


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


def placed(make: Callable[..., Form], arguments: tuple[Any, ...], *path: str | int) -> Form:
    try:
        return make(*arguments)
    except FormError as error:
        raise FormError(str(error), *path, *error.path) from None


def as_it_is(value: Any) -> Any:
    return value


def number_form(raw: Any, scope: Scope, kind: Callable[[Any], Any]) -> Form:
    if isinstance(raw, bool | int | float):
        constant = kind(raw)
        return lambda _state, _i: constant
    if isinstance(raw, dict) and set(raw) == {"ratio"}:
        first, second = (
            placed(number_form, (part, scope, as_it_is), "ratio", at) for at, part in enumerate(raw["ratio"])
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
            return [kind(_there(item)) for item in result]
        if result is UNKNOWN:
            raise Open(f"{rule.text} is unknown before the first run")
        return [
            UNKNOWN if item is None or item is UNKNOWN or isinstance(item, Symbol) else kind(item) for item in result
        ]

    return value


def list_form(make: Callable[[Any], Form], raw: Any, scope: Scope) -> Form:
    """Return a list of forms, or one form that a loop repeats."""
    if isinstance(raw, list):
        parts = [placed(make, (entry,), at) for at, entry in enumerate(raw)]
        return lambda state, i: [part(state, i) for part in parts]
    if not isinstance(raw, dict) or set(raw) != {"each", "count"}:
        raise FormError("expected a list, or each and count")
    each = placed(make, (raw["each"],), "each")
    count = placed(number_form, (raw["count"], scope, int), "count")
    return lambda state, _i: [each(state, turn) for turn in range(_turns(count(state, 0)))]


def _ratio(first: Any, second: Any) -> float:
    if first is UNKNOWN or second is UNKNOWN:
        raise Open("the operands of a ratio are unknown before the first run")
    if first is ABSENT or not second:
        raise Refused("unusable", "an operand of a ratio is missing or 0")
    return float(first / second)


def _there(item: Any) -> Any:
    if item is ABSENT:
        raise Refused("unusable", "an operand of a number in a list is missing")
    return item


def _turns(count: Any) -> int:
    if count is ABSENT:
        raise Refused("unusable", "the length of a list is missing")
    if count is UNKNOWN:
        raise Open("the length of a list is unknown before the first run")
    return int(count)
