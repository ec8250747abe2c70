"""The reference of a rule by its id, wherever it is stated: in a table, for whole models, or in the checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from specgate.spec.rulebook import file_rule, model_rule_reference, rule_reference

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Rule", "rule_of"]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is known of one rule.

    id: as findings have it. says: one sentence, None where the expression is all there is. holds: for each form of it
    the ``levels`` and its ``text``, and where builds enforce it ``basis`` and ``by``. fix: what to change. source:
    where it is stated. accepted, rejected: a descriptor that it takes, and one that it alone refuses with the level and
    the change; None where the table has no such pair.
    """

    id: str
    says: str | None
    holds: tuple[Mapping[str, str], ...]
    fix: str | None
    source: tuple[Mapping[str, Any], ...]
    accepted: Mapping[str, Any] | None = None
    rejected: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as ``specgate rule --format json`` prints it."""
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
    """Return a rule by its id (``directml/ONE_HOT/axis-range``); raise InputError or NoTable for no such id."""
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
