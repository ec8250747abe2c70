"""What each rule beside the tables says, of a whole model (``DIALECT/model/RULE``) or of another group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.dialects import is_dialect, package
from specgate.runtimes import runtimes

if TYPE_CHECKING:
    from collections.abc import Mapping

    Rules = Mapping[str, tuple[str, str, dict[str, str]]]

__all__ = ["model_rule_reference", "model_rules", "other_groups", "rules_of_group"]

_MODEL = "model"


def model_rules(dialect: str) -> Rules:
    """Return the rules of whole models of a dialect by name, none for what is no dialect."""
    return package(dialect).file_rules() if is_dialect(dialect) else {}


def other_groups() -> dict[str, Rules]:
    """Return the rules of runtimes by group, such as ``RUNTIME/placement``."""
    return {group: rules for each in runtimes() for group, rules in each.rule_groups().items()}


def rules_of_group(group: str) -> Rules:
    """Return the rules whose ids begin with ``GROUP/`` and are in no table; none for any other group."""
    dialect, slash, kind = group.partition("/")
    if slash and kind == _MODEL and is_dialect(dialect):
        return model_rules(dialect)
    return other_groups().get(group, {}) if slash and not is_dialect(dialect) else {}


def model_rule_reference(rule_id: str) -> dict[str, Any] | None:
    """Return what `specgate rule` prints of such an id, None for an id of another kind or no such rule."""
    group, _, name = rule_id.rpartition("/")
    rule = rules_of_group(group).get(name)
    if rule is None:
        return None
    severity, says, source = rule
    return {
        "id": rule_id,
        "says": f"{says} ({severity})",
        "holds": [],
        "fix": None,
        "source": [source] if source else [],
    }
