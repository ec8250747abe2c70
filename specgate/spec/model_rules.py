"""What each rule about a whole model says: the last part of an id like ``DIALECT/model/RULE``, with its reference."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specgate.dialects import is_dialect, package

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["model_rule_reference", "model_rules"]

_MODEL = "model"


def model_rules(dialect: str) -> Mapping[str, tuple[str, str, dict[str, str]]]:
    """Return the rules of whole models of a dialect by name, none for what is no dialect."""
    return package(dialect).file_rules() if is_dialect(dialect) else {}


def model_rule_reference(rule_id: str) -> dict[str, Any] | None:
    """Return what `specgate rule` prints of such an id, None for an id of another kind or no such rule."""
    group, _, name = rule_id.rpartition("/")
    dialect, slash, kind = group.partition("/")
    rule = model_rules(dialect).get(name) if slash and kind == _MODEL else None
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
