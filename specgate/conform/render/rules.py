"""Rules put together over levels: how often each was met, and where it lacks which case."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from specgate.conform.render.shared import count, natural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from specgate.conform.result import RuleCount

__all__ = ["Lack", "Rule", "rules_met", "said_of"]

_UNASKABLE: Final = "cannot be asked"
_TAKEN: Final = "known to be taken"
_WHY: Final = {
    _UNASKABLE: "about what no implementation can be handed",
    _TAKEN: "recorded that implementations take it",
}


@dataclass(frozen=True, slots=True)
class Lack:
    """The levels at which a rule lacks the same cases: ``("rejecting", "oracle")``.

    explained: the oracle case is lacking because there is no oracle to ask, or because builds are known not to object.
    """

    cases: tuple[str, ...]
    levels: tuple[str, ...]
    explained: str = ""

    def __str__(self) -> str:
        why = f" ({self.explained})" if self.explained else ""
        return f"no {', no '.join(self.cases)} case{why} at {', '.join(self.levels)}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of one operator at all levels: the sums of its counts, and where it lacks which case."""

    operator: str
    finding: str
    accepting: int
    rejecting: int
    oracle: int
    lacks: tuple[Lack, ...]

    @property
    def open(self) -> tuple[Lack, ...]:
        """The lacks that nothing explains."""
        return tuple(lack for lack in self.lacks if not lack.explained)


def rules_met(rules: Iterable[RuleCount]) -> list[Rule]:
    """Return the rules by operator and finding, levels put together."""
    groups: dict[tuple[str, str], list[RuleCount]] = {}
    for rule in sorted(rules, key=lambda r: (natural(r.operator), natural(r.finding), natural(r.level))):
        groups.setdefault((rule.operator, rule.finding), []).append(rule)
    return [
        Rule(
            *key,
            accepting=sum(r.accepting for r in group),
            rejecting=sum(r.rejecting for r in group),
            oracle=sum(r.oracle for r in group),
            lacks=_lacks(group),
        )
        for key, group in groups.items()
    ]


def said_of(met: Sequence[Rule]) -> str:
    """Return how many rules have every case at every level, and why others can not have it."""
    lacking = sum(bool(rule.open) for rule in met)
    whys = Counter(lack.explained for rule in met if not rule.open for lack in rule.lacks[:1])
    complete = len(met) - lacking - whys.total()
    said = f"{complete:,} of {count(len(met), 'rule and cell', 'rules and cells')} have"
    said += " an accepting, a rejecting and an oracle case at every level"
    return "; ".join(
        [said, *(f"{number:,} have no oracle case because it is {_WHY[why]}" for why, number in whys.items())]
    )


def _lacks(group: list[RuleCount]) -> tuple[Lack, ...]:
    found: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for rule in group:
        missing = tuple(name for name in ("accepting", "rejecting", "oracle") if not getattr(rule, name))
        if missing:
            found.setdefault((missing, _explained(rule) if missing == ("oracle",) else ""), []).append(rule.level)
    return tuple(Lack(cases, tuple(levels), why) for (cases, why), levels in found.items())


def _explained(rule: RuleCount) -> str:
    if rule.unasked == rule.rejecting:
        return _UNASKABLE
    return _TAKEN if rule.unasked + rule.waived == rule.rejecting else ""
