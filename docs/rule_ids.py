"""The ids of all findings; each has a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from specgate.dialects import BUILT_IN
from specgate.spec.rulebook import NODE_RULES, OWN_RULES, model_rules, other_groups, rule_names
from specgate.spec.tables import dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from specgate.spec.fields import FieldInfo
    from specgate.spec.operator_spec import OperatorSpec

__all__ = ["operator_rules", "other_rules", "tensor_rule_names", "written_rules"]

#: Rules that apply to a tensor, and to an attribute, in addition to the operator's rules.
_TENSOR: Final = frozenset({"type", "rank", "required", "exists", "unknown-word"})
_ATTRIBUTE: Final = frozenset({"value", "type", "required", "exists", "unknown-word", "wrong-kind"})


def operator_rules(spec: OperatorSpec) -> list[str]:
    """Return the rule names of the findings on an operator.

    The order is that of the table.
    """
    names = dict.fromkeys((*rule_names(spec.dialect, spec.name), *NODE_RULES))
    return [name for name in names if _can_fail(spec, name)]


def written_rules(spec: OperatorSpec) -> list[str]:
    """Return the names of the documented and observed rules in a table."""
    forms = (*spec.rule_forms, *(form for overlay in spec.overlays for form in overlay.rules))
    return list(dict.fromkeys(form.name for form in forms))


def tensor_rule_names(name: str) -> list[str]:
    """Return the names of a dialect's rules for all tensors."""
    return list(dict.fromkeys((*rule_names(dialect(name), "tensor"), "device-capability", "type-release")))


def other_rules() -> Iterator[tuple[str, str]]:
    """Yield (group, name) of the rules that are in no table.

    These are rules for whole models, for placement, and for specgate's own checks.
    """
    for name in BUILT_IN:
        yield from ((f"{name}/model", rule) for rule in model_rules(name))
    for group, rules in other_groups().items():
        yield from ((group, rule) for rule in rules)
    yield from (("specgate", rule) for rule in OWN_RULES)


def _can_fail(spec: OperatorSpec, name: str) -> bool:
    """Return whether a rule for an aspect of a field can fail.

    True for all other names.
    """
    field, dot, aspect = name.rpartition(".")
    info = spec.fields.get(field) if dot else None
    if info is None or aspect not in _TENSOR | _ATTRIBUTE | {"operator"}:
        return True
    return aspect in _aspects(spec, info)


def _aspects(spec: OperatorSpec, info: FieldInfo) -> frozenset[str]:
    if info.kind != "attribute":
        aspects = _TENSOR
    elif info.fuses:
        aspects = frozenset({"operator", "required", "exists", "wrong-kind"})
    else:
        aspects = _ATTRIBUTE if info.type_from or info.type == "scalar" else _ATTRIBUTE - {"type"}
    always = all(spec.field_at(info.name, level) is not None for level in spec.levels)
    return aspects - {"exists"} if always else aspects
