"""Reference entries of rules by id, for rules in tables and in code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specgate.spec.rulebook import file_rule, model_rule_reference, rule_reference

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Rule", "rule_of"]


@dataclass(frozen=True, slots=True)
class Rule:
    """The reference entry of one rule.

    id: as in findings. says: one sentence; None if the rule is only an expression. holds: for each form of the rule its
    ``levels`` and ``text``, and ``basis`` and ``by`` if builds enforce it. fix: how to correct a violation. source:
    where the rule is documented. accepted, rejected: an accepted descriptor, and a descriptor that only this rule
    rejects, with its level and the change; None if the table has no such pair.
    """

    id: str
    says: str | None
    holds: tuple[Mapping[str, str], ...]
    fix: str | None
    source: tuple[Mapping[str, Any], ...]
    accepted: Mapping[str, Any] | None = None
    rejected: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the entry as ``specgate rule --format json`` prints it."""
        entries = {
            "id": self.id,
            "says": self.says,
            "holds": [dict(form) for form in self.holds],
            "fix": self.fix,
            "source": [dict(source) for source in self.source],
        }
        pair = {} if self.accepted is None else {"accepted": self.accepted, "rejected": self.rejected}
        return entries | pair


def rule_of(rule_id: str) -> Rule:
    """Return a rule by its id, such as ``directml/ONE_HOT/axis-range``.

    Raises InputError or NoTable for an unknown id.
    """
    entries = model_rule_reference(rule_id)
    if entries is None:
        text = file_rule(rule_id)
        entries = rule_reference(rule_id) if text is None else {"id": rule_id, "says": text, "holds": []}
    source = entries.get("source") or []
    return Rule(
        entries["id"],
        entries.get("says"),
        tuple(entries["holds"]),
        entries.get("fix"),
        tuple([source] if isinstance(source, dict) else source),
        entries.get("accepted"),
        entries.get("rejected"),
    )
