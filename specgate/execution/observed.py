"""What builds compute otherwise than the page says, where an `observed` entry puts it as arguments of the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.rules.evaluate import Context, Undefined, evaluate

if TYPE_CHECKING:
    from specgate.descriptors.core import Descriptor
    from specgate.rules.language import Rule
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["observed_arguments"]


def observed_arguments(descriptor: Descriptor, spec: OperatorSpec, level: str, by: str | None) -> dict[str, Any]:
    """Return the kernel's arguments that builds of `level` stand for, by name; of several entries, the last one's.

    Only entries whose condition holds for the descriptor count. by: the implementation whose own entries count too.
    """
    infos = {name: spec.field_at(name, level) or info for name, info in spec.fields.items()}
    fields = {name: descriptor.fields.get(name, info.default) for name, info in infos.items()}
    context = Context(fields, spec.dialect.limits(level), spec.dialect.bits, spec.scope.defines)
    found: dict[str, Any] = {}
    for overlay in spec.overlays:
        for said in overlay.values if overlay.holds(level, by) else ():
            if said.arguments and (said.when is None or _holds(said.when, context)):
                found.update(said.arguments)
    return found


def _holds(rule: Rule, context: Context) -> bool:
    try:
        return not any(map(context.absent, rule.needs)) and evaluate(rule, context) is True
    except Undefined:
        return False
