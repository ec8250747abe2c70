"""Kernel constants that differ between two versions of an operator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.rules.evaluate import UNKNOWN, Undefined, evaluate
from specgate.rules.parse import parse
from specgate.validate.facts import Facts

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.spec.operator_spec import OperatorSpec


def changed_behaviour(spec: OperatorSpec, descriptor: Descriptor, before: str, after: str) -> tuple[str, ...]:
    """Return the names of constants whose values differ between two levels.

    Expressions are compared by their values for the descriptor, so renamed words are not a difference.
    """
    old_behaviour, new_behaviour = spec.behaviour(before), spec.behaviour(after)
    different_names = sorted(
        name for name in {*old_behaviour, *new_behaviour} if old_behaviour.get(name) != new_behaviour.get(name)
    )
    return tuple(
        name
        for name in different_names
        if name not in old_behaviour
        or name not in new_behaviour
        or not _is_same_value(
            _value(spec, descriptor, before, old_behaviour[name]), _value(spec, descriptor, after, new_behaviour[name])
        )
    )


def _is_same_value(value: Any, other: Any) -> bool:
    return value is not UNKNOWN and other is not UNKNOWN and type(value) is type(other) and bool(value == other)


def _value(spec: OperatorSpec, descriptor: Descriptor, level: str, constant: Any) -> Any:
    if not isinstance(constant, dict):
        return constant
    resolved = spec.resolve(level)
    if resolved is None:
        return UNKNOWN
    try:
        rule = parse(constant["expression"], spec.scope.scope_between(level, None), expect=None)
        return evaluate(rule, Facts().context(descriptor, resolved))
    except (Undefined, ValueError, TypeError):
        return UNKNOWN
